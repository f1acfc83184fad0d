"""Hubs of others, which tell of feeds (WebSub): we ask to be told, say that it was us, and know what is theirs.

For each feed that names a hub there is an address of this server that nobody can guess, and a secret. A hub that is
asked to tell asks back at that address whether we meant it; it is believed for what we asked and for nothing else. What
it tells has to be signed with the secret. Before a lease is over it is renewed; whatever goes wrong, the feed is asked
for as if there were no hub.
"""

from __future__ import annotations

import hmac
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields, replace
from functools import partial
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any, Literal, TypeAlias
from urllib.parse import urlencode

from tidings.broker.core import Core
from tidings.broker.feeds.rows import Feed
from tidings.broker.schema import damaged, sound
from tidings.delivery import webhooks
from tidings.delivery.addresses import Endpoint, address_of, within
from tidings.delivery.fetch import Care
from tidings.errors import TidingsError

State: TypeAlias = Literal["asked", "active", "renewing", "refused", "leaving"]
_AGREED = ("active", "renewing")
_SECOND = 1_000_000
_LEASE = 10 * 86_400
"""Seconds that a hub is asked for; it says itself how many it gives."""

_SHORTEST, _LONGEST = 60, 365 * 86_400
_PATIENCE = 10 * 60 * _SECOND
"""In which a hub has to ask back."""

_AGAIN = 6 * 3_600 * _SECOND
"""After which one that refused is asked again."""

_RENEWED = 0.75
"""The part of a lease after which it is renewed."""

_REQUEST = 10.0
_DIGESTS = ("sha1", "sha256", "sha384", "sha512")


@dataclass(frozen=True, slots=True)
class Agreement:
    """With a hub, about a feed. `callback` is the end of the address that it was given; times are in microseconds."""

    callback: str
    feed: int
    hub: str
    topic: str
    state: State
    problem: str
    asked: int
    expires: int | None

    @staticmethod
    def of(row: tuple[Any, ...]) -> Agreement:
        if not row[0]:
            raise damaged(f"what was agreed with a hub for feed {row[2]}")
        return Agreement(*row[1:])

    def holds(self, now: int) -> bool:
        return self.state in _AGREED and self.expires is not None and self.expires > now

    @property
    def renewal(self) -> int:
        """When it is to be renewed."""
        return self.asked + round(((self.expires or self.asked) - self.asked) * _RENEWED)


_COLUMNS = ", ".join(field.name for field in fields(Agreement))
_CHECKED = f"{sound('websub')}, {_COLUMNS}"


class Websub:
    """`public` is the address under which hubs find this server; without one, none is asked."""

    def __init__(self, core: Core, public: str | None, care: Care, agent: str) -> None:
        self._core = core
        self._public = None if public is None else public.rstrip("/")
        self._care = care
        self._agent = agent

    def secret(self, callback: str) -> str:
        return hmac.new(self._core.key, f"websub\0{callback}".encode(), sha256).hexdigest()

    def is_active(self, feed: int) -> bool:
        """Whether a hub is known to tell of it."""
        found = self.of_feed(feed)
        return self._public is not None and found is not None and found.holds(self._core.now())

    def of_feed(self, feed: int) -> Agreement | None:
        """The one that is not over."""
        return self._one("feed = ? AND state <> 'leaving'", feed)

    def _one(self, where: str, value: object) -> Agreement | None:
        with self._core.database.reading() as reader:
            row = reader.execute(f"SELECT {_CHECKED} FROM websub WHERE {where}", (value,)).fetchone()
        return None if row is None else Agreement.of(row)

    def _put(self, agreement: Agreement) -> None:
        self._core.change(partial(_put, agreement=agreement)).result()

    # ----------------------------------------------------------------------------------------------------------- asking

    def tend(self, feed: Feed) -> float | None:
        """See to it that a hub tells of this feed, where it has one; after how many seconds there is to do more."""
        found, now = self.of_feed(feed.number), self._core.now()
        hub, topic = next(iter(feed.hints.hubs), None), feed.hints.topic or feed.url
        if self._public is None or hub is None:
            if found is not None:
                self.leave(feed.number)
            return None
        if found is not None and (found.hub, found.topic) != (hub, topic):
            self.leave(feed.number)
            found = None
        if found is None:
            found = Agreement(token_urlsafe(24), feed.number, hub, topic, "asked", "", now, None)
            return self._ask(found)
        due = self._due(found)
        if now < due:
            return (due - now) / _SECOND
        if found.state == "asked":
            self._put(replace(found, state="refused", problem="the hub did not ask back", asked=now))
            return _AGAIN / _SECOND
        state: State = "renewing" if found.holds(now) else "asked"
        return self._ask(replace(found, state=state, asked=now))

    def _due(self, found: Agreement) -> int:
        match found.state:
            case "asked" | "renewing":
                return found.asked + _PATIENCE
            case "refused":
                return found.asked + _AGAIN
        return found.renewal

    def _ask(self, agreement: Agreement) -> float:
        """Written down first: the hub may ask back before it answers."""
        self._put(agreement)
        try:
            self._send(agreement, "subscribe", **{"hub.lease_seconds": str(_LEASE)})
        except TidingsError as error:
            state: State = "refused" if agreement.state == "asked" else agreement.state
            self._failed(agreement.callback, state, str(error))
            return (_AGAIN if state == "refused" else _PATIENCE) / _SECOND
        return _PATIENCE / _SECOND

    def leave(self, feed: int) -> None:
        """Have nobody tell of it any more, and forget those that were left long ago."""
        found, now = self.of_feed(feed), self._core.now()
        if found is None:
            return
        self._put(replace(found, state="leaving", asked=now))
        self._core.change(partial(_forget, before=now - _PATIENCE))
        if self._public is not None and found.state != "refused":
            try:
                self._send(found, "unsubscribe")
            except TidingsError:
                # Its lease ends some day.
                return

    def _send(self, agreement: Agreement, mode: str, **more: str) -> None:
        endpoint = Endpoint.of(agreement.hub, "a hub")
        look = within(self._care.look, time.monotonic() + self._care.seconds, self._care.over)
        address = address_of(endpoint, private=self._care.private, look=look)
        form = {
            "hub.mode": mode,
            "hub.topic": agreement.topic,
            "hub.callback": f"{self._public}/v1/websub/{agreement.callback}",
            "hub.secret": self.secret(agreement.callback),
            **more,
        }
        headers = {"content-type": "application/x-www-form-urlencoded", "user-agent": self._agent}
        webhooks.post(endpoint, address, urlencode(form).encode(), headers, _REQUEST)

    # ---------------------------------------------------------------------------------------------------- being asked

    def answer(self, callback: str, asked: Mapping[str, str]) -> tuple[str, int] | None:
        """A hub asks whether we meant it: what to say, and which feed it is about; None where we did not."""
        mode, topic, challenge = (asked.get(f"hub.{name}") for name in ("mode", "topic", "challenge"))
        found = self._one("callback = ?", callback)
        if found is None or topic != found.topic:
            return None
        if mode == "denied":
            reason = asked.get("hub.reason", "")[:200]
            problem = f"the hub does not want to{f': {reason}' if reason else ''}"
            self._put(replace(found, state="refused", problem=problem, asked=self._core.now()))
            return "", found.feed
        if challenge is None:
            return None
        if mode == "subscribe" and found.state in ("asked", "renewing"):
            now, lease = self._core.now(), _lease(asked.get("hub.lease_seconds"))
            self._put(replace(found, state="active", problem="", asked=now, expires=now + lease * _SECOND))
            return challenge, found.feed
        if mode == "unsubscribe" and found.state == "leaving":
            self._core.change(partial(_delete, callback=callback)).result()
            return challenge, found.feed
        return None

    def is_known(self, callback: str) -> bool:
        return self._one("callback = ?", callback) is not None

    def sender(self, callback: str, body: bytes, signature: str | None) -> int | None:
        """The feed of which a hub tells this; None where it is not from whom it should be."""
        found = self._one("callback = ?", callback)
        if found is None or not found.holds(self._core.now()):
            return None
        return found.feed if is_signed(self.secret(callback).encode(), body, signature) else None

    def _failed(self, callback: str, state: State, problem: str) -> None:
        """Unless the hub has asked back all the same."""
        found = self._one("callback = ?", callback)
        if found is not None and found.state in ("asked", "renewing"):
            self._put(replace(found, state=state, problem=problem))


def signature_of(secret: bytes, body: bytes) -> str:
    """As `X-Hub-Signature` has it."""
    return f"sha256={hmac.new(secret, body, sha256).hexdigest()}"


def is_signed(secret: bytes, body: bytes, signature: str | None) -> bool:
    """Whether it is signed by who has the secret; by any of the methods that there are."""
    method, _, digest = (signature or "").strip().partition("=")
    if method.lower() not in _DIGESTS:
        return False
    expected = hmac.new(secret, body, method.lower()).hexdigest()
    return hmac.compare_digest(expected.encode(), digest.strip().lower().encode())


def _lease(text: str | None) -> int:
    if text is None or not text.isascii() or not text.isdecimal() or len(text) > 15:
        return _LEASE
    return min(max(int(text), _SHORTEST), _LONGEST)


def _put(writer: sqlite3.Connection, agreement: Agreement) -> None:
    marks = ", ".join("?" * len(fields(Agreement)))
    writer.execute("DELETE FROM websub WHERE callback = ?", (agreement.callback,))
    writer.execute(f"INSERT INTO websub ({_COLUMNS}) VALUES ({marks})", astuple(agreement))


def _delete(writer: sqlite3.Connection, callback: str) -> None:
    writer.execute("DELETE FROM websub WHERE callback = ?", (callback,))


def _forget(writer: sqlite3.Connection, before: int) -> None:
    writer.execute("DELETE FROM websub WHERE state = 'leaving' AND asked < ?", (before,))
