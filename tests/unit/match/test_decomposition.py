"""The decomposition matcher: what its network shares, how it is cut and pruned, its counters, its budget."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from tests.unit.match.worlds import EX, PROLOGUE, triples

from tidings.errors import UnsupportedError
from tidings.lang import parse
from tidings.lang.pattern import Block, ClassOf, Const, Query, TriplePattern, Var
from tidings.match.base import Failure, Match
from tidings.match.decomposition import Decomposition
from tidings.match.naive import Naive
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import HOME, RDF_TYPE, Term, blank

CHAIN = "(_:H, ?a, (:C, :p, :C)) (?a, ?b, (:C, :p, :C)) (?b, ?c, (:C, :p, :C))"


def query(text: str) -> Query:
    return parse(PROLOGUE + text, "ops")


def engine(*texts: str, ontology: str = "", budget: int = 100_000, published: bool = False) -> Decomposition:
    made = Decomposition(Ontology.of(triples(ontology)), budget=budget, published=published)
    for number, text in enumerate(texts):
        made.add(f"q{number}", query(text))
    return made


def event(turtle: str) -> Event:
    return Event.of("urn:e", triples(turtle), source="file.ttl")


def unexpected(failure: Failure) -> None:
    raise AssertionError(failure)


def matched(made: Decomposition, turtle: str) -> list[str]:
    return [match.subscription for match in made.match(event(turtle), unexpected)]


# ------------------------------------------------------------------------------------------------------------ network


def test_one_vertex_after_the_other() -> None:
    """Two vertices and what they make; a pattern of n vertices has n - 1 nodes above its vertices."""
    stats = engine("(_:H, ?a, (:C, :p, :D))").stats()
    assert (stats["vertex_nodes"], stats["network_nodes"]) == (2, 3)
    stats = engine("(_:H, ?a, (:C, :p, :D)) (?a, ?b, (:D, :p, :E)) (?b, ?c, (:E, :p, :F))").stats()
    assert (stats["vertex_nodes"], stats["network_nodes"]) == (4, 4 + 3)


def test_the_same_pattern_under_other_names_is_one_node() -> None:
    one = "(_:H, ?a, (:C, :p, :D), ?a > 1) (_:H, ?b, (:C, :q, :E)) (?b, ?a, (:E, :r, :D))"
    other = "(?y, ?x, (:E, :r, :D)) (_:H, ?y, (:C, :q, :E)) (_:H, ?x, (:C, :p, :D), ?x > 1)"
    assert engine(one, other).stats()["network_nodes"] == engine(one).stats()["network_nodes"]
    made = engine(one, other)
    found = made.match(event("_:H a :C ; :p 2 ; :q :b . :b a :E ; :r 2 ."), unexpected)
    assert found == []
    found = made.match(Event.of("urn:e", home("_:H a :C ; :p :a ; :q :b . :b a :E ; :r :a . :a a :D .")), unexpected)
    assert found == []


def home(turtle: str) -> list[tuple[Term, Term, Term]]:
    """Triples whose home vertex keeps its label."""
    named = triples(turtle.replace("_:H", "<urn:home>"))
    return [tuple(HOME if term == "<urn:home>" else term for term in triple) for triple in named]  # type: ignore[misc]
