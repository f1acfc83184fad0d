"""The parts of feeds that need no network: rows, turns, keys, agreements, and a database from before there were any."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag
from threading import Lock
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.broker.offers import CHEAP, ids, offer, told

import tidings
from tidings.broker import schema
from tidings.broker.audit import Who
from tidings.broker.core import Core
from tidings.broker.database import FILE
from tidings.broker.feeds import audience, keys, rows
from tidings.broker.feeds.atom import Published
from tidings.broker.feeds.audience import Listener
from tidings.broker.feeds.hub import Hub
from tidings.broker.feeds.poller import Manner, Poller
from tidings.broker.feeds.turns import Turns
from tidings.broker.feeds.websub import Websub
from tidings.broker.hooks import Patience
from tidings.broker.retention import Retention
from tidings.broker.subscriptions import Standing
from tidings.delivery.fetch import Care, Known
from tidings.errors import BrokerError, DeliveryError, UsageError
from tidings.ingest.feeds.items import Items
from tidings.ingest.feeds.options import FeedOptions
from tidings.ingest.feeds.schedule import Hints, Schedule

NONE = FeedOptions()
WHO = Who("t", "token", "")


def version_before(path: Path, version: int) -> None:
    """A broker's file as it was in that version of its tables, with a subscription."""
    with closing(sqlite3.connect(path / FILE, isolation_level=None)) as database:
        database.create_function("tidings_sum", -1, schema.checksum, deterministic=True)
        for migration in schema.MIGRATIONS[:version]:
            migration(database)
        database.execute(f"PRAGMA application_id = {schema.APPLICATION}")
        database.execute(f"PRAGMA user_version = {version}")
        database.execute(
            "INSERT INTO subscriptions (stream, tenant, id, version, query, dialect, options, state, reason, created, "
            "after, acked, dropped) VALUES (1, '', 's', 1, ?, 'sparql', '{}', 'active', '', 0, 0, 0, 0)",
            (CHEAP,),
        )


def test_a_database_from_before_there_were_feeds(tmp_path: Path) -> None:
    before = next(n for n, each in enumerate(schema.MIGRATIONS) if _makes_feeds(schema.MIGRATIONS[: n + 1]))
    version_before(tmp_path, before)
    with tidings.Broker(tmp_path) as broker:
        broker.publish(offer(1))
        assert told(broker.subscription("s")) == ids(1)
        core = broker._core
        feed, new = core.change(lambda writer: rows.add(writer, "http://x/", NONE, WHO, 5)).result()
        key = core.change(lambda writer: keys.make(writer, "t", "s")).result()
        assert (new, feed.number, key.version) == (True, 1, 1)
    with tidings.Broker(tmp_path) as broker, broker._core.database.reading() as reader:
        assert rows.by_number(reader, 1) == feed
        assert keys.of(reader, "t", "s") == key


def _makes_feeds(migrations: object) -> bool:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.create_function("tidings_sum", -1, schema.checksum, deterministic=True)
        for migration in migrations:  # type: ignore[attr-defined]
            migration(database)
        return database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'feeds'").fetchone() is not None


@pytest.fixture
def core() -> Core:
    return Core(None, None, Retention())


def test_what_is_known_of_a_feed_comes_back_as_it_was(core: Core) -> None:
    feed, _ = core.change(lambda writer: rows.add(writer, "http://x/", NONE, WHO, 5)).result()
    full = replace(
        feed,
        options=FeedOptions(("http://x/C",), True, "utf-8"),
        known=Known('"a"', "then"),
        hints=Hints(60.0, None, frozenset({3, 1}), frozenset({6}), ("http://h/",), "http://t/"),
        schedule=Schedule(5.5, 60.0, 3, 4.0),
        items=Items(b"x" * 32),
        status=200,
        polled=7,
        problem="é",
        state="gone",
    )
    assert core.change(lambda writer: rows.put(writer, full)).result()
    with core.database.reading() as reader:
        assert rows.by_id(reader, feed.id) == full
        assert list(rows.active(reader)) == []
        assert rows.counts(reader) == {"active": 0, "failing": 0, "gone": 1}
    assert core.change(lambda writer: rows.remove(writer, feed.id)).result() == full
    assert not core.change(lambda writer: rows.put(writer, full)).result()
    core.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE feeds SET url = 'http://other/', crc = 1",
        "UPDATE feed_keys SET tenant = 'x', crc = 1",
        "UPDATE websub SET topic = 'x', crc = 1",
        "UPDATE hub SET callback = 'x', crc = 1",
    ],
)
def test_rows_that_are_not_as_they_were_written_are_told(tmp_path: Path, change: str) -> None:
    with tidings.Broker(tmp_path) as broker:
        core = broker._core
        core.change(lambda writer: rows.add(writer, "http://x/", NONE, WHO, 5)).result()
        core.change(lambda writer: keys.make(writer, "t", "s")).result()
        listener = Listener(0, "t", "s", "http://t/", "http://c/", "", 10**18, 0, 0)
        core.change(lambda writer: audience.put(writer, listener, 0, 0)).result()
        agreed = "INSERT INTO websub (callback, feed, hub, topic, state, problem, asked) VALUES (1, 1, 1, 1, 1, 1, 1)"
        core.change(lambda writer: writer.execute(agreed)).result()
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.create_function("tidings_sum", -1, schema.checksum, deterministic=True)
        [trigger] = database.execute(
            "SELECT sql FROM sqlite_schema WHERE name = ?", (f"{change.split()[1]}_set",)
        ).fetchone()
        database.execute(f"DROP TRIGGER {change.split()[1]}_set")
        database.execute(change)
        database.execute(trigger)
        database.commit()
    with pytest.raises(BrokerError, match=r"damaged|not as it was"):
        tidings.Broker(tmp_path)


# ---------------------------------------------------------------------------------------------------------------- turns


class _Turns:
    """Counts turns, and how many there are at a time."""

    def __init__(self, **settings: int) -> None:
        self.done: Counter[int] = Counter()
        self.most: Counter[str] = Counter()
        self._now: Counter[str] = Counter()
        self._lock = Lock()
        self.hold = Flag()
        self.turns = Turns("test", self._take, lane=lambda number: str(number // 10), **settings)

    def _take(self, number: int) -> float | None:
        with self._lock:
            for lane in (str(number // 10), "all", f"#{number}"):
                self._now[lane] += 1
                self.most[lane] = max(self.most[lane], self._now[lane])
        self.hold.wait(0.02)
        with self._lock:
            for lane in (str(number // 10), "all", f"#{number}"):
                self._now[lane] -= 1
            self.done[number] += 1
        if number == 99:
            raise RuntimeError("a mistake")
        return None


def _wait(look: object) -> None:
    end = time.monotonic() + 60
    while not look():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.005)


def test_turns_are_bounded_in_all_and_by_lane_and_nobody_is_left_out() -> None:
    those = _Turns(workers=4, narrow=2)
    for number in range(40):
        those.turns.soon(number)
        those.turns.soon(number, 0.01)
    _wait(lambda: len(those.done) == 40)
    those.turns.close()
    assert those.most["all"] <= 4
    assert max(those.most[str(lane)] for lane in range(4)) <= 2
    assert all(those.most[f"#{number}"] == 1 for number in range(40))
    assert max(those.done.values()) <= 2


def test_who_is_asked_for_while_he_has_his_turn_has_another_one() -> None:
    those = _Turns(workers=2)
    those.turns.soon(1)
    _wait(lambda: those.most["#1"])
    for _ in range(5):
        those.turns.soon(1)
    _wait(lambda: those.done[1] == 2)
    those.hold.set()
    those.turns.close()
    assert those.done[1] == 2


def test_a_turn_that_goes_wrong_costs_no_other_anything(caplog: pytest.LogCaptureFixture) -> None:
    those = _Turns(workers=1)
    those.turns.soon(99)
    those.turns.soon(98)
    _wait(lambda: those.done[98])
    those.turns.close()
    assert "the turn of 99" in caplog.text


def test_an_earlier_turn_comes_first() -> None:
    those = _Turns(workers=1)
    those.turns.soon(1, 1_000)
    those.turns.soon(1, 0.01)
    _wait(lambda: those.done[1])
    those.turns.soon(1, 0.0)
    _wait(lambda: those.done[1] == 2)
    those.turns.close()


# ---------------------------------------------------------------------------------------------------------------- keys


TEXT = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20)


@given(TEXT, TEXT)
def test_addresses_of_feeds_name_what_they_are_of(id: str, key: str) -> None:
    made = keys.address("http://b.example", id, key)
    assert made.isascii()
    if "/" not in id:
        assert keys.named(made) == ("http://b.example", id, key)


@pytest.mark.parametrize(
    "topic",
    ["", "http://x/", "http://x/v1/subscriptions//feed", "http://x/v1/subscriptions/a/b/feed", "http://[/",
     "http://x/v1/subscriptions/a/feed?key=1&key=2", "http://x/v1/subscriptions/a/feed?x=1", "http://x/v1/hub",
     "http://x/v1/subscriptions/a/feed#x", "http://x/v1/subscriptions/%ff/feed", "x" * 3_000,
     "http://x/v1/subscriptions/a/feed?key"],
)  # fmt: skip
def test_what_is_no_address_of_a_feed(topic: str) -> None:
    assert keys.named(topic) is None


def test_a_key_is_compared_in_constant_time_also_where_there_is_none(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = core.change(lambda writer: keys.make(writer, "t", "s")).result()
    text = key.text(core.key)
    compared: list[bytes] = []
    compare = keys.hmac.compare_digest

    def watched(a: bytes, b: bytes) -> bool:
        compared.append(b)
        return compare(a, b)

    monkeypatch.setattr(keys.hmac, "compare_digest", watched)
    with core.database.reading() as reader:
        found = [keys.tenant_of(reader, core.key, "s", each) for each in (text, "9" + text[1:], "x", text + "x")]
    assert found == ["t", None, None, None]
    assert len(compared) == 4
    core.close()


def test_options_that_are_none() -> None:
    assert FeedOptions.of_json(FeedOptions(("x:y",), False, "koi8-r").to_json()) == FeedOptions(
        ("x:y",), False, "koi8-r"
    )
    for wrong in ({"base": "x"}, {"classes": [5]}, {"classes": ["a b"]}, {"classes": ["x:y"] * 33}, {"home": "yes"}):
        with pytest.raises(UsageError):
            FeedOptions.of(wrong)


@pytest.mark.parametrize(
    ("said", "charset"),
    [("text/xml; charset=ISO-8859-1", "iso8859-1"), ('x; a=b; Charset="utf-8"', "utf-8"), ("x;charset=klingon", None)],
)
def test_the_charset_that_a_server_says(said: str, charset: str | None) -> None:
    assert NONE.how(said, 10).options.get("charset") == charset
    assert FeedOptions(charset="utf-8").how(said, 10).options["charset"] == "utf-8"


def test_secrets_are_one_for_each_callback(core: Core) -> None:
    websub = Websub(core, "http://b/", Care(), "agent")
    assert len({websub.secret(name) for name in ("a", "b")}) == 2
    assert websub.secret("a") == websub.secret("a")
    core.close()


def test_a_look_up_under_way_does_not_hold_up_the_end(core: Core) -> None:
    began, held = Flag(), Flag()

    def look(host: str, port: int) -> list[str]:
        began.set()
        held.wait(60)
        return []

    poller = Poller(core, Manner(care=Care(look=look)))
    poller.add("http://slow.example/", NONE).result()
    assert began.wait(30)
    before = time.monotonic()
    poller.close()
    assert time.monotonic() - before < 10
    held.set()
    core.close()


def test_a_look_up_for_a_callback_is_not_waited_for_either(core: Core) -> None:
    held = Flag()

    def look(host: str, port: int) -> list[str]:
        held.wait(60)
        return []

    hub = Hub(core, patience=Patience(timeout=0.2))
    hub._care = replace(hub._care, look=look)
    listener = Listener(1, "", "s", "http://b/", "http://slow.example/", "", 0, 0, 0)
    with pytest.raises(DeliveryError, match="it took too long"):
        hub._post(listener, Published(core, cast(Standing, None), "http://b/", None), b"")
    hub.close()
    held.set()
    core.close()
