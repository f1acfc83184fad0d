"""A pipeline whose events and subscriptions are those of a broker, which is told what it finds.

The broker knows which events are new, keeps them, and has the notifications; so there is no archive here, and what was
found is kept until the broker has taken it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from os import path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import DataFrame, SparkSession

from tidings.ontology import Ontology
from tidings.spark.broker_changes import BrokerSubscriptions
from tidings.spark.broker_client import Broker, Failed, Known, Remote
from tidings.spark.broker_source import FORMAT, BrokerSource
from tidings.spark.changing import Subscriptions, Taken
from tidings.spark.figures import Figures
from tidings.spark.pipeline import Batch, Listener, Pipeline, Sinks
from tidings.spark.records import Tell
from tidings.spark.standing import Sorted
from tidings.spark.work import Task, Work

MOST = 100_000
"""Events of a batch."""

_SHORTLY = 1.0
_TOGETHER, _PAIRS = 5_000, 500_000
"""Events that the broker is told of at a time, and what they matched."""


class BrokerPipeline(Pipeline):
    """`source` is where `subscriptions` are from."""

    def __init__(
        self,
        spark: SparkSession,
        subscriptions: Subscriptions,
        sinks: Sinks,
        checkpoint: str,
        broker: Broker,
        source: BrokerSubscriptions,
        *,
        listener: Listener | None = None,
    ) -> None:
        super().__init__(spark, subscriptions, sinks, checkpoint, listener=listener)
        self._broker = broker
        self._remote = Remote(broker)
        self._source = source
        self._events = pa.table({"event": pa.array([], pa.string()), "place": pa.array([], pa.int64())})

    def look(self) -> None:
        """If the broker answers: nobody should have to wait for this."""
        try:
            Remote(self._broker, _SHORTLY).marks()
        except ConnectionError:
            self._looked = perf_counter()
        else:
            super().look()

    def _take(self, report: Tell) -> Taken:
        """As they are now, and in no case as they were: the broker would take that for all that there is."""
        taken = self._subscriptions.take(report)
        return taken._replace(version=taken.version._replace(budget=self._source.steps))

    def _worked(self, rows: pa.Table, work_on: Callable[[Task], Work], batch: Batch) -> Figures:
        places = pc.cast(rows["source"], pa.int64())
        self._events = pa.table({"event": rows["event"], "place": places}).sort_by("place")
        return super()._worked(rows, work_on, batch)

    def _sorted(self, events: pa.Table, batch: Batch) -> Sorted:
        """The broker has sorted them. One that was deleted and published again, while it was read, is the last one."""
        ids = events["event"].to_pylist()
        again = {id for id, count in Counter(ids).items() if count > 1} if len(set(ids)) < len(ids) else set()
        rows = zip(ids, map(int, events["source"].to_pylist()), events["digest"].to_pylist(), strict=True)
        last = sorted((place, id, digest) for id, place, digest in rows if id in again)
        return Sorted({id: digest for _, id, digest in last}, [])

    def _archived(self, work: Work, batch: Batch) -> None:
        """The broker has them."""

    def _finish(self, figures: Figures) -> None:
        """Before the batch is said to be done, the broker has what was found."""
        failed = self._failed(figures.batch)
        for some in self._found(figures.batch):
            self._remote.take(some, failed, self._source.ontology)
            failed = ()
        super()._finish(figures)
        self._tables.notifications.forget(figures.batch)

    def _found(self, number: int) -> Iterator[list[tuple[int, list[int]]]]:
        """Each event of the batch in order, with the numbers of what it matched."""
        table = ds.dataset(self._tables.notifications.place(number), format="parquet")
        pairs = table.to_table(columns=["event", "subscription"])
        # The last one of an id, of which there may be several: see `_sorted`.
        last = self._events.group_by("event").aggregate([("place", "max")])
        rows = pc.index_in(pairs["event"], value_set=last["event"].combine_chunks())
        # Those that are not there were taken before, in another run of the batch.
        there = rows.is_valid()
        places = last["place_max"].take(rows.filter(there)).to_numpy()
        numbers = pairs["subscription"].filter(there).cast(pa.uint32()).to_numpy()
        order = np.argsort(places, kind="stable")
        places, numbers = places[order], numbers[order]
        every = self._events["place"].to_numpy()
        bounds = np.append(np.searchsorted(places, every), len(places)).tolist()
        some: list[tuple[int, list[int]]] = []
        begun = 0
        for place, (low, high) in zip(every.tolist(), pairwise(bounds), strict=True):
            some.append((place, numbers[low:high].tolist()))
            if len(some) >= _TOGETHER or high - begun >= _PAIRS:
                yield some
                some, begun = [], high
        if some:
            yield some

    def _failed(self, number: int) -> Sequence[Failed]:
        """How often subscriptions failed, with the last reason of each."""
        if not self._tables.rejected.has(number):
            return ()
        table = ds.dataset(self._tables.rejected.place(number), format="parquet")
        rows = table.to_table(columns=["kind", "subscription", "event", "reason"]).to_pylist()
        last = {row["subscription"]: row for row in rows if row["kind"] == "evaluation"}
        times = Counter(row["subscription"] for row in rows if row["kind"] == "evaluation")
        return [Failed(int(id), times[id], row["event"], row["reason"]) for id, row in last.items()]


def assemble_for(
    spark: SparkSession,
    broker: Broker,
    known: Known,
    checkpoint: str,
    *,
    rejected: str | None = None,
    metrics: str | None = None,
    shards: int | None = None,
    most: int = MOST,
    listener: Listener | None = None,
) -> tuple[Pipeline, DataFrame]:
    """The pipeline of a broker with this ontology, and the stream that it is to be started on."""
    checkpoint = checkpoint if "://" in checkpoint else path.abspath(checkpoint)
    ontology = Ontology.load(known.text.encode(), format="nt", cycles=known.cycles)
    source = BrokerSubscriptions(Remote(broker), known.tag)
    those = Subscriptions(source, f"{checkpoint}/tidings/subscriptions", ontology, shards)
    sinks = Sinks(
        archive=f"{checkpoint}/archive",
        notifications=f"{checkpoint}/notifications",
        rejected=rejected or f"{checkpoint}/rejected",
        figures=metrics or f"{checkpoint}/metrics",
    )
    spark.dataSource.register(BrokerSource)
    reader = spark.readStream.format(FORMAT).option("url", broker.url).option("maxEvents", most)
    if broker.token is not None:
        reader = reader.option("token", broker.token)
    return BrokerPipeline(spark, those, sinks, checkpoint, broker, source, listener=listener), reader.load()
