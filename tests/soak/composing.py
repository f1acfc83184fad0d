"""Histories out of themes: which ontologies, which events, which subscriptions, and what happens in which order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import cast

from tests.contract import ways
from tests.property import check
from tests.property.render import dialect, text
from tests.soak import mutate_events, themes
from tests.soak.drawing import Kit, fitted, gtopss_from, ops_from, query_from
from tests.soak.generated import Case
from tests.soak.history import History, Step
from tests.soak.mutate_queries import mutated
from tests.soak.trees import valid

from tidings.errors import OntologyError
from tidings.index.names import ALL_BITS
from tidings.lang import parse, to_text
from tidings.lang.pattern import Dialect, Query
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Triple

LARGEST = 40


def from_theme(theme: themes.Theme, dice: random.Random) -> History:
    """Real events, changed, and real queries fitted to them, changed as well."""
    wanted = {f"{event.id}": event for event in dice.sample(theme.events, dice.randint(3, 12))}
    events = [mutated_event(event, theme.events, dice) for event in wanted.values()]
    ontologies = [_part(theme.ontology, dice) for _ in range(2)]
    ontology = Ontology.of(ontologies[0])
    queries: dict[str, Query] = {}
    for number in range(dice.randint(10, 60)):
        event = dice.choice(events)
        kit = Kit(dice, event.triples(), event.id, ontology, theme.queries)
        query = _drawn(kit, theme.queries)
        if query is not None:
            queries[f"s{number:02}"] = mutated(kit, query, dice.choice([0, 1, 2, 3, 5, 8]))
    return _history(ontologies, queries, events, dice)


def from_cases(cases: Sequence[Case], dice: random.Random) -> History:
    """Generated cases, all subscriptions on all events, some of both changed."""
    ontologies = [tuple(check.triples(cases[0][1].ontology)), _together(cases)]
    ontology = Ontology.of(ontologies[0])
    events: list[Event] = []
    queries: dict[str, Query] = {}
    for number, (subscription, world) in enumerate(cases):
        # One event keeps the name that the generated queries know.
        name = world.event_id.value if number == 0 else f"urn:event:{number + 10}"
        event = Event.of(name, check.triples(world.event))
        query = parse(text(subscription), cast(Dialect, dialect(subscription)))
        if dice.random() < 0.5:
            query = mutated(Kit(dice, event.triples(), event.id, ontology), query, dice.randint(1, 4))
        queries[f"s{number:02}"] = query
        events.append(event)
    changed = [mutated_event(event, events, dice) if dice.random() < 0.3 else event for event in events]
    return _history(ontologies, queries, changed, dice)


def mutated_event(event: Event, others: Sequence[Event], dice: random.Random) -> Event:
    made = mutate_events.mutated(event, others, dice, LARGEST) if dice.random() < 0.8 else event
    if not made.body or len(made.body) > 100_000:
        return event
    return mutate_events.at_home(made, dice) if dice.random() < 0.3 else made


def _drawn(kit: Kit, queries: Sequence[Query]) -> Query | None:
    kind = kit.dice.randrange(8)
    if kind < 3:
        return fitted(kit, kit.dice.choice(queries))
    if kind < 6:
        return valid(query_from(kit))
    made = gtopss_from(kit) if kind == 6 else ops_from(kit)
    return valid(made) if made else None


def _part(triples: Sequence[Triple], dice: random.Random) -> tuple[Triple, ...]:
    """All of an ontology, none of it, or some."""
    odds = dice.choice([0.0, 0.5, 1.0, 1.0])
    return tuple(t for t in triples if dice.random() < odds)


def _together(cases: Sequence[Case]) -> tuple[Triple, ...]:
    """The ontologies of several cases, as far as they are no cycle."""
    together: tuple[Triple, ...] = ()
    for _, world in cases:
        more = tuple(dict.fromkeys([*together, *check.triples(world.ontology)]))
        try:
            Ontology.of(more)
            together = more
        except OntologyError:
            continue
    return together


def _history(
    ontologies: Sequence[tuple[Triple, ...]], queries: dict[str, Query], events: Sequence[Event], dice: random.Random
) -> History:
    subscriptions = {id: (query.dialect, to_text(query)) for id, query in queries.items()}
    ids = list(subscriptions)
    steps: list[Step] = []
    for _ in range(dice.randint(1, 4)):
        steps += [("add", id) for id in ids if dice.random() < 0.7]
        steps += [("remove", id) for id in ids if dice.random() < 0.2]
        steps += [dice.choice(_EVENTFUL) for _ in range(dice.randrange(3))]
        steps += [("ask", dice.choice(_WAYS)) for _ in range(dice.randint(1, 3))]
    steps += [("add", id) for id in ids] + [("ask", "objects"), ("ask", "batch")]
    return History(
        tuple(ontologies),
        subscriptions,
        tuple(events),
        tuple(steps),
        weak=dice.choice([ALL_BITS, ALL_BITS, ALL_BITS, 0, 0x7, 0xFF]),
        merge_at=dice.choice([ways.NEVER, ways.NEVER, 0, 3, 10]),
    )


_EVENTFUL: list[Step] = [("merge",), ("merge",), ("save",), ("open",), ("ontology", "0"), ("ontology", "1")]
_WAYS = [way for way in ways.ASKS for _ in range(1 if way == "eight_threads" else 3)]
