"""What a broker does by itself, now and then: turn the log round, end what has had its time, make room."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from threading import Event as Flag
from threading import Lock, Thread
from typing import TYPE_CHECKING

from tidings.broker import audit, gone, postings, retention
from tidings.broker.postings import Turned
from tidings.broker.retention import Retention

if TYPE_CHECKING:
    from tidings.broker.core import Core

_PAUSE = 1.0
_SELDOM = 10
"""So many turns, from one in which what is too old goes to the next."""

_BREATH = 0.01
"""Seconds between two parts of what is written or removed: who publishes meanwhile has his turn."""

_log = logging.getLogger("tidings")


class Upkeep:
    """In a thread of its own. What fails is logged, and tried again."""

    def __init__(self, core: Core, keep: Retention) -> None:
        self._core = core
        self._keep = keep
        self._over = Flag()
        self._wanted = Flag()
        self._turning = Lock()
        self._thread = Thread(target=self._run, name="tidings-upkeep", daemon=True)
        self._thread.start()
        self._looks_back = Thread(target=self._look_back, name="tidings-look-back", daemon=True)
        self._looks_back.start()

    def close(self) -> None:
        self._over.set()
        self._wanted.set()
        self._thread.join()
        self._looks_back.join()

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
        self._core.database.take_over()
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
        core, rows = self._core, turned.rows
        for start in range(0, len(rows), postings.AT_ONCE):
            core.change(partial(postings.stage, rows=rows[start : start + postings.AT_ONCE])).result()
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
        while not self._over.is_set():
            # A part of what there is: in a small database a whole stretch might be everything.
            with self._core.database.reading() as reader:
                upto = retention.oldest(reader, size)
            if not upto or not self._remove(upto):
                return

    def _remove(self, upto: int) -> bool:
        """First who loses what is written down, then the events go, a stretch at a time: where that ends in the middle,
        some notifications are called gone that are still there, and none is gone that is not called so.
        """
        core = self._core
        upto = min(upto, core.told)
        removed = False
        while not self._over.is_set():
            with core.database.reading() as reader:
                lost = retention.losing(reader, upto, core.stream_of)
            if lost is None:
                break
            removed = True
            core.change(partial(gone.write, streams=lost.streams, seqs=lost.seqs)).result()
            core.backlog.removed(lost.streams.tolist(), lost.seqs.tolist())
            remove = partial(retention.remove, upto=lost.last, stream_of=core.stream_of)
            while core.change(remove).result() and not self._over.wait(_BREATH):
                pass
        return removed
