"""What all paths share: the broker, its limits, who may ask."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from tidings.broker.core import Core
from tidings.broker.hooks import Hooks
from tidings.broker.http.access import Access
from tidings.broker.http.hub import Hub
from tidings.broker.http.outcomes import Outcomes
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
    core: Core
    access: Access
    bounds: Bounds
    hub: Hub
    hooks: Hooks
    outcomes: Outcomes

    @staticmethod
    def of(request: Request) -> Service:
        found = request.app.state.service
        assert isinstance(found, Service)
        return found
