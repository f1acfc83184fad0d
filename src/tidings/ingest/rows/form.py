"""The one form of a mapping from records to triples, which every way of writing one becomes.

A `RowMap` is a set of `Line`s. Each makes, of one record, a triple where its three terms exist, several where a column
has several values, and none where a column that it needs has no value. All triples of a record are one event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from tidings.rdf.terms import HOME, Term, is_blank, is_literal


class Kind(Enum):
    IRI = "iri"
    BLANK = "blank"
    LITERAL = "literal"


class Encoding(Enum):
    """What becomes of a value that is put into a template."""

    NONE = "none"
    SAFE = "safe"
    UNRESERVED = "unreserved"
    RESERVED = "reserved"
    PRESENT = "present"
    """Nothing is put in, but there must be a value."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The value of a column, behind `before`. Without a column it is the number of the record, from 1.

    Where there is no value there is no term either, but with `optional` nothing is put in.
    """

    column: str | None
    encoding: Encoding = Encoding.NONE
    before: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """The subjects of those records of another source whose columns have the same values as these columns of this.

    `found` gives them: from the tuple of values to the texts of their terms.
    """

    columns: tuple[str, ...]
    found: Mapping[tuple[str, ...], Sequence[str]]


@dataclass(frozen=True, slots=True)
class TermMap:
    """A term of a record: `value` is a term that is always the same, or parts of text and columns.

    A literal that is one column alone has the datatype of its cells, unless `datatype` says another.
    `base` comes before an IRI that is not absolute.
    """

    value: Term | tuple[str | Slot, ...] | Join
    kind: Kind = Kind.IRI
    datatype: str | None = None
    language: str | None = None
    base: str = ""

    @property
    def constant(self) -> Term | None:
        return None if isinstance(self.value, tuple | Join) else self.value

    def slots(self) -> Iterator[Slot]:
        if isinstance(self.value, tuple):
            yield from (part for part in self.value if isinstance(part, Slot))
        elif isinstance(self.value, Join):
            yield from (Slot(column) for column in self.value.columns)


def constant(term: Term) -> TermMap:
    return TermMap(term, Kind.BLANK if is_blank(term) else Kind.LITERAL if is_literal(term) else Kind.IRI)


def column(name: str, datatype: str | None = None) -> TermMap:
    """The literal that a cell is."""
    return TermMap((Slot(name),), Kind.LITERAL, datatype)


@dataclass(frozen=True, slots=True)
class Line:
    subject: TermMap
    predicate: TermMap
    object: TermMap


Lines: TypeAlias = tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class RowMap:
    """`needs`: columns without which a record is refused; of others, a missing value is no triple.

    `key` are columns of which a record has one value. `rest` is for columns that are not known before: the subject, and
    what comes before their names in IRIs.
    """

    lines: Lines
    needs: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    rest: tuple[TermMap, str] | None = None

    def ordered(self) -> RowMap:
        """The same with its lines in the order of the text they make, as far as that is known."""
        return replace(self, lines=tuple(sorted(set(self.lines), key=_order)))

    @property
    def sorted(self) -> bool:
        """Whether the lines of an ordered map make the lines of an event in their order, without repeats.

        So it is if there is one subject, the predicates are known, and two lines have one only if both are constant.
        """
        if len({line.subject for line in self.lines}) > 1:
            return False
        predicates = [line.predicate.constant for line in self.lines]
        if None in predicates:
            return False
        twice = {each for each, count in Counter(predicates).items() if count > 1}
        return all(line.predicate.constant not in twice or line.object.constant for line in self.lines)

    @property
    def blank(self) -> bool:
        """Whether events may have blank nodes."""
        return any(each.kind is Kind.BLANK for line in self.lines for each in (line.subject, line.object))

    def one_blank(self) -> Term | None:
        """The blank node that is the subject of all lines and no object, where that is all there is of them."""
        subjects = {line.subject.constant for line in self.lines}
        only = next(iter(subjects)) if len(subjects) == 1 else None
        if only is None or not is_blank(only) or any(line.object.kind is Kind.BLANK for line in self.lines):
            return None
        return only

    def columns(self) -> dict[str, None]:
        """The columns that it uses, in the order of their use."""
        maps = (each for line in self.lines for each in (line.subject, line.predicate, line.object))
        used = (slot.column for each in maps for slot in each.slots() if slot.column is not None)
        return dict.fromkeys([*self.needs, *used])


def named_as(blank: Term) -> Term:
    """What a blank node that is alone in its event is called where the event's id is made (see `rdf.identity`)."""
    return Term("<urn:tidings:home>") if blank == HOME else Term("_:c14n0")


def _order(line: Line) -> tuple[str, str, str]:
    terms = (line.subject.constant, line.predicate.constant, line.object.constant)
    return tuple(each or "" for each in terms)  # type: ignore[return-value]
