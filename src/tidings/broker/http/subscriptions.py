"""`/v1/subscriptions`: leave one, look at it, end it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import quote
from zlib import crc32

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker import subscriptions as rows
from tidings.broker.broker import checked_id
from tidings.broker.core import Core, written_time
from tidings.broker.http import tags
from tidings.broker.http.bodies import body_of, kind_of, object_of
from tidings.broker.http.problems import Problem
from tidings.broker.http.query import limit_of, query_of
from tidings.broker.http.service import Service
from tidings.broker.instances import Ready, cost
from tidings.broker.options import Options
from tidings.broker.subscriptions import BY_OWNER, Registered, Standing, Wanted
from tidings.delivery.webhooks import written_secret
from tidings.errors import EventError
from tidings.lang import parse
from tidings.lang.complexity import Complexity, complexity, of_text
from tidings.lang.pattern import Dialect, Query
from tidings.rdf.cloudevents import moment_of

DIALECTS: Mapping[str, Dialect] = {
    "application/sparql-query": "sparql",
    "text/x-ops": "ops",
    "text/x-gtopss": "gtopss",
}
_PAGE = 100


async def put(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    id = checked_id(request.path_params["id"])
    kind = _kind(request)
    body = await body_of(request, service.bounds.query)
    wanted, form = await asyncio.to_thread(_registrable, service, caller.tenant, id, kind, body)
    before = await asyncio.to_thread(_find, service.core, caller.tenant, id)
    _check_conditions(request, before)
    done = await asyncio.wrap_future(service.core.register(wanted, form, caller.who))
    begin(service, done)
    status = HTTPStatus.CREATED if done.new and done.before is None else HTTPStatus.OK
    return _answer(service, done.standing, status)


def begin(service: Service, done: Registered) -> None:
    """It stands: what is to be done for it from now on."""
    if done.standing.looked is not None and done.new:
        # It goes on by itself; notifications come when it is done.
        service.core.upkeep.look_soon()
    if done.standing.options.webhook is not None:
        service.hooks.watch(done.standing)


async def get(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    standing = await found(service.core, caller.tenant, request.path_params["id"])
    if tags.is_known(request, _tag(standing)):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"etag": _tag(standing)})
    return _answer(service, standing, HTTPStatus.OK)


async def pause(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    id = request.path_params["id"]
    standing = await asyncio.wrap_future(service.core.pause(caller.tenant, id, BY_OWNER, caller.who))
    if standing is None:
        raise _none()
    return _answer(service, standing, HTTPStatus.OK)


async def resume(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    id = request.path_params["id"]
    standing = await asyncio.wrap_future(service.core.resume(caller.tenant, id, caller.who))
    if standing is None:
        raise _none()
    if standing.options.webhook is not None:
        service.hooks.watch(standing)
    return _answer(service, standing, HTTPStatus.OK)


async def delete(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    id = request.path_params["id"]
    _check_conditions(request, await found(service.core, caller.tenant, id))
    if await asyncio.wrap_future(service.core.end(caller.tenant, id, caller.who)) is None:
        raise _none()
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def several(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    asked = query_of(request, "after", "limit")
    limit = limit_of(asked.get("limit"), _PAGE, service.bounds.page)
    after = asked.get("after", "")
    page = await asyncio.to_thread(_page, service.core, caller.tenant, after, limit)
    answer: dict[str, object] = {"subscriptions": [_described(each) for each in page]}
    if len(page) == limit:
        answer["next"] = f"/v1/subscriptions?after={quote(page[-1].id, safe='')}&limit={limit}"
    return JSONResponse(answer)


async def found(core: Core, tenant: str, id: str) -> Standing:
    """The caller's own; that others have one of this id is not told."""
    standing = await asyncio.to_thread(_find, core, tenant, id)
    if standing is None:
        raise _none()
    return standing


def weighed(service: Service, query: str, dialect: Dialect) -> tuple[Query, int]:
    """A query as a form, and its score; a `Problem` where that is too high, or it is none."""
    check_score(of_text(query), service.bounds.complexity)
    form = parse(query, dialect, source=None)
    return form, score_of(service, form, query)


def score_of(service: Service, form: Query, text: str) -> int:
    most = service.bounds.complexity
    check_score(complexity(form, text, enough=most), most)
    found = cost(form, text, service.core.knowledge.ontology.resource_classes)
    check_score(found, most)
    return found.score


def check_score(found: Complexity, most: int) -> None:
    if found.score > most:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"the query is too complex: its score is {found.score} or more, and may be {most}; what costs most: "
            f"{found.most()}",
            more={"score": found.score, "limit": most, "costs": dict(found.costs)},
        )


def _none() -> Problem:
    return Problem(HTTPStatus.NOT_FOUND, "there is no such subscription")


def _find(core: Core, tenant: str, id: str) -> Standing | None:
    with core.database.reading() as reader:
        return rows.find(reader, tenant, id)


def _page(core: Core, tenant: str, after: str, limit: int) -> list[Standing]:
    with core.database.reading() as reader:
        return rows.page(reader, tenant, after, limit)


# ------------------------------------------------------------------------------------------------------- what is asked


def _kind(request: Request) -> str:
    kind = kind_of(request.headers.get("content-type", ""))
    if kind not in DIALECTS and kind != "application/json":
        offered = ", ".join((*DIALECTS, "application/json"))
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"a subscription comes as one of {offered}")
    return kind


def _registrable(service: Service, tenant: str, id: str, kind: str, body: bytes) -> tuple[Wanted, Query]:
    if kind in DIALECTS:
        return _weighed(service, Wanted(tenant, id, _text(body), DIALECTS[kind], Options()))
    members = dict(object_of(body))
    if "template" in members:
        return _instance(service, tenant, id, members)
    return _weighed(service, _wanted(tenant, id, members))


def _weighed(service: Service, wanted: Wanted) -> tuple[Wanted, Query]:
    form, score = weighed(service, wanted.query, wanted.dialect)
    return replace(wanted, complexity=score), form


def _instance(service: Service, tenant: str, id: str, members: dict[str, Any]) -> tuple[Wanted, Query]:
    name = members.pop("template")
    ready = service.templates.ready(tenant, name) if isinstance(name, str) else None
    if ready is None:
        raise Problem(HTTPStatus.NOT_FOUND, "there is no such template")
    return instance_of(service, ready, id, members)


def instance_of(service: Service, ready: Ready, id: str, members: Mapping[str, Any]) -> tuple[Wanted, Query]:
    """The subscription of this id that a template makes: of `parameters`, with options."""
    options = dict(members)
    values = options.pop("parameters", {})
    if not isinstance(values, Mapping):
        raise Problem(HTTPStatus.BAD_REQUEST, "'parameters' should be an object: values by name")
    since = _moment(options.pop("since", None))
    instance = ready.template.instance(values)
    found = ready.cost(instance, service.core.knowledge.ontology.resource_classes)
    check_score(found, service.bounds.complexity)
    return ready.wanted(id, instance, Options.of(options), since, found.score), instance.query


def _wanted(tenant: str, id: str, members: dict[str, Any]) -> Wanted:
    query, dialect = members.pop("query", None), members.pop("dialect", "sparql")
    if not isinstance(query, str):
        raise Problem(
            HTTPStatus.BAD_REQUEST, "'query' should be there, and be a string; or 'template', with 'parameters'"
        )
    if dialect not in DIALECTS.values():
        raise Problem(HTTPStatus.BAD_REQUEST, f"'dialect' is one of {', '.join(DIALECTS.values())}")
    since = _moment(members.pop("since", None))
    return Wanted(tenant, id, query, dialect, Options.of(members), since)


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, f"the body is not UTF-8: byte 0x{body[error.start]:02X}") from error


def _moment(given: Any) -> int | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise Problem(HTTPStatus.BAD_REQUEST, "'since' should be a string, such as 2026-05-01T12:00:00Z")
    try:
        return round(moment_of(given).timestamp() * 1e6)
    except EventError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, f"'since': {error.reason}") from error


def _check_conditions(request: Request, before: Standing | None) -> None:
    tags.check(request, [] if before is None else [_tag(before)], "subscription")


# --------------------------------------------------------------------------------------------------------- what is told


def _answer(service: Service, standing: Standing, status: HTTPStatus) -> Response:
    """What is told of one to its owner: also what its webhook's requests are signed with."""
    headers = {"etag": _tag(standing), "cache-control": "no-store"}
    told = _described(standing)
    if standing.options.webhook is not None:
        told["webhook_secret"] = written_secret(service.hooks.secret(standing))
    if status == HTTPStatus.CREATED:
        headers["location"] = f"/v1/subscriptions/{quote(standing.id, safe='')}"
    return JSONResponse(told, status, headers)


def _described(standing: Standing) -> dict[str, object]:
    told: dict[str, object] = {
        "id": standing.id,
        "version": standing.version,
        "query": standing.query,
        "dialect": standing.dialect,
        "state": standing.state,
        "created": written_time(standing.created),
        **standing.options.told(),
    }
    if standing.complexity is not None:
        told["complexity"] = standing.complexity
    if standing.reason:
        told["reason"] = standing.reason
    if standing.expires is not None:
        told["expires"] = written_time(standing.expires)
    if standing.since is not None:
        told["since"] = written_time(standing.since)
        told["looking_back"] = standing.looked is not None
    return told


def _tag(standing: Standing) -> str:
    """Another one whenever anything that is told is another."""
    said = f"{standing.options.to_json()} {standing.state} {standing.expires} {standing.looked}"
    return f'"{standing.number}-{crc32(said.encode()):08x}"'
