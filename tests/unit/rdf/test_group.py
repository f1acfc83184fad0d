"""Grouping: first appearance decides the order, memory does not decide the result, nothing is left behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.rdf.helpers import good

from tidings.rdf import group
from tidings.rdf.group import Grouper
from tidings.rdf.limits import Limits
from tidings.rdf.quads import DEFAULT, Run

KEYS = ["<e:a>", "<e:b>", "_:c", "<e:é>", DEFAULT]


def run(key: str, number: int, *, line: int | None = None) -> Run:
    text = f'<e:s{number}> <e:p> "\u2028 é" .\n'
    return Run(key, [text], len(text), line)


def grouped(runs: list[Run], spill: int) -> list[tuple[str, str]]:
    with Grouper(Limits(spill=spill)) as grouper:
        for item in runs:
            grouper.add(item)
        return [(item.graph, triple) for item in grouper.runs() for triple in item.triples]


def expected(runs: list[Run]) -> list[tuple[str, str]]:
    order = sorted(dict.fromkeys(item.graph for item in runs), key=lambda key: key == DEFAULT)
    return [(item.graph, triple) for key in order for item in runs if item.graph == key for triple in item.triples]


@given(st.lists(st.sampled_from(KEYS), max_size=60), st.sampled_from([0, 700, 3000, 1 << 20]))
def test_groups_in_the_order_of_their_first_appearance(keys: list[str], spill: int) -> None:
    runs = [run(key, number) for number, key in enumerate(keys)]
    assert grouped(runs, spill) == expected(runs)


def test_more_files_than_are_held_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "_FILES", 4)
    runs = [run(f"<e:{number * 37 % 23}>", number) for number in range(300)]
    assert grouped(runs, 0) == expected(runs)


def test_line_numbers_come_through() -> None:
    for spill in (0, 1 << 20):
        with Grouper(Limits(spill=spill)) as grouper:
            for item in (run("<e:a>", 1, line=7), run("<e:b>", 2), run("<e:a>", 3, line=9)):
                grouper.add(item)
            found = [(item.graph, item.line) for item in grouper.runs()]
        assert found[0] == ("<e:a>", 7)
        assert found[-1] == ("<e:b>", None)


def test_temporary_files_go_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data = b"".join(b"<e:s%d> <e:p> <e:o> <e:g%d> .\n" % (i, i * 7 % 101) for i in range(5000))
    events = good(data, format="nq", group=True, limits=Limits(spill=20_000))
    assert len(events) == 101
    assert list(tmp_path.iterdir()) == []


def test_they_go_away_when_reading_is_broken_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tidings.rdf.read import read_events

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    data = b"".join(b"<e:s%d> <e:p> <e:o> <e:g%d> .\n" % (i, i * 7 % 101) for i in range(5000))
    events = read_events(data, format="nq", group=True, limits=Limits(spill=20_000), report=pytest.fail)
    assert next(events).id == "e:g0"
    del events
    assert list(tmp_path.iterdir()) == []
