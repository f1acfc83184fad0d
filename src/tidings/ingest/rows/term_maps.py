"""The terms that one term map makes of many records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.ingest.rows import text
from tidings.ingest.rows.form import Encoding, Join, Kind, Slot, TermMap
from tidings.ingest.rows.records import Cells, Records, merged
from tidings.ingest.rows.text import Ints, Mask
from tidings.rdf.terms import XSD_STRING, escape

_ENCODERS: dict[Encoding, Callable[[pa.Array], pa.Array]] = {
    Encoding.NONE: lambda column: column,
    Encoding.SAFE: text.safe,
    Encoding.UNRESERVED: text.unreserved,
    Encoding.RESERVED: text.reserved,
    Encoding.PRESENT: lambda column: pc.if_else(column.is_valid(), "", pa.scalar(None, pa.string())),
}
_TOLD_EACH = 1_000


class Problems:
    """What is wrong with some of the records; of each, the first thing is told."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._reasons: dict[int, str] = {}

    def add(self, rows: Ints, reason: str) -> None:
        for row in rows.tolist():
            self._reasons.setdefault(row, reason)

    def mask(self) -> Mask:
        found = np.zeros(self._count, np.bool_)
        found[list(self._reasons)] = True
        return found

    def told(self) -> list[tuple[int, str]]:
        return sorted(self._reasons.items())


@dataclass(frozen=True, slots=True)
class Terms:
    """The text of a term of many records, in pieces; with `rows`, each cell is of the record it says."""

    pieces: tuple[str | pa.Array, ...]
    rows: Ints | None = None


def evaluated(term: TermMap, records: Records, problems: Problems, *, lists: bool = False) -> list[Terms]:
    """The terms; in several parts where they have several datatypes. Only with `lists` may a record have several."""
    if isinstance(term.value, Join):
        return [_found(term.value, records, problems)]
    if not isinstance(term.value, tuple):
        return [Terms((term.value,))]
    named = {slot.column for slot in term.slots() if slot.column is not None}
    if lists and len(named) == 1:
        (name,) = named
        return [_of_cells(term, records, cells, name, problems) for cells in records.columns.get(name or "", ())]
    columns = {name: Cells(_single(name, records, problems)) for name in named if name is not None}
    return [_made(term, columns, records, None, problems)]


def _single(name: str, records: Records, problems: Problems) -> pa.Array:
    column, several = merged(records.columns.get(name, ()), len(records))
    problems.add(several, f"'{name}' has several values where one is needed")
    return column


def _of_cells(term: TermMap, records: Records, cells: Cells, name: str, problems: Problems) -> Terms:
    return _made(term, {name: cells}, records, cells.rows, problems)


def _made(term: TermMap, columns: dict[str, Cells], records: Records, rows: Ints | None, problems: Problems) -> Terms:
    if term.kind is Kind.LITERAL:
        return Terms(('"', *_literal_parts(term, columns, records, rows), '"' + _suffix(term, columns)), rows)
    parts = list(_parts(term, columns, records, rows))
    if term.kind is Kind.BLANK:
        return Terms(("_:b", text.label(_joined(parts))), rows)
    if _is_sure(term):
        return Terms(("<", *parts, ">"), rows)
    return Terms(("<", _checked(_joined(parts), term.base, rows, problems), ">"), rows)


def _literal_parts(
    term: TermMap, columns: dict[str, Cells], records: Records, rows: Ints | None
) -> Iterator[str | pa.Array]:
    assert isinstance(term.value, tuple)
    for part in term.value:
        if isinstance(part, str):
            yield escape(part)
        elif part.column is not None and part.encoding is Encoding.NONE and columns[part.column].plain:
            yield columns[part.column].text
        else:
            yield text.escaped(_slot(part, columns, records, rows))


def _parts(term: TermMap, columns: dict[str, Cells], records: Records, rows: Ints | None) -> Iterator[str | pa.Array]:
    assert isinstance(term.value, tuple)
    for part in term.value:
        yield part if isinstance(part, str) else _slot(part, columns, records, rows)


def _slot(slot: Slot, columns: dict[str, Cells], records: Records, rows: Ints | None) -> pa.Array:
    if slot.column is None:
        numbers = records.numbers if rows is None else records.numbers[rows]
        return pc.cast(pa.array(numbers), pa.string())
    column = _ENCODERS[slot.encoding](columns[slot.column].text)
    if slot.before:
        column = pc.binary_join_element_wise(slot.before, column, "", null_handling="emit_null")
    return pc.fill_null(column, "") if slot.optional else column


def _suffix(term: TermMap, columns: dict[str, Cells]) -> str:
    if term.language is not None:
        return f"@{term.language.lower()}"
    datatype = term.datatype
    if datatype is None and isinstance(term.value, tuple) and len(term.value) == 1 and len(columns) == 1:
        datatype = next(iter(columns.values())).datatype
    return "" if datatype is None or datatype == XSD_STRING else f"^^<{datatype}>"


def _joined(parts: list[str | pa.Array]) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "", null_handling="emit_null")


_SURE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?:(?!/)|/(?!/|$)|//[^/?#]+[/?#])")


def _is_sure(term: TermMap) -> bool:
    """Whether every value gives an IRI: its start is given, and what is put in is encoded."""
    assert isinstance(term.value, tuple)
    first = term.value[0] if term.value else ""
    if not isinstance(first, str) or _SURE.match(first) is None:
        return False
    if any(slot.encoding in (Encoding.NONE, Encoding.RESERVED) and slot.column for slot in term.slots()):
        return False
    parts = [part if isinstance(part, str) else f"{part.before}x" for part in term.value]
    # No value may be empty: behind a first slash it would make an authority.
    empty = [part if isinstance(part, str) else "" for part in term.value]
    return text.is_iri_text("".join(parts)) and text.is_iri_text("".join(empty))


def _checked(column: pa.Array, base: str, rows: Ints | None, problems: Problems) -> pa.Array:
    """The column where it is absolute IRIs, else below the base; a record with something else is refused."""
    sound = text.sound_iris(column)
    there = np.asarray(column.is_valid())
    if (sound | ~there).all():
        return column
    if base:
        below = pc.binary_join_element_wise(base, column, "", null_handling="emit_null")
        column = pc.if_else(pa.array(sound), column, below)
        sound |= text.sound_iris(column)
    wrong = np.flatnonzero(there & ~sound)
    for place in wrong[:_TOLD_EACH].tolist():
        row = place if rows is None else int(rows[place])
        problems.add(np.array([row]), f"{column[place].as_py()[:200]!r} is no IRI")
    problems.add(wrong if rows is None else rows[wrong], "a value is no IRI")
    return pc.if_else(pa.array(sound), column, pa.scalar(None, pa.string()))


def _found(join: Join, records: Records, problems: Problems) -> Terms:
    columns = [_single(name, records, problems).to_pylist() for name in join.columns]
    texts: list[str] = []
    rows: list[int] = []
    for row, key in enumerate(zip(*columns, strict=True) if columns else [()] * len(records)):
        found = join.found.get(key, ())
        texts += found
        rows += [row] * len(found)
    return Terms((pa.array(texts, pa.string()),), np.array(rows, np.int64))
