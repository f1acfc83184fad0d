"""Worlds for the tests of chained: what it takes of them, and their events in parts."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from tests.contract.test_cases import ANSWERED, CASES, events_of, query_of
from tests.soak.composing import from_cases
from tests.soak.generated import drawn
from tests.spark.worlds import Answers, Together, World

from tidings.errors import SubscriptionError
from tidings.lang.conjunctive import conjunction
from tidings.lang.pattern import Query
from tidings.rdf.event import Event
from tidings.rdf.identity import PREFIX
from tidings.rdf.read import read_triples
from tidings.rdf.terms import Triple
from tidings.spark.matching import version_of
from tidings.spark.versions import Version

Part = tuple[str, str]
"""An event, and some of its lines."""

END = '<{}> <urn:tidings:end> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> .\n'


def conjunctive(queries: Mapping[str, Query]) -> dict[str, Query]:
    """Those that chained takes."""
    found = {}
    for id, query in queries.items():
        try:
            conjunction(query, id)
        except SubscriptionError:
            continue
        found[id] = query
    return found


def _take(
    worlds: Together, name: str, ontology: Iterable[Triple], queries: Mapping[str, Query], events: Iterable[Event]
) -> None:
    """What chained takes of these, if their ontology goes with the others. A name that is known becomes another."""
    own: dict[str, Event] = {}
    for event in events:
        known = (event.id in worlds.events or event.id in own) and not event.id.startswith(PREFIX)
        id = f"{event.id}-{len(worlds.events) + len(own)}" if known else event.id
        if event.body and id not in worlds.events:
            own[id] = replace(event, id=id, published=None)
    worlds.takes(name, ontology, conjunctive(queries), list(own.values()))


def everything(*seeds: int) -> World:
    """The cases of `tests/cases`, and some that are generated."""
    worlds = Together()
    for name in ANSWERED:
        case = CASES[name]
        queries = {each.id: query_of(each) for each in case.subscriptions if each.rejected is None}
        _take(worlds, name, read_triples(case.ontology.encode(), format="ttl"), queries, events_of(case))
    for seed in seeds:
        history = from_cases(drawn(seed, 4), random.Random(seed))
        _take(worlds, f"generated-{seed}", history.ontologies[0], history.queries, history.events)
    return worlds.world()


def generated(seed: int, each: int = 4) -> World:
    history = from_cases(drawn(seed, each), random.Random(seed))
    worlds = Together()
    _take(worlds, "generated", history.ontologies[0], history.queries, history.events)
    return worlds.world()


def version(world: World, folder: Path) -> Version:
    return version_of(world.rows(folder / "subscriptions.ndjson"), world.ontology, None)


def split(world: World, dice: random.Random) -> list[Part]:
    """All events in parts, in any order; some of these twice. Those without a name are whole."""
    parts: list[Part] = []
    for event in world.events:
        lines = [f"{line}\n" for line in event.body.split("\n") if line]
        dice.shuffle(lines)
        most = dice.choice([1, 2, 5, len(lines)])
        own: list[Part] = [(event.id, event.body)] if event.id.startswith(PREFIX) else []
        while lines and not event.id.startswith(PREFIX):
            size = dice.randint(1, most)
            own.append((event.id, "".join(lines[:size])))
            lines = lines[size:]
        if dice.random() < 0.3:
            own.append(dice.choice(own))
        parts += own
    dice.shuffle(parts)
    return parts


def pairs(answers: Answers) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """What is satisfied by which event; and what the oracle could not decide."""
    undecided = {pair for pair, answer in answers.items() if answer is None}
    return answers.keys() - undecided, undecided
