"""What a broker does inside: one order of events and changes, matched and written down before anybody is told.

Everything that is written goes through the one thread of the `Committer`, so an event sees the subscriptions that were
registered before it, and no others. A change is made in the database first, and in the engine when it is durable.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from secrets import token_bytes
from threading import Lock, Thread
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

from tidings.broker import log, looking, postings, subscriptions
from tidings.broker.committer import Committer
from tidings.broker.database import Database
from tidings.broker.figures import Figures
from tidings.broker.knowledge import Knowledge
from tidings.broker.log import Logged
from tidings.broker.matching import Matching, form_of
from tidings.broker.retention import Retention
from tidings.broker.subscriptions import Registered, Standing, Wanted
from tidings.broker.upkeep import Upkeep
from tidings.errors import EventConflict, EventError
from tidings.lang.pattern import Query
from tidings.match.base import Answer, Failure
from tidings.match.meaning import Meaning
from tidings.match.verify import Prepared
from tidings.rdf.event import Event

T = TypeVar("T")
_log = logging.getLogger("tidings")

_GROUP = 4 << 20
"""Bytes of events that share a transaction."""

_FAILURES = 20
"""A subscription that has failed on so many events, and on none less, is paused."""

_ANSWERING = 4_096
"""So many subscriptions are kept ready to say what their matches carry."""

EVERYTHING = 0
"""A stream that has something new with every event."""

News: TypeAlias = Mapping[int, Sequence[tuple[int, Logged]]]
"""The streams that have something new: the events that were accepted just now, each with the number of the version that
it matches; none where something else has changed."""

Rung: TypeAlias = Callable[[News], None]
"""Told of them, from the thread that writes. It must be quick."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An event that is durable, and what it matched. One that was there already is not `new`."""

    logged: Logged
    new: bool

    @property
    def id(self) -> str:
        return self.logged.event.id


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done in a transaction, and, when that is durable, with its outcome."""

    write: Callable[[sqlite3.Connection], Any]
    then: Callable[[Any], None]


class Core:
    """`stream_of` says of each version, by its number, to which stream its notifications belong, as long as anything
    of that stands.
    """

    def __init__(self, folder: Path | None, knowledge: Knowledge | None, keep: Retention) -> None:
        """`knowledge` None is what it knew before."""
        self.database = Database(folder)
        with self.database.reading() as database:
            self.knowledge = knowledge or Knowledge.kept(database)
        self.matching = Matching(self.knowledge.ontology, self._failed)
        self._failures: Counter[int] = Counter()
        self.figures = Figures()
        self._answering: dict[int, Prepared] = {}
        self._rung: list[Rung] = []
        self._ringing = Lock()
        with self.database.reading() as database:
            self._last = log.last_seq(database)
            self._accepted = log.last_accepted(database)
            those = list(subscriptions.standing(database))
            self.stream_of = subscriptions.streams(database)
            self.newest = postings.Newest(database, self._last)
        self.matching.put_many(each for each in those if each.state == "active")
        self._committer = Committer(self.database.name, _GROUP)
        self.change(self.knowledge.write).result()
        self.key: bytes = self.change(_key).result()
        """A secret of this broker's own, from which others are made."""
        for each in those:
            if each.looked is not None:
                Thread(target=self.look_back, args=(each,), name="tidings-look-back", daemon=True).start()
        self.upkeep = Upkeep(self, keep)

    def close(self) -> None:
        self.upkeep.close()
        self._committer.close()
        self.database.close()

    def listen(self, rung: Rung) -> Callable[[], None]:
        """Have it called whenever there is something new; and what ends that."""
        with self._ringing:
            self._rung.append(rung)
        return lambda: self._rung.remove(rung)

    def _ring(self, news: News) -> None:
        with self._ringing:
            everybody = list(self._rung)
        for rung in everybody:
            try:
                rung(news)
            except Exception:
                _log.exception("somebody who listens")

    # ----------------------------------------------------------------------------------------------------------- events

    def publish(self, events: Sequence[Event]) -> Future[list[Accepted | EventError]]:
        """Take the events. When they are durable, what became of each; one that is refused costs no other anything."""
        asked = perf_counter(), events
        return self._committer.submit(self._publish, asked, sum(len(event.body) for event in events))

    def _publish(self, jobs: Sequence[tuple[float, Sequence[Event]]]) -> list[list[Accepted | EventError]]:
        begun = perf_counter()
        for asked, _ in jobs:
            self.figures.stages["wait"].add(begun - asked)
        given = [event for _, events in jobs for event in events]
        with self.database.reading() as database:
            known = log.by_ids(database, [event.id for event in given])
        new: dict[str, Event] = {}
        now = self.now()
        for event in given:
            if event.id not in known and event.id not in new:
                new[event.id] = replace(event, published=event.published or written_time(now))
        with self.figures.timed("match"):
            matched = self.matching.match(list(new.values()))
        logged = {
            event.id: Logged(self._last + 1 + place, event, now, numbers)
            for place, (event, numbers) in enumerate(zip(new.values(), matched, strict=True))
        }
        if logged:
            with self.figures.timed("write"), self.database.writing() as writer:
                log.append(writer, logged.values())
            self._taken(list(logged.values()), now)
        return [[self._outcome(event, known, logged) for event in events] for _, events in jobs]

    def _taken(self, logged: Sequence[Logged], now: int) -> None:
        """They are durable."""
        self._last, self._accepted = logged[-1].seq, now
        self.figures.together.add(len(logged))
        self.figures.count("events", len(logged))
        self.figures.count("matches", sum(len(each.matched) for each in logged if each.matched is not None))
        news: dict[int, list[tuple[int, Logged]]] = {EVERYTHING: []}
        for each in logged:
            assert each.matched is not None
            self.newest.add(each.seq, each.matched)
            for number in each.matched.tolist():
                news.setdefault(self.stream_of[number], []).append((number, each))
        self._ring(news)

    def _outcome(self, event: Event, known: dict[str, Logged], logged: dict[str, Logged]) -> Accepted | EventError:
        """One that comes again is new once."""
        before = known.get(event.id) or logged[event.id]
        if not log.is_same(event, before.event):
            self.figures.count("conflicts")
            reason = f"the event {event.id} was published before, with other triples"
            return EventConflict(reason, source=event.source or None, hint="give it an id of its own")
        new = event.id in logged
        if new:
            known[event.id] = before
        else:
            self.figures.count("repeats")
        return Accepted(before, new)

    def delete_event(self, id: str) -> Future[bool]:
        """Delete an event, and all notifications of it. Whether it was there."""
        return self.change(partial(log.delete, id=id), lambda there: self.database.forget())

    # ---------------------------------------------------------------------------------------------------------- changes

    def change(
        self, write: Callable[[sqlite3.Connection], T], then: Callable[[T], None] = lambda outcome: None
    ) -> Future[T]:
        """Have a change written; `then` is called when it is durable, before anything that comes after it."""
        return self._committer.submit(self._change, Change(write, then))

    def _change(self, changes: Sequence[Change]) -> list[Any]:
        with self.database.writing() as writer:
            outcomes = [change.write(writer) for change in changes]
        return [_then(change, outcome) for change, outcome in zip(changes, outcomes, strict=True)]

    def register(self, wanted: Wanted, form: Query) -> Future[Registered]:
        def write(writer: sqlite3.Connection) -> Registered:
            looked = None
            if wanted.since is not None:
                first = log.first_since(writer, wanted.since)
                looked = None if first is None else first - 1
            return subscriptions.register(writer, wanted, self.now(), self._last, looked)

        def then(done: Registered) -> None:
            if done.new:
                if done.before is not None:
                    self.matching.take(done.before.number)
                self.stream_of[done.standing.number] = done.standing.stream
                self.matching.put(done.standing.number, form)

        return self.change(write, then)

    def learn(self, knowledge: Knowledge) -> Future[list[str]]:
        """Go on with another ontology. Which subscriptions had to be compiled anew."""
        again: list[str] = []

        def write(writer: sqlite3.Connection) -> list[str]:
            knowledge.write(writer)
            return again

        def then(outcome: list[str]) -> None:
            again.extend(self.matching.engine.replace_ontology(knowledge.ontology))
            self.knowledge = knowledge

        return self.change(write, then)

    def end(self, tenant: str, id: str) -> Future[Standing | None]:
        """Cancel what stands under this id."""

        def write(writer: sqlite3.Connection) -> Standing | None:
            standing = subscriptions.find(writer, tenant, id)
            if standing is not None:
                subscriptions.end(writer, standing, "cancelled")
            return standing

        return self.change(write, self._gone)

    def _gone(self, standing: Standing | None) -> None:
        if standing is not None:
            self.matching.take(standing.number)
            self._ring({standing.stream: ()})

    def end_expired(self) -> None:
        """Those whose time is over."""
        with self.database.reading() as database:
            those = subscriptions.expired(database, self.now())
        for each in those:
            self.change(partial(_end_expired, standing=each, now=self.now()), self._gone).result()

    def pause(self, tenant: str, id: str, reason: str) -> Future[Standing | None]:
        def write(writer: sqlite3.Connection) -> Standing | None:
            standing = subscriptions.find(writer, tenant, id)
            return None if standing is None else subscriptions.pause(writer, standing, reason)

        return self.change(write, self._gone)

    def resume(self, tenant: str, id: str) -> Future[Standing | None]:
        def write(writer: sqlite3.Connection) -> Standing | None:
            standing = subscriptions.find(writer, tenant, id)
            return None if standing is None else subscriptions.resume(writer, standing)

        def then(standing: Standing | None) -> None:
            if standing is not None:
                self._failures.pop(standing.number, None)
                self.matching.put(standing.number, form_of(standing))

        return self.change(write, then)

    def _failed(self, failure: Failure) -> None:
        """A subscription could not be evaluated on an event."""
        number = int(failure.subscription)
        self.figures.count("failures")
        self._failures[number] += 1
        if self._failures[number] == _FAILURES:
            reason = f"it failed on {_FAILURES} events, the last time: {failure.reason}"
            self.change(partial(_pause_number, number=number, reason=reason), self._gone)

    # --------------------------------------------------------------------------------------------------------- readings

    def now(self) -> int:
        """Microseconds since 1970, never before the last event."""
        return max(_now(), self._accepted)

    @property
    def waiting(self) -> int:
        """How much there is to be written."""
        return self._committer.waiting

    @property
    def last(self) -> int:
        """The last event that was accepted."""
        return self._last

    def answer(self, standing: Standing, event: Event) -> Answer:
        """What a notification carries; nothing where it does not match by the ontology that is known now."""
        return self._prepared(standing).solve(Meaning(event, self.matching.engine.ontology)) or Answer(())

    def _prepared(self, standing: Standing) -> Prepared:
        """Those that were asked for last are kept."""
        found = self._answering.get(standing.number)
        if found is None:
            if len(self._answering) >= _ANSWERING:
                self._answering.clear()
            found = self._answering[standing.number] = Prepared(form_of(standing))
        return found

    def matched(self, stream: int, after: int, limit: int) -> list[tuple[Standing, Logged]]:
        """Up to so many notifications of a stream behind that event, in order, and not those that are gone."""
        with self.database.reading() as database:
            those = subscriptions.versions(database, stream)
        # Before the blocks are looked at: what moves into one meanwhile is there twice, and not in neither.
        newest = {each.number: self.newest.behind(each.number, after) for each in those}
        pairs: list[tuple[int, int, Standing]] = []
        with self.database.reading() as database:
            for each in those:
                seqs = _seqs(database, each, newest[each.number], after, limit)
                pairs += [(seq, each.number, each) for seq in seqs]
            pairs = sorted(pairs)[:limit]
            events = log.by_seqs(database, [seq for seq, *_ in pairs])
        return [(standing, events[seq]) for seq, _, standing in pairs if seq in events]

    def look_back(self, standing: Standing) -> None:
        """Match it with the events from before it, and wait until that is done."""
        place = standing.looked
        while place is not None:
            upto, seqs = looking.found(self.database, standing, place, self.matching.engine.ontology, self._failed)
            over = self.change(partial(looking.write, standing=standing, upto=upto, seqs=seqs))
            place = None if over.result() else upto
            self._ring({standing.stream: ()})


def _seqs(database: sqlite3.Connection, standing: Standing, newest: list[int], after: int, limit: int) -> list[int]:
    seqs = looking.earlier(database, standing.number, after, limit) if standing.since is not None else []
    if standing.looked is not None or len(seqs) >= limit:
        return seqs
    seqs += postings.written(database, standing.number, seqs[-1] if seqs else after, limit - len(seqs))
    if len(seqs) < limit:
        seqs += [seq for seq in newest if not seqs or seq > seqs[-1]]
    return seqs[:limit]


def _then(change: Change, outcome: Any) -> Any:
    """It is durable: what fails now is no reason to do it again."""
    try:
        change.then(outcome)
    except Exception as error:
        _log.exception("after a change that was written")
        return error
    return outcome


def _key(writer: sqlite3.Connection) -> bytes:
    writer.execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('key', ?)", (token_bytes(32),))
    found = writer.execute("SELECT value FROM meta WHERE key = 'key'").fetchone()[0]
    assert isinstance(found, bytes)
    return found


def _pause_number(writer: sqlite3.Connection, number: int, reason: str) -> Standing | None:
    row = subscriptions.by_number(writer, number)
    return None if row is None or row.state != "active" else subscriptions.pause(writer, row, reason)


def _end_expired(writer: sqlite3.Connection, standing: Standing, now: int) -> Standing | None:
    """If it has not been renewed meanwhile."""
    found = subscriptions.by_number(writer, standing.number)
    if found is None or found.expires is None or found.expires > now:
        return None
    subscriptions.end(writer, found, "expired")
    return found


def _now() -> int:
    return time.time_ns() // 1_000


def written_time(microseconds: int) -> str:
    """A moment as xsd:dateTime has it.

    >>> written_time(1_700_000_000_000_000)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(microseconds / 1e6, UTC).isoformat().replace("+00:00", "Z")
