"""`fast` tells of rules, what they need, how they are filed, and what the kernel said."""

from __future__ import annotations

import pytest
from tests.unit.match.told import shown, told, work

from tidings.match.workings import workings_text
from tidings.match.workings.model import MOST_NODES, MOST_SECTIONS

ONTOLOGY = ":Notebook rdfs:subClassOf :Computer . :cost rdfs:subPropertyOf :price ."


def test_a_candidate_that_the_kernel_decides() -> None:
    subscription = (
        'SELECT * { ?x a :Computer ; :price ?p FILTER(?p < 500) . ?x :title ?t FILTER ftcontains(?t, "Rio") }'
    )
    event = ':a a :Notebook ; :cost 450 ; :title "To Rio!" .'
    assert told("fast", subscription, event, ONTOLOGY) == shown("""
        How the matcher 'fast' comes to its answer: a match

        The index has 1 rule of this subscription, one for each way to match
          1 filing visited, 1 candidate
                  pattern                                                                  candidate  kernel
          ──────  ───────────────────────────────────────────────────────────────────────  ─────────  ──────
          rule 1  ?x a :Computer . ?x :price ?p . ?x … . ?p < 500 . ftcontains(?t, "Rio")  ✓          yes
          rule 1 is satisfied: a match

        What the event must have for rule 1
          with all that the ontology adds to it
                                                            in the index
          ─────────────────────────────────────────────  ─  ────────────
          all of these                                   ✓
          ├─ an instance of :Computer or below           ✓  needed
          ├─ a triple with the property :price or below  ✓  needed
          └─ the word "rio" in a value of :title         ✓  filed under
          a candidate; the kernel finds a solution
    """)


def test_each_choice_of_a_union_is_a_rule() -> None:
    subscription = """SELECT * {
        { ?x :p :a . ?x :q ?y } UNION { :s ?p "v" OPTIONAL { ?x :q+ ?y } } UNION { ?x :p ?y . ?y :r ?z }
    }"""
    assert told("fast", subscription, ':a :p :a . :s :q "v" . :b :q 4 .') == shown("""
        How the matcher 'fast' comes to its answer: a match

        The index has 3 rules of this subscription, one for each way to match
          3 filings visited, 2 candidates
                  pattern              candidate  kernel
          ──────  ───────────────────  ─────────  ─────────────────
          rule 1  ?x :p :a . ?x :q ?y  ✓          no
          rule 2  :s ?p "v"            ✓          asks the verifier
          rule 3  ?x :p ?y . ?y :r ?z  ✗          –
          the verifier, asked about rule 2, finds a solution: a match

        What the event must have for rule 1
                                                                 in the index
          ──────────────────────────────────────────────────  ─  ────────────
          all of these                                        ✓
          ├─ a triple with the property :p and the object :a  ✓  filed under
          └─ a triple with the property :q                    ✓  needed
          a candidate; the kernel finds no solution

        What the event must have for rule 2
                                              in the index
          ───────────────────────────────  ─  ────────────
          all of these                     ✓
          ├─ a triple with the subject :s  ✓  filed under
          └─ a triple with the object "v"  ✓  needed
          a candidate; the kernel asks the verifier, because of OPTIONAL, a property path

        What the event must have for rule 3
                                               in the index
          ────────────────────────────────  ─  ────────────
          all of these                      ✗
          ├─ a triple with the property :p  ✓  filed under
          └─ a triple with the property :r  ✗  needed
          not a candidate: looked at, and the first thing missing is a triple with the property :r
    """)


def test_a_disjunction_is_filed_under_all_of_its_parts() -> None:
    subscription = 'SELECT * { ?x :p ?t FILTER(ftcontains(?t, "a" ftOR "b") || ?t = "c d") }'
    found = work("fast", subscription, ':x :p "b", "d" .')
    assert found.sections[1].table is not None
    assert found.sections[1].table.rows == (
        ("all of these", "✓", ""),
        ("├─ a triple with the property :p", "✓", "needed"),
        ("└─ one of these", "✓", ""),
        ('   ├─ the word "a" in a value of :p', "✗", "filed under"),
        ('   ├─ the word "b" in a value of :p', "✓", "filed under"),
        ('   └─ a triple with the property :p and the object "c d"', "✗", "filed under"),
    )


@pytest.mark.parametrize(
    ("subscription", "outcome"),
    [
        ("ASK { ?x :r ?y }", "not a candidate: what it is filed under is missing, so it is not even looked at"),
        (
            "ASK { :a :p ?y ; :r ?z }",
            "not a candidate: looked at, and the first thing missing is a triple with the subject :a and the "
            "property :r",
        ),
        ("ASK { ?x ?p ?y }", "nothing to file it under, so always a candidate; the kernel finds a solution"),
        ("ASK { ?x :p ?y FILTER(false) }", "no event can have that: it is filed nowhere"),
        ("SELECT * { ?x :p ?y } LIMIT 0", "no event can have that: it is filed nowhere"),
        ("ASK { ?x :p ?y . ?y :p ?x }", "a candidate; the kernel finds no solution"),
    ],
)
def test_what_becomes_of_a_rule(subscription: str, outcome: str) -> None:
    assert work("fast", subscription, ":a :p 7 . :q :p 8 .").sections[1].outcome == outcome


@pytest.mark.parametrize(
    ("subscription", "reason"),
    [
        ("{ ?x :p ?y OPTIONAL { ?x :q ?z OPTIONAL { ?z :r ?w } } }", "OPTIONAL"),
        ("{ ?x :p ?y MINUS { ?x :q ?z FILTER(?z > 3) } }", "MINUS"),
        ("{ ?x :p ?y FILTER NOT EXISTS { ?x :q+ ?z } }", "NOT EXISTS { ?x :q+ ?z . }"),
        ("{ ?x :p ?y OPTIONAL { ?y :q ?z } FILTER EXISTS { ?x :p ?z } }", "EXISTS"),
        ("{ ?x :p ?y OPTIONAL { ?y :q+ ?z } FILTER(?y > 1) }", "FILTER on more than a conjunction, OPTIONAL"),
        ("{ ?x :p ?y { ?x :p 7 } UNION { ?x :p 8 } }", "UNION in a larger pattern"),
        ("{ ?x :p ?y BIND(?y + 1 AS ?z) }", "BIND"),
        ("{ ?x :p ?y VALUES ?y { 7 } }", "VALUES"),
        ("{ ?x :p ?y } VALUES ?y { 7 }", "VALUES"),
        ("{ GRAPH <urn:event> { ?x :p ?y } }", "GRAPH"),
        ("{ ?x :p+ ?y }", "a property path"),
        ("{ { SELECT ?x { ?x :p ?y } } }", "a sub-select"),
        ("{ ?x :p ?y } GROUP BY ?x HAVING (COUNT(*) > 0)", "GROUP BY, HAVING"),
        ("{ ?x :p ?y } OFFSET 1", "OFFSET"),
        ('{ ?x :p ?y FILTER REGEX(STR(?y), "[7]") FILTER(?y < 9) }', 'REGEX(STR(?y), "[7]")'),
        ("{ ?x :p ?y FILTER(?y < 7.0000000001) }", "?y < 7.0000000001"),
        ("{ ?x ?p ?y . ?p :p ?y }", "a variable property that stands in several places"),
        ("{}", "a pattern without triples"),
        (f"{{ {' '.join(f'?x :p ?y{n} .' for n in range(31))} }}", "more than 30 patterns"),
    ],
)
def test_why_the_verifier_is_asked(subscription: str, reason: str) -> None:
    found = work("fast", f"SELECT ?x {subscription}", ":a :p 7 . :q :p 8 .")
    _, because, told = found.sections[1].outcome.partition("the kernel asks the verifier, because of ")
    assert because
    assert reason in told


def test_a_search_that_takes_too_long_is_given_to_the_verifier_and_then_up() -> None:
    event = " ".join(f":x :p :a{n} ; :q :b{n} . :a{n} :r :c{n} ." for n in range(200))
    found = work("fast", "SELECT * { ?x :p ?a . ?x :q ?b . ?a :r ?b }", event, budget=300)
    assert found.failure is not None
    assert found.sections[0].outcome == f"the verifier, asked about rule 1, has given up: {found.failure}"
    assert found.sections[1].outcome.endswith("because of a search of more than 20000 steps")


def test_much_is_cut() -> None:
    choices = " UNION ".join(f"{{ ?x :p :o{n} }}" for n in range(100))
    found = work("fast", f"SELECT * {{ {choices} }}", ":x :p :o99 .")
    assert found.matches
    assert len(found.sections) == MOST_SECTIONS + 1
    assert found.sections[0].outcome == "rule 100 is satisfied: a match"
    assert "… and 80 more rows" in workings_text(found)
    words = " ftOR ".join(f'"w{n}"' for n in range(100))
    cut = work("fast", f"SELECT * {{ ?x :p ?t FILTER ftcontains(?t, {words}) }}", ':x :p "w99" .').sections[1].table
    assert cut is not None
    assert (len(cut.rows), cut.more) == (MOST_NODES, 103 - MOST_NODES)
