"""The EventCloud benchmark measures what it says; here at a size at which nothing can be said."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support import IN_SOAK

from tidings.bench import eventcloud
from tidings.bench.eventcloud_ways import CHAINED, ONE_STEP, SHARDED, Ways
from tidings.bench.eventcloud_world import World
from tidings.bench.plots import save
from tidings.bench.report import keep
from tidings.bench.settings import Settings
from tidings.bench.workloads.eventcloud import Parameters

pytestmark = IN_SOAK
TINY = eventcloud.Sizes((2,), 20, (40,), (3,), 1, (20,), 3, 1)


def test_a_tiny_run_gives_everything(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = eventcloud.measured(TINY, Settings(), tmp_path / "run", lambda count: nullcontext(spark))
    for point in (*found.events, *found.subscriptions, *found.accept_all):
        assert {taken.told for taken in point.taken.values()} == {point.parameters.events}
        whole, sharded, chained = (point.taken[way] for way in (ONE_STEP, SHARDED, CHAINED))
        assert (whole.stages, whole.moved, sharded.stages) == (1, 0, 2)
        assert sharded.moved > 0 < chained.moved
        assert chained.stages > 2
    assert found.accept_all[0].complete == 100
    [stored] = found.stored
    assert (stored.taken[ONE_STEP].told, stored.taken[CHAINED].told) == (20, 60)
    assert stored.taken[CHAINED].moved > stored.taken[ONE_STEP].moved == 0

    monkeypatch.setattr(eventcloud, "measured", lambda *_: found)
    report = eventcloud.at_sizes(TINY, Settings(), tmp_path, lambda count: nullcontext(spark))
    assert (len(report.tables), len(report.figures), len(report.claims)) == (5, 6, 9)
    keep(report, tmp_path / "kept")
    assert len(save(report.figures, tmp_path / "kept")) == 6


def test_a_notification_too_few_ends_the_run(spark: SparkSession, tmp_path: Path) -> None:
    world = World.of(Parameters(5, 1), tmp_path, 1)
    more = replace(world, pairs=world.pairs | {("s00", "http://events.example/none")})
    with pytest.raises(RuntimeError, match="1 notifications are missed, 0 are false, 0 are there twice"):
        Ways(spark, 2, lambda what: None).points([more], 1)
