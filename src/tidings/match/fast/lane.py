"""The fast lane: N-Quads bytes in, answers out, many events at a time and without an object for any term.

The kernels read what is in canonical form and in a named graph, which is most of what there is. They stop at a line
that is not. From there on `rdf/` reads, for as few lines as will do, with the very classes that read every other
document: so an event is what it always is, and so are the errors. Where the two meet:

- A graph ends where another one begins. So the last graph that the kernels saw is not over before they see the next,
  and where `rdf/` stopped in a graph, lines of the same one still belong to it.
- A broken line costs the event before it, or one that is named in it. So who reads it has read the lines before it,
  and events of the kernels whose graph is spoilt are dropped.
- The same event may come again. `table` numbers the names of all events as they pass, and looks closer only where one
  is not new; `stream` keeps a fingerprint of each, as any other reader does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from tidings.errors import EventError
from tidings.index.arrays import Bytes, Ints, Longs
from tidings.index.kernels.join import YES
from tidings.index.scanner import Found
from tidings.match.base import Failure, Report
from tidings.match.fast.engine import Fast, View
from tidings.match.fast.text import Text
from tidings.rdf.by_graph import ByGraph
from tidings.rdf.draft import Draft, Problems
from tidings.rdf.event import Event
from tidings.rdf.finish import Finisher
from tidings.rdf.formats import Format
from tidings.rdf.limits import Limits
from tidings.rdf.lines import LineReader
from tidings.rdf.quads import Item
from tidings.rdf.seen import Seen

_BATCH = 1 << 20
_LEAST_BATCH = 1 << 14
_ROWS = 1 << 20
"""Where the kernels find more answers than this in a batch, the next one is smaller."""

_SHORTEST_LINE = 16
_STRETCH = 1 << 16
_LONGEST_STRETCH = 1 << 18

ReportError: TypeAlias = Callable[[EventError], None]
Tell: TypeAlias = Callable[[], None]
R = TypeVar("R")


@dataclass(frozen=True)
class Batch:
    """Whole events as the kernels read them, and their answers: (event, subscription, YES or ASKED)."""

    text: Text
    source: str
    data: Bytes
    shift: int
    begins: Longs
    ends: Longs
    answers: Ints

    @property
    def size(self) -> int:
        return int(self.ends.size)

    def name(self, event: int) -> str:
        """The name of the event's graph, which ends its last line."""
        end = int(self.ends[event])
        line = self.data[int(self.begins[event]) : end].tobytes()
        return line[line.rindex(b"<") + 1 : -4].decode()

    def draft(self, event: int) -> Draft:
        name = self.name(event)
        begin, end = int(self.begins[event]), int(self.ends[event])
        triples = triples_in(self.data[begin:end].tobytes(), name)
        return Draft(name, triples, self.text.line(begin + self.shift))

    def event(self, event: int) -> Event:
        draft = self.draft(event)
        assert draft.name is not None
        return Event(draft.name, "".join(sorted(set(draft.triples))), self.source)


def triples_in(lines: bytes, graph: str) -> list[str]:
    """Canonical lines of this graph, without it."""
    end = len(f"<{graph}> .")
    return [f"{line[:-end]}.\n" for line in lines.decode().removesuffix("\n").split("\n")]


class Lane(ABC, Generic[R]):
    """One document. What becomes of its events is up to the classes below."""

    def __init__(
        self, engine: Fast, text: Text, source: str, limits: Limits, seen: Seen, report: ReportError, failed: Report
    ) -> None:
        problems = Problems(source, limits, self._tell)
        self._engine = engine
        self._text = text
        self._source = source
        self._report = report
        self._failed = failed
        self._reader = LineReader(source, Format.NQ, limits)
        self._graphs = ByGraph(problems)
        self._finisher = Finisher(problems, None, seen, strict=False)
        # No event that is smaller can be too large, nor a term in it, nor can it have too many lines.
        self._largest = min(limits.max_event, limits.max_term, _SHORTEST_LINE * limits.max_triples)
        self._batch = min(_BATCH, self._largest)
        self._at = text.start
        self._stretches = 0
        self._held: list[Tell] | None = None

    @abstractmethod
    def _taken(self, view: View, batch: Batch) -> R:
        """What becomes of the events of a batch."""

    @abstractmethod
    def _matched(self, events: Iterator[Event]) -> Iterator[R]:
        """What becomes of events that `rdf/` read."""

    def results(self) -> Iterator[R]:
        text = self._text
        while True:
            if self._at < text.stop:
                yield from self._step()
            elif text.trouble is not None:
                yield from self._read(self._reader.items(*text.trouble))
                if not text.more(self._at):
                    break
            elif not text.more(self._at):
                break
        yield from self._matched(self._finisher.events(self._graphs.end()))

    def _step(self) -> Iterator[R]:
        """Go on by some events, or get what is needed for that."""
        text = self._text
        if self._graphs.waiting:
            yield from self._stretch(self._at)
            return
        stop = text.cut(self._at, self._batch)
        taken, odd = yield from self._run(stop)
        if odd is not None:
            yield from self._stretch(odd)
        elif taken:
            return
        elif stop < text.stop and self._batch < self._largest:
            self._batch = min(4 * self._batch, self._largest)
        elif stop < text.stop or text.trouble is not None or text.stop - self._at >= self._largest:
            yield from self._stretch(self._at)
        else:
            text.more(self._at)

    def _tell(self, error: EventError) -> None:
        self._say(partial(self._report, error))

    def _fail(self, failure: Failure) -> None:
        self._say(partial(self._failed, failure))

    def _say(self, tell: Tell) -> None:
        if self._held is None:
            tell()
        else:
            self._held.append(tell)

    @contextmanager
    def _holding(self) -> Iterator[list[Tell]]:
        """Keep back what there is to tell: whoever is told may want to change subscriptions, while none can change."""
        outer, self._held = self._held, []
        try:
            yield self._held
        finally:
            self._held = outer

    # ------------------------------------------------------------------------------------------------------ by kernels

    def _run(self, stop: int) -> Generator[R, None, tuple[bool, int | None]]:
        """Have the kernels read on, up to `stop`. Whether they took any events, and where one is that they cannot."""
        with self._engine.reading() as view:
            data, shift = self._text.window(self._at, stop)
            stops = np.array([stop - shift], np.int64)
            found = view.run(data, stops, trusted=False, quads=True, start=self._at - shift)
            odd = found.at + shift if found.odd else None
            batch = self._whole_events(found, data, shift, stop)
            if not batch.size:
                return False, odd
            if f"<{batch.name(0)}>" == self._graphs.open_graph:
                return False, self._at
            with self._holding() as before:
                closed = list(self._finisher.events(self._graphs.part()))
            with self._holding() as held:
                taken = self._taken(view, batch)
        self._at = int(batch.ends[-1]) + shift
        self._stretches = 0
        self._engine.count(visited=found.visited, candidates=found.candidates)
        say(before)
        yield from self._matched(iter(closed))
        say(held)
        yield taken
        return True, odd

    def _whole_events(self, found: Found, data: Bytes, shift: int, stop: int) -> Batch:
        """The events that are surely over: all but the last, unless the document is."""
        text = self._text
        over = stop == text.stop and text.ended and text.trouble is None and not found.odd
        count = found.begins.size if over else max(found.begins.size - 1, 0)
        ends = np.append(found.begins[1:], found.at)[:count]
        answers = found.answers[: bisect_left(found.answers, count, key=itemgetter(0))]
        if len(found.answers) > _ROWS:
            self._batch = max(self._batch // 2, min(_LEAST_BATCH, self._largest))
        elif len(found.answers) < _ROWS // 4 and self._batch < _BATCH:
            self._batch = min(2 * self._batch, _BATCH, self._largest)
        return Batch(text, self._source, data, shift, found.begins[:count], ends, answers)

    def _spoilt(self, batch: Batch) -> Bytes:
        """Which events of the batch are lost, for a broken line elsewhere that names them."""
        spoilt = self._graphs.spoilt
        if not spoilt:
            return np.zeros(batch.size, np.uint8)
        return np.array([f"<{batch.name(event)}>" in spoilt for event in range(batch.size)], np.uint8)

    # ---------------------------------------------------------------------------------------------------------- by rdf/

    def _stretch(self, beyond: int) -> Iterator[R]:
        """Have `rdf/` read on: beyond this place, and to where a line plainly names another graph than the one before
        it. Where it has to again and again, it reads more at a time.
        """
        self._stretches += 1
        wanted = max(beyond - self._at + 1, min(1 << 2 * self._stretches, _LONGEST_STRETCH))
        stop = self._text.cut(self._at, max(2 * wanted, _STRETCH))
        stop = self._at + _change_of_graph(self._text.lines(self._at, stop), wanted)
        items = self._reader.items(self._text.line(self._at), self._text.piece(self._at, stop))
        self._at = stop
        yield from self._read(items)

    def _read(self, items: Iterator[Item]) -> Iterator[R]:
        return self._matched(self._finisher.events(draft for item in items for draft in self._graphs.take(item)))


def verified(
    view: View, answers: Ints, kept: Bytes, event_of: Callable[[int], Event], failed: Report
) -> Iterator[tuple[int, list[int]]]:
    """Beyond what the kernels are sure of: the subscriptions that the verifier finds to match, by event."""
    sure = answers[:, 2] == YES
    events = np.ascontiguousarray(answers[:, 0])
    for event in np.unique(events[~sure]).tolist():
        if not kept[event]:
            continue
        first, last = np.searchsorted(events, [event, event + 1]).tolist()
        here, yes = answers[first:last, 1], sure[first:last]
        if asked := set(here[~yes].tolist()).difference(here[yes].tolist()):
            meaning = view.meaning(event_of(event))()
            yield event, [number for number in sorted(asked) if view.verified(number, meaning, failed)]


def _change_of_graph(lines: bytes, wanted: int) -> int:
    """Where, behind so many bytes, a line plainly names another graph than the one before it."""
    start, before = 0, b""
    while (newline := lines.find(b"\n", start)) >= 0:
        plain = lines.endswith(b"> .", start, newline)
        graph = lines[lines.rfind(b"<", start, newline) : newline] if plain else b""
        if start >= wanted and before and graph and graph != before:
            return start
        start, before = newline + 1, graph
    return len(lines)


def say(tells: Iterable[Tell]) -> None:
    for tell in tells:
        tell()
