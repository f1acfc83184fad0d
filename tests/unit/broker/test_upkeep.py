"""What a broker does by itself: the log turned round, time that is over, room that is made."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.broker.offers import ANY, CHEAP, ids, offer, told

import tidings
from tidings.broker import backlog as backlogs
from tidings.broker import core as cores
from tidings.broker import looking, postings, subscriptions
from tidings.broker import retention as retentions
from tidings.broker import upkeep as upkeeps
from tidings.broker.database import FILE
from tidings.broker.options import Options
from tidings.broker.retention import Retention
from tidings.broker.subscriptions import Wanted
from tidings.errors import BrokerError, CursorError, UsageError
from tidings.lang import parse

HOUR = 3_600_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Microseconds since 1970, for all brokers of a test."""
    now = [1_800_000_000_000_000]
    monkeypatch.setattr(cores, "_now", lambda: now[0])
    return now


def upkeep(broker: tidings.Broker) -> None:
    broker._core.upkeep.once()


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "BLOCK", 8)


@pytest.mark.usefixtures("small_blocks")
def test_pages_go_over_blocks_and_what_is_in_none_yet(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path) as broker:
        broker.subscribe(ANY, id="any")
        broker.subscribe(CHEAP, id="cheap")
        for number in range(30):
            broker.publish(offer(number, 900 if number % 3 else 100))
            if number % 7 == 0:
                upkeep(broker)
        for _ in range(2):
            assert told(broker.subscription("any")) == ids(*range(30))
            assert told(broker.subscription("cheap")) == ids(*range(0, 30, 3))
            upkeep(broker)
    with tidings.Broker(tmp_path) as broker:
        broker.publish(offer(30))
        assert told(broker.subscription("cheap")) == ids(*range(0, 31, 3))


def test_one_whose_time_is_over_ends_unless_it_is_renewed(clock: list[int]) -> None:
    with tidings.Broker() as broker:
        broker.subscribe(ANY, id="short", ttl=60)
        broker.subscribe(ANY, id="renewed", ttl=60)
        clock[0] += 50_000_000
        broker.subscribe(ANY, id="renewed", ttl=60)
        clock[0] += 20_000_000
        upkeep(broker)
        assert [match.subscription for match in broker.publish(offer(1))] == ["renewed"]
        assert [each.id for each in broker.subscriptions()] == ["renewed"]


def test_old_events_go_and_who_had_not_read_them_is_told(tmp_path: Path, clock: list[int]) -> None:
    with tidings.Broker(tmp_path, retention=Retention(age=timedelta(hours=2))) as broker:
        cheap = broker.subscribe(CHEAP)
        idle = broker.subscribe("ASK { <http://x/nothing> <http://x/p> 1 }")
        start, nothing = cheap.page(limit=1).cursor, idle.page().cursor
        for number in range(5):
            broker.publish(offer(number))
            clock[0] += HOUR
        second = cheap.page(limit=2).cursor
        upkeep(broker)
        assert told(cheap) == ids(3, 4)
        for cursor in (start, second):
            with pytest.raises(CursorError, match="notifications behind it are gone"):
                cheap.page(cursor)
        assert idle.page(nothing).notifications == []
        assert broker.event(ids(2)[0]) is None
        # What is gone is not known any more.
        assert len(broker.publish(offer(0))) == 1


@pytest.mark.usefixtures("small_blocks")
def test_many_go_a_few_at_a_time(tmp_path: Path, clock: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retentions, "_AT_ONCE", 3)
    monkeypatch.setattr(retentions, "_STRETCH", 2)
    monkeypatch.setattr(upkeeps, "_GOING", 5)
    monkeypatch.setattr(backlogs, "_AT_ONCE", 1)
    with tidings.Broker(tmp_path, retention=Retention(age=timedelta(hours=20))) as broker:
        cheap, any_ = broker.subscribe(CHEAP), broker.subscribe(ANY)
        for number in range(30):
            broker.publish(offer(number, 900 if number % 3 else 100))
            clock[0] += HOUR
            broker._core.upkeep.little()
        behind = any_.page(limit=10).cursor
        upkeep(broker)
        assert told(any_) == ids(*range(10, 30))
        assert told(cheap) == ids(*range(12, 30, 3))
        assert [n.event.id for n in any_.page(behind).notifications] == ids(*range(10, 30))
        assert broker._core.backlog.waiting(any_.stream) == 20


def test_it_hurries_where_more_has_to_go_than_goes_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeeps, "_GOING", 5)
    with tidings.Broker(tmp_path) as broker:
        breath = broker._core.upkeep._breath
        assert breath(100) == upkeeps._BREATH
        for number in range(8):
            broker.publish(offer(number))
        assert breath(5) == upkeeps._BREATH > upkeeps._HURRY
        assert breath(6) == breath(8) == upkeeps._HURRY
        for number in range(4):
            assert broker.delete_event(ids(number)[0])
        assert breath(8) == upkeeps._BREATH


def test_what_was_deleted_by_hand_is_not_called_gone(tmp_path: Path, clock: list[int]) -> None:
    with tidings.Broker(tmp_path, retention=Retention(age=timedelta(hours=2))) as broker:
        cheap = broker.subscribe(CHEAP)
        start = cheap.page().cursor
        broker.publish(offer(0))
        assert broker.delete_event(*ids(0))
        for number in range(1, 6):
            broker.publish(offer(number, 900))
            clock[0] += HOUR
        upkeep(broker)
        assert cheap.page(start).notifications == []
        assert cheap.page().missed is None


def test_a_cursor_behind_what_went_is_as_good_as_ever(tmp_path: Path, clock: list[int]) -> None:
    with tidings.Broker(tmp_path, retention=Retention(age=timedelta(hours=2))) as broker:
        cheap = broker.subscribe(CHEAP)
        for number in range(4):
            broker.publish(offer(number))
            clock[0] += HOUR
        cursor = cheap.page(limit=2).cursor
        upkeep(broker)
        assert [n.event.id for n in cheap.page(cursor).notifications] == ids(2, 3)


def test_a_database_that_is_too_large_loses_its_oldest(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path, retention=Retention(size=400_000)) as broker:
        cheap = broker.subscribe(CHEAP)
        for number in range(3_000):
            broker.publish(offer(number))
        upkeep(broker)
        left = told(cheap)
        assert left[-1:] == ids(2_999)
        assert broker.stats()["bytes"] > 0
        assert broker.event(ids(0)[0]) is None


def test_what_is_deleted_is_not_in_the_file_any_more(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path) as broker:
        broker.publish(b'<http://x/a> <http://x/says> "a-secret-word" .', format="nt")
        [id] = broker.publish(b'<http://x/a> <http://x/says> "a-secret-word" .', format="nt").ids
        assert broker.delete_event(id)
    for file in tmp_path.iterdir():
        assert b"a-secret-word" not in file.read_bytes()
    assert (tmp_path / FILE).exists()


@pytest.mark.parametrize("wrong", [{"age": timedelta()}, {"size": -1}, {"backlog": 0}])
def test_what_cannot_be_kept(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Retention(**wrong)  # type: ignore[arg-type]


def test_room_is_made_by_the_oldest_alone(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path, retention=Retention(size=200_000)) as broker:
        any_ = broker.subscribe(ANY, id="any")
        for number in range(1_000):
            broker._core.publish([offer(number)])
        broker.publish(offer(1_000))
        upkeep(broker)
        left = told(any_)
        assert 100 < len(left) < 900
        assert left == ids(*range(1_001 - len(left), 1_001))
        with pytest.raises(CursorError, match="gone"):
            any_.page("1-1")


@pytest.mark.usefixtures("small_blocks")
def test_what_goes_with_events_counts_when_room_is_made(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path) as broker:
        those = [broker.subscribe(ANY, id=f"any{number}") for number in range(50)]
        for number in range(600):
            broker._core.publish([offer(number)])
        broker.publish(offer(600))
        upkeep(broker)
        with broker._core.database.reading() as reader:
            size = retentions.used(reader) // 2
    with tidings.Broker(tmp_path, retention=Retention(size=size)) as broker:
        for _ in range(5):
            broker._core.upkeep.little()
        with broker._core.database.reading() as reader:
            assert size // 2 < retentions.used(reader) <= size
        assert len(told(broker.subscription(those[0].id))) > 50


def test_a_part_of_the_events_is_one_wherever_they_stand(tmp_path: Path) -> None:
    """A copy goes on far behind the last place."""
    with tidings.Broker(tmp_path / "first") as broker:
        for number in range(160):
            broker._core.publish([offer(number)])
        broker.publish(offer(160))
        broker.backup(tmp_path / "copy")
    with tidings.Broker(tmp_path / "copy") as broker:
        broker.publish(offer(161))
        with broker._core.database.reading() as reader:
            assert retentions.oldest(reader, retentions.used(reader) - 1) == 11
            assert retentions.oldest(reader, retentions.used(reader)) == 0


def test_what_is_behind_deleted_events_is_told(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path) as broker:
        any_ = broker.subscribe(ANY, id="any")
        for number in range(10):
            broker.publish(offer(number))
        for id in ids(*range(2, 9)):
            broker.delete_event(id)
        page = any_.page(limit=2)
        assert [each.event.id for each in page.notifications] == ids(0, 1)
        assert [each.event.id for each in any_.page(page.cursor, limit=2).notifications] == ids(9)


# --------------------------------------------------------------------------------------------------------- looking back


def test_what_is_behind_one_that_looks_back_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when another version has taken its place, and the broker has ended meanwhile."""
    monkeypatch.setattr(upkeeps, "_PAUSE", 1_000.0)
    wanted = Wanted("", "s", CHEAP, "sparql", Options(), since=0)
    with tidings.Broker(tmp_path) as broker:
        broker.publish(offer(1))
        broker._core.upkeep._over.wait(0.1)
        broker._core.register(wanted, parse(CHEAP)).result()
        broker.publish(offer(2))
        broker._core.register(replace(wanted, query=ANY, since=None), parse(ANY)).result()
        broker.publish(offer(3))
        assert told(broker.subscription("s")) == []
    with tidings.Broker(tmp_path) as broker:
        broker._core.look_on()
        page = broker.subscription("s").page()
        assert [(each.event.id, each.version) for each in page.notifications] == [
            (event, version) for event, version in zip(ids(1, 2, 3), (1, 1, 2), strict=True)
        ]


def test_looking_back_goes_on_after_it_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, failed = looking.found, []

    def found(*arguments: Any) -> tuple[int, list[int]]:
        if not failed:
            failed.append(True)
            raise BrokerError("it", "the disk is full")
        return real(*arguments)

    monkeypatch.setattr(looking, "found", found)
    with tidings.Broker(tmp_path) as broker:
        broker.publish(offer(1))
        with pytest.raises(BrokerError):
            broker.subscribe(ANY, id="s", since=datetime.fromtimestamp(0, UTC))
        assert next(broker.subscription("s").listen(timeout=20)).event.id == ids(1)[0]


def test_what_is_done_each_second_is_not_more_with_many(tmp_path: Path) -> None:
    """Steps of SQLite's, by the hundred: to find who looks back, or is over, among those who do not and are not."""
    with tidings.Broker(tmp_path) as broker:
        those = [(Wanted("", f"s{number}", CHEAP, "sparql", Options()), parse(CHEAP)) for number in range(1_000)]
        broker._core.register_many(those).result()
        hundreds = []
        with broker._core.database.reading() as reader:
            reader.set_progress_handler(lambda: hundreds.append(1), 100)
            assert subscriptions.looking(reader) == []
            assert subscriptions.expired(reader, 0) == []
            reader.set_progress_handler(None, 0)
        assert len(hundreds) < 5
