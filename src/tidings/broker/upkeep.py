"""What a broker does by itself, now and then: turn the log round, end what has had its time, make room."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from threading import Event as Flag
from threading import Lock, Thread
from typing import TYPE_CHECKING

from tidings.broker import audit, gone, log, postings, retention
from tidings.broker.postings import Turned
from tidings.broker.retention import Losing, Retention

if TYPE_CHECKING:
    from tidings.broker.core import Core

_PAUSE = 1.0
_SELDOM = 10
"""So many turns, from one in which what is too old goes to the next."""

_BREATH = 0.04
"""Seconds between two parts of what is written or removed: who publishes meanwhile has his turn."""

_HURRY = 0.005
"""The same where more has to go than is removed in one go: as much comes meanwhile."""

_GOING, _PAIRS = 16_384, 1 << 20
"""Events of which it is written down, in one go, who loses something when they go; and about how many lose it."""

_log = logging.getLogger("tidings")


class Upkeep:
    """In threads of its own. What fails is logged, and tried again."""

    def __init__(self, core: Core, keep: Retention) -> None:
        self._core = core
        self._keep = keep
        self._over = Flag()
        self._wanted = Flag()
        self._turning = Lock()
        self._threads = [
            Thread(target=do, name=f"tidings-{name}", daemon=True)
            for name, do in (("upkeep", self._run), ("look-back", self._look_back), ("take-over", self._take_over))
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._over.set()
        self._wanted.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        turn = 0
        while not self._over.wait(_PAUSE):
            # What is too old by seconds can stay that long: to write down what goes costs the same for few as for many.
            self._try(self.once if turn % _SELDOM == 0 else self.little)
            turn += 1

    def _look_back(self) -> None:
        """By itself, for it may take long; also those that were looking when the broker ended, or something failed."""
        while not self._over.is_set():
            self._try(self._core.look_on)
            self._wanted.wait(_PAUSE)
            self._wanted.clear()

    def _take_over(self) -> None:
        """By itself, too: what comes to be written while room is made would be more than goes in a moment."""
        while not self._over.wait(_PAUSE):
            self._try(self._core.database.take_over)

    def look_soon(self) -> None:
        """Somebody looks back."""
        self._wanted.set()

    def _try(self, do: Callable[[], None]) -> None:
        try:
            do()
        except Exception:
            _log.exception("the upkeep of %s", self._core.database.name)

    def little(self) -> None:
        """What should not wait."""
        self.turn_round()
        self._core.end_expired()
        self._core.backlog.once()
        if self._keep.size is not None:
            self._make_room_by_size(self._keep.size)

    def once(self) -> None:
        self.little()
        self._forget_who_did_what()
        if self._keep.age is not None:
            self._make_room_by_age()

    def turn_round(self) -> None:
        """One at a time: who else did it meanwhile would take what is being written for something left over."""
        with self._turning:
            self._clear()
            while not self._over.is_set():
                with self._core.database.reading() as reader:
                    turned = postings.next_block(reader, self._core.told, self._core.newest)
                if turned is None:
                    return
                self._write(turned)
                self._clear()

    def _write(self, turned: Turned) -> None:
        core = self._core
        for rows in turned.parts():
            core.change(partial(postings.stage, rows=rows)).result()
            if self._over.wait(_BREATH):
                return
        core.change(partial(postings.finish, block=turned.block)).result()
        core.newest.forget(turned.block.last)

    def _clear(self) -> None:
        with self._core.database.reading() as reader:
            those = postings.left_over(reader)
        for each in those:
            while self._core.change(partial(postings.clear, block=each)).result() and not self._over.wait(_BREATH):
                pass

    def _forget_who_did_what(self) -> None:
        core, keep = self._core, self._keep
        since = core.now() - round(keep.audit.total_seconds() * 1e6)
        while not self._over.is_set():
            with core.database.reading() as reader:
                if not audit.has_more(reader, since, keep.audit_entries):
                    return
            core.change(partial(audit.forget, since=since, most=keep.audit_entries)).result()

    def _make_room_by_age(self) -> None:
        assert self._keep.age is not None
        with self._core.database.reading() as reader:
            upto = retention.too_old(reader, self._keep.age, self._core.now())
        if upto:
            self._remove(upto)

    def _make_room_by_size(self, size: int) -> None:
        """Once, and again in the next turn: by then what goes with the events has gone, too, and counts no more."""
        with self._core.database.reading() as reader:
            upto = retention.oldest(reader, size)
        if upto:
            self._remove(upto)

    def _remove(self, upto: int) -> None:
        """First who loses what is written down, then the events go, a stretch at a time: where that ends in the middle,
        some notifications are called gone that are still there, and none is gone that is not called so.
        """
        core = self._core
        upto = min(upto, core.told)
        while (lost := self._losing(upto, breath := self._breath(upto))) is not None:
            for streams, seqs in gone.parts(lost.streams, lost.seqs):
                core.change(partial(gone.write, streams=streams, seqs=seqs)).result()
                if self._over.wait(breath):
                    return
            core.backlog.removed(lost.streams, lost.seqs)
            remove = partial(retention.remove, upto=lost.last, stream_of=core.stream_of)
            while core.change(remove).result() and not self._over.wait(breath):
                pass

    def _breath(self, upto: int) -> float:
        """Between two parts of what goes up to that event."""
        with self._core.database.reading() as reader:
            found = log.first_and_last(reader)
        return _HURRY if found is not None and upto - found[0] >= _GOING else _BREATH

    def _losing(self, upto: int, breath: float) -> Losing | None:
        """What is lost when the oldest of the events up to this one go; None where there are none, or it is over."""
        parts: list[Losing] = []
        while sum(part.events for part in parts) < _GOING and sum(len(part.seqs) for part in parts) < _PAIRS:
            with self._core.database.reading() as reader:
                part = retention.losing(reader, parts[-1].last if parts else 0, upto, self._core.stream_of)
            if part is None:
                break
            parts.append(part)
            if self._over.wait(breath):
                return None
        return Losing.joined(parts) if parts else None
