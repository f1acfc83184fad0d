"""What has changed in a source of subscriptions."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tidings.errors import SubscriptionError, UsageError
from tidings.lang.watched import Change, Standing, Watched

ASK = "ASK { ?x a <http://e/A> }"
OTHER = "ASK { ?x a <http://e/B> }"


class Looker:
    """Somebody who looks again and again, and takes what he finds."""

    def __init__(self, path: Path) -> None:
        self.watched = Watched(path)
        self.standing = Standing()
        self.errors: list[SubscriptionError] = []

    def look(self) -> list[Change]:
        found = list(self.watched.changes(self.standing, self.errors.append))
        for change in found:
            self.standing.note(change)
        return [change for change in found if change.kind != "taken"]

    def said(self) -> list[tuple[str, str]]:
        return [(change.kind, change.id) for change in self.look()]


def lines(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_file_says_what_stands(tmp_path: Path) -> None:
    path = lines(tmp_path / "subs.ndjson", {"id": "a", "query": ASK}, {"id": "b", "query": ASK})
    looker = Looker(path)
    assert looker.said() == [("put", "a"), ("put", "b")]
    assert looker.said() == []
    lines(path, {"id": "b", "query": OTHER}, {"id": "c", "query": ASK})
    assert looker.said() == [("gone", "a"), ("put", "b"), ("put", "c")]
    assert not looker.errors


def test_somebody_who_comes_back_sees_the_difference_only(tmp_path: Path) -> None:
    path = lines(tmp_path / "subs.ndjson", {"id": "a", "query": ASK}, {"id": "b", "query": ASK})
    first = Looker(path)
    first.look()
    lines(path, {"id": "a", "query": ASK})
    second = Looker(path)
    second.standing = first.standing
    assert second.said() == [("gone", "b")]


def test_a_folder_of_queries(tmp_path: Path) -> None:
    (tmp_path / "a.rq").write_text(ASK)
    looker = Looker(tmp_path)
    assert looker.said() == [("put", "a")]
    (tmp_path / "b.rq").write_text(ASK)
    assert looker.said() == [("put", "b")]
    (tmp_path / "a.rq").write_text(OTHER)
    assert looker.said() == [("put", "a")]
    (tmp_path / "a.rq").unlink()
    (tmp_path / "b.rq").unlink()
    assert looker.said() == [("gone", "a"), ("gone", "b")]


def test_an_empty_folder_becomes_what_comes_into_it(tmp_path: Path) -> None:
    looker = Looker(tmp_path)
    assert looker.said() == []
    lines(tmp_path / "1.ndjson", {"id": "a", "query": ASK})
    assert looker.said() == [("put", "a")]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_other_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"subs.{ending}"

    def write(*rows: tuple[str, str]) -> None:
        if ending == "csv":
            path.write_text("id,query\n" + "".join(f"{id},{query}\n" for id, query in rows))
        else:
            pq.write_table(pa.table({"id": [id for id, _ in rows], "query": [query for _, query in rows]}), path)

    write(("a", ASK), ("b", ASK))
    looker = Looker(path)
    assert looker.said() == [("put", "a"), ("put", "b")]
    write(("a", ASK), ("c", ASK))
    assert looker.said() == [("gone", "b"), ("put", "c")]


def test_a_folder_of_changes(tmp_path: Path) -> None:
    looker = Looker(tmp_path)
    lines(
        tmp_path / "2.ndjson", {"id": "a", "query": ASK, "created": "2026-01-01T00:00:00Z"}, {"id": "b", "query": ASK}
    )
    found = looker.look()
    assert [(change.kind, change.id, change.created) for change in found] == [
        ("put", "a", 1_767_225_600_000_000),
        ("put", "b", None),
    ]
    lines(
        tmp_path / "1.ndjson",
        {"op": "replace", "id": "a", "query": OTHER},
        {"op": "cancel", "id": "b"},
        {"id": "a", "cancelled": "2026-01-02"},
    )
    found = looker.look()
    assert [(change.kind, change.id, change.cancelled) for change in found] == [
        ("put", "a", None),
        ("gone", "b", None),
        ("end", "a", 1_767_312_000_000_000),
    ]
    assert looker.said() == []


def test_what_cannot_be_read_is_told_once_and_takes_nothing_away(tmp_path: Path) -> None:
    path = lines(tmp_path / "subs.ndjson", {"id": "a", "query": ASK}, {"id": "b", "query": ASK})
    looker = Looker(path)
    looker.look()
    lines(path, {"id": "a", "query": "ASK {"}, {"id": "b", "query": ASK})
    assert looker.said() == []
    lines(path, {"id": "a", "query": "ASK {"}, {"id": "b", "query": OTHER})
    assert looker.said() == [("put", "b")]
    assert [error.id for error in looker.errors] == ["a"]


def test_half_a_file_takes_nothing_away(tmp_path: Path) -> None:
    path = lines(tmp_path / "subs.ndjson", {"id": "a", "query": ASK}, {"id": "b", "query": ASK})
    looker = Looker(path)
    looker.look()
    path.write_text(json.dumps({"id": "a", "query": ASK}) + '\n{"id": "b", "qu')
    assert looker.said() == []
    assert len(looker.errors) == 1
    path.unlink()
    assert looker.said() == []


def test_an_id_stands_once(tmp_path: Path) -> None:
    path = lines(tmp_path / "subs.ndjson", {"id": "a", "query": ASK}, {"id": "a", "query": ASK})
    looker = Looker(path)
    assert looker.said() == [("put", "a")]
    lines(path, {"id": "a", "query": ASK}, {"id": "a", "query": ASK}, {"id": "b", "query": ASK})
    assert looker.said() == [("put", "b")]
    assert {error.row for error in looker.errors} == {2}


def test_wrong_changes_are_told(tmp_path: Path) -> None:
    looker = Looker(tmp_path)
    lines(tmp_path / "1.ndjson", {"op": "drop", "id": "a"}, {"op": "cancel"}, {"id": "c", "query": ASK})
    assert looker.said() == [("put", "c")]
    assert [error.row for error in looker.errors] == [1, 2]
    (tmp_path / "x.rq").write_text(ASK)
    with pytest.raises(UsageError, match="use two folders"):
        looker.look()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        Looker(tmp_path / "no.ndjson").look()
