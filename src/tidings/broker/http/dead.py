"""`/v1/subscriptions/{id}/dead`: notifications that a webhook did not take; to be seen, sent again, forgotten."""

from __future__ import annotations

import asyncio
from functools import partial
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker import dead
from tidings.broker.core import Core, written_time
from tidings.broker.cursors import Cursor
from tidings.broker.dead import Letter
from tidings.broker.http.problems import Problem
from tidings.broker.http.query import limit_of, query_of
from tidings.broker.http.service import Service
from tidings.broker.http.subscriptions import found
from tidings.broker.receiving import Notification
from tidings.broker.subscriptions import Standing

_PAGE = 100


async def several(request: Request) -> Response:
    service, standing = await _asked(request)
    asked = query_of(request, "after", "limit")
    limit = limit_of(asked.get("limit"), _PAGE, service.bounds.page)
    after = asked.get("after")
    place = Cursor.of(after).seq if after is not None else 0
    letters = await asyncio.to_thread(_letters, service.core, standing.stream, place, limit)
    return JSONResponse({"dead": [_told(each) for each in letters]})


async def again(request: Request) -> Response:
    """Send it once more: when it is taken, it is no dead letter any more."""
    service, standing = await _asked(request)
    place = _place(request, standing)
    notification = await asyncio.to_thread(_notification, service.core, place)
    if notification is None:
        raise _none()
    await asyncio.to_thread(service.hooks.send_again, standing, notification)
    await asyncio.wrap_future(service.core.change(partial(dead.remove, stream=place.stream, seq=place.seq)))
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def forget(request: Request) -> Response:
    service, standing = await _asked(request)
    place = _place(request, standing)
    if not await asyncio.wrap_future(service.core.change(partial(dead.remove, stream=place.stream, seq=place.seq))):
        raise _none()
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def _asked(request: Request) -> tuple[Service, Standing]:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    return service, await found(service.core, caller.tenant, request.path_params["id"])


def _place(request: Request, standing: Standing) -> Cursor:
    place = Cursor.of(request.path_params["cursor"])
    if place.stream != standing.stream:
        raise _none()
    return place


def _none() -> Problem:
    return Problem(HTTPStatus.NOT_FOUND, "there is no such dead letter")


def _letters(core: Core, stream: int, after: int, limit: int) -> list[Letter]:
    with core.database.reading() as reader:
        return dead.of_stream(reader, stream, after, limit)


def _notification(core: Core, place: Cursor) -> Notification | None:
    """The notification of a dead letter, if it is one, and its event is still there."""
    if not [each for each in _letters(core, place.stream, place.seq - 1, 1) if each.seq == place.seq]:
        return None
    rows = core.matched(place.stream, place.seq - 1, 1)
    return next((Notification(core, standing, logged) for standing, logged in rows if logged.seq == place.seq), None)


def _told(letter: Letter) -> dict[str, object]:
    return {
        "cursor": str(Cursor(letter.stream, letter.seq)),
        "id": letter.notification,
        "event": letter.event,
        "tries": letter.tries,
        "reason": letter.reason,
        "died": written_time(letter.died),
    }
