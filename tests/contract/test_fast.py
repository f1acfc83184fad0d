"""What is special about `fast`: merges, removals, collisions, events larger than the scratch arrays, odd texts."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from tests.contract import ways
from tests.contract.respelled import respelled
from tests.contract.test_cases import ANSWERED, CASES, compare, events_of, ontology_of, query_of
from tests.soak import spoiling
from tests.support import ROOT

from tidings.errors import OntologyError
from tidings.lang import parse
from tidings.lang.pattern import Query
from tidings.match.base import Engine, Failure
from tidings.match.fast import Fast
from tidings.match.matcher import Matcher
from tidings.match.naive import Naive
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import read_triples
from tidings.rdf.terms import Term, Triple, iri, literal


def found(engine: Engine, event: Event) -> list[str]:
    failures: list[Failure] = []
    matches = [match.subscription for match in engine.match(event, failures.append)]
    assert not failures
    return matches


@pytest.fixture(autouse=True)
def _every_merge_works(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """What goes wrong in a merge that nobody waits for is in the log alone."""
    yield
    assert not [record for record in caplog.get_records("call") if record.levelno >= logging.ERROR]


TIMELESS = [name for name in ANSWERED if not CASES[name].published]
SLOWLY = bool(os.environ.get("NUMBA_DISABLE_JIT")) and not os.environ.get("TIDINGS_SOAK")
"""Without the compiler one case in three has to do."""


@pytest.mark.parametrize("state", ways.STATES)
@pytest.mark.parametrize("name", TIMELESS[::3] if SLOWLY else TIMELESS)
def test_every_case_in_every_way(name: str, state: str, tmp_path: Path) -> None:
    case = CASES[name]
    taken = {s.id: s for s in case.subscriptions if s.rejected is None}
    content = ways.Content(ontology_of(case), {id: query_of(s) for id, s in taken.items()}, tmp_path / "index")
    events = events_of(case)
    expected = {event.id: sorted(id for id, s in taken.items() if event.id in s.expect) for event in events}
    matcher = ways.STATES[state](content)
    ways.alone(matcher, events, expected)
    assert ways.eight_threads(matcher, events) == expected
    for event in events:
        for match in matcher.match(event):
            subscription = taken[match.subscription]
            compare(match, subscription.expect[event.id], subscription.ordered, f"{match.subscription} on {event.id}")


@cache
def everything() -> tuple[Ontology, dict[str, Query], list[Event], ways.Found]:
    """The subscriptions of all cases, the events of all under names of their own, the ontologies as far as they go
    together, and what the oracle says."""
    triples: list[Triple] = []
    queries: dict[str, Query] = {}
    events: list[Event] = []
    for name in ANSWERED:
        case = CASES[name]
        more = triples + list(read_triples(case.ontology.encode(), format="ttl"))
        with contextlib.suppress(OntologyError):
            Ontology.of(more)
            triples = more
        queries |= {f"{name}/{s.id}": query_of(s) for s in case.subscriptions if s.rejected is None}
        events += [Event(f"{event.id}/{name}", event.body) for event in events_of(case) if event.body]
    oracle = Matcher("naive", ontology := Ontology.of(triples), on_failure=ways.no_failure)
    oracle.add_many(queries.items())
    return ontology, queries, events, ways.objects(oracle, events)


@pytest.mark.parametrize("state", ways.STATES)
def test_all_cases_at_once(state: str, tmp_path: Path) -> None:
    ontology, queries, events, expected = everything()
    ways.alone(ways.STATES[state](ways.Content(ontology, queries, tmp_path / "index")), events, expected)


def test_all_cases_at_once_from_eight_threads(tmp_path: Path) -> None:
    ontology, queries, events, expected = everything()
    matcher = ways.changed(ways.Content(ontology, queries, tmp_path / "index"))
    assert ways.eight_threads(matcher, events[::3]) == {event.id: expected[event.id] for event in events[::3]}


@pytest.mark.parametrize("options", [{}, {"merge_at": 20}, {"weak": 0}], ids=str)
def test_eight_threads_while_subscriptions_come_and_go(options: dict[str, int], tmp_path: Path) -> None:
    ontology, queries, events, expected = everything()
    staying = dict(list(queries.items())[::2])
    matcher = ways.mixed(ways.Content(ontology, staying, tmp_path / "index"), **options)
    answers = ways.while_it_changes(matcher, events[::8], queries)
    assert answers == {event.id: [id for id in expected[event.id] if id in staying] for event in events[::8]}
    assert len(matcher) == len(staying)


@pytest.mark.parametrize("seed", range(3))
def test_changes_while_it_merges(seed: int) -> None:
    """Whatever comes, goes or becomes another in the middle of a merge, each change holds at once and stays."""
    dice = random.Random(seed)
    events = [Event.of(f"urn:event:{n}", [(iri("e:s"), iri(f"e:p{n}"), iri("e:o"))]) for n in range(5)]
    queries = [parse(f"SELECT * {{ ?s <e:p{n}> ?o }}") for n in range(5)]
    matcher = Matcher("fast", on_failure=ways.no_failure, merge_at=ways.NEVER)
    there: dict[str, int] = {}
    done = threading.Event()
    merges = 0

    def merge_on() -> None:
        nonlocal merges
        while not done.is_set():
            ways.merge(matcher)
            merges += 1

    with ThreadPoolExecutor(1) as pool:
        merging = pool.submit(merge_on)
        try:
            for turn in range(1500):
                id = f"s{dice.randrange(100)}"
                if there.pop(id, None) is not None:
                    matcher.remove(id)
                if dice.random() < 0.7:
                    there[id] = dice.randrange(5)
                    matcher.add(id, queries[there[id]])
                if turn % 10 == 0:
                    expected = {e.id: sorted(id for id, q in there.items() if q == n) for n, e in enumerate(events)}
                    assert (ways.objects if turn % 20 else ways.batch)(matcher, events) == expected
        finally:
            done.set()
        merging.result()
    ways.merge(matcher)
    assert len(matcher) == len(there)
    assert merges > 3


def _rows(matcher: Matcher, data: bytes) -> list[tuple[str, str]]:
    table = matcher.match_nquads(data)
    return sorted(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))


def test_events_without_a_name() -> None:
    """Their ids are made of what they say: from bytes, in both spellings, the same ones, with the same matches."""
    ontology, queries, events, _ = everything()
    oracle, matcher = Matcher("naive", ontology), Matcher("fast", ontology)
    for each in (oracle, matcher):
        each.add_many(queries.items())
    for event in events[::4]:
        expected = _rows(oracle, event.body.encode())
        for data in (event.body.encode(), respelled([event], random.Random(event.id), named=False)):
            assert _rows(matcher, data) == expected


def test_documents_with_mistakes() -> None:
    """Whatever the bytes are, the same rows, and the same events refused for the same reasons."""
    ontology, queries, events, _ = everything()
    oracle, matcher = Matcher("naive", ontology), Matcher("fast", ontology)
    for each in (oracle, matcher):
        each.add_many(list(queries.items())[::4])
    dice = random.Random(8)
    refusing = 0
    for _ in range(250):
        data = spoiling.document(dice.sample(events, 3), dice)
        expected = spoiling.outcome(oracle, data)
        assert spoiling.outcome(matcher, data) == expected, data
        refusing += bool(expected.refused)
    assert 50 < refusing < 200


@pytest.mark.parametrize("seed", range(5))
def test_adding_and_removing_in_any_order_equals_a_fresh_matcher(seed: int) -> None:
    dice = random.Random(seed)
    for name in dice.sample(ANSWERED, 8):
        case = CASES[name]
        ontology, events = ontology_of(case), events_of(case)
        queries = {s.id: query_of(s) for s in case.subscriptions if s.rejected is None}
        engine = Fast(ontology, merge_at=dice.choice([0, 3, 1000]))
        present: set[str] = set()
        for _ in range(12):
            id = dice.choice(list(queries))
            if id in present:
                engine.remove(id)
                present.remove(id)
            else:
                engine.add(id, queries[id])
                present.add(id)
            assert len(engine) == len(present)
            fresh = Fast(ontology)
            for each in present:
                fresh.add(each, queries[each])
            event = dice.choice(events)
            assert found(engine, event) == found(fresh, event)


def _answers(queries: Iterable[str], event: Event) -> tuple[list[str], list[str]]:
    """What `fast` says, and what the oracle says."""
    engines = Fast(Ontology.empty()), Naive(Ontology.empty())
    for engine in engines:
        for number, query in enumerate(queries):
            engine.add(f"{number:03}", parse(query))
    first, second = (found(engine, event) for engine in engines)
    return first, second


def test_an_event_larger_than_the_arrays_for_it() -> None:
    def node(number: int) -> Term:
        return iri(f"http://e.x/n{number}")

    next_to = iri("http://e.x/next")
    triples: list[Triple] = [(node(n), next_to, node(n + 1)) for n in range(3000)]
    text = " ".join(f"word{n}" for n in range(20_000))
    triples.append((node(0), iri("http://e.x/text"), literal(text)))
    queries = [
        "SELECT * { <http://e.x/n0> <http://e.x/next> ?a . ?a <http://e.x/next> <http://e.x/n2> }",
        'SELECT * { ?a <http://e.x/text> ?b FILTER ftcontains(?b, "word19999") }',
        'SELECT * { ?a <http://e.x/text> ?b FILTER ftcontains(?b, "word19999" ftNEAR[0,3] "word0") }',
        "SELECT * { ?a <http://e.x/next> ?a }",
    ]
    assert _answers(queries, Event.of("e:1", triples)) == (["000", "001"], ["000", "001"])


@pytest.mark.parametrize("way", range(5))
def test_a_join_goes_back_from_every_dead_end(way: int) -> None:
    """Of five ways on from each node, one leads to the end."""
    p, q, r = (iri(f"e:{name}") for name in "pqr")
    nodes = [iri(f"e:n{n}") for n in range(5)]
    triples = [(iri("e:start"), p, node) for node in nodes]
    triples += [(nodes[way], q, iri(f"e:m{n}")) for n in range(5)]
    triples += [(iri(f"e:m{way}"), r, iri("e:end")), (nodes[way], r, iri(f"e:m{way}"))]
    queries = [
        "SELECT * { ?a <e:p> ?b . ?b <e:q> ?c . ?c <e:r> ?d }",
        "SELECT * { ?c <e:r> <e:end> . ?b <e:q> ?c . ?a <e:p> ?b }",
        "SELECT * { ?b <e:q> ?c . ?b <e:r> ?c }",
        "SELECT * { ?a <e:p> ?b . ?b <e:r> ?c . ?b <e:q> ?c . ?c <e:r> <e:end> }",
        "SELECT * { ?a <e:p> ?b . ?c <e:q> ?b }",
        "SELECT * { ?a <e:p> ?b . ?b <e:q> ?c . ?c <e:r> ?a }",
    ]
    expected = ["000", "001", "002", "003"]
    assert _answers(queries, Event.of("e:1", triples)) == (expected, expected)


def test_large_and_small_events_in_one_batch(tmp_path: Path) -> None:
    """Events that outgrow every array for them, thousands of answers to one, and small ones before and after."""
    text = " ".join(f"word{n}" for n in range(5_000))
    events = []
    for number, size in enumerate([1, 1_500, 1, 3, 700, 1]):
        node = [iri(f"http://e.x/{number}/n{n}") for n in range(size + 1)]
        triples = [(node[n], iri(f"http://e.x/p{n % 5}"), node[n + 1]) for n in range(size)]
        triples.append((node[0], iri("http://e.x/text"), literal(text if size > 1 else f"word{number}")))
        events.append(Event.of(f"urn:event:{number}", triples))
    queries = {
        f"all{n}": parse(f"SELECT * {{ ?a{n} <http://e.x/p0> ?b . ?a{n} <http://e.x/text> ?c }}") for n in range(3_000)
    }
    for n in range(7):
        queries[f"path{n}"] = parse(f"SELECT * {{ ?a <http://e.x/p{n}> ?b . ?b <http://e.x/p{n + 1}> ?c }}")
        queries[f"word{n}"] = parse(
            f'SELECT * {{ ?a ?b ?c FILTER ftcontains(?c, "word{n}" ftAND ftNOT "word{n + 9}") }}'
        )
    oracle = Matcher("naive", on_failure=ways.no_failure)
    oracle.add_many(list(queries.items())[-15:])
    expected = {
        event: [f"all{n}" for n in range(3_000)] + ids[1:] for event, ids in ways.objects(oracle, events).items()
    }
    expected = {event: sorted(ids) for event, ids in expected.items()}
    ways.alone(ways.mixed(ways.Content(Ontology.empty(), queries, tmp_path / "index")), events, expected)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Stra\u00dfe", "strasse"),
        ("e\u0301cole", "\u00e9cole"),
        ("\u1112\u1161\u11ab", "\ud55c"),
        ("\u6771\u4eac\u30bf\u30ef\u30fc", "\u4eac"),
        ("\ufb01ne", "fine"),
        ("x" * 5000, "x" * 5000),
        ('a\nb\tc"d\\e', "e"),
        ("\U0001d400\U0001d401", "ab"),
        ("a\x01word", "word"),
        ("\U0010fffe", "nothing"),
        ("", "nothing"),
    ],
)
def test_words_of_every_kind(text: str, word: str) -> None:
    event = Event.of("e:1", [(iri("e:s"), iri("e:p"), literal(text)), (iri("e:s"), iri("e:q"), literal("plain"))])
    queries = [
        f'SELECT * {{ ?s <e:p> ?o FILTER ftcontains(?o, "{word}") }}',
        f'SELECT * {{ ?s ?any ?o FILTER ftcontains(?o, "{word}") }}',
        'SELECT * { ?s <e:q> ?o FILTER ftcontains(?o, "plain") }',
        f'SELECT * {{ ?s <e:p> ?o FILTER ftcontains(?o, ftNOT "{word}") }}',
    ]
    expected = ["002", "003"] if word == "nothing" else ["000", "001", "002"]
    assert _answers(queries, event) == (expected, expected)


def test_words_of_every_length() -> None:
    """Each is found in its text, and in none where a letter is another, missing or one more."""
    words = [("abcdefghijklmnopqrstuvwxyz" * 2)[:length] for length in range(1, 40)]
    words += ["\u6771", "\u00e9t\u00e9", "\u00e9" * 4, "\u0434\u0430\u0434\u0430", "\u0434\u0430\u0434\u0430\u0434"]
    queries = [f'SELECT * {{ ?s <e:p> ?o FILTER ftcontains(?o, "{word}") }}' for word in words]
    for number, word in enumerate(words):
        others = [word[:-1] + "#" + word[-1], word + "0", "0" + word]
        event = Event.of("e:1", [(iri("e:s"), iri("e:p"), literal(f"{' '.join(others)} {word.upper()}"))])
        mine, right = _answers(queries, event)
        assert mine == right
        assert f"{number:03}" in mine


def test_values_on_both_sides_of_what_a_double_can_tell() -> None:
    values = ["1", "1.0", "0.99999999999999999", "9007199254740993", "-0", "1e0", "1e400", "NaN", "x", "01", " 1"]
    xsd = "http://www.w3.org/2001/XMLSchema#"
    queries = [
        f"SELECT * {{ ?s <e:p> ?o FILTER(?o {op} {number}) }}"
        for op in ("<", "<=", ">", ">=", "=", "!=")
        for number in ("1", "1.0", "1e0", "9007199254740992", "0", "-1.5")
    ]
    for value in values:
        for kind in ("integer", "decimal", "double", "float", "int", "string", "boolean"):
            event = Event.of("e:1", [(iri("e:s"), iri("e:p"), literal(value, xsd + kind))])
            mine, right = _answers(queries, event)
            assert mine == right, event.body


def test_what_no_kernel_decides_is_asked() -> None:
    engine = Fast(Ontology.empty())
    engine.add("regex", parse('SELECT * { ?s <e:p> ?o FILTER regex(?o, "^a") }'))
    engine.add("plain", parse("SELECT * { ?s <e:p> ?o }"))
    engine.add("always", parse("SELECT * { OPTIONAL { ?s <e:p> ?o } }"))
    assert found(engine, Event.of("e:1", [(iri("e:s"), iri("e:p"), literal("abc"))])) == ["always", "plain", "regex"]
    assert engine.stats()["asked"] == 2
    assert engine.stats()["unindexed"] == 1
    assert found(engine, Event.of("e:2", [(iri("e:s"), iri("e:q"), literal("abc"))])) == ["always"]
    assert engine.stats()["asked"] == 3


@pytest.mark.parametrize("language", ["en", "en-us", "en-x-pig", "de-ch-1996", "zh-hant-tw", "a-b", "i-klingon"])
@pytest.mark.parametrize("label", ["b", "\u00e9", "a.b", "0-1", "H"])
def test_every_term_that_an_event_may_have_is_read(language: str, label: str) -> None:
    subject = Term(f"_:{label}")
    triples = [(subject, iri("e:p"), literal("x", language=language)), (iri("e:\u6771"), iri("e:q"), subject)]
    queries = [f'SELECT * {{ ?s <e:p> "x"@{language} . ?t <e:q> ?s }}', "SELECT * { <e:\u6771> <e:q> ?s }"]
    engine = Fast(Ontology.empty())
    for number, query in enumerate(queries):
        engine.add(str(number), parse(query))
    assert found(engine, Event.of("e:1", triples)) == ["0", "1"]
    assert engine.stats()["asked"] == 0


def test_cases_with_the_compiler_off() -> None:
    """The kernels as plain Python, from the first subscription to a snapshot that is opened and changed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", "every_case and few_hashes"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
