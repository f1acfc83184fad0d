"""Templates: what they take for parameters and values, and what they say where something is wrong."""

from __future__ import annotations

import doctest
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from tidings.errors import ParameterError, SubscriptionError, UsageError
from tidings.lang import parameters, parse, templates
from tidings.lang.parameters import KINDS, MAX_VALUE, Kind, term_of
from tidings.lang.templates import MAX_PARAMETERS, Template

XSD = "http://www.w3.org/2001/XMLSchema#"
PAPERS = "SELECT ?paper { ?paper <e:by> ?author ; <e:in> $venue }"


def test_the_docstrings_run() -> None:
    assert doctest.testmod(templates).failed == doctest.testmod(parameters).failed == 0


def test_both_marks_are_the_same_parameter() -> None:
    template = Template("SELECT * { ?x <e:p> $a ; <e:q> ?a ; <e:r> ?b }", {"a": "iri"})
    instance = template.instance({"a": "e:x"})
    assert instance.text == "SELECT * { ?x <e:p> <e:x> ; <e:q> <e:x> ; <e:r> ?b }"
    assert instance.query == parse(instance.text)


def test_a_parameter_in_every_kind_of_place() -> None:
    text = """PREFIX : <e:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
        SELECT ($s AS ?said) { $i ?p ?t ; a $i ; $i/^$i* "x"^^$i , $s@en , $s^^xsd:token , $n .
        GRAPH $i { ?a !($i|a) ?b }
        FILTER(?p-$n<?b&&?t IN ($n, $d)) FILTER ftcontains(?t, $w ftNEAR[0,2] $s) VALUES ?v { $n $i UNDEF }
        FILTER regex(?t, $s) FILTER EXISTS { [ :p ($n $any) ] } } # $i in a comment"""
    kinds = {"i": "iri", "s": "string", "n": "number", "d": "date", "w": "words", "any": "term"}
    values = {"i": "e:i", "s": "a b", "n": -5, "d": "2026-05-01", "w": "word", "any": '"x"@en'}
    template = Template(text, kinds)
    instance = template.instance(values)
    assert instance.query == parse(instance.text)
    assert "?p- -5 <?b" in instance.text
    assert '"a b"@en , "a b"^^xsd:token' in instance.text
    assert instance.text.endswith("# $i in a comment")


def test_papers_languages() -> None:
    ops = Template("(_:H, ?x, ($c, $p, xsd:integer), ?x < $n)", {"c": "iri", "p": "iri", "n": "number"}, "ops")
    assert ops.instance({"c": "e:C", "p": "e:p", "n": 5}).query == parse(
        "(_:H, ?x, (<e:C>, <e:p>, xsd:integer), ?x < 5)", "ops"
    )
    with pytest.raises(ParameterError, match="parameter 'p': rdf:type cannot be the property"):
        ops.instance({"c": "e:C", "p": "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", "n": 5})
    gtopss = Template("(?x, $p, ?y, {}, {?y <= $c})", {"c": "term", "p": "iri"}, "gtopss")
    assert gtopss.instance({"c": "<e:C>", "p": "e:p"}).query == parse("(?x, <e:p>, ?y, {}, {?y <= <e:C>})", "gtopss")
    assert gtopss.instance({"c": 5, "p": "e:p"}).query == parse("(?x, <e:p>, ?y, {}, {?y <= 5})", "gtopss")


# --------------------------------------------------------------------------------------------------------------- values

GOOD: list[tuple[Kind, object, str]] = [
    ("iri", "http://e.x/a?b#c", "<http://e.x/a?b#c>"),
    ("string", 'a "b"\n', r'"a \"b\"\n"'),
    ("string", "", '""'),
    ("words", "Straße", '"Straße"'),
    ("integer", 5, f'"5"^^<{XSD}integer>'),
    ("integer", " -05 ", f'"-05"^^<{XSD}integer>'),
    ("number", 1.5, f'"1.5"^^<{XSD}decimal>'),
    ("number", "1.50", f'"1.50"^^<{XSD}decimal>'),
    ("number", "1e3", f'"1e3"^^<{XSD}double>'),
    ("number", 1e300, f'"1e+300"^^<{XSD}double>'),
    ("number", Decimal("7"), f'"7.0"^^<{XSD}decimal>'),
    ("number", 7, f'"7"^^<{XSD}integer>'),
    ("boolean", True, f'"true"^^<{XSD}boolean>'),
    ("boolean", "False", f'"false"^^<{XSD}boolean>'),
    ("date", "2026-05-01", f'"2026-05-01"^^<{XSD}date>'),
    ("date", date(2026, 5, 1), f'"2026-05-01"^^<{XSD}date>'),
    ("dateTime", "2026-05-01T12:00:00Z", f'"2026-05-01T12:00:00Z"^^<{XSD}dateTime>'),
    ("dateTime", datetime(2026, 5, 1, tzinfo=UTC), f'"2026-05-01T00:00:00+00:00"^^<{XSD}dateTime>'),
    ("term", "<e:a>", "<e:a>"),
    ("term", "'x'@EN", '"x"@en'),
    ("term", f'"5"^^<{XSD}integer>', f'"5"^^<{XSD}integer>'),
    ("term", True, f'"true"^^<{XSD}boolean>'),
    ("term", 5, f'"5"^^<{XSD}integer>'),
    ("term", date(2026, 5, 1), f'"2026-05-01"^^<{XSD}date>'),
    ("term", {"type": "uri", "value": "e:a"}, "<e:a>"),
    ("term", {"type": "literal", "value": "x", "xml:lang": "en-GB"}, '"x"@en-gb'),
    ("term", {"type": "literal", "value": "x", "datatype": f"{XSD}string"}, '"x"'),
]
BAD: list[tuple[Kind, object]] = [
    ("iri", ""), ("iri", "a"), ("iri", "<e:a>"), ("iri", "e:a> <e:b"), ("iri", "e:a b"), ("iri", 5), ("iri", None),
    ("iri", 'e:a"'), ("iri", "e:{x}"), ("iri", "e:\\u0041"), ("iri", "e:\ud800"), ("string", 5), ("string", "\ud800"),
    ("string", ["a"]), ("words", "…"), ("words", ""), ("integer", 1.0), ("integer", True), ("integer", "1.0"),
    ("integer", "٣"), ("integer", "5 && true"), ("integer", 1 << 20_000), ("number", float("nan")),
    ("number", float("inf")), ("number", Decimal("NaN")), ("number", "1,5"), ("number", "0x5"), ("number", ""),
    ("boolean", 1), ("boolean", "yes"), ("date", "2026-02-30"), ("date", "2026-05-01T12:00:00Z"), ("date", "today"),
    ("date", datetime(2026, 5, 1)), ("dateTime", "2026-05-01"), ("dateTime", date(2026, 5, 1)), ("term", "?x"),
    ("term", "ex:a"), ("term", "_:b"), ("term", "<e:a> <e:b>"), ("term", '"x" } {'), ("term", "a"), ("term", ""),
    ("term", {"type": "bnode", "value": "b"}), ("term", {"type": "uri", "value": "e:a", "xml:lang": "en"}),
    ("term", {"type": "literal", "value": "x", "xml:lang": "e n"}), ("term", {"type": "literal", "value": 5}),
    ("term", {"type": "literal", "value": "x", "datatype": "d> "}), ("term", {"type": {}, "value": "x"}),
    ("term", {"type": "literal", "value": "x", "datatype": "e:d", "xml:lang": "en"}), ("term", {}), ("term", object()),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "term"), GOOD, ids=range(len(GOOD)))
def test_values(kind: Kind, value: object, term: str) -> None:
    assert term_of("x", kind, value) == term


@pytest.mark.parametrize(("kind", "value"), BAD, ids=range(len(BAD)))
def test_values_that_are_none_of_their_kind(kind: Kind, value: object) -> None:
    with pytest.raises(ParameterError, match=r"parameter 'x': expected .*, found ") as raised:
        term_of("x", kind, value)
    str(raised.value).encode()


def test_a_value_has_an_end() -> None:
    template = Template("SELECT * { ?x <e:p> $a }", {"a": "string"})
    assert len(template.instance({"a": "x" * MAX_VALUE}).text) > MAX_VALUE
    with pytest.raises(ParameterError, match="parameter 'a': it has 65,537 characters"):
        template.instance({"a": "x" * (MAX_VALUE + 1)})


def test_many_large_values_are_too_much() -> None:
    names = [f"a{n}" for n in range(50)]
    template = Template(
        f"SELECT * {{ ?x <e:p> {', '.join('$' + name for name in names)} }}", dict.fromkeys(names, "string")
    )
    with pytest.raises(SubscriptionError, match="a subscription may have"):
        template.instance(dict.fromkeys(names, "x" * MAX_VALUE))


def test_what_is_given_is_what_there_is() -> None:
    template = Template(PAPERS, {"author": "iri", "venue": {"kind": "iri", "default": "e:iswc"}})
    assert template.instance({"author": "e:a"}).values == {"author": "e:a"}
    assert "<e:iswc>" in template.instance({"author": "e:a"}).text
    assert "<e:v>" in template.instance({"author": "e:a", "venue": "e:v"}).text
    with pytest.raises(ParameterError, match="parameter 'author' is missing: expected an absolute IRI"):
        template.instance({})
    with pytest.raises(ParameterError, match="there is no parameter 'autor'; there are author, venue"):
        template.instance({"author": "e:a", "autor": "e:a"})
    with pytest.raises(ParameterError, match=r"parameter 'venue': expected .* found null"):
        template.instance({"author": "e:a", "venue": None})


def test_what_depends_on_the_value() -> None:
    template = Template(
        "SELECT * { ?x <e:p> ?t FILTER regex(?t, $r) FILTER ftcontains(?t, $s) }", {"r": "string", "s": "string"}
    )
    assert template.instance({"r": "a+", "s": "w"})
    with pytest.raises(ParameterError, match="parameter 'r': "):
        template.instance({"r": "(a", "s": "w"})
    with pytest.raises(ParameterError, match="parameter 's': expected a string with a word in it"):
        template.instance({"r": "a", "s": "…"})


def test_a_value_is_never_read_as_anything_else() -> None:
    template = Template("SELECT ?x { ?x <e:says> $s FILTER ftcontains(?x, $w) }", {"s": "string", "w": "words"})
    evil = '" } UNION { ?s ?p ?o FILTER("" = "'
    instance = template.instance({"s": evil, "w": evil})
    plain = template.instance({"s": "x", "w": "x"})
    assert instance.query == parse(instance.text)
    [triple] = instance.query.where.triples  # type: ignore[union-attr]
    assert triple.o == '"\\" } UNION { ?s ?p ?o FILTER(\\"\\" = \\""'
    assert type(instance.query.where) is type(plain.query.where)


# ---------------------------------------------------------------------------------------------------------- definitions


@pytest.mark.parametrize(
    ("query", "kinds", "said"),
    [
        ("SELECT ?x ?a { ?x <e:p> ?a }", {"a": "iri"}, r"line 1, column 11: expected WHERE or '\{', found '\$a'"),
        ("SELECT ?a { ?x <e:p> ?a }", {"a": "iri"}, r"found '\$a'(.|\n)*no variable(.|\n)*\(\$a AS \?other\)"),
        ("SELECT * { ?x <e:p> $b }", {}, "column 21: there is no parameter 'b'"),
        ("SELECT * { ?x <e:p> ?b }", {"a": "iri"}, "the parameter 'a' does not occur"),
        ("SELECT * { ?x <e:p> ?b } # $a", {"a": "iri"}, "the parameter 'a' does not occur"),
        ('SELECT * { ?x <e:p> "$a" }', {"a": "iri"}, "the parameter 'a' does not occur"),
        ("SELECT * { ?x $a ?b }", {"a": "string"}, r"expected a property or a path, found '\$a'"),
        ("SELECT * { ?x $a ?b }", {"a": "term"}, r"expected a property or a path, found '\$a'"),
        ("SELECT * { ?x ?p ?b } LIMIT $a", {"a": "integer"}, r"expected a natural number, found '\$a'"),
        ("SELECT * { ?x ?p ?b FILTER ftcontains(?b, $a) }", {"a": "iri"}, r"expected a quoted string"),
        ("SELECT * { ?x ?p ?b FILTER ftcontains(?b, $a) }", {"a": "date"}, r"\(date\) cannot stand here"),
        ("SELECT * { ?x ?p $a }", {"a": "words"}, r"column 18: the parameter a \(words\) cannot stand here"),
        ("SELECT * { ?x ?p $a@en }", {"a": "date"}, r"\(date\) cannot stand here"),
        ("SELECT * { ?x ?p ?b FILTER $a(?b) }", {"a": "iri"}, r"unknown function \$a"),
        ('SELECT (GROUP_CONCAT(?b; SEPARATOR=$a) AS ?c) { ?x ?p ?b }', {"a": "string"}, r"column 36: .* cannot stand"),
        ("SELECT * { ?x ?p ?b", {}, "column 20"),
        ("SELECT * { BIND(1 AS ?a) }", {"a": "iri"}, r"expected a variable, found '\$a'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_template_has_a_place(query: str, kinds: dict[str, str], said: str) -> None:
    with pytest.raises(SubscriptionError, match=said):
        Template(query, kinds)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "'query' should be there"),
        ({"query": 5}, "'query' should be there"),
        ({"query": PAPERS, "parameters": []}, "'parameters' should be an object"),
        ({"query": PAPERS, "dialect": {}}, "'dialect' is one of"),
        ({"query": PAPERS, "kind": 5}, "there is no member 'kind'"),
        ({"query": PAPERS, "description": "x" * 1_001}, "description"),
        ({"query": PAPERS, "parameters": {"a b": "iri"}}, "cannot name a parameter"),
        ({"query": PAPERS, "parameters": {"é": "iri"}}, "cannot name a parameter"),
        ({"query": PAPERS, "parameters": {"a": "uri"}}, "parameter 'a': its kind is one of"),
        ({"query": PAPERS, "parameters": {"a": {"kind": {}}}}, "parameter 'a': its kind is one of"),
        ({"query": PAPERS, "parameters": {"a": {"kind": "iri", "defalt": 5}}}, "there is no 'defalt'"),
        ({"query": PAPERS, "parameters": {"a": {"kind": "iri", "default": None}}}, "null"),
        ({"query": PAPERS, "parameters": {"a": {"kind": "iri", "description": 5}}}, "description"),
        ({"query": PAPERS, "parameters": {f"a{n}": "iri" for n in range(MAX_PARAMETERS + 1)}}, "may have 100"),
    ],
)
def test_definitions_that_are_none(given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Template.of(given)


def test_a_default_is_of_its_kind() -> None:
    with pytest.raises(ParameterError, match="parameter 'author': expected an absolute IRI"):
        Template(PAPERS, {"author": {"kind": "iri", "default": "x"}, "venue": "iri"})


def test_what_is_told_makes_the_same_again() -> None:
    parameters = {"author": "iri", "venue": {"kind": "iri", "default": "e:v", "description": "Where."}}
    template = Template(PAPERS, parameters, description="Papers.")
    again = Template.of(template.told())
    assert again.to_json() == template.to_json()
    assert again.instance({"author": "e:a"}) == template.instance({"author": "e:a"})


def test_every_kind_is_said_in_words() -> None:
    assert all(parameters.wanted(kind) for kind in KINDS)
