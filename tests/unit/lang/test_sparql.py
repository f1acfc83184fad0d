"""Whole queries: forms, modifiers, scope, refusals, and errors that help."""

from __future__ import annotations

import pytest

from tidings.errors import SubscriptionError, UsageError
from tidings.lang import parse, to_text
from tidings.lang.forms import MAX_HEIGHT, height
from tidings.lang.pattern import (
    Aggregate,
    Block,
    Call,
    Const,
    GroupKey,
    OrderKey,
    Projection,
    Query,
    TriplePattern,
    Values,
    Var,
    core,
)
from tidings.rdf.terms import XSD, literal

S, P, V, N = Var("s"), Var("p"), Var("o"), Var("n")
SPO = Block((TriplePattern(S, P, V),))
COUNT = Aggregate("COUNT", False, None)
ONE = Const(literal("1", XSD + "integer"))


def query(text: str) -> Query:
    found = parse(text)
    assert parse(to_text(found)) == found
    return found


def reason(text: str) -> str:
    with pytest.raises(SubscriptionError) as caught:
        parse(text)
    return caught.value.reason


# ---------------------------------------------------------------------------------------------------------------- forms


def test_forms() -> None:
    assert query("SELECT * { ?s ?p ?o }") == Query("sparql", "SELECT", SPO)
    assert query("select ?s where { ?s ?p ?o }") == Query("sparql", "SELECT", SPO, (Projection(S),))
    assert query("SELECT DISTINCT * { ?s ?p ?o }") == Query("sparql", "SELECT", SPO, distinct=True)
    assert query("SELECT REDUCED * { ?s ?p ?o }") == Query("sparql", "SELECT", SPO, reduced=True)
    assert query("ASK { ?s ?p ?o }") == query("ASK WHERE { ?s ?p ?o }") == Query("sparql", "ASK", SPO)


def test_construct() -> None:
    template = (TriplePattern(V, P, S),)
    assert query("CONSTRUCT { ?o ?p ?s } WHERE { ?s ?p ?o }") == Query("sparql", "CONSTRUCT", SPO, template=template)
    assert query("CONSTRUCT { } { ?s ?p ?o }") == Query("sparql", "CONSTRUCT", SPO)
    short = Query("sparql", "CONSTRUCT", SPO, template=SPO.triples)
    assert query("CONSTRUCT WHERE { ?s ?p ?o }") == query("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }") == short


def test_blank_nodes_of_a_template_are_not_those_of_the_pattern() -> None:
    found = query("CONSTRUCT { _:a ?p _:a } { _:a ?p _:b }")
    assert found.where == Block((TriplePattern(Var("_:0"), P, Var("_:1")),))
    assert found.template == (TriplePattern(Var("_:2"), P, Var("_:2")),)
    assert query("CONSTRUCT WHERE { _:a ?p _:b }").template == (TriplePattern(Var("_:2"), P, Var("_:3")),)


def test_modifiers() -> None:
    found = query(
        "SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s (1) (?p AS ?k) STR(?o) HAVING (?n > 1) COUNT(*) "
        "ORDER BY ?s DESC(?n) ASC(?k) STR(?s) OFFSET 2 LIMIT 3 VALUES ?s { UNDEF }"
    )
    assert found.projection == (Projection(S), Projection(N, COUNT))
    assert found.group == (GroupKey(S), GroupKey(ONE), GroupKey(P, Var("k")), GroupKey(Call("STR", (V,))))
    assert found.having == (Call(">", (N, ONE)), COUNT)
    assert found.order == (OrderKey(S), OrderKey(N, True), OrderKey(Var("k")), OrderKey(Call("STR", (S,))))
    assert (found.limit, found.offset) == (3, 2)
    assert found.values == Values((S,), ((None,),))


def test_modifiers_of_other_forms() -> None:
    assert query("ASK { ?s ?p ?o } ORDER BY ?s LIMIT 1").limit == 1
    assert query("CONSTRUCT { ?s ?p ?o } { ?s ?p ?o } LIMIT 5 OFFSET 1").offset == 1
    assert query("SELECT * { { SELECT ?s { ?s ?p ?o } LIMIT 1 VALUES ?s { 1 } } } LIMIT 0").limit == 0


def test_relative_iris_need_a_base() -> None:
    assert parse("ASK { ?s ?p <a> }", base="http://e.x/b/") == parse("BASE <http://e.x/b/> ASK { ?s ?p <a> }")
    assert reason("ASK { ?s ?p <a> }") == "the IRI <a> is relative"


def test_hidden_variables_are_numbered_in_the_order_of_the_form() -> None:
    found = query("SELECT * { FILTER EXISTS { _:x ?p * } ?s <http://e.x/p>|<http://e.x/q> [] . * ?q [] }")
    assert isinstance(found.where, Block)
    assert found.where.triples == (TriplePattern(Var("*0"), Var("q"), Var("_:0")),)
    assert found.where.paths[0].o == Var("_:1")
    assert "Var(name='_:2')" in repr(found.where.filters)
    assert found == query("SELECT * { * ?q _:b . ?s <http://e.x/p>|<http://e.x/q> _:a FILTER EXISTS { [] ?p * } }")


def test_conjunctive_queries_have_a_core() -> None:
    assert core(query("SELECT ?s { GRAPH ?g { ?s ?p ?o } FILTER(true) }")) is None
    assert core(query("SELECT ?s { { ?s ?p ?o FILTER(?o > 1) } }")) is not None
    assert core(query("SELECT ?s { ?s <http://e.x/a>/<http://e.x/b> * }")) is not None
    assert core(query("SELECT ?s { ?s <http://e.x/a>* ?o }")) is None


# ---------------------------------------------------------------------------------------------------------------- scope


@pytest.mark.parametrize(
    ("text", "expected", "column"),
    [
        ("SELECT (1 AS ?s) { ?s ?p ?o }", "?s already has a value, it cannot name this one", 8),
        ("SELECT (1 AS ?n) (2 AS ?n) {}", "?n already has a value, it cannot name this one", 18),
        ("SELECT ?n (2 AS ?n) {}", "?n already has a value, it cannot name this one", 11),
        ("SELECT (1 AS ?n) {} VALUES ?n { 1 }", "?n already has a value, it cannot name this one", 8),
        ("SELECT (1 AS ?k) { ?s ?p ?o } GROUP BY (1 AS ?k)", "?k already has a value, it cannot name this one", 8),
        ("SELECT * { ?s ?p ?o } GROUP BY ?s", "SELECT * cannot be grouped", 8),
        ("SELECT * {} HAVING (COUNT(*) > 1)", "SELECT * cannot be grouped", 8),
        ("SELECT ?s { ?s ?p ?o } GROUP BY ?o", "?s is not grouped, so it has no single value here", 8),
        ("SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o }", "?s is not grouped, so it has no single value here", 8),
        ("SELECT ?s { ?s ?p ?o } ORDER BY COUNT(?o)", "?s is not grouped, so it has no single value here", 8),
        (
            "SELECT (?s + 1 AS ?n) { ?s ?p ?o } GROUP BY (?s + 1)",
            "?s is not grouped, so it has no single value here",
            8,
        ),
        (
            "SELECT (ftcontains(?s, 'a') AS ?n) { ?s ?p ?o } GROUP BY ?o",
            "?s is not grouped, so it has no single value here",
            8,
        ),
        (
            "SELECT (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY (SUM(?o))",
            "SUM is an aggregate and has no place in GROUP BY",
            48,
        ),
        (
            "SELECT * { { SELECT ?p { ?s ?p ?o } GROUP BY ?s } }",
            "?p is not grouped, so it has no single value here",
            21,
        ),
    ],
)
def test_scope(text: str, expected: str, column: int) -> None:
    with pytest.raises(SubscriptionError) as caught:
        parse(text)
    assert caught.value.reason == expected
    assert caught.value.column == column


@pytest.mark.parametrize(
    "text",
    [
        "SELECT (COUNT(*) AS ?n) (?n + 1 AS ?m) { ?s ?p ?o }",
        "SELECT (SUM(?o) + COUNT(?s) AS ?n) { ?s ?p ?o }",
        "SELECT ?k { ?s ?p ?o } GROUP BY (STR(?s) AS ?k)",
        "SELECT ?s (EXISTS { ?s ?p ?x } AS ?n) { ?s ?p ?o } GROUP BY ?s",
        "SELECT ?x { ?s ?p ?o } GROUP BY ?s VALUES ?x { 1 }",
        "SELECT (1 AS ?x) { { SELECT ?s { ?s ?p ?x } } }",
        "SELECT ?s { ?s ?p ?o FILTER EXISTS { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }",
        "SELECT ?s ?s { ?s ?p ?o }",
    ],
)
def test_what_scope_allows(text: str) -> None:
    assert query(text).projection is not None


# ------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DESCRIBE ?s { ?s ?p ?o }", "DESCRIBE is not available in subscriptions"),
        ("SELECT * FROM <http://e.x/> {}", "FROM is not available in subscriptions"),
        ("ASK FROM NAMED <http://e.x/> {}", "FROM NAMED is not available in subscriptions"),
        ("CONSTRUCT FROM <http://e.x/> WHERE {}", "FROM is not available in subscriptions"),
        ("CONSTRUCT {} FROM <http://e.x/> WHERE {}", "FROM is not available in subscriptions"),
        ("INSERT DATA {}", "a subscription is a query, not an update (INSERT)"),
        ("PREFIX : <http://e.x/> DELETE WHERE {}", "a subscription is a query, not an update (DELETE)"),
        ("", "expected SELECT, ASK, CONSTRUCT, PREFIX or BASE, found the end of the text"),
        ("SELECT COUNT(?s) { ?s ?p ?o }", "expected a variable, '(' or '*', found 'COUNT'"),
        ("SELECT (COUNT(DISTINCT ?s AS ?n)) { ?s ?p ?o }", "expected ')', found 'AS'"),
        ("SELECT (?s) { ?s ?p ?o }", "expected AS or an operator, found ')'"),
        ("SELECT ?s, ?p { ?s ?p ?o }", "expected WHERE or '{', found ','"),
        ("SELECT { ?s ?p ?o }", "expected a variable, '(' or '*', found '{'"),
        ("SELECT DISTINCT REDUCED * {}", "expected a variable, '(' or '*', found 'REDUCED'"),
        ("SELECT * {} LIMIT 1 LIMIT 2", "expected the end of the text, found 'LIMIT'"),
        ("SELECT * {} LIMIT ?x", "expected a natural number, found '?x'"),
        ("SELECT * {} LIMIT -1", "expected a natural number, found '-1'"),
        (f"SELECT * {{}} LIMIT {'9' * 5000}", "a number of 5000 digits is too large here"),
        ("SELECT * {} ORDER BY", "expected an expression, found the end of the text"),
        ("SELECT * {} ORDER BY DESC ?s", "expected '(', found '?s'"),
        ("SELECT * {} GROUP ?s", "expected BY, found '?s'"),
        ("ASK {} }", "expected the end of the text, found '}'"),
        ("ASK { ?s ?p ?o } ; ASK {}", "expected the end of the text, found ';'"),
        ("CONSTRUCT WHERE { ?s ?p ?o FILTER(true) }", "expected '.', ';', ',' or '}', found 'FILTER'"),
        ("CONSTRUCT ?s WHERE {}", "expected a template in braces or WHERE, found '?s'"),
        ('ASK { ?s ?p "a }', 'this string has no closing "'),
        ("ASK { ?s ?p ?o ~ }", "the character '~' has no meaning here"),
        ("ASK { ?s ?p << ?a ?b ?c >> }", "expected a variable or a term, found '<'"),
    ],
)
def test_refusals(text: str, expected: str) -> None:
    assert reason(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("SELCT * {}", "did you mean SELECT?"),
        ("ASK { ?s ?p ?o OPTINAL {} }", "did you mean OPTIONAL?"),
        ("SELECT COUNT(?s) {}", "name the result: (COUNT(…) AS ?name)"),
        ("SELECT (COUNT(?s AS ?n)) {}", "AS goes outside the aggregate: (COUNT(?x) AS ?n)"),
        ("ASK { ?s ?p ?o . REGEX(?o, 'a') }", "a condition needs FILTER in front"),
        ("ASK { ?s ?p ?o FILTER REGEX(?o, 'a') && ?p }", "a condition with operators stands in parentheses"),
        ("ASK { ?s ?p ?o FILTER ?o > 1 }", "put the condition in parentheses"),
        ("ASK { FILTER(?a<?b&&?c>?d) }", "from < to > without a space is an IRI; put spaces around a comparison"),
        ("ASK { ?s ?p <http://e.x/a b> }", "an IRI in angle brackets holds no spaces, quotes or braces"),
        ("ASK { FILTER(STRLENGTH(?s) > 1) }", "did you mean STRLEN?"),
        ("ASK { ?s ?p ?o . // all\n }", "a comment begins with #"),
        ("SELECT ?s, ?p {}", "nothing separates the columns but space"),
        ("ASK { ?s ?p ?o ?s ?p ?o }", "a dot ends the triples of a subject"),
        ('ASK { ?s ?p "a\nb" }', "a string with line breaks needs three quotes"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    with pytest.raises(SubscriptionError) as caught:
        parse(text)
    assert caught.value.hint == hint


def test_an_error_shows_its_place() -> None:
    with pytest.raises(SubscriptionError) as caught:
        parse("PREFIX ex: <http://e.x/>\nASK {\n  ?s exx:p ?o }", source="subs/a.rq")
    assert str(caught.value) == (
        "subs/a.rq:3:6: unknown prefix 'exx:'\n  |   ?s exx:p ?o }\n  |      ^\n  hint: did you mean 'ex:'?"
    )


def test_dialects_are_known_by_name() -> None:
    with pytest.raises(UsageError, match="unknown dialect 'sql'"):
        parse("SELECT 1", "sql")


# --------------------------------------------------------------------------------------------------------------- bounds

_P = "<http://e.x/p>"


@pytest.mark.parametrize(
    "text",
    [
        f"ASK {{ FILTER({'(' * 10_000}1{')' * 10_000}) }}",
        f"ASK {{ FILTER({'!(' * 10_000}1{')' * 10_000}) }}",
        f"ASK {'{' * 10_000}{'}' * 10_000}",
        f"ASK {{ {'OPTIONAL {' * 5_000}{'}' * 5_000} }}",
        f"ASK {{ {'FILTER EXISTS {' * 5_000}{'}' * 5_000} }}",
        f"ASK {{ {'{ SELECT * {' * 5_000}{'}}' * 5_000} }}",
        f"ASK {{ ?s ?p {'(' * 10_000}{')' * 10_000} }}",
        f"ASK {{ ?s ?p {'[ ?p ' * 10_000}{']' * 10_000} }}",
        f"ASK {{ ?s {'(' * 10_000}{_P}{')' * 10_000} ?o }}",
        f"ASK {{ FILTER({'IF(1,1,' * 10_000}1{')' * 10_000}) }}",
        f"ASK {{ FILTER ftcontains(?x, {'(' * 10_000}'a'{')' * 10_000}) }}",
        f"ASK {{ FILTER ftcontains(?x, {'ftNOT ' * 10_000}'a') }}",
    ],
)
def test_deep_texts_are_refused(text: str) -> None:
    assert reason(text) == "nested too deeply"


@pytest.mark.parametrize(
    "text",
    [
        f"ASK {{ {'OPTIONAL { ?s ?p ?o } ' * 1_000} }}",
        f"ASK {{ {'MINUS { ?s ?p ?o } ' * 1_000} }}",
        f"ASK {{ {' '.join(f'BIND(1 AS ?v{n})' for n in range(2_000))} }}",
        f"SELECT ({'+'.join(['?x'] * 10_000)} AS ?y) {{}}",
        f"ASK {{ FILTER({'-'.join(['?x'] * 10_000)}) }}",
        "ASK { FILTER ftcontains(?x, " + " ftNEAR[0,1] ".join(["'a'"] * 10_000) + ") }",
        f"ASK {{ {'{' * 40}{' BIND(1 AS ?x) OPTIONAL {} }' * 40} BIND(1 AS ?x) {'OPTIONAL {}' * 100} }}",
    ],
)
def test_high_forms_are_refused(text: str) -> None:
    assert reason(text).startswith("too deep")


@pytest.mark.parametrize(
    "text",
    [
        f"ASK {{ FILTER({'||'.join(['?x'] * 10_000)}) }}",
        f"ASK {{ FILTER({'&&'.join(['?x'] * 10_000)}) }}",
        f"ASK {{ FILTER(?x IN ({','.join(map(str, range(10_000)))})) }}",
        f"ASK {{ VALUES ?x {{ {' '.join(map(str, range(10_000)))} }} }}",
        f"ASK {{ ?s {'/'.join([_P] * 5_000)} ?o }}",
        f"ASK {{ ?s {'|'.join([_P] * 10_000)} ?o }}",
        f"ASK {{ ?s ?p ({' '.join(map(str, range(5_000)))}) }}",
        f"ASK {{ {'?s ?p ?o . ' * 10_000} }}",
        f"ASK {{ {'{} UNION ' * 5_000} {{}} }}",
        "ASK { FILTER ftcontains(?x, " + " ftOR ".join(["'a'"] * 10_000) + ") }",
        f"ASK {{ ?s ?p {'1' * 100_000} }}",
    ],
)
def test_wide_texts_are_read(text: str) -> None:
    assert query(text).form == "ASK"


@pytest.mark.parametrize(
    "text",
    [
        f"ASK {{ FILTER({'!(' * 96}true{')' * 96}) }}",
        f"ASK {{ FILTER({'1+(' * 96}true{')' * 96}) }}",
        f"ASK {'{' * 49} ?s ?p [] {'}' * 49}",
        f"ASK {{ {'FILTER EXISTS { ?s ?p [] ' * 48}{'}' * 48} }}",
        f"ASK {{ {'FILTER(!(NOT EXISTS { ?s ?p [] ' * 24}{'}))' * 24} }}",
        f"ASK {{ {'OPTIONAL { ?s ?p [] ' * 48}{'}' * 48} }}",
        f"ASK {{ {'{ ?s ?p [] } UNION { ' * 48}{'}' * 48} }}",
        f"ASK {{ {'{ SELECT * { ?s ?p [] ' * 24}{'}}' * 24} }}",
        f"ASK {{ {'OPTIONAL { ?s ?p [] } ' * 140} }}",
        f"ASK {{ FILTER({'+'.join(['?x'] * 140)}) }}",
        f"ASK {{ ?s {'(' * 97}{_P}{')*' * 97} ?o }}",
        f"ASK {{ ?s ?p {'(1 ' * 98}{')' * 98} }}",
    ],
)
def test_whatever_is_read_can_be_gone_through(text: str) -> None:
    found = query(text)
    assert height(found) <= MAX_HEIGHT
    assert hash(found) == hash(parse(text))
    assert len(repr(found)) > 0


def test_a_subscription_without_triples() -> None:
    assert query("ASK {}").where == Block()
    assert query("SELECT ?x {}").projection == (Projection(Var("x")),)
    assert query("ASK { ?s ?p ?o }") != query("ASK { ?s ?p ?q }")
