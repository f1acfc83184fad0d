"""An explanation: the conditions of a subscription, and what the event says about each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tidings.lang.pattern import TriplePattern
from tidings.match.base import Solution
from tidings.match.explain.provenance import Origin


@dataclass(frozen=True, slots=True)
class Finding:
    """One condition, whether it holds (None: not reached, something before it fails), and the evidence, a line each.

    `origin` is the triple behind a condition that is a triple pattern; `parts` are the conditions inside this one.
    `direct` marks what is stated just as it is asked for, without a step or a comparison between.

    For whoever draws it instead of printing it: `asked` is the condition where it is a triple pattern, or a class,
    which is one about rdf:type; `route` the triples along a path; `bindings` what the variables of the condition are
    here, those included that the text does not name.
    """

    holds: bool | None
    condition: str
    evidence: tuple[str, ...] = ()
    origin: Origin | None = None
    parts: tuple[Finding, ...] = ()
    direct: bool = False
    asked: TriplePattern | None = None
    route: tuple[Origin, ...] = ()
    bindings: Solution = field(default_factory=dict)

    def failures(self) -> Iterator[Finding]:
        """The innermost conditions that do not hold."""
        if self.holds is False:
            inner = [failure for part in self.parts for failure in part.failures()]
            yield from inner or [self]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an event matches a subscription, shown on one solution; or why not, shown on the nearest miss.

    `solution` has the variables of that one, and `solutions` is how many there are.
    """

    event: str
    matches: bool
    solutions: int
    solution: Solution = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def missing(self) -> Finding | None:
        """The first thing missing; None for a match."""
        return next((failure for finding in self.findings for failure in finding.failures()), None)
