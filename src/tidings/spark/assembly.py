"""A pipeline from the names of its places."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from os import path
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from tidings.ingest.feeds.schedule import DEFAULT_POLICY
from tidings.ontology import Ontology
from tidings.rdf.limits import DEFAULT_LIMITS
from tidings.spark.chained.pipeline import ChainedPipeline
from tidings.spark.chained.taking import ConjunctiveSource, conjunctions
from tidings.spark.changing import Subscriptions
from tidings.spark.compiled import Fixed, Standings
from tidings.spark.events import How
from tidings.spark.pipeline import Listener, Pipeline, Sinks
from tidings.spark.places import Feeding, read_stream_from, sink_at, subscriptions_at


class Places(NamedTuple):
    """Where everything comes from and goes to; what is not named is in the checkpoint."""

    events: str
    subscriptions: str
    notifications: str
    checkpoint: str
    archive: str | None = None
    rejected: str | None = None
    metrics: str | None = None


def assemble(
    spark: SparkSession,
    places: Places,
    ontology: Ontology,
    how: How,
    *,
    max_files: int | None = None,
    bindings: bool = False,
    compiled: bool = False,
    shards: int | None = None,
    kafka: Mapping[str, str] | None = None,
    private_feeds: bool = False,
    feeds_every: float = DEFAULT_POLICY.minimum,
    timeout: timedelta | None = None,
    compact_every: int | None = None,
    listener: Listener | None = None,
) -> tuple[Pipeline, DataFrame]:
    """The pipeline, and the stream that it is to be started on. `kafka` are settings for topics.
    Feeds are asked for every so many seconds at most, and may be at private addresses if that is said.

    With a `timeout` events come in parts, by the strategy chained.
    """
    checkpoint = places.checkpoint if "://" in places.checkpoint else path.abspath(places.checkpoint)
    those: Standings
    if compiled:
        those = Fixed(places.subscriptions, ontology, shards)
        if timeout is not None:
            conjunctions(those.version)
    else:
        source = subscriptions_at(spark, places.subscriptions, kafka)
        if timeout is not None:
            source = ConjunctiveSource(source)
        those = Subscriptions(source, f"{checkpoint}/tidings/subscriptions", ontology, shards)
    callback = sink_at(spark, places.notifications, kafka)
    sinks = Sinks(
        archive=places.archive or f"{checkpoint}/archive",
        notifications=places.notifications if callback is None else f"{checkpoint}/notifications",
        rejected=places.rejected or f"{checkpoint}/rejected",
        figures=places.metrics or f"{checkpoint}/metrics",
        callback=callback,
    )
    if timeout is not None:
        limits = how.get("limits", DEFAULT_LIMITS)
        pipeline: Pipeline = ChainedPipeline(
            spark,
            those,
            sinks,
            checkpoint,
            timeout=timeout,
            bindings=bindings,
            limits=limits,
            compact_every=compact_every,
            listener=listener,
        )
    else:
        pipeline = Pipeline(
            spark, those, sinks, checkpoint, bindings=bindings, compact_every=compact_every, listener=listener
        )
    feeding = Feeding(f"{checkpoint}/tidings/feeds", private_feeds, feeds_every)
    return pipeline, read_stream_from(spark, places.events, max_files, kafka, feeding, **how)
