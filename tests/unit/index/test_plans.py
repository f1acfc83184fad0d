"""Which subscriptions have a plan in common, and what the store makes of one."""

from __future__ import annotations

import pytest

from tidings.index.kernels.dictionary import find_one
from tidings.index.layout import Index
from tidings.index.plans import Plans
from tidings.index.scanner import padded
from tidings.index.store import Store
from tidings.lang import parse
from tidings.lang.pattern import Block, Call, Expr, Filter, Query, TriplePattern, Var
from tidings.ontology import Ontology
from tidings.ontology.vocabulary import THINGS
from tidings.rdf.terms import Term, iri

PREFIXES = "PREFIX : <http://e.x/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "


def sparql(where: str, before: str = "SELECT *") -> Query:
    return parse(f"{PREFIXES}{before} {{ {where} }}", "sparql")


def texts(var: str, *words: str) -> str:
    return f"FILTER(ftcontains(?{var}, {' ftAND '.join(f'{chr(34)}{word}{chr(34)}' for word in words)}))"


def in_common(first: Query, second: Query, universal: frozenset[Term] = frozenset(THINGS)) -> bool:
    """Whether a plan for the first is one for the second."""
    plans = Plans(universal)
    plans.of(first)
    plan, _ = plans.of(first)
    other, names = plans.of(second)
    return bool(names) and other is plan


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("?s :p :o", "?s :q :r"),
        ("?s a :C; :p ?o", "?s a :D; :q ?o"),
        ("?s :p 'one'", "?s :p 'two'"),
        ("?s :p 5", "?s :p 6"),
        (f"?s :p ?o {texts('o', 'one', 'two')}", f"?s :q ?o {texts('o', 'three', 'four')}"),
        (f"?s :p ?o {texts('o', 'one two')}", f"?s :p ?o {texts('o', 'two one')}"),
        ("?s :p ?o FILTER(?o = :a)", "?s :p ?o FILTER(?o = :b)"),
        ("?s :p ?o FILTER(?o = 'a')", "?s :p ?o FILTER(?o = 'b')"),
        ("?s :p ?o OPTIONAL { ?o :q ?z }", "?s :q ?o OPTIONAL { ?o :r ?z }"),
        ("{ ?s :p :o } UNION { ?s :q :o }", "{ ?s :q :x } UNION { ?s :r :x }"),
        ("?s :p/:q+ ?o", "?s :r/:s+ ?o"),
    ],
)
def test_other_names_have_the_same_plan(first: str, second: str) -> None:
    assert in_common(sparql(first), sparql(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("?s :p :o", "?s :o :o"),
        ("?s :p :o", "?s :p ?o"),
        ("?s :p :o", "?s a :o"),
        ("?s :p :o", "?s :p 'o'"),
        ("?s :p 'o'", "?s :p 'o'@en"),
        ("?s :p 5", "?s :p 5.0"),
        ("?s :p :o . ?s :q :r", "?s :p :o . ?s :q :o"),
        ("?s :p ?o", "?s :p ?s"),
        ("?s :p ?o FILTER(?o < 5)", "?s :p ?o FILTER(?o < 6)"),
        ("?s :p ?o FILTER(?o = 5)", "?s :p ?o FILTER(?o = 6)"),
        ("?s :p ?o FILTER(REGEX(?o, 'a'))", "?s :p ?o FILTER(REGEX(?o, 'b'))"),
        ("?s :p ?o FILTER('')", "?s :p ?o FILTER('a')"),
        (f"?s :p ?o {texts('o', 'one', 'two')}", f"?s :p ?o {texts('o', 'one', 'one')}"),
        (f"?s :p ?o {texts('o', 'one')}", f"?s :p ?o {texts('o', 'one two')}"),
        (f"?s :p ?o {texts('o', 'one', 'two')}", f"?s :p ?o {texts('o', 'one two')}"),
    ],
)
def test_what_is_compiled_otherwise_has_another_plan(first: str, second: str) -> None:
    assert not in_common(sparql(first), sparql(second))
    assert not in_common(sparql(second), sparql(first))


@pytest.mark.parametrize("before", ["SELECT ?s", "ASK", "SELECT (COUNT(*) AS ?n)"])
def test_modifiers_are_part_of_the_shape(before: str) -> None:
    assert not in_common(sparql("?s :p :o"), sparql("?s :p :o", before))


def test_the_limit_is_part_of_the_shape() -> None:
    query = sparql("?s :p :o")
    limited = Query(query.dialect, query.form, query.where, limit=0)
    assert not in_common(query, limited)


def test_a_class_of_every_resource_is_as_it_is() -> None:
    first, second = (parse(f"{PREFIXES}(_:H, ?x, (:A, :p, :{name}))", "ops") for name in "BC")
    assert in_common(first, second)
    assert not in_common(first, second, frozenset((iri("http://e.x/C"),)))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("(?x, :p, ?y, {}, {?y <= :C})", "(?x, :q, ?y, {}, {?y <= :D})", True),
        ("(?x, :p, ?y, {}, {?y <= 5})", "(?x, :p, ?y, {}, {?y <= 6})", False),
        ("(?x, :p, ?y, {}, {?y <= :C})", "(?x, :p, ?y, {}, {?y < :C})", False),
    ],
)
def test_constraints(first: str, second: str, same: bool) -> None:
    assert in_common(parse(PREFIXES + first, "gtopss"), parse(PREFIXES + second, "gtopss")) == same


def test_marks_stand_for_themselves_alone() -> None:
    """A term that looks like a mark is a term like any other."""
    first, second = (sparql("?s <http://0> '0', \"\\u00000\""), sparql("?s <http://1> '1', \"\\u00001\""))
    assert in_common(first, second)


def test_what_is_too_deep_is_compiled_by_itself() -> None:
    expr: Expr = Call("BOUND", (Var("s"),))
    for _ in range(5_000):
        expr = Call("!", (expr,))
    where = Filter(Block((TriplePattern(Var("s"), iri("http://e.x/p"), Var("o")),)), (expr,))
    plans = Plans(frozenset())
    with pytest.raises(RecursionError):
        hash(expr)
    for _ in range(3):
        _, names = plans.of(Query("sparql", "SELECT", where))
        assert names == []


def test_the_plans_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.index.plans._MOST", 10_000)
    plans = Plans(frozenset())
    for number in range(300):
        plans.of(sparql(f"?s :p ?o FILTER(REGEX(?o, '{number:0100}'))"))
    assert 0 < len(plans._plans) < 100


# ------------------------------------------------------------------------------------------------------------ the store


def _term(index: Index, text: str) -> int:
    data = padded(text.encode())
    return int(find_one(index.names.terms, data, len(text.encode())))


def test_names_are_filled_in() -> None:
    store = Store(Ontology.empty())
    for number, name in enumerate("abcd"):
        store.add(number, sparql(f"?s :p{name} :{name}"))
    index = store.index()
    codes = [index.rules.code[at : at + 7].tolist() for at in index.rules.code_at[:4]]
    objects = [_term(index, f"<http://e.x/{name}>") for name in "abcd"]
    assert [code[-1] for code in codes] == objects
    assert len(set(objects)) == 4
    assert [code[-2] for code in codes] == [0, 1, 2, 3]
    assert all(index.names.asked[number] for number in objects)


def test_a_subscription_is_filed_under_what_few_ask_for() -> None:
    store = Store(Ontology.empty())
    for number in range(50):
        store.add(number, sparql(f"?s a :common; :p :{number}"))
    index, _ = store.freeze()
    assert int((index.filed.first[1:] - index.filed.first[:-1]).max()) < 5


def test_numbers_have_places_of_their_own() -> None:
    store = Store(Ontology.empty())
    for number in range(4):
        store.add(number, sparql(f"?s :p{number} ?o FILTER(?o < 5 && ?o > 2)"))
    index = store.index()
    assert index.rules.numbers[:8].tolist() == [5.0, 2.0] * 4


def test_nothing_to_file_under() -> None:
    store = Store(Ontology.empty())
    for number in range(3):
        store.add(number, sparql("?s ?p ?o"))
    assert (store.unindexed, store.rules, store.atoms) == (3, 3, 0)


def test_one_that_waits_can_be_removed() -> None:
    store = Store(Ontology.empty())
    for number in range(4):
        store.add(number, sparql(f"?s :p :o{number}"))
    store.index()
    store.add(4, sparql("?s :p :o4"))
    store.remove(1)
    store.remove(4)
    assert store.index().rules.alive[:5].tolist() == [1, 0, 1, 1, 0]
