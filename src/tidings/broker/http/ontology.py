"""`/v1/ontology`: what the broker knows of classes and properties; another one takes its place at once."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker.http import tags
from tidings.broker.http.bodies import body_of, kind_of
from tidings.broker.http.negotiation import negotiated
from tidings.broker.http.problems import Problem
from tidings.broker.http.service import Service
from tidings.broker.knowledge import Knowledge
from tidings.rdf.formats import Format
from tidings.rdf.write import written


async def get(request: Request) -> Response:
    service = Service.of(request)
    service.access.caller(request, "subscribe")
    text = service.core.knowledge.text or ""
    format = negotiated(request.headers.get("accept"), Format.TTL)
    tag = _tag(text, format)
    headers = {"etag": tag, "vary": "accept", "cache-control": "private, max-age=0, must-revalidate"}
    if tags.is_known(request, tag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    data = await asyncio.to_thread(written, text, format)
    return Response(data, media_type=format.media_type, headers=headers)


async def put(request: Request) -> Response:
    """From now on; what subscriptions matched before stays as it is."""
    service = Service.of(request)
    caller = service.access.caller(request, "admin")
    format = Format.of_media_type(kind_of(request.headers.get("content-type", "")))
    if format is None:
        offered = ", ".join(each.media_type for each in Format)
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"an ontology comes as one of {offered}")
    there = service.core.knowledge.text
    tags.check(request, [_tag(there, each) for each in Format] if there else [], "ontology")
    body = await body_of(request, service.bounds.body)
    knowledge = await asyncio.to_thread(Knowledge.of_bytes, body, format, service.bounds.reading)
    again = await asyncio.wrap_future(service.core.learn(knowledge, caller.who))
    ontology = knowledge.ontology
    told = {"classes": len(ontology.classes), "properties": len(ontology.properties), "recompiled": len(again)}
    return JSONResponse(told, headers={"etag": _tag(knowledge.text or "", Format.TTL)})


def _tag(text: str, format: Format) -> str:
    return f'"{sha256(text.encode()).hexdigest()[:32]}-{format.value}"'
