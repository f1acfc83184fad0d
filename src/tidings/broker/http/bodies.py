"""What comes with a request: read within limits, and unpacked."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from starlette.requests import Request

from tidings.broker.http.problems import Problem

_CHUNK = 1 << 16


async def body_of(request: Request, most: int) -> bytes:
    """All of it, unpacked where it says so; at most so many bytes, before and after."""
    unpack = _unpacking(request.headers.get("content-encoding", "identity"), most)
    length = request.headers.get("content-length")
    if length is not None and length.isdecimal() and int(length) > most:
        raise _too_large(most)
    pieces: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        piece = unpack(chunk)
        size += len(piece)
        if size > most:
            raise _too_large(most)
        pieces.append(piece)
    return b"".join(pieces)


def _too_large(most: int) -> Problem:
    return Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body may have {most:,} bytes here, unpacked")


def _unpacking(encoding: str, most: int) -> Callable[[bytes], bytes]:
    match encoding.strip().lower():
        case "identity" | "":
            return bytes
        case "gzip":
            return _Gzip(most).unpack
    raise Problem(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        f"the content encoding '{encoding[:50]}' is not known here; gzip is",
        headers={"accept-encoding": "gzip"},
    )


class _Gzip:
    """Never more than a little beyond what is allowed is unpacked."""

    def __init__(self, most: int) -> None:
        self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)
        self._most = most
        self._size = 0

    def unpack(self, chunk: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(chunk, self._most - self._size + 1)
        except zlib.error as error:
            raise Problem(HTTPStatus.BAD_REQUEST, f"the body is not gzip: {error}") from error
        self._size += len(piece)
        return piece


async def json_of(request: Request, most: int) -> Mapping[str, Any]:
    return object_of(await body_of(request, most))


def object_of(body: bytes) -> Mapping[str, Any]:
    """A JSON object."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        place = {"line": error.lineno, "column": error.colno} if isinstance(error, json.JSONDecodeError) else {}
        raise Problem(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}", more=place) from error
    if not isinstance(found, dict):
        raise Problem(HTTPStatus.BAD_REQUEST, "the body should be a JSON object")
    return found
