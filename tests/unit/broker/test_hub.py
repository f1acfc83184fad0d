"""Who reads a stream is given what is accepted, and looks for himself where that is not all."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from tests.unit.broker.offers import CHEAP, offer

from tidings.broker.broker import Broker
from tidings.broker.http.hub import Given, Hub, Reader
from tidings.broker.options import Carries

IDS = Carries("ids")


async def _given(reader: Reader, place: int = 0) -> list[int]:
    await reader.wait(5)
    return [given.seq for given in reader.take(place)]


def test_a_reader_is_given_what_comes_once_and_in_order() -> None:
    async def run() -> None:
        with Broker() as broker:
            stream = broker.subscribe(CHEAP, id="s").stream
            hub = Hub(broker._core)
            await asyncio.to_thread(broker.publish, offer(1))
            with hub.reading(stream, IDS) as reader:
                for number in (2, 3, 4):
                    await asyncio.to_thread(broker.publish, offer(number))
                found: list[int] = []
                async with asyncio.timeout(20):
                    while len(found) < 3:
                        found += await _given(reader)
                assert found == [2, 3, 4]
                assert not reader.must_look
                assert not await reader.wait(0.01)
            assert hub.listening == 0
            hub.close()

    asyncio.run(run())


def test_what_lies_before_his_place_is_not_given_again() -> None:
    async def run() -> None:
        reader = Reader(IDS)
        for seq in (5, 6, 7):
            reader.give(Given(seq, f"{seq}", 0))
        assert await _given(reader, 5) == [6, 7]
        assert reader.take(0) == []

    asyncio.run(run())


def test_who_does_not_read_has_to_look() -> None:
    reader = Reader(IDS)
    for seq in range(100):
        reader.give(Given(seq, "x" * 20_000, 0))
    assert reader.must_look
    assert sum(len(given.text) for given in reader.take(0)) <= 1 << 20


def test_one_that_looks_back_or_ends_has_its_reader_look() -> None:
    async def run() -> None:
        with Broker() as broker:
            broker.publish(offer(1))
            since = datetime(2020, 1, 1, tzinfo=UTC)
            subscription = broker.subscribe(CHEAP, id="s", since=since)
            hub = Hub(broker._core)
            with hub.reading(subscription.stream, IDS) as reader:
                await asyncio.to_thread(broker.publish, offer(2))
                assert await reader.wait(5)
                assert reader.must_look
                assert reader.take(0) == []
                reader.must_look = False
                await asyncio.to_thread(subscription.cancel)
                assert await reader.wait(5)
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
                assert await one.wait(5)
                assert await other.wait(5)
                [short], [long] = one.take(0), other.take(0)
                assert short.seq == long.seq == 1
                assert len(long.text) > len(short.text)
            hub.close()

    asyncio.run(run())
