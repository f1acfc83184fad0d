"""`tidings pipeline --broker`: the broker at an address, or in a folder, and the pipeline that matches for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tidings.cli.run import need_server
from tidings.cli.terminal import Terminal
from tidings.errors import EngineError

if TYPE_CHECKING:
    from tidings.spark.broker_client import Broker
    from tidings.spark.pipeline import Listener, Pipeline

_PATIENCE = 10.0
"""Seconds for which a broker is waited for at the start."""


class Wanted(NamedTuple):
    """`most` are the events of a batch; None is as many as usual."""

    checkpoint: str
    rejected: str | None
    metrics: str | None
    shards: int | None
    master: str | None
    most: int | None


@contextmanager
def broker_at(place: str, token: str | None) -> Iterator[Broker]:
    """The broker at a place; one in a folder has a door of its own while this lasts."""
    from tidings.spark.broker_client import Broker

    if "://" in place:
        yield Broker(place, token)
        return
    need_server("tidings pipeline --broker FOLDER")
    from tidings.broker.http.beside import beside

    with beside(Path(place)) as address:
        yield Broker(*address)


def begun(terminal: Terminal, broker: Broker, wanted: Wanted, listener: Listener) -> tuple[Pipeline, Any]:
    """The pipeline, and the stream that it is to be started on."""
    with terminal.progress("starting Spark") as progress:
        from tidings.spark.broker_client import Remote
        from tidings.spark.broker_pipeline import MOST, assemble_for
        from tidings.spark.sessions import session

        try:
            remote = Remote(broker, _PATIENCE)
            # That events are matched elsewhere at all.
            remote.marks()
            known = remote.ontology()
        except ConnectionError as error:
            raise EngineError(str(error)) from error
        spark = session("tidings pipeline", master=wanted.master)
        progress.tell("subscriptions")
        return assemble_for(
            spark,
            broker,
            known,
            wanted.checkpoint,
            rejected=wanted.rejected,
            metrics=wanted.metrics,
            shards=wanted.shards,
            most=wanted.most or MOST,
            listener=listener,
        )
