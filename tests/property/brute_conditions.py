"""Conditions of the index, decided slowly: by looking through the triples of E*, one atom at a time."""

from __future__ import annotations

from tidings.index.atoms import All, Atom, Condition, Kind, Some
from tidings.match.meaning import Meaning
from tidings.ontology import Ontology
from tidings.ontology.vocabulary import THINGS
from tidings.rdf.terms import HOME, RDF_TYPE, Term, is_literal


def universal(ontology: Ontology) -> frozenset[Term]:
    """The classes that every resource has."""
    return frozenset(above for thing in THINGS for above in ontology.superclasses(thing))


def holds(condition: Condition, meaning: Meaning) -> bool:
    match condition:
        case All(items=items):
            return all(holds(item, meaning) for item in items)
        case Some(items=items):
            return any(holds(item, meaning) for item in items)
        case Atom():
            return _atom_holds(condition, meaning)


def _atom_holds(atom: Atom, meaning: Meaning) -> bool:
    first, second = Term(atom.first), Term(atom.second)
    match atom.kind:
        case Kind.PROPERTY:
            return bool(meaning.match(None, first, None))
        case Kind.OBJECT:
            return bool(meaning.match(None, first, second))
        case Kind.SUBJECT:
            return bool(meaning.match(first, second, None))
        case Kind.NODE_S:
            return bool(meaning.match(first, None, None))
        case Kind.NODE_O:
            return bool(meaning.match(None, None, first))
        case Kind.WORD:
            return any(second in meaning.words(o).words for o in _literals(meaning, first))
        case Kind.ANYWORD:
            return any(first in meaning.words(o).words for o in _literals(meaning, None))
        case Kind.LITERAL:
            return any(first in meaning.classes(o) for o in _literals(meaning, None))
        case Kind.CLASS_O:
            return any(second in meaning.classes(o) for _, _, o in meaning.match(None, first, None))
        case Kind.HOME:
            return bool(meaning.match(HOME, RDF_TYPE, first))


def _literals(meaning: Meaning, p: Term | None) -> list[Term]:
    return [o for _, _, o in meaning.match(None, p, None) if is_literal(o)]
