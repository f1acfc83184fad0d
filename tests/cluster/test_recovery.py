"""Whatever is killed, and whenever: what comes out is what one process finds, each once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.cluster.cluster import Cluster
from tests.cluster.kills import KINDS, Ordeal
from tests.cluster.world import World

EACH = 3


@pytest.mark.slow
def test_what_is_killed_in_a_batch_leaves_no_trace(cluster: Cluster, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1_000_000)
    print(f"seed {seed}")
    world = World(tmp_path / "world", seed)
    ordeal = Ordeal(cluster, world, seed, EACH, print)
    ordeal.run()
    assert ordeal.landed == dict.fromkeys(KINDS, EACH)
    assert list(world.differences()) == []
    assert world.ways() == {"here", "spread"}
