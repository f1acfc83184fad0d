"""`/v1/subscriptions/{id}/feed`: a subscription as an Atom feed, and the keys by which readers of feeds may have it."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import partial
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker import audit
from tidings.broker.core import Core
from tidings.broker.cursors import Cursor
from tidings.broker.feeds import keys
from tidings.broker.feeds.atom import Published
from tidings.broker.feeds.keys import Key
from tidings.broker.http import tags
from tidings.broker.http.access import Caller
from tidings.broker.http.problems import Problem
from tidings.broker.http.query import limit_of, query_of
from tidings.broker.http.service import Service
from tidings.broker.http.subscriptions import found
from tidings.errors import CursorError
from tidings.ingest.feeds.out import MEDIA_TYPE

_USUAL = {
    "cache-control": "private, max-age=0, must-revalidate",
    # The address may have a key in it, and whatever entries say is nothing to be run.
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; sandbox",
}


async def feed(request: Request) -> Response:
    service = Service.of(request)
    asked = query_of(request, "key", "before", "limit")
    id, key = request.path_params["id"], asked.get("key")
    caller = await asyncio.to_thread(service.access.reader, request, id, key)
    standing = await found(service.core, caller.tenant, id)
    limit = limit_of(asked["limit"], 0, service.bounds.page) if "limit" in asked else None
    before = Cursor.of(asked["before"]) if "before" in asked else None
    if before is not None and before.stream != standing.stream:
        raise CursorError(str(before), "it is none of this subscription", "start again without one")
    published = Published(service.core, standing, service.base(request), key, limit)
    entries = await asyncio.to_thread(published.page, before)
    tag, modified = published.tag(entries), datetime.fromtimestamp(published.modified(entries) // 1_000_000, UTC)
    headers = {
        **_USUAL,
        "etag": tag,
        "last-modified": format_datetime(modified, usegmt=True),
        "link": published.links(),
    }
    if _is_known(request, tag, modified):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    data = await asyncio.to_thread(published.written, entries, before)
    service.core.figures.count("told_feeds", len(entries))
    return Response(data, media_type=MEDIA_TYPE, headers=headers)


def _is_known(request: Request, tag: str, modified: datetime) -> bool:
    """By its tag, or, where none is named, by its time."""
    if "if-none-match" in request.headers:
        return tags.is_known(request, tag)
    try:
        return modified <= parsedate_to_datetime(request.headers.get("if-modified-since", ""))
    except (ValueError, TypeError):
        return False


# ----------------------------------------------------------------------------------------------------------------- keys


async def key(request: Request) -> Response:
    service, caller, id = await _asked(request)
    there = await asyncio.to_thread(_key, service.core, caller.tenant, id)
    if there is None:
        raise Problem(HTTPStatus.NOT_FOUND, "there is no key to its feed; make one")
    return _told(request, service, there, HTTPStatus.OK)


async def make_key(request: Request) -> Response:
    """Another one: those before it end."""
    service, caller, id = await _asked(request)
    made = await asyncio.wrap_future(service.core.change(partial(_make, core=service.core, caller=caller, id=id)))
    return _told(request, service, made, HTTPStatus.CREATED)


async def revoke_key(request: Request) -> Response:
    service, caller, id = await _asked(request)
    write = partial(_revoke, core=service.core, caller=caller, id=id)
    if not await asyncio.wrap_future(service.core.change(write)):
        raise Problem(HTTPStatus.NOT_FOUND, "there is no key to its feed")
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def _asked(request: Request) -> tuple[Service, Caller, str]:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    standing = await found(service.core, caller.tenant, request.path_params["id"])
    return service, caller, standing.id


def _key(core: Core, tenant: str, id: str) -> Key | None:
    with core.database.reading() as reader:
        return keys.of(reader, tenant, id)


def _make(writer: sqlite3.Connection, core: Core, caller: Caller, id: str) -> Key:
    audit.write(writer, core.now(), caller.who, "make feed key", id)
    return keys.make(writer, caller.tenant, id)


def _revoke(writer: sqlite3.Connection, core: Core, caller: Caller, id: str) -> bool:
    there = keys.revoke(writer, caller.tenant, id)
    if there:
        audit.write(writer, core.now(), caller.who, "revoke feed key", id)
    return there


def _told(request: Request, service: Service, key: Key, status: HTTPStatus) -> Response:
    text = key.text(service.core.key)
    url = keys.address(service.base(request), key.id, text)
    return JSONResponse({"key": text, "url": url}, status, {"cache-control": "no-store"})
