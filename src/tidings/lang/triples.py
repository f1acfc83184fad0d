"""Triples as SPARQL writes them: predicate and object lists, paths, collections, blank nodes, the wildcard `*`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tidings.lang.expressions import ExpressionParser
from tidings.lang.pattern import (
    Alternative,
    Block,
    Inverse,
    Link,
    Negated,
    Node,
    Path,
    PathPattern,
    Repeat,
    Sequence,
    TriplePattern,
    Var,
)
from tidings.lang.terms import LITERALS
from tidings.rdf.terms import RDF, RDF_TYPE, Term

_FIRST, _REST, _NIL = Term(f"<{RDF}first>"), Term(f"<{RDF}rest>"), Term(f"<{RDF}nil>")
_REPEATS: dict[str, tuple[Literal[0, 1], Literal[1] | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}

_NODES = frozenset(["var", "iri", "pname", "blank", "[", "(", "*", *LITERALS])
"""The kinds of token a subject or an object begins with."""
_CONTINUE_PATH = frozenset(["/", "|", "*", "+", "?"])


@dataclass(slots=True)
class Triples:
    """A basic graph pattern while it is read."""

    triples: list[TriplePattern] = field(default_factory=list)
    paths: list[PathPattern] = field(default_factory=list)

    def block(self) -> Block:
        return Block(tuple(self.triples), tuple(self.paths))


class TriplesParser(ExpressionParser):
    """Reads triples into `self.into`, the basic graph pattern that is open."""

    def __init__(self, text: str, source: str | None = None, base: str | None = None) -> None:
        super().__init__(text, source, base)
        self.into = Triples()
        self.template = False
        """In a CONSTRUCT template, where paths and wildcards mean nothing."""
        self.labels: dict[str, tuple[Triples, Var]] = {}
        self._blanks = 0
        self._wildcards = 0

    @property
    def has_hidden(self) -> bool:
        return self._blanks > 0 or self._wildcards > 0

    def at_triples(self) -> bool:
        return self.kinds[self.i] in _NODES

    def same_subject(self) -> None:
        """The triples of one subject, up to the dot, which is left to the caller."""
        kind = self.kinds[self.i]
        follow = self.kinds[self.i + 1]
        alone = (kind == "[" and follow != "]") or (kind == "(" and follow != ")")
        subject = self.node()
        if not alone or self.at_verb():
            self.property_list(subject)

    def at_verb(self) -> bool:
        return self.kinds[self.i] in ("var", "iri", "pname", "A", "^", "!", "(", "*")

    def property_list(self, subject: Node) -> None:
        """`verb objects ; verb objects ; …`."""
        while True:
            verb = self._verb()
            objects = [self.node()]
            while self.take(","):
                objects.append(self.node())
            for node in objects:
                self._emit(subject, verb, node)
            if self.kinds[self.i] != ";":
                return
            while self.take(";"):
                pass
            if not self.at_verb():
                return

    # ----------------------------------------------------------------------------------------------------------- nodes

    def node(self) -> Node:
        """A subject or an object; the triples of a collection or a blank node with properties are emitted before it."""
        kind = self.kinds[self.i]
        if kind == "var":
            return Var(self.next()[1:])
        if kind == "iri" or kind == "pname":
            return self.iri()
        if kind in LITERALS:
            return self.literal()
        if kind == "*":
            return self._wildcard()
        if kind == "blank":
            return self._labelled()
        if kind == "[":
            return self._blank_properties()
        if kind == "(":
            return self._collection()
        if kind.isupper() and self.kinds[self.i + 1] == "(":
            raise self.unexpected("a variable or a term", hint="a condition needs FILTER in front")
        raise self.unexpected("a variable or a term")

    def fresh_blank(self) -> Var:
        self._blanks += 1
        return Var(f"_:{self._blanks - 1}")

    def _wildcard(self) -> Var:
        if self.template:
            raise self.error("a wildcard has no place in a template", hint="name it with a variable")
        self.i += 1
        self._wildcards += 1
        return Var(f"*{self._wildcards - 1}")

    def _labelled(self) -> Var:
        label = self.next()
        known = self.labels.get(label)
        if known is None:
            known = self.labels[label] = self.into, self.fresh_blank()
        elif known[0] is not self.into:
            hint = "use a variable to join the two"
            raise self.error(f"the blank node {label} is already used in another group", at=self.i - 1, hint=hint)
        return known[1]

    def _blank_properties(self) -> Var:
        self.expect("[")
        self.enter()
        subject = self.fresh_blank()
        if self.kinds[self.i] != "]":
            self.property_list(subject)
        if self.kinds[self.i] != "]":
            raise self.unexpected(";", ",", "]")
        self.i += 1
        self.leave()
        return subject

    def _collection(self) -> Node:
        self.expect("(")
        self.enter()
        head: Node = _NIL
        cell: Var | None = None
        while self.kinds[self.i] in _NODES:
            item = self.node()
            fresh = self.fresh_blank()
            if cell is None:
                head = fresh
            else:
                self._emit(cell, _REST, fresh)
            cell = fresh
            self._emit(cell, _FIRST, item)
        if cell is not None:
            self._emit(cell, _REST, _NIL)
        if self.kinds[self.i] != ")":
            raise self.unexpected("a variable or a term", ")")
        self.i += 1
        self.leave()
        return head

    # ----------------------------------------------------------------------------------------------------------- verbs

    def _verb(self) -> Node | Path:
        kind = self.kinds[self.i]
        if kind == "var":
            return Var(self.next()[1:])
        if kind == "*":
            return self._wildcard()
        if (kind == "iri" or kind == "pname") and self.kinds[self.i + 1] not in _CONTINUE_PATH:
            return self.iri()
        start = self.i
        verb = self._alternatives()
        if isinstance(verb, Link):
            return verb.iri
        if self.template:
            raise self.error("a path has no place in a template", at=start)
        return verb

    def _emit(self, s: Node, verb: Node | Path, o: Node) -> None:
        """Add `s verb o`; inverses and sequences become plain triples where they can (SPARQL 1.1, 18.2.2.4)."""
        match verb:
            case Var() | str():
                self.into.triples.append(TriplePattern(s, verb, o))
            case Link(iri=iri):
                self.into.triples.append(TriplePattern(s, iri, o))
            case Inverse(path=path):
                self._emit(o, path, s)
            case Sequence(steps=steps):
                for step in steps[:-1]:
                    between = self.fresh_blank()
                    self._emit(s, step, between)
                    s = between
                self._emit(s, steps[-1], o)
            case _:
                self.into.paths.append(PathPattern(s, verb, o))

    # ----------------------------------------------------------------------------------------------------------- paths

    def _alternatives(self) -> Path:
        first = self._sequence()
        choices = [first]
        while self.take("|"):
            choices.append(self._sequence())
        return Alternative(tuple(choices)) if len(choices) > 1 else first

    def _sequence(self) -> Path:
        first = self._step()
        steps = [first]
        while self.take("/"):
            steps.append(self._step())
        return Sequence(tuple(steps)) if len(steps) > 1 else first

    def _step(self) -> Path:
        if self.take("^"):
            return Inverse(self._repeated())
        return self._repeated()

    def _repeated(self) -> Path:
        path = self._path_primary()
        kind = self.kinds[self.i]
        if kind not in _REPEATS or (kind == "*" and self._star_is_object()):
            return path
        self.i += 1
        least, most = _REPEATS[kind]
        return Repeat(path, least, most)

    def _star_is_object(self) -> bool:
        """A `*` behind a path belongs to the path where an object, or more path, follows; else it is the wildcard."""
        follow = self.kinds[self.i + 1]
        return follow not in _NODES and follow not in ("/", "|", ")")

    def _path_primary(self) -> Path:
        kind = self.kinds[self.i]
        if kind == "(":
            self.i += 1
            self.enter()
            inner = self._alternatives()
            if self.kinds[self.i] != ")":
                raise self.unexpected("/", "|", ")")
            self.i += 1
            self.leave()
            return inner
        if kind == "!":
            self.i += 1
            return self._negated()
        return Link(self._property())

    def _negated(self) -> Negated:
        forward: list[Term] = []
        inverse: list[Term] = []
        if not self.take("("):
            (inverse if self.take("^") else forward).append(self._property())
        elif not self.take(")"):
            while True:
                (inverse if self.take("^") else forward).append(self._property())
                if not self.take("|"):
                    break
            if not self.take(")"):
                raise self.unexpected("|", ")")
        return Negated(tuple(forward), tuple(inverse))

    def _property(self) -> Term:
        if self.kinds[self.i] == "A" and self.texts[self.i] == "a":
            self.i += 1
            return RDF_TYPE
        if self.kinds[self.i] not in ("iri", "pname"):
            raise self.unexpected("a property", "a path")
        return self.iri()
