"""Subscriptions with a webhook: their notifications are sent, in order, each until it is taken or given up.

What was taken is acknowledged, so a broker that is started again goes on from there: a notification may come twice,
with the same id, and is never left out. One that is not taken is tried again, later each time; those behind it wait.
When it has been tried often enough, it becomes a dead letter, which is kept and can be sent again, and the next one has
its turn. An endpoint that takes nothing from anybody is left alone for a while. That a subscription was paused by the
broker, and that notifications went before they could be sent, is told in the same way.
"""

from __future__ import annotations

import hmac
import logging
import random
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from heapq import heappop, heappush
from threading import Condition, Thread

from tidings.broker import dead, subscriptions
from tidings.broker.core import Core, News
from tidings.broker.cursors import Cursor
from tidings.broker.payloads import told
from tidings.broker.receiving import Notification, Subscription
from tidings.broker.subscriptions import Standing
from tidings.delivery import webhooks
from tidings.delivery.addresses import Endpoint, Look, address_of, look_up, within
from tidings.delivery.webhooks import EVENT_TYPE, MISSED_TYPE, PAUSED_TYPE
from tidings.errors import DeliveryError, TidingsError, UsageError

_log = logging.getLogger("tidings")
_PAGE = 50


@dataclass(frozen=True, slots=True)
class Patience:
    """`tries` is how often one notification is sent before it is given up; waits are in seconds, and double from the
    first to the longest; an endpoint that failed `breaks` times in a row is left alone for `rest`.
    """

    tries: int = 10
    first: float = 1.0
    longest: float = 300.0
    breaks: int = 5
    rest: float = 30.0
    timeout: float = 10.0

    def wait(self, tried: int, dice: Callable[[], float] = random.random) -> float:
        """After so many tries: somewhere between half of it and all, so that not all come back at once."""
        full = min(self.longest, self.first * 2.0 ** (tried - 1))
        return full * (0.5 + 0.5 * dice())


@dataclass(slots=True)
class Breaker:
    """How an endpoint does: failures in a row, and until when it is left alone."""

    failures: int = 0
    until: float = 0.0

    def closed(self, now: float) -> bool:
        return now >= self.until

    def note(self, failed: bool, patience: Patience, now: float) -> None:
        self.failures = self.failures + 1 if failed else 0
        if self.failures >= patience.breaks:
            self.until = now + patience.rest


@dataclass(slots=True)
class _Line:
    """What waits for one subscriber: how often the first of it has been tried."""

    tried: int = 0
    busy: bool = False
    again: bool = False


class _Later(Exception):
    """It has to wait, for so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@dataclass(order=True, slots=True)
class _Due:
    when: float
    stream: int = field(compare=False)


class Hooks:
    """`private` allows addresses that are not public."""

    def __init__(
        self,
        core: Core,
        *,
        private: bool = False,
        patience: Patience | None = None,
        source: str = "/",
        workers: int = 16,
        look: Look = look_up,
    ) -> None:
        self._core = core
        self._look = look
        self._private = private
        self._patience = patience or Patience()
        self._source = source
        self._key = core.key
        self._lines: dict[int, _Line] = {}
        self._breakers: dict[str, Breaker] = {}
        self._due: list[_Due] = []
        self._changed = Condition()
        self._over = False
        self._pool = ThreadPoolExecutor(workers, "tidings-hook")
        self._silent = core.listen(self._rung)
        self._thread = Thread(target=self._run, name="tidings-hooks", daemon=True)
        self._thread.start()
        with core.database.reading() as reader:
            for standing in subscriptions.standing(reader):
                if standing.options.webhook is not None:
                    self.watch(standing)

    def close(self) -> None:
        self._silent()
        with self._changed:
            self._over = True
            self._changed.notify()
        self._thread.join()
        self._pool.shutdown(cancel_futures=True)

    def secret(self, standing: Standing) -> bytes:
        """What its requests are signed with; the same for all versions of a subscription."""
        return hmac.new(self._key, f"{standing.tenant}\0{standing.id}".encode(), sha256).digest()

    def watch(self, standing: Standing) -> None:
        """Send what there is for it, and what comes."""
        with self._changed:
            self._lines.setdefault(standing.stream, _Line())
        self._soon(standing.stream, 0.0)

    def send_again(self, standing: Standing, notification: Notification) -> None:
        """Send one now, once; a `DeliveryError` where it is not taken."""
        if standing.options.webhook is None:
            raise UsageError("the subscription has no webhook")
        self._send(Endpoint.of(standing.options.webhook), standing, notification)

    # ------------------------------------------------------------------------------------------------------- when

    def _rung(self, news: News) -> None:
        for stream in news:
            if stream in self._lines:
                self._soon(stream, 0.0)

    def _soon(self, stream: int, wait: float) -> None:
        with self._changed:
            heappush(self._due, _Due(time.monotonic() + wait, stream))
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._over and (not self._due or self._due[0].when > time.monotonic()):
                    self._changed.wait(self._due[0].when - time.monotonic() if self._due else None)
                if self._over:
                    return
                stream = heappop(self._due).stream
                line = self._lines.get(stream)
                if line is None:
                    continue
                if line.busy:
                    line.again = True
                    continue
                line.busy = True
            self._pool.submit(self._serve, stream, line)

    def _serve(self, stream: int, line: _Line) -> None:
        wait: float | None = None
        try:
            self._send_all(stream, line)
        except _Later as later:
            wait = later.seconds
        except Exception:
            _log.exception("a webhook of %s", self._core.database.name)
            wait = self._patience.rest
        finally:
            with self._changed:
                line.busy = False
                again, line.again = line.again, False
            if wait is not None:
                self._soon(stream, wait)
            elif again:
                self._soon(stream, 0.0)

    # ------------------------------------------------------------------------------------------------------- sending

    def _send_all(self, stream: int, line: _Line) -> None:
        """Send what waits; `_Later` where it has to wait longer."""
        while (standing := self._standing(stream, line)) is not None:
            page = Subscription(self._core, standing).page(limit=_PAGE)
            if page.missed is not None:
                self._sent(standing, line, partial(self._say, kind=MISSED_TYPE, what=page.missed))
                self._core.acknowledge(Cursor.of(page.missed)).result()
            elif not page.notifications:
                return
            for notification in page.notifications:
                # He may have been paused or cancelled meanwhile, or want it sent elsewhere.
                standing = self._standing(stream, line)
                if standing is None:
                    return
                self._deliver(standing, notification, line)

    def _standing(self, stream: int, line: _Line) -> Standing | None:
        """Who is to be sent what is in this stream; None, and no line any more, where nobody is."""
        while True:
            with self._changed:
                line.again = False
            with self._core.database.reading() as reader:
                standing = subscriptions.last_of(reader, stream)
            if standing is not None and standing.options.webhook is not None:
                if standing.state == "active":
                    return standing
                if standing.state == "paused" and standing.reason != subscriptions.BY_OWNER:
                    self._sent(standing, line, partial(self._say, kind=PAUSED_TYPE, what=standing.reason))
            with self._changed:
                # Unless he has come back since we looked.
                if not line.again:
                    self._lines.pop(stream, None)
                    return None

    def _deliver(self, standing: Standing, notification: Notification, line: _Line) -> None:
        """Send one, and write down that it was taken, or given up: with that in one transaction, and whatever has
        become of the subscription meanwhile.
        """
        core, place = self._core, Cursor.of(notification.cursor)
        failed = self._sent(standing, line, partial(self._send, notification=notification))
        if failed is None:
            core.figures.count("told_webhooks")
            core.figures.delivery["webhook"].add((core.now() - notification.accepted) / 1e6)
            core.acknowledge(place).result()
        else:
            letter = dead.letter(notification, self._patience.tries, str(failed))
            core.acknowledge(place, partial(dead.bury, letter=letter)).result()
            core.figures.count("dead_letters")

    def _sent(self, standing: Standing, line: _Line, send: Callable[[Endpoint, Standing], None]) -> TidingsError | None:
        """None where it was taken, and why not where it is given up; `_Later` where it is to be tried again."""
        assert standing.options.webhook is not None
        endpoint = Endpoint.of(standing.options.webhook)
        breaker = self._breakers.setdefault(endpoint.origin, Breaker())
        now = time.monotonic()
        if not breaker.closed(now):
            raise _Later(breaker.until - now)
        failed: TidingsError | None = None
        try:
            send(endpoint, standing)
        except TidingsError as error:
            failed = error
            self._core.figures.count("webhook_failures")
            line.tried += 1
        breaker.note(isinstance(failed, DeliveryError), self._patience, time.monotonic())
        if failed is not None and line.tried < self._patience.tries:
            raise _Later(self._patience.wait(line.tried))
        line.tried = 0
        return failed

    def _send(self, endpoint: Endpoint, standing: Standing, notification: Notification) -> None:
        data = told(notification, standing.options.carries)
        self._post(endpoint, standing, notification.id, EVENT_TYPE, notification.event.published, data)

    def _say(self, endpoint: Endpoint, standing: Standing, kind: str, what: str) -> None:
        """Something else than a notification; the same again has the same id."""
        said = f"{kind}\0{standing.tenant}\0{standing.id}\0{standing.version}\0{what}"
        data = {
            "subscription": standing.id,
            "version": standing.version,
            "state": standing.state,
            "reason" if kind == PAUSED_TYPE else "upto": what,
        }
        self._post(endpoint, standing, sha256(said.encode()).hexdigest(), kind, None, data)

    def _post(
        self,
        endpoint: Endpoint,
        standing: Standing,
        id: str,
        kind: str,
        when: str | None,
        data: Mapping[str, object],
    ) -> None:
        look = within(self._look, time.monotonic() + self._patience.timeout, lambda: self._over)
        address = address_of(endpoint, private=self._private, look=look)
        body = webhooks.cloud_event(id, self._source, standing.id, when, data, kind)
        headers = webhooks.signed(self.secret(standing), id, int(time.time()), body)
        webhooks.post(endpoint, address, body, headers, self._patience.timeout)
