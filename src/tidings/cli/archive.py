"""`tidings archive`: what there is of a pipeline's archive, and what is to become of it."""

from __future__ import annotations

import json
from datetime import datetime

import click

from tidings.cli.run import need_spark
from tidings.cli.terminal import Command, Terminal
from tidings.cli.times import moment
from tidings.errors import UsageError


@click.group(
    epilog="""\b
Examples:
  tidings archive show state/archive
  tidings archive compact state/archive
  tidings archive retain state/archive --since 90d
"""
)
def command() -> None:
    """Look after the archive of a pipeline: see what is in it, compact it, forget events.

    All of it may be done while the pipeline runs. Each takes --quiet and --verbose.
    """
    need_spark("tidings archive")


@command.command(cls=Command, example="tidings archive show state/archive")
@click.argument("archive", metavar="ARCHIVE")
@click.option("--json", "as_json", is_flag=True, help="As one JSON object.")
@click.pass_obj
def show(terminal: Terminal, archive: str, as_json: bool) -> int:
    """Tell how many events, files and bytes there are, by day."""
    from tidings.spark.archive.summary import summary

    found = summary(archive)
    if as_json:
        click.echo(json.dumps(found, default=str))
        return 0
    click.echo(f"{'day':<12}{'events':>12}{'files':>8}{'bytes':>16}")
    for day in found["days"]:
        click.echo(f"{day['day']:<12}{day['events']:>12,}{day['files']:>8,}{day['bytes']:>16,}")
    click.echo(
        f"{found['events']:,} events in {found['pieces']:,} pieces, {found['compacted']:,} of them compacted; "
        f"{found['quads']:,} quads in {found['quad_bytes']:,} bytes"
    )
    return 0


@command.command(cls=Command, example="tidings archive compact state/archive")
@click.argument("archive", metavar="ARCHIVE")
@click.option("--master", metavar="URL", help="The Spark to run on.  [default: this machine, all cores]")
@click.pass_obj
def compact(terminal: Terminal, archive: str, master: str | None) -> int:
    """Make few large files of many small ones, sorted so that things are found in them."""
    from tidings.spark.archive.compact import compact as run
    from tidings.spark.archive.layout import Archive
    from tidings.spark.sessions import session

    these = Archive.at(archive)
    with terminal.progress("starting Spark") as progress:
        spark = session("tidings archive", master=master)
        progress.tell("compacting")
        done = run(spark, these)
    if done is None:
        _say(terminal, "there is nothing to compact")
    else:
        _say(
            terminal,
            f"{done.pieces:,} pieces with {done.files:,} files, {done.bytes:,} bytes, are one: {done.into.name}",
        )
    return 0


@command.command(cls=Command, example="tidings archive delete state/archive http://example.org/event/7")
@click.argument("archive", metavar="ARCHIVE")
@click.argument("events", metavar="EVENT...", nargs=-1, required=True)
@click.pass_obj
def delete(terminal: Terminal, archive: str, events: tuple[str, ...]) -> int:
    """Forget these events: no triple of theirs stays in the archive.

    The exit code is 1 when one was not there, or was there in parts only: the strategy chained may still have it open.
    """
    from tidings.spark.archive.layout import Archive
    from tidings.spark.archive.remove import delete as run

    with terminal.progress("deleting"):
        done = run(Archive.at(archive), events)
    _say(terminal, f"{done.events:,} rows of events and {done.quads:,} quads are gone from {done.files:,} files")
    for missing in sorted(set(events) - done.ids):
        terminal.error(f"there is no event <{missing}> in {archive}")
    for unfinished in sorted(done.ids - done.whole):
        what = f"of <{unfinished}> there were only parts"
        terminal.error(f"{what}: if it is still open, it comes back when it ends; delete it again then")
    return 0 if set(events) == done.whole else 1


@command.command(cls=Command, example="tidings archive retain state/archive --since 90d")
@click.argument("archive", metavar="ARCHIVE")
@click.option("--since", callback=moment, metavar="TIME", required=True, help="What is kept: a date, or 90d.")
@click.pass_obj
def retain(terminal: Terminal, archive: str, since: datetime | None) -> int:
    """Forget all events of the days before one."""
    from tidings.spark.archive.layout import Archive
    from tidings.spark.archive.remove import retain as run

    if since is None:
        raise UsageError("--since says from when on events are kept")
    with terminal.progress("deleting"):
        done = run(Archive.at(archive), since.date())
    _say(terminal, f"{done.events:,} rows of events and {done.quads:,} quads are gone, with {done.files:,} files")
    return 0


def _say(terminal: Terminal, text: str) -> None:
    if not terminal.quiet:
        click.echo(text, err=True)
