"""An instance of a template is what one gets by writing the values into the text and reading that."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.lang.query_texts import queries

import tidings
from tidings.errors import ParameterError, SubscriptionError
from tidings.lang import parse
from tidings.lang.gtopss import GtopssParser
from tidings.lang.ops import OpsParser
from tidings.lang.pattern import Query
from tidings.lang.sparql import SparqlParser
from tidings.lang.templates import Template
from tidings.rdf.event import Event

_SLOW = settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
_PARSERS: dict[str, Any] = {"sparql": SparqlParser, "ops": OpsParser, "gtopss": GtopssParser}

_P = "PREFIX : <http://e.x/>\n"
_TEXTS = {
    "ops": [
        _P
        + "(_:H, ?1, (:Selling, :target, :Computer))\n(_:H, ?2, (:Selling, :price, xsd:decimal), ?2 < 400 && ?2 != 7)",
        _P + '(_:H, :rio, (:A, :p, :B)) AND (:rio, ?x, (:B, :q, xsd:string), regex(?x, "a.c", "i") || !(?x = "b"@en))',
        _P + '(_:H, "text", (owl:Thing, :p, rdfs:Literal)), (_:H, 5, (:A, <http://e.x/q>, xsd:integer))',
    ],
    "gtopss": [
        _P + '(?y, :by, "Arno Jacobsen", {?y <= :Paper}, {}) (?y, :at, :sigmod) (:sigmod, :year, ?x, {}, {?x > 1999})',
        _P + '(?x, a, :City, {?x != :rio, ?x >= <http://e.x/c>}) (:a, ?p, "2026-05-01"^^xsd:date)',
    ],
}
_VALUES: dict[str, list[tuple[object, str]]] = {
    "iri": [(i, f"<{i}>") for i in (
        "http://e.x/a", "urn:x:y", "http://e.x/a>b".replace(">", "%3E"), "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "http://www.w3.org/2001/XMLSchema#string", "http://www.w3.org/2001/XMLSchema#integer", "http://東京/ß?q='$x'")],
    "string": [
        ("w", '"w"'), ("two words", '"two words"'), ("", '""'), ("…", '"…"'), ("(a", '"(a"'), ("i", '"i"'),
        ('" } UNION { ?s ?p ?o', r'"\" } UNION { ?s ?p ?o"'), ("a\nb\\", r'"a\nb\\"'), ("\x00\x7f", '"\x00\\u007F"'),
        ("$p0 ?x # no comment", '"$p0 ?x # no comment"'), ("東京", '"東京"')],
    "number": [(5, "5"), (-5, " -5 "), ("+1.50", " +1.50 "), (0.5, "0.5"), ("1e6", "1e6"), (-0.0, "-0.0")],
    "boolean": [(True, "true"), ("False", "false")],
    "term": [
        ("<http://e.x/a>", "<http://e.x/a>"), ('"x"@en-GB', '"x"@en-gb'), (5, "5"), (True, "true"),
        ({"type": "uri", "value": "urn:a"}, "<urn:a>"),
        ({"type": "literal", "value": 'a"', "xml:lang": "EN"}, r'"a\""@en'),
        ({"type": "literal", "value": "1", "datatype": "urn:d"}, '"1"^^<urn:d>')],
}  # fmt: skip
_KINDS = {
    "iri": "iri",
    "pname": "iri",
    "string": "string",
    "integer": "number",
    "decimal": "number",
    "double": "number",
}
_KINDS |= {"TRUE": "boolean", "FALSE": "boolean"}


def made(text: str, dialect: str, dice: random.Random, *, terms: bool = False) -> Query | None:
    """Have some of the terms be parameters, give them values, and compare. The form; None where it is refused."""
    parser = _PARSERS[dialect](text.replace("$", "?"))
    parser.prologue()
    starts = parser.starts()
    kinds: dict[str, str] = {}
    values: dict[str, object] = {}
    template = written = text[: starts[parser.i]].replace("$", "?")
    end = starts[parser.i]
    for i in range(parser.i, len(parser.texts)):
        kind = _KINDS.get(parser.kinds[i])
        if kind is None or dice.random() < 0.7:
            continue
        kind = "term" if terms and dice.random() < 0.3 else kind
        name = f"p{len(kinds)}"
        if kinds and dice.random() < 0.2:
            name = dice.choice(list(kinds))
            kind = kinds[name]
        else:
            kinds[name], (values[name], value) = kind, dice.choice(_VALUES[kind])
            written_as[name] = value
        between = parser.text[end : starts[i]]
        template += f"{between}{dice.choice('?$')}{name}"
        written += f"{between} {written_as[name]}"
        end = starts[i] + len(parser.texts[i])
        if parser.text[end : end + 1] not in ("@", "^"):
            template, written = f"{template} ", f"{written} "
    template, written = template + parser.text[end:], written + parser.text[end:]
    try:
        found = Template(template, kinds, dialect)
    except SubscriptionError:
        return None
    try:
        instance = found.instance(values)
    except ParameterError:
        with pytest.raises(SubscriptionError):
            parse(written, dialect)
        return None
    assert instance.query == parse(written, dialect), (template, values)
    assert instance.query == parse(instance.text, dialect), (template, values)
    return instance.query


written_as: dict[str, str] = {}
COUNTS = {"made": 0, "refused": 0}


@_SLOW
@given(queries(), st.randoms(use_true_random=False), st.booleans())
def test_of_any_query(text: str, dice: random.Random, terms: bool) -> None:
    COUNTS["refused" if made(text, "sparql", dice, terms=terms) is None else "made"] += 1


def test_most_of_these_were_made() -> None:
    assert COUNTS["made"] > COUNTS["refused"] / 2


@_SLOW
@given(st.sampled_from([(d, text) for d, texts in _TEXTS.items() for text in texts]), st.randoms(use_true_random=False))
def test_of_the_papers_languages(text: tuple[str, str], dice: random.Random) -> None:
    made(text[1], text[0], dice, terms=dice.random() < 0.3)


# ----------------------------------------------------------------------------------------------------------- the answer

TEMPLATES = [
    Template("SELECT ?s { ?s <e:by> $who ; <e:says> ?t FILTER ftcontains(?t, $words ftAND ftNOT $no) }",
             {"who": "iri", "words": "words", "no": {"kind": "words", "default": "no"}}),
    Template("SELECT ?s ($who AS ?by) { ?s ?p $who OPTIONAL { ?s <e:n> ?n } FILTER(!BOUND(?n) || ?n < $most) }",
             {"who": "term", "most": {"kind": "number", "default": 2}}),
    Template("(_:H, $who, (owl:Thing, <e:by>, owl:Thing)) (_:H, ?n, (owl:Thing, <e:n>, xsd:integer), ?n < $most)",
             {"who": "iri", "most": {"kind": "number", "default": 2}}, "ops"),
    Template("(?s, <e:by>, $who) (?s, $p, ?n, {}, {?n < $most})",
             {"who": "iri", "p": {"kind": "iri", "default": "e:n"}, "most": "number"}, "gtopss"),
]  # fmt: skip
_WHO = [("e:a", "<e:a>"), ("e:b", "<e:b>")]
_TRIPLES = [
    *(f"{s} <e:by> <e:{w}> ." for s in ("_:H", "<e:s>") for w in "ab"),
    *(f'{s} <e:says> "{t}" .' for s in ("_:H", "<e:s>") for t in ("one", "Two words", "no one")),
    *(f'{s} <e:n> "{n}"^^<http://www.w3.org/2001/XMLSchema#integer> .' for s in ("_:H", "<e:s>") for n in (1, 2)),
]
_EVENTS = st.lists(st.sampled_from(_TRIPLES), min_size=1, unique=True).map(
    lambda lines: Event("e:event", "".join(f"{line}\n" for line in sorted(lines)))
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(TEMPLATES), st.sampled_from(_WHO), st.sampled_from(["one", "words", "no"]),
                       st.sampled_from([1, 2, "1.5", 9])), min_size=1, max_size=8),
    _EVENTS,
)  # fmt: skip
def test_the_answer_is_that_of_the_text(
    rows: list[tuple[Template, tuple[str, str], str, object]], event: Event
) -> None:
    fast, naive = tidings.Matcher("fast"), tidings.Matcher("naive")
    for number, (template, who, word, most) in enumerate(rows):
        values = {"who": who[1] if template.parameters["who"].kind == "term" else who[0], "words": word, "most": most}
        instance = template.instance({name: value for name, value in values.items() if name in template.parameters})
        fast.add(str(number), instance.query)
        naive.add(str(number), instance.text, instance.dialect)
    found, expected = ([(m.subscription, _sorted(m.bindings)) for m in e.match(event)] for e in (fast, naive))
    assert found == expected


def _sorted(bindings: Any) -> list[Any]:
    return sorted(sorted(row.items()) for row in bindings)
