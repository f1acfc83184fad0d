"""Asks for the feeds of a stream when they are due, and keeps what is new in them: what the driver does.

Threads ask and read; what came of it is written by whoever looks, one feed after the other.
"""

from __future__ import annotations

import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Event as Flag
from urllib.parse import urlsplit

import pyarrow as pa

from tidings.delivery.feeds import ACCEPT, OF_A_HOST, WORKERS, Moment, agent, answered, failed
from tidings.delivery.fetch import GONE, NOT_MODIFIED, OK, Care, fetch
from tidings.errors import DeliveryError, EventError
from tidings.ingest.feeds.schedule import Policy
from tidings.ingest.feeds.taking import Taken, take
from tidings.rdf.event import Event
from tidings.spark.feeds.options import Options, addresses
from tidings.spark.feeds.takes import Kept, Takes
from tidings.spark.reading import Rows

_log = logging.getLogger("tidings")
_IDLE = 0.5
"""Seconds for which nobody looks again where there is nothing to do."""


@dataclass(frozen=True, slots=True)
class Told:
    """What came of asking: the feed since then, what is new, and what is wrong and was not so before."""

    feed: Kept
    news: Sequence[Event] = ()
    problems: Sequence[EventError] = ()

    def rows(self, now: float) -> list[pa.RecordBatch]:
        rows = Rows()
        found = list(rows.take(self.news, published=datetime.fromtimestamp(now, UTC)))
        for problem in self.problems:
            rows.problem(problem)
        return [*found, *rows.rest()]


def ask(feed: Kept, care: Care, policy: Policy, clock: Callable[[], float], dice: Callable[[], float]) -> Told:
    """Ask for a feed, whether or not it is due."""
    try:
        fetched = fetch(feed.url, feed.known, care, agent=agent(), accept=ACCEPT)
    except DeliveryError as error:
        return _wrong(feed, failed(feed, str(error), Moment(clock(), dice(), policy)))
    at = Moment(clock(), dice(), policy)
    if fetched.status == GONE:
        return _wrong(feed, failed(feed, "it is gone, says its server", at, fetched, gone=True))
    if fetched.status not in (OK, NOT_MODIFIED):
        return _wrong(feed, failed(feed, f"its server answered {fetched.status}", at, fetched))
    taken: Taken | None = None
    if fetched.status == OK:
        try:
            content_type = fetched.headers.get("content-type")
            taken = take(feed.url, feed.items, feed.options, fetched.body, content_type, care.size)
        except EventError as error:
            return _wrong(feed, failed(feed, f"it is no feed that can be read: {error.reason}", at, fetched))
    after = replace(answered(feed, fetched, taken, at), url=fetched.moved or feed.url)
    if taken is None:
        return Told(after)
    problems = list(taken.problems)
    if taken.wrong:
        problems.insert(0, EventError(taken.wrong, source=feed.url))
    return Told(after, taken.news, problems if after.problem != feed.problem else ())


def _wrong(before: Kept, after: Kept) -> Told:
    if after.problem == before.problem:
        return Told(after)
    return Told(after, problems=[EventError(after.problem, source=before.url)])


class Following:
    """The feeds of a stream. `last` is the number of the last take."""

    def __init__(
        self,
        options: Options,
        *,
        clock: Callable[[], float] = time.time,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self._takes = Takes(options.folder)
        self._policy = options.policy
        self._clock = clock
        self._dice = dice
        self._over = Flag()
        self._care = replace(options.care, over=self._over.is_set)
        self._feeds = _listed(addresses(options.places), self._takes.feeds(), options)
        self.last = max([self._takes.done(), *self._takes.numbers()])
        self._asked: dict[Future[Told], str] = {}
        self._hosts: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(WORKERS, "tidings-feed")

    def close(self) -> None:
        self._over.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def look(self, patience: float | None = None) -> None:
        """Ask for those that are due, and keep what comes of it: all of it, or what is there after so many seconds."""
        end = None if patience is None else time.monotonic() + patience
        turns = set(self._feeds) - set(self._asked.values())
        while True:
            self._begin(turns)
            left = None if end is None else max(0.0, end - time.monotonic())
            if not self._asked:
                if left:
                    self._over.wait(min(left, _IDLE))
                return
            done, _ = wait(self._asked, left, FIRST_COMPLETED)
            for future in done:
                self._keep(future)
            if left == 0.0:
                return

    def _begin(self, turns: set[str]) -> None:
        """With as many as may be asked for at a time; who has had his turn is not among `turns` any more."""
        now = self._clock()
        for listed in [each for each in self._feeds if each in turns]:
            feed = self._feeds[listed]
            host = _host(feed)
            if len(self._asked) >= WORKERS:
                return
            if feed.state == "active" and feed.schedule.due <= now and self._hosts[host] < OF_A_HOST:
                self._hosts[host] += 1
                self._asked[self._pool.submit(self._ask, feed)] = listed
                turns.remove(listed)

    def _ask(self, feed: Kept) -> Told:
        try:
            return ask(feed, self._care, self._policy, self._clock, self._dice)
        except Exception as error:
            # A mistake of ours: it is for one feed, and the others go on.
            _log.exception("feed %s", feed.url)
            problem = f"it could not be read: {error or type(error).__name__}"
            return _wrong(feed, failed(feed, problem, Moment(self._clock(), self._dice(), self._policy)))

    def _keep(self, future: Future[Told]) -> None:
        listed = self._asked.pop(future)
        self._hosts[_host(self._feeds[listed])] -= 1
        told = self._alone(future.result())
        feed = told.feed
        if rows := told.rows(self._clock()):
            feed = replace(feed, take=self.last + 1)
            self._takes.write(feed, rows)
            self.last += 1
        self._takes.keep(feed)
        self._feeds[listed] = feed

    def _alone(self, told: Told) -> Told:
        """Where it has moved to the address of another one, that is the one to ask for."""
        feed = told.feed
        others = (other.url for listed, other in self._feeds.items() if listed != feed.listed)
        if feed.url == self._feeds[feed.listed].url or feed.url not in others:
            return told
        problem = f"it has moved to {feed.url}, which is read already"
        error = EventError(problem, source=self._feeds[feed.listed].url)
        return replace(told, feed=replace(feed, state="gone", problem=problem), problems=[*told.problems, error])


def _host(feed: Kept) -> str:
    return urlsplit(feed.url).netloc.lower()


def _listed(urls: Sequence[str], known: dict[str, Kept], options: Options) -> dict[str, Kept]:
    """What is known of these feeds; with other options, the same bytes are other events, and all is new."""
    found: dict[str, Kept] = {}
    for url in urls:
        kept = known.get(url)
        if kept is None or kept.options != options.feed:
            take = 0 if kept is None else kept.take
            kept = Kept(url=url, listed=url, options=options.feed, take=take)
        found[url] = kept
    return found
