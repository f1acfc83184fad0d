"""Load on a broker, from this process: publishers that wait for each answer, or go by the clock, and open streams.

It speaks HTTP by hand, as little as will do: what the load takes of the machine is not the server's.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

from tidings.bench.broker_world import Requests, Running

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)
_TOLD = re.compile(rb'\ndata: \{.*?"event": "([^"]*)".*?\}\n\n')
_TOGETHER = 200
"""Streams that are opened at the same time."""

_KNOWN = 30.0
"""Seconds for which it is known when an event was due."""


class _Publisher(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[int] | None = None
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError("the server is gone"))

    def ask(self, request: bytes) -> asyncio.Future[int]:
        """The status of the answer, when it is all there."""
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._answer

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, rest = self._data.partition(b"\r\n\r\n")
        length = _LENGTH.search(head + b"\r\n")
        if found and length is not None and len(rest) >= int(length[1]):
            self._data = b""
            assert self._answer is not None
            self._answer.set_result(int(head[9:12]))

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()


async def _publishers(server: Running, count: int) -> list[_Publisher]:
    loop = asyncio.get_running_loop()
    return [(await loop.create_connection(_Publisher, server.host, server.port))[1] for _ in range(count)]


def _taken(status: int) -> None:
    if status != 202:
        raise RuntimeError(f"an event was not taken: {status}")


async def sustained(server: Running, requests: Requests, publishers: int, seconds: float) -> float:
    """Events a second, as fast as they are taken from so many who each wait for their answer."""
    connections = await _publishers(server, publishers)
    begun = perf_counter()
    done = 0

    async def publish(connection: _Publisher) -> None:
        nonlocal done
        while perf_counter() - begun < seconds:
            _taken(await connection.ask(next(requests)[1]))
            done += 1

    await asyncio.gather(*map(publish, connections))
    took = perf_counter() - begun
    for connection in connections:
        connection.close()
    return done / took


class _Stream(asyncio.Protocol):
    """An open stream: tells of each event that it hears of."""

    def __init__(self, request: bytes, told: Callable[[bytes], None], opened: Callable[[], None]) -> None:
        self._request = request
        self._told = told
        self._opened = opened
        self._data = b""
        self._open = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self._open and b"\r\n\r\n" in self._data:
            if not self._data.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(f"a stream is refused: {self._data[:200]!r}")
            self._open = True
            self._opened()
        end = 0
        for found in _TOLD.finditer(self._data):
            self._told(found[1])
            end = found.end()
        self._data = self._data[end:] if end or len(self._data) < 1 << 16 else b""


@dataclass(slots=True)
class Heard:
    """What became of events that were published by the clock. `delays` are from when an event was due to be published,
    whether or not the load came to it in time, to when a stream told of it; `unknown` are those that were told too late
    to know."""

    published: int = 0
    opened: int = 0
    unknown: int = 0
    delays: list[float] = field(default_factory=list)
    _due: OrderedDict[bytes, float] = field(default_factory=OrderedDict)

    def publish(self, event: str, due: float) -> None:
        self.published += 1
        self._due[event.encode()] = due

    def told(self, event: bytes) -> None:
        due = self._due.get(event)
        if due is None:
            self.unknown += 1
        else:
            self.delays.append(perf_counter() - due)

    def forget(self, before: float) -> None:
        """Those that were due before; they are in that order."""
        while self._due and next(iter(self._due.values())) < before:
            self._due.popitem(last=False)


async def opened(server: Running, heard: Heard, ids: list[str]) -> list[_Stream]:
    """A stream of each of these subscriptions, from now on, when all are open."""
    loop = asyncio.get_running_loop()
    streams: list[_Stream] = []

    def count() -> None:
        heard.opened += 1

    for start in range(0, len(ids), _TOGETHER):
        for id in ids[start : start + _TOGETHER]:
            path = f"/v1/subscriptions/{id}/notifications?after=latest"
            request = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n".encode()
            make = partial(_Stream, request, heard.told, count)
            _, stream = await loop.create_connection(make, server.host, server.port)
            streams.append(stream)
        while heard.opened < len(streams):
            await asyncio.sleep(0.01)
    return streams


async def by_the_clock(
    server: Running,
    requests: Requests,
    heard: Heard,
    *,
    rate: float,
    seconds: float,
    publishers: int,
    look: Callable[[float], None],
) -> None:
    """Publish so many events a second, whether or not those before have been answered. `look` is called each second."""
    connections = await _publishers(server, publishers)
    free: asyncio.Queue[_Publisher] = asyncio.Queue()
    for connection in connections:
        free.put_nowait(connection)
    begun = perf_counter()
    looked = begun

    def answered(connection: _Publisher, answer: asyncio.Future[int]) -> None:
        _taken(answer.result())
        free.put_nowait(connection)

    while (now := perf_counter()) < begun + seconds:
        if now >= looked + 1:
            looked = now
            look(now - begun)
            heard.forget(now - _KNOWN)
        due = begun + heard.published / rate
        if due > now:
            await asyncio.sleep(due - now)
        connection = await free.get()
        id, request = next(requests)
        heard.publish(id, due)
        connection.ask(request).add_done_callback(partial(answered, connection))
    for _ in connections:
        (await free.get()).close()
