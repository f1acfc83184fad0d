"""`tidings match`: which subscriptions match which events, one JSON object a line."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click

from tidings.cli.options import OntologyFiles, Reading, ontology_options, reading_options
from tidings.cli.progress import Progress
from tidings.cli.terminal import Command, Terminal
from tidings.errors import EvaluationError, EventError, SubscriptionError, TidingsError, UnsupportedError, UsageError
from tidings.lang.files import read_subscriptions
from tidings.match.base import Engine, Failure, Match
from tidings.match.registry import create, names
from tidings.match.run import DEFAULT_BUDGET
from tidings.match.verify import current_time
from tidings.rdf.formats import EXTENSIONS
from tidings.rdf.sources import documents
from tidings.rdf.terms import Term, to_json

_EXAMPLE = """
tidings match subscriptions/ events.trig --ontology auction.ttl
tidings match subscriptions.ndjson 'feed/*.nq.gz' --bindings --stats
zcat day.nq.gz | tidings match cheap.rq - | jq -r .event
"""


class _Stop(Exception):
    """`--fail-fast` met its first reject."""


@dataclass
class _Run:
    """What happened so far: counts, times, and what was rejected."""

    terminal: Terminal
    fail_fast: bool
    stopped: bool = False
    rejected: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def reject(self, kind: str, error: TidingsError | str) -> None:
        """Name on stderr what could not be processed; the rest goes on."""
        self.rejected[kind] += 1
        self.terminal.error(str(error))
        if self.fail_fast:
            raise _Stop

    def reject_subscription(self, error: SubscriptionError) -> None:
        self.reject("subscriptions", error)

    def reject_event(self, error: EventError) -> None:
        self.reject("events", error)

    def reject_evaluation(self, failure: Failure) -> None:
        where = f"subscription '{failure.subscription}' on event <{failure.event}>"
        self.reject("evaluations", f"{where}: {failure.reason}")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - start


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("subscriptions", metavar="SUBSCRIPTIONS")
@click.argument("events", metavar="EVENTS...", nargs=-1, required=True)
@ontology_options
@click.option("--matcher", metavar="NAME", default="naive", show_default=True, help="The matching algorithm.")
@click.option(
    "--engine", type=click.Choice(["embedded", "spark"]), default="embedded", show_default=True, help="Where it runs."
)
@click.option(
    "--strategy",
    type=click.Choice(["one-step", "chained"]),
    default="one-step",
    show_default=True,
    help="Whole events at once, or quad by quad (Spark only).",
)
@click.option("--bindings", is_flag=True, help="Print all solutions of every match.")
@click.option("--stats", is_flag=True, help="At the end, print counts, times and peak memory as JSON on stderr.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first input that is rejected.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="STEPS",
    default=DEFAULT_BUDGET,
    show_default=True,
    help="What one subscription may spend on one event.",
)
@reading_options
@click.pass_obj
def command(
    terminal: Terminal,
    subscriptions: str,
    events: tuple[str, ...],
    ontology_files: OntologyFiles,
    reading: Reading,
    matcher: str,
    engine: str,
    strategy: str,
    budget: int,
    bindings: bool,
    stats: bool,
    fail_fast: bool,
) -> int:
    """Print which of the SUBSCRIPTIONS match which EVENTS, one JSON object a line.

    SUBSCRIPTIONS is a folder of *.rq, *.ops and *.gtopss files, one such file, or NDJSON, CSV or Parquet with the
    columns id and query. EVENTS are RDF files of any format, plain, .gz or .zst, folders or globs of them, or - for
    N-Quads on standard input.

    Matches come by event, in the order of the input, then by subscription id. The exit code is 0 when all went well, 1
    when some input was rejected and the rest processed, 2 when nothing could be.
    """
    _check_usage(matcher, engine, strategy)
    if next(documents(events, format=reading.format), None) is None:
        raise UsageError(f"no RDF file in {', '.join(events)}: none ends in {' '.join(EXTENSIONS)}, .gz or .zst")
    run = _Run(terminal, fail_fast)
    started = time.perf_counter()
    with run.stage("ontology"):
        ontology = ontology_files.load(reading)
    core = create(matcher, ontology, budget=budget, now=current_time())
    try:
        with run.stage("subscriptions"):
            _take_subscriptions(core, subscriptions, run)
        _match_events(core, events, reading, bindings, run)
    except _Stop:
        run.stopped = True
        terminal.warning("stopped at the first reject, as --fail-fast asks")
    run.seconds["total"] = time.perf_counter() - started
    if stats:
        click.echo(json.dumps(_stats(core, run)), err=True)
    return _exit_code(run, terminal)


def _check_usage(matcher: str, engine: str, strategy: str) -> None:
    if engine == "spark":
        raise UsageError(
            "--engine spark is not part of this installation; install it with: pip install 'tidings[spark]'"
        )
    if strategy == "chained":
        raise UsageError("--strategy chained needs --engine spark; the embedded engine takes whole events (one-step)")
    if matcher not in names():
        raise UsageError(f"there is no matcher '{matcher}'; the matchers are {', '.join(names())}")


def _take_subscriptions(core: Engine, path: str, run: _Run) -> None:
    with run.terminal.progress("reading subscriptions") as progress:
        for subscription in read_subscriptions(path, report=run.reject_subscription):
            try:
                core.add(subscription.id, subscription.query)
            except UnsupportedError as error:
                run.reject("subscriptions", f"{subscription.source}: subscription '{subscription.id}': {error}")
            progress.update(subscriptions=len(core))
    run.counts["subscriptions"] = len(core)
    run.terminal.detail(f"{len(core):,} subscriptions in {run.seconds['subscriptions']:.2f} s")
    if not len(core):
        raise UsageError(f"{path}: there is no subscription that can be used")


def _match_events(core: Engine, sources: tuple[str, ...], reading: Reading, bindings: bool, run: _Run) -> None:
    live = "-" in sources
    events = reading.events(sources, run.reject_event)
    with run.terminal.progress("matching") as progress:
        while True:
            with run.stage("events"):
                event = next(events, None)
            if event is None:
                break
            with run.stage("match"):
                matches = core.match(event, run.reject_evaluation)
                lines = [line for match in matches if (line := _line(match, bindings, run)) is not None]
            run.counts["events"] += 1
            run.counts["matches"] += len(lines)
            if lines:
                _write(lines, progress, live)
            progress.update(events=run.counts["events"], matches=run.counts["matches"])


def _line(match: Match, bindings: bool, run: _Run) -> str | None:
    """The match as JSON; None, and a report, where its solutions cannot be computed."""
    record: dict[str, Any] = {"event": match.event, "subscription": match.subscription, "source": match.source}
    if bindings:
        try:
            record["bindings"] = [_row(solution) for solution in match.bindings]
            if match.construct is not None:
                record["construct"] = match.construct
        except EvaluationError as error:
            run.reject_evaluation(Failure(match.event, match.subscription, str(error)))
            return None
    return json.dumps(record, ensure_ascii=False)


def _row(solution: dict[str, Term]) -> dict[str, dict[str, str]]:
    return {name: to_json(term) for name, term in solution.items()}


def _write(lines: list[str], progress: Progress, live: bool) -> None:
    if sys.stdout.isatty():
        progress.clear()
    sys.stdout.write("\n".join(lines) + "\n")
    if live:
        sys.stdout.flush()


def _stats(core: Engine, run: _Run) -> dict[str, Any]:
    return {
        "events": run.counts["events"],
        "subscriptions": run.counts["subscriptions"],
        "matches": run.counts["matches"],
        "candidates": core.stats().get("candidates", 0),
        "rejected": {kind: run.rejected[kind] for kind in ("subscriptions", "events", "evaluations")},
        "seconds": {
            name: round(run.seconds[name], 6) for name in ("ontology", "subscriptions", "events", "match", "total")
        },
        "peak_memory": _peak_memory(),
        "matcher": core.name,
    }


def _peak_memory() -> int | None:
    """The most memory this process had at once, in bytes; None on systems that do not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _exit_code(run: _Run, terminal: Terminal) -> int:
    total = sum(run.rejected.values())
    if not run.counts["events"] and not run.stopped:
        if run.rejected["events"]:
            terminal.error("no event could be processed")
            return 2
        terminal.warning("the input has no events")
    return 1 if total else 0
