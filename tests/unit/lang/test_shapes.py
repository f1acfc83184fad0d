"""Shapes: the short way to a form gives what the parser gives, or leaves it to the parser."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.lang.query_texts import PROLOGUE, queries

from tidings.bench.workloads.rtf import generated, subscriptions
from tidings.errors import SubscriptionError
from tidings.lang import shapes
from tidings.lang.pattern import Query
from tidings.lang.shapes import Shapes
from tidings.lang.sparql import parse_sparql

_SLOW = settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])


def outcome(parse: object, text: str, base: str | None = None) -> Query | str:
    try:
        return parse(text, "a.rq", base)
    except SubscriptionError as error:
        return str(error)


def check(texts: list[str], base: str | None = None) -> Shapes:
    """Three rounds: in the first every shape is new, in the second it is learnt, in the third it is known."""
    short = Shapes()
    for text in texts * 3:
        assert outcome(short.parse, text, base) == outcome(parse_sparql, text, base), text
    return short


@_SLOW
@given(queries())
def test_the_same_form(text: str) -> None:
    check([text])


@_SLOW
@given(queries(), st.randoms(use_true_random=False))
def test_the_same_form_with_other_names_and_words(text: str, dice: random.Random) -> None:
    """Texts of one shape after another, some of them broken by what is put in."""
    names = [":a", ":b", "<http://e.x/new>", "<relative>", "unknown:x", "xsd:string", ":a.b", "<>", "<http://[>"]
    strings = ['"w"', '"other words"', '"…"', '""', '"\u7f8e"', '"\t"', '"tidingsslot3"', '"(a|"', '"it\'s"']
    known = {*names, *strings, "<http://e.x/c>", "xsd:int", '"東京"', '"ß"'}
    pieces = text.removeprefix(PROLOGUE).split(" ")
    changed = []
    for _ in range(3):
        other = [
            piece if piece not in known else dice.choice(strings if piece[0] == '"' else names) for piece in pieces
        ]
        changed.append(PROLOGUE + " ".join(other))
    check([text, *changed])


@_SLOW
@given(
    queries(), st.integers(0, 300), st.sampled_from(["", '"', "<", ">", "#", ":", ".", "\\", "'", " ", "}", '""', "é"])
)
def test_the_same_error(text: str, place: int, piece: str) -> None:
    place = min(place, len(text))
    check([text, text[:place] + piece + text[place + 1 :], text[:place] + piece + text[place:]])


@pytest.mark.parametrize("ft", [0.0, 0.5, 1.0])
def test_a_workload(ft: float) -> None:
    texts = list(subscriptions(300, seed=7, ft=ft, names=generated()))
    short = check(texts)
    assert len(short._templates) < 200


_P = "PREFIX : <http://e.x/> "


@pytest.mark.parametrize(
    "texts",
    [
        [_P + 'ASK { ?s :p "a" }', _P + 'ASK { ?s :p "b" }', _P + "ASK { ?s :p :b }", _P + "ASK { ?s :p 5 }"],
        ["SELECT * {} ", 'SELECT * {} "s"', 'SELECT * {} ""', "SELECT * {} <a:b>"],
        ['ASK { ?s ?p "a"@en }', 'ASK { ?s ?p "b"@en }', 'ASK { ?s ?p "b"@de }', 'ASK { ?s ?p "b" }'],
        ['ASK { ?s ?p "1"^^<a:b> }', 'ASK { ?s ?p "1"^^<http://www.w3.org/2001/XMLSchema#string> }'],
        ["ASK { FILTER(<http://www.w3.org/2001/XMLSchema#int>(?x)) }", "ASK { FILTER(<a:b>(?x)) }"],
        ['ASK { FILTER REGEX(?x, "a") }', 'ASK { FILTER REGEX(?x, "b") }', 'ASK { FILTER REGEX(?x, "(") }'],
        [
            'ASK { FILTER ftcontains(?x, "a") }',
            'ASK { FILTER ftcontains(?x, "!") }',
            'ASK { FILTER ftcontains(?x, "b c") }',
        ],
        ['SELECT (GROUP_CONCAT(?x;SEPARATOR="a") AS ?y) {}', 'SELECT (GROUP_CONCAT(?x;SEPARATOR="b") AS ?y) {}'],
        ['ASK { ?s ?p "a" , "a" }', 'ASK { ?s ?p "b" , "c" }'],
        ["BASE <http://e.x/> ASK { ?s ?p <a> }", "BASE <http://f.x/> ASK { ?s ?p <a> }", "ASK { ?s ?p <a> }"],
        ["PREFIX : <a:b> ASK { ?s ?p :c }", "PREFIX : <a:d> ASK { ?s ?p :c }", "PREFIX : <x> ASK { ?s ?p :c }"],
        ["PREFIX : <a:b> PREFIX : <c:d> ASK { ?s ?p :c }", "PREFIX :<a:b>ASK { ?s ?p :d }"],
        ["# <a:b>\nASK { ?s ?p <a:b> }", '# "a\nASK { ?s ?p <a:c> }'],
        ["ASK { ?s ?p ?o FILTER(?a<?b && ?c>?d) }", "ASK { ?s ?p ?o FILTER(?a<?b&&?c>?d) }"],
        ["ASK { ?s ?p _:a . _:a ?p <a:b> }", "ASK { ?s ?p _:a . _:b ?p <a:c> }"],
        ['ASK { ?s ?p "tidingsslot0" }', "ASK { ?s ?p 'tidingsslot0' , <urn:tidingsslot:0> }"],
        ['ASK { ?s ?p """a""" , "b" }', 'ASK { ?s ?p """c""" , "d" }'],
        ['ASK { ?s ?p "a\x01\x7f\t" }', 'ASK { ?s ?p "b\x02" }'],
        ["ASK { ?x:p ?o }", "ASK { ?x :p ?o }", "ASK { ?x :q ?o }"],
        [_P + "ASK { ?s :p* ?o }", _P + "ASK { ?s :q* ?o }", _P + "ASK { ?s :q * }", _P + "ASK { ?s :q/:p * }"],
        ["ASK { ?s ?p ?o } LIMIT 5", "ASK { ?s ?p ?o } LIMIT 6", "ASK { ?s ?p ?o } limit 6"],
    ],
)
def test_texts_that_look_alike(texts: list[str]) -> None:
    check(texts)
    check(texts[::-1], base="http://base.x/")


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "_MAX_SHAPES", 500)
    monkeypatch.setattr(shapes, "_MAX_PROLOGUES", 5)
    monkeypatch.setattr(shapes, "_MAX_NAMES", 5)
    short = Shapes()
    for n in range(60):
        text = f"PREFIX p{n // 10}: <http://e.x/> ASK {{ ?x{n % 7} p{n // 10}:a{n} <http://e.x/{n}> }}"
        for _ in range(3):
            assert short.parse(text) == parse_sparql(text)
    assert len(short._templates) <= 10
    assert len(short._names) <= 5
    assert all(len(names) <= 5 for names in short._names.values())


def test_shapes_that_need_the_parser_are_learnt_once() -> None:
    short = Shapes()
    for n in range(5):
        short.parse(f'ASK {{ FILTER REGEX(?x, "a{n}") }}')
    assert short._size < 100


def test_errors_keep_their_source() -> None:
    short = Shapes()
    for _ in range(3):
        with pytest.raises(SubscriptionError) as caught:
            short.parse("ASK { ?s p:a ?o }", source="b.rq")
        assert caught.value.where() == "b.rq:1:10"
