"""The workings of a matcher in a few words, for the tests of this folder."""

from __future__ import annotations

from textwrap import dedent

from tests.unit.match.worlds import EVENT, PREFIXES, PROLOGUE, triples

from tidings.lang import parse
from tidings.lang.pattern import Dialect
from tidings.match.explain import Names
from tidings.match.meaning import Meaning
from tidings.match.run import DEFAULT_BUDGET
from tidings.match.verify import matches
from tidings.match.workings import Workings, workings, workings_text
from tidings.ontology import Ontology
from tidings.rdf.event import Event

DIALECTS: dict[str, Dialect] = {"ops": "ops", "decomposition": "ops", "gtopss": "gtopss"}


def work(
    matcher: str,
    subscription: str,
    event: str,
    ontology: str = "",
    *,
    dialect: Dialect | None = None,
    budget: int = DEFAULT_BUDGET,
) -> Workings:
    """What is told; unless it fails, the matcher agrees with the verifier."""
    known = Ontology.of(triples(ontology))
    form = parse(PROLOGUE + subscription, dialect or DIALECTS.get(matcher, "sparql"))
    published = Event.of(EVENT, triples(event))
    found = workings(matcher, "s", form, published, known, Names(known, PREFIXES), budget=budget)
    assert found.failure is not None or found.matches == matches(form, Meaning(published, known))
    return found


def told(matcher: str, subscription: str, event: str, ontology: str = "") -> str:
    return workings_text(work(matcher, subscription, event, ontology), 100) + "\n"


def shown(text: str) -> str:
    """A text as it stands indented in a test."""
    return dedent(text).lstrip("\n")
