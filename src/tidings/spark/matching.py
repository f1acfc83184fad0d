"""`match`: a table of events and a set of subscriptions to a table of notifications."""

from __future__ import annotations

from datetime import datetime, timedelta
from os import PathLike, fspath
from typing import TypeAlias, TypedDict, Unpack

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidings.delivery.notification import FIRST_VERSION, NO_TENANT
from tidings.errors import SubscriptionError, UsageError
from tidings.ontology import Ontology
from tidings.spark.chained.hits import TIMEOUT, chained_hits
from tidings.spark.changing import Subscriptions, loaded
from tidings.spark.changing import subscriptions as changing
from tidings.spark.compiled import Fixed, is_compiled, same_shards
from tidings.spark.shards import found_by
from tidings.spark.versions import Version

STRATEGIES = ("one-step", "chained")


class Options(TypedDict, total=False):
    """How to match. The ontology is that of the subscriptions, where these are compiled."""

    ontology: str | PathLike[str] | Ontology | None
    strategy: str
    shards: int | None
    bindings: bool
    accepted: datetime | None
    timeout: timedelta


Given: TypeAlias = str | PathLike[str] | Subscriptions | Version
"""A file or folder of subscriptions, or one that `tidings compile` wrote; some that change; or a version of these."""


def match(events: DataFrame, subscriptions: Given, **options: Unpack[Options]) -> DataFrame:
    """The notifications of these events: notification, subscription, event, published, matched, bindings.

    A folder that `tidings compile` wrote knows its ontology. Where something fails, the notification is left out;
    `hits` has it, with the reason.
    """
    return notifications_in(hits(events, subscriptions, **options))


def hits(events: DataFrame, subscriptions: Given, **options: Unpack[Options]) -> DataFrame:
    """The matches, and a row with a reason for every subscription or event that failed."""
    return counted_hits(events, subscriptions, **options).where("candidates IS NULL").drop("candidates", "source")


def counted_hits(
    events: DataFrame,
    subscriptions: Given,
    *,
    ontology: str | PathLike[str] | Ontology | None = None,
    strategy: str = "one-step",
    shards: int | None = None,
    bindings: bool = False,
    accepted: datetime | None = None,
    source: bool = False,
    timeout: timedelta = TIMEOUT,
) -> DataFrame:
    """The same, and rows that tell how many candidates were looked at; see `schema.HITS`."""
    if strategy not in STRATEGIES:
        raise UsageError(f"strategy '{strategy}'? It is one of {', '.join(STRATEGIES)}")
    if strategy == "chained":
        if shards is not None:
            raise UsageError("the strategy chained has no shards: leave them out, or use one-step")
        version = version_of(subscriptions, ontology, None)
        return chained_hits(events, version, timeout=timeout, bindings=bindings, accepted=accepted)
    version = version_of(subscriptions, ontology, shards)
    columns = ["event", "published", "body", "source"] if source else ["event", "published", "body"]
    return found_by(events.select(*columns), version, bindings=bindings, accepted=accepted)


def notifications_in(found: DataFrame) -> DataFrame:
    """The matches among these, each with the id of its notification."""
    return found.where("subscription IS NOT NULL AND reason IS NULL").select(
        notification_column().alias("notification"), "subscription", "event", "published", "matched", "bindings"
    )


def notification_column() -> Column:
    """What `delivery.notification` says of (subscription, event), as Spark works it out: only where it is asked for."""
    parts = f.lit(NO_TENANT), f.col("subscription"), f.lit(str(FIRST_VERSION)), f.col("event")
    return f.sha2(f.concat(*(piece for part in parts for piece in _measured(part))), 256)


def _measured(text: Column) -> tuple[Column, Column]:
    data = text.cast("binary")
    return f.unhex(f.lpad(f.hex(f.octet_length(data)), 16, "0")), data


def version_of(given: Given, ontology: str | PathLike[str] | Ontology | None, shards: int | None = None) -> Version:
    """These subscriptions as they are now, compiled where they are not; `shards` of those that are is their own."""
    if isinstance(given, Version):
        same_shards(given, shards, given.folder)
        return given
    if not isinstance(given, Subscriptions):
        folder = fspath(given)
        if is_compiled(folder):
            return Fixed(folder, loaded(ontology), shards).version
        given = changing(folder, ontology=ontology, shards=shards)
    version = given.take(_raise).version
    same_shards(version, shards, version.folder)
    return version


def _raise(error: SubscriptionError) -> None:
    raise error
