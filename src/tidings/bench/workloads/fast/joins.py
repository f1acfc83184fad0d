"""The worst case: every subscription passes every look-up, and only the join says no.

A subscription is a path of five steps, each with one of ten properties: 100,000 different ones. Every event has all
fifty properties, and the first four steps of every path; the fifth start elsewhere. So each single pattern of each
subscription holds, each four that follow each other too, and no index of parts can tell that the whole does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidings.bench.workloads.fast.base import Forms, Workload, numbered
from tidings.lang.pattern import Block, Query, TriplePattern, Var
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term, Triple, iri

STEPS = 5
WIDTH = 10
MOST = WIDTH**STEPS

_NAMES = "http://joins.example/"
_NODES = tuple(Var(f"n{step}") for step in range(STEPS + 1))


def workload(name: str, count: int, events: int) -> Workload:
    """`count` of the paths, evenly chosen."""
    drawn = f"different paths of {STEPS} steps, {WIDTH} properties each; events have every step, but no whole path"

    def forms() -> Forms:
        return numbered(subscriptions(count))

    return Workload(name, drawn, count, tuple(map(_event, range(events))), forms, Ontology.empty())


def subscriptions(count: int) -> Iterator[Query]:
    if count > MOST:
        raise ValueError(f"there are {MOST:,} different paths, and {count:,} are wanted")
    for number in range(count):
        rest, triples = number * MOST // count, []
        for step in range(STEPS):
            rest, which = divmod(rest, WIDTH)
            triples.append(TriplePattern(_NODES[step], _property(step, which), _NODES[step + 1]))
        yield Query("sparql", "ASK", Block(tuple(triples)))


def _event(number: int) -> Event:
    nodes = [iri(f"{_NAMES}{number}/node{step}") for step in range(STEPS + 1)]
    starts = [*nodes[: STEPS - 1], iri(f"{_NAMES}{number}/elsewhere")]
    triples: list[Triple] = [
        (starts[step], _property(step, which), nodes[step + 1]) for step in range(STEPS) for which in range(WIDTH)
    ]
    return Event.of(f"{_NAMES}event/{number}", triples)


def _property(step: int, which: int) -> Term:
    return iri(f"{_NAMES}p{step}{which}")
