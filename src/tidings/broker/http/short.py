"""The short way for what is asked most: an event or a few, as N-Quads that leave nothing to work out.

What a server and a framework have around a handler takes several times as long as the handler. So a request that asks
for this and nothing else is answered from its connection; anything about it that is unusual, and it goes the long way,
where it is told what is wrong. Both ways give the same answers.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from http import HTTPStatus
from typing import TypeAlias

from starlette.responses import Response

from tidings.broker.core import Accepted
from tidings.broker.http import problems
from tidings.broker.http.access import address_of
from tidings.broker.http.events import answer_of
from tidings.broker.http.front import Front
from tidings.broker.http.problems import Problem
from tidings.broker.http.service import Service
from tidings.errors import EventError, TidingsError
from tidings.index.plain import plain_events

PATH = b"/v1/events"
_KIND = b"application/n-quads"
_PLAIN = frozenset(
    (
        b"host",
        b"content-type",
        b"content-length",
        b"authorization",
        b"user-agent",
        b"accept",
        b"accept-encoding",
        b"connection",
    )
)
"""Headers of which the others here change nothing. Who sends another one is looked at more closely."""

_MOST = 16 << 10
_log = logging.getLogger("tidings")

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]
Outcome: TypeAlias = Accepted | EventError

Answer: TypeAlias = Callable[[bytes | Response], None]
"""Sends an answer: one that an event was taken, by its text, or any."""


class Short:
    """`front` is asked first, as it is on the long way."""

    def __init__(self, service: Service, front: Front) -> None:
        self._service = service
        self._front = front

    def publish(self, headers: Headers, body: bytes, client: tuple[str, int] | None, answer: Answer) -> bool:
        """Whether this way can be gone; then it is answered, but not before this is over."""
        service = self._service
        try:
            events = plain_events(body) if len(body) <= service.bounds.body else None
            if not events or not self._front.is_good(headers):
                return False
            given = next((value.decode("latin-1") for name, value in headers if name == b"authorization"), None)
            service.access.known(address_of(client), given, "publish")
            service.core.publish_and_tell(events, partial(service.outcomes.then, partial(_answered, answer)))
        except Exception as error:
            service.outcomes.soon(partial(answer, _wrong(error)))
        return True


def is_plain(headers: Headers) -> bool:
    """Whether there is nothing among these of a request to publish that asks for more."""
    kind = length = False
    seen = set()
    for name, value in headers:
        seen.add(name)
        if name not in _PLAIN:
            return False
        if name == b"content-type":
            kind = value == _KIND
        elif name == b"content-length":
            length = value.isdigit() and len(value) < 6 and 0 < int(value) <= _MOST
    return kind and length and len(seen) == len(headers)


def _answered(answer: Answer, outcomes: list[Outcome] | Exception) -> None:
    try:
        found = _wrong(outcomes) if isinstance(outcomes, Exception) else _text(outcomes) or answer_of(outcomes, [])
    except Exception as error:
        found = _wrong(error)
    answer(found)


def _wrong(error: Exception) -> Response:
    if isinstance(error, Problem):
        return error.response()
    if isinstance(error, TidingsError):
        return problems.tidings_response(error, f"POST {PATH.decode()}")
    _log.error("what became of events", exc_info=error)
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, problems.FAULT).response()


def _text(outcomes: Iterable[Outcome]) -> bytes | None:
    """The answer, where there is nothing to say but what was taken."""
    names: list[str] = []
    for each in outcomes:
        if not isinstance(each, Accepted):
            return None
        names.append(f'{{"id":{json.dumps(each.id, ensure_ascii=False)}}}')
    return f'{{"events":[{",".join(names)}]}}'.encode()
