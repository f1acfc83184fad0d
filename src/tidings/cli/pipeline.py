"""`tidings pipeline`: from a stream of documents to a table of notifications, on Spark."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from threading import Event as Flag
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from tidings.cli.options import OntologyFiles, Reading, ontology_options, reading_options
from tidings.cli.pipeline_broker import Wanted, begun, broker_at
from tidings.cli.progress import Progress
from tidings.cli.run import is_snapshot, need_spark, telling_of_kernels
from tidings.cli.shards import shards_option
from tidings.cli.terminal import Command, Terminal
from tidings.cli.times import age
from tidings.errors import EngineError, UsageError

if TYPE_CHECKING:
    from tidings.spark.figures import Figures
    from tidings.spark.pipeline import Pipeline

_EXAMPLE = """
tidings pipeline --events in/ --subscriptions subs/ --ontology auction.ttl --notifications out/ --checkpoint state/
tidings pipeline --events in/ --subscriptions subs.ndjson --notifications out/ --checkpoint state/ --once
tidings pipeline --events kafka://host:9092/news --subscriptions subs/ --notifications out/ --checkpoint state/
tidings pipeline --events feeds:feeds.txt --subscriptions subs/ --notifications out/ --checkpoint state/
tidings pipeline --broker http://127.0.0.1:8420 --checkpoint state/
"""
_EVERY = "How often a feed is asked for, at most."
_TRIGGER = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")
_MILLISECONDS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_SECONDS_BETWEEN_LOOKS = 0.2


def _settings(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> Mapping[str, str]:
    """KEY=VALUE, each."""
    for value in values:
        if not value.partition("=")[0].strip() or "=" not in value:
            raise click.BadParameter(f"'{value}' should be KEY=VALUE.", ctx, option)
    return {key.strip(): rest for key, _, rest in (value.partition("=") for value in values)}


@click.command(cls=Command, example=_EXAMPLE)
@click.option("--events", metavar="SRC", help="A folder, a table, kafka://host:port/topic, or feeds:FILE.")
@click.option(
    "--subscriptions",
    metavar="SRC",
    help="A folder of query files, a file of rows, a folder of files of changes, a table, a topic, or an index.",
)
@ontology_options
@click.option("--notifications", metavar="DST", help="A folder, a table, or kafka://host:port/topic.")
@click.option("--broker", metavar="URL|FOLDER", help="Match for a broker, instead of these three.")
@click.option("--token", envvar="TIDINGS_TOKEN", help="For the broker: one for admin.  [default: $TIDINGS_TOKEN]")
@click.option("--checkpoint", metavar="DIR", required=True, help="Where it is kept how far one is.")
@click.option("--archive", metavar="DIR", help="Where events are kept.  [default: archive in the checkpoint]")
@click.option("--rejected", metavar="DIR", help="What is rejected.  [default: rejected in the checkpoint]")
@click.option("--metrics", metavar="DIR", help="The figures of every batch.  [default: metrics in the checkpoint]")
@click.option(
    "--strategy",
    type=click.Choice(["one-step", "chained"]),
    default="one-step",
    show_default=True,
    help="Whole events at once, or quad by quad.",
)
@click.option("--timeout", metavar="TIME", help="How long chained waits for the parts of an event.  [default: 10m]")
@click.option("--trigger", metavar="TIME", help="How often to look for events: 500ms, 10s, 1m.  [default: always]")
@click.option("--once", is_flag=True, help="Take what is there now, and end.")
@click.option("--max-files", type=click.IntRange(min=1), default=1000, show_default=True, help="The most in one batch.")
@click.option(
    "--compact-every",
    type=click.IntRange(min=1),
    metavar="N",
    help="Compact the archive when so many batches have come.  [default: never]",
)
@click.option("--private-feeds", is_flag=True, help="Let feeds be at private and loopback addresses.")
@click.option(
    "--feeds-every",
    callback=age,
    default="5m",
    show_default=True,
    metavar="AGE",
    help="How often a feed is asked for, at most.",
)
@click.option("--max-events", type=click.IntRange(min=1), help="The most in one batch of a broker.  [default: 100000]")
@click.option("--bindings", is_flag=True, help="Notifications carry all solutions.")
@shards_option
@click.option("--validate", is_flag=True, help="Reject events that the ontology's concept model rules out.")
@click.option(
    "--kafka-option",
    "kafka",
    metavar="KEY=VALUE",
    multiple=True,
    callback=_settings,
    help="A setting for Kafka, as security.protocol=SSL.  [repeatable]",
)
@click.option("--master", metavar="URL", help="The Spark to run on.  [default: this machine, all cores]")
@click.option("--stats", is_flag=True, help="Print the figures of every batch as JSON on stdout.")
@reading_options
@click.pass_obj
def command(
    terminal: Terminal,
    events: str | None,
    subscriptions: str | None,
    ontology_files: OntologyFiles,
    notifications: str | None,
    broker: str | None,
    token: str | None,
    checkpoint: str,
    archive: str | None,
    rejected: str | None,
    metrics: str | None,
    strategy: str,
    timeout: str | None,
    trigger: str | None,
    once: bool,
    max_files: int,
    compact_every: int | None,
    private_feeds: bool,
    feeds_every: timedelta,
    max_events: int | None,
    bindings: bool,
    shards: int | None,
    validate: bool,
    kafka: Mapping[str, str],
    master: str | None,
    stats: bool,
    reading: Reading,
) -> int:
    """Match EVENTS as they come, and write a notification for every match, once, whatever happens in between.

    With --broker the events and subscriptions are those of a broker that was started with --matching outside, which
    tells its subscribers what was found.

    The subscriptions may change meanwhile: a change counts from the next batch on. Ctrl-C, or SIGTERM, ends it after
    the batch that is under way; started again, it goes on from the checkpoint.

    The exit code is 0 when all went well, 1 when some input was rejected, 2 when it could not go on.
    """
    need_spark("tidings pipeline")
    chained = strategy == "chained"
    if chained:
        _check_chained(reading, validate, shards)
    elif timeout is not None:
        raise UsageError("--timeout is for --strategy chained")
    interval = _milliseconds("--trigger", trigger or ("1s" if chained else "0s"))
    patience = timedelta(milliseconds=_milliseconds("--timeout", timeout or "10m"))
    when = {"availableNow": True} if once else {"processingTime": f"{interval} milliseconds"}
    if broker is not None:
        _check_broker(
            {
                "--events": events,
                "--subscriptions": subscriptions,
                "--notifications": notifications,
                "--ontology": ontology_files.paths,
                "--strategy chained": chained,
                "--archive": archive,
                "--compact-every": compact_every,
                "--bindings": bindings,
                "--validate": validate,
                "--strict": reading.strict,
                "--kafka-option": kafka,
                "--private-feeds": private_feeds,
            }
        )
        wanted = Wanted(checkpoint, rejected, metrics, shards, master, max_events)
        watch = _Watch(terminal, stats)
        with broker_at(broker, token) as there:
            return _run(terminal, watch, *begun(terminal, there, wanted, watch.batch), when)
    if max_events is not None:
        raise UsageError("--max-events is for --broker; use --max-files")
    if events is None or subscriptions is None or notifications is None:
        raise UsageError("name --events, --subscriptions and --notifications; or a --broker")
    ontology = ontology_files.load(reading)
    if validate and ontology.is_empty:
        raise UsageError("--validate needs an --ontology to compare with")
    with terminal.progress("starting Spark") as progress:
        from tidings.spark.assembly import Places, assemble
        from tidings.spark.sessions import session

        spark = session("tidings pipeline", master=master)
        places = Places(events, subscriptions, notifications, checkpoint, archive, rejected, metrics)
        watch = _Watch(terminal, stats)
        how = reading.for_spark(ontology if validate else None)
        if chained:
            # The quads of a graph may be anywhere in a document.
            how["group"] = True
        progress.tell("subscriptions")
        pipeline, read = assemble(
            spark,
            places,
            ontology,
            how,
            max_files=max_files,
            bindings=bindings,
            shards=shards,
            kafka=kafka,
            private_feeds=private_feeds,
            feeds_every=feeds_every.total_seconds(),
            timeout=patience if chained else None,
            compact_every=compact_every,
            listener=watch.batch,
            compiled=is_snapshot(subscriptions),
        )
    return _run(terminal, watch, pipeline, read, when)


def _run(terminal: Terminal, watch: _Watch, pipeline: Pipeline, read: Any, when: Mapping[str, Any]) -> int:
    with terminal.progress("matching") as watch.progress, telling_of_kernels(watch.progress), _asked_to_stop() as stop:
        pipeline.start(read, when)
        _wait(pipeline, stop, terminal)
    watch.summary()
    return 1 if watch.rejects else 0


def _check_broker(options: Mapping[str, object]) -> None:
    """What a broker says itself, or does itself."""
    given = [option for option, value in options.items() if value]
    if given:
        raise UsageError(f"{given[0]} does not go with --broker, which says that itself")


def _milliseconds(option: str, text: str) -> int:
    match = _TRIGGER.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{option} '{text}'? Write 500ms, 10s, 1m or 1h")
    return round(float(match[1]) * _MILLISECONDS[match[2] or "s"])


def _check_chained(reading: Reading, validate: bool, shards: int | None) -> None:
    """What can only be asked of whole events, or does not go with parts of them."""
    for option, there in (("--strict", reading.strict), ("--validate", validate), ("--shards", shards is not None)):
        if there:
            raise UsageError(f"{option} needs whole events: use --strategy one-step")


class _Watch:
    """What a person sees of the batches, and what a program reads of them."""

    def __init__(self, terminal: Terminal, stats: bool) -> None:
        self._terminal = terminal
        self._stats = stats
        self.progress: Progress | None = None
        self.batches = self.events = self.matches = self.rejects = 0

    def batch(self, figures: Figures) -> None:
        self.batches += 1
        self.events += figures.events
        self.matches += figures.matches
        self.rejects += figures.rejects
        if self._stats:
            click.echo(json.dumps(asdict(figures)))
        lag = "" if figures.lag is None else f", {figures.lag:.2f} s behind"
        self._terminal.detail(
            f"batch {figures.batch}: {figures.events:,} events, {figures.matches:,} matches, {figures.rejects:,} "
            f"rejects, {figures.subscriptions:,} subscriptions, {figures.seconds['total']:.2f} s{lag}"
        )
        if self.progress is not None:
            counts = {"batches": self.batches, "events": self.events, "matches": self.matches, "rejects": self.rejects}
            self.progress.update(**counts)

    def summary(self) -> None:
        if self.rejects:
            self._terminal.warning(f"{self.rejects:,} rejects; each is in the table of them, with its reason")
        self._terminal.detail(
            f"{self.batches:,} batches, {self.events:,} events, {self.matches:,} matches, {self.rejects:,} rejects"
        )


class _asked_to_stop:
    """While this lasts, Ctrl-C and SIGTERM set a flag, once; the second time they do what they always do."""

    def __enter__(self) -> Flag:
        flag = Flag()
        self._before: dict[int, Any] = {}

        def handle(number: int, frame: FrameType | None) -> None:
            flag.set()
            signal.signal(number, self._before[number])

        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, handle)
        return flag

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def _wait(pipeline: Pipeline, stop: Flag, terminal: Terminal) -> None:
    try:
        while not pipeline.wait(_SECONDS_BETWEEN_LOOKS):
            if stop.is_set():
                terminal.detail("stopping after this batch")
                pipeline.stop()
                return
    except EngineError as error:
        raise EngineError(f"{error}; started again, it goes on from the checkpoint") from error
