"""Triples, paths, collections, blank nodes and wildcards, as they become Blocks."""

from __future__ import annotations

import pytest

from tidings.errors import SubscriptionError
from tidings.lang import parse, to_text
from tidings.lang.pattern import (
    Alternative,
    Block,
    Inverse,
    Link,
    Negated,
    Node,
    Path,
    PathPattern,
    Repeat,
    Sequence,
    TriplePattern,
    Var,
)
from tidings.rdf.terms import RDF, RDF_TYPE, Term, literal

_PREFIX = "PREFIX : <http://e.x/> "
P, Q, R = (Term(f"<http://e.x/{name}>") for name in "pqr")
S, V, X = Var("s"), Var("o"), Var("x")
B0, B1, B2 = Var("_:0"), Var("_:1"), Var("_:2")
W0, W1, W2 = Var("*0"), Var("*1"), Var("*2")
ONE = literal("1", "http://www.w3.org/2001/XMLSchema#integer")
FIRST, REST, NIL = (Term(f"<{RDF}{name}>") for name in ("first", "rest", "nil"))


def block(triples: str) -> Block:
    query = parse(_PREFIX + f"ASK {{ {triples} }}")
    assert parse(to_text(query)) == query
    assert isinstance(query.where, Block)
    return query.where


def triples(text: str) -> list[tuple[Node, Node, Node]]:
    found = block(text)
    assert found.paths == ()
    return [(t.s, t.p, t.o) for t in found.triples]


def path(text: str) -> Path:
    found = block(f"?s {text} ?o")
    assert found.triples == ()
    assert [(p.s, p.o) for p in found.paths] == [(S, V)]
    return found.paths[0].path


# ------------------------------------------------------------------------------------------------------ lists and nodes


def test_predicate_and_object_lists() -> None:
    expected = [(S, P, V), (S, P, X), (S, Q, V)]
    assert triples("?s :p ?o , ?x ; :q ?o") == expected
    assert triples("?s :p ?o . ?s :p ?x . ?s :q ?o .") == expected
    assert triples("?s :p ?o , ?x ; ; :q ?o ; .") == expected


def test_a_is_rdf_type() -> None:
    assert triples("?s a :p") == [(S, RDF_TYPE, P)]


def test_literals_in_every_place() -> None:
    number = literal("5", "http://www.w3.org/2001/XMLSchema#integer")
    assert triples('5 :p "a"@EN') == [(number, P, Term('"a"@en'))]


def test_blank_nodes_are_hidden_variables() -> None:
    assert triples("_:b :p _:c . _:c :q _:b") == [(B0, P, B1), (B1, Q, B0)]
    assert triples("[] :p [ ]") == [(B0, P, B1)]
    assert triples("[ :p ?o ]") == [(B0, P, V)]
    assert triples("[ :p ?o ] :q ?x") == [(B0, P, V), (B0, Q, X)]
    assert triples("?s :p [ :q [ :r ?o ] ; :p 'x' ]") == [
        *((B0, R, V), (B1, Q, B0), (B1, P, Term('"x"')), (S, P, B1)),
    ]


def test_collections_are_lists_of_cells() -> None:
    assert triples("?s :p ()") == [(S, P, NIL)]
    assert triples("?s :p (?x ?o)") == [(B0, FIRST, X), (B0, REST, B1), (B1, FIRST, V), (B1, REST, NIL), (S, P, B0)]
    assert triples("(?x) :p ?o") == [(B0, FIRST, X), (B0, REST, NIL), (B0, P, V)]
    assert triples("(?x)") == [(B0, FIRST, X), (B0, REST, NIL)]


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("?s :p", "expected a variable or a term, found '}'", 7),
        ("?s", "expected a property or a path, found '}'", 4),
        ("[]", "expected a property or a path, found '}'", 4),
        ("?s :p ?o ?x :q ?o", "expected '.', ';' or ',', found '?x'", 10),
        ("?s 'p' ?o", "expected a property or a path, found ''p''", 4),
        ("?s _:p ?o", "expected a property or a path, found '_:p'", 4),
        ("?s A ?o", "expected a property or a path, found 'A'", 4),
        ("[ :p ?o", "expected ';', ',' or ']', found '}'", 9),
        ("(?x :p ; )", "expected a variable or a term or ')', found ';'", 8),
        ("?s :p - 5", "expected a variable or a term, found '-'", 7),
    ],
)
def test_broken_triples(text: str, reason: str, column: int) -> None:
    with pytest.raises(SubscriptionError) as caught:
        block(text)
    assert caught.value.reason == reason
    assert caught.value.column == len(_PREFIX + "ASK { ") + column


def test_a_label_belongs_to_one_group_of_triples() -> None:
    assert triples("_:a :p ?o . FILTER(?o > 1) _:a :q ?x") == [(B0, P, V), (B0, Q, X)]
    for text in ("_:a :p ?o OPTIONAL { _:a :q ?x }", "_:a :p ?o BIND(1 AS ?y) _:a :q ?x", "{ _:a :p 1 } _:a :p 2"):
        with pytest.raises(SubscriptionError, match="_:a is already used in another group"):
            parse(_PREFIX + f"ASK {{ {text} }}")


# ---------------------------------------------------------------------------------------------------------------- paths


def test_sequences_and_inverses_become_triples() -> None:
    assert triples("?s :p/:q ?o") == [(S, P, B0), (B0, Q, V)]
    assert triples("?s ^:p ?o") == [(V, P, S)]
    assert triples("?s :p/^:q/a ?o") == [(S, P, B0), (B1, Q, B0), (B1, RDF_TYPE, V)]
    assert triples("?s ^(:p/:q) ?o") == [(V, P, B0), (B0, Q, S)]
    assert triples("?s (:p) ?o") == [(S, P, V)]
    assert triples("?s ^(^:p) ?o , ?x") == [(S, P, V), (S, P, X)]


def test_what_is_more_than_a_sequence_stays_a_path() -> None:
    assert path(":p|:q") == Alternative((Link(P), Link(Q)))
    assert path(":p|:q/^:r") == Alternative((Link(P), Sequence((Link(Q), Inverse(Link(R))))))
    assert path("(:p|:q)+") == Repeat(Alternative((Link(P), Link(Q))), 1, None)
    assert path(":p*") == Repeat(Link(P), 0, None)
    assert path("a?") == Repeat(Link(RDF_TYPE), 0, 1)
    assert path("(:p/:q)*") == Repeat(Sequence((Link(P), Link(Q))), 0, None)
    assert path("(:p*)*") == Repeat(Repeat(Link(P), 0, None), 0, None)
    assert path(":p|^:q|(:p|:r)") == Alternative((Link(P), Inverse(Link(Q)), Alternative((Link(P), Link(R)))))
    assert path("!:p") == Negated((P,), ())
    assert path("!^:p") == Negated((), (P,))
    assert path("!(:p|^:q|a)") == Negated((P, RDF_TYPE), (Q,))
    assert path("!()") == Negated((), ())


def test_a_path_in_a_sequence_shares_the_hidden_variable() -> None:
    found = block("?s a/:p* ?o . ?s :q _:b")
    assert found.triples == (TriplePattern(S, RDF_TYPE, B0), TriplePattern(S, Q, B1))
    assert found.paths == (PathPattern(B0, Repeat(Link(P), 0, None), V),)


def test_an_inverse_path_is_turned_around() -> None:
    assert block("?s ^:p* ?o").paths == (PathPattern(V, Repeat(Link(P), 0, None), S),)


@pytest.mark.parametrize("text", [":p**", ":p{1,2}", "^^:p", "!(:p/:q)", "!?x", "(:p", ":p/", "/:p", ":p|?x", "?x*"])
def test_broken_paths(text: str) -> None:
    with pytest.raises(SubscriptionError):
        block(f"?s {text} ?o")


# ------------------------------------------------------------------------------------------------------------ wildcards


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* ?x ?o", [(W0, X, V)]),
        ("?s * ?o", [(S, W0, V)]),
        ("?s ?x *", [(S, X, W0)]),
        ("* * *", [(W0, W1, W2)]),
        ("* * * . * * * .", [(W0, W1, W2), (Var("*3"), Var("*4"), Var("*5"))]),
        ("?s :p *", [(S, P, W0)]),
        ("?s :p * .", [(S, P, W0)]),
        ("?s :p * ; :q ?o", [(S, P, W0), (S, Q, V)]),
        ("?s :p * , ?o", [(S, P, W0), (S, P, V)]),
        ("?s :p ?o , * , ?x", [(S, P, V), (S, P, W0), (S, P, X)]),
        ("?s :p *. ?x :q ?o", [(S, P, W0), (X, Q, V)]),
        ("?s a *", [(S, RDF_TYPE, W0)]),
        ("?s :p * FILTER(true)", [(S, P, W0)]),
        ("?s ^:p *", [(W0, P, S)]),
        ("?s :p/:q * .", [(S, P, B0), (B0, Q, W0)]),
        ("?s (:p) * .", [(S, P, W0)]),
        ("?s * * ; * ?x", [(S, W0, W1), (S, W2, X)]),
        ("?s :p [ :q * ]", [(B0, Q, W0), (S, P, B0)]),
        ("[ * ?x ]", [(B0, W0, X)]),
        ("?s * ?o, ?x", [(S, W0, V), (S, W0, X)]),
        ("?s * ?o, *", [(S, W0, V), (S, W0, W1)]),
        ("?s * [ :p 1 ] , ?o ; * ?o", [(B0, P, ONE), (S, W0, B0), (S, W0, V), (S, W1, V)]),
        ("* :p ?o ; :q ?x", [(B0, P, V), (B0, Q, X)]),
        ("* :p ?o , ?x . * :p ?o", [(B0, P, V), (B0, P, X), (W0, P, V)]),
        ("* * ?o , ?x", [(B0, W0, V), (B0, W0, X)]),
        ("?s :p [ * * ]", [(B0, W0, W1), (S, P, B0)]),
        ("?s :p (*)", [(B0, FIRST, W0), (B0, REST, NIL), (S, P, B0)]),
    ],
)
def test_wildcards(text: str, expected: list[tuple[Node, Node, Node]]) -> None:
    assert triples(text) == expected


@pytest.mark.parametrize(
    ("text", "s", "repeat", "o"),
    [
        ("?s :p* ?o", S, P, V),
        ("?s :p * ?o", S, P, V),
        ("?s :p * 5", S, P, literal("5", "http://www.w3.org/2001/XMLSchema#integer")),
        ("?s :p * -5", S, P, literal("-5", "http://www.w3.org/2001/XMLSchema#integer")),
        ("?s :p * true", S, P, literal("true", "http://www.w3.org/2001/XMLSchema#boolean")),
        ("?s :p * 'x'", S, P, Term('"x"')),
        ("?s :p * :q", S, P, Q),
        ("?s :p * <http://e.x/q>", S, P, Q),
        ("?s :p * _:b", S, P, B0),
        ("?s :p * []", S, P, B0),
        ("?s :p * ()", S, P, NIL),
        ("?s :p * *", S, P, W0),
        ("?s :p* * .", S, P, W0),
        ("* :p* *", W0, P, W1),
        ("?s a* ?o", S, RDF_TYPE, V),
        ("?s (:p*) * .", S, P, W0),
    ],
)
def test_a_star_before_an_object_repeats_the_path(text: str, s: Node, repeat: Term, o: Node) -> None:
    assert block(text).paths == (PathPattern(s, Repeat(Link(repeat), 0, None), o),)


def test_a_star_where_the_path_goes_on() -> None:
    assert block("?s :p*/:q ?o").paths == (PathPattern(S, Repeat(Link(P), 0, None), B0),)
    assert path(":p*|:q") == Alternative((Repeat(Link(P), 0, None), Link(Q)))
    assert path("(:p*|:q*)+") == Repeat(Alternative((Repeat(Link(P), 0, None), Repeat(Link(Q), 0, None))), 1, None)


def test_plus_and_question_mark_before_a_wildcard() -> None:
    assert block("?s :p+ * .").paths == (PathPattern(S, Repeat(Link(P), 1, None), W0),)
    assert block("?s :p? * .").paths == (PathPattern(S, Repeat(Link(P), 0, 1), W0),)


def test_in_other_groups_too() -> None:
    query = parse(_PREFIX + "SELECT * { ?s :p * OPTIONAL { ?s :q * } MINUS { * :p ?s } GRAPH ?g { ?s * * } }")
    assert parse(to_text(query)) == query
    assert query.projection is None


def test_a_template_has_no_wildcards_and_no_paths() -> None:
    for text in ("CONSTRUCT { ?s * ?o } {}", "CONSTRUCT { ?s ?p * } {}", "CONSTRUCT WHERE { * ?p ?o }"):
        with pytest.raises(SubscriptionError, match="wildcard has no place in a template"):
            parse(text)
    with pytest.raises(SubscriptionError, match="path has no place in a template"):
        parse("CONSTRUCT { ?s a/a ?o } {}")
