"""The application: which path goes where."""

from __future__ import annotations

from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tidings.broker.core import Core
from tidings.broker.hooks import Hooks, Patience
from tidings.broker.http import dead, events, notifications, problems, subscriptions
from tidings.broker.http.access import Access
from tidings.broker.http.hub import Hub
from tidings.broker.http.openapi import openapi
from tidings.broker.http.service import Bounds, Service
from tidings.errors import TidingsError

_ROUTES = [
    Route("/v1/events", events.publish, methods=["POST"]),
    Route("/v1/events/{id:path}", events.event, methods=["GET"]),
    Route("/v1/events/{id:path}", events.delete, methods=["DELETE"]),
    Route("/v1/subscriptions", subscriptions.several, methods=["GET"]),
    Route("/v1/subscriptions/{id}/notifications", notifications.notifications, methods=["GET"]),
    Route("/v1/subscriptions/{id}/ack", notifications.ack, methods=["POST"]),
    Route("/v1/subscriptions/{id}/dead", dead.several, methods=["GET"]),
    Route("/v1/subscriptions/{id}/dead/{cursor}", dead.again, methods=["POST"]),
    Route("/v1/subscriptions/{id}/dead/{cursor}", dead.forget, methods=["DELETE"]),
    Route("/v1/subscriptions/{id}/pause", subscriptions.pause, methods=["POST"]),
    Route("/v1/subscriptions/{id}/resume", subscriptions.resume, methods=["POST"]),
    Route("/v1/subscriptions/{id}", subscriptions.put, methods=["PUT"]),
    Route("/v1/subscriptions/{id}", subscriptions.get, methods=["GET"]),
    Route("/v1/subscriptions/{id}", subscriptions.delete, methods=["DELETE"]),
]


def application(
    core: Core,
    *,
    open: bool = False,
    bounds: Bounds | None = None,
    private: bool = False,
    patience: Patience | None = None,
) -> Starlette:
    """The broker as an ASGI application. Where it is `open`, no token is needed. Webhooks go to public addresses, and
    with `private` to any.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        hub, hooks = Hub(core), Hooks(core, private=private, patience=patience)
        app.state.service = Service(core, Access(core, open=open), bounds or Bounds(), hub, hooks)
        with ThreadPoolExecutor(1, "tidings-look-back") as app.state.looking:
            yield
            hub.close()
            hooks.close()

    return Starlette(
        routes=[Route("/openapi.json", openapi), Route("/healthz", _well), Route("/readyz", _well), *_ROUTES],
        exception_handlers={
            problems.Problem: problems.on_problem,
            TidingsError: problems.on_tidings,
            HTTPException: problems.on_http,
            Exception: problems.on_fault,
        },
        lifespan=lifespan,
    )


async def _well(request: Request) -> Response:
    return JSONResponse({"status": "ok"})
