"""From bytes to a table: what may come in, what comes out, and what is told on the way."""

from __future__ import annotations

import gzip
import mmap
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from tidings.errors import EventError, UsageError
from tidings.index import columns
from tidings.match.base import Failure
from tidings.match.fast import lane
from tidings.match.matcher import Matcher
from tidings.rdf.limits import Limits

QUERIES = {
    "any": "SELECT * WHERE { ?s <e:p> ?o }",
    "one": "SELECT * WHERE { ?s <e:p> <e:1> }",
    "none": "SELECT * WHERE { ?s <e:absent> ?o }",
    "asked": "SELECT * WHERE { ?s <e:p> ?o FILTER NOT EXISTS { ?s <e:q>+ ?o } }",
}
DATA = b"<e:s> <e:p> <e:1> <e:first> .\n<e:s> <e:p> <e:2> <e:second> .\n<e:s> <e:q> <e:2> <e:second> .\n"
ROWS = [("e:first", "any"), ("e:first", "asked"), ("e:first", "one"), ("e:second", "any")]


@pytest.fixture
def matcher() -> Matcher:
    made = Matcher()
    made.add_many(QUERIES.items())
    return made


def rows(table: pa.Table) -> list[tuple[str, str]]:
    """Sorted within each event."""
    assert table.schema == pa.schema([("event", pa.string()), ("subscription", pa.string())])
    found = list(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))
    order = {event: number for number, (event, _) in reversed(list(enumerate(found)))}
    return sorted(found, key=lambda row: (order[row[0]], row[1]))


# ------------------------------------------------------------------------------------------------------- what comes in


@pytest.mark.parametrize(
    "make", [bytes, bytearray, memoryview, pa.py_buffer, lambda data: memoryview(bytes(reversed(data)))[::-1]]
)
def test_any_kind_of_bytes(matcher: Matcher, make: Any) -> None:
    assert rows(matcher.match_nquads(make(DATA))) == ROWS


def test_a_mapped_file(matcher: Matcher, tmp_path: Path) -> None:
    (tmp_path / "events.nq").write_bytes(DATA)
    with (
        open(tmp_path / "events.nq", "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
    ):
        assert rows(matcher.match_nquads(mapped)) == ROWS


def test_compressed_bytes_are_read_as_ever(matcher: Matcher) -> None:
    assert rows(matcher.match_nquads(gzip.compress(DATA))) == ROWS


def test_nothing(matcher: Matcher) -> None:
    for data in (b"", b"\n", b"# nothing\n", b"\xef\xbb\xbf"):
        assert rows(matcher.match_nquads(data)) == []


def test_text_is_no_bytes(matcher: Matcher) -> None:
    with pytest.raises(UsageError, match="N-Quads come as bytes, and not as str"):
        matcher.match_nquads(cast(Any, DATA.decode()))


def test_without_subscriptions() -> None:
    assert rows(Matcher().match_nquads(DATA)) == []
    with pytest.raises(EventError):
        Matcher().match_nquads(b"nonsense\n")


def test_the_other_matchers_give_the_same() -> None:
    naive = Matcher("naive")
    naive.add_many(QUERIES.items())
    assert rows(naive.match_nquads(bytearray(DATA))) == ROWS


# --------------------------------------------------------------------------------------------------------------- events


def test_an_event_of_many_batches(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "_BATCH", 100)
    many = b"".join(b"<e:s> <e:p> <e:%d> <e:large> .\n" % n for n in range(200))
    assert rows(matcher.match_nquads(DATA + many + DATA)) == [
        *ROWS,
        ("e:large", "any"),
        ("e:large", "asked"),
        ("e:large", "one"),
    ]


def test_an_event_beyond_the_limit_is_told_and_the_others_are_matched(
    matcher: Matcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tidings.match.fast import table

    monkeypatch.setattr(table, "DEFAULT_LIMITS", Limits(max_event=1000, max_term=300))
    many = b"".join(b"<e:s> <e:p> <e:%d> <e:large> .\n" % n for n in range(100))
    term = b'<e:s> <e:p> "%b" <e:term> .\n' % (b"x" * 400)
    line = b'<e:s> <e:p> "%b" <e:line> .\n' % (b"x" * 2000)
    errors: list[EventError] = []
    found = matcher.match_nquads(DATA + many + term + line + b"<e:s> <e:p> <e:2> <e:z> .\n", on_error=errors.append)
    assert rows(found) == [*ROWS, ("e:z", "any"), ("e:z", "asked")]
    assert [error.reason.partition(" has ")[0] for error in errors] == [
        "the event <e:large>",
        "a term of more than 300 bytes, the limit for one term",
        "a line of more than 1.172 KiB; one term may have 300 bytes",
    ]
    assert [error.line for error in errors] == [4, 104, 105]


def test_the_same_event_again_is_no_news_and_another_of_its_name_is_refused(matcher: Matcher) -> None:
    assert rows(matcher.match_nquads(DATA + DATA)) == ROWS
    errors: list[EventError] = []
    more = b"<e:s> <e:p> <e:1> <e:second> .\n"
    assert rows(matcher.match_nquads(DATA + b"<e:s> <e:p> <e:1> <e:first> .\n" + more, on_error=errors.append)) == ROWS
    assert [(error.line, error.reason.partition(",")[0]) for error in errors] == [
        (5, "the event e:second goes on here")
    ]


def test_blank_nodes_of_other_names_are_the_same_event(matcher: Matcher) -> None:
    data = b"_:a <e:p> _:b <e:g> .\n<e:s> <e:p> <e:1> <e:h> .\n_:x <e:p> _:y <e:g> .\n"
    assert {event for event, _ in rows(matcher.match_nquads(data))} == {"e:g", "e:h"}


def test_what_goes_wrong_may_change_the_subscriptions() -> None:
    """Neither an error nor a failure is told while changes have to wait."""
    told: list[str] = []

    def failed(failure: Failure) -> None:
        told.append(failure.subscription)
        matcher.add(f"new {len(told)}", QUERIES["any"])

    def refused(error: EventError) -> None:
        told.append("goes on" if "goes on here" in error.reason else error.reason)
        matcher.add(f"newer {len(told)}", QUERIES["any"])

    matcher = Matcher(on_failure=failed, budget=1)
    matcher.add("costly", "SELECT * WHERE { ?s <e:p> ?o . ?x (<e:p>|<e:q>)* ?z }")
    data = b"".join(b"<e:s> <e:p> <e:%d> <e:g> .\n" % n for n in range(5))
    again = b"<e:s> <e:p> <e:1> <e:h> .\n<e:s> <e:p> <e:1> <e:g> .\n<e:s> <e:p> <e:1> <e:i> .\n"
    matcher.match_nquads(data + again, on_error=refused)
    assert sorted(told) == ["costly", "costly", "costly", "goes on"]
    assert len(matcher) == 5


def test_counters(matcher: Matcher) -> None:
    matcher.match_nquads(DATA)
    stats = matcher.stats()
    assert (stats["events"], stats["matches"], stats["asked"], stats["subscriptions"]) == (2, 4, 2, 4)


# -------------------------------------------------------------------------------------------------------------- columns


def test_columns_of_more_text_than_one_chunk_takes(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_LARGEST", 20)
    table = matcher.match_nquads(DATA)
    assert table["event"].num_chunks > 1
    assert rows(table) == ROWS


def test_ids_of_every_length_live_and_merged() -> None:
    matcher = Matcher(merge_at=1)
    ids = ["", "é", "x" * 7, "y" * 8, "z" * 9, "long " * 100]
    matcher.add_many((id, QUERIES["any"]) for id in ids)
    more = [id + "+" for id in ids]
    for id in more:
        matcher.add(id, QUERIES["any"])
    assert sorted(matcher.match_nquads(DATA[:30])["subscription"].to_pylist()) == sorted(ids + more)
