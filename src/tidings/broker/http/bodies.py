"""What comes with a request: read within limits of size and time, and unpacked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.requests import Request

from tidings.broker.http.problems import Problem
from tidings.delivery.packed import Gzip, PackedError

GRACE = 30.0
"""Seconds that a body may take, however small it is."""

SLOWEST = 16_384
"""Bytes a second that have to come beyond that: who sends less holds a place that others want."""


async def body_of(request: Request, most: int) -> bytes:
    """All of it, unpacked where it says so; at most so many bytes, before and after."""
    unpack, end = _unpacking(request.headers.get("content-encoding", "identity"), most)
    length = request.headers.get("content-length")
    if length is not None and length.isascii() and length.isdecimal() and int(length[:20]) > most:
        raise _too_large(most)
    pieces: list[bytes] = []
    size = packed = 0
    deadline = asyncio.get_running_loop().time() + GRACE
    try:
        async with asyncio.timeout_at(deadline) as patience:
            more = True
            while more:
                chunk, more = await _next(request)
                packed += len(chunk)
                piece = unpack(chunk)
                size += len(piece)
                if size > most or packed > most:
                    raise _too_large(most)
                pieces.append(piece)
                if more:
                    deadline += len(chunk) / SLOWEST
                    patience.reschedule(deadline)
        end()
    except PackedError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, str(error)) from error
    except TimeoutError as error:
        raise Problem(
            HTTPStatus.REQUEST_TIMEOUT, "the body came too slowly", headers={"connection": "close"}
        ) from error
    return b"".join(pieces)


async def _next(request: Request) -> tuple[bytes, bool]:
    """The next piece that was sent, and whether there are more."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        # Nobody hears this; but that somebody went away is no fault of ours.
        raise Problem(HTTPStatus.BAD_REQUEST, "the body ended before its end")
    return message.get("body", b""), message.get("more_body", False)


def _too_large(most: int) -> Problem:
    return Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body may have {most:,} bytes here, unpacked")


def _unpacking(encoding: str, most: int) -> tuple[Callable[[bytes], bytes], Callable[[], None]]:
    """What unpacks a chunk, and what sees that nothing is missing at the end."""
    match encoding.strip().lower():
        case "identity" | "":
            return bytes, lambda: None
        case "gzip":
            gzip = Gzip(most)
            return gzip.unpack, gzip.end
    raise Problem(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        f"the content encoding {encoding[:50]!r} is not known here; gzip is",
        headers={"accept-encoding": "gzip"},
    )


# ---------------------------------------------------------------------------------------------------------------- kinds


def kind_of(content_type: str) -> str:
    """The media type without its parameters. All text is UTF-8 here: another charset is refused, and not misread."""
    kind, *parameters = content_type.split(";")
    for each in parameters:
        name, _, value = each.partition("=")
        if name.strip().lower() == "charset" and value.strip(" \t\"'").lower() not in ("utf-8", "utf8", "us-ascii"):
            raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a text is in UTF-8 here, whatever its format")
    return kind.strip().lower()


async def json_of(request: Request, most: int, *names: str) -> Mapping[str, Any]:
    """A JSON object with members of these names, and that says so: what a page of another origin can send without being
    asked is never called JSON.
    """
    if kind_of(request.headers.get("content-type", "")) != "application/json":
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body should be application/json")
    found = object_of(await body_of(request, most))
    for name in found:
        if name not in names:
            raise Problem(HTTPStatus.BAD_REQUEST, f"there is no member {name!r:.100}; there are {', '.join(names)}")
    return found


def object_of(body: bytes) -> Mapping[str, Any]:
    """A JSON object. A member that is null is none."""
    found = value_of(body)
    if not isinstance(found, dict):
        raise Problem(HTTPStatus.BAD_REQUEST, "the body should be a JSON object")
    check_members(found)
    return found


def check_members(found: Mapping[str, Any]) -> None:
    for name, value in found.items():
        if value is None:
            raise Problem(HTTPStatus.BAD_REQUEST, f"{name!r:.100} is null; leave it out")


def value_of(body: bytes) -> Any:
    """What is there as JSON, with no half characters in it."""
    try:
        found = json.loads(body.decode(), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, f"the body is not UTF-8: byte 0x{body[error.start]:02X}") from error
    except (ValueError, RecursionError) as error:
        place = {"line": error.lineno, "column": error.colno} if isinstance(error, json.JSONDecodeError) else {}
        raise Problem(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}", more=place) from error
    if b"\\u" in body:
        _check_whole(found)
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number there")


def _check_whole(found: Any) -> None:
    """JSON can write half a character, which is no text."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, "the body has half a character in it") from error
