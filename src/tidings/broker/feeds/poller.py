"""Asks for feeds when they are due, and publishes what is new in them: one request, whoever wants to hear of it.

When a feed is due, its own `ttl` and hours, its server's headers, and how often there was something new say together
(see `ingest.feeds.schedule`). A feed that cannot be read is tried again, later each time; its state says what is wrong,
and all others go on. Where it has a hub, that is asked to tell (see `websub`), and the feed itself seldom.
"""

from __future__ import annotations

import random
import sqlite3
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from threading import Event as Flag
from threading import Lock
from urllib.parse import urlsplit

from tidings.broker import audit
from tidings.broker.audit import PROGRAM, Who
from tidings.broker.core import Core
from tidings.broker.feeds import rows
from tidings.broker.feeds.rows import Feed
from tidings.broker.feeds.taking import take
from tidings.broker.feeds.turns import Turns
from tidings.broker.feeds.websub import Websub
from tidings.delivery.addresses import Endpoint
from tidings.delivery.feeds import ACCEPT, OF_A_HOST, WORKERS, Moment, agent, answered, failed
from tidings.delivery.fetch import DEFAULT_CARE, GONE, NOT_MODIFIED, OK, Care, Fetched, fetch, plain_url
from tidings.errors import DeliveryError, EventError
from tidings.ingest.feeds.options import FeedOptions
from tidings.ingest.feeds.schedule import DEFAULT_POLICY, Policy
from tidings.ingest.feeds.taking import Taken
from tidings.ingest.registry import converter

_STRIPES = 64


@dataclass(frozen=True, slots=True)
class Manner:
    """How feeds are asked for: so many at a time, and so many of one host; `public` is where hubs find this server."""

    policy: Policy = DEFAULT_POLICY
    care: Care = DEFAULT_CARE
    workers: int = WORKERS
    of_a_host: int = OF_A_HOST
    public: str | None = None
    dice: Callable[[], float] = random.random

    @property
    def base(self) -> str | None:
        return None if self.public is None else self.public.rstrip("/")

    @property
    def agent(self) -> str:
        return agent(self.public)


class Poller:
    """Begins with the feeds that there are."""

    def __init__(self, core: Core, manner: Manner | None = None) -> None:
        self._core = core
        self._manner = manner or Manner()
        self._locks = [Lock() for _ in range(_STRIPES)]
        self._hosts: dict[int, str] = {}
        self._asked: defaultdict[int, list[Future[Feed | None]]] = defaultdict(list)
        self._asking = Lock()
        self._over = Flag()
        self._care = replace(self._manner.care, over=self._over.is_set)
        self.websub = Websub(core, self._manner.base, self._care, self._manner.agent)
        self._turns = Turns(
            "feed",
            self._turn,
            workers=self._manner.workers,
            lane=lambda number: self._hosts.get(number, ""),
            narrow=self._manner.of_a_host,
        )
        with core.database.reading() as reader:
            those = list(rows.active(reader))
        for feed in those:
            self._expect(feed)

    def close(self) -> None:
        self._over.set()
        self._turns.close()
        with self._asking:
            waiting = [future for futures in self._asked.values() for future in futures]
            self._asked.clear()
        for future in waiting:
            future.cancel()

    # ---------------------------------------------------------------------------------------------------------- changes

    def add(self, url: str, options: FeedOptions, by: Who = PROGRAM) -> Future[tuple[Feed, bool]]:
        """Read a feed from now on; whether it is new. A `UsageError` says what is wrong with its address."""
        address = plain_url(url)
        Endpoint.of(address, "a feed")
        converter("feed")

        def write(writer: sqlite3.Connection) -> tuple[Feed, bool]:
            feed, new = rows.add(writer, address, options, by, self._core.now())
            audit.write(writer, self._core.now(), by, "add feed" if new else "change feed", feed.id)
            return feed, new

        return self._core.change(write, lambda done: self._expect(done[0]))

    def remove(self, id: str, by: Who = PROGRAM) -> Future[Feed | None]:
        def write(writer: sqlite3.Connection) -> Feed | None:
            feed = rows.remove(writer, id)
            if feed is not None:
                audit.write(writer, self._core.now(), by, "remove feed", id)
            return feed

        def then(feed: Feed | None) -> None:
            if feed is not None:
                self._turns.soon(feed.number)

        return self._core.change(write, then)

    def poll(self, feed: Feed, by: Who = PROGRAM) -> Future[Feed | None]:
        """Ask for it now; what is known of it then, or None where it has been removed meanwhile."""
        self._core.note(by, "poll feed", feed.id)
        done: Future[Feed | None] = Future()
        with self._asking:
            self._asked[feed.number].append(done)
        self._turns.soon(feed.number)
        return done

    def _expect(self, feed: Feed) -> None:
        self._hosts[feed.number] = urlsplit(feed.url).netloc.lower()
        self._turns.soon(feed.number, feed.schedule.due - self._now())

    def _now(self) -> float:
        return self._core.now() / 1e6

    # ----------------------------------------------------------------------------------------------------------- a turn

    def _turn(self, number: int) -> float | None:
        with self._asking:
            asked = self._asked.pop(number, [])
        try:
            feed = self._polled(number, at_once=bool(asked))
        except BaseException as error:
            for future in asked:
                future.set_exception(error)
            raise
        for future in asked:
            future.set_result(feed)
        if self._over.is_set():
            return None
        if feed is None:
            self._hosts.pop(number, None)
            self.websub.leave(number)
            return None
        if feed.state != "active":
            self.websub.leave(number)
            return None
        waits = [feed.schedule.due - self._now(), self.websub.tend(feed)]
        return max(0.0, min(wait for wait in waits if wait is not None))

    def _polled(self, number: int, *, at_once: bool) -> Feed | None:
        feed = self._found(number)
        if feed is None or (not at_once and (feed.state != "active" or feed.schedule.due > self._now())):
            return feed
        try:
            fetched = fetch(feed.url, feed.known, self._care, agent=self._manner.agent, accept=ACCEPT)
        except DeliveryError as error:
            if self._over.is_set():
                return feed
            return self._failed(number, "unreachable", str(error))
        if fetched.status in (OK, NOT_MODIFIED):
            return self._answered(number, fetched)
        if fetched.status == GONE:
            return self._failed(number, "gone", "it is gone, says its server", fetched, gone=True)
        return self._failed(number, "refused", f"its server answered {fetched.status}", fetched)

    def _found(self, number: int) -> Feed | None:
        with self._core.database.reading() as reader:
            return rows.by_number(reader, number)

    def _answered(self, number: int, fetched: Fetched) -> Feed | None:
        with self._locks[number % _STRIPES]:
            # Meanwhile a hub may have told something.
            feed = self._found(number)
            if feed is None:
                return None
            if fetched.status == NOT_MODIFIED:
                return self._kept(feed, fetched, None, "not modified")
            try:
                taken = self._take(feed, fetched.body, fetched.headers.get("content-type"))
            except EventError as error:
                return self._failed(number, "ill-formed", f"it is no feed that can be read: {error.reason}", fetched)
            return self._kept(feed, fetched, taken, "changed" if taken.changes.any else "same")

    def _take(self, feed: Feed, body: bytes, content_type: str | None) -> Taken:
        return take(self._core, feed, body, content_type, self._care.size)

    def _kept(self, feed: Feed, fetched: Fetched, taken: Taken | None, outcome: str) -> Feed | None:
        after = answered(feed, fetched, taken, self._moment(), pushed=self.websub.is_active(feed.number))
        return self._write(replace(after, polled=self._core.now()), outcome, fetched.moved)

    def _failed(
        self, number: int, outcome: str, problem: str, fetched: Fetched | None = None, *, gone: bool = False
    ) -> Feed | None:
        feed = self._found(number)
        if feed is None:
            return None
        after = failed(feed, problem, self._moment(), fetched, gone=gone)
        return self._write(replace(after, polled=self._core.now()), outcome)

    def _moment(self) -> Moment:
        return Moment(self._now(), self._manner.dice(), self._manner.policy)

    def _write(self, feed: Feed, outcome: str, moved: str | None = None) -> Feed | None:
        """After what it told is durable."""
        self._core.figures.count(f"feed_polls:{outcome}")
        done = self._core.change(partial(_written, feed=feed, moved=moved)).result()
        if done is not None:
            self._hosts[done.number] = urlsplit(done.url).netloc.lower()
        return done

    # ---------------------------------------------------------------------------------------------------------- pushed

    def told(self, number: int, body: bytes, content_type: str | None) -> None:
        """A hub tells what is new in a feed: what it sends is taken like what is asked for. What cannot be read, the
        feed is asked for instead.
        """
        with self._locks[number % _STRIPES]:
            feed = self._found(number)
            if feed is None or feed.state != "active":
                return
            try:
                taken = self._take(feed, body, content_type)
            except EventError:
                feed = replace(feed, schedule=feed.schedule.told(self._now()))
                self._core.change(partial(rows.put, feed=feed)).result()
                self._turns.soon(number)
                return
            self._core.figures.count("feed_polls:pushed")
            self._core.change(partial(rows.put, feed=replace(feed, items=taken.items))).result()

    def verified(self, number: int) -> None:
        """A hub has agreed to something: when to ask it again is another matter now."""
        self._turns.soon(number)


def _written(writer: sqlite3.Connection, feed: Feed, moved: str | None) -> Feed | None:
    """What is known of a feed now, under its address from now on; None where it has been removed."""
    if moved is not None and moved != feed.url:
        other = rows.by_url(writer, moved)
        if other is None:
            feed = replace(feed, url=moved)
        else:
            feed = replace(
                feed, state="gone", problem=f"it has moved to where feed {other.id} is, which is read already"
            )
    before = rows.by_number(writer, feed.number)
    if before is None:
        return None
    if before.options != feed.options:
        # They were changed while it was read: it is read again.
        return before
    rows.put(writer, feed)
    return feed
