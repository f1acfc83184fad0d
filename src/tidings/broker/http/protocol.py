"""A connection: what comes before the body is bounded, too, in size and in time.

Who opens connections and sends next to nothing on them would otherwise have them for ever, and a header that does not
end would be kept as long as it grows.
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from functools import partial
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from tidings.broker.http.problems import Problem
from tidings.broker.http.short import WHOLE
from tidings.broker.http.streaming import STRAIGHT

PATIENCE = 20.0
"""Seconds in which the head of a request has to be there."""

MOST = 1 << 16
"""Bytes of it, give or take what comes at once."""


class Protocol(HttpToolsProtocol):
    """Between `_begin_head` and `_end_head` a request line and headers are awaited."""

    _head: int | None = None
    _timer: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before = self._head
        super().data_received(data)
        if before is not None and self._head is not None:
            self._head += len(data)
            if self._head > MOST:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"headers may have {MOST:,} bytes together")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._head is None:
            self._begin_head()

    def on_headers_complete(self) -> None:
        self._end_head()
        super().on_headers_complete()
        if any(name == b"accept" and b"event-stream" in value for name, value in self.headers):
            # For these alone: it holds on to itself, and has to be looked for when it is gone.
            self.scope[STRAIGHT] = partial(_sent, self.cycle)  # type: ignore[literal-required]

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.scope[WHOLE] = True  # type: ignore[literal-required]

    def send_400_response(self, msg: str) -> None:
        self._refuse(HTTPStatus.BAD_REQUEST, "this is no HTTP request that can be understood")

    def _begin_head(self) -> None:
        self._head = 0
        self._timer = self.loop.call_later(PATIENCE, self._too_slow)

    def _end_head(self) -> None:
        self._head = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        if self._head:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "the request came too slowly")
        elif not self.transport.is_closing():
            self.transport.close()

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        self._end_head()
        if self.transport.is_closing():
            return
        answer = Problem(status, detail, headers={"connection": "close"}).response()
        head = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
        head += [name + b": " + value for name, value in answer.raw_headers]
        self.transport.write(b"\r\n".join([*head, b"", bytes(answer.body)]))
        self.transport.close()


def _sent(cycle: RequestResponseCycle, text: str) -> bool:
    """Send the next piece of an answer that goes on, if there is room for it just now."""
    if (
        cycle.flow.write_paused
        or cycle.disconnected
        or not cycle.chunked_encoding
        or not cycle.response_started
        or cycle.response_complete
        or cycle.transport.is_closing()
    ):
        return False
    data = text.encode()
    cycle.transport.write(b"%x\r\n%b\r\n" % (len(data), data))
    return True
