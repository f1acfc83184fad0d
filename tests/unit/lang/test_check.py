"""What `check` finds in single subscriptions, and what it does not."""

from __future__ import annotations

import json

import pytest

from tidings.errors import SubscriptionError
from tidings.lang import parse
from tidings.lang.check import Problem, check, problem_of
from tidings.lang.files import Subscription
from tidings.lang.pattern import Dialect
from tidings.ontology import Ontology
from tidings.rdf.terms import RDF_TYPE, RDFS, SUBCLASS_OF, Term, iri

EX = "http://e.x/"
PREFIX = f"PREFIX ex: <{EX}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
TUPLES = f"PREFIX : <{EX}>\n"
DOMAIN, RANGE = iri(f"{RDFS}domain"), iri(f"{RDFS}range")


def ex(name: str) -> Term:
    return iri(EX + name)


ONTOLOGY = Ontology.of(
    [
        (ex("Notebook"), SUBCLASS_OF, ex("Computer")),
        (ex("Computer"), SUBCLASS_OF, ex("Product")),
        (ex("Book"), SUBCLASS_OF, ex("Product")),
        (ex("price"), DOMAIN, ex("Product")),
        (ex("price"), RANGE, iri("http://www.w3.org/2001/XMLSchema#decimal")),
        (ex("name"), DOMAIN, ex("Person")),
        (ex("seller"), DOMAIN, ex("Product")),
        (ex("seller"), RANGE, ex("Person")),
        (ex("joe"), RDF_TYPE, ex("Person")),
        (ex("target"), RANGE, ex("Product")),
    ]
)


def problems(text: str, dialect: Dialect = "sparql", ontology: Ontology | None = None) -> list[Problem]:
    prefix = PREFIX if dialect == "sparql" else TUPLES
    return list(check([Subscription("s", parse(prefix + text, dialect), prefix + text, dialect)], ontology))


def found(text: str, dialect: Dialect = "sparql", ontology: Ontology | None = None) -> list[tuple[str, str]]:
    return [(p.code, p.message) for p in problems(text, dialect, ontology)]


def codes(text: str, dialect: Dialect = "sparql", ontology: Ontology | None = None) -> list[str]:
    return [p.code for p in problems(text, dialect, ontology)]


# --------------------------------------------------------------------------------------------------------------- names


def test_an_unknown_property_with_a_near_name_and_its_place() -> None:
    (problem,) = problems("ASK { ?x a ex:Notebook ;\n  ex:pirce ?p }", ontology=ONTOLOGY)
    assert (problem.severity, problem.code) == ("warning", "unknown-property")
    assert problem.message == "unknown property ex:pirce, did you mean ex:price?"
    assert problem.span is not None
    assert (problem.span.line, problem.span.column, problem.span.text) == (3, 3, "  ex:pirce ?p }")


def test_unknown_classes() -> None:
    assert found("ASK { ?x a ex:Notebok }", ontology=ONTOLOGY) == [
        ("unknown-class", "unknown class ex:Notebok, did you mean ex:Notebook?")
    ]
    assert found("ASK { ?x a ex:price }", ontology=ONTOLOGY) == [
        ("unknown-class", "ex:price is a property, not a class")
    ]
    assert found("ASK { ?x ex:Book ?y }", ontology=ONTOLOGY) == [
        ("unknown-property", "ex:Book is a class, not a property")
    ]


def test_names_are_found_wherever_they_stand() -> None:
    text = """ASK { ?x ex:price ?p . ?x (ex:a|^ex:b/ex:c*)+ ?y OPTIONAL { ?x ex:d ?z }
              FILTER NOT EXISTS { ?x !(ex:e|^ex:f) ?w . { SELECT ?x { ?x ex:g ?v } } } }"""
    unknown = [m.split()[2].rstrip(",") for code, m in found(text, ontology=ONTOLOGY) if code == "unknown-property"]
    assert unknown == ["ex:a", "ex:b", "ex:c", "ex:d", "ex:e", "ex:f", "ex:g"]


def test_known_vocabularies_need_no_ontology() -> None:
    text = "ASK { ?x a <http://www.w3.org/2002/07/owl#Class> ; <http://www.w3.org/2000/01/rdf-schema#label> ?l }"
    assert found(text, ontology=ONTOLOGY) == []


def test_without_an_ontology_names_are_not_checked() -> None:
    assert found("ASK { ?x ex:pirce ?p }") == []
    assert found("ASK { ?x ex:pirce ?p }", ontology=Ontology.empty()) == []


def test_names_in_the_tuple_dialects() -> None:
    (problem,) = problems("(_:H, ?1, (owl:Thing, target, Bok))", "ops", ONTOLOGY)
    assert problem.message == "unknown class :Bok, did you mean :Book?"
    assert problem.span is not None
    assert (problem.span.line, problem.span.column) == (2, 31)
    assert found("(?x, price, ?p, {?x <= Bok})", "gtopss", ONTOLOGY) == [
        ("unknown-class", "unknown class :Bok, did you mean :Book?")
    ]
    assert found("(?x, price, ?p, {?x > joe})", "gtopss", ONTOLOGY) == []


# -------------------------------------------------------------------------------------------------------- concept model


@pytest.mark.parametrize(
    "text",
    [
        "ASK { ?x a ex:Book ; ex:name ?n }",
        "ASK { ?x ex:name ?n { ?x a ex:Book } }",
        "ASK { ?x a ex:Book OPTIONAL { ?x ex:name ?n } }",
        "ASK { ?x a ex:Book FILTER EXISTS { ?x ex:name ?n } }",
        "ASK { ?x ex:seller ?y . ?y a ex:Book }",
        "ASK { ?x ex:seller 5 }",
        'ASK { ?x ex:price "5" }',
        "ASK { ex:joe ex:price ?p }",
    ],
)
def test_outside_the_concept_model(text: str) -> None:
    assert codes(text, ontology=ONTOLOGY) == ["outside-concept-model"]


@pytest.mark.parametrize(
    "text",
    [
        "ASK { ?x a ex:Notebook ; ex:price ?p ; ex:seller ex:joe }",
        "ASK { ?x a ex:Product, ex:Person ; ex:name ?n }",
        "ASK { ?x a ex:Thing ; ex:price 5 }",
        "ASK { ?x ex:price ?p }",
        "ASK { ?y a ex:Book { SELECT ?z { ?y ex:name ?z } } ?y ex:seller ?z }",
        "ASK { ?x ex:seller ?y MINUS { ?x a ex:Person } }",
        "ASK { ?x ex:seller ?y OPTIONAL { ?x a ex:Person } }",
    ],
)
def test_inside_the_concept_model(text: str) -> None:
    assert "outside-concept-model" not in codes(text, ontology=ONTOLOGY)


def test_a_meta_statement_of_ops_is_checked_as_written() -> None:
    (problem,) = problems("(_:H, ?1, (Book, name, xsd:string))", "ops", ONTOLOGY)
    assert problem.message == "no meta-statement allows (:Book, :name, xsd:string)"
    assert problem.hint == "declared: (:Person, :name, …)"


# ------------------------------------------------------------------------------------------------------- contradictions

NUMBERS = [
    ("?x < 3 && ?x > 5", True),
    ("?x < 3 && 5 < ?x", True),
    ("?x = 1 && ?x = 2", True),
    ("?x = 1 && ?x != 1", True),
    ("?x = 1 && ?x != 1.0", True),
    ("?x < 3 && ?x >= 3", True),
    ("?x < 3 && ?x >= 3.0", True),
    ("?x <= 3 && ?x > 3", True),
    ("?x <= 3 && ?x >= 3", False),
    ("?x > 3 && ?x < 5", False),
    ("?x = 3 && ?x >= 3", False),
    ("?x != 3 && ?x != 4", False),
    ("?x != 3 && ?x > 5", False),
    # As floats the two are one number, and a float is compared as floats are.
    ("?x = 1 && ?x = 1.00000000001", False),
    ("?x >= 1.00000000001 && ?x <= 1", False),
    ("?x > 1.00000000001 && ?x < 1", True),
    ("?x = 1e0 && ?x = 1.00000000001", False),
    ("?x < 1e0 && ?x >= 1.0", False),
    ("?x < 1e0 && ?x > 2", True),
    ("?x >= 1e300 && ?x <= 1e200", False),
    ('?x > "NaN"^^xsd:double && ?x < 3', False),
    ('?x > "INF"^^xsd:double && ?x < 3', True),
    # Kinds exclude each other, but not in !=.
    ('?x < 3 && ?x = "a"', True),
    ("?x = ex:a && ?x = ex:b", True),
    ("?x = ex:a && ?x < 3", True),
    ('?x != 3 && ?x = "a"', False),
    ('?x < "b" && ?x > "c"', True),
    ('?x = "a"@en && ?x = "b"@en', False),
    ("?x = true && ?x = false", True),
    ('?x < "2024-01-01T00:00:00Z"^^xsd:dateTime && ?x > "2024-01-01T00:00:00+01:00"^^xsd:dateTime', False),
    ('?x < "2024-01-01T00:00:00+01:00"^^xsd:dateTime && ?x > "2024-01-01T00:00:00Z"^^xsd:dateTime', True),
    ('?x < "2024-01-01"^^xsd:date && ?x > "2024-01-02"^^xsd:date', False),
    # Alternatives.
    ("(?x < 3 || ?x < 4) && ?x > 5", True),
    ("(?x < 3 || ?x < 9) && ?x > 5", False),
    ("?x IN (1, 2) && ?x > 5", True),
    ("?x IN (1, 7) && ?x > 5", False),
    ("?x < 3 || ?x > 5", False),
    ("!(?x < 3) && ?x < 2", False),
    ("false", True),
]


@pytest.mark.parametrize(("condition", "contradictory"), NUMBERS)
def test_contradictory_filters(condition: str, contradictory: bool) -> None:
    assert codes(f"ASK {{ ?s ex:p ?x FILTER({condition}) }}") == ["contradictory-filter"] * contradictory


def test_filters_are_seen_together_across_a_group() -> None:
    assert found("ASK { ?s ex:p ?x FILTER(?x < 3) { ?t ex:q ?x FILTER(?x > 5) } }") == [
        ("contradictory-filter", "?x < 3 and ?x > 5 contradict each other, so no event matches")
    ]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("ASK { ?s ex:p ?y OPTIONAL { ?s ex:p ?x FILTER(?x < 3 && ?x > 5) } }", "an OPTIONAL"),
        ("ASK { { ?s ex:p ?x FILTER(?x < 3 && ?x > 5) } UNION { ?s ex:q ?x } }", "a choice of a UNION"),
        ("ASK { ?s ex:p ?y FILTER NOT EXISTS { ?s ex:p ?x FILTER(?x < 3 && ?x > 5) } }", "the pattern of an EXISTS"),
        ("ASK { ?s ex:p ?y MINUS { ?s ex:p ?x FILTER(?x < 3 && ?x > 5) } }", "a MINUS"),
        ("ASK { ?s ex:q ?y { SELECT ?s { ?s ex:p ?x FILTER(?x < 3 && ?x > 5) } } }", "a sub-select"),
    ],
)
def test_a_part_without_solutions_is_named(text: str, part: str) -> None:
    assert [message for code, message in found(text) if code == "contradictory-filter"] == [
        f"?x < 3 and ?x > 5 contradict each other, so {part} never has a solution"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "ASK { ?s ex:p ?y FILTER(?y < 3) OPTIONAL { ?s ex:q ?x FILTER(?x > 5) } }",
        "ASK { { ?s ex:p ?x FILTER(?x < 3) } UNION { ?s ex:p ?x FILTER(?x > 5) } }",
        "ASK { ?s ex:p ?x FILTER(?x < 3) { SELECT ?s { ?s ex:p ?x FILTER(?x > 5) } } }",
        "ASK { ?s ex:p ?x FILTER(?x < 3) FILTER NOT EXISTS { ?s ex:p ?x FILTER(?x > 5) } }",
        "ASK { ?s ex:p ?x FILTER(?x < 3) MINUS { ?s ex:p ?x FILTER(?x > 5) } }",
    ],
)
def test_parts_that_may_differ_do_not_contradict(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    ("constraints", "contradictory"),
    [
        ("?y < 30, ?y > 50", True),
        # A text such as "15" is below "20" and above "100".
        ("?y < 20, ?y > 100", False),
        ("?y = 1, ?y = 2", True),
        ("?y = 1, ?y = 1.0", False),
        ("?y < 3, ?y <= A", True),
        ("?y = A, ?y != A", True),
        ("?y < A, ?y > A", False),
        ('?y < 3, ?y > "4"', False),
    ],
)
def test_contradictory_constraints(constraints: str, contradictory: bool) -> None:
    assert codes(f"(?x, p, ?y, {{}}, {{{constraints}}})", "gtopss") == ["contradictory-filter"] * contradictory


def test_contradictory_conditions_of_ops() -> None:
    text = "(_:H, ?1, (A, p, B), ?1 < 3) (_:H, ?2, (A, q, B)) (?2, ?1, (A, r, B), ?1 > 5)"
    assert codes(text, "ops") == ["contradictory-filter"]


# --------------------------------------------------------------------------------------------------------------- shape


@pytest.mark.parametrize(
    ("text", "product"),
    [
        ("ASK { ?a ex:p ?b . ?c ex:q ?d }", True),
        ("ASK { ?a ex:p ?b . ?c ex:q ?d FILTER(?b = ?d) }", False),
        ("ASK { ?a ex:p ?b . ?c ex:q ?d FILTER(?b = 5) }", True),
        ("ASK { ?a ex:p ?b . ?b ex:q ?d }", False),
        ("ASK { ?a ex:p ?b { ?c ex:q ?d } }", True),
        ("ASK { ?a ex:p ?b { ?a ex:q ?d } }", False),
        ("ASK { ?a ex:p ?b OPTIONAL { ?c ex:q ?d } }", True),
        ("ASK { ?a ex:p ?b OPTIONAL { ?a ex:q ?d } }", False),
        ("ASK { { ?a ex:p ?b . ?c ex:q ?d } UNION { ?a ex:p ?c } }", True),
        ("ASK { ?a ex:p ?b BIND(?b + 1 AS ?c) ?d ex:q ?c }", False),
        ("ASK { ?a ex:p ?b MINUS { ?c ex:q ?d } }", False),
        ("ASK { GRAPH ?g { ?a ex:p ?b } ?g ex:q ?c }", False),
        ("ASK { GRAPH ?g { ?a ex:p ?b . ?c ex:q ?d } }", True),
        ("ASK { ex:joe ex:p ?b . ex:joe ex:q ?d }", False),
        ("ASK { ex:joe ex:p ex:a . ?c ex:q ?d }", False),
        ("ASK { ?a a ex:Book . ?b a ex:Book }", True),
        ("ASK { ?a ex:p+ ?b . ?c ex:q ?d }", True),
        ("ASK { ?a ex:p [ ex:q ?b ] }", False),
        ("ASK { VALUES ?a { ex:x } ?a ex:p ?b }", False),
    ],
)
def test_cartesian_products(text: str, product: bool) -> None:
    assert codes(text) == ["cartesian-product"] * product


def test_wildcards_are_named_as_they_were_written() -> None:
    (problem,) = problems("ASK { * ex:p * . * ex:q * }")
    assert problem.message.endswith("{* *} × {* *}")


def test_the_home_vertex_links() -> None:
    assert codes("(_:H, ?1, (A, p, B)) (_:H, ?2, (A, q, B))", "ops") == []
    assert codes("(?a, p, ?b) (?c, q, ?d)", "gtopss") == ["cartesian-product"]


def test_variables_that_never_bind() -> None:
    (problem,) = problems("SELECT ?pirce { ?x ex:p ?price }")
    assert (problem.code, problem.hint) == ("never-bound", "did you mean ?price?")
    assert codes("SELECT ?x (STR(?y) AS ?z) { ?x ex:p ?w }") == ["never-bound"]
    assert codes("SELECT ?x { { SELECT ?y { ?x ex:p ?y } } }") == ["never-bound"]
    assert codes("SELECT ?v { ?x ex:p ?y FILTER NOT EXISTS { ?x ex:q ?v } }") == ["never-bound"]
    assert codes("CONSTRUCT { ?x ex:q ?z } WHERE { ?x ex:p ?y }") == ["never-bound"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x { ?x ex:p ?y }",
        "SELECT ?z { ?x ex:p ?y BIND(?y + 1 AS ?z) }",
        "SELECT ?z { ?x ex:p ?y OPTIONAL { ?x ex:q ?z } }",
        "SELECT (?y + 1 AS ?z) (?z + 1 AS ?w) { ?x ex:p ?y }",
        "SELECT ?v { ?x ex:p ?y } VALUES ?v { 1 }",
        "SELECT ?k (COUNT(?y) AS ?n) { ?x ex:p ?y } GROUP BY (STR(?x) AS ?k)",
        "SELECT (COALESCE(?none, 1) AS ?z) { ?x ex:p ?y }",
        "CONSTRUCT { ?x ex:q [] } WHERE { ?x ex:p ?y }",
    ],
)
def test_variables_that_bind(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ASK { ?x ex:p ?y FILTER(?z > 3) }", True),
        ("ASK { ?x ex:p ?y FILTER(?y > 3 && ?z > 3) }", True),
        ("ASK { ?x ex:p ?y FILTER ftcontains(?z, 'a') }", True),
        ("ASK { ?x ex:p ?y OPTIONAL { ?x ex:q ?w FILTER(?y > 3) } }", False),
        ("ASK { ?x ex:p ?y { ?x ex:q ?w FILTER(?y > 3) } }", True),
        ("ASK { ?x ex:p ?y FILTER EXISTS { ?x ex:q ?w FILTER(?y > ?w) } }", False),
        ("ASK { ?x ex:p ?y FILTER(!BOUND(?z)) }", False),
        ("ASK { ?x ex:p ?y FILTER(?y > 3 || ?z > 3) }", False),
        ("ASK { ?x ex:p ?y FILTER(1 IN (?z, 1)) }", False),
    ],
)
def test_filters_over_variables_that_never_bind(text: str, problem: bool) -> None:
    assert codes(text) == ["unbound-in-filter"] * problem


@pytest.mark.parametrize(
    ("text", "everything"),
    [
        ("ASK {}", True),
        ("ASK { ?s ?p ?o }", True),
        ("ASK { * * * }", True),
        ("ASK { ?s ?p ?o . ?s ?q ?r }", True),
        ("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", True),
        ("ASK { ?s ?p ?o OPTIONAL { ?s ex:p ?x } }", True),
        ("ASK { { ?s ex:p ?o } UNION { ?s ?p ?o } }", True),
        ("ASK { GRAPH ?g { ?s ?p ?o } }", True),
        ("ASK { ?s ex:p* ?o }", True),
        ("ASK { ?s ?p ?s }", False),
        ("ASK { ?s ?p ?o . ?o ?q ?r }", False),
        ("ASK { ?s ?p ?o FILTER(?o > 3) }", False),
        ("ASK { ?s ?p 5 }", False),
        ("ASK { GRAPH ?s { ?s ?p ?o } }", False),
        ("SELECT * { ?s ?p ?o } OFFSET 1", False),
        ("ASK { ?s ex:p+ ?o }", False),
        ("SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING(COUNT(*) > 3)", False),
    ],
)
def test_matches_everything(text: str, everything: bool) -> None:
    assert ("matches-everything" in codes(text)) == everything


def test_limit_zero_never_matches() -> None:
    assert codes("SELECT * { ?s ex:p ?o } LIMIT 0") == ["never-matches"]


# --------------------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    "text",
    [
        "ASK { ?s ex:p ?x FILTER(" + "!(?x < 1 || " * 70 + "?x > 5" + ")" * 70 + ") }",
        "ASK { ?s ex:p ?x FILTER(" + "(?x < 1 && (?x = 2 || " * 45 + "?x > 5" + "))" * 45 + ") }",
        "ASK { " + "{ ?s ex:p ?x OPTIONAL " * 40 + "{ ?s ex:p ?x }" + "}" * 40 + " }",
        "ASK { " + "?s ex:p ?x FILTER EXISTS { " * 40 + "?s ex:q ?x" + " }" * 40 + " }",
        "ASK { ?s " + "(^" * 70 + "ex:p" + ")*" * 70 + " ?x }",
        "ASK { ?s ex:p ?x FILTER ftcontains(?x, " + "ftNOT (" * 45 + '"a" ftOR "b"' + ")" * 45 + ") }",
        "ASK { " + " ".join(f"OPTIONAL {{ ?s ex:p{i} ?x{i} }}" for i in range(100)) + " }",
        "ASK { " + " . ".join(f"?x{i} ex:p ?x{i + 1}" for i in range(1000)) + " }",
        "ASK { ?s ex:p ?x FILTER(" + " || ".join(f"?x = {i}" for i in range(2000)) + ") }",
    ],
)
def test_deep_and_long_forms(text: str) -> None:
    """Twice, under other names, so that the search for duplicates has its share."""
    texts = [PREFIX + text, PREFIX + text.replace("?s", "?t")]
    subscriptions = [Subscription(str(i), parse(t), t) for i, t in enumerate(texts)]
    assert any(p.code == "duplicate" for p in check(subscriptions, ONTOLOGY))


# ------------------------------------------------------------------------------------------------------------- problems


def test_a_problem_is_plain_data() -> None:
    (problem,) = problems("ASK { ?x ex:pirce ?p }", ontology=ONTOLOGY)
    assert json.loads(json.dumps(problem.to_json())) == {
        "subscription": "s",
        "severity": "warning",
        "code": "unknown-property",
        "message": "unknown property ex:pirce, did you mean ex:price?",
        "hint": None,
        "source": None,
        "row": None,
        "line": 2,
        "column": 10,
    }


def test_a_problem_shows_itself_like_an_error() -> None:
    text = "ASK { ?x <http://e.x/p> ?y . ?z <http://e.x/q> ?w }"
    (one,) = check([Subscription("s", parse(text), text, source="s.rq")])
    assert str(one).splitlines()[0].startswith("s.rq: subscription 's': warning: the patterns fall into 2 parts")
    (row,) = check([Subscription("s", parse(text), text, source="s.csv", line=7)])
    assert str(row).splitlines()[0].startswith("s.csv:7: subscription 's': warning: the patterns fall into 2 parts")


def test_an_error_becomes_a_problem() -> None:
    error = SubscriptionError("no", source="s.csv", id="x", row=3)
    problem = problem_of(error)
    assert (problem.subscription, problem.severity, problem.code) == ("x", "error", "syntax")
    assert str(problem) == "s.csv:3: subscription 'x': error: no [syntax]"
