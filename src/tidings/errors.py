"""Every error of the package, in one hierarchy.

TidingsError
├── UsageError              a wrong call or option; nothing was processed (exit code 2)
├── OntologyError           an ontology that cannot be used (exit code 2)
├── SnapshotError           a snapshot that cannot be opened or written (exit code 2)
├── EngineError             what runs elsewhere, Spark for one, came to an end (exit code 2)
├── BrokerError             a broker's store cannot be read or written (exit code 2)
├── LogError                what was matched elsewhere does not go with the events of a broker
├── ClientError             a broker over HTTP refused something, or cannot be reached (exit code 2)
├── DeliveryError           somebody who should be told did not take it
├── CursorError             a place among notifications that is none, or behind which some are gone
│   └── EndedError          ... because the subscription has ended
├── UnsupportedError        a matcher refuses a construct its paper does not define
├── ParseError              text that is not what it should be, with its place
│   ├── EventError          an event or event document
│   │   └── EventConflict   ... an event whose id another one has
│   └── SubscriptionError   a subscription, in any dialect
│       └── ParameterError  ... a value that does not go with its template, or a parameter that does not
└── EvaluationError         a subscription failed on an event
    └── BudgetExceeded      ... because it needed more steps than it may take
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text: 1-based line and column, and the source line itself where it is known."""

    line: int
    column: int | None = None
    text: str | None = None

    @staticmethod
    def at(source: str, offset: int) -> Span:
        """The span of the character at `offset` in `source` (an offset past the end is the end)."""
        offset = min(max(offset, 0), len(source))
        start = source.rfind("\n", 0, offset) + 1
        end = source.find("\n", offset)
        line = source[start : end if end >= 0 else len(source)].rstrip("\r")
        return Span(source.count("\n", 0, offset) + 1, offset - start + 1, line)


class TidingsError(Exception):
    """The root: catch this to catch everything the package raises on purpose."""


class UsageError(TidingsError):
    """A wrong call, option or combination of them."""


class OntologyError(TidingsError):
    """An ontology that cannot be used, for instance one whose hierarchy has a cycle."""


class SnapshotError(TidingsError):
    """A snapshot that cannot be opened or written: which folder, what is wrong, and what to do."""

    def __init__(self, folder: str | PathLike[str], problem: str, advice: str) -> None:
        super().__init__(f"the snapshot in '{fspath(folder)}': {problem}; {advice}")
        self.folder = fspath(folder)
        self.problem = problem
        self.advice = advice


class EngineError(TidingsError):
    """What runs elsewhere, on Spark for instance, cannot go on."""


class BrokerError(TidingsError):
    """The store of a broker cannot be read or written: which one, what is wrong, and what to do."""

    def __init__(self, broker: str, problem: str) -> None:
        super().__init__(f"{broker}: {problem}")
        self.broker = broker
        self.problem = problem


class LogError(TidingsError):
    """What somebody has matched elsewhere does not go with the log of a broker: it leaves something out, say."""


class ClientError(TidingsError):
    """A broker refused something: the status of its answer, its problem document, and after how many seconds it may be
    asked again, where it says so; or it cannot be reached.
    """

    def __init__(
        self, status: int | None, detail: str, problem: Mapping[str, Any], retry_after: float | None = None
    ) -> None:
        place = f" (line {problem['line']}, column {problem.get('column', 1)})" if "line" in problem else ""
        super().__init__(detail + place)
        self.status = status
        self.problem = problem
        self.retry_after = retry_after


class DeliveryError(TidingsError):
    """Somebody who should be told did not take it; `status` is what he answered, where he did."""

    def __init__(self, problem: str, status: int | None = None) -> None:
        super().__init__(problem)
        self.status = status


class CursorError(TidingsError):
    """A place among the notifications of a subscription that is none, or behind which some are gone."""

    def __init__(self, cursor: str, problem: str, advice: str) -> None:
        super().__init__(f"the cursor {cursor!r}: {problem}; {advice}")
        self.cursor = cursor
        self.problem = problem
        self.advice = advice


class EndedError(CursorError):
    """A place among the notifications of a subscription that has ended."""

    def __init__(self, cursor: str) -> None:
        super().__init__(cursor, "the subscription has ended", "leave it again")


class UnsupportedError(TidingsError):
    """A matcher was handed a construct it does not define."""

    def __init__(self, matcher: str, construct: str) -> None:
        super().__init__(f"the matcher '{matcher}' does not support {construct}; use 'naive' for this subscription")
        self.matcher = matcher
        self.construct = construct


class ParseError(TidingsError):
    """Text that could not be read. `str()` gives the whole message, with place, source line and caret."""

    def __init__(
        self, reason: str, *, span: Span | None = None, source: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span
        self.source = source
        self.hint = hint

    @property
    def line(self) -> int | None:
        return self.span.line if self.span else None

    @property
    def column(self) -> int | None:
        return self.span.column if self.span else None

    @property
    def source_line(self) -> str | None:
        return self.span.text if self.span else None

    def where(self) -> str:
        """`file:line:column`, as far as it is known."""
        place = self.source or ""
        if self.span:
            place += f":{self.span.line}" if place else f"line {self.span.line}"
            if self.span.column is not None:
                place += f":{self.span.column}" if self.source else f", column {self.span.column}"
        return place

    def __str__(self) -> str:
        where = self.where()
        lines = [f"{where}: {self.reason}" if where else self.reason]
        if self.span and self.span.text is not None and self.span.column is not None:
            lines += _quoted(self.span.text, self.span.column)
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class EventError(ParseError):
    """An event, or the document it came in, could not be read."""


class EventConflict(EventError):
    """An event of this id is there already, with other triples."""


class SubscriptionError(ParseError):
    """A subscription could not be read.

    Of a file that holds many, `id` and `row` (its line, or its row in a table) say which one, and the span is then a
    place inside its query.
    """

    def __init__(
        self,
        reason: str,
        *,
        span: Span | None = None,
        source: str | None = None,
        hint: str | None = None,
        id: str | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(reason, span=span, source=source, hint=hint)
        self.id = id
        self.row = row

    def where(self) -> str:
        """`file:row: subscription 'id': line, column` for one of many, else as for any text."""
        if self.row is None:
            return super().where()
        place = f"{self.source}:{self.row}" if self.source else f"row {self.row}"
        if self.id is not None:
            place += f": subscription '{self.id}'"
        if self.span:
            place += f": line {self.span.line}"
            place += f", column {self.span.column}" if self.span.column is not None else ""
        return place


class ParameterError(SubscriptionError):
    """A template and its parameters, or the values that are given for these, do not go together."""


class EvaluationError(TidingsError):
    """The evaluation of one subscription on one event failed; it says nothing about any other."""


class BudgetExceeded(EvaluationError):
    """The evaluation needed more steps than it may take."""


_WINDOW = 100


def _quoted(text: str, column: int) -> list[str]:
    """The source line with a caret below `column`; a long line is cut to a window around it."""
    start = max(0, column - 1 - _WINDOW // 2) if len(text) > _WINDOW else 0
    part = text[start : start + _WINDOW].replace("\t", " ")
    before = "…" if start else ""
    after = "…" if start + _WINDOW < len(text) else ""
    return [f"  | {before}{part}{after}", "  | " + " " * (len(before) + column - 1 - start) + "^"]
