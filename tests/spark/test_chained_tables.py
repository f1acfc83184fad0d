"""Chained over tables: joins of quads, pattern by pattern, find what the oracle finds, with the same solutions."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.chained_worlds import conjunctive, everything, pairs, split
from tests.spark.worlds import World, found_in

from tidings.bench.workloads.fast.base import data
from tidings.bench.workloads.fast.nanopubs import workload
from tidings.errors import SubscriptionError, UsageError
from tidings.lang import parse
from tidings.lang.conjunctive import conjunction
from tidings.rdf.read import read_events
from tidings.spark import hits, match
from tidings.spark.chained.steps import Frequencies, chain_of
from tidings.spark.schema import EVENTS


def assert_found(spark: SparkSession, world: World, folder: Path) -> None:
    parts = [(event, None, body, "here") for event, body in split(world, random.Random(1))]
    table = spark.createDataFrame(parts, EVENTS).repartition(3)
    source = world.rows(folder / "subscriptions.ndjson")
    found = found_in(match(table, source, ontology=world.ontology, strategy="chained", bindings=True).collect())
    answers = world.answers()
    expected, undecided = pairs(answers)
    assert found.keys() - undecided == expected
    assert all(found[pair] == answers[pair] for pair in expected)


def test_every_case_generated_ones_and_nanopublications(spark: SparkSession, tmp_path: Path) -> None:
    """In one world, and so by one job."""
    world = everything(11)
    files = sorted((data() / "wikipathways-nanopubs").glob("*.trig.zst"))
    if files:
        events = list(read_events([files[0]], by="nanopub", report=_refuse))[:80]
        work = workload("nanopublications", events, "WikiPathways", 60, 3, len(events), seed=1)
        queries = conjunctive(dict(work.forms()))
        assert len(queries) > 20
        world = World(world.ontology, {**world.queries, **queries}, [*world.events, *events])
    assert_found(spark, world, tmp_path)


def _refuse(error: Exception) -> None:
    raise error


def test_what_is_no_conjunction_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "s.rq").write_text("SELECT * { ?x <u:p> ?y OPTIONAL { ?x <u:q> ?z } }")
    table = spark.createDataFrame([], EVENTS)
    with pytest.raises(SubscriptionError, match="subscription 's': the strategy chained does not take OPTIONAL"):
        match(table, tmp_path, strategy="chained")
    with pytest.raises(UsageError, match="no shards"):
        match(table, tmp_path, strategy="chained", shards=2)


def test_what_cannot_be_read_is_told(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "s.rq").write_text("SELECT * { ?x <u:p> ?y }")
    rows = [("u:1", None, "nonsense", "a"), ("u:1", None, "<u:x> <u:p> <u:y> .\n", "a"), (None, None, "", "b")]
    rows += [("u:2", None, None, "c")]
    found = hits(spark.createDataFrame(rows, EVENTS), tmp_path, strategy="chained").collect()
    assert [(row.subscription, row.event) for row in found if row.reason is None] == [("s", "u:1")]
    assert sorted(str(row.event) for row in found if row.reason is not None) == ["None", "u:1", "u:2"]


# -------------------------------------------------------------------------------------------------------------- chains

COUNTED = Frequencies({"<u:many>": 1_000, "<u:few>": 3, "<u:some>": 50}, 1_053)


def test_the_rarest_pattern_is_the_first_and_the_next_are_joined_to_it() -> None:
    query = parse("SELECT * { ?a <u:many> ?b . ?x ?y ?z . ?b <u:some> ?c . ?c <u:few> ?d }")
    chain = chain_of(7, conjunction(query, "s"), COUNTED)
    assert [step.terms[1] for step in chain.steps] == ["<u:few>", "<u:some>", "<u:many>", None]
    assert {step.number for step in chain.steps} == {7}


def test_what_nobody_asks_for_any_more_is_dropped() -> None:
    query = parse("SELECT * { ?a <u:few> ?b . ?b <u:some> ?c . ?c <u:many> ?d FILTER(?a != ?c) }")
    chain = chain_of(0, conjunction(query, "s"), COUNTED)
    assert [len(step.kept) for step in chain.steps] == [2, 1, 0]
    assert {number: behind.names for number, behind in chain.conditions.items()} == {1: ("a", "c")}


def test_vertices_are_kept_until_all_are_told_apart() -> None:
    query = parse("(_:H, ?x, (<u:A>, <u:few>, <u:B>)) (?x, ?y, (<u:B>, <u:some>, <u:C>))", "ops")
    first, second = chain_of(0, conjunction(query, "s"), COUNTED).steps
    assert (first.vertices, first.apart, len(first.kept)) == (1, ["_:H"], 1)
    assert (second.vertices, second.apart, second.kept) == (2, ["_:H"], [])
