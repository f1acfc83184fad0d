"""`/v1/subscriptions/{id}/notifications`: page by page, or as they come (server-sent events)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from tidings.broker.cursors import Cursor
from tidings.broker.http.bodies import json_of
from tidings.broker.http.hub import Straight
from tidings.broker.http.negotiation import wants_stream
from tidings.broker.http.problems import Problem
from tidings.broker.http.query import limit_of, query_of
from tidings.broker.http.service import Service
from tidings.broker.http.streaming import STRAIGHT, Streamed
from tidings.broker.http.subscriptions import found
from tidings.broker.http.telling import message
from tidings.broker.http.waiting import HERE, STILL_HERE
from tidings.broker.options import Carries, Options, payload_of, written_as
from tidings.broker.payloads import told
from tidings.broker.receiving import LATEST, Notification, Page, Subscription
from tidings.errors import CursorError, EndedError, TidingsError

_PAGE = 100


_ACK = 1 << 12
_MOST = 16 << 20
"""Characters of a page, but for the last notification of it: however large they are, so many are held at a time."""


async def notifications(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    standing = await found(service.core, caller.tenant, request.path_params["id"])
    subscription = Subscription(service.core, standing)
    asked = query_of(request, "after", "limit", "payload", "format")
    carries = _carries(asked, standing.options)
    limit = limit_of(asked.get("limit"), _PAGE, service.bounds.page)
    after = _after(request.headers.get("last-event-id"), asked.get("after"))
    if wants_stream(request.headers.get("accept")):
        # Before the answer begins: a place that is none is a problem with a status of its own.
        place = await asyncio.to_thread(subscription.start, after)
        missed = await asyncio.to_thread(subscription.missed) if after is None else None
        stream = _stream(service, subscription, str(place), carries, missed, request.scope.get(STRAIGHT))
        return Streamed(stream)
    page, count = await asyncio.to_thread(_page, subscription, after, limit, carries)
    service.core.figures.count("told_pages", count)
    return Response(page, media_type="application/json")


async def ack(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    standing = await found(service.core, caller.tenant, request.path_params["id"])
    cursor = (await json_of(request, _ACK, "cursor")).get("cursor")
    if not isinstance(cursor, str):
        raise Problem(HTTPStatus.BAD_REQUEST, "'cursor' should be there, and be a string")
    await asyncio.to_thread(Subscription(service.core, standing).ack, cursor)
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _carries(asked: Mapping[str, str], usual: Options) -> Carries:
    """What the subscription says, unless the reader says otherwise."""
    return Carries(payload_of(asked.get("payload", usual.payload)), written_as(asked.get("format", usual.format)))


def _after(last: str | None, after: str | None) -> str | None:
    """Where to begin: what a browser says when it comes again counts, but both have to be places."""
    if last is not None and after not in (None, LATEST):
        Cursor.of(str(after))
    return after if last is None else last


def _page(subscription: Subscription, after: str | None, limit: int, carries: Carries) -> tuple[str, int]:
    """A page as JSON, and how many there are on it."""
    page = subscription.page(after, limit)
    texts, cursor = _bounded(page, lambda each: json.dumps(told(each, carries), ensure_ascii=False))
    more: dict[str, object] = {"cursor": cursor, "state": "active"}
    if (reason := subscription.why_paused) is not None:
        more |= {"state": "paused", "reason": reason}
    if page.missed is not None:
        more["missed"] = page.missed
    return f'{{"notifications": [{", ".join(texts)}], {json.dumps(more, ensure_ascii=False)[1:]}', len(texts)


async def _stream(
    service: Service,
    subscription: Subscription,
    after: str,
    carries: Carries,
    missed: str | None,
    straight: Straight | None,
) -> AsyncGenerator[str, None]:
    """What there is behind a place, then what comes; until the subscription ends, or the server does."""
    yield HERE
    if missed is not None:
        yield _message("missed", {"upto": missed})
    place, paused = Cursor.of(after), None
    with service.hub.reading(subscription.stream, carries, straight) as reader:
        while not service.hub.closing:
            reader.must_look = False
            try:
                texts, place = await asyncio.to_thread(_texts, subscription, place, carries)
            except TidingsError as error:
                yield _message(_kind(error), {"detail": str(error)})
                return
            if texts:
                service.core.figures.count("told_streams", len(texts))
                yield "".join(texts)
                continue
            if (reason := subscription.why_paused) != paused:
                yield _message("resumed", {}) if reason is None else _message("paused", {"reason": reason})
                paused = reason
            reader.place = place.seq
            while not reader.must_look:
                if given := reader.take():
                    # All of them as if they had come with the first, which waited longest.
                    service.hub.count_told(given[0].accepted, len(given))
                    yield "".join(each.text for each in given)
                elif not await reader.wait():
                    yield STILL_HERE
            place = Cursor(place.stream, reader.place)


def _kind(error: TidingsError) -> str:
    """How a stream ends with it."""
    match error:
        case EndedError():
            return "ended"
        case CursorError():
            return "gone"
    return "error"


def _message(kind: str, data: Mapping[str, object]) -> str:
    """Something else than a notification: it has no id, so who resumes goes on from the last notification."""
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def _texts(subscription: Subscription, place: Cursor, carries: Carries) -> tuple[list[str], Cursor]:
    texts, after = _bounded(subscription.page(str(place)), lambda each: message(each, carries))
    return texts, Cursor.of(after)


def _bounded(page: Page, write: Callable[[Notification], str]) -> tuple[list[str], str]:
    """What the notifications of a page say, as far as there is room, and the place behind that."""
    said: list[str] = []
    size = 0
    for each in page.notifications:
        said.append(write(each))
        size += len(said[-1])
        if size > _MOST:
            return said, each.cursor
    return said, page.cursor
