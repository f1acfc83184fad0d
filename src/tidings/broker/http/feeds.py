"""`/v1/feeds`: the feeds that are read. They are the broker's: what they tell is for everybody who subscribes."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker.core import written_time
from tidings.broker.feeds import rows
from tidings.broker.feeds.rows import Feed
from tidings.broker.http.bodies import json_of
from tidings.broker.http.problems import Problem
from tidings.broker.http.query import limit_of, query_of
from tidings.broker.http.service import Service
from tidings.ingest.feeds.options import FeedOptions

_PAGE = 100
_BODY = 1 << 17
_LAST = 10**15
_PATIENCE = 60.0
"""Seconds that who has a feed asked for waits for what comes of it."""


async def several(request: Request) -> Response:
    service = Service.of(request)
    service.access.caller(request, "feeds")
    asked = query_of(request, "after", "limit")
    limit = limit_of(asked.get("limit"), _PAGE, service.bounds.page)
    given = asked.get("after", "0")
    if not given.isascii() or not given.isdecimal() or len(given) > 15:
        raise Problem(HTTPStatus.BAD_REQUEST, f"after is a number up to {_LAST - 1}")
    page = await asyncio.to_thread(_page, service, int(given), limit)
    answer: dict[str, object] = {"feeds": [_told(service, each) for each in page]}
    if len(page) == limit:
        answer["next"] = f"/v1/feeds?after={page[-1].number}&limit={limit}"
    return JSONResponse(answer)


async def add(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "feeds")
    given = dict(await json_of(request, _BODY, "url", "classes", "home", "charset"))
    url = given.pop("url", None)
    if not isinstance(url, str):
        raise Problem(HTTPStatus.BAD_REQUEST, "'url' should be there, and be a string")
    feed, new = await asyncio.wrap_future(service.poller.add(url, FeedOptions.of(given), caller.who))
    headers = {"location": f"/v1/feeds/{feed.id}"} if new else {}
    return JSONResponse(_told(service, feed), HTTPStatus.CREATED if new else HTTPStatus.OK, headers)


async def get(request: Request) -> Response:
    service = Service.of(request)
    service.access.caller(request, "feeds")
    return JSONResponse(_told(service, await _found(request, service)))


async def delete(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "feeds")
    if await asyncio.wrap_future(service.poller.remove(request.path_params["id"], caller.who)) is None:
        raise _none()
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def poll(request: Request) -> Response:
    """Ask for it now, and tell what came of it; 202 where that takes longer."""
    service = Service.of(request)
    caller = service.access.caller(request, "feeds")
    feed = await _found(request, service)
    asked = asyncio.wrap_future(service.poller.poll(feed, caller.who))
    done, _ = await asyncio.wait([asked], timeout=_PATIENCE)
    if not done:
        return JSONResponse(_told(service, feed), HTTPStatus.ACCEPTED)
    after = asked.result()
    if after is None:
        raise _none()
    return JSONResponse(_told(service, after))


async def _found(request: Request, service: Service) -> Feed:
    feed = await asyncio.to_thread(_find, service, request.path_params["id"])
    if feed is None:
        raise _none()
    return feed


def _find(service: Service, id: str) -> Feed | None:
    with service.core.database.reading() as reader:
        return rows.by_id(reader, id)


def _page(service: Service, after: int, limit: int) -> list[Feed]:
    with service.core.database.reading() as reader:
        return rows.page(reader, after, limit)


def _none() -> Problem:
    return Problem(HTTPStatus.NOT_FOUND, "there is no such feed")


def _told(service: Service, feed: Feed) -> dict[str, object]:
    told: dict[str, object] = {
        "id": feed.id,
        "url": feed.url,
        "state": feed.state,
        "items": len(feed.items),
        "failures": feed.schedule.failures,
        "added": written_time(feed.added),
        **feed.options.told(),
    }
    if feed.state == "active":
        told["due"] = written_time(round(feed.schedule.due * 1e6))
    if feed.polled is not None:
        told["polled"] = written_time(feed.polled)
    if feed.schedule.changed is not None:
        told["changed"] = written_time(round(feed.schedule.changed * 1e6))
    more = {"status": feed.status, "problem": feed.problem, "version": feed.version}
    told |= {name: value for name, value in more.items() if value}
    agreement = service.poller.websub.of_feed(feed.number)
    if agreement is not None:
        hub: dict[str, object] = {"url": agreement.hub, "state": agreement.state}
        if agreement.problem:
            hub["problem"] = agreement.problem
        if agreement.expires is not None:
            hub["expires"] = written_time(agreement.expires)
        told["hub"] = hub
    return told
