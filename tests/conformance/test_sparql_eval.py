"""The W3C's SPARQL evaluation tests as subscriptions: the test's data is the event, its query the subscription.

All of SPARQL 1.0's and, of SPARQL 1.1's, aggregates, bind, exists, grouping, functions and construct. A test is skipped
only where one event cannot express it or the contract excludes it; the reason is given with it.
"""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pyarrow as pa
import pyoxigraph as ox
import pytest
from tests.support import data_dir

from tidings.lang import parse
from tidings.match.base import Answer, Solution
from tidings.match.meaning import Meaning
from tidings.match.verify import matches, solve
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term, Triple, is_blank, parts
from tidings.rdf.values import number_of

BASE = "http://w3c.test/"
ARCHIVES = ("sparql10.tar.zst", "sparql11-part.tar.zst")
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
RS = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

FORMATS = {
    "ttl": ox.RdfFormat.TURTLE,
    "nt": ox.RdfFormat.N_TRIPLES,
    "rdf": ox.RdfFormat.RDF_XML,
}

NO_DEFAULT = "its default graph is empty or its named graph absent; an event is both"
NO_GROUP = "an aggregate over no solution does not match, by contract"
SKIPS = {
    "sparql10/graph/dawg-graph-02": NO_DEFAULT,
    "sparql10/graph/dawg-graph-04": NO_DEFAULT,
    "sparql11/aggregates/agg-avg-03": NO_GROUP,
    "sparql11/aggregates/agg-empty-group-count-2": NO_GROUP,
    "sparql11/aggregates/agg-empty-group-max-2": NO_GROUP,
}
REFUSED = {
    r"\bFROM\b": "FROM is refused, by contract",
    r"\b(RAND|UUID|STRUUID)\s*\(": "RAND, UUID and STRUUID are refused, by contract",
}


@dataclass(frozen=True)
class Case:
    """One entry of a manifest; files are paths inside the archives."""

    name: str
    query: str
    data: tuple[str, ...]
    graphs: tuple[str, ...]
    result: str


@cache
def files() -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for archive in ARCHIVES:
        with (
            pa.input_stream(str(data_dir("w3c-tests", archive)), compression="zstd") as stream,
            tarfile.open(fileobj=stream, mode="r|") as tar,
        ):
            for member in tar:
                content = tar.extractfile(member)
                if content is not None:
                    found[member.name.removeprefix("./")] = content.read()
    return found


def triples(path: str) -> list[Triple]:
    format = FORMATS[path.rpartition(".")[2]]
    quads = ox.parse(files()[path], format=format, base_iri=BASE + path)
    return [(Term(str(q.subject)), Term(str(q.predicate)), Term(str(q.object))) for q in quads]


def cases() -> Iterator[Case]:
    for path in sorted(files()):
        if path.endswith("/manifest.ttl"):
            yield from manifest(path)


def manifest(path: str) -> Iterator[Case]:
    graph = triples(path)

    def objects(s: Term, p: str) -> tuple[str, ...]:
        found = [o[1:-1].removeprefix(BASE) for a, b, o in graph if a == s and b == f"<{p}>" and o[0] == "<"]
        return tuple(sorted(found))

    listed = {o for _, p, o in graph if p == f"<{RDF}first>"}
    for test in sorted(listed & {s for s, _, o in graph if o == f"<{MF}QueryEvaluationTest>"}):
        action = next(o for s, p, o in graph if s == test and p == f"<{MF}action>")
        name = f"{path.rpartition('/')[0].removeprefix('sparql/')}/{test[1:-1].rpartition('#')[2]}"
        query, result = objects(action, f"{QT}query")[0], objects(test, f"{MF}result")[0]
        yield Case(name, query, objects(action, f"{QT}data"), objects(action, f"{QT}graphData"), result)


def parametrized() -> list[Case]:
    try:
        return list(cases())
    except pytest.skip.Exception:
        return []


def not_expressible(case: Case, text: str) -> str | None:
    """Why one event cannot express the test, or the contract excludes it."""
    if len({*case.data, *case.graphs}) > 1:
        return "needs several graphs, an event is one"
    code = re.sub(r"#.*|<[^>]*>", "", text)
    refused = [reason for word, reason in REFUSED.items() if re.search(word, code)]
    return refused[0] if refused else SKIPS.get(case.name)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in parametrized()])
def test_evaluation(case: Case) -> None:
    text = files()[case.query].decode()
    reason = not_expressible(case, text)
    if reason:
        pytest.skip(reason)
    names = case.data + case.graphs
    event = Event.of(BASE + names[0] if names else "urn:event", triples(names[0]) if names else [])
    query = parse(text, base=BASE + case.query)
    meaning = Meaning(event, Ontology.empty())
    answer = solve(query, meaning)
    assert matches(query, meaning) == (answer is not None)
    if query.form == "CONSTRUCT":
        assert canonical(answer.construct if answer else "") == canonical(lines(triples(case.result)))
    elif query.form == "ASK":
        assert (answer is not None) == expected_boolean(case.result)
    else:
        compare(expected_rows(case.result), answer, ordered=bool(query.order))


# ------------------------------------------------------------------------------------------------------------- expected


def results(path: str) -> ox.QuerySolutions | ox.QueryBoolean:
    kind = ox.QueryResultsFormat.XML if path.endswith(".srx") else ox.QueryResultsFormat.JSON
    found = ox.parse_query_results(files()[path], format=kind)
    assert isinstance(found, ox.QuerySolutions | ox.QueryBoolean)
    return found


def expected_boolean(path: str) -> bool:
    if path.endswith((".srx", ".srj")):
        return bool(results(path))
    return any(p == f"<{RS}boolean>" and parts(o).lexical == "true" for _, p, o in triples(path))


def expected_rows(path: str) -> list[Solution]:
    if path.endswith((".srx", ".srj")):
        solutions = results(path)
        assert isinstance(solutions, ox.QuerySolutions)
        names = [v.value for v in solutions.variables]
        return [{n: Term(str(row[n])) for n in names if row[n] is not None} for row in solutions]
    return result_set(triples(path))


def result_set(graph: list[Triple]) -> list[Solution]:
    """The rows of a result set written in RDF, by their index where they have one."""

    def objects(s: Term, p: str) -> list[Term]:
        return [o for a, b, o in graph if a == s and b == f"<{RS}{p}>"]

    rows: list[tuple[int, Solution]] = []
    for _, p, solution in graph:
        if p == f"<{RS}solution>":
            index = objects(solution, "index")
            bindings = objects(solution, "binding")
            row = {parts(objects(b, "variable")[0]).lexical: objects(b, "value")[0] for b in bindings}
            rows.append((int(parts(index[0]).lexical) if index else 0, row))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


# ----------------------------------------------------------------------------------------------------------- comparison


def compare(expected: list[Solution], answer: Answer | None, ordered: bool) -> None:
    """Multisets of bindings, blank nodes up to renaming; sequences where the query orders."""
    actual = list(answer.bindings) if answer else []
    assert len(actual) == len(expected)
    assert same(expected, actual, ordered), f"expected {expected}, got {actual}"


def same(expected: list[Solution], actual: list[Solution], ordered: bool) -> bool:
    def place(number: int, used: frozenset[int], renaming: dict[Term, Term]) -> bool:
        if number == len(expected):
            return True
        for candidate in [number] if ordered else range(len(actual)):
            if candidate not in used:
                extended = agree(expected[number], actual[candidate], renaming)
                if extended is not None and place(number + 1, used | {candidate}, extended):
                    return True
        return False

    plain = Counter(key(row) for row in expected if not has_blank(row))
    if not ordered:
        if plain != Counter(key(row) for row in actual if not has_blank(row)):
            return False
        expected = [row for row in expected if has_blank(row)]
        actual = [row for row in actual if has_blank(row)]
    return place(0, frozenset(), {})


def agree(expected: Solution, actual: Solution, renaming: dict[Term, Term]) -> dict[Term, Term] | None:
    if expected.keys() != actual.keys():
        return None
    renaming = dict(renaming)
    for name, term in expected.items():
        other = actual[name]
        if is_blank(term) and is_blank(other):
            known = renaming.get(term)
            if known is None and other not in renaming.values():
                renaming[term] = other
            elif known != other:
                return None
        elif comparable(term) != comparable(other):
            return None
    return renaming


def has_blank(row: Solution) -> bool:
    return any(map(is_blank, row.values()))


def key(row: Solution) -> frozenset[tuple[str, object]]:
    return frozenset((name, comparable(term)) for name, term in row.items())


def comparable(term: Term) -> object:
    """Numbers by datatype and value, since the suite writes computed ones as it likes; all else as terms."""
    number = number_of(term)
    return (parts(term).datatype, number.value) if number is not None else term


def lines(graph: list[Triple]) -> str:
    return "".join(f"{s} {p} {o} .\n" for s, p, o in graph)


def canonical(text: str) -> ox.Dataset:
    dataset = ox.Dataset(ox.parse(text.encode(), format=ox.RdfFormat.N_TRIPLES))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return dataset
