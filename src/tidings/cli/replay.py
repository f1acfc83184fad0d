"""`tidings replay`: subscriptions run over what was, on Spark."""

from __future__ import annotations

import json
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidings.cli.options import OntologyFiles, ontology_options
from tidings.cli.run import Run, is_snapshot, need_spark, take_subscriptions
from tidings.cli.terminal import Command, Terminal
from tidings.cli.times import time_options
from tidings.errors import UsageError
from tidings.match.base import Failure

if TYPE_CHECKING:
    from tidings.cli.progress import Progress
    from tidings.spark.history import Replay

_EXAMPLE = """
tidings replay new.rq state/archive --ontology auction.ttl --since 30d
tidings replay subscriptions/ state/archive --since 2026-10-01 --until 2026-11-01 --count
tidings replay subscriptions/ state/archive -o notifications/
"""


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("subscriptions", metavar="SUBSCRIPTIONS")
@click.argument("archive", metavar="ARCHIVE")
@ontology_options
@time_options
@click.option("--bindings", is_flag=True, help="With all solutions.")
@click.option("--count", is_flag=True, help="Print how often each subscription would have matched, and no more.")
@click.option("-o", "--output", metavar="FOLDER", help="Write notifications to a new folder, as Parquet.")
@click.option("--master", metavar="URL", help="The Spark to run on.  [default: this machine, all cores]")
@click.option("--stats", is_flag=True, help="Print counts and seconds as JSON on stderr.")
@click.pass_obj
def command(
    terminal: Terminal,
    subscriptions: str,
    archive: str,
    ontology_files: OntologyFiles,
    since: datetime | None,
    until: datetime | None,
    bindings: bool,
    count: bool,
    output: str | None,
    master: str | None,
    stats: bool,
) -> int:
    """Tell what SUBSCRIPTIONS would have matched in ARCHIVE, had they stood all the time: one JSON object a line.

    Nobody is notified: with --output the notifications are written to a folder of their own, under the ids that they
    would have had.

    The exit code is 0 when all went well, 1 when some subscriptions were rejected and the rest run, 2 when nothing
    could be done.
    """
    need_spark("tidings replay")
    if output is not None and (count or Path(output).exists()):
        why = "it is written or counted, not both" if count else f"{output} is there already"
        raise UsageError(f"--output: {why}; name a new folder and leave --count out")
    run = Run(terminal, fail_fast=False)
    with tempfile.TemporaryDirectory(prefix="tidings-replay-") as folder, run.stage("total"):
        index = _compiled(subscriptions, ontology_files, run, Path(folder) / "index")
        with terminal.progress("starting Spark"):
            from tidings.spark.history import Replay

            past = Replay(archive, index, master=master, since=since, until=until)
        with past, run.stage("match"), terminal.progress("matching") as progress:
            if output is not None:
                _write(past, output, bindings, run)
            elif count:
                _count(past, run)
            else:
                _print(past, bindings, run, progress)
    if stats:
        seconds = {name: round(spent, 3) for name, spent in run.seconds.items()}
        click.echo(json.dumps({**run.counts, "rejected": dict(run.rejected), "seconds": seconds}), err=True)
    return 1 if run.rejected else 0


def _write(past: Replay, folder: str, bindings: bool, run: Run) -> None:
    written = past.write(folder, bindings=bindings)
    run.counts["matches"] += written.matches
    for failed in written.failures:
        _reject(*failed, run)


def _count(past: Replay, run: Run) -> None:
    for subscription, matches in past.counts():
        run.counts["matches"] += matches
        click.echo(json.dumps({"subscription": subscription, "matches": matches}, ensure_ascii=False))


def _print(past: Replay, bindings: bool, run: Run, progress: Progress) -> None:
    for event, subscription, solutions, reason in past.hits(bindings=bindings):
        if reason is not None:
            _reject(event, subscription, reason, run)
            continue
        record: dict[str, object] = {"event": event, "subscription": subscription}
        if bindings:
            found = json.loads(solutions or "[]")
            record |= found if isinstance(found, dict) else {"bindings": found}
        click.echo(json.dumps(record, ensure_ascii=False))
        run.counts["matches"] += 1
        progress.update(matches=run.counts["matches"])


def _reject(event: str | None, subscription: str | None, reason: str, run: Run) -> None:
    if event is None or subscription is None:
        run.reject("events", f"event <{event}>: {reason}")
    else:
        run.reject_evaluation(Failure(event, subscription, reason))


def _compiled(subscriptions: str, ontology_files: OntologyFiles, run: Run, folder: Path) -> str:
    if is_snapshot(subscriptions):
        return subscriptions
    from tidings.match.fast import Fast

    core = Fast(ontology_files.load())
    take_subscriptions(core, subscriptions, run)
    core.save(folder)
    return str(folder)
