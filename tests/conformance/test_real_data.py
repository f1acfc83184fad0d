"""Queries people wrote over data people made: QALD-9 on a sample of DBpedia, against pyoxigraph; LUBM's queries parse.

The independent side shares nothing with the package: it groups the triples by subject, closes the hierarchies and
materialises E* with the few lines below, and asks a pyoxigraph store per event.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache
from typing import NamedTuple

import pyoxigraph as ox
import pytest
from tests.support import data_dir

from tidings.errors import EventError, SubscriptionError, UnsupportedError
from tidings.lang import parse
from tidings.match import registry
from tidings.match.base import Failure, Match
from tidings.ontology import Ontology
from tidings.rdf.read import read_events

SAMPLE = ("dbpedia-2015-10-sample", "dbpedia-2015-10-sample.nt.gz")
ONTOLOGY = ("dbpedia-ontology", "dbpedia-ontology-2015-04-10.nt.gz")
NOT_SPARQL = 37

RDFS, OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"
TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
VOCABULARIES = ("http://www.w3.org/1999/02/22-rdf-syntax-ns#", RDFS, OWL, "http://www.daml.org/2001/03/daml+oil#")
XSD = "http://www.w3.org/2001/XMLSchema#"
Triple = tuple[ox.NamedNode | ox.BlankNode, ox.NamedNode, ox.NamedNode | ox.BlankNode | ox.Literal]


@cache
def questions() -> dict[str, str]:
    """The 558 queries under their ids, `train-N` and `test-N`."""
    found = {}
    for part in ("train", "test"):
        path = data_dir("dbpedia-sparql-questions", "qald-9", f"qald-9-{part}-en.json.gz")
        for entry in json.loads(gzip.decompress(path.read_bytes())):
            found[f"{part}-{entry['id']}"] = entry["sparql"]
    return found


# ---------------------------------------------------------------------------------------------------- independent side


def _triples(*names: str) -> Iterator[Triple]:
    for quad in ox.parse(gzip.decompress(data_dir(*names).read_bytes()), format=ox.RdfFormat.N_TRIPLES):
        yield quad.subject, quad.predicate, quad.object


def _upwards(triples: Iterable[Triple], below: str, same: str) -> dict[ox.NamedNode, set[ox.NamedNode]]:
    """Everything above each name, synonyms included."""
    steps: dict[ox.NamedNode, set[ox.NamedNode]] = {}
    for s, p, o in triples:
        if p.value in (below, same) and isinstance(s, ox.NamedNode) and isinstance(o, ox.NamedNode):
            steps.setdefault(s, set()).add(o)
            if p.value == same:
                steps.setdefault(o, set()).add(s)
    above = {}
    for start in steps:
        reached, todo = {start}, [start]
        while todo:
            new = steps.get(todo.pop(), set()) - reached
            reached |= new
            todo += new
        above[start] = reached
    return above


@cache
def stores() -> dict[str, ox.Store]:
    """One store an event, with E* as its default graph and as the graph named by the event."""
    ontology = list(_triples(*ONTOLOGY))
    classes = _upwards(ontology, RDFS + "subClassOf", OWL + "equivalentClass")
    properties = _upwards(ontology, RDFS + "subPropertyOf", OWL + "equivalentProperty")
    instances: dict[object, set[ox.NamedNode]] = {}
    for s, p, o in ontology:
        if p == TYPE and isinstance(o, ox.NamedNode) and not o.value.startswith(VOCABULARIES):
            instances.setdefault(s, set()).add(o)
    events: dict[str, list[Triple]] = {}
    for s, p, o in _triples(*SAMPLE):
        assert isinstance(s, ox.NamedNode)
        assert not isinstance(o, ox.BlankNode)
        events.setdefault(s.value, []).append((s, p, o))
    found = {}
    for name, triples in events.items():
        star = set(triples) | {(s, q, o) for s, p, o in triples for q in properties.get(p, ())}
        star |= {(node, TYPE, c) for t in triples for node in (t[0], t[2]) for c in instances.get(node, ())}
        star |= {(s, TYPE, d) for s, p, o in star if p == TYPE for d in classes.get(o, ())}
        store = ox.Store()
        graph = ox.NamedNode(name)
        store.extend(ox.Quad(*t) for t in star)
        store.extend(ox.Quad(*t, graph) for t in star)
        found[name] = store
    return found


def readable(text: str) -> str:
    """pyoxigraph stumbles over dots inside a local name, which the grammar allows."""
    return text.replace("res:T._E._Lawrence", "<http://dbpedia.org/resource/T._E._Lawrence>")


class Opinion(NamedTuple):
    """Whether a query matches, and the rows where it is a SELECT."""

    matches: bool
    rows: Counter[frozenset[tuple[str, object]]] | None


_BARE_AGGREGATE = re.compile(r"\bselect\b[^{]*\b(count|sum|avg|min|max)\s*\(", re.IGNORECASE)


def opinion(store: ox.Store, text: str) -> Opinion:
    """What SPARQL says, and for an aggregate over everything whether its pattern has a solution."""
    text = readable(text)
    if _BARE_AGGREGATE.search(text) and not re.search(r"\bgroup\s+by\b", text, re.IGNORECASE):
        head = re.search(r"\bselect\b", text, re.IGNORECASE)
        assert head is not None
        pattern = text[text.index("{", head.end()) : text.rindex("}") + 1]
        if not store.query(f"{text[: head.start()]} ASK {pattern}"):
            return Opinion(False, None)
    found = store.query(text)
    if isinstance(found, ox.QueryBoolean):
        return Opinion(bool(found), None)
    assert isinstance(found, ox.QuerySolutions)
    names = [v.value for v in found.variables]
    rows = Counter(frozenset((n, _plain(str(row[n]))) for n in names if row[n] is not None) for row in found)
    return Opinion(bool(rows), rows)


_EXACT = "integer|decimal|long|int|short|byte|(non)?(Positive|Negative|positive|negative)Integer|unsigned[A-Z][a-z]+"
_NUMBER = re.compile(rf'"([^"]*)"\^\^<{re.escape(XSD)}({_EXACT})>')


def _plain(term: str) -> object:
    """A store writes exact numbers anew: they are compared by value."""
    found = _NUMBER.fullmatch(term)
    return Decimal(found[1]) if found else term


# --------------------------------------------------------------------------------------------------------------- tests


@cache
def refused() -> dict[str, SubscriptionError]:
    problems = {}
    for id, text in questions().items():
        try:
            parse(text, source=id)
        except SubscriptionError as problem:
            problems[id] = problem
    return problems


def test_what_is_not_sparql_is_refused_with_its_place() -> None:
    problems = refused()
    assert len(problems) == NOT_SPARQL
    for id, problem in problems.items():
        assert problem.line is not None
        assert problem.column is not None
        assert problem.source_line in questions()[id].splitlines()


def test_pyoxigraph_refuses_the_same() -> None:
    store = ox.Store()
    wrong = set()
    for id, text in questions().items():
        try:
            store.query(readable(text))
        except SyntaxError:
            wrong.add(id)
    assert wrong == refused().keys()


@cache
def opinions() -> dict[str, dict[str, Opinion]]:
    """What pyoxigraph says, by event and query."""
    texts = {id: text for id, text in questions().items() if id not in refused()}
    return {event: {id: opinion(store, text) for id, text in texts.items()} for event, store in stores().items()}


@pytest.mark.parametrize("matcher", registry.names())
def test_answers_agree(matcher: str) -> None:
    """Every query on every event: the same matches, and where no LIMIT picks among equals the same rows."""
    engine = registry.create(matcher, Ontology.load(data_dir(*ONTOLOGY)))
    taken = set()
    for id, text in questions().items():
        if id not in refused():
            try:
                engine.add(id, parse(text))
                taken.add(id)
            except UnsupportedError:
                continue
    problems: list[EventError] = []
    failures: list[Failure] = []
    seen = set()
    for event in read_events([data_dir(*SAMPLE)], by="subject", report=problems.append):
        seen.add(event.id)
        found = {match.subscription: match for match in engine.match(event, failures.append)}
        expected = {id: o for id, o in opinions()[event.id].items() if o.matches and id in taken}
        assert sorted(found) == sorted(expected), event.id
        for id, match in found.items():
            _same_rows(match, expected[id])
    assert seen == stores().keys()
    assert not problems
    assert not failures


def test_the_whole_sample_as_one_event() -> None:
    """All entities at once, so that patterns join across them."""
    store = ox.Store()
    for part in stores().values():
        store.extend(quad for quad in part if isinstance(quad.graph_name, ox.DefaultGraph))
    engine = registry.create("naive", Ontology.load(data_dir(*ONTOLOGY)))
    texts = {id: text for id, text in questions().items() if id not in refused()}
    for id, text in texts.items():
        engine.add(id, parse(text))
    problems: list[EventError] = []
    failures: list[Failure] = []
    (event,) = read_events([data_dir(*SAMPLE)], by="document", report=problems.append)
    found = {match.subscription: match for match in engine.match(event, failures.append)}
    expected = {id: opinion(store, text) for id, text in texts.items()}
    assert sorted(found) == sorted(id for id, o in expected.items() if o.matches)
    for id, match in found.items():
        _same_rows(match, expected[id])
    assert not problems
    assert not failures


def _same_rows(match: Match, expected: Opinion) -> None:
    text = questions()[match.subscription]
    if expected.rows is not None and not re.search(r"\blimit\b", text, re.IGNORECASE):
        rows = Counter(frozenset((n, _plain(str(t))) for n, t in row.items()) for row in match.bindings)
        assert rows == expected.rows, f"{match.subscription} on {match.event}:\n{text}"


def test_the_sample_has_matches() -> None:
    """Without them the comparison would show little."""
    matches = [o for of_event in opinions().values() for o in of_event.values() if o.matches]
    assert len(matches) >= 20


def test_lubm_queries_parse() -> None:
    texts = {path.stem: path.read_text() for path in sorted(data_dir("lubm", "queries").glob("*.rq"))}
    assert len(texts) == 14
    for id, text in texts.items():
        assert parse(text, source=id).form == "SELECT"
