"""The archive: what is in it stays findable whatever is done to it, and what is deleted is gone."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.soak.composing import from_cases
from tests.soak.generated import drawn
from tests.spark.archives import NOON, archive_of
from tests.spark.test_equal import assert_same
from tests.spark.worlds import Answers, World, found_in, solutions

from tidings.lang import parse
from tidings.lang.files import microseconds
from tidings.lang.watched import Change
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.spark.archive import compact as compacting
from tidings.spark.archive import find
from tidings.spark.archive.ask import answers
from tidings.spark.archive.compact import compact
from tidings.spark.archive.find import Finder, Lookup
from tidings.spark.archive.layout import ALWAYS, ARCHIVE_ROWS, Archive, Before, Piece, Span, living
from tidings.spark.archive.remove import delete, retain
from tidings.spark.history import archived, quads, replay
from tidings.spark.late import Newest, late_notifications
from tidings.spark.tables import BatchTable

TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
NONE = Ontology.empty()


def event(number: int) -> Event:
    xsd = "http://www.w3.org/2001/XMLSchema#integer"
    body = (
        f'<http://e/x{number}> <http://e/price> "{number}"^^<{xsd}> .\n'
        f'<http://e/x{number}> <http://e/title> "title {number}" .\n'
        f"<http://e/x{number}> {TYPE} <http://e/C{number % 7}> .\n"
    )
    return Event(f"http://e/{number}", body)


def asked(archive: Archive, text: str, span: Span = ALWAYS) -> tuple[set[str], Finder]:
    """The events that have a solution, and what it took."""
    with Finder(archive, span) as finder:
        rows = [row for batch in answers(finder, parse(text, "sparql"), NONE) for row in batch.to_pylist()]
    return {row["event"] for row in rows if row["event"] is not None and row["reason"] is None}, finder


def ids(numbers: Iterable[int]) -> set[str]:
    return {f"http://e/{number}" for number in numbers}


def lines(archive: Archive) -> str:
    """All that is in any file, dead or alive."""
    found = Path(archive.folder).rglob("*.parquet")
    return "\n".join(str(pq.read_table(path, partitioning=None).to_pylist()) for path in found)


def test_pieces_that_others_cover_do_not_count() -> None:
    plain = [Piece(n, n, False) for n in range(4)]
    assert living(plain) == plain
    assert living([*plain, Piece(0, 2, True)]) == [Piece(0, 2, True), plain[3]]
    assert living([*plain, Piece(0, 0, True), Piece(1, 2, True), Piece(0, 2, True)]) == [Piece(0, 2, True), plain[3]]
    assert living([plain[1], Piece(1, 1, True)]) == [Piece(1, 1, True)]


@pytest.fixture(scope="module")
def compacted(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Four batches of 500 events, on three days; three of them compacted."""
    when = [NOON - timedelta(days=number % 3) for number in range(2000)]
    pairs = [(event(number), when[number]) for number in range(2000)]
    root = tmp_path_factory.mktemp("archive")
    archive = archive_of(root, *(pairs[n : n + 500] for n in range(0, 1500, 500)))
    done = compact(spark, archive)
    assert done is not None
    assert done.pieces == 3
    assert compact(spark, archive) is None
    archive_of(root, pairs[1500:], first=3)
    assert [piece.name for piece in archive.pieces()] == ["batch=0000000000-0000000002", "batch=0000000003"]
    assert not archive.dead()
    return archive


def test_an_event_is_found_by_its_id(compacted: Archive) -> None:
    for number in (0, 7, 999, 1499, 1500, 1999):
        found, finder = asked(compacted, f"SELECT * {{ GRAPH <http://e/{number}> {{ ?s ?p ?o }} }}")
        assert found == ids([number])
        assert finder.touched.bytes_read < finder.touched.bytes
    assert asked(compacted, "SELECT * { GRAPH <http://e/none> { ?s ?p ?o } }")[0] == set()


def test_a_predicate_and_an_object_are_looked_up(compacted: Archive) -> None:
    assert asked(compacted, 'SELECT * { ?x <http://e/title> "title 42" }')[0] == ids([42])
    assert asked(compacted, 'SELECT * { ?x <http://e/title> "title 1742" }')[0] == ids([1742])
    assert asked(compacted, "SELECT * { ?x a <http://e/C3> }")[0] == ids(range(3, 2000, 7))
    assert asked(compacted, "SELECT * { ?x <http://e/nobody> ?y }")[0] == set()


def test_where_quads_lead_to_many_events_all_are_read(compacted: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "_MOST", 100)
    assert asked(compacted, 'SELECT * { ?x <http://e/title> "title 42" }')[0] == ids([42])
    found, finder = asked(compacted, "SELECT * { ?x a <http://e/C3> }")
    assert found == ids(range(3, 2000, 7))
    assert finder.touched.bytes_read >= finder.cost_of_all() // 2


def test_what_is_much_alike_is_in_small_groups_all_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(compacting._WRITTEN, "parquet.block.row.count.limit", "100")
    archive = archive_of(tmp_path, [(event(number), NOON) for number in range(500)])
    assert compact(spark, archive) is not None
    found, finder = asked(archive, 'SELECT * { ?x <http://e/title> "title 42" }')
    assert found == ids([42])
    assert finder.touched.groups >= 20
    assert finder.touched.groups_read <= 4


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        ("?v < 5", range(5)),
        ("?v <= 5.0", range(6)),
        ("3 > ?v", range(3)),
        ("?v > 1990 && ?v < 1993", range(1991, 1993)),
        ("?v = 77e0", [77]),
        ("?v >= 1499 && ?v <= 1501", range(1499, 1502)),
    ],
)
def test_ranges_are_looked_up(compacted: Archive, condition: str, numbers: Iterable[int]) -> None:
    found, _ = asked(compacted, f"SELECT * {{ ?x <http://e/price> ?v FILTER({condition}) }}")
    assert found == ids(numbers)


def test_a_time_is_a_stretch_of_it(compacted: Archive, spark: SparkSession) -> None:
    span = Span(NOON - timedelta(days=1, hours=1), NOON - timedelta(hours=1))
    expected = ids(range(1, 2000, 3))
    assert asked(compacted, "SELECT * { ?x <http://e/price> ?v }", span)[0] == expected
    rows = archived(spark, compacted.folder, since=span.since, until=span.until).collect()
    assert {row.event for row in rows} == expected


def test_quads_are_a_table(compacted: Archive, spark: SparkSession) -> None:
    table = quads(spark, compacted.folder)
    assert table.columns == ["graph", "subject", "predicate", "object", "number"]
    table.createOrReplaceTempView("quads")
    query = "SELECT graph FROM quads WHERE predicate = '<http://e/price>' AND number BETWEEN 1497 AND 1502"
    assert {row.graph for row in spark.sql(query).collect()} == ids(range(1497, 1503))
    assert table.count() == 6000


def test_replay_is_what_a_match_would_have_been(spark: SparkSession, compacted: Archive, tmp_path: Path) -> None:
    (tmp_path / "s.rq").write_text("SELECT ?x { ?x a <http://e/C3> }")
    rows = replay(archived(spark, compacted.folder), tmp_path).collect()
    assert sorted(row.event for row in rows) == sorted(ids(range(3, 2000, 7)))
    assert len({row.notification for row in rows}) == len(rows)


def test_what_is_deleted_is_gone(spark: SparkSession, tmp_path: Path) -> None:
    pairs: list[tuple[Event, datetime | None]] = [(event(number), None) for number in range(40)]
    archive = archive_of(tmp_path / "a", pairs[:10], pairs[10:20], pairs[20:30])
    assert compact(spark, archive) is not None
    archive_of(tmp_path / "a", pairs[30:], first=3)
    done = delete(archive, ids([5, 17, 33, 99]))
    assert done.ids == ids([5, 17, 33])
    assert (done.events, done.quads) == (3, 6)
    left = lines(archive)
    for number in (5, 17, 33):
        assert f"title {number}'" not in left
        assert f'title {number}"' not in left
        assert asked(archive, f'SELECT * {{ ?x <http://e/title> "title {number}" }}')[0] == set()
        assert asked(archive, f"SELECT * {{ GRAPH <http://e/{number}> {{ ?s ?p ?o }} }}")[0] == set()
    assert asked(archive, "SELECT * { ?x <http://e/price> ?v }")[0] == ids(set(range(40)) - {5, 17, 33})
    assert quads(spark, archive.folder).where("graph = 'http://e/5'").isEmpty()
    assert {row.event for row in archived(spark, archive.folder).collect()} == ids(set(range(40)) - {5, 17, 33})


def test_what_is_in_parts_is_gone_with_its_event(spark: SparkSession, tmp_path: Path) -> None:
    """Parts, whole and late quads, of several days, compacted or not; and what a deletion left that was killed."""
    folder = tmp_path / "a"
    for first in (0, 10):
        for number, day, part in ((0, 15, "part"), (1, 14, None), (2, 16, "late")):
            write_parts(folder, first + number, datetime(2026, 11, day, 9, tzinfo=UTC), part, first)
        if not first:
            assert compact(spark, Archive(str(folder))) is not None
    archive = Archive(str(folder))
    left_over = next(folder.glob("batch=*-*/day=2026-11-16")) / f".{'0' * 32}"
    left_over.write_bytes(b"title 0")
    assert "title 0 late" in lines(archive)
    done = delete(archive, ids([0]))
    assert (done.ids, done.whole, left_over.exists()) == (ids([0]), ids([0]), False)
    assert "title 0 " not in lines(archive)
    assert "title 10 late" in lines(archive)
    assert "title 10 part" in lines(archive)
    retain(archive, date(2026, 11, 15))
    assert "title 10 " not in lines(archive)
    # Others stay, whichever day their parts are of.
    assert {row.graph for row in quads(spark, archive.folder).collect()} == ids([1, 11])


def write_parts(folder: Path, batch: int, when: datetime, part: str | None, number: int) -> None:
    """A batch with one event, or with a part of one; and with a late quad of another one."""
    rows = [
        {"event": f"http://e/{n}", "published": when, "accepted": NOON, "digest": "", "part": kind}
        | {"body": f'<http://e/x> <http://e/title> "title {n} {kind}" .\n', "source": "s"}
        for n, kind in ((number, part), (number + 1, "late"))
        if kind == part or part == "late"
    ]
    found = pa.Table.from_pylist(rows, ARCHIVE_ROWS)
    by_day = found.append_column("day", found["published"].cast(pa.date32()))
    BatchTable(str(folder), by="day").write_here(batch, by_day)


def test_what_has_only_parts_is_told_so(tmp_path: Path) -> None:
    """It may be open still, and then comes back."""
    write_parts(tmp_path / "a", 0, NOON, "part", 5)
    done = delete(Archive(str(tmp_path / "a")), ids([5]))
    assert (done.events, done.ids, done.whole) == (1, ids([5]), frozenset())


def test_what_is_old_is_gone(spark: SparkSession, tmp_path: Path) -> None:
    pairs = [(event(number), NOON - timedelta(days=number)) for number in range(8)]
    archive = archive_of(tmp_path / "a", pairs[:4], pairs[4:], [])
    assert compact(spark, archive) is not None
    done = retain(archive, date(2026, 11, 14))
    assert (done.events, done.quads) == (5, 15)
    assert asked(archive, "SELECT * { ?x <http://e/price> ?v }")[0] == ids(range(3))
    left = lines(archive)
    assert all(f"title {number}" not in left for number in range(3, 8))
    assert quads(spark, archive.folder).count() == 9


def test_a_compaction_that_was_stopped_does_no_harm(spark: SparkSession, tmp_path: Path) -> None:
    pairs: list[tuple[Event, datetime | None]] = [(event(number), None) for number in range(9)]
    archive = archive_of(tmp_path / "a", pairs[:3], pairs[3:6], pairs[6:])
    everything = ids(range(9))
    # It had put its piece into place, and not removed what that covers.
    shutil.copytree(tmp_path / "a", tmp_path / "copies")
    assert compact(spark, archive) is not None
    for name in ("batch=0000000000", "batch=0000000001", "batch=0000000002"):
        (tmp_path / "copies" / name).rename(tmp_path / "a" / name)
    assert sorted(row.event for row in archived(spark, archive.folder).collect()) == sorted(everything)
    assert asked(archive, "SELECT * { ?x <http://e/price> ?v }")[0] == everything
    delete(archive, ids([1]))
    assert "title 1'" not in lines(archive)
    assert asked(archive, "SELECT * { ?x <http://e/price> ?v }")[0] == everything - ids([1])


def test_whoever_reads_goes_on_with_what_was_there(spark: SparkSession, tmp_path: Path) -> None:
    """A compaction makes what it likes meanwhile, and removes nothing; the next one does."""
    pairs: list[tuple[Event, datetime | None]] = [(event(number), None) for number in range(9)]
    archive = archive_of(tmp_path / "a", pairs[:3], pairs[3:6], pairs[6:])
    with Finder(archive) as finder:
        before = finder.ids([Lookup(frozenset(["<http://e/price>"]))])
        assert compact(spark, archive) is not None
        found = [id for rows in finder.events([Lookup(frozenset(["<http://e/price>"]))]) for id in rows["event"]]
    assert before == set(), "nothing was compacted then"
    assert {id.as_py() for id in found} == ids(range(9))
    assert len(archive.dead()) == 3
    assert compact(spark, archive) is None
    assert not archive.dead()


def test_what_was_before_a_batch_that_is_run_again(spark: SparkSession, tmp_path: Path) -> None:
    """It was compacted with those before it, when it was half done."""
    archive = Archive(str(tmp_path / "a"))
    for number in range(3):
        write_parts(tmp_path / "a", number, NOON, None, number)
    moment = NOON + timedelta(microseconds=1)
    rows = pa.Table.from_pylist([{"event": "http://e/3", "accepted": moment, "body": "", "digest": ""}], ARCHIVE_ROWS)
    BatchTable(archive.folder, by="day").write_here(3, rows.append_column("day", rows["accepted"].cast(pa.date32())))
    for compacted in (False, True):
        assert not compacted or compact(spark, archive) is not None
        with Finder(archive) as finder:
            known = [id.as_py() for rows in finder.all_events(["event"], Before(3, moment)) for id in rows["event"]]
        assert set(known) == ids(range(3))


def test_who_looks_back_and_has_ended_is_told_what_was_before_that(tmp_path: Path) -> None:
    """Both are heard of at once: that it looks back, and that it is over."""
    pairs = [(event(number), NOON + timedelta(minutes=number)) for number in range(8)]
    archive = archive_of(tmp_path / "a", pairs)
    since, until = (microseconds((NOON + timedelta(minutes=number)).isoformat()) for number in (2, 5))
    put = Change("put", "s", "ASK { ?x <http://e/price> ?v }", created=since, retroactive=since)
    for changes, last in (([put], 8), ([put, Change("end", "s", cancelled=until)], 5)):
        told = late_notifications(changes, NONE, archive, Before(1), Newest(), bindings=False)
        assert set(told.rows["event"].to_pylist()) == ids(range(2, last))


@pytest.mark.parametrize("seed", range(2))
def test_queries_find_what_the_oracle_finds(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    history = from_cases(drawn(seed, 4), random.Random(seed))
    world = World(Ontology.of(history.ontologies[0]), history.queries, history.events)
    dice = random.Random(seed)
    left: list[tuple[Event, Any]] = [(each, NOON.astimezone(UTC)) for each in world.events]
    batches = []
    while left:
        size = dice.randint(1, 6)
        batches.append(left[:size])
        left = left[size:]
    archive = archive_of(tmp_path / "a", *batches)
    expected = world.answers()
    assert compact(spark, archive) is not None
    found: Answers = {}
    for id, query in world.queries.items():
        with Finder(archive) as finder:
            for rows in answers(finder, query, world.ontology):
                good = pc.and_(pc.is_valid(rows["event"]), pc.is_null(rows["reason"]))
                for row in rows.filter(good).to_pylist():
                    found[id, row["event"]] = solutions(row["bindings"])
    assert_same(expected, found)
    source = world.rows(tmp_path / "s.ndjson")
    rows = replay(archived(spark, archive.folder), source, ontology=world.ontology, bindings=True)
    assert_same(expected, found_in(rows.collect()))
