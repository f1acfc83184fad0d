"""What is taken for rare."""

from __future__ import annotations

import pytest

from tidings.index.atoms import Atom, Kind
from tidings.index.usage import Usage


def test_what_many_ask_for_is_common() -> None:
    usage = Usage()
    for number in range(50):
        usage.count(["p", "often", f"once{number}"])
    often, once, never = (usage.cost(Atom(Kind.OBJECT, "p", name)) for name in ("often", "once7", "never"))
    assert never < once < often
    assert usage.cost(Atom(Kind.NODE_O, "often")) == often


def test_an_atom_is_as_rare_as_the_rarer_of_its_names() -> None:
    usage = Usage()
    for _ in range(50):
        usage.count(["common"])
    rare = usage.cost(Atom(Kind.SUBJECT, "rare", "common"))
    assert rare == usage.cost(Atom(Kind.SUBJECT, "common", "rare"))
    assert rare < usage.cost(Atom(Kind.SUBJECT, "common", "common"))


def test_a_word_is_rarer_in_a_property_that_is_rare() -> None:
    usage = Usage()
    for _ in range(50):
        usage.count(["p", "word"])
    usage.count(["q", "other"])
    cost = {(p, w): usage.cost(Atom(Kind.WORD, p, w)) for p in "pq" for w in ("word", "other")}
    assert cost["q", "other"] < cost["q", "word"] < cost["p", "word"]
    assert cost["q", "other"] < cost["p", "other"] < cost["p", "word"]


def test_the_first_ones_are_filed_by_what_atoms_are_about() -> None:
    costs = [Usage().cost(Atom(kind, "a", "b")) for kind in (Kind.WORD, Kind.OBJECT)]
    costs += [Usage().cost(Atom(kind, "a")) for kind in (Kind.ANYWORD, Kind.PROPERTY, Kind.LITERAL)]
    assert costs == sorted(costs)


def test_names_are_forgotten_before_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.index.usage._MOST_NAMES", 100)
    usage = Usage()
    for number in range(1_000):
        usage.count(["often", f"once{number}"])
        assert len(usage._asked) <= 103
    assert usage.cost(Atom(Kind.NODE_O, "often")) > 0.5


def test_names_that_are_asked_for_more_than_once_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.index.usage._MOST_NAMES", 100)
    usage = Usage()
    for number in range(1_000):
        usage.count([f"twice{number // 2}"])
    assert len(usage._asked) <= 102
