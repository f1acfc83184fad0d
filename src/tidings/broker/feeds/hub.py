"""This server as a hub (WebSub) for its own feeds: who asks is asked back, and then told of what is new, signed.

What he does not take is sent again, later each time, and in the end given up: it stays in the feed, where he can read
it. Where he may be reached is checked as for webhooks.
"""

from __future__ import annotations

import hmac
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from secrets import token_urlsafe
from threading import Event as Flag
from threading import Lock
from urllib.parse import urlencode, urlsplit

from tidings.broker import subscriptions
from tidings.broker.core import Core, News
from tidings.broker.feeds import audience, keys
from tidings.broker.feeds.atom import Published
from tidings.broker.feeds.audience import Listener
from tidings.broker.feeds.turns import Turns
from tidings.broker.feeds.websub import signature_of
from tidings.broker.hooks import Patience
from tidings.delivery import webhooks
from tidings.delivery.addresses import Endpoint, address_of, within
from tidings.delivery.fetch import Care, fetch
from tidings.delivery.notification import NO_TENANT
from tidings.errors import CursorError, DeliveryError, TidingsError
from tidings.ingest.feeds.out import MEDIA_TYPE

_SECOND = 1_000_000
_SHORTEST, _USUAL, _LONGEST = 60, 10 * 86_400, 30 * 86_400
"""Seconds of a lease."""

_PAGE = 50
_WAITING = 1_000
"""So many may wait to be asked back."""

_GONE = 410


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asks the hub for: `tenant` and `id` are of the subscription that the topic is."""

    subscribe: bool
    tenant: str
    id: str
    topic: str
    callback: str
    secret: str = ""
    lease: int = _USUAL


class Hub:
    """`open` and `private` are as of the server's; `care` bounds what is asked back."""

    def __init__(
        self,
        core: Core,
        *,
        open: bool = False,
        private: bool = False,
        patience: Patience | None = None,
        workers: int = 8,
    ) -> None:
        self._core = core
        self._open = open
        self._patience = patience or Patience()
        self._over = Flag()
        self._care = Care(self._patience.timeout, 1 << 12, 0, private, over=self._over.is_set)
        self._streams: dict[int, frozenset[int]] = {}
        self._lock = Lock()
        self._waiting = 0
        self._verifying = ThreadPoolExecutor(4, "tidings-hub-verify")
        self._turns = Turns("hub", self._turn, workers=workers, lane=self._host, narrow=2)
        self._silent = core.listen(self._rung)
        with core.database.reading() as reader:
            those = audience.everybody(reader)
        for listener in those:
            self._turns.soon(listener.number)

    def close(self) -> None:
        self._silent()
        self._over.set()
        self._verifying.shutdown(cancel_futures=True)
        self._turns.close()

    def tenant_of(self, id: str, key: str | None) -> str | None:
        """Whose subscription of this id may be read by that key, or by anybody; None where it may not."""
        if key is None:
            return NO_TENANT if self._open else None
        with self._core.database.reading() as reader:
            return keys.tenant_of(reader, self._core.key, id, key)

    # ------------------------------------------------------------------------------------------------------ being asked

    def ask(self, asked: Asked) -> bool:
        """Ask back, and then do it; false where too many wait for that, or listen already."""
        with self._core.database.reading() as reader:
            there = audience.find(reader, asked.callback, asked.topic) is not None
            if asked.subscribe and not there and audience.has_enough(reader, asked.tenant, asked.id):
                return False
        with self._lock:
            if self._waiting >= _WAITING:
                return False
            self._waiting += 1
        self._verifying.submit(self._verify, asked)
        return True

    def _verify(self, asked: Asked) -> None:
        try:
            if not self._is_meant(asked):
                return
            if asked.subscribe:
                self._subscribe(asked)
            else:
                self._core.change(partial(_leave, callback=asked.callback, topic=asked.topic)).result()
        except TidingsError:
            # Who does not answer did not mean it.
            return
        finally:
            with self._lock:
                self._waiting -= 1

    def _is_meant(self, asked: Asked) -> bool:
        challenge = token_urlsafe(24)
        question = {
            "hub.mode": "subscribe" if asked.subscribe else "unsubscribe",
            "hub.topic": asked.topic,
            "hub.challenge": challenge,
        }
        if asked.subscribe:
            question["hub.lease_seconds"] = str(asked.lease)
        joint = "&" if urlsplit(asked.callback).query else "?"
        answer = fetch(f"{asked.callback}{joint}{urlencode(question)}", care=self._care, agent="tidings (hub)")
        said = answer.body.strip()
        return 200 <= answer.status < 300 and hmac.compare_digest(said, challenge.encode())

    def _subscribe(self, asked: Asked) -> None:
        now = self._core.now()
        expires = now + asked.lease * _SECOND
        wanted = Listener(0, asked.tenant, asked.id, asked.topic, asked.callback, asked.secret, expires, 0, 0)
        write = partial(audience.put, wanted=wanted, now=now, last=self._core.last)
        listener = self._core.change(write).result()
        if listener is not None:
            self._turns.soon(listener.number)

    # ---------------------------------------------------------------------------------------------------------- telling

    def _rung(self, news: News) -> None:
        for stream in news:
            for number in self._streams.get(stream, ()):
                self._turns.soon(number)

    def _host(self, number: int) -> str:
        with self._core.database.reading() as reader:
            listener = audience.by_number(reader, number)
        return "" if listener is None else urlsplit(listener.callback).netloc

    def _turn(self, number: int) -> float | None:
        """Tell one listener what is new; after how many seconds to try again."""
        with self._core.database.reading() as reader:
            listener = audience.by_number(reader, number)
        published = None if listener is None else self._published(listener)
        if listener is None or published is None:
            self._watch(number, None)
            self._core.change(partial(audience.remove, number=number))
            return None
        stream = published.standing.stream
        if self._watch(number, stream):
            # What has changed since we looked, nobody would tell us of: now that somebody does, look again.
            return 0.0
        try:
            found = self._core.matched(stream, listener.told, _PAGE)
        except CursorError:
            # What he was not told is gone, and cannot be told any more.
            self._core.change(partial(_skip, number=number, stream=stream)).result()
            return 0.0
        if not found:
            return None
        last = found[-1][1].seq
        try:
            self._post(listener, published, published.told(found[::-1]))
        except DeliveryError as error:
            return self._failed(listener, last, error)
        self._core.figures.count("hub_told")
        self._core.change(partial(audience.noted, number=number, told=last, failures=0)).result()
        return 0.0

    def _published(self, listener: Listener) -> Published | None:
        """The feed that he listens to; None where his time is over, the feed is, or its key."""
        topic = keys.named(listener.topic)
        if topic is None or listener.expires <= self._core.now():
            return None
        base, id, key = topic
        if self.tenant_of(id, key) != listener.tenant:
            return None
        with self._core.database.reading() as reader:
            standing = subscriptions.find(reader, listener.tenant, listener.id)
        return None if standing is None else Published(self._core, standing, base, key)

    def _watch(self, number: int, stream: int | None) -> bool:
        """That this is what he listens to: another version of a subscription may have begun another stream. Whether
        that is new.
        """
        with self._lock:
            if stream is not None and number in self._streams.get(stream, ()):
                return False
            # In place of those that there are: who is rung may be looking through them.
            left = {each: numbers - {number} for each, numbers in self._streams.items()}
            if stream is not None:
                left[stream] = left.get(stream, frozenset()) | {number}
            self._streams = {each: numbers for each, numbers in left.items() if numbers}
        return True

    def _post(self, listener: Listener, published: Published, body: bytes) -> None:
        endpoint = Endpoint.of(listener.callback, "a callback")
        look = within(self._care.look, time.monotonic() + self._care.seconds, self._care.over)
        address = address_of(endpoint, private=self._care.private, look=look)
        headers = {"content-type": MEDIA_TYPE, "link": published.links()}
        if listener.secret:
            headers["x-hub-signature"] = signature_of(listener.secret.encode(), body)
        webhooks.post(endpoint, address, body, headers, self._patience.timeout)

    def _failed(self, listener: Listener, last: int, error: DeliveryError) -> float | None:
        self._core.figures.count("hub_failures")
        if error.status == _GONE:
            self._core.change(partial(audience.remove, number=listener.number)).result()
            return None
        tried = listener.failures + 1
        over = tried >= self._patience.tries
        told, failures = (last, 0) if over else (listener.told, tried)
        self._core.change(partial(audience.noted, number=listener.number, told=told, failures=failures)).result()
        return 0.0 if over else self._patience.wait(tried)


def lease_of(seconds: int | None) -> int:
    """As long as is asked for, within bounds."""
    return _USUAL if seconds is None else min(max(seconds, _SHORTEST), _LONGEST)


def _leave(writer: sqlite3.Connection, callback: str, topic: str) -> None:
    found = audience.find(writer, callback, topic)
    if found is not None:
        audience.remove(writer, found.number)


def _skip(writer: sqlite3.Connection, number: int, stream: int) -> None:
    _, dropped = subscriptions.progress(writer, stream)
    audience.noted(writer, number, dropped, 0)
