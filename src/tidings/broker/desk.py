"""The desk for those who match elsewhere: what they ask for, and where they hand in what they have found.

There is one at a broker that runs, and one beside it, for a process that has the same folder.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from time import time_ns

from tidings.broker import log, outside, subscriptions, windows
from tidings.broker.core import FAILURES, Core, pause_number
from tidings.broker.database import Database
from tidings.broker.knowledge import Knowledge, kept_tag
from tidings.broker.log import Logged, Numbers
from tidings.broker.outside import Due
from tidings.broker.subscriptions import Standing
from tidings.errors import LogError
from tidings.match.base import Failure

_BYTES = 1 << 20
"""What the events of a page may have together; one of them in any case."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A version could not be evaluated on so many of the events, and why it could not on the last of them."""

    number: int
    times: int
    event: str
    reason: str


@dataclass(frozen=True, slots=True)
class Listed:
    """`numbers` are the versions to match with, None where they are as they were; `state` is a name for that. With
    the ontology of this tag, and so many steps for a subscription on an event.
    """

    state: str
    ontology: str
    steps: int
    numbers: list[int] | None


class Desk(ABC):
    """Over the database of a broker whose events are matched elsewhere."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._since = token_hex(4)

    @property
    def last(self) -> int:
        """The last event that was accepted."""
        with self.database.reading() as reader:
            return log.last_seq(reader)

    @property
    def matched(self) -> int:
        """Up to where they have been matched; a `LogError` where that is done by the broker itself."""
        with self.database.reading() as reader:
            return _mark(reader)

    @property
    def ontology(self) -> Knowledge:
        with self.database.reading() as reader:
            return Knowledge.kept(reader)

    def events(self, after: int, upto: int, limit: int) -> list[Logged]:
        """The next ones behind the one, up to the other; so many, or fewer where they are large."""
        page: list[Logged] = []
        size = 0
        with self.database.reading() as reader:
            for each in log.between(reader, after, upto, limit):
                size += len(each.event.body)
                if page and size > _BYTES:
                    break
                page.append(each)
        return page

    def listed(self, known: str | None) -> Listed:
        """The versions to match with, unless their state is `known`."""
        with self.database.reading() as reader:
            _mark(reader)
            state = f"{self._since}-{windows.tag(reader)}"
            numbers = None if state == known else windows.listed(reader)
            return Listed(state, kept_tag(reader), windows.steps(reader), numbers)

    def texts(self, numbers: Sequence[int]) -> list[Standing]:
        """Of these versions, those that there are."""
        with self.database.reading() as reader:
            return list(filter(None, (subscriptions.by_number(reader, number) for number in numbers)))

    def take(self, matched: Mapping[int, Numbers], failed: Sequence[Failed], ontology: str) -> int:
        """Write down what events matched, by the ontology of this tag, and what failed; up to where all have been
        matched now.
        """
        with self.database.reading() as reader:
            if ontology != kept_tag(reader):
                raise LogError("it was matched with another ontology; start again with the one that there is")
            found = outside.due(reader, matched)
        if self._write(found):
            for each in failed:
                self._failed(each)
        return self.matched

    @abstractmethod
    def _write(self, found: Due) -> bool:
        """Durably; whether anything of it was new."""

    @abstractmethod
    def _failed(self, failed: Failed) -> None: ...


def _mark(reader: sqlite3.Connection) -> int:
    found = windows.mark(reader)
    if found is None:
        raise LogError("events are matched by the broker itself; start it with --matching outside")
    return found


class Front(Desk):
    """Of a broker that runs here."""

    def __init__(self, core: Core) -> None:
        super().__init__(core.database)
        self._core = core

    @property
    def last(self) -> int:
        return self._core.last

    def _write(self, found: Due) -> bool:
        return self._core.change(partial(outside.write, found=found), lambda new: self._core.notice()).result()

    def _failed(self, failed: Failed) -> None:
        for _ in range(min(failed.times, FAILURES)):
            self._core.failed(Failure(failed.event, str(failed.number), failed.reason))


class Beside(Desk):
    """Of a folder, whether or not a broker runs there; one that does notices what is written."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Database(folder, alone=False))
        self._failures: Counter[int] = Counter()

    def close(self) -> None:
        self.database.close()

    def _write(self, found: Due) -> bool:
        with self.database.writing() as writer:
            return outside.write(writer, found)

    def _failed(self, failed: Failed) -> None:
        self._failures[failed.number] += failed.times
        if self._failures[failed.number] >= FAILURES:
            times = self._failures.pop(failed.number)
            reason = f"it failed on {times} events, the last time on {failed.event}: {failed.reason}"
            with self.database.writing() as writer:
                pause_number(writer, failed.number, reason, time_ns() // 1_000)
