"""A connection: what comes before the body is bounded, too, in size and in time.

Who opens connections and sends next to nothing on them would otherwise have them for ever, and a header that does not
end would be kept as long as it grows.

A request that publishes, and asks for nothing else, is answered from here (see `short`).
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from collections.abc import Iterable
from functools import partial
from http import HTTPStatus
from itertools import chain

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from tidings.broker.http.front import ADDED
from tidings.broker.http.problems import Problem
from tidings.broker.http.short import PATH, Short, is_plain
from tidings.broker.http.streaming import STRAIGHT

PATIENCE = 20.0
"""Seconds in which the head of a request has to be there."""

MOST = 1 << 16
"""Bytes of it, give or take what comes at once."""

_TAKEN = b"".join([b"%b: %b\r\n" % header for header in ((b"content-type", b"application/json"), *ADDED)])
_CLOSE = ((b"connection", b"close"),)


class _Under:
    """A request that is under way on the short way, as far as uvicorn looks at it: others on the same connection wait
    for it, and so does the end of the server.
    """

    __slots__ = ("disconnected", "keep_alive", "response_complete")
    message_event = asyncio.Event()

    def __init__(self, keep_alive: bool) -> None:
        self.keep_alive = keep_alive
        self.response_complete = False
        self.disconnected = False


class Protocol(HttpToolsProtocol):
    """Between `_begin_head` and `_end_head` a request line and headers are awaited; on the short way, where `_body`
    is what has come of the body, that as well. `_before` is the request before that one. As long as a request `_comes`,
    some of it is missing, whether or not it has been answered.
    """

    _head: int | None = None
    _since = 0.0
    _timer: TimerHandle | None = None
    _body: list[bytes] | None = None
    _before: RequestResponseCycle = None  # type: ignore[assignment]
    _comes = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        awaited = self._since
        super().data_received(data)
        if self._head is None and not self._comes and self._is_idle and not self.transport.is_closing():
            # Something came, and no request has begun with it: blank lines, for which nobody else would wait in vain.
            self._begin_head()
        # All of it is of the head that is awaited still; what has ended in between was no part of that.
        if self._head is not None and self._since is awaited and self._body is None:
            self._head += len(data)
            if self._head > MOST:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"headers may have {MOST:,} bytes together")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._comes = True
        if self._head is None:
            self._begin_head()

    def on_headers_complete(self) -> None:
        if self._is_short():
            self._body = []
            self._before, self.cycle = self.cycle, _Under(self.parser.should_keep_alive())  # type: ignore[assignment]
        else:
            self._long()

    def _is_short(self) -> bool:
        """Nothing else is under way, there is room for the answer, and it asks for nothing unusual."""
        return (
            self.url == PATH
            and self.parser.get_method() == b"POST"
            and self.parser.get_http_version() == "1.1"
            and self._is_idle
            and not self.flow.write_paused
            and is_plain(self.headers)
        )

    @property
    def _is_idle(self) -> bool:
        """No request is under way."""
        return self.cycle is None or self.cycle.response_complete

    def _long(self) -> None:
        self._end_head()
        super().on_headers_complete()
        if any(name == b"accept" and b"event-stream" in value for name, value in self.headers):
            # For these alone: it holds on to itself, and has to be looked for when it is gone.
            self.scope[STRAIGHT] = partial(_sent, self.cycle)  # type: ignore[literal-required]

    def on_body(self, body: bytes) -> None:
        if self._body is None:
            super().on_body(body)
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        self._comes = False
        if self._body is not None:
            body, self._body = b"".join(self._body), None
            under = self.cycle
            assert isinstance(under, _Under)
            short = self.app.state.short
            assert isinstance(short, Short)
            if short.publish(self.headers, body, self.client, partial(self._answer, under)):
                self._end_head()
                return
            self.cycle = self._before
            self._long()
            self.cycle.keep_alive = under.keep_alive
            super().on_body(body)
        super().on_message_complete()

    def _answer(self, under: _Under, answer: bytes | Response) -> None:
        under.response_complete = True
        if under.disconnected or self.transport.is_closing():
            return
        if isinstance(answer, bytes):
            self.transport.write(self._taken(answer, under.keep_alive))
        else:
            self._write(answer, self.server_state.default_headers, ADDED, () if under.keep_alive else _CLOSE)
        if not under.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def _taken(self, text: bytes, keep_alive: bool) -> bytes:
        """The answer that events were taken, whole."""
        head = b"".join([b"%b: %b\r\n" % header for header in self.server_state.default_headers])
        close = b"" if keep_alive else b"connection: close\r\n"
        return b"HTTP/1.1 202 Accepted\r\n%bcontent-length: %d\r\n%b%b\r\n%b" % (head, len(text), _TAKEN, close, text)

    def send_400_response(self, msg: str) -> None:
        self._refuse(HTTPStatus.BAD_REQUEST, "this is no HTTP request that can be understood")

    def _begin_head(self) -> None:
        """One clock for all requests of the connection: to set and stop one takes long, and most never go off."""
        self._head = 0
        self._since = self.loop.time()
        if self._timer is None:
            self._timer = self.loop.call_later(PATIENCE, self._late)

    def _end_head(self) -> None:
        self._head = None

    def _late(self) -> None:
        """It may be another request that is awaited now."""
        left = self._since + PATIENCE - self.loop.time()
        self._timer = self.loop.call_later(left, self._late) if self._head is not None and left > 0 else None
        if self._head is not None and left <= 0:
            self._too_slow()

    def _too_slow(self) -> None:
        if self._head or self._body is not None:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "the request came too slowly")
        elif not self.transport.is_closing():
            self.transport.close()

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        self._end_head()
        if self.transport.is_closing():
            return
        self._write(Problem(status, detail, headers={"connection": "close"}).response())
        self.transport.close()

    def _write(self, answer: Response, *more: Iterable[tuple[bytes, bytes]]) -> None:
        """An answer, with more headers than its own."""
        head = [f"HTTP/1.1 {answer.status_code} {HTTPStatus(answer.status_code).phrase}".encode()]
        head += [name + b": " + value for name, value in chain(answer.raw_headers, *more)]
        self.transport.write(b"\r\n".join([*head, b"", bytes(answer.body)]))


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
