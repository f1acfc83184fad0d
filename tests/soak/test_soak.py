"""The soak finds what is wrong, makes it small, and finds the same again by its seed."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import pytest
from tests.contract.case_files import FOLDER
from tests.soak import case_writer, composing, generated
from tests.soak.history import History, replay
from tests.soak.shrinking import Shrinker
from tests.soak.themes import Theme
from tests.soak.university import department

from tidings.lang import parse
from tidings.match.base import Match, Report
from tidings.match.fast import Fast
from tidings.rdf.event import Event
from tidings.rdf.terms import iri

EVENTS = tuple(
    Event.of(f"urn:event:{n}", [(iri("e:s"), iri(f"e:p{n}"), iri("e:o")), (iri("e:s"), iri("e:q"), iri(f"e:o{n}"))])
    for n in range(4)
)
TEXTS = {f"s{n}": f"SELECT * {{ ?s <e:p{n}> ?o . ?s <e:q> ?x OPTIONAL {{ ?o <e:r> ?y }} }}" for n in range(4)}
HISTORY = History(
    ontologies=((), ()),
    subscriptions={id: ("sparql", text) for id, text in TEXTS.items()},
    events=EVENTS,
    steps=(
        *(("add", id) for id in TEXTS),
        ("merge",),
        ("ask", "batch"),
        ("remove", "s0"),
        ("save",),
        ("ask", "objects"),
    ),
    weak=7,
    merge_at=2,
)


def test_a_history_without_a_difference(tmp_path: Path) -> None:
    assert replay(HISTORY, tmp_path / "index") is None


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matcher that is silent about one property."""
    honest = Fast.match

    def match(self: Fast, event: Event, report: Report) -> list[Match]:
        return [] if "<e:p2>" in event.body else honest(self, event, report)

    monkeypatch.setattr(Fast, "match", match)


@pytest.mark.usefixtures("lying")
def test_a_difference_is_found_and_made_small(tmp_path: Path) -> None:
    found = replay(HISTORY, tmp_path / "index")
    assert found is not None
    assert (found.event, found.subscription, found.expected) == ("urn:event:2", "s2", True)
    shrinker = Shrinker(HISTORY, found, tmp_path / "index", seconds=60.0)
    shrinker.run()
    small = shrinker.history
    assert small.steps == (("add", "s2"), ("ask", "objects"))
    assert [len(event.triples()) for event in small.events] == [1]
    assert list(small.subscriptions) == ["s2"]
    assert len(small.subscriptions["s2"][1]) < len(TEXTS["s2"])
    assert replay(small, tmp_path / "index") is not None


@pytest.mark.usefixtures("lying")
def test_a_difference_is_written_as_a_case(tmp_path: Path) -> None:
    found = replay(HISTORY, tmp_path / "index")
    assert found is not None
    path = case_writer.write(tmp_path / "found", "1-2-3", HISTORY, found, "a test")
    case = tomllib.loads(path.read_text())
    known = {key for file in FOLDER.rglob("*.toml") for key in tomllib.loads(file.read_text())}
    assert case.keys() <= known
    assert {id: list(s["expect"]) for id, s in case["subscriptions"].items()} == {
        f"s{n}": [f"urn:event:{n}"] for n in range(4)
    }


def test_the_same_seed_is_the_same_history() -> None:
    assert generated.drawn(3, 2) == generated.drawn(3, 2)
    cases = generated.drawn(3, 2)
    assert composing.from_cases(cases, random.Random(1)) == composing.from_cases(cases, random.Random(1))
    dice = random.Random(2)
    theme = Theme("small", [department(f"urn:d:{n}", dice) for n in range(15)], [parse(TEXTS["s1"])], ())
    made = [composing.from_theme(theme, random.Random(3)) for _ in range(2)]
    assert made[0] == made[1]
    assert len({step[0] for step in made[0].steps}) > 2
