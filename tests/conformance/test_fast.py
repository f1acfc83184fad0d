"""`fast` in every way it can be asked, on other people's queries and data: against the oracle, which has its own tests
against them. All subscriptions of a collection meet all its events at once.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.conformance import test_real_data as real
from tests.conformance import test_sparql_eval as w3c
from tests.contract import ways
from tests.soak.drawing import Kit, gtopss_from, ops_from, query_from
from tests.soak.mutate_events import at_home
from tests.soak.trees import valid
from tests.soak.university import department
from tests.support import data_dir

from tidings.lang import parse
from tidings.lang.pattern import Query
from tidings.match.matcher import Matcher
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import read_events


class Collection(NamedTuple):
    ontology: Ontology
    queries: dict[str, Query]
    events: list[Event]


def w3c_suite() -> Collection:
    """The evaluation tests that an event can express; files that several tests share are one event."""
    queries, events = {}, {}
    for case in w3c.cases():
        text = w3c.files()[case.query].decode()
        if w3c.not_expressible(case, text) is None:
            queries[case.name] = parse(text, base=w3c.BASE + case.query)
            for name in case.data + case.graphs:
                events[name] = Event.of(w3c.BASE + name, w3c.triples(name))
    return Collection(Ontology.empty(), queries, [event for event in events.values() if event.body])


def questions() -> Collection:
    """QALD-9 on the sample of DBpedia."""
    queries = {id: parse(text) for id, text in real.questions().items() if id not in real.refused()}
    events = list(read_events([data_dir(*real.SAMPLE)], by="subject", report=_raise))
    return Collection(Ontology.load(data_dir(*real.ONTOLOGY)), queries, events)


def university() -> Collection:
    """LUBM's queries on departments."""
    queries = {path.stem: parse(path.read_text()) for path in sorted(data_dir("lubm", "queries").glob("*.rq"))}
    dice = random.Random(14)
    events = [department(f"urn:department:{number}", dice) for number in range(60)]
    return Collection(Ontology.load(data_dir("lubm", "univ-bench.ttl")), queries, events)


def nanopublications() -> Collection:
    """Some of a month's, with subscriptions in all dialects made of what they say."""
    path = sorted(data_dir("wikipathways-nanopubs").glob("*.trig.zst"))[0]
    return _sampled(list(islice(read_events([path], by="nanopub", report=_raise), 40)), Ontology.empty())


def music() -> Collection:
    path = data_dir("dbpedia-music", "music.ttl.gz")
    events = list(islice(read_events([path], by="subject", report=_raise), 60))
    return _sampled(events, Ontology.load(data_dir(*real.ONTOLOGY)))


def _sampled(events: list[Event], ontology: Ontology) -> Collection:
    dice = random.Random(len(events))
    events = [at_home(event, dice) if dice.random() < 0.3 else event for event in events]
    queries = {}
    for event in events:
        kit = Kit(dice, event.triples(), event.id, ontology)
        for number in range(4):
            made = [query_from(kit), query_from(kit), gtopss_from(kit), ops_from(kit)][number]
            form = valid(made) if made else None
            if form is not None:
                queries[f"{len(queries):03}"] = form
    return Collection(ontology, queries, events)


def _raise(error: Exception) -> None:
    raise error


COLLECTIONS: dict[str, Callable[[], Collection]] = {
    made.__name__: made for made in (w3c_suite, questions, university, nanopublications, music)
}


@cache
def answered(name: str) -> tuple[Collection, ways.Found]:
    collection = COLLECTIONS[name]()
    oracle = Matcher("naive", collection.ontology, on_failure=ways.no_failure)
    oracle.add_many(collection.queries.items())
    return collection, ways.objects(oracle, collection.events)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_has_matches_and_misses(name: str) -> None:
    """Without them the comparison would show little."""
    collection, expected = answered(name)
    matching = {id for ids in expected.values() for id in ids}
    pairs = sum(map(len, expected.values()))
    assert len(matching) > min(10, len(collection.queries) // 2)
    assert len(matching) < pairs < len(collection.queries) * len(collection.events)


@pytest.mark.parametrize("state", ways.STATES)
@pytest.mark.parametrize("name", COLLECTIONS)
def test_every_way(name: str, state: str, tmp_path: Path) -> None:
    (ontology, queries, events), expected = answered(name)
    ways.alone(ways.STATES[state](ways.Content(ontology, queries, tmp_path / "index")), events, expected)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_eight_threads(name: str, tmp_path: Path) -> None:
    (ontology, queries, events), expected = answered(name)
    matcher = ways.mixed(ways.Content(ontology, queries, tmp_path / "index"))
    some = events[::4]
    assert ways.eight_threads(matcher, some) == {event.id: expected[event.id] for event in some}


def test_thousands_of_subscriptions_come_one_by_one(tmp_path: Path) -> None:
    """Everything outgrows what it began with, more than once, with merges on the side."""
    path = data_dir("dbpedia-music", "music.ttl.gz")
    events = list(islice(read_events([path], by="subject", report=_raise), 600))
    ontology, queries, events = _sampled(events, Ontology.load(data_dir(*real.ONTOLOGY)))
    events = events[::30]
    oracle = Matcher("naive", ontology, on_failure=ways.no_failure)
    oracle.add_many(queries.items())
    matcher = Matcher("fast", ontology, on_failure=ways.no_failure, merge_at=100)
    for id, query in queries.items():
        matcher.add(id, query)
        matcher.add(f"gone {id}", query)
    for id in queries:
        matcher.remove(f"gone {id}")
    expected = ways.objects(oracle, events)
    ways.alone(matcher, events, expected)
    ways.merge(matcher)
    ways.alone(matcher, events, expected)
    assert len(matcher) == len(queries)
