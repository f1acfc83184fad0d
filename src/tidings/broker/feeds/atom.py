"""A subscription as an Atom feed: an entry for each notification, the newest first, and pages that go back."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from tidings.broker.core import Core, written_time
from tidings.broker.cursors import Cursor
from tidings.broker.feeds.keys import address
from tidings.broker.log import Logged
from tidings.broker.receiving import Notification
from tidings.broker.subscriptions import Standing
from tidings.ingest.feeds.out import Entry, Page, entry_of, write_atom

PAGE = 50


@dataclass(frozen=True, slots=True)
class Published:
    """Where a subscription is read: `base` is the server's address, `key` is part of that of the feed, where one was
    used; `limit` where another than the usual number is asked for.
    """

    core: Core
    standing: Standing
    base: str
    key: str | None
    limit: int | None = None

    @property
    def hub(self) -> str:
        return f"{self.base}/v1/hub"

    def at(self, before: Cursor | None = None) -> str:
        """The address of the page before a place, or of the newest."""
        more = {} if before is None else {"before": str(before)}
        if self.limit is not None:
            more["limit"] = str(self.limit)
        return address(self.base, self.standing.id, self.key, **more)

    @property
    def topic(self) -> str:
        """What it is called at the hub."""
        return address(self.base, self.standing.id, self.key)

    def links(self) -> str:
        """As a header has it."""
        return f'<{self.topic}>; rel="self", <{self.hub}>; rel="hub"'

    def page(self, before: Cursor | None) -> list[tuple[Standing, Logged]]:
        limit = PAGE if self.limit is None else self.limit
        return self.core.matched_before(self.standing.stream, None if before is None else before.seq, limit)

    def tag(self, found: Sequence[tuple[Standing, Logged]]) -> str:
        """Another one whenever the page is another."""
        said = [self.topic, self._title, self.standing.created, *((each.number, logged.seq) for each, logged in found)]
        return f'"{sha256(repr(said).encode()).hexdigest()[:32]}"'

    def modified(self, found: Sequence[tuple[Standing, Logged]]) -> int:
        """In microseconds since 1970."""
        return max((logged.accepted for _, logged in found), default=self.standing.created)

    def written(self, found: Sequence[tuple[Standing, Logged]], before: Cursor | None) -> bytes:
        """The page with these; `before` is the place that it ends at."""
        limit = PAGE if self.limit is None else self.limit
        older = Cursor(self.standing.stream, found[-1][1].seq) if len(found) >= limit else None
        return self._atom(found, self.at(before), self.at(), None if older is None else self.at(older))

    def told(self, found: Sequence[tuple[Standing, Logged]]) -> bytes:
        """What a hub tells: these are new."""
        return self._atom(found, self.topic, None, None)

    def _atom(self, found: Sequence[tuple[Standing, Logged]], at: str, first: str | None, older: str | None) -> bytes:
        tenant, id = self.standing.tenant, self.standing.id
        name = hmac.new(self.core.key, f"feed\0{tenant}\0{id}".encode(), sha256).hexdigest()[:32]
        page = Page(
            id=f"urn:tidings:feed:{name}",
            title=self._title,
            updated=written_time(self.modified(found)),
            address=at,
            hubs=(self.hub,),
            first=first,
            next=older,
        )
        return write_atom(page, [self._entry(standing, logged) for standing, logged in found])

    def _entry(self, standing: Standing, logged: Logged) -> Entry:
        id = Notification(self.core, standing, logged).id
        return entry_of(f"urn:tidings:notification:{id}", logged.event, written_time(logged.accepted))

    @property
    def _title(self) -> str:
        return (self.standing.options.labels or {}).get("title") or self.standing.id
