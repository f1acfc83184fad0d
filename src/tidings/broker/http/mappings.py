"""`/v1/mappings`: leave one, look at it, remove it. `POST /v1/events?mapping=…` uses it."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker.broker import checked_id
from tidings.broker.core import written_time
from tidings.broker.http import tags
from tidings.broker.http.bodies import body_of, kind_of
from tidings.broker.http.problems import Problem, problem_of
from tidings.broker.http.query import limit_of, query_of
from tidings.broker.http.service import Service
from tidings.broker.mappings import Kept
from tidings.errors import ParseError, TidingsError
from tidings.ingest.kept import KINDS, check
from tidings.rdf.limits import Limits
from tidings.rdf.messages import NOT_UTF8

_PAGE = 100


async def put(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "admin")
    id = checked_id(request.path_params["id"])
    kind = kind_of(request.headers.get("content-type", ""))
    if kind not in KINDS:
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"a mapping comes as one of {', '.join(KINDS)}")
    body = await body_of(request, service.bounds.query)
    await asyncio.to_thread(_check, kind, body, service.bounds.reading)
    _check_conditions(request, await asyncio.to_thread(service.mappings.find, caller.tenant, id))
    done = await asyncio.wrap_future(service.mappings.put(caller.tenant, id, kind, body, caller.who))
    headers = {"etag": _tag(done.kept), "cache-control": "no-store"}
    if done.before is None:
        headers["location"] = f"/v1/mappings/{quote(id, safe='')}"
    return JSONResponse(_described(done.kept), HTTPStatus.OK if done.before else HTTPStatus.CREATED, headers)


async def get(request: Request) -> Response:
    """The text, as it was left."""
    service = Service.of(request)
    caller = service.access.caller(request, "publish")
    kept = await asyncio.to_thread(service.mappings.find, caller.tenant, request.path_params["id"])
    if kept is None:
        raise none()
    headers = {"etag": _tag(kept), "cache-control": "private, max-age=0, must-revalidate"}
    if tags.is_known(request, _tag(kept)):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(kept.text, headers={**headers, "content-type": kept.kind})


async def delete(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "admin")
    id = request.path_params["id"]
    before = await asyncio.to_thread(service.mappings.find, caller.tenant, id)
    if before is None:
        raise none()
    _check_conditions(request, before)
    if await asyncio.wrap_future(service.mappings.delete(caller.tenant, id, caller.who)) is None:
        raise none()
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def several(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "publish")
    asked = query_of(request, "after", "limit")
    limit = limit_of(asked.get("limit"), _PAGE, service.bounds.page)
    page = await asyncio.to_thread(service.mappings.page, caller.tenant, asked.get("after", ""), limit)
    answer: dict[str, object] = {"mappings": [_described(each) for each in page]}
    if len(page) == limit:
        answer["next"] = f"/v1/mappings?after={quote(page[-1].id, safe='')}&limit={limit}"
    return JSONResponse(answer)


def none() -> Problem:
    return Problem(HTTPStatus.NOT_FOUND, "there is no such mapping")


def _check(kind: str, text: bytes, limits: Limits) -> None:
    """What is not well-formed has a place; what is, and cannot be used, has none."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, NOT_UTF8) from error
    try:
        check(kind, text, limits)
    except TidingsError as error:
        problem = problem_of(error)
        if isinstance(error, ParseError) and error.span is not None:
            raise problem from error
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, problem.detail, more=problem.more) from error


def _check_conditions(request: Request, before: Kept | None) -> None:
    tags.check(request, [] if before is None else [_tag(before)], "mapping")


def _described(kept: Kept) -> dict[str, object]:
    return {"id": kept.id, "kind": kept.kind, "bytes": len(kept.text), "created": written_time(kept.created)}


def _tag(kept: Kept) -> str:
    return f'"{kept.tag}"'
