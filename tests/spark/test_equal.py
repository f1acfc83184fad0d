"""Rows from Spark, in batches and in streams, are what one process finds: every case, generated worlds, real data."""

from __future__ import annotations

import random
from collections import defaultdict
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit
from tests.contract.test_cases import ANSWERED, CASES, events_of, ontology_of, query_of
from tests.soak.composing import from_cases
from tests.soak.generated import drawn
from tests.spark.worlds import Answers, Together, World, found_in, streamed

from tidings.bench.workloads.fast.base import data
from tidings.bench.workloads.fast.nanopubs import workload
from tidings.ontology import Ontology
from tidings.rdf.read import read_events, read_triples
from tidings.spark import match
from tidings.spark.pipeline import SMALL


def world_of(case: str) -> World:
    chosen = CASES[case]
    queries = {each.id: query_of(each) for each in chosen.subscriptions if each.rejected is None}
    return World(ontology_of(chosen), queries, events_of(chosen))


def decided(expected: Answers, found: Answers) -> tuple[Answers, Answers]:
    """Both, less what the oracle could not decide."""
    undecided = {pair for pair, answer in expected.items() if answer is None}
    return (
        {pair: answer for pair, answer in expected.items() if pair not in undecided},
        {pair: answer for pair, answer in found.items() if pair not in undecided},
    )


def batch(spark: SparkSession, world: World, root: Path, partitions: int) -> Answers:
    source = world.rows(root / "rows.ndjson")
    rows = match(world.table(spark, partitions), source, ontology=world.ontology, bindings=True)
    return found_in(rows.collect())


TIMELESS = [name for name in ANSWERED if CASES[name].published is None]


def test_every_case_in_batches(spark: SparkSession, tmp_path: Path) -> None:
    """All of them in one job."""
    tables = []
    for number, name in enumerate(TIMELESS):
        world, source = world_of(name), tmp_path / f"{number}.ndjson"
        rows = match(world.table(spark, 1), world.rows(source), ontology=world.ontology, bindings=True)
        tables.append(rows.withColumn("case", lit(name)))
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for row in reduce(DataFrame.unionByName, tables).collect():
        found[row.case].append(row)
    for name in TIMELESS:
        assert found_in(found[name]) == world_of(name).answers(), name


def shared_worlds() -> list[World]:
    """The cases, as many together as go together."""
    rooms: list[Together] = []
    for name in TIMELESS:
        own, triples = world_of(name), list(read_triples(CASES[name].ontology.encode(), format="ttl"))
        events = list(own.events)
        if not any(room.takes(name, triples, own.queries, events) for room in rooms):
            rooms.append(Together())
            assert rooms[-1].takes(name, triples, own.queries, events)
    return [room.world() for room in rooms]


WORLDS = shared_worlds()


@pytest.mark.parametrize("number", range(len(WORLDS)))
def test_every_case_in_a_stream(spark: SparkSession, tmp_path: Path, number: int) -> None:
    world, dice = WORLDS[number], random.Random(number)
    found = streamed(spark, world, tmp_path, dice, dice.choice([0, SMALL, SMALL]), stops=0)
    assert_same(world.answers(), found)


@pytest.mark.parametrize("seed", range(2))
def test_generated_worlds(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    history = from_cases(drawn(seed, 4), random.Random(seed))
    world = World(Ontology.of(history.ontologies[0]), history.queries, history.events)
    expected = world.answers()
    for small in (0, SMALL):
        root = tmp_path / str(small)
        root.mkdir()
        assert_same(expected, streamed(spark, world, root, random.Random(seed), small, stops=1))
    assert_same(expected, batch(spark, world, tmp_path, 3))


def assert_same(expected: Answers, found: Answers) -> None:
    left, right = decided(expected, found)
    assert left.keys() == right.keys()
    assert left == right


def test_nanopublications(spark: SparkSession, tmp_path: Path) -> None:
    files = sorted((data() / "wikipathways-nanopubs").glob("*.trig.zst"))
    if not files:
        pytest.skip("the nanopublications are not there: set TIDINGS_DATA")
    events = list(read_events([files[0]], by="nanopub", report=_refuse))[:400]
    work = workload("nanopublications", events, "WikiPathways", 60, 3, len(events), seed=1)
    world = World(work.ontology, dict(work.forms()), events)
    expected = world.answers()
    assert len(expected) > 100
    assert batch(spark, world, tmp_path, 4) == expected
    assert streamed(spark, world, tmp_path, random.Random(1), SMALL, stops=1) == expected


def _refuse(error: Exception) -> None:
    raise error
