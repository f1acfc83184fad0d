"""Who reads a stream is given what is accepted, and looks for himself where that is not all."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from tests.unit.broker.offers import CHEAP, offer

from tidings.broker.broker import Broker
from tidings.broker.http import hub as hub_module
from tidings.broker.http.hub import Given, Hub, Reader
from tidings.broker.http.waiting import STILL_HERE
from tidings.broker.options import Carries

IDS = Carries("ids")


async def _given(reader: Reader) -> list[int]:
    await reader.wait()
    return [given.seq for given in reader.take()]


def test_a_reader_is_given_what_comes_once_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "silence", lambda: 0.01)

    async def run() -> None:
        with Broker() as broker:
            stream = broker.subscribe(CHEAP, id="s").stream
            hub = Hub(broker._core)
            await asyncio.to_thread(broker.publish, offer(1))
            with hub.reading(stream, IDS) as reader:
                for number in (2, 3, 4):
                    await asyncio.to_thread(broker.publish, offer(number))
                found: list[int] = []
                while len(found) < 3:
                    found += await _given(reader)
                assert found == [2, 3, 4]
                assert not reader.must_look
                assert not await reader.wait()
            assert hub.listening == 0
            hub.close()

    asyncio.run(run())


def test_what_lies_before_his_place_is_not_given_again() -> None:
    async def run() -> None:
        reader = Reader(IDS)
        for seq in (5, 6, 7):
            reader.give(Given(seq, f"{seq}", 0))
        reader.place = 5
        assert await _given(reader) == [6, 7]
        assert reader.place == 7
        assert reader.take() == []

    asyncio.run(run())


def test_who_does_not_read_has_to_look() -> None:
    reader = Reader(IDS)
    for seq in range(100):
        reader.give(Given(seq, "x" * 20_000, 0))
    assert reader.must_look
    assert sum(len(given.text) for given in reader.take()) <= 1 << 20


def test_one_that_looks_back_or_ends_has_its_reader_look() -> None:
    async def run() -> None:
        with Broker() as broker:
            broker.publish(offer(1))
            since = datetime(2020, 1, 1, tzinfo=UTC)
            subscription = broker.subscribe(CHEAP, id="s", since=since)
            hub = Hub(broker._core)
            with hub.reading(subscription.stream, IDS) as reader:
                await asyncio.to_thread(broker.publish, offer(2))
                assert await reader.wait()
                assert reader.must_look
                assert reader.take() == []
                reader.must_look = False
                await asyncio.to_thread(subscription.cancel)
                assert await reader.wait()
                assert reader.must_look
            hub.close()

    asyncio.run(run())


def test_all_who_read_the_same_are_given_the_same() -> None:
    async def run() -> None:
        with Broker() as broker:
            stream = broker.subscribe(CHEAP, id="s").stream
            hub = Hub(broker._core)
            with hub.reading(stream, IDS) as one, hub.reading(stream, Carries("event")) as other:
                await asyncio.to_thread(broker.publish, offer(1))
                assert await one.wait()
                assert await other.wait()
                [short], [longer] = one.take(), other.take()
                assert short.seq == longer.seq == 1
                assert len(longer.text) > len(short.text)
            hub.close()

    asyncio.run(run())


class _Connection:
    """It takes what is sent as long as it is `free`."""

    def __init__(self) -> None:
        self.free = True
        self.sent: list[str] = []

    def __call__(self, text: str) -> bool:
        if self.free:
            self.sent.append(text)
        return self.free


def test_who_only_waits_is_sent_it_straight() -> None:
    async def run() -> None:
        connection = _Connection()
        reader = Reader(IDS, connection)
        assert not reader.give(Given(1, "1", 0))
        assert connection.sent == []
        assert await _given(reader) == [1]
        waiting = asyncio.create_task(reader.wait())
        await asyncio.sleep(0)
        assert [reader.give(Given(seq, f"{seq}", 0)) for seq in (1, 2, 3)] == [False, False, False]
        assert await waiting
        assert [each.seq for each in reader.take()] == [2, 3]
        waiting = asyncio.create_task(reader.wait())
        await asyncio.sleep(0)
        assert [reader.give(Given(seq, f"{seq}", 0)) for seq in (4, 5)] == [True, True]
        assert (connection.sent, reader.place) == (["4", "5"], 5)
        # One that does not take more now, and then does: nothing overtakes what waits.
        connection.free = False
        assert not reader.give(Given(6, "6", 0))
        connection.free = True
        assert not reader.give(Given(7, "7", 0))
        assert await waiting
        assert [each.seq for each in reader.take()] == [6, 7]
        assert connection.sent == ["4", "5"]

    asyncio.run(run())


def test_a_connection_is_kept_awake_straight() -> None:
    async def run() -> None:
        connection = _Connection()
        reader = Reader(IDS, connection)
        waiting = asyncio.create_task(reader.wait())
        await asyncio.sleep(0)
        now = asyncio.get_running_loop().time()
        reader.tick(now)
        assert connection.sent == []
        assert reader.tick(now + 31) > now + 45
        reader.tick(now + 32)
        assert connection.sent == [STILL_HERE]
        connection.free = False
        reader.tick(now + 90)
        assert not await waiting

    asyncio.run(run())
