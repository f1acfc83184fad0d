"""An explanation as text: a mark, the condition, and beside it the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from textwrap import wrap

from tidings.match.explain.model import Explanation, Finding
from tidings.match.explain.names import Names

MARKS = {True: "✓", False: "✗", None: "·"}
WIDTH = 120
_WIDEST = 46
_NARROWEST = 30
_INDENT = 2


def explanation_text(explanation: Explanation, subscription: str, names: Names, width: int = WIDTH) -> str:
    """The whole explanation, ready to print."""
    lines = [headline(explanation, subscription)]
    if not explanation.matches:
        lines.append(f"  because {reason(explanation)}")
    if explanation.solution:
        lines += ["", *(f"  ?{name} = {names.term(term)}" for name, term in explanation.solution.items())]
    lines += ["", *(f"  {line}" for line in finding_lines(explanation.findings, width - 2))]
    if any(finding.holds is None for finding in explanation.findings):
        lines += ["", f"  {MARKS[None]} not reached: it depends on something that is missing"]
    return "\n".join(lines)


def headline(explanation: Explanation, subscription: str) -> str:
    """The verdict in one line."""
    if explanation.matches:
        many = "1 solution" if explanation.solutions == 1 else f"{explanation.solutions} solutions; the first is shown"
        return f"{subscription} matches <{explanation.event}>, with {many}"
    return f"{subscription} does not match <{explanation.event}>"


def reason(explanation: Explanation) -> str:
    """The first thing missing, in one line."""
    missing = explanation.missing
    if missing is None:
        return "its conditions do not hold together"
    return f"{missing.condition}: {'; '.join(missing.evidence)}" if missing.evidence else missing.condition


def finding_lines(findings: Iterable[Finding], width: int = WIDTH) -> list[str]:
    """One line a condition, the evidence in a second column; what a condition is made of is indented under it."""
    rows = list(_rows(findings, 0))
    first = max((len(left) for left, _ in rows if len(left) <= _WIDEST), default=0)
    lines = []
    for left, evidence in rows:
        right = [part for line in evidence for part in wrap(line, max(width - first - 2, _NARROWEST)) or [""]]
        if len(left) > first:
            lines += [left, *(f"{' ' * first}  {line}" for line in right)]
        else:
            column = [left, *[""] * (len(right) - 1)]
            lines += [f"{a.ljust(first)}  {b}".rstrip() for a, b in zip_longest(column, right, fillvalue="")]
    return lines


def _rows(findings: Iterable[Finding], depth: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    for finding in findings:
        yield f"{' ' * _INDENT * depth}{MARKS[finding.holds]} {finding.condition}", finding.evidence
        yield from _rows(finding.parts, depth + 1)
