"""`/metrics`: what is counted and timed, for Prometheus."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from tidings.broker.http.service import Service

_KIND = "text/plain; version=0.0.4; charset=utf-8"


async def metrics(request: Request) -> Response:
    service = Service.of(request)
    service.access.caller(request, "admin")
    return Response(await asyncio.to_thread(_text, service), media_type=_KIND)


def _text(service: Service) -> str:
    core = service.core
    engine = core.matching.engine.stats()
    gauges = {
        "subscriptions": ("Subscriptions that are active.", len(core.matching.engine)),
        "subscriptions_unindexed": ("Rules that every event must be tried on.", engine["unindexed"]),
        "candidates": ("Subscriptions that were looked at, since the start.", engine["candidates"]),
        "verified": ("Subscriptions that the verifier was asked about, since the start.", engine["asked"]),
        "waiting": ("What waits to be written.", core.waiting),
        "listening": ("Open streams.", service.hub.listening),
        "database_bytes": ("What the database takes.", core.database.bytes),
    }
    return core.figures.text(gauges)
