"""What a broker does inside: one order of events and changes, matched and written down before anybody is told.

Everything that is written goes through the one thread of the `Committer`, so an event sees the subscriptions that were
registered before it, and no others. A change is made in the database first, and in the engine when it is durable.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from secrets import token_bytes
from threading import Event as Flag
from threading import Lock
from time import perf_counter
from typing import Any, Literal, TypeAlias, TypeVar

from tidings.broker import audit, log, looking, outside, postings, streams, subscriptions, windows
from tidings.broker.audit import PROGRAM, What, Who
from tidings.broker.backlog import Backlog
from tidings.broker.clock import Clock
from tidings.broker.committer import Committer, Then
from tidings.broker.cursors import Cursor
from tidings.broker.database import Database
from tidings.broker.figures import Figures
from tidings.broker.knowledge import Knowledge
from tidings.broker.log import Logged, Numbers
from tidings.broker.matching import Effort, Elsewhere, Matching, form_of
from tidings.broker.retention import Retention
from tidings.broker.subscriptions import Registered, Standing, Wanted
from tidings.broker.upkeep import Upkeep
from tidings.broker.watch import Watch
from tidings.errors import EventConflict, EventError, LogError
from tidings.lang import Dialect, Query, parse
from tidings.match.base import Answer, Failure
from tidings.match.verify import Prepared
from tidings.rdf.event import Event

T = TypeVar("T")
_log = logging.getLogger("tidings")

_GROUP = 4 << 20
"""Bytes of events that share a transaction."""

FAILURES = 20
_FAILURES_WITHIN = 3_600.0
"""A subscription that has failed on so many events within so many seconds is paused."""

_PAGE_BYTES = 16 << 20
"""Of events that are read for one page; there is at least one."""

_ANSWERING = 20_000
"""So many subscriptions are kept ready to say what their matches carry, those that were asked last."""

EVERYTHING = 0
"""A stream that has something new with every event."""

Where: TypeAlias = Literal["embedded", "outside"]
"""Whether events are matched as they are accepted, or elsewhere, later (see `outside`)."""

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

    def __init__(
        self,
        folder: Path | None,
        knowledge: Knowledge | None,
        keep: Retention,
        effort: Effort | None = None,
        matching: Where = "embedded",
    ) -> None:
        """`knowledge` None is what it knew before."""
        self.database = Database(folder)
        self.figures = Figures()
        self.effort = effort or Effort()
        self.where = matching
        try:
            self._begin(knowledge, keep.backlog)
        except BaseException:
            self.database.close()
            raise
        self.upkeep = Upkeep(self, keep)
        self._watch = Watch(self.notice) if matching == "outside" and folder is not None else None

    def _begin(self, knowledge: Knowledge | None, backlog: int) -> None:
        """Take up what is in the database."""
        if self.where == "outside":
            outside.begin(self.database, knowledge, self.effort)
        else:
            outside.finish(self.database, self.effort, lambda failure: self.figures.count("failures"))
        with self.database.reading() as database:
            self.knowledge = knowledge or Knowledge.kept(database)
        kind = Elsewhere if self.where == "outside" else Matching
        self.matching = kind(self.knowledge.ontology, self.failed, self.effort, self.figures)
        self._failures: dict[int, deque[float]] = {}
        self._prepared = lru_cache(_ANSWERING)(_prepared)
        self._noticing = Lock()
        self._rung: list[Rung] = []
        self._ringing = Lock()
        self._looking: dict[int, Lock] = {}
        self._ending = Flag()
        with self.database.reading() as database:
            self._last = log.last_seq(database)
            self._told = windows.mark(database)
            self._clock = Clock(log.last_accepted(database), lambda: _now())
            those = list(subscriptions.standing(database))
            self.stream_of = subscriptions.streams(database)
            self.newest = postings.Newest(database, self._last)
        self.paused = {each.stream: each.reason for each in those if each.state == "paused"}
        """The streams of what is paused, and why."""
        self.matching.put_many(each for each in those if each.state == "active")
        self.backlog = Backlog(self, backlog)
        self._committer = Committer(self.database.name, _GROUP)
        try:
            self.change(self.knowledge.write).result()
            self.key: bytes = self.change(_key).result()
            """A secret of this broker's own, from which others are made."""
        except BaseException:
            self._committer.close()
            raise

    def close(self) -> None:
        self._ending.set()
        if self._watch is not None:
            self._watch.close()
        self.upkeep.close()
        self._committer.close()
        self.database.close()

    def listen(self, rung: Rung) -> Callable[[], None]:
        """Have it called whenever there is something new; and what ends that."""
        with self._ringing:
            self._rung.append(rung)

        def silent() -> None:
            with self._ringing:
                if rung in self._rung:
                    self._rung.remove(rung)

        return silent

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
        return self._committer.submit(self._publish, *self._asked(events))

    def publish_and_tell(self, events: Sequence[Event], then: Then[list[Accepted | EventError]]) -> None:
        """The same, told from the thread that writes."""
        self._committer.tell(self._publish, *self._asked(events), then)

    def _asked(self, events: Sequence[Event]) -> tuple[tuple[float, Sequence[Event]], int]:
        if self.where == "outside":
            events = [outside.timed(event) for event in events]
        return (perf_counter(), events), sum([len(event.body) for event in events])

    def _publish(self, jobs: Sequence[tuple[float, Sequence[Event]]]) -> list[list[Accepted | EventError]]:
        begun = perf_counter()
        for asked, _ in jobs:
            self.figures.stages["wait"].add(begun - asked)
        given = [event for _, events in jobs for event in events]
        with self.database.looking() as database:
            known = log.by_ids(database, [event.id for event in given])
        new: dict[str, Event] = {}
        now = self.now()
        moment = written_time(now)
        for event in given:
            if event.id not in known and event.id not in new:
                new[event.id] = Event(event.id, event.body, event.source, event.published or moment)
        matched: Sequence[Numbers | None] = [None] * len(new)
        if self.where == "embedded":
            with self.figures.timed("match"):
                matched = self.matching.match(list(new.values()))
        logged = {
            event.id: Logged(self._last + 1 + place, event, now, numbers)
            for place, (event, numbers) in enumerate(zip(new.values(), matched, strict=True))
        }
        if logged:
            with self.figures.timed("write"), self.database.writing() as writer:
                log.append(writer, list(logged.values()))
            self._taken(list(logged.values()))
        return [[self._outcome(event, known, logged) for event in events] for _, events in jobs]

    def _taken(self, logged: Sequence[Logged]) -> None:
        """They are durable. Whatever is told of them, nothing may go wrong here: nobody would publish them again."""
        self._last = logged[-1].seq
        self.figures.together.add(len(logged))
        self.figures.count("events", len(logged))
        if self.where == "embedded":
            self._found(logged)

    def _found(self, logged: Sequence[Logged], upto: int | None = None) -> None:
        """What these events matched is durable, too; up to that one all have been matched."""
        news: dict[int, list[tuple[int, Logged]]] = {EVERYTHING: []}
        count = 0
        stream_of = self.stream_of.get
        for each in logged:
            assert each.matched is not None
            count += len(each.matched)
            for number in each.matched.tolist():
                # Who has ended meanwhile is not told any more.
                stream = stream_of(number)
                if stream in news:
                    news[stream].append((number, each))
                elif stream is not None:
                    news[stream] = [(number, each)]
        self.figures.count("matches", count)
        self.newest.add((each.seq, each.matched) for each in logged if each.matched is not None)
        self.backlog.add({stream: len(those) for stream, those in news.items() if those})
        # Nobody reads on before all of it can be found.
        self._told = upto
        self._ring(news)

    def notice(self) -> None:
        """Tell what has been matched elsewhere, and written down."""
        with self._noticing:
            with self.database.reading() as database:
                upto = windows.mark(database)
                if upto is None or upto <= self.told:
                    return
                those = list(log.between(database, self.told, upto))
            self._found(those, upto)

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

    def delete_event(self, id: str, by: Who = PROGRAM) -> Future[bool]:
        """Delete an event, and all notifications of it. Whether it was there."""

        def write(writer: sqlite3.Connection) -> bool:
            there = log.delete(writer, id)
            if there:
                self._note(writer, by, "delete event", id)
                windows.skip(writer)
            return there

        def then(there: bool) -> None:
            self.database.forget()
            self.notice()

        return self.change(write, then)

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

    def _note(self, writer: sqlite3.Connection, by: Who, what: What, object: str) -> None:
        audit.write(writer, self.now(), by, what, object)

    def note(self, by: Who, what: What, object: str = "") -> None:
        """That somebody did something which changes nothing here."""
        self.change(partial(self._note, by=by, what=what, object=object))

    def register(self, wanted: Wanted, form: Query, by: Who = PROGRAM) -> Future[Registered]:
        return self.change(partial(self._register, wanted=wanted, by=by), partial(self._stands, form=form))

    def register_many(self, those: Sequence[tuple[Wanted, Query]], by: Who = PROGRAM) -> Future[list[Registered]]:
        """All of them, in one transaction, in this order."""

        def write(writer: sqlite3.Connection) -> list[Registered]:
            return [self._register(writer, wanted, by) for wanted, _ in those]

        def then(done: list[Registered]) -> None:
            for each, (_, form) in zip(done, those, strict=True):
                self._stands(each, form)

        return self.change(write, then)

    def _register(self, writer: sqlite3.Connection, wanted: Wanted, by: Who) -> Registered:
        looked = None
        if wanted.since is not None:
            first = log.first_since(writer, wanted.since)
            looked = None if first is None else first - 1
        done = subscriptions.register(writer, wanted, self.now(), self._last, looked)
        what: What = "renew" if not done.new else "subscribe" if done.before is None else "replace"
        self._note(writer, by, what, wanted.id)
        return done

    def _stands(self, done: Registered, form: Query) -> None:
        if not done.new:
            return
        self.stream_of[done.standing.number] = done.standing.stream
        if done.before is not None:
            self.matching.take(done.before.number)
            others = done.before.stream != done.standing.stream
            if self.paused.pop(done.before.stream, None) is not None or others:
                # Who listens to that one is told that it goes on, or that it is over.
                self._ring({done.before.stream: ()})
            if others:
                self.backlog.forget(done.before.stream)
        self.matching.put(done.standing.number, form)

    def learn(self, knowledge: Knowledge, by: Who = PROGRAM) -> Future[list[str]]:
        """Go on with another ontology. Which subscriptions had to be compiled anew."""
        again: list[str] = []

        def write(writer: sqlite3.Connection) -> list[str]:
            knowledge.write(writer)
            self._note(writer, by, "change ontology", "")
            return again

        if self.where == "outside":
            raise LogError(
                "events are matched elsewhere, with the ontology that there is; start the server with another one"
            )

        def then(outcome: list[str]) -> None:
            again.extend(self.matching.engine.replace_ontology(knowledge.ontology))
            self.knowledge = knowledge

        return self.change(write, then)

    def end(self, tenant: str, id: str, by: Who = PROGRAM) -> Future[Standing | None]:
        """Cancel what stands under this id."""

        def write(writer: sqlite3.Connection) -> Standing | None:
            standing = subscriptions.find(writer, tenant, id)
            if standing is not None:
                subscriptions.end(writer, standing, "cancelled")
                self._note(writer, by, "cancel", id)
            return standing

        return self.change(write, self._ended)

    def _ended(self, standing: Standing | None) -> None:
        if standing is not None:
            self.paused.pop(standing.stream, None)
            self.backlog.forget(standing.stream)
            self._silenced(standing)

    def _paused(self, standing: Standing | None) -> None:
        if standing is not None:
            self.paused[standing.stream] = standing.reason
            self._silenced(standing)

    def _silenced(self, standing: Standing) -> None:
        """It is not matched any more."""
        self._failures.pop(standing.number, None)
        self.matching.take(standing.number)
        self._ring({standing.stream: ()})

    def end_expired(self) -> None:
        """Those whose time is over."""
        with self.database.reading() as database:
            those = subscriptions.expired(database, self.now())
        for each in those:
            self.change(partial(_end_expired, standing=each, now=self.now()), self._ended).result()

    def pause(self, tenant: str, id: str, reason: str, by: Who = PROGRAM) -> Future[Standing | None]:
        def write(writer: sqlite3.Connection) -> Standing | None:
            standing = subscriptions.find(writer, tenant, id)
            if standing is None:
                return None
            self._note(writer, by, "pause", id)
            return subscriptions.pause(writer, standing, reason)

        return self.change(write, self._paused)

    def resume(self, tenant: str, id: str, by: Who = PROGRAM) -> Future[Standing | None]:
        def write(writer: sqlite3.Connection) -> Standing | None:
            standing = subscriptions.find(writer, tenant, id)
            if standing is None:
                return None
            self._note(writer, by, "resume", id)
            return subscriptions.resume(writer, standing)

        def then(standing: Standing | None) -> None:
            if standing is not None:
                self.paused.pop(standing.stream, None)
                self.matching.put(standing.number, form_of(standing))
                self._ring({standing.stream: ()})

        return self.change(write, then)

    def acknowledge(
        self, place: Cursor, also: Callable[[sqlite3.Connection], None] = lambda writer: None
    ) -> Future[list[Standing]]:
        """The subscriber is done with everything up to there; what is `also` to be written is so with that."""

        def write(writer: sqlite3.Connection) -> list[Standing]:
            also(writer)
            subscriptions.acknowledge(writer, place.stream, place.seq)
            return subscriptions.versions(writer, place.stream)

        def then(those: list[Standing]) -> None:
            looks_back = any(each.since is not None for each in those)
            left = None if looks_back else self.newest.left((each.number for each in those), place.seq)
            self.backlog.acknowledged(place.stream, place.seq, left)

        return self.change(write, then)

    def failed(self, failure: Failure) -> None:
        """A subscription could not be evaluated on an event."""
        number = int(failure.subscription)
        self.figures.count("failures")
        times = self._failures.setdefault(number, deque(maxlen=FAILURES))
        times.append(perf_counter())
        if len(times) == FAILURES and times[-1] - times[0] <= _FAILURES_WITHIN:
            times.clear()
            reason = (
                f"it failed on {FAILURES} events within an hour, the last time on {failure.event}: {failure.reason}"
            )
            self.change(partial(pause_number, number=number, reason=reason, now=self.now()), self._paused)

    # --------------------------------------------------------------------------------------------------------- readings

    def now(self) -> int:
        """Microseconds since 1970, never before the last event, and never back."""
        return self._clock.now()

    @property
    def waiting(self) -> int:
        """How much there is to be written."""
        return self._committer.waiting

    @property
    def last(self) -> int:
        """The last event that was accepted."""
        return self._last

    @property
    def told(self) -> int:
        """The last event of which, and of all before it, it is known what they matched."""
        return self._last if self._told is None else self._told

    def answer(self, standing: Standing, event: Event) -> Answer:
        """What a notification carries; nothing where it does not match by the ontology that is known now."""
        with self.figures.verifying(str(standing.number)):
            prepared = self._prepared(standing.query, standing.dialect, standing.id)
            return self.matching.answer(prepared, event) or Answer(())

    def matched(self, stream: int, after: int, limit: int) -> list[tuple[Standing, Logged]]:
        """Up to so many notifications of a stream behind that event, in order."""
        return streams.matched(self.database, self.newest, Cursor(stream, after), self.told, limit, _PAGE_BYTES)

    def matched_before(self, stream: int, before: int | None, limit: int) -> list[tuple[Standing, Logged]]:
        """The same backwards: before that event, or the newest, the newest first."""
        upto = self.last + 1 if before is None else before
        return streams.newest_before(self.database, self.newest, stream, upto, self.told, limit, _PAGE_BYTES)

    def look_back(self, standing: Standing) -> None:
        """Match it with the events from before it, and wait until that is done, or the broker ends.

        Where something fails, it is gone on with later.
        """
        with self._ringing:
            alone = self._looking.setdefault(standing.number, Lock())
        with alone:
            with self.database.reading() as database:
                found = subscriptions.by_number(database, standing.number)
            place = None if found is None else found.looked
            while place is not None and not self._ending.is_set():
                matching = Matching(self.matching.engine.ontology, self.failed, self.effort)
                upto, seqs = looking.found(self.database, standing, place, matching)
                over = self.change(partial(looking.write, standing=standing, upto=upto, seqs=seqs))
                place = None if over.result() else upto
                self.backlog.add({standing.stream: len(seqs)})
                self._ring({standing.stream: ()})
        with self._ringing:
            self._looking.pop(standing.number, None)

    def look_on(self) -> None:
        """Go on with those that have not looked back to their end."""
        with self.database.reading() as database:
            those = subscriptions.looking(database)
        for each in those:
            if not self._ending.is_set():
                self.look_back(each)


def _prepared(query: str, dialect: Dialect, source: str) -> Prepared:
    return Prepared(parse(query, dialect, source=source))


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


def pause_number(writer: sqlite3.Connection, number: int, reason: str, now: int) -> Standing | None:
    """By the broker itself, if that version is active."""
    row = subscriptions.by_number(writer, number)
    if row is None or row.state != "active":
        return None
    audit.write(writer, now, audit.broker(row.tenant), "pause", row.id)
    return subscriptions.pause(writer, row, reason)


def _end_expired(writer: sqlite3.Connection, standing: Standing, now: int) -> Standing | None:
    """If it has not been renewed meanwhile."""
    found = subscriptions.by_number(writer, standing.number)
    if found is None or found.expires is None or found.expires > now:
        return None
    subscriptions.end(writer, found, "expired")
    audit.write(writer, now, audit.broker(found.tenant), "expire", found.id)
    return found


def _now() -> int:
    return time.time_ns() // 1_000


def written_time(microseconds: int) -> str:
    """A moment as xsd:dateTime has it.

    >>> written_time(1_700_000_000_000_000)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(microseconds / 1e6, UTC).isoformat().replace("+00:00", "Z")
