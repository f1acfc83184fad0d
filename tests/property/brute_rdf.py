"""Hierarchies and E* for the brute-force checks, by the dullest means there are: sets of pairs and fixpoints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tests.property import model as m

_SUBCLASS = {m.SUBCLASS, m.Iri(m.DAML + "subClassOf")}
_SUBPROPERTY = {m.SUBPROPERTY, m.Iri(m.DAML + "subPropertyOf")}
_SAME_CLASS = {m.EQUIVALENT_CLASS, m.Iri(m.DAML + "sameClassAs")}
_SAME_PROPERTY = {m.EQUIVALENT_PROPERTY, m.Iri(m.DAML + "samePropertyAs")}
_VOCABULARIES = (m.RDF, m.RDFS, m.OWL, m.DAML)

Pairs = frozenset[tuple[m.RdfTerm, m.RdfTerm]]

_XSD_PARENTS = """
    anySimpleType anyType; anyAtomicType anySimpleType;
    string anyAtomicType; normalizedString string; token normalizedString; language token; NMTOKEN token; Name token;
    NCName Name; ID NCName; IDREF NCName; ENTITY NCName;
    decimal anyAtomicType; integer decimal; nonPositiveInteger integer; negativeInteger nonPositiveInteger;
    long integer; int long; short int; byte short; nonNegativeInteger integer; unsignedLong nonNegativeInteger;
    unsignedInt unsignedLong; unsignedShort unsignedInt; unsignedByte unsignedShort;
    positiveInteger nonNegativeInteger;
    boolean anyAtomicType; float anyAtomicType; double anyAtomicType; duration anyAtomicType;
    dayTimeDuration duration; yearMonthDuration duration; dateTime anyAtomicType; dateTimeStamp dateTime;
    date anyAtomicType; time anyAtomicType; gYear anyAtomicType; gYearMonth anyAtomicType; gMonth anyAtomicType;
    gMonthDay anyAtomicType; gDay anyAtomicType; hexBinary anyAtomicType; base64Binary anyAtomicType;
    anyURI anyAtomicType; QName anyAtomicType; NOTATION anyAtomicType
"""
XSD_EDGES: Pairs = frozenset(
    (m.Iri(m.XSD + pair.split()[0]), m.Iri(m.XSD + pair.split()[1])) for pair in _XSD_PARENTS.split(";")
)
_LITERALS = {m.Iri(m.RDFS + "Literal"), m.Iri(m.RDF + "Literal")}
_THINGS = {m.Iri(m.OWL + "Thing"), m.Iri(m.DAML + "Thing"), m.Iri(m.RDFS + "Resource")}


def closure(pairs: Iterable[tuple[m.RdfTerm, m.RdfTerm]]) -> Pairs:
    """The transitive closure: for every start, all that can be reached."""
    steps: dict[m.RdfTerm, set[m.RdfTerm]] = {}
    for a, b in pairs:
        steps.setdefault(a, set()).add(b)
    closed = set()
    for start in steps:
        reached: set[m.RdfTerm] = set()
        todo = [start]
        while todo:
            new = steps.get(todo.pop(), set()) - reached
            reached |= new
            todo += new
        closed |= {(start, end) for end in reached}
    return frozenset(closed)


@dataclass(frozen=True)
class Knowledge:
    """What an ontology and an event say together."""

    world: m.World

    def _edges(self, statements: Iterable[m.Statement], down: set[m.Iri], same: set[m.Iri]) -> Pairs:
        pairs = {(s, o) for s, p, o in statements if p in down or p in same}
        return frozenset(pairs | {(o, s) for s, p, o in statements if p in same})

    @cached_property
    def subclass(self) -> Pairs:
        """C ⊑ D in the ontology, without the trivial pairs."""
        return closure(self._edges(self.world.ontology, _SUBCLASS, _SAME_CLASS))

    @cached_property
    def subproperty(self) -> Pairs:
        return closure(self._edges(self.world.ontology, _SUBPROPERTY, _SAME_PROPERTY))

    def is_subclass(self, c: m.RdfTerm, d: m.RdfTerm) -> bool:
        return c == d or (c, d) in self.subclass

    def is_subproperty(self, p: m.RdfTerm, q: m.RdfTerm) -> bool:
        return p == q or (p, q) in self.subproperty

    @cached_property
    def ontology_types(self) -> Pairs:
        return frozenset((s, o) for s, p, o in self.world.ontology if p == m.TYPE and not _of_vocabulary(o))

    @cached_property
    def star(self) -> frozenset[m.Statement]:
        """E*: the event with everything that is entailed."""
        event = set(self.world.event)
        nodes = {n for s, _, o in event for n in (s, o)}
        known = event | {(x, m.TYPE, c) for x, c in self.ontology_types if x in nodes}
        while True:
            more = {(s, m.TYPE, d) for s, p, o in known if p == m.TYPE for c, d in self.subclass if c == o}
            more |= {(s, q, o) for s, p, o in known for r, q in self.subproperty if r == p}
            if more <= known:
                return frozenset(known)
            known |= more

    # ------------------------------------------------------------------------------------------------------------ OPS

    def has_class(self, node: m.RdfTerm, cls: m.Iri) -> bool:
        """Whether an OPS vertex is of a class, given or above one of its classes."""
        if isinstance(node, m.Lit):
            start: set[m.RdfTerm] = {m.Iri(node.datatype)} | _LITERALS
        else:
            start = {o for s, p, o in self.star if s == node and p == m.TYPE} | _THINGS
        return any(c == cls or (c, cls) in self._classes_and_datatypes for c in start)

    @cached_property
    def _classes_and_datatypes(self) -> Pairs:
        return closure(self.subclass | XSD_EDGES)

    # -------------------------------------------------------------------------------------------------------- G-ToPSS

    @cached_property
    def _asserted_subclass(self) -> Pairs:
        """Sub-class statements of the ontology (A ⊑ A apart) and of the event itself."""
        of_ontology = {(s, o) for s, p, o in self.world.ontology if p in _SUBCLASS and s != o}
        return frozenset(of_ontology | {(s, o) for s, p, o in self.world.event if p == m.SUBCLASS})

    @cached_property
    def _taxonomy(self) -> Pairs:
        return closure(self.subclass | self._asserted_subclass)

    def equivalent(self, a: m.RdfTerm, b: m.RdfTerm) -> bool:
        """Synonyms by the ontology."""
        return a == b or ((a, b) in self.subclass and (b, a) in self.subclass)

    def below(self, x: m.RdfTerm, cls: m.RdfTerm) -> bool:
        """x is cls or equivalent to it, or an instance or descendant of it."""
        types = {o for s, p, o in self.star if s == x and p == m.TYPE} | {c for n, c in self.ontology_types if n == x}
        return any(t == cls or (t, cls) in self._taxonomy for t in {x} | types)

    def edge(self, x: m.RdfTerm, cls: m.RdfTerm) -> bool:
        """x, or a synonym, is stated to be of type cls, or below it, or below a synonym of it."""
        stated = {(s, o) for s, p, o in self.world.event if p in (m.TYPE, m.SUBCLASS)}
        stated |= self.ontology_types | self._asserted_subclass
        return any(self.equivalent(x, s) and self.equivalent(cls, o) for s, o in stated)


def _of_vocabulary(term: m.RdfTerm) -> bool:
    return isinstance(term, m.Iri) and term.value.startswith(_VOCABULARIES)
