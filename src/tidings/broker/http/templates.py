"""`/v1/templates`: keep one, look at it, remove it, and make subscriptions of it, many at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote
from zlib import crc32

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker.broker import checked_id
from tidings.broker.core import written_time
from tidings.broker.http import tags
from tidings.broker.http.bodies import body_of, check_members, json_of, kind_of, value_of
from tidings.broker.http.problems import Problem, problem_of
from tidings.broker.http.query import limit_of, query_of
from tidings.broker.http.service import Service
from tidings.broker.http.subscriptions import begin, check_score, instance_of, score_of
from tidings.broker.instances import AT_ONCE, Ready
from tidings.broker.subscriptions import Wanted
from tidings.broker.templates import Stored
from tidings.errors import TidingsError
from tidings.lang.complexity import of_text
from tidings.lang.pattern import Query
from tidings.lang.templates import Template

LINES = "application/x-ndjson"
_MEMBERS = ("query", "dialect", "parameters", "description")
_PAGE = 100


async def put(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    id = checked_id(request.path_params["id"])
    given = await json_of(request, service.bounds.query, *_MEMBERS)
    template, score = await asyncio.to_thread(_made, service, given)
    _check_conditions(request, await asyncio.to_thread(service.templates.find, caller.tenant, id))
    done = await asyncio.wrap_future(service.templates.define(caller.tenant, id, template, score, caller.who))
    return _answer(done.stored, HTTPStatus.CREATED if done.before is None else HTTPStatus.OK)


async def get(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    stored = await asyncio.to_thread(service.templates.find, caller.tenant, request.path_params["id"])
    if stored is None:
        raise _none()
    if tags.is_known(request, _tag(stored)):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"etag": _tag(stored)})
    return _answer(stored, HTTPStatus.OK)


async def delete(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    id = request.path_params["id"]
    before = await asyncio.to_thread(service.templates.find, caller.tenant, id)
    if before is None:
        raise _none()
    _check_conditions(request, before)
    if await asyncio.wrap_future(service.templates.delete(caller.tenant, id, caller.who)) is None:
        raise _none()
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def several(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    asked = query_of(request, "after", "limit")
    limit = limit_of(asked.get("limit"), _PAGE, service.bounds.page)
    page = await asyncio.to_thread(service.templates.page, caller.tenant, asked.get("after", ""), limit)
    answer: dict[str, object] = {"templates": [_described(each) for each in page]}
    if len(page) == limit:
        answer["next"] = f"/v1/templates?after={quote(page[-1].id, safe='')}&limit={limit}"
    return JSONResponse(answer)


async def instances(request: Request) -> Response:
    """Those that are wrong are told with their place among the others, which they cost nothing."""
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    kind = kind_of(request.headers.get("content-type", ""))
    if kind not in ("application/json", LINES):
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"subscriptions come as application/json or {LINES}")
    ready = await asyncio.to_thread(service.templates.ready, caller.tenant, request.path_params["id"])
    if ready is None:
        raise _none()
    body = await body_of(request, service.bounds.body)
    made, problems = await asyncio.to_thread(_made_of, service, ready, kind, body)
    if problems and not made:
        raise Problem(HTTPStatus(problems[0]["status"]), problems[0]["detail"], more={"problems": problems})
    done = await asyncio.wrap_future(service.core.register_many(made, caller.who)) if made else []
    for each in done:
        begin(service, each)
    told = [{"id": each.standing.id, "version": each.standing.version, "new": each.new} for each in done]
    return JSONResponse({"subscriptions": told, **({"problems": problems} if problems else {})})


def _made(service: Service, given: Mapping[str, Any]) -> tuple[Template, int]:
    if isinstance(query := given.get("query"), str):
        check_score(of_text(query), service.bounds.complexity)
    template = Template.of(given)
    return template, score_of(service, template.form, template.query)


def _check_conditions(request: Request, before: Stored | None) -> None:
    tags.check(request, [] if before is None else [_tag(before)], "template")


def _none() -> Problem:
    return Problem(HTTPStatus.NOT_FOUND, "there is no such template")


# ------------------------------------------------------------------------------------------------------------ instances


def _made_of(
    service: Service, ready: Ready, kind: str, body: bytes
) -> tuple[list[tuple[Wanted, Query]], list[dict[str, Any]]]:
    made: dict[str, tuple[Wanted, Query]] = {}
    problems: list[dict[str, Any]] = []
    for place, each in _items(body, kind):
        try:
            item = value_of(each) if isinstance(each, bytes) else each
            wanted, form = _instance(service, ready, item)
            if wanted.id in made:
                raise Problem(HTTPStatus.BAD_REQUEST, f"the id {wanted.id!r} is here twice")
            made[wanted.id] = wanted, form
        except (TidingsError, Problem) as error:
            found = error if isinstance(error, Problem) else problem_of(error)
            problems.append({**found.document(), "item": place})
    return list(made.values()), problems


def _items(body: bytes, kind: str) -> Iterator[tuple[int, Any]]:
    """Each with its place, which is that of its line where they come in lines."""
    if kind == LINES:
        found: list[Any] = [line.strip() for line in body.split(b"\n")]
        items = [(place, line) for place, line in enumerate(found, 1) if line]
    else:
        found = value_of(body)
        if not isinstance(found, list):
            raise Problem(HTTPStatus.BAD_REQUEST, "the body should be a JSON array")
        items = list(enumerate(found, 1))
    if not items:
        raise Problem(HTTPStatus.BAD_REQUEST, "there is nothing in it")
    if len(items) > AT_ONCE:
        raise Problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"here are {len(items):,} of them; at once there may be {AT_ONCE:,}"
        )
    return iter(items)


def _instance(service: Service, ready: Ready, item: Any) -> tuple[Wanted, Query]:
    if not isinstance(item, dict):
        raise Problem(HTTPStatus.BAD_REQUEST, "it should be an object with 'id' and 'parameters'")
    check_members(item)
    return instance_of(service, ready, checked_id(item.pop("id", None)), item)


# --------------------------------------------------------------------------------------------------------- what is told


def _answer(stored: Stored, status: HTTPStatus) -> Response:
    headers = {"etag": _tag(stored), "cache-control": "no-store"}
    if status == HTTPStatus.CREATED:
        headers["location"] = f"/v1/templates/{quote(stored.id, safe='')}"
    return JSONResponse(_described(stored), status, headers)


def _described(stored: Stored) -> dict[str, object]:
    told = {"id": stored.id, "version": stored.version, "created": written_time(stored.created)}
    return {**told, "complexity": stored.complexity, **json.loads(stored.definition)}


def _tag(stored: Stored) -> str:
    return f'"{stored.version}-{crc32(stored.definition.encode()):08x}"'
