"""Why a subscription matches an event, and why it does not.

The verdict is always the verifier's: an explanation only asks it further questions, about parts of the subscription
(`probe`), and looks up what the event has to do with each of them.

    provenance    which stated triple, and which steps of a hierarchy, are behind a triple of the event's meaning
    evidence      what an event has for a triple pattern, a path, a class: the triple, or what comes nearest
    filters       which values a filter compared, which words it found
    blocks        a conjunction: as much of it as can hold together, and what is then missing
    patterns      every other construct: branches, groups taken away, sub-selects, HAVING
    text          the explanation as text
"""

from __future__ import annotations

from collections.abc import Mapping

from tidings.errors import EvaluationError
from tidings.lang.pattern import Query
from tidings.match.explain.model import Explanation, Finding
from tidings.match.explain.names import Names, declared_prefixes
from tidings.match.explain.patterns import query_fails, query_holds
from tidings.match.explain.probe import Probe
from tidings.match.explain.provenance import Origin, Step, origin
from tidings.match.explain.text import MARKS, explanation_text, finding_lines, headline, reason
from tidings.match.meaning import Meaning
from tidings.match.run import DEFAULT_BUDGET
from tidings.match.verify import solve
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term

__all__ = [
    "MARKS",
    "Explanation",
    "Finding",
    "Names",
    "Origin",
    "Step",
    "declared_prefixes",
    "explain",
    "explanation_text",
    "finding_lines",
    "headline",
    "origin",
    "reason",
]


def explain(
    query: Query,
    event: Event,
    ontology: Ontology,
    *,
    prefixes: Mapping[str, str] | None = None,
    budget: int = DEFAULT_BUDGET,
    now: Term | None = None,
) -> Explanation:
    """Why `query` matches `event` under `ontology`, or why not; `prefixes` (prefix → namespace) shorten its names.

    An evaluation that fails raises its `EvaluationError`, as it does in a matcher.
    """
    meaning = Meaning(event, ontology)
    answer = solve(query, meaning, budget=budget, now=now)
    probe = Probe(meaning, ontology, Names(ontology, prefixes), event.id, budget, now)
    row = answer.bindings[0] if answer else {}
    try:
        findings = tuple(query_holds(probe, query, row)) if answer else query_fails(probe, query, {})
    except EvaluationError as error:
        findings = (Finding(answer is not None, "the subscription as a whole", (f"its parts take too long: {error}",)),)
    return Explanation(event.id, answer is not None, len(answer.bindings) if answer else 0, row, findings)
