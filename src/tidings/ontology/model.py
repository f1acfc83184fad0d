"""The ontology: classes and properties in their hierarchies, synonyms, instances, meta-statements, names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from tidings.errors import OntologyError, UsageError
from tidings.ontology.axioms import Axioms, collect
from tidings.ontology.cycles import refuse_cycles
from tidings.ontology.datatypes import LITERAL_CLASSES, xsd_ancestors
from tidings.ontology.hierarchy import Hierarchy, Pair
from tidings.ontology.load import read
from tidings.ontology.meta import ExtendedStatement, MetaStatement, MetaStatements
from tidings.ontology.names import Labels, Near
from tidings.ontology.vocabulary import THINGS, is_built_in, is_built_in_class, is_built_in_property
from tidings.rdf.limits import DEFAULT_LIMITS, Limits
from tidings.rdf.terms import Term, Triple, iri, iri_text, is_blank, is_iri

Cycles: TypeAlias = Literal["error", "equivalence"]
Kind: TypeAlias = Literal["class", "property"]


class Ontology:
    """What is known about names. Immutable, safe to share between threads, and it pickles as its axioms.

    All relations are reflexive and transitive, with equivalents: `superclasses(c)` holds c itself, and for a name the
    ontology does not know that is all it holds.
    """

    def __init__(self, axioms: Axioms) -> None:
        """From axioms free of cycles, or whose cycles are meant as equivalence; see `load` and `of`."""
        self._axioms = axioms
        self.classes = Hierarchy(axioms.classes, axioms.subclasses, axioms.same_classes)
        self.properties = Hierarchy(axioms.properties, axioms.subproperties, axioms.same_properties)
        self._parents = _parents(axioms.subclasses)
        self._property_parents = _parents(axioms.subproperties)

    def __reduce__(self) -> tuple[type[Ontology], tuple[Axioms]]:
        return Ontology, (self._axioms,)

    def __repr__(self) -> str:
        return f"<Ontology: {len(self.classes)} classes, {len(self.properties)} properties>"

    # ------------------------------------------------------------------------------------------------------- making

    @staticmethod
    def load(
        *sources: str | Path | bytes,
        format: str | None = None,
        cycles: Cycles = "error",
        limits: Limits = DEFAULT_LIMITS,
        contexts: Mapping[str, Path | bytes] | None = None,
    ) -> Ontology:
        """The ontology in one or several files, folders or globs of any RDF format, merged; bytes need a `format`.

        A cycle of sub-class or sub-property statements is an error, unless `cycles="equivalence"`. `contexts` are
        local copies of JSON-LD contexts by their address. owl:imports is not followed: name the files you want.
        """
        triples = list(read(sources, format, limits, contexts))
        try:
            return Ontology.of(triples, cycles=cycles)
        except OntologyError as error:
            names = ", ".join("bytes" if isinstance(source, bytes) else str(source) for source in sources)
            raise OntologyError(f"{names}: {error}") from None

    @staticmethod
    def of(triples: Iterable[Triple], *, cycles: Cycles = "error") -> Ontology:
        """The ontology in the triples."""
        if cycles not in ("error", "equivalence"):
            raise UsageError(f"cycles must be 'error' or 'equivalence', not {cycles!r}")
        axioms = collect(triples)
        if cycles == "error":
            refuse_cycles(axioms, Labels((*axioms.classes, *axioms.properties)).label)
        return Ontology(axioms)

    @staticmethod
    def empty() -> Ontology:
        return Ontology.of(())

    @property
    def axioms(self) -> Axioms:
        """What it states."""
        return self._axioms

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing at all."""
        return not (len(self.classes) or len(self.properties))

    # -------------------------------------------------------------------------------------------------- hierarchies

    def superclasses(self, c: Term) -> frozenset[Term]:
        return self.classes.ancestors(c)

    def subclasses(self, c: Term) -> frozenset[Term]:
        return self.classes.descendants(c)

    def superproperties(self, p: Term) -> frozenset[Term]:
        return self.properties.ancestors(p)

    def subproperties(self, p: Term) -> frozenset[Term]:
        return self.properties.descendants(p)

    def is_subclass(self, c: Term, d: Term) -> bool:
        return self.classes.is_a(c, d)

    def is_subproperty(self, p: Term, q: Term) -> bool:
        return self.properties.is_a(p, q)

    def equivalent_classes(self, c: Term) -> frozenset[Term]:
        return self.classes.equivalents(c)

    def equivalent_properties(self, p: Term) -> frozenset[Term]:
        return self.properties.equivalents(p)

    def parents(self, c: Term) -> frozenset[Term]:
        """The named classes that a sub-class statement puts directly above c, without c."""
        return self._parents.get(c, frozenset())

    def property_parents(self, p: Term) -> frozenset[Term]:
        return self._property_parents.get(p, frozenset())

    def types_of(self, x: Term) -> frozenset[Term]:
        """The types stated of x, except those from the RDF, RDFS, OWL and DAML+OIL vocabularies.

        Of a blank node nothing is known: one of another document is another one, whatever its label.
        """
        return frozenset() if is_blank(x) else self._axioms.types.get(x, frozenset())

    def literal_classes(self, datatype: Term) -> frozenset[Term]:
        """What is above a datatype, by XML Schema and by the ontology: each goes on where the other one ends."""
        found: set[Term] = set()
        todo = [datatype, *LITERAL_CLASSES]
        while todo:
            new = self.superclasses(todo.pop()) - found
            found |= new
            todo += [iri(above) for cls in new if is_iri(cls) for above in xsd_ancestors(iri_text(cls))]
        return frozenset(found)

    @cached_property
    def resource_classes(self) -> frozenset[Term]:
        """The classes of every resource that is not a literal."""
        return frozenset(upper for thing in THINGS for upper in self.superclasses(thing))

    @property
    def instances(self) -> Mapping[Term, frozenset[Term]]:
        """The types stated of each instance, as `types_of` gives them."""
        return self._axioms.types

    # --------------------------------------------------------------------------------------------- meta-statements

    @property
    def meta_statements(self) -> tuple[MetaStatement, ...]:
        """The declared meta-statements, sorted by property."""
        return self._meta.declared

    def allows(self, subject_class: Term, property: Term, object_class: Term) -> bool:
        """Whether the declared meta-statements leave room for this one; see `tidings.ontology.meta`."""
        return self._meta.allows(subject_class, property, object_class)

    def extended(self, subject_class: Term, property: Term, object_class: Term) -> ExtendedStatement | None:
        """The row of an extended meta-statement (one that is declared or below a declared one), or None."""
        return self._meta.extended(subject_class, property, object_class)

    @cached_property
    def _meta(self) -> MetaStatements:
        return MetaStatements(self._axioms, self.classes, self.properties)

    # -------------------------------------------------------------------------------------------------------- names

    def is_class(self, t: Term) -> bool:
        """Whether t is declared or used as a class, or is a class or datatype that needs no declaration."""
        return t in self.classes or is_built_in_class(t)

    def is_property(self, t: Term) -> bool:
        return t in self.properties or is_built_in_property(t)

    def is_known(self, t: Term) -> bool:
        """Whether t is a class, a property, an instance, or of the RDF, RDFS, OWL, DAML+OIL or XSD vocabulary."""
        return t in self.classes or t in self.properties or t in self._axioms.types or is_built_in(t)

    def near(self, t: Term, kind: Kind) -> Term | None:
        """The class or property whose name is nearest to that of t, which is none; None where nothing is near."""
        return (self._near_classes if kind == "class" else self._near_properties).find(t)

    def label(self, t: Term) -> str:
        """A short name for messages: `dbo:Person` where a prefix is known or suggests itself, else the local name."""
        return self._labels.label(t)

    @cached_property
    def _labels(self) -> Labels:
        return Labels((*self._axioms.classes, *self._axioms.properties))

    @cached_property
    def _near_classes(self) -> Near:
        return Near(self.classes)

    @cached_property
    def _near_properties(self) -> Near:
        return Near(self.properties)


def _parents(pairs: tuple[Pair, ...]) -> dict[Term, frozenset[Term]]:
    parents: dict[Term, set[Term]] = {}
    for lower, upper in pairs:
        if is_iri(lower) and is_iri(upper):
            parents.setdefault(lower, set()).add(upper)
    return {lower: frozenset(uppers) for lower, uppers in parents.items()}
