"""From triples to axioms: what an ontology states, in one vocabulary-free form.

Only what is stated is here, nothing is inferred; `hierarchy` closes it, `meta` reads the signatures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tidings.ontology.expressions import Expressions, Signature
from tidings.ontology.hierarchy import Pair
from tidings.ontology.vocabulary import (
    CLASS_TYPES,
    DATATYPE_PROPERTIES,
    DATATYPE_TYPES,
    ROLES,
    SCHEMA_DATATYPE,
    Role,
    is_built_in,
    is_loose_datatype,
    is_property_type,
    is_vocabulary,
)
from tidings.rdf.terms import Term, Triple, is_iri, is_literal

Statements: TypeAlias = Mapping[Role, list[Pair]]


@dataclass(frozen=True, slots=True)
class Axioms:
    """Names are IRIs; the pairs of the hierarchies may also hold blank nodes, which stand for class expressions."""

    classes: frozenset[Term]
    properties: frozenset[Term]
    subclasses: tuple[Pair, ...]
    subproperties: tuple[Pair, ...]
    same_classes: tuple[Pair, ...]
    same_properties: tuple[Pair, ...]
    types: Mapping[Term, frozenset[Term]]
    datatypes: frozenset[Term]
    loose_datatypes: frozenset[Term]
    """Those that any literal may stand for, whatever its datatype: schema.org's Text, the XML Schema of 2000, …"""
    signatures: tuple[Signature, ...]
    described: tuple[Pair, ...]
    """A class and a named member of an intersection that it is: of use to meta-statements, no part of the hierarchy."""


def collect(triples: Iterable[Triple]) -> Axioms:
    """The axioms among the triples; whatever else is there is passed over."""
    statements, used = _sort(triples)
    types = _types(statements[Role.TYPE])
    classes, properties = _names(statements, types, used)
    same_classes = statements[Role.SAME_CLASS] + _kindred(
        statements[Role.SAME_EITHER], classes, properties | types.keys()
    )
    same_properties = statements[Role.SAME_PROPERTY] + _kindred(
        statements[Role.SAME_EITHER], properties, classes | types.keys()
    )
    expressions = Expressions(statements, types)
    signatures, described = expressions.signatures(), expressions.described()
    classes.update(name for signature in signatures for name in (*signature.subjects, *signature.objects))
    classes.update(name for pair in described for name in pair)
    return Axioms(
        classes=frozenset(classes),
        properties=frozenset(properties),
        subclasses=_pairs(statements[Role.SUBCLASS]),
        subproperties=_pairs(statements[Role.SUBPROPERTY]),
        same_classes=_pairs(same_classes),
        same_properties=_pairs(same_properties),
        types={name: frozenset(of) for name, of in types.items()},
        datatypes=_datatypes(statements),
        loose_datatypes=frozenset(
            name for name in classes if is_loose_datatype(name) or not SCHEMA_DATATYPE.isdisjoint(types.get(name, ()))
        ),
        signatures=signatures,
        described=described,
    )


def _sort(triples: Iterable[Triple]) -> tuple[Statements, set[Term]]:
    """The statements that play a role, by role, and the properties used in all others."""
    statements: dict[Role, list[Pair]] = {role: [] for role in Role}
    used: set[Term] = set()
    for s, p, o in triples:
        role = ROLES.get(p)
        if role is None:
            used.add(p)
        elif role is Role.HAS_VALUE or role is Role.FIRST or not is_literal(o):
            statements[role].append((s, o))
    return statements, used


def _types(statements: list[Pair]) -> dict[Term, set[Term]]:
    types: dict[Term, set[Term]] = defaultdict(set)
    for s, o in statements:
        if is_iri(s) and is_iri(o) and not is_vocabulary(o):
            types[s].add(o)
    return dict(types)


def _names(statements: Statements, types: Mapping[Term, set[Term]], used: set[Term]) -> tuple[set[Term], set[Term]]:
    """The names declared or used as classes, and as properties."""
    classes = {s for s, o in statements[Role.TYPE] if o in CLASS_TYPES}
    classes.update(o for of in types.values() for o in of)
    classes.update(o for role in (Role.DOMAIN, Role.RANGE, Role.VALUES_FROM) for _, o in statements[role])
    classes.update(t for role in (Role.SUBCLASS, Role.SAME_CLASS) for pair in statements[role] for t in pair)
    properties = {s for s, o in statements[Role.TYPE] if is_property_type(o)}
    properties.update(p for p in used if not is_built_in(p))
    properties.update(s for role in (Role.DOMAIN, Role.RANGE) for s, _ in statements[role])
    properties.update(o for _, o in statements[Role.ON_PROPERTY])
    for role in (Role.SUBPROPERTY, Role.SAME_PROPERTY, Role.INVERSE):
        properties.update(t for pair in statements[role] for t in pair)
    return set(filter(is_iri, classes)), set(filter(is_iri, properties))


def _kindred(links: list[Pair], names: set[Term], others: set[Term]) -> list[Pair]:
    """The links between `names`; a name of no other kind joins them when it is linked to one of them."""
    neighbours: dict[Term, set[Term]] = defaultdict(set)
    for a, b in links:
        neighbours[a].add(b)
        neighbours[b].add(a)
    todo = [name for name in neighbours if name in names]
    while todo:
        for other in neighbours[todo.pop()]:
            if other not in names and other not in others and is_iri(other):
                names.add(other)
                todo.append(other)
    return [(a, b) for a, b in links if a in names and b in names]


def _datatypes(statements: Statements) -> frozenset[Term]:
    """The names declared as datatypes, and the ranges of datatype properties of which nothing else is said."""
    types = statements[Role.TYPE]
    datatypes = {s for s, o in types if o in DATATYPE_TYPES}
    literal_valued = {s for s, o in types if o in DATATYPE_PROPERTIES}
    elsewhere = {s for s, o in types if o in CLASS_TYPES}
    elsewhere.update(t for role in (Role.SUBCLASS, Role.SAME_CLASS) for pair in statements[role] for t in pair)
    datatypes.update(o for s, o in statements[Role.RANGE] if s in literal_valued and o not in elsewhere)
    return frozenset(t for t in datatypes if is_iri(t) and not is_built_in(t))


def _pairs(statements: list[Pair]) -> tuple[Pair, ...]:
    return tuple(sorted({(a, b) for a, b in statements if a != b}))
