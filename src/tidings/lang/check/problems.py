"""A problem of a subscription, and the codes that name its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from tidings.errors import Span, SubscriptionError
from tidings.rdf.terms import Term

Severity: TypeAlias = Literal["error", "warning", "info"]

Code: TypeAlias = Literal[
    "syntax",
    "unknown-class",
    "unknown-property",
    "outside-concept-model",
    "contradictory-filter",
    "unbound-in-filter",
    "never-bound",
    "cartesian-product",
    "matches-everything",
    "never-matches",
    "duplicate",
    "covered",
    "covering-incomplete",
    "unindexed",
    "not-chained",
]
"""The kinds of problem. They are part of the public surface: a script may rely on them."""


_SEVERITIES: dict[Code, Severity] = {
    "syntax": "error",
    "covered": "info",
    "covering-incomplete": "info",
    "unindexed": "info",
    "not-chained": "error",
}


class Finding(NamedTuple):
    """A problem as the check of one query finds it; `term` is the name it is about, which has a place in the text."""

    code: Code
    message: str
    hint: str | None = None
    term: Term | None = None

    @property
    def severity(self) -> Severity:
        return _SEVERITIES.get(self.code, "warning")


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding. `subscription` None is about the set as a whole; `row` is the place of the subscription in a file
    of many, and `span` a place inside its text."""

    subscription: str | None
    severity: Severity
    code: Code
    message: str
    span: Span | None = None
    hint: str | None = None
    source: str | None = None
    row: int | None = None

    def to_json(self) -> dict[str, str | int | None]:
        """Plain data for `json.dumps`; the keys are always the same ones."""
        return {
            "subscription": self.subscription,
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "source": self.source,
            "row": self.row,
            "line": self.span.line if self.span else None,
            "column": self.span.column if self.span else None,
        }

    def __str__(self) -> str:
        """The problem as a parse error shows itself: the place, what it is, the source line with a caret, the hint."""
        subject = f"subscription '{self.subscription}': " if self.subscription is not None and self.row is None else ""
        if self.code == "syntax":
            subject = ""
        return str(
            SubscriptionError(
                f"{subject}{self.severity}: {self.message} [{self.code}]",
                span=self.span,
                source=self.source,
                hint=self.hint,
                id=self.subscription,
                row=self.row,
            )
        )


def problem_of(error: SubscriptionError) -> Problem:
    """What a subscription that could not be read says, as a problem."""
    return Problem(error.id, "error", "syntax", error.reason, error.span, error.hint, error.source, error.row)
