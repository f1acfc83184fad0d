"""The operators of the algebra, where a quick reading of them goes wrong, and property paths."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.unit.match.worlds import EVENT, ask, rows

from tidings.lang.pattern import Alternative, Inverse, Link, Repeat, Sequence
from tidings.match.paths import simplified
from tidings.rdf.terms import Term

PEOPLE = """
:a :name "A" ; :knows :b ; :age 30 .
:b :name "B" ; :knows :c .
:c :name "C" ; :age 50 .
"""


def names(query: str, event: str = PEOPLE, variable: str = "s") -> list[str]:
    return [row.get(variable, "-") for row in rows(query, event)]


# ------------------------------------------------------------------------------------------------------------ operators


def test_optional() -> None:
    assert rows("SELECT ?s ?age { ?s :name ?n OPTIONAL { ?s :age ?age } }", PEOPLE) == [
        {"s": "a", "age": '"30"^^integer'},
        {"s": "b"},
        {"s": "c", "age": '"50"^^integer'},
    ]


def test_optional_condition_sees_both_sides() -> None:
    query = "SELECT ?s ?t { ?s :age ?x OPTIONAL { ?t :age ?y FILTER (?y > ?x) } }"
    assert rows(query, PEOPLE) == [{"s": "a", "t": "c"}, {"s": "c"}]


def test_filters_see_their_own_group_only() -> None:
    assert names("SELECT ?s { ?s :age ?x { ?s :name ?n FILTER (?x > 0) } }") == []
    assert names("SELECT ?s { ?s :age ?x { ?s :name ?n FILTER (!BOUND(?x)) } }") == ["a", "c"]


def test_nested_optional_is_evaluated_from_inside() -> None:
    event = ":a :p 1 . :b :p 2 . :x :q 1 ."
    query = "SELECT ?s ?v { ?s :p ?v OPTIONAL { ?t :q ?w OPTIONAL { ?u :p ?v FILTER (?w = 2) } } }"
    assert Counter(names(query, event)) == Counter(["a", "b"])
    # ?v is unbound in the middle, so the innermost group binds it to each value, and joins only with the same one.
    inner = "SELECT ?s ?t { ?s :p ?v OPTIONAL { ?t :q ?w OPTIONAL { ?u :p ?v } } }"
    assert rows(inner, event) == [{"s": "a", "t": "x"}, {"s": "b", "t": "x"}]


def test_optional_then_join_on_what_may_be_unbound() -> None:
    event = ":a :p 1 . :b :p 2 ; :q :x . :y :r :z ."
    query = "SELECT ?s ?o { ?s :p ?v OPTIONAL { ?s :q ?o } { ?t :r ?u } OPTIONAL { ?s :q ?o } }"
    assert rows(query, event) == [{"s": "a"}, {"s": "b", "o": "x"}]
    joined = "SELECT ?s ?o { { ?s :p ?v OPTIONAL { ?s :q ?o } } { SELECT (:w AS ?o) {} } }"
    assert rows(joined, event) == [{"s": "a", "o": "w"}]


def test_union_keeps_repeats() -> None:
    assert names("SELECT ?s { { ?s :age 30 } UNION { ?s :name 'A' } UNION { ?s :name 'B' } }") == ["a", "a", "b"]
    assert names("SELECT DISTINCT ?s { { ?s :age 30 } UNION { ?s :name 'A' } }") == ["a"]
    assert names("SELECT REDUCED ?s { { ?s :age 30 } UNION { ?s :name 'A' } }") == ["a", "a"]


def test_minus_and_not_exists_differ_without_shared_variables() -> None:
    assert names("SELECT ?s { ?s :name ?n MINUS { ?s :age ?x } }") == ["b"]
    assert names("SELECT ?s { ?s :name ?n MINUS { ?t :age ?x } }") == ["a", "b", "c"]
    assert names("SELECT ?s { ?s :name ?n FILTER NOT EXISTS { ?t :age ?x } }") == []


def test_minus_needs_agreement_on_all_shared_variables() -> None:
    query = "SELECT ?s { ?s :name ?n OPTIONAL { ?s :age ?x } MINUS { ?t :knows ?u OPTIONAL { ?t :age ?x } } }"
    assert names(query) == ["b", "c"]


def test_exists_puts_the_solution_in_place_of_variables() -> None:
    assert names("SELECT ?s { ?s :age ?x FILTER EXISTS { ?t :age ?y FILTER (?y > ?x) } }") == ["a"]
    assert names("SELECT ?s { ?s :knows ?o FILTER NOT EXISTS { ?o :age ?y } }") == ["a"]
    deep = "SELECT ?s { ?s :age ?x FILTER EXISTS { ?t :name ?n FILTER EXISTS { ?t :age ?y FILTER (?y > ?x) } } }"
    assert names(deep) == ["a"]


def test_minus_inside_exists_shares_no_constant() -> None:
    query = "SELECT ?s { ?s :name ?n FILTER EXISTS { ?s :name ?m MINUS { ?s :age ?x } } }"
    assert names(query) == ["a", "b", "c"]


def test_exists_with_values_bind_and_sub_select() -> None:
    assert names("SELECT ?s { ?s :name ?n FILTER EXISTS { VALUES ?s { :a :c } } }") == ["a", "c"]
    assert names("SELECT ?s { ?s :name ?n FILTER EXISTS { BIND (:b AS ?s) } }") == ["b"]
    query = "SELECT ?s { ?s :name ?n FILTER EXISTS { SELECT ?s { ?s :age ?n } } }"
    assert names(query) == ["a", "c"]
    counted = "SELECT ?s (COUNT(*) AS ?c) { ?s ?p ?o } GROUP BY ?s HAVING (COUNT(*) > 2)"
    assert names(f"SELECT ?s {{ ?s :name ?n FILTER EXISTS {{ {counted} }} }}") == ["a"]


def test_bind() -> None:
    assert rows("SELECT * { ?s :age ?x BIND (?x + 1 AS ?y) BIND (?no AS ?z) FILTER (?y > 40) }", PEOPLE) == [
        {"s": "c", "x": '"50"^^integer', "y": '"51"^^integer'}
    ]


def test_values() -> None:
    assert names("SELECT ?s { VALUES (?s ?n) { (:a UNDEF) (UNDEF 'B') (:c 'X') } ?s :name ?n }") == ["a", "b"]
    assert names("SELECT ?s { ?s :name ?n } VALUES ?n { 'C' 'A' }") == ["a", "c"]
    assert names("SELECT ?s { ?s :name ?n } VALUES ?n { }") == []


def test_graph_is_the_event() -> None:
    assert rows("SELECT ?g { GRAPH ?g { ?s :age 30 } }", PEOPLE) == [{"g": "<" + EVENT}]
    assert names(f"SELECT ?s {{ GRAPH <{EVENT}> {{ ?s :age 30 }} }}") == ["a"]
    assert names("SELECT ?s { GRAPH :other { ?s :age 30 } }") == []
    assert rows("SELECT ?g { GRAPH ?g {} }", PEOPLE) == [{"g": "<" + EVENT}]
    assert rows("SELECT ?s { ?s :name ?g GRAPH ?g { ?s :age 30 } }", PEOPLE) == []
    assert rows("SELECT ?s { GRAPH ?g { ?s :age 30 FILTER BOUND(?g) } }", PEOPLE) == []


def test_sub_select_hides_what_it_does_not_project() -> None:
    query = "SELECT ?s ?n { ?s :name ?n { SELECT ?s { ?s :age ?n } } }"
    assert names(query) == ["a", "c"]
    assert names("SELECT ?s { ?s :name ?n { SELECT ?s { ?s :age ?x } ORDER BY DESC(?x) LIMIT 1 } }") == ["c"]
    assert names("SELECT ?s { ?s :name ?n { SELECT (MAX(?x) AS ?top) { ?t :age ?x } } ?s :age ?top }") == ["c"]


def test_wildcards_are_variables_of_their_own() -> None:
    assert rows("SELECT * { ?s * 30 . ?s * * }", PEOPLE) == [{"s": "a"}] * 3


def test_repeated_variable() -> None:
    event = ":a :p :a . :a :p :b . :p :p :p ."
    assert names("SELECT ?s { ?s :p ?s }", event) == ["a", "p"]
    assert names("SELECT ?s { ?s ?s ?s }", event) == ["p"]


# ------------------------------------------------------------------------------------------------------------ modifiers


def test_order_limit_offset() -> None:
    assert names("SELECT ?s { ?s :name ?n } ORDER BY DESC(?n)") == ["c", "b", "a"]
    assert names("SELECT ?s { ?s :name ?n OPTIONAL { ?s :age ?x } } ORDER BY ?x") == ["b", "a", "c"]
    assert names("SELECT ?s { ?s :name ?n } ORDER BY ?n LIMIT 1 OFFSET 1") == ["b"]
    assert names("SELECT ?s { ?s :name ?n } OFFSET 3") == []
    assert names("SELECT ?s { ?s :name ?n } LIMIT 0") == []
    assert names("SELECT ?k { ?s :name ?n BIND (1 AS ?k) } ORDER BY ?k ?n", variable="k") == ['"1"^^integer'] * 3


def test_ties_are_broken_by_text() -> None:
    event = ":a :p 01 . :b :p 1.0 . :c :p 1 ."
    assert names("SELECT ?s { ?s :p ?v } ORDER BY ?v", event) == ["a", "c", "b"]


def test_construct() -> None:
    answer = ask("CONSTRUCT { ?s :has [ :v ?x ] . ?x :of ?s . ?s :none ?no } { ?s :age ?x }", PEOPLE + "_:c0 :p 1 .")
    assert answer is not None
    assert answer.bindings == ({},)
    assert (answer.construct or "").splitlines() == [
        "<http://e.x/a> <http://e.x/has> _:cx0 .",
        "<http://e.x/c> <http://e.x/has> _:cx1 .",
        '_:cx0 <http://e.x/v> "30"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        '_:cx1 <http://e.x/v> "50"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    ]


def test_ask() -> None:
    found = ask("ASK { ?s :age 30 }", PEOPLE)
    assert found is not None
    assert found.bindings == ({},)
    assert ask("ASK { ?s :age 31 }", PEOPLE) is None


# ---------------------------------------------------------------------------------------------------------------- paths

GRAPH = ":a :p :b . :b :p :c . :c :p :a . :c :q :d . :a :r :d . :a :q :d ."


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (":a :p* ?x", "a b c"),
        (":a :p+ ?x", "a b c"),
        (":d :p+ ?x", ""),
        (":a :p? ?x", "a b"),
        (":nowhere :p* ?x", "nowhere"),
        (":nowhere :p+ ?x", ""),
        ("?x :p* :nowhere", "nowhere"),
        ("?x :p* :c", "a b c"),
        (":a (:q|:r) ?x", "d d"),
        (":a !(:p|:q) ?x", "d"),
        (":a !:p ?x", "d"),
        (":d !(^:q) ?x", "a"),
        (":d !(:p|^:r) ?x", "a c"),
        (":d ^:q ?x", "a c"),
        (":a :p/:p/:q ?x", "d"),
        (":a (:p/:p)* ?x", "a b c"),
        (":a :p*/:q ?x", "d d"),
        (":a (:p*)* ?x", "a b c"),
        ("?x :p+ ?x", "a b c"),
        ("?x (:p|:q)* :d FILTER (?x != :d)", "a b c"),
        (":nowhere :p*/:q* ?x", ""),
        ("VALUES ?x { :nowhere :a } ?x :p* ?y", "a a a"),
        ("VALUES ?x { :nowhere } ?x :p* :nowhere", "nowhere"),
        (":a :p* :c BIND (:yes AS ?x)", "yes"),
    ],
)
def test_paths(pattern: str, expected: str) -> None:
    assert sorted(names(f"SELECT ?x {{ {pattern} }}", GRAPH, "x")) == expected.split()


def test_zero_length_paths_of_two_variables_are_the_nodes() -> None:
    found = rows("SELECT ?x ?y { ?x :none* ?y }", ":a :p 1 .")
    assert found == [{"x": '"1"^^integer', "y": '"1"^^integer'}, {"x": "a", "y": "a"}]


def test_simplified() -> None:
    link = Link(Term("<http://e.x/p>"))
    star, plus, maybe = Repeat(link, 0, None), Repeat(link, 1, None), Repeat(link, 0, 1)
    assert simplified(Repeat(star, 1, None)) == star
    assert simplified(Repeat(plus, 1, None)) == plus
    assert simplified(Repeat(plus, 0, 1)) == star
    assert simplified(Repeat(maybe, 1, None)) == star
    assert simplified(Repeat(maybe, 0, 1)) == maybe
    nested = Sequence((Inverse(Repeat(star, 0, None)), Alternative((link, Repeat(plus, 1, None)))))
    assert simplified(nested) == Sequence((Inverse(star), Alternative((link, plus))))
