"""The `sparql` dialect against brute force: every construct, all solutions, as multisets."""

from __future__ import annotations

from hypothesis import given
from tests.property import brute_sparql, check
from tests.property import model as m
from tests.property.strategies_sparql import sparql_cases


@check.examples(800)
@given(sparql_cases())
def test_every_matcher_gives_every_solution(case: tuple[m.Select, m.World]) -> None:
    query, world = case
    check.agree(query, world, brute_sparql.answer(query, world))
