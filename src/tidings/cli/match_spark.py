"""`tidings match --engine spark`: the same matches, by all cores there are, in no particular order."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidings.cli.options import Reading
from tidings.cli.run import Run, is_snapshot, need_spark
from tidings.errors import EventError, Span, UsageError
from tidings.match.base import Failure

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from tidings.match.fast import Fast


def match_on_spark(
    core: Fast, subscriptions: str, events: tuple[str, ...], reading: Reading, bindings: bool, budget: int, run: Run
) -> int:
    """Print the matches; how many candidates were looked at."""
    need_spark("--engine spark")
    if "-" in events:
        raise UsageError("--engine spark reads files: write standard input to one first")
    with tempfile.TemporaryDirectory(prefix="tidings-match-") as folder:
        index = subscriptions
        if not is_snapshot(subscriptions):
            index = str(Path(folder) / "index")
            core.save(Path(index))
        with run.terminal.progress("starting Spark"):
            from tidings.spark.events import read_documents
            from tidings.spark.session import session

            spark = session("tidings match")
        with run.terminal.progress("matching") as progress, run.stage("match"):
            read = read_documents(spark, events, **reading.for_spark()).persist()
            run.counts["events"] = read.where("reason IS NULL").count()
            for problem in read.where("reason IS NOT NULL").toLocalIterator():
                run.reject_event(_problem(problem))
            candidates = 0
            for row in _hits(read, index, bindings, budget).toLocalIterator():
                if row.candidates is not None:
                    candidates += row.candidates
                elif row.reason is None:
                    click.echo(_line(row, bindings))
                    run.counts["matches"] += 1
                elif row.subscription is None:
                    run.reject_event(EventError(f"{row.reason} (event {row.event})", source=row.source))
                else:
                    run.reject_evaluation(Failure(row.event, row.subscription, row.reason))
                progress.update(events=run.counts["events"], matches=run.counts["matches"])
            read.unpersist()
    return candidates


def _hits(read: DataFrame, index: str, bindings: bool, budget: int) -> DataFrame:
    from tidings.spark.events import events_in
    from tidings.spark.matching import counted_hits
    from tidings.spark.versions import Version

    version = Version(str(Path(index).absolute()), bare=True, budget=budget)
    return counted_hits(events_in(read), version, bindings=bindings, accepted=datetime.now(UTC), source=True)


def _problem(row: Row) -> EventError:
    span = None if row.line is None else Span(row.line, row.column)
    return EventError(row.reason, span=span, source=row.source)


def _line(row: Row, bindings: bool) -> str:
    record: dict[str, Any] = {"event": row.event, "subscription": row.subscription, "source": row.source}
    if bindings:
        found = json.loads(row.bindings)
        record |= found if isinstance(found, dict) else {"bindings": found}
    return json.dumps(record, ensure_ascii=False)
