"""What do feeds cost those who have them, and how late is their news? Many who poll, against one broker who does.

Figures 2 and 3 of the G-ToPSS paper are drawings of this, without numbers: aggregators that poll a popular feed, and
aggregators that have a broker tell them. Here they are counted. Time is compressed: an interval that would be half an
hour is a second or two, and so all delays are told in intervals, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from random import Random

from tidings.bench.feeds_world import QUERY, Broker, Feeds, Heard, aggregator, subscriber
from tidings.bench.report import Claim, Curve, Figure, Report, Row, Table
from tidings.bench.settings import Settings
from tidings.broker.client import AsyncClient

POLL, BROKER, WEBSUB = "each polls", "broker polls", "broker, WebSub"
WAYS = (POLL, BROKER, WEBSUB)
_STANDS_FOR = "30 minutes"
_STREAMS = 50
"""Streams that share a client: it has so many connections and no more."""

_CONSTANT = 1.5
"""By so much the requests of a broker may differ from those for one subscriber."""

_LINEAR = 0.7
"""At least this part of as many times the requests of one, as there are of them."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """`interval` and `seconds` are in seconds; `items` are how many come in an interval, of all feeds."""

    subscribers: tuple[int, ...]
    feeds: int
    interval: float
    seconds: float
    items: float


FULL = Sizes((1, 10, 30, 100), 5, 2.0, 20.0, 2.0)
QUICK = Sizes((1, 4), 2, 0.4, 1.6, 4.0)


@dataclass(frozen=True, slots=True)
class Found:
    """What was counted of one way: at the server of the feeds, and with those who were told."""

    way: str
    subscribers: int
    requests: int
    in_vain: int
    pushes: int
    moved: int
    items: int
    delays: Sequence[float]

    @property
    def missed(self) -> int:
        return self.items * self.subscribers - len(self.delays)

    def delay(self, share: float) -> float:
        ordered = sorted(self.delays)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

    def row(self, sizes: Sizes) -> Row:
        intervals = sizes.seconds / sizes.interval
        return {
            "way": self.way,
            "subscribers": self.subscribers,
            "requests": self.requests,
            "a feed and interval": self.requests / sizes.feeds / intervals,
            "of which in vain": self.in_vain,
            "pushes": self.pushes,
            "kB": self.moved / 1e3,
            "items": self.items,
            "missed": self.missed,
            "delay, median s": self.delay(0.5),
            "95 % s": self.delay(0.95),
            "median intervals": self.delay(0.5) / sizes.interval,
        }


def run(settings: Settings) -> Report:
    sizes = QUICK if settings.quick else FULL
    found = [
        asyncio.run(_measured(way, count, sizes, settings.seed, settings.tell))
        for count in sizes.subscribers
        for way in WAYS
    ]
    described: Row = {
        "feeds": sizes.feeds,
        "interval": f"{sizes.interval:g} s, which stands for {_STANDS_FOR}",
        "measured for": f"{sizes.seconds:g} s",
        "new items in an interval": sizes.items,
        "subscribers": ", ".join(map(str, sizes.subscribers)),
        "seed": settings.seed,
    }
    note = (
        "Requests, and polls in vain (304), are those that the server of the feeds saw; pushes are what its hub sent "
        "to the broker; bytes are of both. All ask by conditional requests. A delay is from when an item was published "
        "to when one subscriber had it, over a stream where a broker tells him. All of it, the feeds included, is in "
        "one process on loopback."
    )
    table = Table("Requests to the feeds, and delay", tuple(each.row(sizes) for each in found), note)
    claims = tuple(replace(each, holds=None) if settings.quick else each for each in _claims(found, sizes))
    question = "what do feeds cost those who have them, and how late is their news?"
    return Report("feeds", question, described, (table,), _figures(found), claims)


async def _measured(way: str, count: int, sizes: Sizes, seed: int, tell: Callable[[str], None]) -> Found:
    tell(f"{count} subscribers, {way}")
    dice = Random(f"{seed} {way} {count}")
    feeds = Feeds(sizes.feeds, hub=way == WEBSUB)
    heard = Heard(feeds)
    async with feeds.serving():
        listen = _polling if way == POLL else _brokered
        async with listen(feeds, count, sizes, heard, dice, way):
            # What it took to begin is not counted.
            feeds.requests = feeds.in_vain = feeds.pushes = feeds.moved = 0
            end = asyncio.get_running_loop().time() + sizes.seconds
            await _publish(feeds, sizes, dice, end)
            counted = feeds.requests, feeds.in_vain, feeds.pushes, feeds.moved
            await _until_heard(heard, count, 3 * sizes.interval + 5)
    return Found(way, count, *counted, len(feeds.published), tuple(heard.delays))


async def _publish(feeds: Feeds, sizes: Sizes, dice: Random, end: float) -> None:
    """Items at moments that nobody knows beforehand, until it is over."""
    loop = asyncio.get_running_loop()
    due = loop.time()
    while (due := due + dice.expovariate(sizes.items / sizes.interval)) < end:
        await asyncio.sleep(max(0.0, due - loop.time()))
        await feeds.publish(dice.randrange(feeds.count))
    await asyncio.sleep(max(0.0, end - loop.time()))


async def _until_heard(heard: Heard, count: int, patience: float) -> None:
    end = asyncio.get_running_loop().time() + patience
    while len(heard.delays) < count * len(heard.feeds.published) and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.02)


@asynccontextmanager
async def _polling(feeds: Feeds, count: int, sizes: Sizes, heard: Heard, dice: Random, way: str) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(aggregator(feeds, sizes.interval, heard, dice)) for _ in range(count)]
    await asyncio.sleep(sizes.interval)
    try:
        yield
    finally:
        await _over(tasks)


@asynccontextmanager
async def _brokered(
    feeds: Feeds, count: int, sizes: Sizes, heard: Heard, dice: Random, way: str
) -> AsyncIterator[None]:
    broker = await asyncio.to_thread(Broker, sizes.interval, hubs=way == WEBSUB)
    try:
        async with AsyncExitStack() as stack:
            client, *others = [
                await stack.enter_async_context(AsyncClient(broker.url)) for _ in range(2 + count // _STREAMS)
            ]
            tasks = []
            for number in range(count):
                await client.subscribe(f"s{number}", QUERY)
                listening = subscriber(others[number // _STREAMS], f"s{number}", heard)
                tasks.append(asyncio.create_task(listening))
            stack.push_async_callback(_over, tasks)
            for url in feeds.addresses():
                await client.add_feed(url)
                await asyncio.sleep(sizes.interval / feeds.count)
            await _ready(client, hubs=way == WEBSUB)
            yield
    finally:
        await asyncio.to_thread(broker.close)


async def _ready(client: AsyncClient, *, hubs: bool) -> None:
    """All feeds have been read, and where there are hubs, these tell."""
    while True:
        those = [each async for each in client.feeds()]
        if all("polled" in each and (not hubs or each.get("hub", {}).get("state") == "active") for each in those):
            if hubs:
                # So that they are known to be told of, and are not asked for in between.
                for each in those:
                    await client.poll_feed(each["id"])
            return
        await asyncio.sleep(0.02)


async def _over(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks, return_exceptions=True)


# --------------------------------------------------------------------------------------------------------- what it says


def _of(found: Sequence[Found], way: str) -> list[Found]:
    return [each for each in found if each.way == way]


def _figures(found: Sequence[Found]) -> tuple[Figure, ...]:
    def curves(value: Callable[[Found], float]) -> tuple[Curve, ...]:
        return tuple(
            Curve(way, tuple(each.subscribers for each in those), tuple(value(each) for each in those))
            for way in WAYS
            for those in [_of(found, way)]
        )

    requests = curves(lambda each: max(each.requests, 0.5))
    delays = curves(lambda each: each.delay(0.5) * 1_000)
    return (
        Figure(
            "feeds-requests",
            "Requests to the feeds",
            "subscribers",
            "requests (none: drawn at 0.5)",
            requests,
            True,
            True,
        ),
        Figure("feeds-delay", "From published to told, median", "subscribers", "ms", delays, True, True),
    )


def _claims(found: Sequence[Found], sizes: Sizes) -> Iterator[Claim]:
    first, last = ({each.way: each for each in found if each.subscribers == n} for n in _ends(sizes))
    many = last[POLL].subscribers
    yield Claim(
        "G-ToPSS, figure 2",
        "where every aggregator polls, the requests to a feed grow with how many there are",
        last[POLL].requests >= _LINEAR * many / first[POLL].subscribers * first[POLL].requests,
        f"{first[POLL].requests:,} for {first[POLL].subscribers}, {last[POLL].requests:,} for {many}",
    )
    yield Claim(
        "G-ToPSS, figure 3",
        "with a broker the number of polls of feed sites is reduced significantly",
        last[BROKER].requests <= _CONSTANT * max(1, first[BROKER].requests)
        and last[BROKER].requests * 2 < max(2, last[POLL].requests),
        f"{last[BROKER].requests:,} for {many} subscribers, {first[BROKER].requests:,} for "
        f"{first[BROKER].subscribers}; {last[POLL].requests:,} without one",
    )
    vain = last[POLL].in_vain / max(1, last[POLL].requests)
    yield Claim(
        "G-ToPSS",
        "polling consumes unnecessary resources",
        vain > 0.5,
        f"{vain:.0%} of {last[POLL].requests:,} polls found nothing new",
    )
    yield Claim(
        "G-ToPSS",
        "polling makes it difficult to ensure timely delivery; who is told need not wait for the next poll",
        last[WEBSUB].delay(0.5) < last[POLL].delay(0.5) / 2 and not last[WEBSUB].missed,
        f"median delay {last[POLL].delay(0.5):.2f} s where each polls, {last[BROKER].delay(0.5):.2f} s where the "
        f"broker does, {last[WEBSUB].delay(0.5):.3f} s by WebSub, of intervals of {sizes.interval:g} s; missed "
        f"{last[POLL].missed}, {last[BROKER].missed} and {last[WEBSUB].missed}",
    )


def _ends(sizes: Sizes) -> tuple[int, int]:
    return sizes.subscribers[0], sizes.subscribers[-1]
