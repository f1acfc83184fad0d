"""What all paths share: the broker, its limits, who may ask."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from tidings.broker.core import Core
from tidings.broker.feeds.hub import Hub as Audience
from tidings.broker.feeds.poller import Poller
from tidings.broker.hooks import Hooks
from tidings.broker.http.access import Access
from tidings.broker.http.hub import Hub
from tidings.broker.http.outcomes import Outcomes
from tidings.broker.instances import Templates
from tidings.broker.mappings import Mappings
from tidings.rdf.limits import MIB, Limits


@dataclass(frozen=True, slots=True)
class Bounds:
    """`body` and `query` are the bytes of a document and of a subscription; `page` is how many a page has at most;
    `complexity` is the score that a query may have; `rate` is how often a second somebody may ask, None for any.
    """

    body: int = 64 * MIB
    query: int = 1 * MIB
    page: int = 1_000
    complexity: int = 1_000
    rate: float | None = None

    @property
    def reading(self) -> Limits:
        return Limits(max_document=self.body, max_json=self.body, max_event=self.body, max_pending=self.body)


@dataclass(slots=True)
class Service:
    """`hub` has the streams of notifications, `audience` those who listen to feeds; `public` is the address of the
    server, where it knows one.
    """

    core: Core
    access: Access
    bounds: Bounds
    hub: Hub
    hooks: Hooks
    outcomes: Outcomes
    templates: Templates
    mappings: Mappings
    poller: Poller
    audience: Audience
    public: str | None = None

    def base(self, request: Request) -> str:
        """The server's address, as others know it, or else as who asks does."""
        return self.public or f"{request.url.scheme}://{request.url.netloc}"

    @staticmethod
    def of(request: Request) -> Service:
        found = request.app.state.service
        assert isinstance(found, Service)
        return found
