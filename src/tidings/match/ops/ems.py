"""The extended meta-statement array: sorted by subject class, property and object class, found by binary search."""

from __future__ import annotations

from bisect import bisect_left
from sys import getsizeof
from typing import TYPE_CHECKING, Final, TypeAlias

from tidings.ontology import Ontology
from tidings.ontology.vocabulary import THINGS
from tidings.rdf.terms import Term

if TYPE_CHECKING:
    from tidings.match.ops.patterns import Contents, InitialPattern, WaitingPattern

MetaStatement: TypeAlias = tuple[Term, Term, Term]
"""Subject class, property, object class."""

MAX_UNASKED: Final = 65_536
"""Rows kept only because events have had them."""

_FIRST = Term("")


class Row:
    """An item of the array: a meta-statement, its ancestor list, its waiting-pattern list.

    `initial` is the part of the waiting-pattern list that is there between events: patterns whose subject is _:H.
    `waiting` are derived patterns by subject, `passed` the objects that have come by, by subject: of one event only.
    """

    __slots__ = ("ancestors", "initial", "meta", "passed", "patterns", "version", "waiting")

    def __init__(self, meta: MetaStatement) -> None:
        self.meta = meta
        self.patterns = 0
        """How many statement patterns of subscriptions ask for this row."""
        self.version = -1
        self.ancestors: dict[bool, tuple[Row, ...]] = {}
        """The rows to match with: this one and those above it. True: of a statement whose object is a literal."""
        self.initial: dict[Contents, InitialPattern] = {}
        self.waiting: dict[Term, dict[Contents, WaitingPattern]] = {}
        self.passed: dict[Term, dict[Term, None]] = {}

    @property
    def touched(self) -> bool:
        return bool(self.passed or self.waiting)

    def reset(self) -> None:
        """Back to the state between events."""
        self.passed.clear()
        self.waiting.clear()

    def bytes(self) -> int:
        held = sum(map(getsizeof, (self, self.meta, self.ancestors, self.initial, self.waiting, self.passed)))
        held += sum(map(getsizeof, self.ancestors.values()))
        return held + sum(getsizeof(p) + getsizeof(p.observers) for p in self.initial.values())


class EmsArray:
    def __init__(self, ontology: Ontology, *, declared_only: bool = False) -> None:
        self._ontology = ontology
        self._declared_only = declared_only
        self._metas: list[MetaStatement] = []
        self._rows: list[Row] = []
        self._version = 0
        self._asked = 0
        self._above_all = frozenset(upper for thing in THINGS for upper in ontology.superclasses(thing))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(self._rows)

    def bytes(self) -> int:
        """What the array takes, without the texts of names."""
        return getsizeof(self._metas) + getsizeof(self._rows) + sum(row.bytes() for row in self._rows)

    def number(self, meta: MetaStatement) -> int:
        """The i of the paper's EMS(i); 0 where there is no such row."""
        at = bisect_left(self._metas, meta)
        return at + 1 if at < len(self._metas) and self._metas[at] == meta else 0

    def row(self, meta: MetaStatement) -> Row:
        """The row of a meta-statement, made where there is none."""
        at = bisect_left(self._metas, meta)
        if at < len(self._metas) and self._metas[at] == meta:
            return self._rows[at]
        row = Row(meta)
        self._metas.insert(at, meta)
        self._rows.insert(at, row)
        return row

    # ------------------------------------------------------------------------------------------------ asked for or not

    def ask(self, meta: MetaStatement) -> Row:
        """The row of a subscription's pattern."""
        row = self.row(meta)
        row.patterns += 1
        if row.patterns == 1:
            self._asked += 1
            self._version += 1
        return row

    def release(self, row: Row) -> None:
        """A pattern is gone; a row that nothing asks for any more goes with it."""
        row.patterns -= 1
        if not row.patterns:
            at = bisect_left(self._metas, row.meta)
            del self._metas[at], self._rows[at]
            self._asked -= 1
            self._version += 1

    def trim(self) -> None:
        """Forget the rows that no subscription asks for, once there are many. Not while an event is being matched."""
        if len(self._rows) - self._asked > MAX_UNASKED:
            self._rows = [row for row in self._rows if row.patterns]
            self._metas = [row.meta for row in self._rows]

    # ------------------------------------------------------------------------------------------------------- ancestors

    def above(self, cls: Term) -> frozenset[Term]:
        """The classes of a vertex that is no literal and of which this class is stated."""
        return self._ontology.superclasses(cls) | self._above_all

    def specific(self, stated: frozenset[Term]) -> tuple[Term, ...]:
        """Of the classes stated of a vertex, those with no other one below them; owl:Thing where none is left."""
        classes = sorted(stated - self._above_all)
        if len(classes) > 1:
            superclasses = self._ontology.superclasses
            uppers = [(cls, superclasses(cls)) for cls in classes]
            classes = [
                cls
                for cls, above in uppers
                if not any(cls in up and (low not in above or low < cls) for low, up in uppers if low != cls)
            ]
        return tuple(classes) or THINGS[:1]

    def lineage(self, row: Row, literal: frozenset[Term] | None) -> tuple[Row, ...]:
        """The row and its ancestors, as far as subscriptions ask for them.

        `literal` are the classes of the object where that is a literal. They differ from those of a resource that is
        said to be of the same type, since XML Schema's derivations count for literals only.
        """
        if row.version != self._version:
            row.version = self._version
            row.ancestors = {}
        kind = literal is not None
        found = row.ancestors.get(kind)
        if found is None:
            found = row.ancestors[kind] = self._lineage(row, literal)
        return found

    def _lineage(self, row: Row, literal: frozenset[Term] | None) -> tuple[Row, ...]:
        subject, property, object = row.meta
        if self._declared_only and self._ontology.extended(subject, property, object) is None:
            return ()
        objects = self.above(object) if literal is None else literal
        properties = self._ontology.superproperties(property)
        found = [r for c in self.above(subject) for p in properties for r in self._between(c, p, objects)]
        return tuple(sorted(found, key=lambda r: (r is not row, r.meta)))

    def _between(self, subject: Term, property: Term, objects: frozenset[Term]) -> list[Row]:
        """The asked for rows of a subject class and a property, with one of these object classes."""
        at = bisect_left(self._metas, (subject, property, _FIRST))
        found = []
        while at < len(self._metas) and self._metas[at][0] == subject and self._metas[at][1] == property:
            if self._rows[at].patterns and self._metas[at][2] in objects:
                found.append(self._rows[at])
            at += 1
        return found
