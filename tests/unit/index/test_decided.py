"""Rules that their atoms decide: which ones, and that they are decided as a search would."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.unit.index.running import COMPILED

from tidings.index.folding import shared_folder
from tidings.index.kernels.join import YES
from tidings.index.layout import MORE, ONE_SUBJECT, ONE_TEXT, REFILED, SHARED, UNDECIDED, Index
from tidings.index.names import ALL_BITS
from tidings.index.scanner import Scanner, padded
from tidings.index.store import Store
from tidings.lang import parse
from tidings.lang.pattern import Query
from tidings.match.meaning import Meaning
from tidings.match.verify import matches
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import RDF_TYPE, RDFS, SUBCLASS_OF, Term, Triple, iri, literal


def query(where: str) -> Query:
    return parse(f"PREFIX : <http://e.x/> SELECT * WHERE {{ {where} }}", "sparql")


def stored(queries: list[Query], ontology: Ontology, weak: int = ALL_BITS) -> Store:
    store = Store(ontology, weak)
    for number, each in enumerate(queries):
        store.add(number, each)
    return store


def how(where: str) -> list[int]:
    """What is known of the rules of this subscription, but for how many atoms they need."""
    store = stored([query("?s :other ?o"), query(where), query("?s :p ?o")], Ontology.empty())
    rules = store.index().rules
    return [int(each) & ~MORE for each in rules.how[1 : store.rules - 1]]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("?s a :C", 0),
        ("?s :p ?o", 0),
        ("?s :p 5", 0),
        ('?s :p ?o FILTER ftcontains(?o, "one")', 0),
        ('?s ?p ?o FILTER ftcontains(?o, "one")', 0),
        ('?s :p ?o FILTER ftcontains(?o, "one" ftAND "two")', ONE_TEXT),
        ('?s :p ?o FILTER ftcontains(?o, "one") FILTER ftcontains(?o, "two")', ONE_TEXT),
        ("?s a :C ; :p ?o ; :q 5", ONE_SUBJECT),
        ('?s a :C ; :p ?o FILTER ftcontains(?o, "one")', ONE_SUBJECT),
        ('?s :q ?a ; :p ?o FILTER ftcontains(?o, "one" ftAND "two")', ONE_SUBJECT | ONE_TEXT),
        ('?s :p ?a ; :p ?o FILTER ftcontains(?o, "one")', UNDECIDED),
        ('?s ?p ?o FILTER ftcontains(?o, "one" ftAND "two")', UNDECIDED),
        ("?s ?p ?o", UNDECIDED),
        ("?s ?p 5", UNDECIDED),
        (":s :p ?o", UNDECIDED),
        ("?s :p ?s", UNDECIDED),
        ("?s :p ?o . ?s :q ?o", UNDECIDED),
        ("?s :p ?o . ?t :q ?u", UNDECIDED),
        ("?s :p ?o . ?o :q ?u", UNDECIDED),
        ("?s :p ?o FILTER (?o > 5)", UNDECIDED),
        ('?s :p ?o FILTER ftcontains(?o, "one two")', UNDECIDED),
        ('?s :p ?o FILTER ftcontains(?o, "one" ftOR "two")', UNDECIDED),
        ('?s :p ?o FILTER ftcontains(?o, ftNOT "one")', UNDECIDED),
        ('?s :p ?o FILTER ftcontains(?o, "one" ftAND ("two" ftOR "three"))', UNDECIDED),
        ('?s :p ?o FILTER (ftcontains(?o, "one") || ?o = 5)', UNDECIDED),
        ('?s :p ?o ; :q ?t FILTER (ftcontains(?o, "one") && ftcontains(?t, "two"))', UNDECIDED),
        ("?s :p ?o OPTIONAL { ?s :q ?t }", 0),
        ("?s :p ?o OPTIONAL { ?s :q ?t } FILTER(!BOUND(?t))", UNDECIDED),
        ("?s :p ?o FILTER NOT EXISTS { ?s :q ?t }", UNDECIDED),
    ],
)
def test_what_atoms_decide(where: str, expected: int) -> None:
    (found,) = how(where)
    if expected & UNDECIDED:
        assert found & UNDECIDED
    else:
        assert found == expected


def test_a_union_has_rules_that_share_a_subscription() -> None:
    found = how("{ ?s a :C } UNION { ?s :p ?o ; :q 5 }")
    assert found == [SHARED, SHARED | ONE_SUBJECT]


def test_a_disjunction_is_filed_more_than_once() -> None:
    (found,) = how("?s :p ?o FILTER (?o IN (:a, :b))")
    assert found & REFILED
    assert found & UNDECIDED


# ---------------------------------------------------------------------------------------------------- against a search

P, Q, R = (iri(f"http://e.x/{name}") for name in "pqr")
C, D = iri("http://e.x/C"), iri("http://e.x/D")
WORDS = ("one", "two", "three")
ONTOLOGY = Ontology.of([(C, SUBCLASS_OF, D), (P, iri(f"{RDFS}subPropertyOf"), R), (Q, iri(f"{RDFS}subPropertyOf"), R)])


def some_query(dice: random.Random) -> Query:
    """A star, mostly."""
    parts = []
    for n in range(dice.randint(1, 3)):
        s = "?s" if dice.random() < 0.9 else "?o0"
        kind = dice.randrange(4)
        if kind == 0:
            parts.append(f"{s} a {dice.choice((C, D))}")
        elif kind == 1:
            parts.append(f"{s} {dice.choice((P, Q, R))} {dice.choice((C, literal('one two')))}")
        else:
            o = f"?o{n}" if dice.random() < 0.9 else "?o0"
            parts.append(f"{s} {dice.choice((P, Q, R))} {o}")
            asked = dice.sample(WORDS, dice.randint(0, 3)) if kind == 3 else []
            if asked:
                text = " ftAND ".join(f'"{word}"' for word in asked)
                parts.append(f"FILTER ftcontains({o}, {text})")
    where = " ".join(part if part.startswith("FILTER") else f"{part} ." for part in parts)
    return parse(f"SELECT * WHERE {{ {where} }}", "sparql")


def some_event(dice: random.Random, number: int) -> Event:
    subjects = [iri(f"http://e.x/s{n}") for n in range(dice.choice((1, 1, 2)))]
    triples: list[Triple] = []
    for _ in range(dice.randint(1, 5)):
        s = dice.choice(subjects)
        objects: list[Term] = [C, D, literal(" ".join(dice.sample(WORDS, dice.randint(1, 3)))), literal("one two")]
        kind = dice.randrange(5)
        triples.append(
            (s, RDF_TYPE, dice.choice((C, D))) if kind == 0 else (s, dice.choice((P, Q, R)), dice.choice(objects))
        )
    return Event.of(f"http://e.x/event{number}", triples)


def check(index: Index, event: Event, expected: set[int]) -> None:
    """Whether it answers YES for what matches, once, and otherwise at most leaves it to the verifier."""
    data = event.body.encode()
    stops = np.array([len(data)], np.int64)
    answers = Scanner(shared_folder()).run(padded(data), stops, index, trusted=True, quads=False).answers
    yes = answers[answers[:, 2] == YES, 1].tolist()
    assert len(set(yes)) == len(yes)
    assert set(yes) <= expected <= set(answers[:, 1].tolist())


@pytest.mark.parametrize("weak", [ALL_BITS, 1])
@pytest.mark.parametrize("ontology", [Ontology.empty(), ONTOLOGY], ids=["flat", "deep"])
def test_as_a_search_would(ontology: Ontology, weak: int) -> None:
    dice = random.Random(3)
    queries = [some_query(dice) for _ in range(300 if COMPILED else 30)]
    store = stored(queries, ontology, weak)
    frozen, kept = store.freeze()
    if COMPILED:
        decided = {int(each) & (UNDECIDED | ONE_SUBJECT | ONE_TEXT) for each in frozen.rules.how}
        assert decided >= {0, ONE_SUBJECT, ONE_TEXT, ONE_SUBJECT | ONE_TEXT, UNDECIDED | ONE_SUBJECT}
    for number in range(60 if COMPILED else 4):
        event = some_event(dice, number)
        meaning = Meaning(event, ontology)
        expected = {n for n, each in enumerate(queries) if matches(each, meaning)}
        check(store.index(), event, expected)
        check(frozen, event, {n for n, before in enumerate(kept.tolist()) if before in expected})


def test_rules_are_numbered_as_they_are_met() -> None:
    """What lies side by side in a row is side by side in all arrays, and each subscription keeps its rules together."""
    dice = random.Random(5)
    queries = [some_query(dice) for _ in range(50)]
    queries += [
        query("{ ?s a :C } UNION { ?s :p ?o ; :q 5 }"),
        query("?s ?p ?o"),
        query("?s :p ?o FILTER (?o IN (:a, :b))"),
    ]
    store = stored(queries, Ontology.empty())
    store.remove(7)
    index, kept = store.freeze()
    assert sorted(kept.tolist()) == [n for n in range(len(queries)) if n != 7]
    assert (np.diff(index.rules.subscription) >= 0).all()
    single = (index.rules.how[index.filed.rule] & (REFILED | SHARED)) == 0
    assert (np.diff(index.filed.rule[single]) > 0).all()
