"""Whether one conjunctive subscription covers another: every event that matches the narrow one matches the broad one.

It does if the broad pattern maps into the narrow one: its variables to nodes there, such that each of its triples
becomes one that follows from a triple there, through the hierarchies, and each of its classes and filters follows from
what is known of the node. (In plain conjunctive queries this is necessary too; with filters and hierarchies it is only
sufficient, so a cover may go unnoticed, but none is claimed that is not one.) In `ops` the mapping must be injective,
since the one of subscription to event is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from tidings.lang.check.comparisons import comparison_of
from tidings.lang.check.facts import Facts
from tidings.lang.check.walk import conjuncts, substitute
from tidings.lang.pattern import Block, Call, Const, Expr, Node, TriplePattern, Var
from tidings.ontology import Ontology
from tidings.ontology.datatypes import LITERAL_CLASSES, xsd_ancestors
from tidings.ontology.vocabulary import THINGS
from tidings.rdf.terms import RDF_TYPE, Term, iri, iri_text, is_iri, is_literal, parts

PAIR, FILTER = 5, 5
"""What to begin a search, and to ask whether a filter follows, costs in steps; to try one triple on another is one."""


class Core:
    """A conjunctive subscription, ready to be compared."""

    def __init__(self, block: Block, order: int) -> None:
        self.order = order
        self.block = block if block.injective else _with_constants(block)

    @cached_property
    def triples(self) -> tuple[TriplePattern, ...]:
        """In the order in which a mapping is looked for: what is most determined first."""
        rest, placed = list(self.block.triples), list[TriplePattern]()
        bound: set[Node] = set()
        while rest:
            best = max(rest, key=lambda t: sum(n in bound or not isinstance(n, Var) for n in (t.s, t.p, t.o)))
            rest.remove(best)
            placed.append(best)
            bound.update((best.s, best.p, best.o))
        return tuple(placed)

    @cached_property
    def filters(self) -> tuple[Expr, ...]:
        return tuple(conjuncts(self.block.filters))

    @property
    def size(self) -> int:
        return len(self.block.triples) + len(self.block.filters)


class Covering:
    """The question, under one ontology, and the steps it has taken so far."""

    def __init__(self, ontology: Ontology, max_steps: int) -> None:
        self._ontology = ontology
        self._max_steps = max_steps
        self.steps = 0

    def facts(self, core: Core) -> Facts:
        return Facts(core.block.filters, self._ontology.is_subclass)

    def covers(self, broad: Core, narrow: Core, facts: Facts) -> bool:
        """Whether `broad` covers `narrow`, whose filters are `facts`; False also where a pair's steps run out."""
        if broad.block.injective != narrow.block.injective:
            return False
        self.steps += PAIR
        return _Search(self._ontology, broad, narrow, facts, self).run(self.steps + self._max_steps)


class _Search:
    """One search for a mapping."""

    def __init__(self, ontology: Ontology, broad: Core, narrow: Core, facts: Facts, steps: Covering) -> None:
        self._ontology = ontology
        self._broad = broad
        self._narrow = narrow
        self._facts = facts
        self._counter = steps
        self._injective = broad.block.injective
        self._image: dict[Var, Node] = {}
        self._used: set[Node] = set()
        self._limit = 0

    def run(self, limit: int) -> bool:
        self._limit = limit
        if self._injective:
            nodes = (n for t in self._broad.block.triples for n in (t.s, t.o))
            self._used = {n for n in nodes if not isinstance(n, Var)}
        return self._extend(0)

    def _extend(self, at: int) -> bool:
        """Map the triples from number `at` on, in every way, until the classes and filters follow too."""
        if at == len(self._broad.triples):
            return self._classes_follow() and self._filters_follow()
        triple = self._broad.triples[at]
        for target in self._narrow.block.triples:
            self._counter.steps += 1
            if self._counter.steps > self._limit:
                return False
            bound = self._bind(triple, target)
            if bound is None:
                continue
            if self._extend(at + 1):
                return True
            self._release(bound)
        return False

    def _bind(self, triple: TriplePattern, target: TriplePattern) -> list[Var] | None:
        """The variables that mapping one triple to the other binds; None where it cannot be done."""
        pairs = [(triple.s, target.s, self._injective)]
        if isinstance(triple.p, Var):
            pairs += [(triple.p, target.p, False), (triple.o, target.o, self._injective)]
        elif isinstance(target.p, Var) or not self._ontology.is_subproperty(target.p, triple.p):
            return None
        elif not self._is_class_statement(triple, target):
            pairs.append((triple.o, target.o, self._injective))
        bound: list[Var] = []
        for node, image, exclusive in pairs:
            if not self._set(node, image, exclusive, bound):
                self._release(bound)
                return None
        return bound

    def _is_class_statement(self, triple: TriplePattern, target: TriplePattern) -> bool:
        """`x type C` follows from `x type D` with D below C."""
        return (
            triple.p == RDF_TYPE
            and not isinstance(triple.o, Var)
            and not isinstance(target.o, Var)
            and self._ontology.is_subclass(target.o, triple.o)
        )

    def _set(self, node: Node, image: Node, exclusive: bool, bound: list[Var]) -> bool:
        if not isinstance(node, Var):
            return node == image
        known = self._image.get(node)
        if known is not None:
            return known == image
        if exclusive:
            if image in self._used:
                return False
            self._used.add(image)
        self._image[node] = image
        bound.append(node)
        return True

    def _release(self, bound: Iterable[Var]) -> None:
        for var in bound:
            image = self._image.pop(var)
            if self._injective:
                self._used.discard(image)

    # ------------------------------------------------------------------------------------------- classes and filters

    def _filters_follow(self) -> bool:
        for expr in self._broad.filters:
            self._counter.steps += FILTER
            mapped = substitute(expr, self._image)
            if mapped is None or not self._facts.imply(mapped):
                return False
        return True

    def _classes_follow(self) -> bool:
        return all(
            self._has_class(self._image[c.node] if isinstance(c.node, Var) else c.node, c.cls)
            for c in self._broad.block.classes
        )

    def _has_class(self, node: Node, cls: Term) -> bool:
        block = self._narrow.block
        asked = [c.cls for c in block.classes if c.node == node]
        if any(self._ontology.is_subclass(other, cls) for other in asked):
            return True
        if cls in THINGS:
            is_resource = any(t.s == node for t in block.triples)
            return is_resource or (not isinstance(node, Var) and not is_literal(node))
        if isinstance(node, Var):
            return self._facts.is_xsd_literal(node) and any(self._is_derived(other, cls) for other in asked)
        if not is_literal(node):
            return False
        datatype = parts(node).datatype
        return cls in LITERAL_CLASSES or cls == iri(datatype) or iri_text(cls) in xsd_ancestors(datatype)

    def _is_derived(self, datatype: Term, cls: Term) -> bool:
        """A literal of an XSD type that has the class `datatype` has it as its own type or an ancestor of that, unless
        the ontology puts something below it; so it has the ancestors of that too."""
        if cls in LITERAL_CLASSES:
            return True
        derived = iri_text(cls) in xsd_ancestors(iri_text(datatype))
        return derived and self._ontology.subclasses(datatype) == {datatype}


def _with_constants(block: Block) -> Block:
    """The block with variables that a filter makes equal to an IRI replaced by it: equal IRIs are one term."""
    places = {n for t in block.triples for n in (t.s, t.p, t.o)}
    fixed: dict[Var, Node] = {}
    for expr in conjuncts(block.filters):
        comparison = comparison_of(expr)
        if comparison and comparison.op == "=" and is_iri(comparison.value) and comparison.var in places:
            fixed.setdefault(comparison.var, comparison.value)
    if not fixed:
        return block
    mapping = {n: n for n in places if isinstance(n, Var)} | fixed
    triples = tuple(TriplePattern(*(_replaced(n, fixed) for n in (t.s, t.p, t.o))) for t in block.triples)
    filters = [substitute(expr, mapping) or expr for expr in conjuncts(block.filters)]
    return Block(triples, filters=tuple(expr for expr in filters if not _is_identity(expr)))


def _is_identity(expr: Expr) -> bool:
    return (
        isinstance(expr, Call) and expr.op == "=" and isinstance(expr.args[0], Const) and expr.args[0] == expr.args[1]
    )


def _replaced(node: Node, fixed: dict[Var, Node]) -> Node:
    return fixed.get(node, node) if isinstance(node, Var) else node
