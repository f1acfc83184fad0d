"""`/v1/audit`: who did what, the newest first."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker import audit
from tidings.broker.audit import Entry
from tidings.broker.core import Core, written_time
from tidings.broker.http.problems import Problem
from tidings.broker.http.query import limit_of, query_of
from tidings.broker.http.service import Service

_PAGE = 100


async def several(request: Request) -> Response:
    """Of all tenants together, so for who may do everything."""
    service = Service.of(request)
    service.access.caller(request, "admin")
    asked = query_of(request, "before", "limit")
    limit = limit_of(asked.get("limit"), _PAGE, service.bounds.page)
    entries = await asyncio.to_thread(_entries, service.core, _before(asked.get("before")), limit)
    answer: dict[str, object] = {"entries": [_told(each) for each in entries]}
    if len(entries) == limit:
        answer["next"] = f"/v1/audit?before={entries[-1].place}&limit={limit}"
    return JSONResponse(answer, headers={"cache-control": "no-store"})


def _before(given: str | None) -> int:
    if given is None:
        return audit.LAST
    if not given.isascii() or not given.isdecimal() or len(given) > 19 or int(given) > audit.LAST:
        raise Problem(HTTPStatus.BAD_REQUEST, "before is the place of an entry, a number")
    return int(given)


def _entries(core: Core, before: int, limit: int) -> list[Entry]:
    with core.database.reading() as reader:
        return audit.before(reader, before, limit)


def _told(entry: Entry) -> dict[str, object]:
    return {
        "place": entry.place,
        "at": written_time(entry.at),
        "tenant": entry.tenant,
        "token": entry.token,
        "address": entry.address,
        "what": entry.what,
        "object": entry.object,
    }
