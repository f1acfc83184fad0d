"""The newest events, as they come, each with the caller's own matches; and what a query would match of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker import log, subscriptions
from tidings.broker.core import EVERYTHING, Core
from tidings.broker.http.bodies import json_of
from tidings.broker.http.negotiation import wants_stream
from tidings.broker.http.problems import Problem
from tidings.broker.http.query import limit_of, query_of
from tidings.broker.http.service import Service
from tidings.broker.http.streaming import Streamed
from tidings.broker.http.subscriptions import DIALECTS, weighed
from tidings.broker.http.waiting import HERE, STILL_HERE, silence
from tidings.broker.log import Logged
from tidings.broker.matching import Matching
from tidings.errors import EvaluationError
from tidings.lang.pattern import Dialect
from tidings.match.base import Answer, Failure
from tidings.match.verify import Prepared
from tidings.rdf.terms import to_json

_PAGE = 50
_TRIED = 200
_STRETCH = 100


async def events(request: Request) -> Response:
    service = Service.of(request)
    tenant = service.access.caller(request, "subscribe").tenant
    asked = query_of(request, "after", "limit")
    limit = limit_of(asked.get("limit"), _PAGE, service.bounds.page)
    given = [_after(each) for each in (request.headers.get("last-event-id"), asked.get("after"))]
    after = next((each for each in given if each is not None), None)
    if wants_stream(request.headers.get("accept")):
        place = service.core.last if after is None else after
        return Streamed(_stream(service, tenant, place))
    return JSONResponse({"events": await asyncio.to_thread(_newest, service.core, tenant, limit)})


def _after(given: str | None) -> int | None:
    if given is None:
        return None
    if not given.isascii() or not given.isdecimal() or len(given) > 18:
        raise Problem(HTTPStatus.BAD_REQUEST, "after is the place of an event, a number")
    return int(given)


def _newest(core: Core, tenant: str, limit: int) -> list[dict[str, object]]:
    """The newest first."""
    with core.database.reading() as reader:
        return [_told(_own(core, tenant, each), each) for each in log.newest(reader, limit, core.told)]


def _own(core: Core, tenant: str, logged: Logged) -> list[str]:
    """The caller's own subscriptions that matched, by id."""
    numbers = [] if logged.matched is None else logged.matched.tolist()
    with core.database.reading() as reader:
        matched = filter(None, (subscriptions.by_number(reader, number) for number in numbers))
        return sorted({each.id for each in matched if each.tenant == tenant})


def _told(matches: list[str], logged: Logged) -> dict[str, object]:
    event = logged.event
    return {"id": event.id, "published": event.published, "place": logged.seq, "matches": matches}


async def _stream(service: Service, tenant: str, place: int) -> AsyncGenerator[str, None]:
    yield HERE
    with service.hub.waiting(EVERYTHING) as new:
        while not service.hub.closing:
            texts, place = await asyncio.to_thread(_next, service.core, tenant, place)
            for text in texts:
                yield text
            if texts:
                continue
            try:
                await asyncio.wait_for(new.wait(), silence())
                new.clear()
            except TimeoutError:
                yield STILL_HERE


def _next(core: Core, tenant: str, place: int) -> tuple[list[str], int]:
    with core.database.reading() as reader:
        found = list(log.between(reader, place, core.told, _STRETCH))
    texts = [
        f"id: {each.seq}\nevent: event\n"
        f"data: {json.dumps(_told(_own(core, tenant, each), each), ensure_ascii=False)}\n\n"
        for each in found
    ]
    return texts, found[-1].seq if found else place


# --------------------------------------------------------------------------------------------------------------- trying


async def attempt(request: Request) -> Response:
    """Which of the newest events a query matches, without leaving it."""
    service = Service.of(request)
    service.access.caller(request, "subscribe")
    asked = await json_of(request, service.bounds.query, "query", "dialect", "limit")
    query, dialect, limit = asked.get("query"), asked.get("dialect", "sparql"), asked.get("limit", _TRIED)
    if not isinstance(query, str) or dialect not in DIALECTS.values():
        raise Problem(HTTPStatus.BAD_REQUEST, f"'query' is a text, 'dialect' one of {', '.join(DIALECTS.values())}")
    if isinstance(limit, float) and limit.is_integer():
        limit = int(limit)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= service.bounds.page:
        raise Problem(HTTPStatus.BAD_REQUEST, f"'limit' is a number from 1 to {service.bounds.page}")
    return JSONResponse(await asyncio.to_thread(_attempted, service, query, dialect, limit))


def _attempted(service: Service, query: str, dialect: Dialect, limit: int) -> dict[str, object]:
    core = service.core
    failures: list[Failure] = []
    form, _ = weighed(service, query, dialect)
    alone = Matching(core.matching.engine.ontology, failures.append, core.effort)
    alone.put(1, form)
    prepared = Prepared(form)
    with core.database.reading() as reader:
        events = [each.event for each in log.newest(reader, limit)]
    matches = []
    for event, numbers in zip(events, alone.match(events), strict=True):
        if len(numbers):
            match: dict[str, object] = {"event": event.id, "bindings": []}
            try:
                rows = (alone.answer(prepared, event) or Answer(())).bindings
                match["bindings"] = [{name: to_json(term) for name, term in row.items()} for row in rows]
            except EvaluationError as error:
                match["failed"] = str(error)
            matches.append(match)
    return {"tried": len(events), "matches": matches, "failed": [each.reason for each in failures]}
