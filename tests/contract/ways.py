"""The ways to ask `fast`: how it came by its subscriptions (`STATES`), and how events are put to it (`ASKS`).

Every state makes a matcher that holds the same subscriptions, every way of asking gives {event: subscriptions}, and
whatever the combination, the answer must be the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event as Flag
from typing import Any

from tests.contract.respelled import respelled

from tidings.lang.pattern import Query
from tidings.match.base import Failure
from tidings.match.matcher import Matcher
from tidings.ontology import Ontology
from tidings.rdf.event import Event, to_nquads

THREADS = 8
NEVER = 1_000_000_000

Found = dict[str, list[str]]
Ask = Callable[[Matcher, Sequence[Event]], Found]


def no_failure(failure: Failure) -> None:
    raise AssertionError(f"{failure.subscription} on {failure.event}: {failure.reason}")


# --------------------------------------------------------------------------------------------------------------- states


@dataclass(frozen=True)
class Content:
    """What a matcher is to hold, and a folder for what it saves."""

    ontology: Ontology
    queries: Mapping[str, Query]
    folder: Path

    def matcher(self, ontology: Ontology | None = None, **options: Any) -> Matcher:
        return Matcher("fast", ontology or self.ontology, **{"on_failure": no_failure, "merge_at": NEVER, **options})

    def opened(self, **options: Any) -> Matcher:
        return Matcher.open(self.folder, self.ontology, on_failure=no_failure, **options)

    def halves(self) -> tuple[list[str], list[str]]:
        ids = list(self.queries)
        return ids[::2], ids[1::2]

    def add(self, matcher: Matcher, ids: Sequence[str], prefix: str = "") -> None:
        matcher.add_many((prefix + id, self.queries[id]) for id in ids)


def merge(matcher: Matcher) -> None:
    """Everything into one segment, now."""
    matcher._engine.merge()


def live(content: Content, **options: Any) -> Matcher:
    matcher = content.matcher(**options)
    content.add(matcher, list(content.queries))
    return matcher


def merged(content: Content, **options: Any) -> Matcher:
    matcher = live(content, **options)
    merge(matcher)
    return matcher


def mixed(content: Content, **options: Any) -> Matcher:
    """One half merged, the other live; in both, subscriptions that are gone, and one that was another before."""
    matcher = content.matcher(**options)
    first, second = content.halves()
    content.add(matcher, first)
    _with_others_gone(content, matcher, first, merged=True)
    content.add(matcher, second)
    _with_others_gone(content, matcher, second, merged=False)
    return matcher


def _with_others_gone(content: Content, matcher: Matcher, ids: list[str], merged: bool) -> None:
    """Adds the queries of `ids` again, each under the next one's name, and takes them away, after a merge or not."""
    content.add(matcher, ids, prefix="gone/")
    taken = [id for id in ids[::3] if len(ids) > 1]
    for id in taken:
        matcher.remove(id)
        matcher.add(id, content.queries[ids[ids.index(id) - 1]])
    if merged:
        merge(matcher)
    for id in ids:
        matcher.remove("gone/" + id)
    for id in taken:
        matcher.remove(id)
        matcher.add(id, content.queries[id])


def saved(content: Content, **options: Any) -> Matcher:
    """Saved as it was, part of it live, and opened."""
    mixed(content, **options).save(content.folder)
    return content.opened(verify=True)


def changed(content: Content, **options: Any) -> Matcher:
    """Opened, changed, saved over itself, opened, and changed again."""
    first, second = content.halves()
    matcher = content.matcher(**options)
    content.add(matcher, first)
    content.add(matcher, second, prefix="gone/")
    matcher.save(content.folder)
    matcher = content.opened()
    for id in first[::2]:
        matcher.remove(id)
    content.add(matcher, second[::2])
    matcher.save(content.folder)
    matcher = content.opened()
    content.add(matcher, first[::2])
    for id in second:
        matcher.remove("gone/" + id)
    content.add(matcher, second[1::2])
    return matcher


def replaced(content: Content, **options: Any) -> Matcher:
    """Begun without an ontology; a part merged before it came, and a part after."""
    matcher = content.matcher(Ontology.empty(), **options)
    first, second = content.halves()
    content.add(matcher, first)
    merge(matcher)
    content.add(matcher, second[::2])
    matcher.replace_ontology(content.ontology)
    content.add(matcher, second[1::2])
    return matcher


def one_hash(content: Content) -> Matcher:
    return mixed(content, weak=0)


def few_hashes(content: Content) -> Matcher:
    return changed(content, weak=0x7)


def merged_at_every_turn(content: Content) -> Matcher:
    return mixed(content, merge_at=0)


STATES: dict[str, Callable[[Content], Matcher]] = {
    "live": live,
    "merged": merged,
    "mixed": mixed,
    "merged_at_every_turn": merged_at_every_turn,
    "saved": saved,
    "changed": changed,
    "replaced": replaced,
    "one_hash": one_hash,
    "few_hashes": few_hashes,
}


# --------------------------------------------------------------------------------------------------------------- asking


def objects(matcher: Matcher, events: Sequence[Event]) -> Found:
    return {event.id: [match.subscription for match in matcher.match(event)] for event in events}


def from_bytes(matcher: Matcher, events: Sequence[Event], data: bytes) -> Found:
    """What a document of these events matches; its rows come event by event, and in no order within one."""
    table = matcher.match_nquads(data)
    rows = list(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))
    order = {event.id: number for number, event in enumerate(events)}
    assert [event for event, _ in rows] == sorted((event for event, _ in rows), key=order.__getitem__)
    found: Found = {event.id: [] for event in events}
    for event, subscription in sorted(rows):
        found[event].append(subscription)
    return found


def one_by_one(matcher: Matcher, events: Sequence[Event]) -> Found:
    found: Found = {}
    for event in events:
        found |= from_bytes(matcher, [event], to_nquads(event))
    return found


def batch(matcher: Matcher, events: Sequence[Event]) -> Found:
    return from_bytes(matcher, events, b"".join(map(to_nquads, events)))


def respelled_one_by_one(matcher: Matcher, events: Sequence[Event]) -> Found:
    found: Found = {}
    for number, event in enumerate(events):
        found |= from_bytes(matcher, [event], respelled([event], random.Random(number)))
    return found


def respelled_batch(matcher: Matcher, events: Sequence[Event]) -> Found:
    return from_bytes(matcher, events, respelled(events, random.Random(len(events))))


def alone(matcher: Matcher, events: Sequence[Event], expected: Found) -> None:
    """The expected answers from one thread, whichever way the events are put; of many, some are put one by one."""
    some = events[:: 1 + len(events) // 20]
    for name, ask in ASKS.items():
        if ask is not eight_threads:
            put = some if ask in (one_by_one, respelled_one_by_one) else events
            assert ask(matcher, put) == {event.id: expected[event.id] for event in put}, name


def eight_threads(matcher: Matcher, events: Sequence[Event]) -> Found:
    """Every thread asks about all events, in several ways; they agree."""

    def ask(number: int) -> Found:
        return (objects, one_by_one, batch, respelled_batch)[number % 4](matcher, events)

    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(ask, range(2 * THREADS)))
    assert all(found == answers[0] for found in answers), "threads disagree"
    return answers[0]


def while_it_changes(matcher: Matcher, events: Sequence[Event], others: Mapping[str, Query]) -> Found:
    """Eight threads ask while other subscriptions come and go and are merged: those that stay match all the same."""
    done = Flag()

    def change() -> int:
        rounds = 0
        while not done.is_set():
            for id, query in others.items():
                matcher.add(f"other/{id}", query)
            if rounds % 3 == 0:
                merge(matcher)
            for id in others:
                matcher.remove(f"other/{id}")
            rounds += 1
        return rounds

    def ask(number: int) -> Found:
        asked = (objects, batch, one_by_one)[number % 3](matcher, events)
        return {event: [id for id in ids if not id.startswith("other/")] for event, ids in asked.items()}

    with ThreadPoolExecutor(THREADS + 1) as pool:
        changing = pool.submit(change)
        try:
            answers = list(pool.map(ask, range(2 * THREADS)))
        finally:
            done.set()
        assert changing.result() > 0
    assert all(found == answers[0] for found in answers), "threads disagree"
    return answers[0]


ASKS: dict[str, Ask] = {
    "objects": objects,
    "one_by_one": one_by_one,
    "batch": batch,
    "respelled_one_by_one": respelled_one_by_one,
    "respelled_batch": respelled_batch,
    "eight_threads": eight_threads,
}
