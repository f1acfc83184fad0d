"""`tidings match`: which subscriptions match which events, one JSON object a line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from tidings.cli.match_spark import check_chained, match_on_spark
from tidings.cli.options import OntologyFiles, Reading, ontology_options, reading_options
from tidings.cli.progress import Progress
from tidings.cli.run import Run, Stop, is_sharded, is_snapshot, peak_memory, take_subscriptions, telling_of_compiling
from tidings.cli.shards import OpenedShards, Shards, shards_option
from tidings.cli.terminal import Command, Terminal
from tidings.errors import EvaluationError, EventError, UsageError
from tidings.match.base import Engine, Failure, Match
from tidings.match.registry import DEFAULT, create, names
from tidings.match.run import DEFAULT_BUDGET
from tidings.match.verify import current_time
from tidings.rdf.event import Event
from tidings.rdf.formats import Format
from tidings.rdf.seen import SeenEvents
from tidings.rdf.sources import Document, documents
from tidings.rdf.terms import Term, to_json

if TYPE_CHECKING:
    from tidings.match.fast import Fast

_EXAMPLE = """
tidings match subscriptions/ events.trig --ontology auction.ttl
tidings match subscriptions.ndjson 'feed/*.nq.gz' --bindings --stats
tidings match index/ day.nq.gz
zcat day.nq.gz | tidings match cheap.rq - | jq -r .event
tidings match cheap.rq offers.csv --as csv --base http://shop.example/ --key id
"""


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("subscriptions", metavar="SUBSCRIPTIONS")
@click.argument("events", metavar="EVENTS...", nargs=-1, required=True)
@ontology_options
@click.option("--matcher", metavar="NAME", show_default=DEFAULT, help="The matching algorithm.")
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
@shards_option
@click.option("--verify", is_flag=True, help="Of compiled subscriptions, read all data and compare their digests.")
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
    matcher: str | None,
    engine: str,
    strategy: str,
    shards: int | None,
    budget: int,
    verify: bool,
    bindings: bool,
    stats: bool,
    fail_fast: bool,
) -> int:
    """Print which of the SUBSCRIPTIONS match which EVENTS, one JSON object a line.

    SUBSCRIPTIONS is a folder of *.rq, *.ops and *.gtopss files, one such file, NDJSON, CSV or Parquet with the
    columns id and query, or a folder that tidings compile wrote. EVENTS are RDF files of any format, plain, .gz or
    .zst, folders or globs of them, or - for N-Quads on standard input. With --as they are tables, feeds, trees or
    documents (see tidings ingest).

    Matches come by event, in the order of the input, then by subscription id; with --engine spark in no particular
    order, and when all is read. The exit code is 0 when all went well, 1
    when some input was rejected and the rest processed, 2 when nothing could be.
    """
    _check_usage(matcher, engine, strategy)
    if strategy == "chained":
        check_chained(reading, shards is not None or is_sharded(subscriptions))
    if engine != "spark" and (shards is not None or is_sharded(subscriptions)):
        what = "--shards" if shards is not None else f"{subscriptions} is compiled in shards, which"
        raise UsageError(f"{what} needs --engine spark; the embedded engine has all subscriptions in one index")
    reading.check(events)
    run = Run(terminal, fail_fast)
    candidates = 0
    started = time.perf_counter()
    options = {"budget": budget, "now": current_time()}
    try:
        if is_snapshot(subscriptions):
            core: Engine = _opened(subscriptions, matcher, ontology_files, reading, run, verify=verify, **options)
        elif verify:
            raise UsageError(f"--verify is for compiled subscriptions, and {subscriptions} is no folder of these")
        else:
            with run.stage("ontology"):
                ontology = ontology_files.load(reading)
            core = cast(Engine, Shards(shards, ontology)) if shards else create(matcher or DEFAULT, ontology, **options)
            with run.stage("subscriptions"):
                take_subscriptions(core, subscriptions, run)
        terminal.detail(f"{len(core):,} subscriptions in {run.seconds['subscriptions']:.2f} s")
        if engine == "spark":
            those = cast("Fast | Shards | OpenedShards", core)
            candidates = match_on_spark(
                those, subscriptions, events, reading, bindings, budget, run, shards, chained=strategy == "chained"
            )
        else:
            _match_events(core, events, reading, bindings, run)
            candidates = int(core.stats().get("candidates", 0))
    except Stop:
        run.stopped = True
        terminal.warning("stopped at the first reject, as --fail-fast asks")
    run.seconds["total"] = time.perf_counter() - started
    if stats:
        click.echo(json.dumps(_stats(core, candidates, run)), err=True)
    return _exit_code(run, terminal)


def _check_usage(matcher: str | None, engine: str, strategy: str) -> None:
    if engine == "spark" and matcher not in (None, DEFAULT):
        raise UsageError(f"--engine spark has one matcher, '{DEFAULT}'; '{matcher}' needs --engine embedded")
    if strategy == "chained" and engine != "spark":
        raise UsageError("--strategy chained needs --engine spark; the embedded engine takes whole events (one-step)")
    if matcher is not None and matcher not in names():
        raise UsageError(f"there is no matcher '{matcher}'; the matchers are {', '.join(names())}")


def _opened(
    folder: str, matcher: str | None, files: OntologyFiles, reading: Reading, run: Run, *, verify: bool, **options: Any
) -> Fast:
    """Compiled subscriptions. They have their ontology with them; one that is named must be the same."""
    if matcher not in (None, DEFAULT):
        raise UsageError(f"{folder} is compiled for the matcher '{DEFAULT}'; '{matcher}' needs the subscriptions")
    from tidings.match.fast import Fast

    with run.stage("ontology"):
        ontology = files.load(reading) if files.paths else None
    with run.stage("subscriptions"):
        core = (
            cast(Fast, OpenedShards(folder, ontology, verify=verify))
            if is_sharded(folder)
            else Fast.open(Path(folder), ontology=ontology, verify=verify, **options)
        )
    run.counts["subscriptions"] = len(core)
    if not len(core):
        raise UsageError(f"{folder}: there is no subscription in it")
    return core


def _match_events(core: Engine, sources: tuple[str, ...], reading: Reading, bindings: bool, run: Run) -> None:
    live = "-" in sources
    with run.terminal.progress("matching") as progress, telling_of_compiling(core, progress):
        for lines in _by_event(core, sources, reading, bindings, run):
            run.counts["events"] += 1
            run.counts["matches"] += len(lines)
            if lines:
                _write(lines, progress, live)
            progress.update(events=run.counts["events"], matches=run.counts["matches"])


def _by_event(
    core: Engine, sources: tuple[str, ...], reading: Reading, bindings: bool, run: Run
) -> Iterator[list[str]]:
    """The lines to print, event by event."""
    seen = SeenEvents()
    # Solutions need the event itself, and other ways of making events of a document more than its graphs as they come.
    by_graph = reading.by == "graph" and not reading.group and not reading.strict
    if reading.data is not None:
        yield from _one_by_one(core, reading.events(sources, run.reject_event, seen), bindings, run)
        return
    for document in documents(sources, format=reading.format):
        if isinstance(document, EventError):
            run.reject_event(document)
        elif core.name == DEFAULT and document.format is Format.NQ and by_graph and not bindings:
            yield from _by_lane(core, document, reading, seen, run)
        else:
            yield from _one_by_one(core, reading.events([document], run.reject_event, seen), bindings, run)


def _one_by_one(core: Engine, events: Iterator[Event], bindings: bool, run: Run) -> Iterator[list[str]]:
    while True:
        with run.stage("events"):
            event = next(events, None)
        if event is None:
            return
        with run.stage("match"):
            matches = core.match(event, run.reject_evaluation)
            lines = [line for match in matches if (line := _line(match, bindings, run)) is not None]
        yield lines


def _by_lane(core: Engine, document: Document, reading: Reading, seen: SeenEvents, run: Run) -> Iterator[list[str]]:
    """The same for N-Quads, many events at a time: reading is part of matching here."""
    from tidings.match.fast.stream import match_document

    found = match_document(cast("Fast", core), document, reading.limits, seen, run.reject_event, run.reject_evaluation)
    source = _json(document.name)
    while True:
        with run.stage("match"):
            hits = next(found, None)
        if hits is None:
            return
        event = _json(hits.event)
        yield [f'{{"event": {event}, "subscription": {_json(id)}, "source": {source}}}' for id in hits.subscriptions]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _line(match: Match, bindings: bool, run: Run) -> str | None:
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
    return _json(record)


def _row(solution: dict[str, Term]) -> dict[str, dict[str, str]]:
    return {name: to_json(term) for name, term in solution.items()}


def _write(lines: list[str], progress: Progress, live: bool) -> None:
    if sys.stdout.isatty():
        progress.clear()
    sys.stdout.write("\n".join(lines) + "\n")
    if live:
        sys.stdout.flush()


def _stats(core: Engine, candidates: int, run: Run) -> dict[str, Any]:
    return {
        "events": run.counts["events"],
        "subscriptions": run.counts["subscriptions"],
        "matches": run.counts["matches"],
        "candidates": candidates,
        "rejected": {kind: run.rejected[kind] for kind in ("subscriptions", "events", "evaluations")},
        "seconds": {
            name: round(run.seconds[name], 6) for name in ("ontology", "subscriptions", "events", "match", "total")
        },
        "peak_memory": peak_memory(),
        "matcher": core.name,
    }


def _exit_code(run: Run, terminal: Terminal) -> int:
    total = sum(run.rejected.values())
    if not run.counts["events"] and not run.stopped:
        if run.rejected["events"]:
            terminal.error("no event could be processed")
            return 2
        terminal.warning("the input has no events")
    return 1 if total else 0
