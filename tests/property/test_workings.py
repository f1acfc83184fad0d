"""Whatever a matcher tells of its work, it ends in the answer that it gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from hypothesis import given
from tests.property import check
from tests.property import model as m
from tests.property.render import dialect, text
from tests.property.strategies import gtopss_cases, ops_cases
from tests.property.strategies_focus import ops_shapes
from tests.property.strategies_rtf import Case, rtf_cases

from tidings.errors import UnsupportedError
from tidings.lang import parse
from tidings.lang.pattern import Dialect
from tidings.match import registry
from tidings.match.explain import Names
from tidings.match.workings import Workings, workings, workings_text
from tidings.ontology import Ontology
from tidings.rdf.event import Event

WIDTH = 100


def told(subscription: m.Subscription, world: m.World) -> Iterator[Workings]:
    query = parse(text(subscription), cast(Dialect, dialect(subscription)))
    ontology = Ontology.of(check.triples(world.ontology))
    event = Event.of(world.event_id.value, check.triples(world.event))
    oracle = workings("naive", "s", query, event, ontology, Names(ontology))
    for matcher in registry.names():
        try:
            found = workings(matcher, "s", query, event, ontology, Names(ontology))
        except UnsupportedError:
            continue
        assert (found.failure, found.matches) == (None, oracle.matches), matcher
        assert all(len(line) <= WIDTH for line in workings_text(found, WIDTH).splitlines()), matcher
        yield found


def ends_well(found: Workings) -> bool:
    """Whether what is told ends in a match."""
    outcomes = [section.outcome for section in found.sections]
    match found.matcher:
        case "ops":
            return outcomes[-1] == "there is such a choice: a match"
        case "decomposition":
            instances = found.sections[0].table
            return instances is not None and instances.rows[-1][-1].startswith("✓")
        case "gtopss":
            empty = [section for section in found.sections if ": 0 rows" in section.title]
            return outcomes[0].endswith("a candidate") and not empty
        case "fast":
            return outcomes[0].endswith(": a match") and candidates_hold(found)
    return any(outcome.endswith(" is satisfied") for outcome in outcomes)


def candidates_hold(found: Workings) -> bool:
    """Whether all that a satisfied rule of `fast` is said to need is said to be there."""
    overview, *rules = found.sections
    assert overview.table is not None
    satisfied = [row[0] for row in overview.table.rows if row[3] == "yes"]
    tables = [rule.table for rule in rules if rule.title.split(" for ")[1] in satisfied]
    return all(table is not None and table.rows[0][1] == "✓" for table in tables)


@check.examples(80)
@given(ops_cases())
def test_ops(case: tuple[m.OpsSubscription, m.World]) -> None:
    for found in told(*case):
        assert found.matcher == "naive" or ends_well(found) == found.matches, workings_text(found)


@check.examples(80)
@given(ops_shapes())
def test_ops_shapes(case: tuple[m.OpsSubscription, m.World]) -> None:
    for found in told(*case):
        assert found.matcher == "naive" or ends_well(found) == found.matches, workings_text(found)


@check.examples(80)
@given(gtopss_cases())
def test_gtopss(case: tuple[m.GtopssSubscription, m.World]) -> None:
    for found in told(*case):
        assert found.matcher == "naive" or ends_well(found) == found.matches, workings_text(found)


@check.examples(120)
@given(rtf_cases())
def test_rtf(case: Case) -> None:
    for found in told(*case):
        assert found.matcher == "naive" or ends_well(found) == found.matches, workings_text(found)
