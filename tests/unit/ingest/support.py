"""Documents in memory, their events and their problems."""

from __future__ import annotations

import io
from typing import Any

from tidings.errors import EventError
from tidings.ingest.base import How, Input
from tidings.ingest.read import read
from tidings.rdf.event import Event
from tidings.rdf.sources import Stream
from tidings.rdf.terms import Triple

BASE = "http://e.x/"


class Dribble(io.RawIOBase):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._inner = io.BytesIO(data)
        self._size = size

    def read(self, size: int = -1) -> bytes:
        return self._inner.read(self._size)


def given(data: bytes, *, address: str | None = None, size: int | None = None) -> Input:
    raw: Any = io.BytesIO(data) if size is None else Dribble(data, size)
    return Input("doc", Stream("doc", raw), address)


def converted(data: bytes | Input, format: str, **how: Any) -> tuple[list[Event], list[EventError]]:
    """The events and the problems; the base is `BASE` unless it is given."""
    problems: list[EventError] = []
    source = given(data) if isinstance(data, bytes) else data
    return list(read(source, How(**{"base": BASE, **how}), format=format, report=problems.append)), problems


def events(data: bytes | Input, format: str, **how: Any) -> list[Event]:
    found, problems = converted(data, format, **how)
    assert [str(problem) for problem in problems] == []
    return found


def triples(data: bytes | Input, format: str, **how: Any) -> list[Triple]:
    """Of the one event."""
    [event] = events(data, format, **how)
    return event.triples()


def problem(data: bytes | Input, format: str, **how: Any) -> str:
    """The one problem, with no event."""
    found, [error] = converted(data, format, **how)
    assert found == []
    return str(error)
