"""Those who wait in the server's loop: for the notifications of a stream, or for anything at all.

Who reads a stream is given what it says as it is accepted, without a look into the database. What he is given begins
when he comes; so he looks at what was before that, until there is nothing left, and then takes what he was given behind
it. Where that is too much to hold, or something else than an event has changed, he has to look again.

As long as he does nothing but wait, what he is given goes straight to his connection: to wake the task of each reader
takes several times as long as what it would do then.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush, heapreplace
from typing import NamedTuple, TypeAlias, TypeVar

from tidings.broker.core import Core, News
from tidings.broker.http.telling import Job, Said, Tellers
from tidings.broker.http.waiting import STILL_HERE, silence
from tidings.broker.options import Carries

T = TypeVar("T")
_HELD = 1 << 20
"""Characters that wait for a reader at most."""

_TICK = 0.5
"""Seconds after which those who wait are told how late it is."""


Straight: TypeAlias = Callable[[str], bool]
"""Sends a text at once; whether it could."""


class Given(NamedTuple):
    """What is said of an event, which was accepted at that moment (in microseconds since 1970)."""

    seq: int
    text: str
    accepted: int


class Reader:
    """Somebody who reads a stream, until he is `gone`, and has come to `place` in it. `must_look` says that there may
    be something that he was not given. `straight` is his connection, where there is one that can be written to.
    """

    def __init__(self, carries: Carries, straight: Straight | None = None) -> None:
        self.carries = carries
        self.must_look = False
        self.gone = False
        self.place = 0
        self._straight = straight
        self._silence = silence()
        self._given: deque[Given] = deque()
        self._size = 0
        self._new = False
        self._waiting: asyncio.Future[None] | None = None
        self._until = 0.0

    async def wait(self) -> bool:
        """Whether there is something new, before he has been silent for too long, as the hub counts it: a clock for
        each of thousands who wait would be most of what they cost.
        """
        if not self._new:
            loop = asyncio.get_running_loop()
            self._until = loop.time() + self._silence
            self._waiting = loop.create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        found, self._new = self._new, False
        return found

    @property
    def _only_waits(self) -> bool:
        """He has nothing left to send himself."""
        return self._waiting is not None and not self._waiting.done() and not self.must_look and not self._given

    def tick(self, now: float) -> float:
        """It is that late. When he has to be told again."""
        if now >= self._until:
            if self._straight is not None and self._only_waits and self._straight(STILL_HERE):
                self._until = now + self._silence
            else:
                self._wake()
        return max(self._until, now + _TICK)

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def take(self) -> list[Given]:
        """What he was given, of events behind his place, which is behind them from now on."""
        found = [each for each in self._given if each.seq > self.place]
        self._given.clear()
        self._size = 0
        if found:
            self.place = found[-1].seq
        return found

    def give(self, given: Given, now: float = 0.0) -> bool:
        """Whether it has been sent; otherwise he has it to take."""
        if self._straight is not None and self._only_waits and given.seq > self.place and self._straight(given.text):
            self.place = given.seq
            self._until = now + self._silence
            return True
        self._given.append(given)
        self._size += len(given.text)
        if self._size > _HELD:
            self._given.clear()
            self._size = 0
            self.must_look = True
        self._new = True
        self._wake()
        return False

    def leave(self) -> None:
        """He is found a while yet where silence is watched, but his connection is not held by that."""
        self.gone = True
        self._straight = None

    def look(self) -> None:
        self.must_look = True
        self._new = True
        self._wake()


class Hub:
    """One call into the loop for all that a transaction brings."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._readers: defaultdict[int, set[Reader]] = defaultdict(set)
        self._waiting: defaultdict[int, set[asyncio.Event]] = defaultdict(set)
        self._silent_by: list[tuple[float, int, Reader]] = []
        self._numbers = itertools.count()
        self._loop = asyncio.get_running_loop()
        self._tellers = Tellers(core, self._told)
        self._silent = core.listen(self._rung)
        self.closing = False
        self._ticking = self._loop.call_later(_TICK, self._tick)

    def close(self) -> None:
        """Wake everybody, so that they can end. It may be called again."""
        if self.closing:
            return
        self._silent()
        self._tellers.close()
        self._ticking.cancel()
        self.closing = True
        for flags in self._waiting.values():
            for flag in flags:
                flag.set()
        for readers in self._readers.values():
            for reader in readers:
                reader.look()

    @property
    def listening(self) -> int:
        return sum(map(len, self._waiting.values())) + sum(map(len, self._readers.values()))

    @contextmanager
    def reading(self, stream: int, carries: Carries, straight: Straight | None = None) -> Iterator[Reader]:
        """Be given what the stream says from now on."""
        reader = Reader(carries, straight)
        heappush(self._silent_by, (self._loop.time() + _TICK, next(self._numbers), reader))
        try:
            with _member(self._readers, stream, reader):
                yield reader
        finally:
            reader.leave()

    @contextmanager
    def waiting(self, stream: int) -> Iterator[asyncio.Event]:
        """A flag that is set when the stream has something new."""
        flag = asyncio.Event()
        with _member(self._waiting, stream, flag):
            yield flag

    # From here on, in the thread that writes, or in those that make texts. Looked at without a lock: who comes
    # meanwhile looks for himself.

    def _rung(self, news: News) -> None:
        wake = [stream for stream in news if stream in self._waiting]
        look = []
        jobs: list[Job] = []
        for stream in self._readers.keys() & news.keys() if len(news) > len(self._readers) else news:
            readers = self._readers.get(stream)
            if not readers:
                continue
            if news[stream]:
                jobs.append((stream, news[stream], frozenset([reader.carries for reader in tuple(readers)])))
            else:
                look.append(stream)
        look += self._tellers.tell(jobs)
        if wake or look:
            self._loop.call_soon_threadsafe(self._wake, wake, look)

    def _told(self, said: list[Said]) -> None:
        self._loop.call_soon_threadsafe(self._give, said)

    # And in the loop again.

    def _wake(self, wake: list[int], look: list[int]) -> None:
        for stream in wake:
            for flag in self._waiting.get(stream, ()):
                flag.set()
        for stream in look:
            for reader in self._readers.get(stream, ()):
                reader.look()

    def _give(self, said: list[Said]) -> None:
        now = self._loop.time()
        sent: Counter[int] = Counter()
        for stream, logged, texts in said:
            for reader in self._readers.get(stream, ()):
                text = None if texts is None else texts.get(reader.carries)
                if text is None:
                    reader.look()
                elif reader.give(Given(logged.seq, text, logged.accepted), now):
                    sent[logged.accepted] += 1
        for accepted, count in sent.items():
            self.count_told(accepted, count)

    def count_told(self, accepted: int, count: int) -> None:
        """So many notifications were handed over, of events that were accepted at that moment."""
        figures = self._core.figures
        figures.count("told_streams", count)
        figures.delivery["stream"].add((self._core.now() - accepted) / 1e6, count)

    def _tick(self) -> None:
        """Only who may have been silent for too long is looked at: to look at thousands would hold up all others."""
        now = self._loop.time()
        while self._silent_by and self._silent_by[0][0] <= now:
            _, number, reader = self._silent_by[0]
            if reader.gone:
                heappop(self._silent_by)
            else:
                heapreplace(self._silent_by, (reader.tick(now), number, reader))
        self._ticking = self._loop.call_later(_TICK, self._tick)


@contextmanager
def _member(of: defaultdict[int, set[T]], stream: int, member: T) -> Iterator[None]:
    of[stream].add(member)
    try:
        yield
    finally:
        of[stream].discard(member)
        if not of[stream]:
            del of[stream]
