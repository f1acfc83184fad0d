"""What the lines of the table of `fast` say together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tidings.bench.fast_report import REPORTED, Found, exponent
from tidings.bench.report import Claim

_RTF_BYTES = 1_830
"""That the RTF paper's index takes for a query: 183 MB for 100,000."""


def claims(found: Found, *, full: bool) -> Iterator[Claim]:
    """What the lines say together. Each holds by the rule in its text; nothing can be told from a smaller run."""
    for claim in _claims(found):
        yield claim if full else replace(claim, holds=None)


def _claims(found: Found) -> Iterator[Claim]:
    told = [line for line in found.lines.values() if line.held is not None]
    missed = [line.ask.workload for line in told if not line.held]
    absent = [line.ask.workload for line in found.lines.values() if line.held is None and line.why != REPORTED]
    yield Claim(
        "asked",
        "every line of the table is held",
        None if absent else not missed,
        f"{len(told) - len(missed)} held, {len(missed)} missed, {len(absent)} not told"
        + (f"; missed: {'; '.join(missed)}" if missed else ""),
    )
    plain, deep = (found.lines[key].point for key in ("rtf", "ontology"))
    yield Claim(
        "asked",
        "a hierarchy costs an event little more than looking it up: at most half as much time again",
        deep.microseconds <= 1.5 * plain.microseconds,
        f"{deep.microseconds:.1f} µs with the ontology at {deep.each:.1f} matches an event, "
        f"{plain.microseconds:.1f} µs without at {plain.each:.1f}",
    )
    growth, worst = found.growth, found.worst
    yield Claim(
        "asked",
        "at fixed matches an event, time grows more slowly than the square root of the number of subscriptions",
        exponent(growth) < 0.5,
        f"to the power {exponent(growth):.2f}: {growth[0].microseconds:.1f} µs at {growth[0].subscriptions:,}, "
        f"{growth[-1].microseconds:.1f} at {growth[-1].subscriptions:,}",
    )
    yield Claim(
        "asked",
        "in the worst case, time grows no faster than the number of subscriptions: to a power of 1.1 at most",
        exponent(worst) <= 1.1,
        f"to the power {exponent(worst):.2f}: {worst[0].microseconds:,.0f} µs at {worst[0].subscriptions:,}, "
        f"{worst[-1].microseconds:,.0f} at {worst[-1].subscriptions:,}",
    )
    held = growth[-1].bytes_each
    yield Claim(
        "RTF 2016, figure 6",
        f"{_RTF_BYTES:,} bytes a query in the paper: here less",
        None if held is None else held < _RTF_BYTES,
        "the matcher does not say" if held is None else f"{held:,.0f} bytes at {growth[-1].subscriptions:,}",
    )
