"""The public matcher: what it refuses, what it keeps, and what it leaves to its engine."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from tidings.errors import SnapshotError, SubscriptionError, UsageError
from tidings.lang.pattern import Dialect
from tidings.match import matcher as facade
from tidings.match.base import Failure
from tidings.match.matcher import Matcher
from tidings.match.registry import names
from tidings.ontology import Ontology
from tidings.rdf.event import Event

ANY = "SELECT * WHERE { ?s <e:p> ?o }"
EVENT = Event("e:event", "<e:s> <e:p> <e:o> .\n")
ONTOLOGY = b"@prefix r: <http://www.w3.org/2000/01/rdf-schema#> . <e:q> r:subPropertyOf <e:p> ."


def found(matcher: Matcher, event: Event = EVENT) -> list[str]:
    return [match.subscription for match in matcher.match(event)]


def test_fast_is_the_default() -> None:
    assert Matcher().name == "fast"


@pytest.mark.parametrize("name", names())
def test_ids_are_kept_apart(name: str) -> None:
    matcher = Matcher(name)
    forms: dict[str, tuple[Dialect, str]] = {
        "ops": ("ops", "(_:H, ?x, (e:A, e:p, e:B))"),
        "decomposition": ("ops", "(_:H, ?x, (e:A, e:p, e:B))"),
        "gtopss": ("gtopss", "(?x, e:p, ?y, {}, {})"),
    }
    dialect, text = forms.get(name, ("sparql", ANY))
    text = "PREFIX e: <e:> " + text
    matcher.add("a", text, dialect)
    assert ("a" in matcher, "b" in matcher, 1 in matcher, len(matcher)) == (True, False, False, 1)
    with pytest.raises(UsageError, match="there is a subscription 'a' already"):
        matcher.add("a", text, dialect)
    with pytest.raises(UsageError, match="there is no subscription 'b'"):
        matcher.remove("b")
    matcher.remove("a")
    assert ("a" in matcher, len(matcher)) == (False, 0)


@pytest.mark.parametrize("name", ["fast", "naive"])
def test_many_stop_at_the_first_that_is_wrong(name: str) -> None:
    matcher = Matcher(name)
    with pytest.raises(SubscriptionError, match="broken"):
        matcher.add_many([("a", ANY), ("broken", "SELECT"), ("c", ANY)])
    with pytest.raises(UsageError, match="there is a subscription 'a' already"):
        matcher.add_many([("b", ANY), ("a", ANY)])
    with pytest.raises(UsageError, match="there is a subscription 'd' already"):
        matcher.add_many([("d", ANY), ("d", ANY)])
    with pytest.raises(UsageError, match="row 0 is not"):
        matcher.add_many(cast(Any, [("alone",)]))
    with pytest.raises(UsageError, match="row 0 is not"):
        matcher.add_many(cast(Any, ["ab"]))
    with pytest.raises(UsageError, match="the id of a subscription is a string"):
        matcher.add_many(cast(Any, [(1, ANY)]))
    assert found(matcher) == ["a", "b", "d"]


def test_one_of_many_threads_gets_an_id() -> None:
    matcher = Matcher()

    def add(number: int) -> bool:
        try:
            matcher.add(f"id {number % 20}", ANY)
        except UsageError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(add, range(200))) == 20
    assert len(found(matcher)) == len(matcher) == 20


def test_saved_and_opened(tmp_path: Path) -> None:
    matcher = Matcher(ontology=Ontology.load(ONTOLOGY, format="ttl"))
    matcher.add("a", ANY)
    matcher.save(tmp_path / "index")
    opened = Matcher.open(str(tmp_path / "index"), verify=True)
    assert (opened.name, len(opened), "a" in opened) == ("fast", 1, True)
    assert found(opened, Event("e:x", "<e:s> <e:q> <e:o> .\n")) == ["a"]
    assert opened.match(EVENT)[0].bindings == matcher.match(EVENT)[0].bindings
    opened.add("b", ANY)
    assert found(opened) == ["a", "b"]
    assert found(Matcher.open(tmp_path / "index")) == ["a"]


def test_a_snapshot_of_another_ontology_is_refused(tmp_path: Path) -> None:
    ontology = Ontology.load(ONTOLOGY, format="ttl")
    matcher = Matcher(ontology=ontology)
    matcher.add("a", ANY)
    matcher.save(tmp_path)
    assert len(Matcher.open(tmp_path, ontology)) == 1
    with pytest.raises(SnapshotError, match="ontology"):
        Matcher.open(tmp_path, Ontology.load(ONTOLOGY.replace(b"e:q", b"e:r"), format="ttl"))


def test_only_fast_has_snapshots(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the matcher 'naive' has no save: only 'fast' has"):
        Matcher("naive").save(tmp_path)
    with pytest.raises(UsageError, match="'naive' has no replace_ontology"):
        Matcher("naive").replace_ontology(Ontology.empty())
    with pytest.raises(SnapshotError, match="there is none"):
        Matcher.open(tmp_path)


def test_another_ontology_while_running() -> None:
    matcher = Matcher()
    matcher.add("a", ANY)
    matcher.add("b", "SELECT * WHERE { ?s <e:other> ?o }")
    event = Event("e:x", "<e:s> <e:q> <e:o> .\n")
    assert found(matcher, event) == []
    matcher.replace_ontology(Ontology.load(ONTOLOGY, format="ttl"))
    assert found(matcher, event) == ["a"]
    assert len(matcher) == 2


@pytest.mark.parametrize("name", ["fast", "naive"])
def test_many_events_give_what_each_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facade, "_MOST_EVENTS", 3)
    monkeypatch.setattr(facade, "_MOST_TEXT", 100)
    matcher = Matcher(name)
    matcher.add_many([("b", ANY), ("a", ANY), ("c", "SELECT * WHERE { ?s <e:p> <e:1> OPTIONAL { ?s ?p <e:2> } }")])
    events = [Event(f"e:{n}", f"<e:s> <e:{'pq'[n % 2]}> <e:{n % 5}> .\n", source=f"file {n}") for n in range(20)]
    events.append(Event("e:long", "".join(f"<e:s> <e:p> <e:{n}> .\n" for n in range(10))))
    events.append(Event("e:odd", '<e:s> <e:p> "\x01" .\n'))
    each = [match for event in events for match in matcher.match(event)]
    for given in (events, tuple(events), iter(events)):
        found = list(matcher.match_many(given))
        assert found == each
        assert [match.bindings for match in found] == [match.bindings for match in each]
    assert [match.source for match in each][:2] == ["file 0", "file 0"]
    assert list(matcher.match_many([])) == []


def test_events_that_come_one_by_one_are_not_waited_for() -> None:
    matcher = Matcher()
    matcher.add("a", ANY)
    asked = []

    def events() -> Iterator[Event]:
        for number in range(3):
            asked.append(number)
            yield Event(f"e:{number}", EVENT.body)

    assert next(matcher.match_many(events())).event == "e:0"
    assert asked == [0]


def test_who_is_told_of_a_failure_may_change_the_subscriptions() -> None:
    def failed(failure: Failure) -> None:
        matcher.remove(failure.subscription)

    matcher = Matcher(on_failure=failed, budget=1)
    matcher.add("costly", "SELECT * WHERE { ?s <e:p> ?o . ?x (<e:p>|<e:q>)* ?z }")
    assert found(matcher, Event("e:x", "".join(f"<e:s> <e:p> <e:{n}> .\n" for n in range(5)))) == []
    assert len(matcher) == 0
