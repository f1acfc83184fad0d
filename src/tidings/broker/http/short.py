"""The short way for what is asked most: an event or a few, as N-Quads that leave nothing to work out.

What the framework has around a handler takes longer than the handler. So a request whose body is there already, and
that asks for nothing else, is answered here; anything about it that is unusual, and it goes the long way, where it is
told what is wrong. Both ways give the same answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from tidings.broker.core import Accepted
from tidings.broker.http import problems
from tidings.broker.http.events import answer_of
from tidings.broker.http.front import ADDED, Front
from tidings.broker.http.problems import Problem
from tidings.broker.http.service import Service
from tidings.errors import EventError, TidingsError
from tidings.index.plain import plain_events
from tidings.rdf.event import Event

WHOLE = "tidings.whole"
"""In the scope of a request whose body is there, all of it."""

_PATH = "/v1/events"
_KIND = b"application/n-quads"
_PLAIN = frozenset((b"host", b"content-type", b"content-length", b"authorization", b"user-agent", b"accept"))
"""Headers of which the others here change nothing. Who sends another one is looked at more closely."""

_MOST = 16 << 10


class Application(Starlette):
    """The application, with a short way into it. `front` is asked first, as it is on the long way."""

    front: Front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if WHOLE in scope and scope["path"] == _PATH and _is_plain(scope):
            message = await receive()
            events = _events(message)
            if events is not None and self.front.is_good(scope):
                scope["app"] = self
                await self._publish(scope, events, send)
                return
            receive = _again(message, receive)
        await super().__call__(scope, receive, send)

    async def _publish(self, scope: Scope, events: list[Event], send: Send) -> None:
        request = Request(scope)
        try:
            service = Service.of(request)
            service.access.caller(request, "publish")
            outcomes = await service.outcomes.of(service.core.publish(events))
            text = _text(outcomes)
            if text is not None:
                await send({"type": "http.response.start", "status": 202, "headers": _head(len(text))})
                await send({"type": "http.response.body", "body": text, "more_body": False})
                return
            response: Response = answer_of(outcomes, [])
        except Problem as problem:
            response = problem.response()
        except TidingsError as error:
            response = await problems.on_tidings(request, error)
        response.raw_headers.extend(ADDED)
        await response(scope, request.receive, send)


def _is_plain(scope: Scope) -> bool:
    if scope["method"] != "POST" or scope["query_string"]:
        return False
    kind = False
    for name, value in scope["headers"]:
        if name not in _PLAIN:
            return False
        if name == b"content-type":
            kind = value == _KIND
    return kind


def _events(message: Message) -> list[Event] | None:
    body = message.get("body", b"")
    if message["type"] != "http.request" or message.get("more_body", False) or not 0 < len(body) <= _MOST:
        return None
    return plain_events(body) or None


def _again(message: Message, receive: Receive) -> Receive:
    """From which this message comes first."""
    first: list[Message] = [message]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again


def _text(outcomes: Sequence[Accepted | EventError]) -> bytes | None:
    """The answer, where there is nothing to say but what was taken."""
    ids = [each.id for each in outcomes if isinstance(each, Accepted)]
    if len(ids) < len(outcomes):
        return None
    return f'{{"events":[{",".join([_named(id) for id in ids])}]}}'.encode()


def _named(id: str) -> str:
    return f'{{"id":{json.dumps(id, ensure_ascii=False)}}}'


def _head(length: int) -> list[tuple[bytes, bytes]]:
    return [(b"content-length", b"%d" % length), (b"content-type", b"application/json"), *ADDED]
