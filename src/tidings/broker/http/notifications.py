"""`/v1/subscriptions/{id}/notifications`: page by page, or as they come (server-sent events)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import TypedDict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from tidings.broker.cursors import Cursor
from tidings.broker.http.bodies import json_of
from tidings.broker.http.problems import Problem
from tidings.broker.http.service import Service
from tidings.broker.http.subscriptions import found, limit_of
from tidings.broker.http.telling import message
from tidings.broker.http.waiting import BEAT, HERE, STILL_HERE
from tidings.broker.options import PAYLOADS, Payload
from tidings.broker.payloads import told
from tidings.broker.receiving import Subscription
from tidings.errors import CursorError, TidingsError

_PAGE = 100


class Told(TypedDict):
    notifications: list[dict[str, object]]
    cursor: str


_ACK = 1 << 12


async def notifications(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    standing = await found(service.core, caller.tenant, request.path_params["id"])
    subscription = Subscription(service.core, standing)
    payload = _payload(request, standing.options.payload)
    if "text/event-stream" in request.headers.get("accept", ""):
        after = request.headers.get("last-event-id") or request.query_params.get("after")
        # Before the answer begins: a place that is none is a problem with a status of its own.
        place = await asyncio.to_thread(subscription.start, after)
        stream = _stream(service, subscription, str(place), payload)
        return StreamingResponse(stream, media_type="text/event-stream", headers={"cache-control": "no-store"})
    limit = limit_of(request, _PAGE, service.bounds.page)
    page = await asyncio.to_thread(_page, subscription, request.query_params.get("after"), limit, payload)
    service.core.figures.count("told_pages", len(page["notifications"]))
    return JSONResponse(page)


async def ack(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    standing = await found(service.core, caller.tenant, request.path_params["id"])
    cursor = (await json_of(request, _ACK)).get("cursor")
    if not isinstance(cursor, str):
        raise Problem(HTTPStatus.BAD_REQUEST, "'cursor' should be there, and be a string")
    await asyncio.to_thread(Subscription(service.core, standing).ack, cursor)
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _payload(request: Request, usual: Payload) -> Payload:
    given = request.query_params.get("payload", usual)
    for payload in PAYLOADS:
        if given == payload:
            return payload  # type: ignore[no-any-return]
    raise Problem(HTTPStatus.BAD_REQUEST, f"payload is one of {', '.join(PAYLOADS)}")


def _page(subscription: Subscription, after: str | None, limit: int, payload: Payload) -> Told:
    page = subscription.page(after, limit)
    return {"notifications": [told(each, payload) for each in page.notifications], "cursor": page.cursor}


async def _stream(service: Service, subscription: Subscription, after: str, payload: Payload) -> AsyncIterator[str]:
    """What there is behind a place, then what comes; until the subscription ends, or the server does."""
    yield HERE
    place = Cursor.of(after)
    with service.hub.reading(subscription.stream, payload) as reader:
        while not service.hub.closing:
            reader.must_look = False
            try:
                texts, place = await asyncio.to_thread(_texts, subscription, place, payload)
            except TidingsError as error:
                kind = "gone" if isinstance(error, CursorError) else "error"
                yield f"event: {kind}\ndata: {json.dumps({'detail': str(error)})}\n\n"
                return
            if texts:
                service.core.figures.count("told_streams", len(texts))
                yield "".join(texts)
                continue
            while not reader.must_look:
                given = reader.take(place.seq)
                if given:
                    place = Cursor(place.stream, given[-1][0])
                    service.core.figures.count("told_streams", len(given))
                    yield "".join(text for _, text in given)
                elif not await reader.wait(BEAT):
                    yield STILL_HERE


def _texts(subscription: Subscription, place: Cursor, payload: Payload) -> tuple[list[str], Cursor]:
    page = subscription.page(str(place))
    return [message(each, payload) for each in page.notifications], Cursor.of(page.cursor)
