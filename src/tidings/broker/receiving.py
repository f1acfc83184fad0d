"""What a subscriber holds: his subscription, and the notifications of it, page by page or as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from threading import Event as Flag
from threading import Thread

from tidings.broker import subscriptions
from tidings.broker.core import Core, News
from tidings.broker.cursors import Cursor
from tidings.broker.log import Logged
from tidings.broker.streams import check_gone
from tidings.broker.subscriptions import BY_OWNER, Standing, State
from tidings.delivery.notification import notification_id
from tidings.errors import CursorError, EndedError, UsageError
from tidings.lang.pattern import Dialect
from tidings.match.base import Answer, Solution
from tidings.rdf.event import Event

PAGE = 100
LATEST = "latest"
"""In place of a cursor: behind all that there is."""

_MOST = 10_000


class Notification:
    """That an event matches a subscription. Its answer is computed when it is first asked for.

    `cursor` says where it is among those of the subscription; `id` is the same whenever it is sent.
    """

    def __init__(self, core: Core, standing: Standing, logged: Logged) -> None:
        self._core = core
        self._standing = standing
        self._logged = logged

    def __repr__(self) -> str:
        return f"Notification({self.subscription!r}, {self.event.id!r}, cursor={self.cursor!r})"

    @property
    def id(self) -> str:
        standing = self._standing
        return notification_id(standing.id, self.event.id, tenant=standing.tenant, version=standing.version)

    @property
    def cursor(self) -> str:
        return str(Cursor(self._standing.stream, self._logged.seq))

    @property
    def subscription(self) -> str:
        return self._standing.id

    @property
    def accepted(self) -> int:
        """When its event was accepted, in microseconds since 1970."""
        return self._logged.accepted

    @property
    def version(self) -> int:
        return self._standing.version

    @property
    def event(self) -> Event:
        return self._logged.event

    @cached_property
    def answer(self) -> Answer:
        return self._core.answer(self._standing, self.event)

    @property
    def bindings(self) -> tuple[Solution, ...]:
        return self.answer.bindings

    @property
    def construct(self) -> str | None:
        return self.answer.construct


@dataclass(frozen=True, slots=True)
class Page:
    """Notifications in order, and the place behind them, from which to go on. `missed` is the place up to which
    notifications are gone that the subscriber had not acknowledged; told where he gives no cursor.
    """

    notifications: list[Notification]
    cursor: str
    missed: str | None = None


class Subscription:
    """A subscription that stands, as it was when this was asked for."""

    def __init__(self, core: Core, standing: Standing) -> None:
        self._core = core
        self._standing = standing

    def __repr__(self) -> str:
        return f"Subscription({self.id!r}, version={self.version}, state={self.state!r})"

    @property
    def id(self) -> str:
        return self._standing.id

    @property
    def query(self) -> str:
        return self._standing.query

    @property
    def dialect(self) -> Dialect:
        return self._standing.dialect

    @property
    def version(self) -> int:
        return self._standing.version

    @property
    def stream(self) -> int:
        """Under which it is heard of that there is something new."""
        return self._standing.stream

    @property
    def state(self) -> State:
        return self._standing.state

    @property
    def reason(self) -> str:
        """Why it is paused."""
        return self._standing.reason

    @property
    def why_paused(self) -> str | None:
        """As it is now: why it is paused, or None."""
        return self._core.paused.get(self.stream)

    @property
    def created(self) -> datetime:
        return self._standing.created_at

    # ---------------------------------------------------------------------------------------------------------- changes

    def cancel(self) -> None:
        """It ends now; what it was told stays with who read it."""
        self._core.end(self._standing.tenant, self.id).result()

    def pause(self, reason: str = BY_OWNER) -> None:
        """Events that are published meanwhile are not for it."""
        self._standing = self._there(self._core.pause(self._standing.tenant, self.id, reason).result())

    def resume(self) -> None:
        self._standing = self._there(self._core.resume(self._standing.tenant, self.id).result())

    def ack(self, cursor: str) -> None:
        """Say that everything up to this place has been dealt with: who asks without a cursor goes on behind it."""
        self._core.acknowledge(self._place(cursor)).result()

    def _there(self, standing: Standing | None) -> Standing:
        if standing is None:
            raise UsageError(f"there is no subscription {self.id!r} any more")
        return standing

    # -------------------------------------------------------------------------------------------------------- receiving

    def page(self, after: str | None = None, limit: int = PAGE) -> Page:
        """The next notifications behind a cursor; without one, behind the last that was acknowledged.

        A `CursorError` says that it is none of this subscription, or that notifications behind it are gone.
        """
        if not 1 <= limit <= _MOST:
            raise UsageError(f"a page has 1 to {_MOST:,} notifications, and not {limit}")
        while True:
            try:
                page = self._read(self.start(after), limit)
            except CursorError:
                # Who names no place begins with what is left, also when some of it goes just now.
                if after is not None:
                    raise
            else:
                return page if after is not None else replace(page, missed=self.missed())

    def missed(self) -> str | None:
        """Up to where notifications are gone that were not acknowledged; None where there are none."""
        with self._core.database.reading() as database:
            acked, dropped = subscriptions.progress(database, self._standing.stream)
        return str(Cursor(self._standing.stream, dropped)) if dropped > acked else None

    def _read(self, place: Cursor, limit: int = PAGE) -> Page:
        found = self._core.matched(place.stream, place.seq, limit)
        notifications = [Notification(self._core, standing, logged) for standing, logged in found]
        return Page(notifications, notifications[-1].cursor if notifications else str(place))

    def start(self, after: str | None) -> Cursor:
        """Where to begin: behind this cursor, if it is a good one; else behind what was acknowledged."""
        if after == LATEST:
            return Cursor(self._standing.stream, self._core.last)
        if after is not None:
            return self._place(after)
        with self._core.database.reading() as database:
            acked, dropped = subscriptions.progress(database, self._standing.stream)
        return Cursor(self._standing.stream, max(acked, dropped))

    def _place(self, text: str) -> Cursor:
        """A cursor of this subscription, behind which nothing is gone."""
        place = Cursor.of(text)
        with self._core.database.reading() as database:
            standing = subscriptions.find(database, self._standing.tenant, self.id)
            if standing is None:
                raise EndedError(text)
            if place.stream != standing.stream or place.seq > self._core.last:
                raise CursorError(text, "it is none of this subscription", "start again without one")
            check_gone(database, place)
        return place

    def _next(self, place: Cursor) -> tuple[list[Notification], Cursor] | None:
        """What there is behind a place, and the place behind that; None when the subscription has ended."""
        with self._core.database.reading() as database:
            standing = subscriptions.find(database, self._standing.tenant, self.id)
        if standing is None or standing.stream != place.stream:
            return None
        page = self._read(place)
        return page.notifications, Cursor.of(page.cursor)

    def listen(self, after: str | None = None, *, timeout: float | None = None) -> Iterator[Notification]:
        """The notifications behind a cursor, and then those that come, as they come; until the subscription ends, or
        for `timeout` seconds nothing has come.
        """
        new = Flag()
        silent = self._core.listen(lambda news: new.set() if self._standing.stream in news else None)
        try:
            place = self.start(after)
            while (found := self._next(place)) is not None:
                notifications, place = found
                yield from notifications
                if not notifications:
                    if not new.wait(timeout):
                        return
                    new.clear()
        finally:
            silent()

    def __iter__(self) -> Iterator[Notification]:
        return self.listen()

    async def __aiter__(self) -> AsyncIterator[Notification]:
        async for notification in self.listen_async():
            yield notification

    async def listen_async(self, after: str | None = None) -> AsyncIterator[Notification]:
        """The same as `listen`, for asyncio; it ends with the task, or when the subscription is cancelled."""
        loop, new = asyncio.get_running_loop(), asyncio.Event()

        def rung(news: News) -> None:
            if self._standing.stream in news:
                loop.call_soon_threadsafe(new.set)

        silent = self._core.listen(rung)
        try:
            place = await asyncio.to_thread(self.start, after)
            while (found := await asyncio.to_thread(self._next, place)) is not None:
                notifications, place = found
                for notification in notifications:
                    yield notification
                if not notifications:
                    await new.wait()
                    new.clear()
        finally:
            silent()

    def on(self, told: Callable[[Notification], None], after: str | None = None) -> Thread:
        """Have a function called with each notification, one after the other, in a thread of its own. Each is
        acknowledged when the function has returned: one that raises an error ends this, and comes again next time.
        """

        def run() -> None:
            for notification in self.listen(after):
                told(notification)
                try:
                    self.ack(notification.cursor)
                except EndedError:
                    # Cancelled meanwhile, perhaps by the function: there is nothing left to acknowledge.
                    return

        thread = Thread(target=run, name=f"tidings-{self.id}", daemon=True)
        thread.start()
        return thread
