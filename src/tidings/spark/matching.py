"""`match`: a table of events and a set of subscriptions to a table of notifications."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from os import PathLike, fspath
from pathlib import Path
from typing import TypedDict, Unpack

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidings.delivery.notification import FIRST_VERSION, NO_TENANT
from tidings.errors import SubscriptionError, UsageError
from tidings.index.snapshot import MANIFEST
from tidings.lang.files import read_subscriptions
from tidings.match.fast import Fast
from tidings.ontology import Ontology
from tidings.spark.schema import HITS
from tidings.spark.stage import match_stage

STRATEGIES = ("one-step", "chained")


class Options(TypedDict, total=False):
    """How to match. The ontology is that of the subscriptions, where these are compiled."""

    ontology: str | PathLike[str] | Ontology | None
    strategy: str
    shards: int | None
    bindings: bool


def match(events: DataFrame, subscriptions: str | PathLike[str], **options: Unpack[Options]) -> DataFrame:
    """The notifications of these events: notification, subscription, event, published, matched, bindings.

    `subscriptions` is a file or folder of them, or a folder that `tidings compile` wrote, which knows its ontology.
    Where something fails, the notification is left out; `hits` has it, with the reason.
    """
    return notifications_in(hits(events, subscriptions, **options))


def hits(
    events: DataFrame,
    subscriptions: str | PathLike[str],
    *,
    ontology: str | PathLike[str] | Ontology | None = None,
    strategy: str = "one-step",
    shards: int | None = None,
    bindings: bool = False,
) -> DataFrame:
    """The matches, and a row with a reason for every subscription or event that failed."""
    if strategy not in STRATEGIES:
        raise UsageError(f"strategy '{strategy}'? It is one of {', '.join(STRATEGIES)}")
    if strategy == "chained" or shards is not None:
        raise UsageError("'chained' and shards are not there yet: use one-step, without shards")
    stage = match_stage(compiled(subscriptions, ontology), bindings=bindings)
    return events.select("event", "published", "body").mapInArrow(stage, HITS)


def notifications_in(found: DataFrame) -> DataFrame:
    """The matches among these, each with the id of its notification."""
    return found.where("reason IS NULL").select(
        notification_column().alias("notification"), "subscription", "event", "published", "matched", "bindings"
    )


def notification_column() -> Column:
    """What `delivery.notification` says of (subscription, event), as Spark works it out: only where it is asked for."""
    parts = f.lit(NO_TENANT), f.col("subscription"), f.lit(str(FIRST_VERSION)), f.col("event")
    return f.sha2(f.concat(*(piece for part in parts for piece in _measured(part))), 256)


def _measured(text: Column) -> tuple[Column, Column]:
    data = text.cast("binary")
    return f.unhex(f.lpad(f.hex(f.octet_length(data)), 16, "0")), data


def compiled(subscriptions: str | PathLike[str], ontology: str | PathLike[str] | Ontology | None) -> str:
    """A folder of these subscriptions, compiled: itself, where it is one."""
    folder = fspath(subscriptions)
    known = ontology if isinstance(ontology, Ontology) else Ontology.load(fspath(ontology)) if ontology else None
    if (Path(folder) / MANIFEST).is_file():
        # It is refused here, and not by every worker, where it does not fit.
        Fast.open(Path(folder), ontology=known)
        return folder
    engine = Fast(known or Ontology.empty())
    engine.add_many((each.id, each.query) for each in read_subscriptions(folder, report=_raise))
    into = tempfile.mkdtemp(prefix="tidings-index-")
    # Nobody knows when the last task has read it.
    atexit.register(shutil.rmtree, into, ignore_errors=True)
    engine.save(Path(into) / "index")
    return str(Path(into) / "index")


def _raise(error: SubscriptionError) -> None:
    raise error
