"""Feeds on Spark: each item once, and what it says later, whatever happens in between; and as a broker has it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles
from tests.broker.feeds import Item, atom, rss
from tests.unit.delivery.site import Answer, Site

from tidings.broker import log
from tidings.broker.core import Core
from tidings.broker.feeds.poller import Manner, Poller
from tidings.broker.retention import Retention
from tidings.cli.app import app
from tidings.delivery.fetch import Care, Fetched, Known
from tidings.errors import DeliveryError, EngineError, UsageError
from tidings.ingest.feeds.items import subject_of
from tidings.ingest.feeds.options import FeedOptions
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.spark import events_in, problems_in, read_feed_stream, read_feeds
from tidings.spark.feeds import following
from tidings.spark.feeds.following import Following
from tidings.spark.feeds.options import Options, addresses
from tidings.spark.feeds.source import FeedStreamReader
from tidings.spark.feeds.takes import Takes
from tidings.spark.places import read_stream_from
from tidings.spark.reading import Reading, valid_stage

A, B, C = (Item(name, f"title {name}") for name in "abc")
TITLE = "http://purl.org/rss/1.0/title"
TOMBSTONE = "https://www.w3.org/ns/activitystreams#Tombstone"
SECONDS = 3_600.0
ALL = ReadAllAvailable()


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as made:
        yield made


@pytest.fixture(autouse=True)
def _nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_IDLE", 0.0)


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def options(state: Path, *urls: str, **given: str) -> Options:
    usual = {"state": str(state), "private": "true", "problems": "true", "paths": json.dumps(urls)}
    return Options.of({**usual, **given})


class Stream:
    """A stream of feeds as Spark has it, without Spark; `taken` are the rows of all batches."""

    def __init__(self, clock: Clock, options: Options) -> None:
        self.clock = clock
        self.options = options
        self.taken: list[Mapping[str, Any]] = []
        self.begin()
        self.offset = self.reader.initialOffset()

    def begin(self) -> None:
        """As after an end of whatever kind."""
        self.reader = FeedStreamReader(self.options)
        self.reader._following = self.following = Following(self.options, clock=self.clock, dice=lambda: 0.0)

    def rows(self, start: Mapping[str, Any], end: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        # Somebody else reads what was planned.
        other = FeedStreamReader(self.options)
        shares = self.reader.partitions(dict(start), dict(end))
        return [row for share in shares for batch in other.read(share) for row in batch.to_pylist()]

    def batch(self) -> list[Mapping[str, Any]]:
        """All that is due, and there."""
        self.following.look()
        end = self.reader.latestOffset(self.offset, ALL)
        found = self.rows(self.offset, end)
        assert self.rows(self.offset, end) == found
        self.reader.commit(end)
        self.offset = end
        self.taken += found
        return found


def titles(rows: list[Mapping[str, Any]]) -> list[str]:
    found = (re.search(f'<{TITLE}> "title ([^"]*)"', row["body"]) for row in rows if row["reason"] is None)
    return [match[1] if match else "" for match in found]


def reasons(rows: list[Mapping[str, Any]]) -> list[str]:
    return [row["reason"] for row in rows if row["reason"] is not None]


# ----------------------------------------------------------------------------------------------------------- the reader


def test_an_item_once_an_update_and_a_deletion(site: Site, tmp_path: Path) -> None:
    url = site.put("/feed", atom([B, A]))
    clock = Clock()
    stream = Stream(clock, options(tmp_path, url))
    first = stream.batch()
    assert titles(first) == ["a", "b"]
    assert {row["source"] for row in first} == {url}
    assert {row["published"].timestamp() for row in first} == {clock.now}
    site.put("/feed", atom([C, replace(B, title="title b!"), A]))
    assert stream.batch() == []
    assert site.count("/feed") == 1
    clock.now += SECONDS
    assert titles(stream.batch()) == ["b!", "c"]
    site.put("/feed", atom([replace(A, deleted=True), C, replace(B, title="title b!")]))
    clock.now += SECONDS
    (gone,) = stream.batch()
    assert f"<{TOMBSTONE}>" in gone["body"]
    assert subject_of(Event(gone["event"], gone["body"])) == f"<{A.link}>"


def test_what_has_not_changed_is_not_sent_again(site: Site, tmp_path: Path) -> None:
    url = site.put("/feed", rss("2.0", [A], "<ttl>240</ttl>"))
    clock = Clock()
    stream = Stream(clock, options(tmp_path, url))
    assert titles(stream.batch()) == ["a"]
    # Its ttl is four hours.
    clock.now += SECONDS
    assert stream.batch() == []
    assert site.count("/feed") == 1
    stream.begin()
    clock.now += 4 * SECONDS
    assert stream.batch() == []
    assert [("if-none-match" in asked.headers) for asked in site.asked] == [False, True]
    (kept,) = Takes(str(tmp_path)).feeds().values()
    assert (kept.status, kept.problem, len(kept.items)) == (304, "", 1)


def test_a_feed_that_is_down_and_comes_back(site: Site, tmp_path: Path) -> None:
    url, other = site.put("/feed", rss("2.0", [A])), site.put("/other", rss("2.0", [B]))
    clock = Clock()
    stream = Stream(clock, options(tmp_path, url, other))
    assert sorted(titles(stream.batch())) == ["a", "b"]
    site.pages["/feed"] = Answer(503)
    clock.now += SECONDS
    (down,) = stream.batch()
    assert (down["source"], down["reason"], down["event"]) == (url, "its server answered 503", None)
    for wait in (60, 120, 240):
        # It is told once, and asked for later each time, also by who begins again.
        stream.begin()
        before = site.count("/feed")
        clock.now += wait - 1
        assert stream.batch() == []
        assert site.count("/feed") == before
        clock.now += 1
        assert stream.batch() == []
        assert site.count("/feed") == before + 1
    site.put("/feed", rss("2.0", [C, A]))
    clock.now += 480
    assert titles(stream.batch()) == ["c"]
    assert Takes(str(tmp_path)).feeds()[url].problem == ""


def test_a_batch_that_is_run_again_has_the_same_rows(site: Site, tmp_path: Path) -> None:
    url = site.put("/feed", rss("2.0", [B, A]))
    clock = Clock()
    stream = Stream(clock, options(tmp_path, url))
    stream.following.look()
    end = stream.reader.latestOffset(stream.offset, ALL)
    before = stream.rows(stream.offset, end)
    site.put("/feed", rss("2.0", [C]))
    clock.now += SECONDS
    stream.begin()
    stream.following.look()
    assert stream.rows(stream.offset, end) == before
    assert len(before) == 2
    after = stream.reader.latestOffset(end, ALL)
    assert titles(stream.rows(end, after)) == ["c"]
    # What no offset has named is in the next batch, and a batch has as much as it may.
    assert stream.reader.latestOffset(stream.offset, ReadMaxFiles(1)) == end
    stream.reader.commit(after)
    with pytest.raises(ValueError, match="take 1 is gone"):
        stream.rows(stream.offset, end)


def test_another_folder_or_another_stream_is_noticed(site: Site, tmp_path: Path) -> None:
    url = site.put("/feed", rss("2.0", [A]))
    stream = Stream(Clock(), options(tmp_path / "one", url))
    second = Stream(Clock(), options(tmp_path / "one", url))
    stream.following.look()
    with pytest.raises(EngineError, match="a folder each"):
        second.following.look()
    third = Stream(Clock(), options(tmp_path / "two", url))
    with pytest.raises(ValueError, match="is it another folder"):
        third.reader.latestOffset({"take": 7}, ALL)


def test_what_is_wrong_is_told(site: Site, tmp_path: Path) -> None:
    private = Stream(Clock(), options(tmp_path / "private", site.put("/feed", rss("2.0", [A])), private="false"))
    assert "private address" in reasons(private.batch())[0]
    assert site.asked == []
    clock = Clock()
    stream = Stream(clock, options(tmp_path / "none", site.put("/page", "<html><body>Hello</body></html>")))
    assert "no feed that can be read" in reasons(stream.batch())[0]
    site.pages["/page"] = Answer(410)
    clock.now += SECONDS
    assert reasons(stream.batch()) == ["it is gone, says its server"]
    clock.now += 100 * SECONDS
    assert stream.batch() == []
    assert site.count("/page") == 2


def test_a_feed_that_moves(site: Site, tmp_path: Path) -> None:
    old, new = f"{site.url}/old", site.put("/new", rss("2.0", [A]))
    site.pages["/old"] = Answer(301, headers={"location": "/new"})
    clock = Clock()
    stream = Stream(clock, options(tmp_path / "one", old))
    assert titles(stream.batch()) == ["a"]
    site.put("/new", rss("2.0", [B, A]))
    clock.now += SECONDS
    stream.begin()
    (row,) = stream.batch()
    assert (row["source"], site.count("/old")) == (new, 1)
    both = Stream(clock, options(tmp_path / "both", old, new))
    assert reasons(both.batch()) == [f"it has moved to {new}, which is read already"]


def test_other_options_are_other_events(site: Site, tmp_path: Path) -> None:
    url = site.put("/feed", rss("2.0", [A]))
    clock = Clock()
    (plain,) = Stream(clock, options(tmp_path, url)).batch()
    (sport,) = Stream(clock, options(tmp_path, url, classes="http://news.example/Sport")).batch()
    assert "<http://news.example/Sport>" in sport["body"]
    assert plain["event"] != sport["event"]


@given(
    st.lists(
        st.sampled_from(["new", "new", "update", "drop", "down", "look", "batch", "batch", "crash", "begin"]),
        max_size=25,
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_history_gives_every_version_of_an_item_once(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, history: list[str]
) -> None:
    """Whatever an item said while somebody looked is told, once, in order: also where it ends between two writes."""
    folder = tmp_path_factory.mktemp("state")
    items: list[Item] = []
    seen: dict[str, None] = {}
    up = [True]

    def fetch(url: str, known: Known, care: Care, **_: str) -> Fetched:
        if not up[0]:
            raise DeliveryError("no answer")
        seen.update(dict.fromkeys(f"{each.name}{each.title.removeprefix('title ')}" for each in reversed(items)))
        return Fetched(url, 200, {}, atom(items).encode())

    monkeypatch.setattr(following, "fetch", fetch)
    clock = Clock()
    stream = Stream(clock, options(folder, "http://news.example/feed"))
    for number, step in enumerate([*history, "up", "batch"]):
        up[0] = step != "down"
        clock.now += 100 * SECONDS
        if step == "new":
            items.insert(0, Item(str(number), "title 0"))
        elif step == "update" and items:
            items[0] = replace(items[0], title=f"title {number}")
        elif step == "drop":
            del items[1:2]
        elif step in ("look", "down"):
            stream.following.look()
        elif step == "batch":
            stream.batch()
        elif step == "crash":
            # A take was written, and nothing after it.
            with monkeypatch.context() as patched:
                patched.setattr(Takes, "keep", lambda *_: None)
                stream.following.look()
            stream.begin()
        elif step == "begin":
            stream.begin()
    told = [row for row in stream.taken if row["reason"] is None]
    found = [
        f"{subject_of(Event(row['event'], row['body'])).strip('<>').rpartition('/')[2]}{title}"
        for row, title in zip(told, titles(told), strict=True)
    ]
    assert found == list(seen)


def test_as_a_broker_has_it(site: Site, tmp_path: Path) -> None:
    hostile = Item("h", "title <script>&", "<img onerror=x>", ("one", "two"))
    documents = [atom([hostile, A]), atom([replace(A, deleted=True), replace(hostile, title="title b"), C])]
    url = site.put("/feed", documents[0])
    clock = Clock()
    stream = Stream(clock, options(tmp_path, url))
    core = Core(None, None, Retention())
    poller = Poller(core, Manner(care=Care(private=True)))
    try:
        feed, _ = poller.add(url, FeedOptions()).result()
        for document in documents:
            site.put("/feed", document)
            poller.poll(feed).result(30)
            stream.batch()
            clock.now += SECONDS
        with core.database.reading() as reader:
            logged = [each.event for each in log.between(reader, 0, log.last_seq(reader), 100)]
    finally:
        poller.close()
        core.close()
    assert len(logged) == 5
    found = [(row["event"], row["body"]) for row in stream.taken]
    assert found == [(event.id, event.body) for event in logged]


def test_a_file_of_addresses(tmp_path: Path) -> None:
    file = tmp_path / "feeds.txt"
    file.write_text("# News\nhttp://a.example/rss\n\n  https://b.example/ü#top \nhttp://a.example/rss\n")
    assert addresses((str(file), "http://c.example/")) == [
        "http://a.example/rss",
        "https://b.example/%C3%BC",
        "http://c.example/",
    ]
    file.write_text("http://a.example/rss\nftp://b.example/\n")
    with pytest.raises(UsageError, match=r"feeds\.txt, line 2: the address of a feed begins with https"):
        addresses((str(file),))
    with pytest.raises(UsageError, match="an address of a feed a line"):
        addresses((str(tmp_path / "absent"),))
    with pytest.raises(UsageError, match="a feed is missing"):
        Options.of({"state": "x"})
    with pytest.raises(UsageError, match="name a folder"):
        FeedStreamReader(Options.of({"path": "http://a.example/rss"}))


# ------------------------------------------------------------------------------------------------------------- on Spark


def due_now(state: Path) -> None:
    takes = Takes(str(state))
    for kept in takes.feeds().values():
        takes.keep(replace(kept, schedule=replace(kept.schedule, due=0.0)))


def test_a_stream_and_a_table(spark: SparkSession, site: Site, tmp_path: Path) -> None:
    url, down = site.put("/feed", rss("2.0", [B, A])), f"{site.url}/absent"
    table = read_feeds(spark, [url, down], private=True, problems=True)
    assert events_in(table).count() == 2
    assert spark.read.format("feeds").option("private", "true").load(url).count() == 2
    (problem,) = problems_in(table).collect()
    assert (problem.source, problem.reason) == (down, "its server answered 404")

    def run() -> list[str]:
        stream = read_feed_stream(spark, [url, down], tmp_path / "state", private=True, max_documents=1)
        writer = stream.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
        assert writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination(120)
        rows = [{**row.asDict(), "reason": None} for row in spark.read.parquet(str(tmp_path / "out")).collect()]
        assert len({row["event"] for row in rows}) == len(rows)
        return sorted(titles(rows))

    assert run() == ["a", "b"]
    # Nothing is due; and then there is something new.
    asked = site.count("/feed")
    assert run() == ["a", "b"]
    assert site.count("/feed") == asked
    site.put("/feed", rss("2.0", [C, replace(B, title="title b!"), A]))
    due_now(tmp_path / "state")
    assert run() == ["a", "b", "b!", "c"]


def test_a_pipeline(spark: SparkSession, site: Site, tmp_path: Path) -> None:
    (tmp_path / "feeds.txt").write_text(f"{site.put('/feed', rss('2.0', [B, A]))}\n{site.url}/absent\n")
    (tmp_path / "subs").mkdir()
    (tmp_path / "subs" / "b.rq").write_text(f'SELECT ?i {{ ?i <{TITLE}> ?t FILTER(?t = "title b") }}')
    checkpoint = tmp_path / "checkpoint"
    places = {"subscriptions": tmp_path / "subs", "notifications": tmp_path / "out", "checkpoint": checkpoint}
    words = ["pipeline", "--once", "--stats", "--private-feeds", "--events", f"feeds:{tmp_path / 'feeds.txt'}"]
    words += [word for name, place in places.items() for word in (f"--{name}", str(place))]

    def run(*more: str) -> tuple[int, int, int]:
        result = CliRunner().invoke(app, [*words, *more], catch_exceptions=False)
        figures = [json.loads(line) for line in result.stdout.splitlines()]
        assert result.exit_code == any(each["rejects"] for each in figures)
        return tuple(sum(each[name] for each in figures) for name in ("events", "matches", "rejects"))

    assert run() == (2, 1, 1)
    (reject,) = spark.read.parquet(str(checkpoint / "rejected")).collect()
    assert (reject.source, reject.reason) == (f"{site.url}/absent", "its server answered 404")
    site.put("/feed", rss("2.0", [replace(B, text="more"), A]))
    due_now(checkpoint / "tidings" / "feeds")
    assert run() == (1, 1, 0)
    assert spark.read.parquet(str(tmp_path / "out")).count() == 2
    with pytest.raises(UsageError, match="needs a folder"):
        read_stream_from(spark, "feeds:x", None)


def test_what_the_concept_model_rules_out(site: Site, tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text(
        f"<{TITLE}> <http://www.w3.org/2000/01/rdf-schema#range> <http://www.w3.org/2001/XMLSchema#integer> ."
    )
    urls = site.put("/feed", rss("2.0", [A])), f"{site.url}/absent"
    stream = Stream(Clock(), options(tmp_path / "state", *urls))
    stream.following.look()
    end = stream.reader.latestOffset(stream.offset, ALL)
    batches = [batch for share in stream.reader.partitions(stream.offset, end) for batch in stream.reader.read(share)]
    stage = valid_stage(Reading(validate=Ontology.load(tmp_path / "o.ttl")))
    rows = [row for batch in stage(iter(batches)) for row in batch.to_pylist()]
    assert {row["source"] for row in rows} == set(urls)
    assert sorted(reason[:20] for reason in reasons(rows)) == ["its server answered ", "the concept model ha"]
