"""The conditions of subscriptions one can read, exactly; and that they hold wherever the subscriptions match."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from tests.property.brute_conditions import holds

from tidings.index.atoms import ALWAYS, NEVER, All, Atom, Condition, Kind, Some
from tidings.index.conditions import EVERY_RESOURCE, necessary, simplified
from tidings.lang import parse
from tidings.lang.pattern import Block, Dialect, Query, TriplePattern, Var
from tidings.match.meaning import Meaning
from tidings.match.verify import Prepared
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import RDF_TYPE, Term, Triple, iri

NS = "http://e.x/"
PREFIXES = f"PREFIX : <{NS}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "


def shown(condition: Condition) -> str:
    """Short names, `&` and `|`."""
    match condition:
        case Atom(kind=kind, first=first, second=second):
            names = [_short(name) for name in (first, second) if name]
            return f"{kind.name}({' '.join(names)})"
        case All(items=items):
            return "(" + " & ".join(map(shown, items)) + ")" if items else "always"
        case Some(items=items):
            return "(" + " | ".join(map(shown, items)) + ")" if items else "never"


def _short(name: str) -> str:
    if name == RDF_TYPE:
        return "a"
    return name.replace(f"<{NS}", "").replace("<http://www.w3.org/2001/XMLSchema#", "xsd:").replace(">", "")


SPARQL = {
    # constants of triples
    "{ ?x :p ?y }": "PROPERTY(p)",
    "{ ?x :p :o }": "OBJECT(p o)",
    "{ :s :p ?y }": "SUBJECT(s p)",
    "{ :s :p :o }": "(SUBJECT(s p) & OBJECT(p o))",
    "{ :s ?p ?o }": "NODE_S(s)",
    '{ ?s * "text"@EN }': 'NODE_O("text"@en)',
    "{ :s ?p 05 }": '(NODE_S(s) & NODE_O("05"^^xsd:integer))',
    "{ ?s ?p ?o }": "always",
    "{ ?x a :C ; :p ?y . ?y :p :o }": "(OBJECT(a C) & OBJECT(p o))",
    "{ }": "always",
    # paths
    "{ :s :p+ :o }": "(SUBJECT(s p) & OBJECT(p o))",
    "{ ?x :p+/:q ?y }": "(PROPERTY(q) & PROPERTY(p))",
    "{ :s :p*/:q ?y }": "PROPERTY(q)",
    "{ ?x :p* :o }": "always",
    "{ :s :p* :s }": "always",
    "{ :s :p* :o }": "(SUBJECT(s p) & OBJECT(p o))",
    "{ :s (:p|^:q) ?y }": "(SUBJECT(s p) | OBJECT(q s))",
    "{ ?x (:p|:q)+ :o }": "(OBJECT(p o) | OBJECT(q o))",
    "{ ?x :p|:q? ?y }": "always",
    "{ ?x !(:p|^:q) :o }": "(NODE_O(o) | NODE_S(o))",
    "{ ?x !:p ?y }": "always",
    # what is joined, and what need not be there
    "{ ?x :p ?y OPTIONAL { ?x :q ?z } }": "PROPERTY(p)",
    "{ OPTIONAL { ?x :q ?z } ?x :p ?y }": "PROPERTY(p)",
    "{ ?x :p ?y MINUS { ?x :q ?y } }": "PROPERTY(p)",
    "{ GRAPH ?g { ?x :p ?y } GRAPH :g { ?x :q :o } }": "(PROPERTY(p) & OBJECT(q o))",
    "{ { ?x :p ?y } UNION { ?x :q :o } ?x :r ?z }": "(PROPERTY(r) & (PROPERTY(p) | OBJECT(q o)))",
    "{ { ?x :p ?y } UNION { ?x :p :o } }": "PROPERTY(p)",
    "{ { ?x :p ?y } UNION { ?x ?q ?y } }": "always",
    "{ { ?x :p ?y } UNION { ?x :q ?y } ?x :p :o }": "OBJECT(p o)",
    "{ { ?x :p ?y . ?y :q ?z } UNION { ?x :r ?y } ?z :p :o }": "(OBJECT(p o) & (PROPERTY(q) | PROPERTY(r)))",
    # equality
    "{ ?x :p ?y FILTER(?y = :o) }": "OBJECT(p o)",
    '{ ?x :p ?y FILTER("o" = ?y) }': 'OBJECT(p "o")',
    '{ ?x :p ?y FILTER(?y = "o"@en) }': 'OBJECT(p "o"@en)',
    '{ ?x :p ?y FILTER(?y = "o"^^:dt) }': 'OBJECT(p "o"^^dt)',
    '{ ?x :p ?y FILTER(?y = "o"^^xsd:int) }': 'OBJECT(p "o"^^xsd:int)',
    "{ ?x :p ?y FILTER(?y = 5) }": "PROPERTY(p)",
    "{ ?x :p ?y FILTER(?y IN (:o, 5)) }": "PROPERTY(p)",
    "{ ?x :p ?y FILTER(?y = true) }": "PROPERTY(p)",
    "{ ?x :p ?y FILTER(sameTerm(?y, 5)) }": 'OBJECT(p "5"^^xsd:integer)',
    '{ ?x :p ?y FILTER(?y IN (:o, "o")) }': '(PROPERTY(p) & (OBJECT(p o) | OBJECT(p "o")))',
    "{ ?x ?q ?y . ?y :p ?z FILTER(?q = :q && ?x = :s && ?y = :o) }": "(SUBJECT(s q) & OBJECT(q o) & SUBJECT(o p))",
    "{ ?x :p ?y FILTER(?y = :o || ?x = :s) }": "(PROPERTY(p) & (OBJECT(p o) | SUBJECT(s p)))",
    "{ ?x :p ?y FILTER(?y = :o || ?y > 5) }": "PROPERTY(p)",
    "{ ?x :p ?y FILTER(?y = :o && ?y = :n) }": "never",
    "{ ?x :p ?y FILTER(?y != :o) }": "PROPERTY(p)",
    "{ ?x :p ?y FILTER(!(?y = :o)) }": "PROPERTY(p)",
    "{ ?x :p ?y FILTER(!(?y != :o || ?x NOT IN (:s))) }": "(OBJECT(p o) & SUBJECT(s p))",
    "{ ?x :p ?y FILTER(!(?y != :o && !(?x = :s))) }": "(PROPERTY(p) & (OBJECT(p o) | SUBJECT(s p)))",
    "{ ?x :p+ ?y FILTER(?y = :o) }": "OBJECT(p o)",
    "{ ?x :p* ?y FILTER(?y = :o && ?x = :s) }": "(SUBJECT(s p) & OBJECT(p o))",
    "{ ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(?z = :o && ?y = :n) }": "OBJECT(p n)",
    "{ ?x :p ?y OPTIONAL { ?x :q ?z FILTER(?y = :o) } }": "PROPERTY(p)",
    "{ { ?x :p ?y } UNION { ?x :q ?z } FILTER(?x = :s) }": "(SUBJECT(s p) | SUBJECT(s q))",
    "{ { ?x :p ?y FILTER(?y = :o) } ?y :q ?z }": "(OBJECT(p o) & SUBJECT(o q))",
    "{ ?x :p ?y BIND(:o AS ?z) ?z :q ?y }": "(PROPERTY(p) & SUBJECT(o q))",
    "{ ?x :p ?y FILTER(false) }": "never",
    "{ ?x :p ?y FILTER(STR(?y) = 'o' && REGEX(?y, 'o')) }": "PROPERTY(p)",
    # inline data
    "{ VALUES ?x { :s } ?x :p ?y }": "SUBJECT(s p)",
    "{ VALUES ?y { 5 :o } ?x :p ?y }": '(PROPERTY(p) & (OBJECT(p "5"^^xsd:integer) | OBJECT(p o)))',
    "{ VALUES (?x ?y) { (:s :o) (:t UNDEF) } ?x :p ?y }": (
        "(PROPERTY(p) & (SUBJECT(t p) | (SUBJECT(s p) & OBJECT(p o))))"
    ),
    "{ VALUES ?y { :o UNDEF } ?x :p ?y }": "PROPERTY(p)",
    "{ VALUES ?y { } ?x :p ?y }": "never",
    "{ VALUES ?y { :o :n } ?x :p ?y FILTER(?y = :o) }": "OBJECT(p o)",
    "{ ?x :p ?y } VALUES ?x { :s :t }": "(PROPERTY(p) & (SUBJECT(s p) | SUBJECT(t p)))",
    # EXISTS
    "{ ?x :p ?y FILTER EXISTS { ?x :q :o } }": "(PROPERTY(p) & OBJECT(q o))",
    "{ ?x :p ?y FILTER NOT EXISTS { ?x :q :o } }": "PROPERTY(p)",
    "{ ?x :p ?y FILTER(!(NOT EXISTS { ?x :q :o })) }": "(PROPERTY(p) & OBJECT(q o))",
    "{ ?x :p ?y FILTER(?y = 5 || EXISTS { ?x :q :o }) }": "PROPERTY(p)",
    # full text
    '{ ?x :p ?y FILTER ftcontains(?y, "Rio Games") }': "(WORD(p rio) & WORD(p games))",
    '{ ?x ?p ?y FILTER ftcontains(?y, "Rio") }': "ANYWORD(rio)",
    '{ ?x :p ?y . ?z ?q ?y FILTER ftcontains(?y, "Rio") }': "WORD(p rio)",
    '{ ?x :p ?y FILTER ftcontains(?y, "a" ftOR "b" ftAND "c") }': (
        "(PROPERTY(p) & (WORD(p a) | (WORD(p b) & WORD(p c))))"
    ),
    '{ ?x :p ?y FILTER ftcontains(?y, "a" ftNEAR[0,2] ("b" ftOR "c")) }': "(WORD(p a) & (WORD(p b) | WORD(p c)))",
    '{ ?x :p ?y FILTER ftcontains(?y, "a" ftAND ftNOT "b") }': "WORD(p a)",
    '{ ?x :p ?y FILTER ftcontains(?y, ftNOT ("a" ftOR ftNOT "b")) }': "WORD(p b)",
    '{ ?x :p ?y FILTER(!ftcontains(?y, ftNOT "a")) }': "PROPERTY(p)",
    '{ ?x ?p ?y FILTER(?p = :p && ftcontains(?y, "a")) }': "WORD(p a)",
    '{ ?x :p|:q ?y FILTER ftcontains(?y, "a") }': "((PROPERTY(p) | PROPERTY(q)) & (WORD(p a) | WORD(q a)))",
    '{ { ?x :p ?y } UNION { ?x :q ?y } FILTER ftcontains(?y, "a") }': (
        "((WORD(p a) | WORD(q a)) & (PROPERTY(p) | PROPERTY(q)))"
    ),
    '{ ?x :p ?y OPTIONAL { ?x :q ?z } FILTER ftcontains(?z, "a") }': "PROPERTY(p)",
    # sub-selects
    "{ { SELECT ?x { ?x :p ?y } } ?x :q ?y FILTER(?y = :o && ?x = :s) }": (
        "(SUBJECT(s q) & OBJECT(q o) & SUBJECT(s p))"
    ),
    "{ { SELECT (COUNT(*) AS ?n) { ?x :p ?y } } ?x :q ?y }": "PROPERTY(q)",
    "{ { SELECT (COUNT(*) AS ?n) { ?x :p ?y } HAVING(EXISTS { ?a :r ?b }) } }": "PROPERTY(r)",
    "{ { SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?x } FILTER(?x = :s) }": "PROPERTY(p)",
    "{ { SELECT ?x { ?x :p ?y } LIMIT 0 } }": "never",
    "{ { SELECT ?x { ?x :p ?y } OFFSET 1 } }": "PROPERTY(p)",
    "{ { SELECT ?x { ?x :p ?y } VALUES ?y { :o :n } } }": "(PROPERTY(p) & (OBJECT(p o) | OBJECT(p n)))",
    "{ { SELECT (:s AS ?x) { ?y :p :o } } ?x :q ?y }": "(OBJECT(p o) & PROPERTY(q))",
    # what stands around the pattern
    "{ ?x :p ?y } LIMIT 0": "never",
    "{ ?x :p ?y } ORDER BY ?y LIMIT 1 OFFSET 2": "PROPERTY(p)",
}
FORMS = {
    "ASK { ?x :p ?y }": "PROPERTY(p)",
    "CONSTRUCT { ?x :q ?y } WHERE { ?x :p ?y }": "PROPERTY(p)",
    "SELECT (COUNT(*) AS ?n) { ?x :p ?y }": "PROPERTY(p)",
    "SELECT (COUNT(*) AS ?n) { ?x :p ?y } VALUES ?m { }": "never",
    "SELECT ?x { ?x :p ?y } GROUP BY ?x HAVING(?x = :s && EXISTS { ?a :q ?b })": "(PROPERTY(p) & PROPERTY(q))",
    "SELECT ?x { ?x :p ?y } GROUP BY ?x VALUES ?x { :s }": "PROPERTY(p)",
}
OPS = {
    "(_:H, ?1, (Sale, target, Computer))": ("(SUBJECT(_:H target) & CLASS_O(target Computer) & HOME(Sale))"),
    "(_:H, ?1, (owl:Thing, p, owl:Thing)) (?1, ?2, (C, q, xsd:decimal), ?2 < 400)": (
        "(SUBJECT(_:H p) & CLASS_O(p C) & CLASS_O(q xsd:decimal))"
    ),
    '(_:H, "x", (owl:Thing, p, xsd:string))': '(SUBJECT(_:H p) & OBJECT(p "x"))',
    '(_:H, ?1, (owl:Thing, p, xsd:string), ?1 = "x")': '(SUBJECT(_:H p) & OBJECT(p "x"))',
    "(_:H, o, (owl:Thing, p, C))": "(SUBJECT(_:H p) & OBJECT(p o) & SUBJECT(o a) & OBJECT(a C))",
}
GTOPSS = {
    "(?x, p, o, {?x <= C}, {}) (s, ?q, ?x)": "(OBJECT(p o) & NODE_S(s))",
    "(?x, p, ?y, {}, {?y = 5})": "PROPERTY(p)",
}

_OPS_PREFIXES = f"PREFIX owl: <http://www.w3.org/2002/07/owl#> {PREFIXES}"


def cases() -> Iterator[tuple[Dialect, str, str]]:
    yield from (("sparql", f"{PREFIXES}SELECT * {text}", expected) for text, expected in SPARQL.items())
    yield from (("sparql", PREFIXES + text, expected) for text, expected in FORMS.items())
    yield from (("ops", _OPS_PREFIXES + text, expected) for text, expected in OPS.items())
    yield from (("gtopss", PREFIXES + text, expected) for text, expected in GTOPSS.items())


@pytest.mark.parametrize(("dialect", "text", "expected"), list(cases()))
def test_condition(dialect: Dialect, text: str, expected: str) -> None:
    assert shown(necessary(parse(text, dialect))) == expected


# ------------------------------------------------------------------------------------------------------------ soundness


def _name(name: str) -> Term:
    return iri(NS + name)


OBJECTS = [
    *map(_name, ("o", "s", "n")),
    *map(Term, ('"o"', '"a b c"', '"Rio games"@en', f'"o"^^<{NS}dt>', '"o"@en')),
    *(
        Term(f'"{text}"^^<http://www.w3.org/2001/XMLSchema#{name}>')
        for text, name in [("5", "integer"), ("5.0", "decimal")]
    ),
]
TRIPLES: list[Triple] = [
    *((_name("s"), _name(p), o) for p in "pq" for o in OBJECTS),
    *((s, _name("p"), _name("o")) for s in (_name("t"), _name("o"), Term("_:H"))),
    (_name("o"), _name("q"), _name("n")),
    (_name("s"), _name("r"), _name("o")),
    (_name("s"), RDF_TYPE, _name("C")),
    (_name("o"), RDF_TYPE, _name("C")),
    (Term("_:H"), _name("target"), _name("o")),
    (Term("_:H"), RDF_TYPE, _name("Sale")),
]


def test_every_match_meets_the_condition() -> None:
    """All of the above on every event of up to two triples; and the condition turns most of the others away."""
    meanings = [
        Meaning(Event.of("urn:e", event), Ontology.empty()) for n in range(3) for event in combinations(TRIPLES, n)
    ]
    matched = let_through = 0
    for dialect, text, _ in cases():
        query = parse(text, dialect)
        prepared, condition = Prepared(query), necessary(query)
        for meaning in meanings:
            held = holds(condition, meaning)
            let_through += held
            if prepared.matches(meaning):
                matched += 1
                assert held, (text, meaning.event.body)
    assert matched > 2000
    assert let_through < 2 * matched


# ----------------------------------------------------------------------------------------------------- what else counts


def test_a_class_of_every_resource_is_no_condition() -> None:
    query = parse(f"PREFIX : <{NS}> (_:H, ?1, (Any, p, Any))", "ops")
    assert shown(necessary(query, EVERY_RESOURCE | {_name("Any")})) == "SUBJECT(_:H p)"


def _size(condition: Condition) -> int:
    return 1 if isinstance(condition, Atom) else 1 + sum(map(_size, condition.items))


@pytest.mark.parametrize(
    "pattern",
    [
        " ".join(f"{{ ?x :p{n} ?y }} UNION {{ ?x :q{n} ?y }}" for n in range(100)),
        " ".join(f"?x :p{n} ?y FILTER(?y = :a{n} || ?y = :b{n})" for n in range(100)),
        " ".join(f"?x :p{n} ?y FILTER ftcontains(?y, 'a{n}' ftOR 'b{n}')" for n in range(100)),
        " ".join(f"?x :p{n} ?y" for n in range(100)).replace("?y ?x", "?y . ?x") + " VALUES ?y { :a :b :c :d }",
        "VALUES ?x { " + " ".join(f":a{n}" for n in range(1000)) + " } ?x :p ?y ; :q ?z",
        "{ " * 40
        + "?x :p ?y"
        + "".join(f" }} UNION {{ ?x :p{n} ?y }} FILTER(?x = :a{n} || ?y = :b{n})" for n in range(40)),
        ":s " + "(" * 40 + ":p" + "".join(f"/:p{n})+" for n in range(40)) + " :o",
    ],
    ids=["unions", "equalities", "texts", "table", "rows", "nested", "path"],
)
def test_the_size_stays_in_proportion(pattern: str) -> None:
    query = parse(f"{PREFIXES} SELECT * {{ {pattern} }}")
    assert _size(necessary(query)) <= 3 * len(pattern)


def test_a_form_too_deep_to_be_read_has_no_condition() -> None:
    query = Query("sparql", "SELECT", Block((TriplePattern(Var("x"), _name("p"), Var("y")),)))
    for _ in range(10_000):
        query = Query("sparql", "SELECT", query)
    assert necessary(query) == ALWAYS


P, OBJECT, SUBJECT = Atom(Kind.PROPERTY, "p"), Atom(Kind.OBJECT, "p", "o"), Atom(Kind.SUBJECT, "s", "p")
WORD, Q = Atom(Kind.WORD, "p", "w"), Atom(Kind.PROPERTY, "q")


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (P, P),
        (All((P,)), P),
        (Some((All(()), P)), ALWAYS),
        (All((Some(()), P)), NEVER),
        (All((P, OBJECT)), OBJECT),
        (All((SUBJECT, P, WORD)), All((SUBJECT, WORD))),
        (All((Atom(Kind.NODE_S, "s"), SUBJECT, Atom(Kind.NODE_O, "o"), OBJECT)), All((SUBJECT, OBJECT))),
        (All((Atom(Kind.ANYWORD, "w"), WORD)), WORD),
        (Some((P, OBJECT, SUBJECT)), P),
        (All((P, All((Q, All((P, Q)))))), All((P, Q))),
        (All((OBJECT, Some((P, Q)))), OBJECT),
        (All((OBJECT, Some((All((P, Q)), WORD)))), All((OBJECT, Some((WORD, Q))))),
        (Some((P, All((OBJECT, Q)))), P),
        (Some((P, Q, All((SUBJECT, WORD)))), Some((P, Q))),
    ],
)
def test_simplified(condition: Condition, expected: Condition) -> None:
    assert simplified(condition) == expected
