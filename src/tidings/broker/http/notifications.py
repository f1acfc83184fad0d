"""`/v1/subscriptions/{id}/notifications`: page by page, or as they come (server-sent events)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from http import HTTPStatus
from typing import NotRequired, TypedDict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from tidings.broker.core import Core
from tidings.broker.cursors import Cursor
from tidings.broker.http.bodies import json_of
from tidings.broker.http.hub import Given
from tidings.broker.http.problems import Problem
from tidings.broker.http.service import Service
from tidings.broker.http.subscriptions import found, limit_of
from tidings.broker.http.telling import message
from tidings.broker.http.waiting import BEAT, HERE, STILL_HERE
from tidings.broker.options import Carries, Options, payload_of, written_as
from tidings.broker.payloads import told
from tidings.broker.receiving import Subscription
from tidings.errors import CursorError, TidingsError, UsageError

_PAGE = 100


class Told(TypedDict):
    notifications: list[dict[str, object]]
    cursor: str
    state: str
    reason: NotRequired[str]
    missed: NotRequired[str]


_ACK = 1 << 12


async def notifications(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    standing = await found(service.core, caller.tenant, request.path_params["id"])
    subscription = Subscription(service.core, standing)
    carries = _carries(request, standing.options)
    if "text/event-stream" in request.headers.get("accept", ""):
        after = request.headers.get("last-event-id") or request.query_params.get("after")
        # Before the answer begins: a place that is none is a problem with a status of its own.
        place = await asyncio.to_thread(subscription.start, after)
        missed = await asyncio.to_thread(subscription.missed) if after is None else None
        stream = _stream(service, subscription, str(place), carries, missed)
        return StreamingResponse(stream, media_type="text/event-stream", headers={"cache-control": "no-store"})
    limit = limit_of(request, _PAGE, service.bounds.page)
    page = await asyncio.to_thread(_page, subscription, request.query_params.get("after"), limit, carries)
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


def _carries(request: Request, usual: Options) -> Carries:
    """What the subscription says, unless the reader says otherwise."""
    payload = payload_of(request.query_params.get("payload", usual.payload))
    return Carries(payload, written_as(request.query_params.get("format", usual.format)))


def _page(subscription: Subscription, after: str | None, limit: int, carries: Carries) -> Told:
    page = subscription.page(after, limit)
    answer: Told = {
        "notifications": [told(each, carries) for each in page.notifications],
        "cursor": page.cursor,
        "state": "active",
    }
    if (reason := subscription.why_paused) is not None:
        answer["state"], answer["reason"] = "paused", reason
    if page.missed is not None:
        answer["missed"] = page.missed
    return answer


async def _stream(
    service: Service, subscription: Subscription, after: str, carries: Carries, missed: str | None
) -> AsyncIterator[str]:
    """What there is behind a place, then what comes; until the subscription ends, or the server does."""
    yield HERE
    if missed is not None:
        yield _message("missed", {"upto": missed})
    place, paused = Cursor.of(after), None
    with service.hub.reading(subscription.stream, carries) as reader:
        while not service.hub.closing:
            reader.must_look = False
            try:
                texts, place = await asyncio.to_thread(_texts, subscription, place, carries)
            except TidingsError as error:
                kind = "gone" if isinstance(error, CursorError) else "ended" if _is_over(error) else "error"
                yield _message(kind, {"detail": str(error)})
                return
            if texts:
                service.core.figures.count("told_streams", len(texts))
                yield "".join(texts)
                continue
            if (reason := subscription.why_paused) != paused:
                yield _message("resumed", {}) if reason is None else _message("paused", {"reason": reason})
                paused = reason
            while not reader.must_look:
                given = reader.take(place.seq)
                if given:
                    place = Cursor(place.stream, given[-1].seq)
                    _count_told(service.core, given)
                    yield "".join(each.text for each in given)
                elif not await reader.wait(BEAT):
                    yield STILL_HERE


def _count_told(core: Core, given: Sequence[Given]) -> None:
    """All of them as if they had come with the first, which waited longest."""
    core.figures.count("told_streams", len(given))
    core.figures.delivery["stream"].add((core.now() - given[0].accepted) / 1e6, len(given))


def _is_over(error: TidingsError) -> bool:
    """Whether there is no such subscription any more."""
    return isinstance(error, UsageError)


def _message(kind: str, data: Mapping[str, object]) -> str:
    """Something else than a notification: it has no id, so who resumes goes on from the last notification."""
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def _texts(subscription: Subscription, place: Cursor, carries: Carries) -> tuple[list[str], Cursor]:
    page = subscription.page(str(place))
    return [message(each, carries) for each in page.notifications], Cursor.of(page.cursor)
