"""`/v1/explain`: why a subscription matches an event, or why not; in words or as a picture."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker import log
from tidings.broker.http.bodies import json_of
from tidings.broker.http.negotiation import wants
from tidings.broker.http.problems import Problem
from tidings.broker.http.service import Service
from tidings.broker.http.subscriptions import DIALECTS, found, weighed
from tidings.draw import event_svg
from tidings.errors import EvaluationError
from tidings.lang.pattern import Dialect
from tidings.match.explain import Names, declared_prefixes, explain, explanation_text
from tidings.rdf.event import Event
from tidings.rdf.formats import Format
from tidings.rdf.read import event_from

_SVG = "image/svg+xml"
_DRAWN = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox", "vary": "accept"}
"""Whoever opens a picture as a page gets a picture."""

_MEMBERS = ("subscription", "query", "dialect", "event", "data", "format")
_WIDTH = 100
_BUDGET = 200_000
"""Steps that a question may take: somebody waits for the answer."""


async def post(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "subscribe")
    asked = await json_of(request, service.bounds.query + (1 << 20), *_MEMBERS)
    name, query, dialect = await _subscription(service, caller.tenant, asked)
    event = await asyncio.to_thread(_event, service, asked)
    drawn = wants(request.headers.get("accept"), _SVG)
    return await asyncio.to_thread(_explained, service, name, query, dialect, event, drawn)


def _explained(service: Service, name: str, query: str, dialect: Dialect, event: Event, drawn: bool) -> Response:
    ontology = service.core.matching.engine.ontology
    known = declared_prefixes(query, dialect)
    try:
        explanation = explain(weighed(service, query, dialect)[0], event, ontology, prefixes=known, budget=_BUDGET)
    except EvaluationError as error:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from error
    names = Names(ontology, known)
    if drawn:
        return Response(event_svg(explanation, event, name, names), media_type=_SVG, headers=_DRAWN)
    text = explanation_text(explanation, name, names, _WIDTH)
    return JSONResponse({"subscription": name, "text": text, **asdict(explanation)})


async def _subscription(service: Service, tenant: str, asked: Mapping[str, Any]) -> tuple[str, str, Dialect]:
    id, query, dialect = asked.get("subscription"), asked.get("query"), asked.get("dialect", "sparql")
    if isinstance(id, str) and query is None and "dialect" not in asked:
        standing = await found(service.core, tenant, id)
        return id, standing.query, standing.dialect
    if not isinstance(query, str) or id is not None:
        raise Problem(HTTPStatus.BAD_REQUEST, "either 'subscription' is the id of one, or 'query' the text of one")
    if dialect not in DIALECTS.values():
        raise Problem(HTTPStatus.BAD_REQUEST, f"'dialect' is one of {', '.join(DIALECTS.values())}")
    return "this query", query, dialect


def _event(service: Service, asked: Mapping[str, Any]) -> Event:
    id, data, format = asked.get("event"), asked.get("data"), asked.get("format", "trig")
    if isinstance(id, str) and data is None and "format" not in asked:
        with service.core.database.reading() as reader:
            logged = log.by_id(reader, id)
        if logged is None:
            raise Problem(HTTPStatus.NOT_FOUND, "there is no such event")
        return logged.event
    if not isinstance(data, str) or not isinstance(format, str) or id is not None:
        raise Problem(HTTPStatus.BAD_REQUEST, "either 'event' is the id of one, or 'data' the text of one")
    return event_from(data.encode("utf-8", "replace"), format=Format.of(format), limits=service.bounds.reading)
