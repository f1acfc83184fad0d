"""How fast do texts become forms? The RTF workload through Tidings, with other parsers as yardsticks.

pyoxigraph's parser cannot be had alone: what is timed is a query on an empty store, which parses and plans. It and
rdflib know neither ftcontains nor the wildcard, so they, and Tidings beside them, get the subscriptions without.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import islice

import pyoxigraph as ox

from tidings.bench.report import Report, Row, Table
from tidings.bench.settings import Settings
from tidings.bench.workloads import rtf
from tidings.lang.shapes import Shapes
from tidings.lang.sparql import parse_sparql

COUNT = 100_000
SAMPLE = 20_000
RDFLIB_SAMPLE = 200
REPEATS = 3


def run(settings: Settings) -> Report:
    return at_scale(0.01 if settings.quick else 1.0, settings)


def at_scale(scale: float, settings: Settings) -> Report:
    names = rtf.vocabulary()
    rows = []
    for ft in (1.0, 0.5, 0.0):
        texts = list(rtf.subscriptions(int(COUNT * scale), seed=settings.seed, ft=ft, names=names))
        rows.append(_row("tidings", f"text on {ft:.0%} of the patterns", texts, lambda: Shapes().parse))
        if ft == 1.0:
            some = texts[: int(SAMPLE * scale)]
            rows.append(_row("tidings, parser alone", "the same, a sample", some, lambda: parse_sparql))
    plain = list(islice((text for text in texts if " * " not in text), int(SAMPLE * scale)))
    rows.append(_row("tidings", "no text, no wildcards, a sample", plain, lambda: Shapes().parse))
    rows.append(_row("pyoxigraph, empty store", "no text, no wildcards, a sample", plain, lambda: ox.Store().query))
    few = plain[: max(2, int(RDFLIB_SAMPLE * scale))]
    rows.append(_row("rdflib, to algebra", "no text, no wildcards, a small sample", few, _rdflib))
    workload: Row = {"vocabulary": names.origin, "patterns": "2 to 5", "seed": settings.seed, "repeats": REPEATS}
    question = "how long do subscription texts take to become forms, on one core?"
    return Report("parsing", question, workload, (Table("Texts to forms", tuple(rows)),))


def _row(parser: str, workload: str, texts: Sequence[str], make: Callable[[], Callable[[str], object]]) -> Row:
    runs = [_seconds(texts, make()) for _ in range(REPEATS)]
    walls = sorted(wall for wall, _ in runs)
    cpu = statistics.median(cpu for _, cpu in runs)
    return {
        "parser": parser,
        "subscriptions": workload,
        "count": len(texts),
        "seconds": round(statistics.median(walls), 3),
        "fastest": round(walls[0], 3),
        "slowest": round(walls[-1], 3),
        "cpu seconds": round(cpu, 3),
        "cpu µs each": round(cpu / len(texts) * 1e6, 1),
    }


def _seconds(texts: Sequence[str], parse: Callable[[str], object]) -> tuple[float, float]:
    """The time for all of them, by the clock and of the processor; the forms are kept, as a matcher would."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    forms = [parse(text) for text in texts]
    taken = time.perf_counter() - wall, time.process_time() - cpu
    assert len(forms) == len(texts)
    return taken


def _rdflib() -> Callable[[str], object]:
    from rdflib.plugins.sparql import prepareQuery

    return prepareQuery
