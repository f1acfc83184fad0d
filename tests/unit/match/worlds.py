"""Events, ontologies and answers in a few words, for the tests of this folder."""

from __future__ import annotations

import pyoxigraph as ox

from tidings.lang import parse
from tidings.lang.pattern import Dialect
from tidings.match.base import Answer
from tidings.match.meaning import Meaning
from tidings.match.verify import matches, solve
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term, Triple

EX = "http://e.x/"
PREFIXES = {
    "": EX,
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
PROLOGUE = "".join(f"PREFIX {name}: <{text}>\n" for name, text in PREFIXES.items())
EVENT = "urn:event"


def triples(turtle: str) -> list[Triple]:
    quads = ox.parse((PROLOGUE + turtle).encode(), format=ox.RdfFormat.TURTLE)
    return [(Term(str(q.subject)), Term(str(q.predicate)), Term(str(q.object))) for q in quads]


def meaning(event: str, ontology: str = "", published: str | None = None) -> Meaning:
    return Meaning(Event.of(EVENT, triples(event), published=published), Ontology.of(triples(ontology)))


def term(text: str) -> Term:
    """A term as Turtle has it."""
    return triples(f"[] :p {text} .")[0][2]


def ask(query: str, event: str | Meaning = "", dialect: Dialect = "sparql", ontology: str = "") -> Answer | None:
    """The answer; `matches` must agree with it."""
    over = meaning(event, ontology) if isinstance(event, str) else event
    form = parse(PROLOGUE + query, dialect)
    answer = solve(form, over)
    assert matches(form, over) == (answer is not None)
    return answer


def rows(
    query: str, event: str | Meaning = "", dialect: Dialect = "sparql", ontology: str = ""
) -> list[dict[str, str]]:
    """The bindings, in order, IRIs of the example namespace by their local names, other terms as they are."""
    answer = ask(query, event, dialect, ontology)
    if answer is None:
        return []
    return [{name: short(term) for name, term in row.items()} for row in answer.bindings]


def short(term: Term) -> str:
    text = term.replace("^^<http://www.w3.org/2001/XMLSchema#", "^^").removesuffix(">")
    return text.removeprefix("<" + EX)


def value(expression: str, event: str = "") -> str | None:
    """What an expression gives; None is an error."""
    found = rows(f"SELECT ({expression} AS ?v) {{}}", event)
    return found[0].get("v")
