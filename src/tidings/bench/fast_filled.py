"""A matcher with a workload in it: what making it took, and whether it answers as `naive` does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from tidings.bench.measure import refuse
from tidings.bench.workloads.fast.base import Forms, Workload
from tidings.lang.fulltext import words
from tidings.lang.pattern import (
    Block,
    Extend,
    Filter,
    FtAnd,
    FtContains,
    FtExpr,
    FtPhrase,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Query,
    Var,
)
from tidings.match.matcher import Matcher
from tidings.match.meaning import Meaning
from tidings.match.registry import create
from tidings.ontology import Ontology
from tidings.rdf.event import Event, to_nquads
from tidings.rdf.terms import is_literal, parts

_CHUNK = 1_000


@dataclass(frozen=True, slots=True)
class Filled:
    """`compiled` are the seconds from forms to the first answer, without those of `making` the forms; `compared` is
    on how many pairs of a subscription and an event it was found to answer as `naive` does, `agreed` how many match."""

    work: Workload
    matcher: Matcher
    data: bytes
    making: float
    compiled: float
    compared: int
    agreed: int

    def answers(self) -> int:
        """Match all events, from bytes to ids; the number of matches."""
        return int(self.matcher.match_nquads(self.data).num_rows)

    def held(self) -> float | None:
        """Bytes a subscription, where the matcher says."""
        held = self.matcher.stats().get("bytes_held")
        return None if held is None else held / self.work.count

    def counted(self, *names: str) -> dict[str, float | None]:
        """How much these counters grow, an event."""
        before = self.matcher.stats()
        self.answers()
        after = self.matcher.stats()
        return {name: (after[name] - before[name]) / len(self.work.events) if name in after else None for name in names}


def fill(name: str, work: Workload, *, events: int, subscriptions: int) -> Filled:
    """The matcher of this name with the workload in it, after a comparison with `naive` on so many of both."""
    some = work.events[:events]
    matcher = Matcher(name, work.ontology, on_failure=refuse)
    feed = _Feed(work.forms(), _Wanted(some, work.ontology, work.count, subscriptions))
    begun = time.perf_counter()
    matcher.add_many(feed)
    matcher.match_nquads(to_nquads(some[0]))
    compiled = time.perf_counter() - begun - feed.seconds
    agreed = compare(matcher, feed.kept, some, work.ontology)
    pairs = len(feed.kept) * len(some)
    return Filled(work, matcher, work.nquads(), feed.seconds, compiled, pairs, agreed)


class _Feed:
    """The forms on their way to a matcher: times their making, and keeps those that are wanted."""

    def __init__(self, forms: Forms, wanted: Callable[[int, Query], bool]) -> None:
        self._forms = forms
        self._wanted = wanted
        self.seconds = 0.0
        self.kept: dict[str, Query] = {}

    def __iter__(self) -> Iterator[tuple[str, Query]]:
        number = 0
        while True:
            begun = time.perf_counter()
            chunk = list(islice(self._forms, _CHUNK))
            for id, query in chunk:
                if self._wanted(number, query):
                    self.kept[id] = query
                number += 1
            self.seconds += time.perf_counter() - begun
            if not chunk:
                return
            yield from chunk


# ------------------------------------------------------------------------------------------------------------ agreement


def compare(matcher: Matcher, kept: Mapping[str, Query], events: Sequence[Event], ontology: Ontology) -> int:
    """How many matches both find among the subscriptions kept; an error where one finds what the other does not.

    The bytes of all events together must give what each event gives alone.
    """
    naive = create("naive", ontology)
    for id, query in kept.items():
        naive.add(id, query)
    table = matcher.match_nquads(b"".join(map(to_nquads, events)))
    together: dict[str, set[str]] = {event.id: set() for event in events}
    for event, subscription in zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True):
        together[event].add(subscription)
    agreed = 0
    for event in events:
        alone = {match.subscription for match in matcher.match(event)}
        _same(matcher.name, "from an event", alone, "from bytes", together[event.id], event)
        expected = {match.subscription for match in naive.match(event, refuse)}
        _same(matcher.name, "it", alone & kept.keys(), "naive", expected, event)
        agreed += len(expected)
    return agreed


def _same(matcher: str, left: str, found: set[str], right: str, others: set[str], event: Event) -> None:
    if found != others:
        raise RuntimeError(
            f"{matcher} is wrong on {event.id}: only {left} finds {sorted(found - others)[:5]}, "
            f"only {right} finds {sorted(others - found)[:5]}"
        )


class _Wanted:
    """Which subscriptions are compared: some at random, and as many that may well match one of the events.

    Of a million that match ten times an event, a few thousand at random would hardly contain a match.
    """

    def __init__(self, events: Sequence[Event], ontology: Ontology, count: int, most: int) -> None:
        self._events = [_has(Meaning(event, ontology)) for event in events]
        self._step = max(1, 2 * count // most)
        self._left = most // 2

    def __call__(self, number: int, query: Query) -> bool:
        if number % self._step == 0:
            return True
        if not self._left:
            return False
        needs = frozenset(_needs(query.where))
        if any(needs <= has for has in self._events):
            self._left -= 1
            return True
        return False


def _has(meaning: Meaning) -> frozenset[str]:
    """Terms and words; no word looks like a term."""
    terms = {term for triple in meaning.triples for term in triple}
    return frozenset(terms | {word for term in terms if is_literal(term) for word in words(parts(term).lexical)})


def _needs(pattern: Pattern) -> Iterator[str]:
    """Some of what an event must have to match."""
    match pattern:
        case Block(triples=triples, filters=filters):
            for triple in triples:
                yield from (node for node in (triple.s, triple.p, triple.o) if not isinstance(node, Var))
            for each in filters:
                if isinstance(each, FtContains):
                    yield from _words(each.text)
        case Join(parts=inner):
            for part in inner:
                yield from _needs(part)
        case LeftJoin(left=left) | Minus(left=left):
            yield from _needs(left)
        case Filter(pattern=left) | Extend(pattern=left) | Graph(pattern=left):
            yield from _needs(left)


def _words(text: FtExpr) -> Iterator[str]:
    match text:
        case FtPhrase(words=found):
            yield from found
        case FtAnd(items=items):
            for item in items:
                yield from _words(item)
