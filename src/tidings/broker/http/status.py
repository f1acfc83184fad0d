"""`/v1/status`, `/healthz`, `/readyz`: how the server does."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import tidings
from tidings.broker import log
from tidings.broker.http.service import Service


async def status(request: Request) -> Response:
    """Of all tenants together, so for who may do everything."""
    service = Service.of(request)
    service.access.caller(request, "admin")
    return JSONResponse(await asyncio.to_thread(_told, service))


def _told(service: Service) -> dict[str, object]:
    core = service.core
    with core.database.reading() as reader:
        events, unmatched = log.ever(reader), log.count_behind(reader, core.told)
    return {
        "version": tidings.__version__,
        "events": events,
        "unmatched": unmatched,
        "subscriptions": len(core.matching),
        "listening": service.hub.listening,
        "bytes": core.database.bytes,
        "matching": dict(core.matching.engine.stats()),
    }


async def healthy(request: Request) -> Response:
    """The process answers."""
    return JSONResponse({"status": "ok"})


async def ready(request: Request) -> Response:
    """The store answers, too."""
    service = Service.of(request)
    await asyncio.to_thread(lambda: service.core.database.bytes)
    return JSONResponse({"status": "ok"})
