"""Subscriptions in and out, events through the kernels, and the verifier where these ask it.

The subscriptions are in *parts*: at most one frozen segment, and behind it the live part that takes new ones. When that
has grown, it is set aside, the next one takes over, and a thread of its own merges what was set aside with the segment;
the outcome takes their places in one step. A match sees the parts that were there when it began.

Threads: `_changes` makes changes one at a time. `_live` is for the arrays of the live part: shared by those who match,
alone for who changes them. Everything else that a match reads does not change, except that a subscription which is
taken out loses its flag, in one byte.
"""

from __future__ import annotations

import logging
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cache, partial
from itertools import accumulate, pairwise
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from tidings.errors import EvaluationError, SnapshotError
from tidings.index.arrays import Ints, Longs
from tidings.index.columns import column
from tidings.index.kernels.join import ASKED, YES
from tidings.index.names import ALL_BITS
from tidings.index.scanner import Found, padded
from tidings.index.segment import Segment
from tidings.index.usage import Usage
from tidings.lang.pattern import Query
from tidings.match.base import Answer, Failure, Match, Report
from tidings.match.fast import keeping
from tidings.match.fast.locks import SharedLock
from tidings.match.fast.parts import Frozen, Live, Part, merged
from tidings.match.fast.renewal import renewed
from tidings.match.meaning import Meaning
from tidings.match.run import DEFAULT_BUDGET
from tidings.match.verify import Prepared, current_time
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term

_MERGE_AT = 5_000
_MERGE_SHARE = 20
"""One in so many subscriptions may be live before a merge."""

_FEW = 50

Verifying: TypeAlias = Callable[[str], AbstractContextManager[object]]
"""Around a look of the verifier at the subscription of this id."""

_log = logging.getLogger("tidings")


class State(NamedTuple):
    """What a match sees. The last part is live, the one before it may be set aside for a merge. The ontology of a
    snapshot is made when it is first needed."""

    parts: tuple[Part, ...]
    known: Callable[[], Ontology]


def _state(older: tuple[Part, ...], known: Callable[[], Ontology], weak: int, usage: Usage | None = None) -> State:
    """These parts, and a live one."""
    usage = next((part.usage for part in reversed(older) if isinstance(part, Live)), usage)
    return State((*older, Live(known, weak, usage)), known)


class View:
    """What one match sees. A subscription's number here counts through all parts."""

    def __init__(self, state: State, engine: Fast) -> None:
        self._state = state
        self._parts = state.parts
        self._engine = engine
        self._offsets = list(accumulate((part.size for part in state.parts), initial=0))

    @property
    def ontology(self) -> Ontology:
        return self._state.known()

    def run(self, data: np.ndarray, stops: Longs, *, trusted: bool, quads: bool, start: int = 0) -> Found:
        """Events against all parts: see `Scanner.run`. The answers are in the order of the events."""
        found = self._parts[0].run(data, stops, trusted=trusted, quads=quads, start=start)
        if len(self._parts) == 1 or not found.begins.size:
            return found
        ends = np.array([found.at], np.int64) if quads else stops[: found.begins.size]
        every = [found]
        for offset, part in zip(self._offsets[1:], self._parts[1:], strict=False):
            if len(part):
                every.append(part.run(data, ends, trusted=trusted, quads=quads, start=start))
                every[-1].answers[:, 1] += offset
        answers = np.concatenate([each.answers for each in every])
        return replace(
            found,
            answers=answers[np.argsort(answers[:, 0], kind="stable")],
            candidates=sum(each.candidates for each in every),
            visited=sum(each.visited for each in every),
        )

    def numbers(self) -> Iterator[int]:
        for offset, part in zip(self._offsets, self._parts, strict=False):
            yield from (offset + number for number in part.numbers())

    def id(self, number: int) -> str:
        part, inner = self._place(number)
        return part.id(inner)

    def query(self, number: int) -> Query:
        part, inner = self._place(number)
        return part.query(inner)

    def ids(self, numbers: Ints) -> pa.ChunkedArray:
        """The ids of many, as a column of strings."""
        return column([part.texts(low) for low, part in zip(self._offsets, self._parts, strict=False)], numbers)

    def verified(self, number: int, meaning: Meaning, report: Report) -> bool:
        """Whether the verifier finds a match; a failure is reported."""
        part, inner = self._place(number)
        return self._engine.verified(part, inner, meaning, report)

    def matches(self, event: Event, answers: Ints, report: Report) -> list[Match]:
        """The matches of the event that has these answers, by id."""
        meaning = self.meaning(event)
        sure = answers[:, 2] == YES
        numbers = set(answers[sure, 1].tolist())
        asked = set(answers[~sure, 1].tolist()) - numbers
        numbers |= {number for number in sorted(asked) if self.verified(number, meaning(), report)}
        return sorted((self.match(number, event, meaning) for number in numbers), key=attrgetter("subscription"))

    def match(self, number: int, event: Event, meaning: Callable[[], Meaning]) -> Match:
        part, inner = self._place(number)
        answer = partial(self._engine.answer, part.later(inner), meaning)
        return Match(event.id, part.id(inner), event.source, answer)

    def meaning(self, event: Event) -> Callable[[], Meaning]:
        """What the event means, worked out once, when it is first called."""
        return cache(partial(_meaning, event, self._state.known))

    def _place(self, number: int) -> tuple[Part, int]:
        n = bisect_right(self._offsets, number) - 1
        return self._parts[n], number - self._offsets[n]


def _meaning(event: Event, known: Callable[[], Ontology]) -> Meaning:
    return Meaning(event, known())


class Fast:
    """An `Engine` that takes every subscription. `merge_at` is how many subscriptions at least are live before they are
    merged with the others; `weak` cuts hashes down, for tests of what collisions do; `usage` decides under what they
    are filed, in place of what is counted here. `verifying` is entered, with the id of a subscription, as long as the
    verifier looks at it, which may take `seconds`.
    """

    name = "fast"

    def __init__(
        self,
        ontology: Ontology,
        *,
        budget: int = DEFAULT_BUDGET,
        now: Term | None = None,
        merge_at: int = _MERGE_AT,
        weak: int = ALL_BITS,
        usage: Usage | None = None,
        seconds: float | None = None,
        verifying: Verifying = nullcontext,
    ) -> None:
        self._budget = budget
        self._seconds = seconds
        self._verifying = verifying
        self._now = now or current_time()
        self._merge_at = merge_at
        self._weak = weak
        self._changes = threading.RLock()
        self._live = SharedLock()
        self._usage = usage
        self._state = _state((), lambda: ontology, weak, usage)
        self._merging = threading.Lock()
        self._removed_meanwhile: list[str] = []
        self._counting = threading.Lock()
        self._counts = dict.fromkeys(("events", "visited", "candidates", "asked", "matches", "failures", "merges"), 0)

    @property
    def ontology(self) -> Ontology:
        return self._state.known()

    def __len__(self) -> int:
        return sum(map(len, self._state.parts))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and any(part.find(id) >= 0 for part in self._state.parts)

    def frozen_number(self, id: str) -> int:
        """The number of a frozen subscription, as a `View` has it; -1 where it is live, or there is none."""
        first = self._state.parts[0]
        return first.find(id) if isinstance(first, Frozen) else -1

    @property
    def frozen_size(self) -> int:
        """How many frozen subscriptions there are, those that are taken out included."""
        first = self._state.parts[0]
        return first.size if isinstance(first, Frozen) else 0

    def queries(self) -> Iterator[tuple[str, Query]]:
        """All subscriptions that are there now."""
        with self.reading() as view:
            for number in view.numbers():
                yield view.id(number), view.query(number)

    # ------------------------------------------------------------------------------------------------------ changes

    def add(self, id: str, query: Query) -> None:
        """Take a subscription; one of the same id is replaced."""
        with self._changes:
            self._put_in(id, query)
            if len(self._newest) >= max(self._merge_at, len(self) // _MERGE_SHARE):
                self._merge_soon()

    def add_many(self, rows: Iterable[tuple[str, Query]]) -> None:
        """Take many: one merge for all of them, at the end."""
        for id, query in rows:
            with self._changes:
                self._put_in(id, query)
        if len(self._newest) >= self._merge_at:
            self.merge()

    def remove(self, id: str) -> None:
        with self._changes:
            found = self._find(id)
            if found is None:
                raise KeyError(id)
            with self._live.alone():
                self._take_out(id, *found)

    def _put_in(self, id: str, query: Query) -> None:
        older = self._find(id)
        with self._live.alone():
            self._newest.add(id, query)
            if older is not None:
                self._take_out(id, *older)

    def _take_out(self, id: str, part: Part, number: int) -> None:
        part.remove(number)
        if self._merging.locked():
            self._removed_meanwhile.append(id)

    def _find(self, id: str) -> tuple[Part, int] | None:
        for part in self._state.parts:
            number = part.find(id)
            if number >= 0:
                return part, number
        return None

    @property
    def _newest(self) -> Live:
        live = self._state.parts[-1]
        assert isinstance(live, Live)
        return live

    # -------------------------------------------------------------------------------------------------------- merges

    def _merge_soon(self) -> None:
        if not self._merging.locked():
            threading.Thread(target=self._merge_quietly, name="tidings-merge", daemon=True).start()

    def _merge_quietly(self) -> None:
        try:
            if self._merging.acquire(blocking=False):
                try:
                    self._merge()
                finally:
                    self._merging.release()
        except Exception:
            _log.exception("subscriptions could not be merged; matching goes on with them as they are")

    def merge(self) -> Segment:
        """Freeze all that is there now into one segment, and wait until that is done. Changes go on meanwhile."""
        with self._merging:
            return self._merge()

    def _merge(self) -> Segment:
        with self._changes:
            parts, known = self._state
            self._removed_meanwhile.clear()
            base = parts[0].segment if isinstance(parts[0], Frozen) else None
            lives = [part for part in parts if isinstance(part, Live) and part.size]
            if base is not None and not lives and not parts[0].removed:
                return base
            if self._newest.size:
                with self._live.alone():
                    self._newest.refresh()
                self._state = _state(parts, known, self._weak)
        segment = merged(base, lives, known, self._weak)
        frozen = Frozen(segment)
        while self._late(frozen):
            pass
        with self._changes:
            self._late(frozen)
            self._state = State((frozen, self._newest), known)
            self._counts["merges"] += 1
        return segment

    def _late(self, frozen: Frozen) -> bool:
        """Take out of a new part what was removed while it was made. Whether that was much: then there may be more
        by now, and it is better done while changes go on.
        """
        with self._changes:
            gone, self._removed_meanwhile = self._removed_meanwhile, []
        for id in gone:
            number = frozen.find(id)
            if number >= 0:
                frozen.remove(number)
        return len(gone) > _FEW

    def replace_ontology(self, ontology: Ontology) -> tuple[str, ...]:
        """Know another ontology from now on. The ids of the subscriptions that had to be compiled anew."""
        with self._merging, self._changes:
            segment, old = self._merge(), self._state.known()
            live = Live(lambda: ontology, self._weak, self._usage)
            fresh, ids = renewed(segment, old, ontology, live)
            if ids:
                live.refresh()
            self._state = State((Frozen(fresh), live), lambda: ontology)
        return tuple(ids)

    # ------------------------------------------------------------------------------------------------------ snapshots

    def save(self, folder: Path) -> None:
        """Keep what is there now in a snapshot, in place of one that is there."""
        with self._merging:
            segment, known = self._merge(), self._state.known
        keeping.save(folder, segment, known())

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        ontology: Ontology | None = None,
        verify: bool = False,
        budget: int = DEFAULT_BUDGET,
        now: Term | None = None,
        merge_at: int = _MERGE_AT,
        usage: Usage | None = None,
    ) -> Fast:
        """A matcher with the subscriptions and the ontology of a snapshot. One that is given must be the same."""
        kept = keeping.open_kept(folder, verify=verify)
        if ontology is not None and not kept.fits(ontology):
            problem = "it was compiled with another ontology"
            raise SnapshotError(folder, problem, "open it without one, or compile it with this one")
        weak = int(kept.segment.index.names.terms.weak[0])
        engine = cls(Ontology.empty(), budget=budget, now=now, merge_at=merge_at, weak=weak, usage=usage)
        engine._state = _state((Frozen(kept.segment),), lambda: kept.ontology, weak, usage)
        return engine

    # -------------------------------------------------------------------------------------------------------- matches

    @contextmanager
    def reading(self) -> Iterator[View]:
        """What a match sees. Changes wait as long as this lasts."""
        state = self._state
        live = state.parts[-1]
        assert isinstance(live, Live)
        if not live.size and len(state.parts) > 1:
            yield View(state._replace(parts=state.parts[:-1]), self)
            return
        while True:
            with self._live.shared():
                if not live.stale:
                    yield View(state, self)
                    return
            with self._live.alone():
                live.refresh()

    def match(self, event: Event, report: Report) -> list[Match]:
        """The subscriptions that match, by id; those that fail are reported. Bindings are computed when asked for."""
        return self.match_batch([event], report)

    def match_batch(self, events: Sequence[Event], report: Report) -> list[Match]:
        """The same for several, one after the other."""
        bodies = [event.body.encode() for event in events]
        stops = np.array(list(accumulate(map(len, bodies))), np.int64)
        matches: list[Match] = []
        # Told in the end: who is told may want to change subscriptions, and that has to wait until nobody reads.
        failures: list[Failure] = []
        with self.reading() as view:
            found = view.run(padded(b"".join(bodies)), stops, trusted=True, quads=False)
            answers = found.answers
            if found.odd and len(events) == 1:
                # A text that the kernels do not read, as nobody should write one: no match is missed for it.
                answers = np.array([(0, number, ASKED) for number in view.numbers()], np.int32).reshape(-1, 3)
            if not found.odd or len(events) == 1:
                bounds = np.searchsorted(answers[:, 0], np.arange(len(events) + 1)).tolist()
                for event, (first, last) in zip(events, pairwise(bounds), strict=True):
                    matches += view.matches(event, answers[first:last], failures.append)
        if found.odd and len(events) > 1:
            return [match for event in events for match in self.match_batch([event], report)]
        self.count(events=len(events), visited=found.visited, candidates=found.candidates, matches=len(matches))
        for failure in failures:
            report(failure)
        return matches

    def verified(self, part: Part, number: int, meaning: Meaning, report: Report) -> bool:
        """Whether the verifier finds a match; a failure is reported."""
        self.count(asked=1)
        try:
            with self._verifying(part.id(number)):
                prepared = part.prepared(number)
                return prepared.matches(meaning, budget=self._budget, now=self._now, seconds=self._seconds)
        except EvaluationError as error:
            self.count(failures=1)
            report(Failure(meaning.event.id, part.id(number), str(error)))
            return False

    def answer(self, prepared: Callable[[], Prepared], meaning: Callable[[], Meaning]) -> Answer:
        answer = prepared().solve(meaning(), budget=self._budget, now=self._now, seconds=self._seconds)
        assert answer is not None, "a match has a solution"
        return answer

    # -------------------------------------------------------------------------------------------------------- counters

    def count(self, **more: int) -> None:
        with self._counting:
            for name, number in more.items():
                self._counts[name] += number

    @property
    def candidates(self) -> int:
        """Decided since the start."""
        return self._counts["candidates"]

    def stats(self) -> Mapping[str, int | float]:
        """Events; filings visited and candidates decided; subscriptions that the verifier was asked about; matches and
        failures; merges; rules, those of them that every event must be tried on, and atoms; how many subscriptions are
        live, and the bytes of what is frozen, the texts of the subscriptions apart.
        """
        parts = self._state.parts
        frozen = [part.segment for part in parts if isinstance(part, Frozen)]
        stores = [part.store for part in parts if isinstance(part, Live) and part.size]
        return {
            **self._counts,
            "rules": sum(each.index.rules.subscription.size for each in frozen) + sum(each.rules for each in stores),
            "unindexed": sum(each.index.rules.always.size for each in frozen) + sum(each.unindexed for each in stores),
            "atoms": sum(each.index.filed.first.size - 1 for each in frozen) + sum(each.atoms for each in stores),
            "live": sum(len(part) for part in parts if isinstance(part, Live)),
            "bytes_held": sum(each.bytes_held for each in frozen),
            "bytes_of_texts": sum(each.listed.text_pool.nbytes + each.listed.text_start.nbytes for each in frozen),
        }
