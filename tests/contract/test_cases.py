"""Every case of `tests/cases` through every registered matcher: the papers' examples and the edges of the contract."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import cast

import pytest
from tests.contract.case_files import Case, CaseSubscription, Expected, cases

from tidings.errors import EventError, OntologyError, SubscriptionError, UnsupportedError
from tidings.lang import parse, to_text
from tidings.lang.pattern import Dialect, Query
from tidings.match import registry
from tidings.match.base import Failure, Match
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import read_events, read_triples

COMPLETE = {"naive", "fast"}
CASES = {case.name: case for case in cases()}
ANSWERED = [name for name, case in CASES.items() if not case.cycle]
CYCLES = [name for name, case in CASES.items() if case.cycle]
REFUSED = [(c.name, s.id) for c in CASES.values() for s in c.subscriptions if s.rejected is not None]


def ontology_of(case: Case) -> Ontology:
    return Ontology.of(read_triples(case.ontology.encode(), format="ttl"))


def events_of(case: Case) -> list[Event]:
    problems: list[EventError] = []
    events = list(read_events([case.events.encode()], format="trig", by=case.by, report=problems.append))
    assert not problems, problems
    return [dataclasses.replace(e, published=case.published) for e in events] if case.published else events


def query_of(subscription: CaseSubscription) -> Query:
    return parse(subscription.text, cast(Dialect, subscription.dialect), source=subscription.id)


@pytest.mark.parametrize("matcher", registry.names())
@pytest.mark.parametrize("name", ANSWERED)
def test_answers(name: str, matcher: str) -> None:
    """All subscriptions of a case at once: the right matches, with all their solutions, and no others."""
    case = CASES[name]
    engine = registry.create(matcher, ontology_of(case))
    taken = {}
    refusals = []
    for subscription in case.subscriptions:
        if subscription.rejected is None:
            try:
                engine.add(subscription.id, query_of(subscription))
                taken[subscription.id] = subscription
            except UnsupportedError as refusal:
                refusals.append(refusal)
    assert all(refusal.construct for refusal in refusals), "a refusal names what is not supported"
    assert not (refusals and matcher in COMPLETE), refusals
    assert len(engine) == len(taken)
    failures: list[Failure] = []
    for event in events_of(case):
        found = {match.subscription: match for match in engine.match(event, failures.append)}
        expected = {id: s.expect[event.id] for id, s in taken.items() if event.id in s.expect}
        assert sorted(found) == sorted(expected), f"wrong subscriptions on {event.id}"
        for id, match in found.items():
            compare(match, expected[id], taken[id].ordered, f"{id} on {event.id}")
    assert not failures


def compare(match: Match, expected: Expected, ordered: bool, where: str) -> None:
    rows = [frozenset((var, str(term)) for var, term in row.items()) for row in match.bindings]
    assert Counter(rows) == expected.counted(), where
    if ordered:
        assert tuple(rows) == expected.rows, where
    if expected.construct is not None:
        assert set((match.construct or "").splitlines()) == expected.construct, where


@pytest.mark.parametrize("name", ANSWERED)
def test_names_only_its_own_events(name: str) -> None:
    """A slip in a case's event names would turn an expected match into nothing expected."""
    case = CASES[name]
    ids = {event.id for event in events_of(case)}
    assert {id for s in case.subscriptions for id in s.expect} <= ids


@pytest.mark.parametrize("name", ANSWERED)
def test_prints_back(name: str) -> None:
    for subscription in CASES[name].subscriptions:
        if subscription.rejected is None:
            query = query_of(subscription)
            assert parse(to_text(query), query.dialect) == query, subscription.id


@pytest.mark.parametrize(("name", "id"), REFUSED)
def test_refuses_with_the_place(name: str, id: str) -> None:
    subscription = next(s for s in CASES[name].subscriptions if s.id == id)
    with pytest.raises(SubscriptionError) as problem:
        query_of(subscription)
    assert subscription.rejected is not None
    assert subscription.rejected in str(problem.value)
    assert problem.value.line is not None
    assert problem.value.column is not None


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_is_printed(name: str) -> None:
    case = CASES[name]
    with pytest.raises(OntologyError) as problem:
        ontology_of(case)
    for member in case.cycle:
        assert member in str(problem.value)
