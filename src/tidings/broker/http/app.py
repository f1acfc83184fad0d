"""The application: which path goes where."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tidings.broker.core import Core
from tidings.broker.hooks import Hooks, Patience
from tidings.broker.http import (
    audit,
    console,
    dead,
    events,
    explain,
    metrics,
    notifications,
    ontology,
    problems,
    recent,
    status,
    subscriptions,
)
from tidings.broker.http.access import Access
from tidings.broker.http.hub import Hub
from tidings.broker.http.openapi import openapi
from tidings.broker.http.outcomes import Outcomes
from tidings.broker.http.service import Bounds, Service
from tidings.errors import TidingsError

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


def _path(path: str, **handlers: Handler) -> Route:
    """A path, with what is done for each method."""

    async def endpoint(request: Request) -> Response:
        return await handlers["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, endpoint, methods=list(handlers))


_ROUTES = [
    _path("/v1/events", POST=events.publish, GET=recent.events),
    _path("/v1/events/{id:path}", GET=events.event, DELETE=events.delete),
    _path("/v1/try", POST=recent.attempt),
    _path("/v1/explain", POST=explain.post),
    _path("/v1/ontology", GET=ontology.get, PUT=ontology.put),
    _path("/v1/subscriptions", GET=subscriptions.several),
    _path("/v1/subscriptions/{id}", PUT=subscriptions.put, GET=subscriptions.get, DELETE=subscriptions.delete),
    _path("/v1/subscriptions/{id}/notifications", GET=notifications.notifications),
    _path("/v1/subscriptions/{id}/ack", POST=notifications.ack),
    _path("/v1/subscriptions/{id}/pause", POST=subscriptions.pause),
    _path("/v1/subscriptions/{id}/resume", POST=subscriptions.resume),
    _path("/v1/subscriptions/{id}/dead", GET=dead.several),
    _path("/v1/subscriptions/{id}/dead/{cursor}", POST=dead.again, DELETE=dead.forget),
    _path("/", GET=console.page),
    _path("/console/{name}", GET=console.file),
    _path("/openapi.json", GET=openapi),
    _path("/v1/audit", GET=audit.several),
    _path("/v1/status", GET=status.status),
    _path("/metrics", GET=metrics.metrics),
    _path("/healthz", GET=status.healthy),
    _path("/readyz", GET=status.ready),
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
        limits = bounds or Bounds()
        app.state.service = Service(core, Access(core, open=open, rate=limits.rate), limits, hub, hooks, Outcomes())
        yield
        hub.close()
        hooks.close()

    return Starlette(
        routes=_ROUTES,
        exception_handlers={
            problems.Problem: problems.on_problem,
            TidingsError: problems.on_tidings,
            HTTPException: problems.on_http,
            Exception: problems.on_fault,
        },
        lifespan=lifespan,
    )
