"""`tidings match --engine spark`: the same matches, by all cores there are, in no particular order."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from tidings.cli.options import Reading
from tidings.cli.run import Run, is_snapshot, need_spark
from tidings.cli.shards import OpenedShards, Shards
from tidings.errors import EventError, SubscriptionError, UsageError
from tidings.lang.conjunctive import conjunction
from tidings.match.base import Failure

if TYPE_CHECKING:
    from tidings.match.fast import Fast
    from tidings.spark.batch import BatchMatch, Hit


def match_on_spark(
    core: Fast | Shards | OpenedShards,
    subscriptions: str,
    events: tuple[str, ...],
    reading: Reading,
    bindings: bool,
    budget: int,
    run: Run,
    shards: int | None = None,
    chained: bool = False,
) -> int:
    """Print the matches; how many candidates were looked at."""
    need_spark("--engine spark")
    if "-" in events:
        raise UsageError("--engine spark reads files: write standard input to one first")
    refused = chained and _leave_out(cast("Fast", core), subscriptions, run)
    with tempfile.TemporaryDirectory(prefix="tidings-match-") as folder:
        index = subscriptions
        if refused or not is_snapshot(subscriptions):
            index = str(Path(folder) / "index")
            assert not isinstance(core, OpenedShards), "these are compiled"
            core.save(Path(index))
        with run.terminal.progress("reading on Spark"), run.stage("events"):
            from tidings.spark.batch import BatchMatch

            how = reading.for_spark()
            if chained:
                # The quads of a graph may be anywhere in a document, and in others.
                how["group"] = True
            batch = BatchMatch(events, chained=chained, **how)
        with closing(batch), run.stage("match"):
            return _print(batch.hits(index, bindings=bindings, budget=budget, shards=shards), batch, bindings, run)


def check_chained(reading: Reading, shards: bool) -> None:
    """What can only be asked of whole events, or does not go with parts of them."""
    for option, there in (("--strict", reading.strict), ("--shards", shards)):
        if there:
            raise UsageError(f"{option} needs whole events: use --strategy one-step")


def _leave_out(core: Fast, subscriptions: str, run: Run) -> bool:
    """Reject the subscriptions that are no conjunctions. Whether there were any."""
    refused: dict[str, SubscriptionError] = {}
    for id, query in core.queries():
        try:
            conjunction(query, id)
        except SubscriptionError as error:
            refused[id] = error
    for id, reason in refused.items():
        core.remove(id)
        run.reject_subscription(reason)
    run.counts["subscriptions"] = len(core)
    if not len(core):
        raise UsageError(f"{subscriptions}: there is no subscription that the strategy chained takes; use one-step")
    return bool(refused)


def _print(hits: Iterator[Hit], batch: BatchMatch, bindings: bool, run: Run) -> int:
    run.counts["events"] = batch.events
    for problem in batch.problems():
        run.reject_event(problem)
    candidates = 0
    with run.terminal.progress("matching") as progress:
        for hit in hits:
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
