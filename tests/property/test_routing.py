"""Shards without Spark: the router sends an event wherever something matches it, for all that can be generated; and the
shards together find what one matcher finds, each match once.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.test_cases import ANSWERED, CASES, events_of, ontology_of, query_of
from tests.property import check
from tests.property.test_fast_live import conjunctive, others, seeds, sparql
from tests.soak.composing import from_cases
from tests.soak.generated import Case

from tidings.index.atoms import Atom
from tidings.index.placing import Placing
from tidings.index.routing import filed_atoms
from tidings.lang.pattern import Query
from tidings.match.base import Failure
from tidings.match.fast import Fast
from tidings.match.fast.router import Filed, Router
from tidings.match.fast.routes import route_bodies
from tidings.match.fast.sharded import Placer, Sharded
from tidings.ontology import Ontology
from tidings.rdf.event import Event

Pairs = set[tuple[str, str]]
SHARDS = (1, 3, 8)


def ignored(failure: Failure) -> None:
    """One that fails does so wherever it is; a pair of it is in no answer."""


def pairs(engine: Fast, events: Sequence[Event]) -> Pairs:
    return {(match.subscription, match.event) for event in events for match in engine.match(event, ignored)}


def routed(router: Router, shards: int, events: Sequence[Event]) -> list[list[int]]:
    """The shards of each event."""
    ids, bodies = pa.array([each.id for each in events]), pa.array([each.body for each in events])
    found = route_bodies(router, shards, ids, bodies)
    assert len(set(zip(found.rows.tolist(), found.shards.tolist(), strict=True))) == found.rows.size
    return [found.shards[found.rows == row].tolist() for row in range(len(events))]


def agree(ontology: Ontology, queries: Mapping[str, Query], events: Sequence[Event], shards: int, seed: int) -> None:
    """Some are there when the router is made, and the others come later."""
    whole = Fast(ontology)
    whole.add_many(queries.items())
    dice = random.Random(seed)
    rows = list(queries.items())
    dice.shuffle(rows)
    early = dice.choice([0, len(rows) // 2, len(rows)])
    sample = [event.body for event in events[: dice.randrange(3)]]
    sharded = Sharded.of(shards, rows[:early], ontology, sample)
    router = Router.of(ontology, [Filed.of(n, engine.merge()) for n, engine in enumerate(sharded.engines)])
    placer = Placer(Placing.of_bytes(sharded.placing.to_bytes()), ontology)
    told: list[set[Atom]] = [set() for _ in range(shards)]
    for number, (id, query) in enumerate(rows):
        shard, under = placer.place(id, query)
        told[shard].update(under or ())
        if number >= early:
            assert sharded.add(id, query) == shard, "whoever asks is told the same"
            router.learn(shard, under)
    assert together(router, sharded.engines, events) == pairs(whole, events)
    for atoms, engine in zip(told, sharded.engines, strict=True):
        filed = set(filed_atoms(engine.merge().index))
        # Of those with an alternative that nothing is known of, the others are filed all the same.
        assert atoms <= filed
        assert atoms == filed or engine.stats()["unindexed"]


def together(router: Router, engines: Sequence[Fast], events: Sequence[Event]) -> Pairs:
    """What shards find in the events that are sent to them; the same pair twice is an error."""
    found: Pairs = set()
    for event, shards in zip(events, routed(router, len(engines), events), strict=True):
        for shard in shards:
            more = pairs(engines[shard], [event])
            assert not more & found, "a match is there once"
            found |= more
        for shard in set(range(len(engines))) - set(shards):
            assert not pairs(engines[shard], [event]), "the event was not sent where it matches"
    return found


def generated(cases: list[Case], seed: int, shards: int) -> None:
    history = from_cases(cases, random.Random(seed))
    agree(Ontology.of(history.ontologies[0]), history.queries, history.events, shards, seed)


@check.examples(30)
@given(st.lists(conjunctive, min_size=4, max_size=12), seeds, st.sampled_from(SHARDS))
def test_what_kernels_decide(cases: list[Case], seed: int, shards: int) -> None:
    generated(cases, seed, shards)


@check.examples(30)
@given(st.lists(others, min_size=4, max_size=12), seeds, st.sampled_from(SHARDS))
def test_other_dialects(cases: list[Case], seed: int, shards: int) -> None:
    generated(cases, seed, shards)


@check.examples(30)
@given(st.lists(sparql, min_size=4, max_size=8), seeds, st.sampled_from(SHARDS))
def test_all_of_sparql(cases: list[Case], seed: int, shards: int) -> None:
    generated(cases, seed, shards)


def test_every_case() -> None:
    for number, name in enumerate(name for name in ANSWERED if CASES[name].published is None):
        case = CASES[name]
        queries = {each.id: query_of(each) for each in case.subscriptions if each.rejected is None}
        agree(ontology_of(case), queries, events_of(case), SHARDS[number % 3], number)
