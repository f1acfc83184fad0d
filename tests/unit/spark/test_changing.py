"""Subscriptions that change: what a worker has open is what the source says, whatever happened in between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tidings.match.fast import Fast
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.spark import changing, subscriptions, workers
from tidings.spark.changing import Subscriptions
from tidings.spark.versions import Version
from tidings.spark.workers import opened

CLASSES = "ABCDEF"


@pytest.fixture(autouse=True)
def _nothing_open() -> Iterator[None]:
    workers._open.clear()
    yield
    workers._open.clear()


def query(cls: str) -> str:
    return f"ASK {{ ?x a <http://e/{cls}> }}"


def write(path: Path, **rows: str) -> Path:
    lines = (json.dumps({"id": id, "query": query(cls)}) + "\n" for id, cls in rows.items())
    path.write_text("".join(lines))
    return path


def told(version: Version) -> dict[str, list[str]]:
    """Which subscriptions hear of an event of each class."""
    engine: Fast = opened(version).engine
    found = {}
    for cls in CLASSES:
        body = f"_:x <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/{cls}> .\n"
        matches = engine.match(Event(f"http://e/{cls}", body), lambda failure: None)
        if matches:
            found[cls] = [match.subscription for match in matches]
    return found


def take(those: Subscriptions) -> Version:
    return those.take(_refuse).version


def _refuse(error: Exception) -> None:
    raise error


def test_changes_are_taken(tmp_path: Path) -> None:
    source = write(tmp_path / "s.ndjson", a="A", b="B")
    those = subscriptions(source, folder=tmp_path / "kept")
    first = take(those)
    assert told(first) == {"A": ["a"], "B": ["b"]}
    write(source, b="C", c="C")
    second = those.take(_refuse)
    assert (second.put, second.gone, second.standing) == (2, 1, 2)
    assert told(second.version) == {"C": ["b", "c"]}
    assert take(those) == second.version, "nothing is new"


def test_a_batch_that_is_run_again_sees_what_it_saw(tmp_path: Path) -> None:
    source = write(tmp_path / "s.ndjson", a="A")
    those = subscriptions(source, folder=tmp_path / "kept")
    first = take(those)
    second = take_after(those, write(source, a="A", b="A"))
    assert told(second) == {"A": ["a", "b"]}
    assert told(first) == {"A": ["a"]}
    assert told(second) == {"A": ["a", "b"]}


def take_after(those: Subscriptions, _: Path) -> Version:
    return take(those)


def test_somebody_else_goes_on(tmp_path: Path) -> None:
    source = write(tmp_path / "s.ndjson", a="A", b="B")
    take(subscriptions(source, folder=tmp_path / "kept"))
    write(source, a="A", b="C", c="C")
    version = take(subscriptions(source, folder=tmp_path / "kept"))
    assert version.changes == 1
    write(source, c="C")
    those = subscriptions(source, folder=tmp_path / "kept")
    assert told(take(those)) == {"C": ["c"]}
    assert len(those) == 1


def test_all_are_compiled_again_when_many_have_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changing, "_FEWEST", 2)
    source = write(tmp_path / "s.ndjson", a="A", b="B")
    those = subscriptions(source, folder=tmp_path / "kept")
    first = take(those)
    versions = [first]
    for number in range(6):
        write(source, a="A", b="BCDEF"[number % 5], **{f"n{number}": "F"})
        versions.append(take(those))
        assert told(versions[-1])["F"][-1] == f"n{number}"
        those.close()
    assert those.version.folder != first.folder
    assert told(those.version) == told(versions[-1])
    again = subscriptions(source, folder=tmp_path / "kept")
    assert told(take(again)) == told(versions[-1])
    assert len(list((tmp_path / "kept").glob("base-*"))) == 2, "the last, and the one before it"


def test_changes_while_all_are_compiled_again(tmp_path: Path) -> None:
    source = write(tmp_path / "s.ndjson", a="A")
    those = subscriptions(source, folder=tmp_path / "kept")
    take(those)
    take_after(those, write(source, a="A", b="B"))
    keep = those._keep

    def slowly(*arguments: object) -> None:
        keep(*arguments)  # type: ignore[arg-type]
        take_after(those, write(source, a="A", b="B", c="C"))

    those._keep = slowly  # type: ignore[method-assign]
    those._compile()
    assert those.version.changes == 1
    assert told(those.version) == {"A": ["a"], "B": ["b"], "C": ["c"]}
    assert told(take(subscriptions(source, folder=tmp_path / "kept"))) == {"A": ["a"], "B": ["b"], "C": ["c"]}


def test_another_ontology(tmp_path: Path) -> None:
    source = write(tmp_path / "s.ndjson", a="A")
    take(subscriptions(source, folder=tmp_path / "kept"))
    (tmp_path / "o.ttl").write_text("<http://e/B> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/A> .")
    known = Ontology.load(tmp_path / "o.ttl")
    version = take(subscriptions(source, folder=tmp_path / "kept", ontology=known))
    assert told(version) == {"A": ["a"], "B": ["a"]}
    assert told(take(subscriptions(source, folder=tmp_path / "kept"))) == {"A": ["a"]}


def test_none_at_first(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    those = subscriptions(tmp_path / "log", folder=tmp_path / "kept")
    assert told(take(those)) == {}
    write(tmp_path / "log" / "1.ndjson", a="A")
    assert told(take(those)) == {"A": ["a"]}
    (tmp_path / "log" / "2.ndjson").write_text('{"op": "cancel", "id": "a"}\n{"op": "cancel", "id": "nobody"}\n')
    assert told(take(those)) == {}
    assert told(take(subscriptions(tmp_path / "log", folder=tmp_path / "kept"))) == {}


def test_a_log_is_not_taken_again_in_another_order(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    those = subscriptions(tmp_path / "log", folder=tmp_path / "kept")
    take(those)
    write(tmp_path / "log" / "2.ndjson", a="A", b="B")
    take(those)
    (tmp_path / "log" / "1.ndjson").write_text('{"op": "cancel", "id": "a"}\n')
    assert told(take(those)) == {"B": ["b"]}
    again = subscriptions(tmp_path / "log", folder=tmp_path / "kept")
    assert told(take(again)) == {"B": ["b"]}, "what was cancelled stays cancelled"
    again._compile()
    assert told(take(subscriptions(tmp_path / "log", folder=tmp_path / "kept"))) == {"B": ["b"]}


def test_what_a_batch_was_begun_with_outlives_any_number_of_starts(tmp_path: Path) -> None:
    """It is run again by one of these, however the others had the subscriptions."""
    source = write(tmp_path / "s.ndjson", a="A", b="B")
    begun = take(subscriptions(source, folder=tmp_path / "kept"))
    for shards in (2, 3, 2):
        those = subscriptions(source, folder=tmp_path / "kept", shards=shards)
    workers._open.clear()
    assert told(begun) == {"A": ["a"], "B": ["b"]}
    take(those)
    assert len(list((tmp_path / "kept").glob("base-*"))) == 2
