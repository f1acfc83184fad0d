"""Runs a subscription through every registered matcher and compares with what brute force found."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, cast

from hypothesis import HealthCheck, settings
from tests.property import model as m
from tests.property.brute_sparql import Result
from tests.property.render import dialect, nt, text
from tests.property.rows import computed, same_rows

from tidings.errors import UnsupportedError
from tidings.lang import Query, parse, to_text
from tidings.lang.pattern import Dialect
from tidings.match import registry
from tidings.match.base import Answer, Failure
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term, Triple

SOAK = bool(os.environ.get("TIDINGS_SOAK"))


def examples(quick: int) -> settings:
    """The profile of one property: the same examples on every run, or many new ones where TIDINGS_SOAK is set."""
    return settings(
        max_examples=quick * 50 if SOAK else quick,
        deadline=None,
        derandomize=not SOAK,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


class Matched(NamedTuple):
    """What one matcher found on one event, among the subscriptions it takes."""

    matcher: str
    event: Event
    taken: frozenset[str]
    found: frozenset[str]


def triples(statements: Iterable[m.Statement]) -> list[Triple]:
    return [(Term(nt(s)), Term(nt(p)), Term(nt(o))) for s, p, o in statements]


def matched(queries: Mapping[str, Query], ontology: Ontology, events: Iterable[Event]) -> Iterator[Matched]:
    """What every matcher finds on every event, all subscriptions at once."""
    for name in registry.names():
        engine = registry.create(name, ontology)
        taken = set()
        for id, query in queries.items():
            try:
                engine.add(id, query)
                taken.add(id)
            except UnsupportedError:
                continue
        for event in events:
            failures: list[Failure] = []
            found = {match.subscription for match in engine.match(event, failures.append)}
            assert not failures, f"{name} failed: {failures}"
            yield Matched(name, event, frozenset(taken), frozenset(found))


def answers(subscription: m.Subscription, world: m.World) -> dict[str, Answer | None]:
    """The answer of every matcher that takes the subscription, read from its text; the text prints back to itself."""
    source = text(subscription)
    query = parse(source, cast(Dialect, dialect(subscription)))
    assert parse(to_text(query), query.dialect) == query, f"does not print back:\n{source}\n{to_text(query)}"
    ontology = Ontology.of(triples(world.ontology))
    event = Event.of(world.event_id.value, triples(world.event))
    found: dict[str, Answer | None] = {}
    for name in registry.names():
        engine = registry.create(name, ontology)
        try:
            engine.add("subscription", query)
        except UnsupportedError:
            continue
        failures: list[Failure] = []
        matches = engine.match(event, failures.append)
        assert not failures, f"{name} failed: {failures}"
        found[name] = matches[0].answer if matches else None
    assert "naive" in found
    return found


def agree(subscription: m.Subscription, world: m.World, expected: Result | None) -> None:
    """Every matcher gives the expected answer, all of it."""
    for name, found in answers(subscription, world).items():
        where = f"{name}\n{text(subscription)}\n\nevent {world.event}\nontology {world.ontology}"
        assert (found is None) == (expected is None), f"match is {found is not None} in {where}"
        if found is None or expected is None:
            continue
        limit = subscription.limit if isinstance(subscription, m.Select) else None
        actual = [{k: str(v) for k, v in row.items()} for row in found.bindings]
        assert same_rows(expected.rows, actual, computed(subscription), limit), (
            f"{where}\nexpected {expected.rows}\nfound {actual}"
        )
        if expected.triples is not None:
            made = {f"{nt(s)} {nt(p)} {nt(o)} ." for s, p, o in expected.triples}
            assert set((found.construct or "").splitlines()) == made, where
