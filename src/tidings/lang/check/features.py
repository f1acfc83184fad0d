"""What a conjunctive subscription requires and provides, as small integers: a filter before any mapping is looked for.

A core requires features: a property, a class, a constant, a word, a value. What follows from a core provides some. A
cover requires nothing that the covered one does not provide, so sets of integers rule most pairs out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache

from tidings.lang.check.facts import Facts
from tidings.lang.check.mapping import Core
from tidings.lang.check.walk import conjuncts, subexpressions
from tidings.lang.pattern import Block, Call, Const, Expr, FtAnd, FtContains, FtExpr, FtNear, FtPhrase, Var
from tidings.ontology import Ontology
from tidings.ontology.datatypes import LITERAL_CLASSES, xsd_ancestors
from tidings.ontology.vocabulary import THINGS
from tidings.rdf.terms import RDF_TYPE, Term, iri, iri_text
from tidings.rdf.values import number_of


class Features:
    """The features of a set of cores. One that no core requires has no number."""

    def __init__(self, cores: Iterable[Core], ontology: Ontology) -> None:
        self._ontology = ontology
        self._ids: dict[Hashable, int] = {}
        self.required: dict[Core, frozenset[int]] = {
            core: frozenset(self._ids.setdefault(f, len(self._ids)) for f in _required(core.block)) for core in cores
        }
        self._of_property = lru_cache(maxsize=65_536)(self._property_features)
        self._of_class = lru_cache(maxsize=65_536)(self._class_features)

    def provided(self, core: Core, facts: Facts) -> set[int]:
        found: set[int] = set()
        loose: list[Hashable] = []
        for triple in core.block.triples:
            constants = [(place, n) for place, n in (("s", triple.s), ("o", triple.o)) if not isinstance(n, Var)]
            loose += constants
            if not isinstance(triple.o, Var):
                loose.append(("=", _normal(triple.o)))
            if isinstance(triple.p, Var):
                continue
            found |= self._of_property(triple.p)
            if constants:
                properties = self._ontology.superproperties(triple.p)
                loose += [(place, node, property) for place, node in constants for property in properties]
                if RDF_TYPE in properties and not isinstance(triple.o, Var):
                    found |= self._of_class(triple.o, "c")
        for required in core.block.classes:
            found |= self._of_class(required.cls, "k")
        for expr in facts.filters:
            loose += _features(expr)
        found.update(self._numbers(loose))
        return found

    def _numbers(self, features: Iterable[Hashable]) -> Iterator[int]:
        return (self._ids[f] for f in features if f in self._ids)

    def _property_features(self, property: Term) -> frozenset[int]:
        return frozenset(self._numbers(("p", above) for above in self._ontology.superproperties(property)))

    def _class_features(self, cls: Term, kind: str) -> frozenset[int]:
        above = set(self._ontology.superclasses(cls))
        if kind == "k":
            above.update(LITERAL_CLASSES, map(iri, xsd_ancestors(iri_text(cls))))
        return frozenset(self._numbers((kind, other) for other in above))


def _required(block: Block) -> Iterator[Hashable]:
    for triple in block.triples:
        places = (("s", triple.s), ("o", triple.o))
        constants = [(place, node) for place, node in places if not isinstance(node, Var)]
        if isinstance(triple.p, Var):
            yield from constants
        elif triple.p == RDF_TYPE:
            yield ("c", triple.o) if not isinstance(triple.o, Var) else ("p", triple.p)
            yield from ((place, node) for place, node in constants if place == "s")
        else:
            yield "p", triple.p
            yield from ((place, node, triple.p) for place, node in constants)
    for required in block.classes:
        if required.cls not in THINGS:
            yield "k", required.cls
    for expr in conjuncts(block.filters):
        if isinstance(expr, FtContains) or (isinstance(expr, Call) and expr.op not in _LOOSE):
            yield from _features(expr, inside=False)


# Filters that follow from others than the same one.
_LOOSE = frozenset(["&&", "||", "!=", "<", "<=", ">", ">="])


def _features(expr: Expr, inside: bool = True) -> Iterator[Hashable]:
    """Words, values and functions by which filters are told apart; `inside`: also those of parts of the filter."""
    for part in subexpressions(expr) if inside else (expr,):
        match part:
            case FtContains(text=text):
                yield from (("w", word) for word in _words(text))
            case Call(op="=", args=args) | Call(op="IN", args=(_, _) as args):
                yield from (("=", _normal(arg.term)) for arg in args if isinstance(arg, Const))
            case Call(op=op, args=args) if op not in _LOOSE and op != "IN":
                yield op, *(arg.term for arg in args if isinstance(arg, Const))


def _words(text: FtExpr) -> Iterator[str]:
    """The words without which the text is not found; of alternatives none is."""
    match text:
        case FtPhrase(words=words):
            yield from words
        case FtAnd(items=items):
            for item in items:
                yield from _words(item)
        case FtNear(left=left, right=right):
            yield from _words(left)
            yield from _words(right)


def _normal(term: Term) -> Hashable:
    """One feature for all ways to write a number."""
    number = number_of(term)
    return term if number is None else float(number.value)
