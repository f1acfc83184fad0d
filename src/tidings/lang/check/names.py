"""Names that the ontology does not know, and statements that it leaves no room for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from tidings.lang.check.problems import Code, Finding
from tidings.lang.check.walk import children, expressions, patterns, subexpressions
from tidings.lang.pattern import (
    Alternative,
    Block,
    Constraint,
    Exists,
    Inverse,
    LeftJoin,
    Link,
    Minus,
    Negated,
    Node,
    Path,
    Pattern,
    Query,
    Repeat,
    Sequence,
    TriplePattern,
    Union,
    Var,
)
from tidings.ontology import Ontology
from tidings.rdf.terms import RDF_LANGSTRING, RDF_TYPE, RDFS, Term, iri, is_iri, is_literal, parts

Label: TypeAlias = Callable[[Term], str]
Kind: TypeAlias = Literal["class", "property"]
Classes: TypeAlias = dict[Node, frozenset[Term]]

# The ontology rules nothing out for a class it does not know.
_ANY = iri("urn:tidings:any")
_LITERAL = iri(f"{RDFS}Literal")


class Names:
    """The checks against one ontology; what it says about a name is asked once."""

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        self._near = lru_cache(maxsize=4096)(ontology.near)
        self._allows = lru_cache(maxsize=65_536)(ontology.allows)

    # ---------------------------------------------------------------------------------------------------------- names

    def unknown(self, query: Query, label: Label) -> Iterator[Finding]:
        onto = self._ontology
        for term, kind in dict.fromkeys(_names(query)):
            if kind == "property" and not onto.is_property(term):
                yield self._unknown(term, "unknown-property", kind, "class" if onto.is_class(term) else None, label)
            # An instance may stand where a class does: G-ToPSS asks what is above it.
            elif kind == "class" and not onto.is_class(term) and (onto.is_property(term) or not onto.is_known(term)):
                yield self._unknown(term, "unknown-class", kind, "property" if onto.is_property(term) else None, label)

    def _unknown(self, term: Term, code: Code, kind: Kind, other: Kind | None, label: Label) -> Finding:
        if other:
            return Finding(code, f"{label(term)} is a {other}, not a {kind}", term=term)
        near = self._near(term, kind)
        meant = f", did you mean {label(near)}?" if near is not None else ""
        return Finding(code, f"unknown {kind} {label(term)}{meant}", term=term)

    # -------------------------------------------------------------------------------------------------- concept model

    def outside(self, query: Query, label: Label) -> Iterator[Finding]:
        """Triples whose classes no meta-statement of their property leaves room for."""
        seen = set()
        for statement in _statements(query.where, {}, self._ontology):
            subjects, property, objects = statement
            if statement not in seen and not any(self._allows(s, property, o) for s in subjects for o in objects):
                seen.add(statement)
                yield self._outside(subjects, property, objects, label)

    def _outside(self, subjects: frozenset[Term], property: Term, objects: frozenset[Term], label: Label) -> Finding:
        def shown(classes: frozenset[Term]) -> str:
            return " & ".join(sorted("…" if c == _ANY else label(c) for c in classes))

        above = self._ontology.superproperties(property)
        declared = [m for m in self._ontology.meta_statements if m.property in above]
        rows = [
            f"({', '.join('…' if t is None else label(t) for t in (m.subject_class, m.property, m.object_class))})"
            for m in declared[:3]
        ]
        more = f" and {len(declared) - 3} more" if len(declared) > 3 else ""
        message = f"no meta-statement allows ({shown(subjects)}, {label(property)}, {shown(objects)})"
        return Finding("outside-concept-model", message, f"declared: {', '.join(rows)}{more}", property)


def _names(query: Query) -> Iterator[tuple[Term, Kind]]:
    for part in patterns(query):
        if isinstance(part, Block):
            for triple in part.triples:
                if not isinstance(triple.p, Var):
                    yield triple.p, "property"
                    if triple.p == RDF_TYPE and not isinstance(triple.o, Var) and is_iri(triple.o):
                        yield triple.o, "class"
            for path in part.paths:
                yield from ((property, "property") for property in _links(path.path))
            for required in part.classes:
                yield required.cls, "class"
        for expr in expressions(part):
            for sub in subexpressions(expr):
                if isinstance(sub, Constraint) and is_iri(sub.value):
                    yield sub.value, "class"


def _links(path: Path) -> Iterator[Term]:
    match path:
        case Link(iri=property):
            yield property
        case Inverse(path=inner) | Repeat(path=inner):
            yield from _links(inner)
        case Sequence(steps=parts) | Alternative(choices=parts):
            for part in parts:
                yield from _links(part)
        case Negated(forward=forward, inverse=inverse):
            yield from (*forward, *inverse)


# ------------------------------------------------------------------------------------------------- classes of variables


def _statements(
    pattern: Pattern, outer: Classes, ontology: Ontology
) -> Iterator[tuple[frozenset[Term], Term, frozenset[Term]]]:
    """Every triple with a constant property, and the classes its ends are known to have where it stands."""
    known = _joined(outer, _types(pattern))
    if isinstance(pattern, Block):
        meta = pattern.classes if len(pattern.classes) == 2 * len(pattern.triples) else ()
        for i, triple in enumerate(pattern.triples):
            if isinstance(triple.p, Var) or triple.p == RDF_TYPE:
                continue
            if meta:
                yield frozenset([meta[2 * i].cls]), triple.p, frozenset([meta[2 * i + 1].cls])
                continue
            subjects, objects = (_classes(node, known, ontology) for node in (triple.s, triple.o))
            if _ANY not in subjects or _ANY not in objects:
                yield subjects, triple.p, objects
    for child in children(pattern):
        inside = {} if isinstance(child, Query) or (isinstance(pattern, Minus) and child is pattern.right) else known
        yield from _statements(child, inside, ontology)
    for expr in expressions(pattern):
        for part in subexpressions(expr):
            if isinstance(part, Exists):
                yield from _statements(part.pattern, known, ontology)


def _types(pattern: Pattern) -> Classes:
    """The classes stated in the pattern itself, or in a part of it that every solution satisfies."""
    found: Classes = {}
    if isinstance(pattern, Block):
        for triple in pattern.triples:
            found = _with_type(found, triple)
    elif not isinstance(pattern, Query | Union):
        # Of OPTIONAL and MINUS only the left side must hold.
        required = children(pattern)[:1] if isinstance(pattern, LeftJoin | Minus) else children(pattern)
        for child in required:
            found = _joined(found, _types(child))
    return found


def _with_type(found: Classes, triple: TriplePattern) -> Classes:
    if triple.p == RDF_TYPE and not isinstance(triple.o, Var) and is_iri(triple.o):
        return _joined(found, {triple.s: frozenset([triple.o])})
    return found


def _joined(a: Classes, b: Classes) -> Classes:
    if not a or not b:
        return a or b
    return a | {node: a.get(node, frozenset()) | classes for node, classes in b.items()}


def _classes(node: Node, known: Classes, ontology: Ontology) -> frozenset[Term]:
    found = known.get(node, frozenset())
    if not isinstance(node, Var):
        if is_literal(node):
            datatype = parts(node).datatype
            # Ranges that say xsd:string are met by texts with a language in most data.
            return frozenset([_LITERAL if datatype == RDF_LANGSTRING else iri(datatype)])
        found |= ontology.types_of(node)
    return found or frozenset([_ANY])
