"""The `sparql` dialect against brute force: all solutions, as multisets."""

from __future__ import annotations

from hypothesis import given
from tests.property import brute_sparql, check
from tests.property import model as m
from tests.property.strategies_focus import (
    aggregate_cases,
    algebra_cases,
    entailments,
    filter_cases,
    join_cases,
    path_cases,
)
from tests.property.strategies_sparql import sparql_cases

Case = tuple[m.Select, m.World]


def _agree(case: Case) -> None:
    query, world = case
    check.agree(query, world, brute_sparql.answer(query, world))


@check.examples(300)
@given(sparql_cases())
def test_everything_together(case: Case) -> None:
    _agree(case)


@check.examples(500)
@given(algebra_cases)
def test_algebra(case: Case) -> None:
    _agree(case)


@check.examples(600)
@given(join_cases)
def test_joins(case: Case) -> None:
    _agree(case)


@check.examples(400)
@given(path_cases)
def test_paths(case: Case) -> None:
    _agree(case)


@check.examples(250)
@given(aggregate_cases)
def test_aggregates(case: Case) -> None:
    _agree(case)


@check.examples(400)
@given(filter_cases)
def test_filters(case: Case) -> None:
    _agree(case)


@check.examples(300)
@given(entailments())
def test_entailment(world: m.World) -> None:
    """E* itself, every statement of it."""
    _agree((m.Select(m.Group((m.Bgp(((m.V("s"), m.V("p"), m.V("o")),)),))), world))
