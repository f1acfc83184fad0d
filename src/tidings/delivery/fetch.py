"""One document from somebody else's server, asked for politely and taken carefully; no broker is needed for it.

Politely: what we have already is named (`If-None-Match`, `If-Modified-Since`), and who asks says who he is. Carefully:
all that a server can do is bounded. The whole of it has to be there within a time, whether the server says it at once
or letter by letter; a body has a size, unpacked; redirects are few, and each goes to an address that is checked like
the first (see `addresses`).
"""

from __future__ import annotations

import io
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from typing import cast
from urllib.parse import quote, urldefrag, urljoin

from tidings.delivery.addresses import Endpoint, Look, address_of, connection_to, look_up, within
from tidings.delivery.packed import Gzip, PackedError
from tidings.errors import DeliveryError, UsageError

OK, NOT_MODIFIED, GONE = 200, 304, 410
_FOR_EVER, _FOR_NOW = (301, 308), (302, 303, 307)
_PIECE = 1 << 16
_PLAIN = "!#$%&'()*+,/:;=?@[]~"
_LONGEST_TAG = 1_000
_CONNECT = 10.0
_LOOK = 0.25
"""Seconds until a connection is there; and after which it is seen whether all of it is over."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a document from before: the `ETag` and `Last-Modified` that came with it, as they were."""

    etag: str | None = None
    modified: str | None = None


UNKNOWN = Known()


@dataclass(frozen=True, slots=True)
class Care:
    """Bounds: `seconds` for all of it, `size` in bytes, unpacked. `private` allows addresses that are not public. When
    it is `over`, nobody waits any longer.
    """

    seconds: float = 30.0
    size: int = 32 << 20
    redirects: int = 5
    private: bool = False
    look: Look = look_up
    over: Callable[[], bool] = lambda: False


DEFAULT_CARE = Care()


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was answered in the end, at `url`. `moved` is where it is from now on, where the server says that it has
    moved for ever. `headers` are by their names in lower case; of several of one name, all, with commas between them.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    moved: str | None = None

    @property
    def known(self) -> Known:
        """For the next time; what is too long to be sent back is not kept."""
        etag, modified = self.headers.get("etag"), self.headers.get("last-modified")
        return Known(*(each if each and len(each) <= _LONGEST_TAG else None for each in (etag, modified)))


def plain_url(url: str) -> str:
    """As it can be asked for: without a fragment, and with what is not ASCII percent-encoded."""
    return quote(urldefrag(url.strip())[0], safe=_PLAIN)


def fetch(
    url: str,
    known: Known = UNKNOWN,
    care: Care = DEFAULT_CARE,
    *,
    agent: str = "tidings",
    accept: str = "*/*",
) -> Fetched:
    """What is there. Any status is an answer, redirects aside; a `DeliveryError` is that there was none, or one that
    cannot be taken; a `UsageError`, that the address is none.
    """
    end = time.monotonic() + care.seconds
    headers = {"user-agent": agent, "accept": accept, "accept-encoding": "gzip, deflate"}
    if known.etag is not None:
        headers["if-none-match"] = known.etag
    if known.modified is not None:
        headers["if-modified-since"] = known.modified
    at, moved, for_ever = url, None, True
    for _ in range(care.redirects + 1):
        answer = _ask(at, headers, care, end)
        where = answer.headers.get("location")
        if answer.status not in (*_FOR_EVER, *_FOR_NOW) or where is None:
            return Fetched(at, answer.status, answer.headers, answer.body, moved)
        at = _next(at, where)
        for_ever = for_ever and answer.status in _FOR_EVER
        moved = at if for_ever else moved
    raise DeliveryError(f"{url} leads to other addresses, again and again")


def _next(at: str, where: str) -> str:
    try:
        # Headers are Latin-1 to the library, and mostly UTF-8 in truth.
        return plain_url(urljoin(at, where.encode("latin-1").decode("utf-8", "replace")))
    except ValueError as error:
        raise DeliveryError(f"{at} leads to an address that is none: {error}") from error


def _ask(url: str, headers: Mapping[str, str], care: Care, end: float) -> Fetched:
    """One request, without redirects."""
    try:
        endpoint = Endpoint.of(url, "a document")
    except UsageError as error:
        raise DeliveryError(str(error)) from error
    address = address_of(endpoint, private=care.private, look=within(care.look, end, care.over))
    connection = connection_to(endpoint, address, min(_CONNECT, max(0.01, end - time.monotonic())))
    try:
        connection.request("GET", endpoint.target, headers={**headers, "connection": "close"})
        answer = HTTPResponse(cast(socket.socket, _Read(connection.sock, end, care.over)), method="GET")
        return _taken(url, answer, care.size)
    except (OSError, HTTPException, PackedError) as error:
        raise DeliveryError(f"{endpoint.origin} gave no answer: {error or type(error).__name__}") from error
    finally:
        connection.close()


def _taken(url: str, answer: HTTPResponse, most: int) -> Fetched:
    answer.begin()
    headers: dict[str, str] = {}
    for name, value in answer.getheaders():
        name = name.lower()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    unpack, finish = _unpacking(headers.get("content-encoding", ""), most)
    pieces: list[bytes] = []
    size = packed = 0
    while piece := answer.read1(_PIECE):
        packed += len(piece)
        pieces.append(unpack(piece))
        size += len(pieces[-1])
        if size > most or packed > most:
            raise HTTPException(f"the document has more than {most:,} bytes")
    if answer.length:
        raise HTTPException("the document ends before its end")
    finish()
    return Fetched(url, answer.status, headers, b"".join(pieces))


def _unpacking(encoding: str, most: int) -> tuple[Callable[[bytes], bytes], Callable[[], None]]:
    match encoding.strip().lower():
        case "" | "identity":
            return bytes, lambda: None
        case "gzip" | "x-gzip":
            packed = Gzip(most)
        case "deflate":
            packed = Gzip(most, raw=True)
        case _:
            raise HTTPException(f"the document comes packed as {encoding[:50]!r}, which was not asked for")
    return packed.unpack, packed.end


# ----------------------------------------------------------------------------------------------------- within one time


class _Until(io.RawIOBase):
    """What comes over a connection, until a moment: the next byte has no more time than is left for all."""

    def __init__(self, sock: socket.socket, end: float, over: Callable[[], bool]) -> None:
        self._sock = sock
        self._end = end
        self._over = over

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while (left := self._end - time.monotonic()) > 0 and not self._over():
            self._sock.settimeout(min(left, _LOOK))
            try:
                return self._sock.recv_into(buffer)
            except TimeoutError:
                continue
        raise TimeoutError("it took too long")


class _Read:
    """The part of a socket that the library reads an answer from."""

    def __init__(self, sock: socket.socket, end: float, over: Callable[[], bool]) -> None:
        self._raw = _Until(sock, end, over)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self._raw)
