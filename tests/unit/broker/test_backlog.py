"""What waits for a subscriber is bounded: the oldest goes, his next cursor says so, and nobody else notices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from tests.unit.broker.offers import ANY, CHEAP, ids, offer, told

import tidings
from tidings.broker import backlog, gone, postings
from tidings.broker.retention import Retention
from tidings.errors import CursorError

TEN = Retention(backlog=10)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[tidings.Broker]:
    with still(tidings.Broker(tmp_path, retention=TEN)) as made:
        yield made


def still(broker: tidings.Broker) -> tidings.Broker:
    """It looks after itself only when it is told to."""
    broker._core.upkeep.close()
    broker._core.upkeep._over.clear()
    return broker


def upkeep(broker: tidings.Broker) -> None:
    broker._core.upkeep.once()


def test_the_oldest_go_and_who_was_behind_is_told(broker: tidings.Broker) -> None:
    slow, quick = broker.subscribe(ANY, id="slow"), broker.subscribe(CHEAP, id="quick")
    start = slow.page().cursor
    for number in range(12):
        broker.publish(offer(number))
        quick.ack(quick.page().cursor)
        upkeep(broker)
    # Eleven were one too many: that one went, and a tenth of ten with it. One has come since.
    assert told(slow) == ids(*range(2, 12))
    with pytest.raises(CursorError, match="notifications behind it are gone"):
        slow.page(start)
    assert slow.page().missed == "1-2"
    assert quick.page(f"{quick.stream}-0").notifications[0].event.id == ids(0)[0]
    assert quick.page().missed is None
    slow.ack("1-2")
    assert slow.page().missed is None


def test_who_acknowledges_may_hear_any_number(broker: tidings.Broker) -> None:
    cheap = broker.subscribe(CHEAP)
    for number in range(50):
        broker.publish(offer(number))
        if number % 9 == 8:
            cheap.ack(cheap.page().cursor)
        upkeep(broker)
    assert told(cheap) == ids(*range(45, 50))
    assert cheap.page(f"{cheap.stream}-0").notifications[0].event.id == ids(0)[0]
    assert broker._core.backlog.waiting(cheap.stream) == 5


def test_a_reader_who_is_at_the_end_loses_nothing(broker: tidings.Broker) -> None:
    """He never acknowledges, and does not have to."""
    cheap, heard = broker.subscribe(CHEAP), []
    place = cheap.page().cursor
    for number in range(40):
        broker.publish(offer(number))
        upkeep(broker)
        page = cheap.page(place)
        heard += [each.event.id for each in page.notifications]
        place = page.cursor
    assert heard == ids(*range(40))


def test_versions_are_counted_together(broker: tidings.Broker) -> None:
    broker.subscribe(CHEAP, id="s")
    for number in range(8):
        broker.publish(offer(number))
    second = broker.subscribe(ANY, id="s")
    for number in range(8, 14):
        broker.publish(offer(number))
    upkeep(broker)
    assert told(second) == ids(*range(5, 14))


def test_what_looks_back_is_counted_too(broker: tidings.Broker) -> None:
    for number in range(20):
        broker.publish(offer(number))
    late = broker.subscribe(CHEAP, since=datetime.now(UTC) - timedelta(days=1))
    assert len(told(late)) == 20
    upkeep(broker)
    broker.publish(offer(20))
    assert told(late) == ids(*range(11, 21))


def test_it_is_counted_again_after_a_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "BLOCK", 4)
    with still(tidings.Broker(tmp_path, retention=Retention(backlog=1_000))) as broker:
        broker.subscribe(CHEAP, id="s")
        broker.subscribe(ANY, id="read")
        broker.subscribe(ANY, id="gone").cancel()
        for number in range(30):
            broker.publish(offer(number))
        upkeep(broker)
        broker.subscription("read").ack(broker.subscription("read").page(limit=25).cursor)
    with still(tidings.Broker(tmp_path, retention=TEN)) as broker:
        broker.publish(offer(30))
        for _ in range(20):
            upkeep(broker)
        assert told(broker.subscription("s")) == ids(*range(22, 31))
        assert told(broker.subscription("read")) == ids(*range(25, 31))
        counted = broker._core.backlog
        assert (counted.waiting(1), counted.waiting(2), counted.total, counted.largest) == (9, 6, 15, 9)


def test_far_too_many_go_in_stages(broker: tidings.Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "_MORE", 0)
    cheap = broker.subscribe(CHEAP)
    for number in range(90):
        broker.publish(offer(number))
    for _ in range(10):
        upkeep(broker)
    assert told(cheap) == ids(*range(81, 90))


def test_what_was_counted_as_gone_does_not_go_again(broker: tidings.Broker) -> None:
    """As where marks were written, and something failed before the events went."""
    cheap, core = broker.subscribe(CHEAP), broker._core
    for number in range(8):
        broker.publish(offer(number))
    gone_too = np.full(3, cheap.stream), np.arange(1, 4)
    core.change(lambda writer: gone.write(writer, *gone_too)).result()
    core.backlog.acknowledged(cheap.stream, 0, None)
    core.backlog.once()
    assert core.backlog.waiting(cheap.stream) == 5
    core.backlog.removed(*gone_too)
    assert core.backlog.waiting(cheap.stream) == 5


def test_what_has_ended_is_not_counted(broker: tidings.Broker) -> None:
    cheap = broker.subscribe(CHEAP)
    broker.publish(offer(1))
    assert broker._core.backlog.total == 1
    cheap.cancel()
    assert broker._core.backlog.total == 0


def test_what_has_ended_leaves_nothing_behind(broker: tidings.Broker) -> None:
    cheap, backlog = broker.subscribe(CHEAP), broker._core.backlog
    broker.publish(offer(1))
    cheap.cancel()
    backlog.removed(np.full(1, cheap.stream), np.full(1, 1))
    assert cheap.stream not in backlog._counts
    assert cheap.stream not in backlog._positions


def test_deleted_events_do_not_hide_those_behind_them(broker: tidings.Broker) -> None:
    cheap = broker.subscribe(CHEAP)
    for number in range(8):
        broker.publish(offer(number))
    for id in ids(*range(1, 7)):
        broker.delete_event(id)
    first = cheap.page(limit=1)
    assert [each.event.id for each in first.notifications] == ids(0)
    assert [each.event.id for each in cheap.page(first.cursor, limit=1).notifications] == ids(7)


def test_a_page_has_so_many_bytes(broker: tidings.Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.broker.core._PAGE_BYTES", 3 * len(offer(1).body))
    cheap = broker.subscribe(CHEAP)
    for number in range(8):
        broker.publish(offer(number))
    first = cheap.page()
    assert [each.event.id for each in first.notifications] == ids(0, 1, 2)
    assert [each.event.id for each in cheap.page(first.cursor).notifications] == ids(3, 4, 5)
