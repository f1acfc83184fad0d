"""Whether an event keeps to the concept model: what the ontology's meta-statements say can stand where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import product

from tidings.ontology.model import Ontology
from tidings.rdf.terms import RDF_TYPE, Term, Triple, iri, is_literal, parts

_THING = Term("<http://www.w3.org/2002/07/owl#Thing>")


def departure(triples: Iterable[Triple], ontology: Ontology) -> str | None:
    """The first triple, in the order of the text, that the concept model rules out, and why; None where there is none.

    A vertex has the classes that the event and the ontology give it. A triple is ruled out where every pair of them is.
    """
    triples = list(triples)
    classes: defaultdict[Term, set[Term]] = defaultdict(set)
    for subject, property, object in triples:
        if property == RDF_TYPE:
            classes[subject].add(object)

    def classes_of(vertex: Term) -> set[Term] | frozenset[Term]:
        if is_literal(vertex):
            return {iri(parts(vertex).datatype)}
        return classes.get(vertex, frozenset()) | ontology.types_of(vertex) or {_THING}

    for subject, property, object in triples:
        if property == RDF_TYPE:
            continue
        pairs = list(product(sorted(classes_of(subject)), sorted(classes_of(object))))
        if not any(ontology.allows(above, property, below) for above, below in pairs):
            return f"the concept model has no ({pairs[0][0]}, {property}, {pairs[0][1]}), as {subject} has it"
    return None
