"""The application: which path goes where."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tidings.broker import desk
from tidings.broker.core import Core
from tidings.broker.feeds.hub import Hub as Audience
from tidings.broker.feeds.poller import Manner, Poller
from tidings.broker.hooks import Hooks, Patience
from tidings.broker.http import (
    atom,
    audit,
    console,
    dead,
    events,
    explain,
    feeds,
    log,
    mappings,
    metrics,
    notifications,
    ontology,
    problems,
    recent,
    status,
    subscriptions,
    templates,
    websub,
)
from tidings.broker.http.access import Access
from tidings.broker.http.front import Front
from tidings.broker.http.hub import Hub
from tidings.broker.http.openapi import openapi
from tidings.broker.http.outcomes import Outcomes
from tidings.broker.http.service import Bounds, Service
from tidings.broker.http.short import Short
from tidings.broker.instances import Templates
from tidings.broker.mappings import Mappings
from tidings.errors import TidingsError

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


class _Path:
    """What is done on a path, by method. As an application of its own: then nothing is wrapped around it once more."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = {**handlers, "HEAD": handlers["GET"]} if "GET" in handlers else handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._handlers[scope["method"]](Request(scope, receive, send))
        await response(scope, receive, send)


def _path(path: str, **handlers: Handler) -> Route:
    return Route(path, _Path(handlers), methods=list(handlers))


LOG_ROUTES = [
    _path("/v1/log", GET=log.events),
    _path("/v1/log/ontology", GET=log.ontology),
    _path("/v1/log/subscriptions", GET=log.listed, POST=log.texts),
    _path("/v1/log/matched", POST=log.matched),
]
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
    _path("/v1/templates", GET=templates.several),
    _path("/v1/templates/{id}", PUT=templates.put, GET=templates.get, DELETE=templates.delete),
    _path("/v1/templates/{id}/instances", POST=templates.instances),
    _path("/v1/mappings", GET=mappings.several),
    _path("/v1/mappings/{id}", PUT=mappings.put, GET=mappings.get, DELETE=mappings.delete),
    _path("/v1/subscriptions/{id}/feed", GET=atom.feed),
    _path("/v1/subscriptions/{id}/feed/key", GET=atom.key, POST=atom.make_key, DELETE=atom.revoke_key),
    _path("/v1/feeds", GET=feeds.several, POST=feeds.add),
    _path("/v1/feeds/{id}", GET=feeds.get, DELETE=feeds.delete),
    _path("/v1/feeds/{id}/poll", POST=feeds.poll),
    _path("/v1/websub/{callback}", GET=websub.verify, POST=websub.told),
    _path("/v1/hub", POST=websub.hub),
    *LOG_ROUTES,
    _path("/", GET=console.page),
    _path("/console/{name}", GET=console.file),
    _path("/openapi.json", GET=openapi),
    _path("/v1/audit", GET=audit.several),
    _path("/v1/status", GET=status.status),
    _path("/metrics", GET=metrics.metrics),
    _path("/healthz", GET=status.healthy),
    _path("/readyz", GET=status.ready),
]


WRONG = {
    problems.Problem: problems.on_problem,
    TidingsError: problems.on_tidings,
    HTTPException: problems.on_http,
    Exception: problems.on_fault,
}


def application(
    core: Core,
    *,
    open: bool = False,
    names: Iterable[str] | None = None,
    bounds: Bounds | None = None,
    private: bool = False,
    patience: Patience | None = None,
    feeds: Manner | None = None,
) -> Starlette:
    """The broker as an ASGI application. Where it is `open`, no token is needed, and `names` should say under which
    names, besides localhost and addresses, it is to be asked. Webhooks go to public addresses, and with `private` to
    any. `feeds` is how feeds are asked for.
    """
    manner = feeds or Manner()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        hub, hooks = Hub(core), Hooks(core, private=private, patience=patience)
        limits = bounds or Bounds()
        poller, audience = Poller(core, manner), Audience(core, open=open, private=private, patience=patience)
        access = Access(core, open=open, rate=limits.rate)
        left = Templates(core), Mappings(core)
        service = Service(core, access, limits, hub, hooks, Outcomes(), *left, poller, audience, manner.base)
        app.state.service = service
        app.state.short = Short(service, Front(app, names))
        app.state.door = log.Door(desk.Front(core), service.access, limits)
        yield
        hub.close()
        poller.close()
        audience.close()
        hooks.close()

    app = Starlette(
        routes=_ROUTES,
        middleware=[Middleware(Front, names=names)],
        exception_handlers=WRONG,
        lifespan=lifespan,
    )
    # A path is what it is: nobody is sent elsewhere, by a name that he himself has given.
    app.router.redirect_slashes = False
    return app
