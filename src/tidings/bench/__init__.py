"""The benchmarks by name. Each generates its workload from a seed, measures, and says what it found.

workloads/    subscriptions and events, as a paper describes them
measure       one engine on one workload: seconds, counters, matches
report        what a benchmark gives: tables, figures, claims; kept as JSON and as Markdown
plots         its figures as SVG
parsing, ops, gtopss, rtf, fast, spark, eventcloud, broker, feeds, ingest    the benchmarks
"""

from __future__ import annotations

from importlib import import_module

from tidings.bench.report import Report
from tidings.bench.settings import Settings
from tidings.errors import UsageError

BENCHMARKS = {
    "parsing": "how long subscription texts take to become forms",
    "ops": "the OPS paper's workload: ops, decomposition, naive",
    "gtopss": "the G-ToPSS paper's workload: gtopss, ops, naive",
    "rtf": "the RTF paper's workload: rtfm, rtfs, ibroker",
    "fast": "the compiled index against what was asked of it: time, memory, changes, snapshots",
    "spark": "the pipeline on Spark against what was asked of it: rates, latency, start, memory, changes",
    "eventcloud": "the EventCloud paper's workload: one-step and chained on several executors of Spark",
    "broker": "the broker's server against what was asked of it: rate, delay, streams, memory, what matching costs",
    "feeds": "the G-ToPSS paper's figures 2 and 3, counted: many who poll feeds, and one broker for all",
    "ingest": "what is no RDF becomes events: every format beside its parser, and large files embedded and on Spark",
}


def run(name: str, settings: Settings) -> Report:
    """Run the benchmark of this name."""
    if name not in BENCHMARKS:
        raise UsageError(f"there is no benchmark '{name}'; there are: {', '.join(BENCHMARKS)}")
    report = import_module(f"tidings.bench.{name}").run(settings)
    assert isinstance(report, Report)
    return report
