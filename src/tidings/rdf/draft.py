"""Events in the making: triples that belong together, before they have an id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tidings.errors import EventError, Span
from tidings.rdf.limits import Limits, human
from tidings.rdf.quads import Run


@dataclass(frozen=True, slots=True)
class Draft:
    """All triples of one event, in document order. `name` is its IRI, if it has one, `line` where it starts.

    `again` marks a graph of which a part came earlier in the document, without a name to know it by.
    """

    name: str | None
    triples: list[str]
    line: int | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Problems:
    """Where the problems of one document go, and what may be held for it."""

    source: str
    limits: Limits
    report: Callable[[EventError], None]

    def tell(self, reason: str, line: int | None = None, hint: str | None = None) -> None:
        span = None if line is None else Span(line)
        self.report(EventError(reason, span=span, source=self.source, hint=hint))


@dataclass(slots=True)
class Part:
    """Triples that are being gathered; none any more once they are `spoilt`."""

    line: int | None = None
    triples: list[str] = field(default_factory=list)
    size: int = 0
    spoilt: bool = False

    def spoil(self) -> None:
        self.spoilt = True
        self.triples = []
        self.size = 0

    def take(self, run: Run, what: str, problems: Problems) -> None:
        """Add the run, unless the part is spoilt or becomes too large."""
        if self.spoilt:
            return
        if not self.triples:
            self.line = run.line
        self.size += run.size
        limit = self._beyond(len(run.triples), problems.limits)
        if limit is not None:
            hint = "raise the limit, or make smaller events: --events-by graph or subject"
            problems.tell(f"{what} has more than {limit}, the limit for one event", self.line, hint)
            self.spoil()
            return
        self.triples += run.triples

    def _beyond(self, more: int, limits: Limits) -> str | None:
        """Which limit so many more triples break, if any."""
        if self.size > limits.max_event:
            return human(limits.max_event)
        if len(self.triples) + more > limits.max_triples:
            return f"{limits.max_triples:,} triples"
        return None
