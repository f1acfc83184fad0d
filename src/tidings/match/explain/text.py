"""An explanation as text: a mark, the condition, and beside it the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidings.match.explain.model import Explanation, Finding
from tidings.match.explain.names import Names

MARKS = {True: "✓", False: "✗", None: "·"}
_WIDEST = 46
_INDENT = 2


def explanation_text(explanation: Explanation, subscription: str, names: Names) -> str:
    """The whole explanation, ready to print."""
    lines = [headline(explanation, subscription)]
    if explanation.solution:
        lines += ["", *(f"  ?{name} = {names.term(term)}" for name, term in explanation.solution.items())]
    lines += ["", *(f"  {line}" for line in finding_lines(explanation.findings))]
    if any(finding.holds is None for finding in explanation.findings):
        lines += ["", f"  {MARKS[None]} not reached: it depends on something that is missing"]
    return "\n".join(lines)


def headline(explanation: Explanation, subscription: str) -> str:
    """The verdict in one line."""
    if explanation.matches:
        many = "1 solution" if explanation.solutions == 1 else f"{explanation.solutions} solutions; the first is shown"
        return f"{subscription} matches <{explanation.event}>, with {many}"
    return f"{subscription} does not match <{explanation.event}>: {reason(explanation)}"


def reason(explanation: Explanation) -> str:
    """The first thing missing, in one line."""
    missing = explanation.missing
    if missing is None:
        return "its conditions do not hold together"
    return f"{missing.condition}: {'; '.join(missing.evidence)}" if missing.evidence else missing.condition


def finding_lines(findings: Iterable[Finding]) -> list[str]:
    """One line a condition, the evidence in a second column; what a condition is made of is indented under it."""
    rows = list(_rows(findings, 0))
    width = max((len(left) for left, _ in rows if len(left) <= _WIDEST), default=0)
    lines = []
    for left, evidence in rows:
        head, *more = evidence or ("",)
        if len(left) > width:
            lines.append(left)
            more = list(evidence)
        else:
            lines.append(f"{left.ljust(width)}  {head}".rstrip())
        lines += [f"{' ' * width}  {line}" for line in more]
    return lines


def _rows(findings: Iterable[Finding], depth: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    for finding in findings:
        yield f"{' ' * _INDENT * depth}{MARKS[finding.holds]} {finding.condition}", finding.evidence
        yield from _rows(finding.parts, depth + 1)
