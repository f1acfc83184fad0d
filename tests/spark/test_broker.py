"""A pipeline that matches for a broker: clients are told what the oracle says, whoever is killed meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession
from tests.spark.brokers import Client, Process
from tests.unit.broker.offers import ANY, CHEAP, ids, offer, told

import tidings
from tidings.cli import app
from tidings.spark.broker_client import Broker, Remote
from tidings.spark.broker_pipeline import BrokerPipeline, assemble_for

ROUNDS = int(os.environ.get("TIDINGS_KILLS", "0"))
SOAK = pytest.mark.skipif(not ROUNDS, reason="for make soak: TIDINGS_KILLS says how often")


@contextmanager
def running(spark: SparkSession, url: str, checkpoint: Path) -> Iterator[BrokerPipeline]:
    broker = Broker(url)
    pipeline, read = assemble_for(spark, broker, Remote(broker).ontology(), str(checkpoint))
    assert isinstance(pipeline, BrokerPipeline)
    pipeline.start(read)
    try:
        yield pipeline
    finally:
        pipeline.stop()


def test_nobody_notices_that_it_is_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Changes and events all the while; the pipeline is killed, and goes on here; the server is killed, twice."""
    client = Client(tmp_path, 7)
    state = tmp_path / "state"
    try:
        with Process("--broker", client.url, "--checkpoint", state, "--master", "local[1]") as process:
            client.act(40)
            client.wait(process)
            told = client.check()
            client.act(30)
            client.kill_server()
            client.act(20)
            process.kill()
        client.act(20)
        with running(spark, client.url, state) as pipeline:
            client.wait()
            told += client.check()
            client.act(20)
            client.kill_server()
            client.act(20)
            client.wait()
            assert not pipeline.wait(0.1)
        assert told + client.check() > 50
    finally:
        client.end()


@SOAK
def test_killed_again_and_again(tmp_path: Path) -> None:
    client = Client(tmp_path, ROUNDS)
    arguments = ("--broker", client.url, "--checkpoint", tmp_path / "state", "--master", "local[2]")
    try:
        for round in range(ROUNDS):
            with Process(*arguments) as process:
                client.act(30)
                client.wait(process)
                client.act(60)
                if round % 2:
                    client.kill_server()
                    client.act(20)
                process.kill()
            client.act(10)
        with Process(*arguments) as process:
            client.wait(process)
            assert process.end() == (0, "")
        client.check()
    finally:
        client.end()


# ------------------------------------------------------------------------------------------------------------- a folder


def pipeline(folder: Path, *more: str | Path) -> Result:
    words = ("pipeline", "--broker", folder / "broker", "--checkpoint", folder / "state", *more)
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("shards", [(), pytest.param(("--shards", "2"), marks=SOAK)])
def test_once_for_a_folder_and_after_another_did_it(tmp_path: Path, shards: tuple[str, ...]) -> None:
    with tidings.Broker(tmp_path / "broker", matching="outside") as broker:
        broker.subscribe(CHEAP, id="cheap")
        broker.publish(offer(1, 100))
        broker.subscribe(ANY, id="any")
        assert list(broker.publish(offer(2, 900))) == []
    result = pipeline(tmp_path, "--once")
    assert (result.exit_code, result.stderr) == (0, "")
    with tidings.Broker(tmp_path / "broker", matching="outside") as broker:
        assert (told(broker.subscription("cheap")), told(broker.subscription("any"))) == (ids(1), ids(2))
        broker.delete_event(ids(1)[0])
        # It has been before, and is new all the same.
        broker.publish(offer(1, 200))
        broker.subscription("any").cancel()
    assert pipeline(tmp_path, "--once", *shards).exit_code == 0
    with tidings.Broker(tmp_path / "broker", matching="outside") as broker:
        assert told(broker.subscription("cheap")) == ids(1)
        broker.publish(offer(3))
    with tidings.Broker(tmp_path / "broker") as broker:
        broker.publish(offer(4))
        assert told(broker.subscription("cheap")) == ids(1, 3, 4)
    with tidings.Broker(tmp_path / "broker", matching="outside") as broker:
        broker.publish(offer(5))
        assert pipeline(tmp_path, "--once").exit_code == 0
        over = broker.subscription("cheap").listen(timeout=20)
        assert [next(over).event.id for _ in range(4)] == ids(1, 3, 4, 5)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_batch_that_is_run_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """It comes to grief before or after the broker has what was found; another version stands by then."""
    with tidings.Broker(tmp_path / "broker", matching="outside") as broker:
        broker.subscribe(CHEAP, id="s")
        broker.publish(offer(1))
    right = Remote.take

    def take(self: Remote, *args: object) -> None:
        if moment == "after":
            right(self, *args)  # type: ignore[arg-type]
        raise RuntimeError("the end")

    with monkeypatch.context() as patch:
        patch.setattr(Remote, "take", take)
        assert pipeline(tmp_path, "--once").exit_code == 2
    with tidings.Broker(tmp_path / "broker", matching="outside") as broker:
        broker.subscribe(ANY, id="s")
        broker.publish(offer(2, 900))
    assert pipeline(tmp_path, "--once").exit_code == 0
    with tidings.Broker(tmp_path / "broker") as broker:
        found = broker.subscription("s").page().notifications
        assert [(each.version, each.event.id) for each in found] == [(1, ids(1)[0]), (2, ids(2)[0])]


@pytest.mark.usefixtures("spark")
def test_what_does_not_go_with_a_broker(tmp_path: Path) -> None:
    def refused(*more: str) -> str:
        result = pipeline(tmp_path, *more)
        assert result.exit_code == 2
        return result.stderr

    assert "--strategy chained does not go with --broker" in refused("--strategy", "chained")
    assert "--events does not go with --broker" in refused("--events", "in")
    assert "there is none" in refused()
    tidings.Broker(tmp_path / "broker").close()
    assert "start it with --matching outside" in refused()
    plain = CliRunner().invoke(app, ["pipeline", "--checkpoint", str(tmp_path / "state")])
    assert "name --events, --subscriptions and --notifications; or a --broker" in plain.stderr
