"""The meaning of an event: E*, the event with all that the ontology adds to it. Made once, shared by all subscriptions.

Nothing is computed before it is asked for: not E*, not an index, not the words of a literal. All orders are fixed by
the event's text alone, so that the same event gives the same answer in the same order everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import itemgetter

from tidings.lang.fulltext import words
from tidings.match.fulltext import Words
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import (
    RDF_TYPE,
    SUBCLASS_OF,
    Term,
    Triple,
    iri,
    is_blank,
    is_literal,
    parts,
)


class TripleIndex:
    """Triples by any combination of their places."""

    def __init__(self, triples: Sequence[Triple]) -> None:
        """From triples without repeats, whose order is kept."""
        self.triples = triples
        self._tables: dict[tuple[int, ...], dict[tuple[Term, ...], list[Triple]]] = {}

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Sequence[Triple]:
        """The triples with these terms; None is any."""
        places = tuple(place for place, term in enumerate((s, p, o)) if term is not None)
        return self.find(places, tuple(term for term in (s, p, o) if term is not None))

    def find(self, places: tuple[int, ...], key: tuple[Term, ...]) -> Sequence[Triple]:
        """The triples that have the terms of `key` in these places: 0 the subject, 1 the property, 2 the object."""
        if not places:
            return self.triples
        table = self._tables.get(places)
        if table is None:
            table = self._tables[places] = self._table(places)
        return table.get(key, ())

    def _table(self, places: tuple[int, ...]) -> dict[tuple[Term, ...], list[Triple]]:
        [first, *others] = places
        keys = map(itemgetter(*places), self.triples) if others else ((triple[first],) for triple in self.triples)
        table: dict[tuple[Term, ...], list[Triple]] = {}
        for key, triple in zip(keys, self.triples, strict=True):
            there = table.get(key)
            if there is None:
                table[key] = [triple]
            else:
                there.append(triple)
        return table

    @cached_property
    def nodes(self) -> dict[Term, None]:
        """Every subject and object, in order."""
        return dict.fromkeys(term for triple in self.triples for term in (triple[0], triple[2]))


class Meaning:
    """One event under one ontology."""

    def __init__(self, event: Event, ontology: Ontology) -> None:
        self.event = event
        self.ontology = ontology
        self.name = iri(event.id)
        self._words: dict[Term, Words] = {}
        self._classes: dict[Term, frozenset[Term]] = {}
        self._up: dict[Term, frozenset[Term]] = {}

    # ----------------------------------------------------------------------------------------------------------- E*

    @cached_property
    def asserted(self) -> TripleIndex:
        """The event itself."""
        return TripleIndex(self.event.triples())

    @cached_property
    def entailed(self) -> TripleIndex:
        """E*."""
        if self.ontology.is_empty:
            return self.asserted
        found = dict.fromkeys(self.asserted.triples)
        found.update(dict.fromkeys(self._through_properties()))
        found.update(dict.fromkeys(self._from_ontology()))
        return self.asserted if len(found) == len(self.asserted.triples) else TripleIndex(sorted(found))

    @property
    def triples(self) -> Sequence[Triple]:
        """The triples of E*, sorted."""
        return self.entailed.triples

    def match(self, s: Term | None, p: Term | None, o: Term | None) -> Sequence[Triple]:
        """The triples of E* with these terms; None is any."""
        return self.entailed.match(s, p, o)

    def _through_properties(self) -> Iterable[Triple]:
        above = self.ontology.superproperties
        for s, p, o in self.asserted.triples:
            for q in above(p):
                yield s, q, o
                if q == RDF_TYPE:
                    yield from self._typed(s, o)

    def _from_ontology(self) -> Iterable[Triple]:
        for node in self.asserted.nodes:
            for cls in self.ontology.types_of(node):
                yield from self._typed(node, cls)

    def _typed(self, node: Term, cls: Term) -> Iterable[Triple]:
        """`node` is of class `cls`, of all classes above it, and stands in all relations above rdf:type to them."""
        for upper in self.ontology.superclasses(cls):
            for relation in self.ontology.superproperties(RDF_TYPE):
                yield node, relation, upper

    # ---------------------------------------------------------------------------------------------------------- OPS

    @cached_property
    def arc_index(self) -> TripleIndex:
        """The arcs of the OPS model: asserted statements other than rdf:type, under every property above theirs."""
        plain = [triple for triple in self.asserted.triples if triple[1] != RDF_TYPE]
        if self.ontology.is_empty:
            return TripleIndex(plain)
        above = self.ontology.superproperties
        return TripleIndex(sorted({(s, q, o) for s, p, o in plain for q in above(p)}))

    def arcs(self, s: Term | None, p: Term | None, o: Term | None) -> Sequence[Triple]:
        return self.arc_index.match(s, p, o)

    def classes(self, node: Term) -> frozenset[Term]:
        """The classes of an OPS vertex; those of a literal are its datatype and what that is derived from."""
        found = self._classes.get(node)
        if found is None:
            if is_literal(node):
                found = self.ontology.literal_classes(iri(parts(node).datatype))
            else:
                stated = [o for _, _, o in self.match(node, RDF_TYPE, None)]
                above = [self.ontology.superclasses(cls) for cls in stated]
                found = self.ontology.resource_classes.union(*above)
            self._classes[node] = found
        return found

    # ------------------------------------------------------------------------------------------------------- G-ToPSS

    def is_a(self, node: Term, cls: Term) -> bool:
        """Whether `node` is `cls`, an instance of it, or below it, the event's own sub-class statements included."""
        if cls in self._above(node):
            return True
        types = {o for _, _, o in self.match(node, RDF_TYPE, None)} | self.ontology.types_of(node)
        return any(cls in self._above(stated) for stated in types)

    def is_same(self, node: Term, cls: Term) -> bool:
        return node == cls or node in self.ontology.equivalent_classes(cls)

    def has_edge(self, node: Term, cls: Term) -> bool:
        """Whether the event or the ontology states a type or sub-class edge between the two, or equivalents of them."""
        targets = self.ontology.equivalent_classes(cls)
        for source in self.ontology.equivalent_classes(node):
            stated = self.ontology.types_of(source) | self.ontology.parents(source)
            if not targets.isdisjoint(stated):
                return True
            if any(self.asserted.match(source, p, target) for p in (RDF_TYPE, SUBCLASS_OF) for target in targets):
                return True
        return False

    def _above(self, node: Term) -> frozenset[Term]:
        """What `node` is a sub-class of, itself included."""
        found = self._up.get(node)
        if found is None:
            reached = set(self.ontology.superclasses(node))
            todo = list(reached) if self.asserted.match(None, SUBCLASS_OF, None) else []
            while todo:
                for _, _, upper in self.asserted.match(todo.pop(), SUBCLASS_OF, None):
                    new = self.ontology.superclasses(upper) - reached
                    reached |= new
                    todo += new
            found = self._up[node] = frozenset(reached)
        return found

    # ------------------------------------------------------------------------------------------------------ full text

    def words(self, node: Term) -> Words:
        """The words of a literal's lexical form."""
        found = self._words.get(node)
        if found is None:
            found = self._words[node] = Words(words(parts(node).lexical))
        return found

    # ----------------------------------------------------------------------------------------------------- new labels

    def unused_label(self, prefix: str) -> str:
        """The prefix, or a longer one, such that no blank node's label of this event begins with it."""
        labels = [node[2:] for node in self.asserted.nodes if is_blank(node)]
        while any(label.startswith(prefix) for label in labels):
            prefix += "x"
        return prefix
