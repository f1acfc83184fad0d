"""`tidings match --engine spark`: the same matches, by all cores there are, in no particular order."""

from __future__ import annotations

import json
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidings.cli.options import Reading
from tidings.cli.run import Run, is_snapshot, need_spark
from tidings.errors import EventError, UsageError
from tidings.match.base import Failure

if TYPE_CHECKING:
    from tidings.match.fast import Fast
    from tidings.spark.batch import BatchMatch, Hit


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
        with run.terminal.progress("reading on Spark"), run.stage("events"):
            from tidings.spark.batch import BatchMatch

            batch = BatchMatch(events, **reading.for_spark())
        with closing(batch), run.stage("match"):
            return _print(batch, index, bindings, budget, run)


def _print(batch: BatchMatch, index: str, bindings: bool, budget: int, run: Run) -> int:
    run.counts["events"] = batch.events
    for problem in batch.problems():
        run.reject_event(problem)
    candidates = 0
    with run.terminal.progress("matching") as progress:
        for hit in batch.hits(index, bindings=bindings, budget=budget):
            if hit.candidates is not None:
                candidates += hit.candidates
            elif hit.reason is None:
                click.echo(_line(hit, bindings))
                run.counts["matches"] += 1
            elif hit.subscription is None or hit.event is None:
                run.reject_event(EventError(f"{hit.reason} (event {hit.event})", source=hit.source))
            else:
                run.reject_evaluation(Failure(hit.event, hit.subscription, hit.reason))
            progress.update(events=run.counts["events"], matches=run.counts["matches"])
    return candidates


def _line(hit: Hit, bindings: bool) -> str:
    record: dict[str, Any] = {"event": hit.event, "subscription": hit.subscription, "source": hit.source}
    if bindings:
        found = json.loads(hit.bindings or "[]")
        record |= found if isinstance(found, dict) else {"bindings": found}
    return json.dumps(record, ensure_ascii=False)
