"""A mapping applied to records, a column at a time: the bodies and ids of their events.

A line of an event is pieces of text, some the same for every record, some a column. Where the order of the lines is
known before any record is (see `form.RowMap.sorted`), all pieces of all lines are joined in one go, and bodies come out
sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.errors import EventError
from tidings.ingest.base import SCHEMA, Report
from tidings.ingest.rows.form import Line, RowMap, TermMap, column, constant, named_as
from tidings.ingest.rows.records import Cells, Records, merged, nowhere
from tidings.ingest.rows.term_maps import Problems, Terms, evaluated
from tidings.ingest.rows.text import Ints, Mask, lengths, safe
from tidings.rdf.identity import PREFIX, id_of
from tidings.rdf.limits import Limits, human

_SLICE = 16 << 20
"""So many bytes of bodies are made at a time, but for a single one that is larger."""


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of one line of many events: pieces that are joined, of which arrays have one cell a record, or, with
    `rows`, one for each of these. It is there where all cells are."""

    pieces: tuple[str | pa.Array, ...]
    rows: Ints | None
    line: int = -1
    """Which line of the form makes it, if one does."""

    def sizes(self, count: int) -> Ints:
        """How long it is in each record."""
        size = len(self.rows) if self.rows is not None else count
        found = np.full(size, sum(len(each.encode()) for each in self.pieces if isinstance(each, str)), np.int64)
        arrays = [each for each in self.pieces if not isinstance(each, str)]
        for each in arrays:
            found += lengths(each)
        for each in arrays:
            if each.null_count:
                found[np.asarray(each.is_null())] = 0
        if self.rows is None:
            return found
        return np.bincount(self.rows, weights=found, minlength=count).astype(np.int64)

    @property
    def nulls(self) -> bool:
        return any(not isinstance(each, str) and each.null_count for each in self.pieces)

    def part(self, start: int, count: int) -> _Text:
        """The same for some of the records."""
        rows = None
        if self.rows is not None:
            first, last = np.searchsorted(self.rows, (start, start + count))
            rows, start, count = self.rows[first:last] - start, int(first), int(last - first)
        pieces = tuple(piece if isinstance(piece, str) else piece.slice(start, count) for piece in self.pieces)
        return _Text(pieces, rows, self.line)

    def joined(self, count: int) -> pa.Array:
        if all(isinstance(each, str) for each in self.pieces):
            size = count if self.rows is None else len(self.rows)
            return pa.array(np.full(size, "".join(map(str, self.pieces)), object), pa.string())
        return pc.binary_join_element_wise(*self.pieces, "", null_handling="emit_null")


class Evaluator:
    """Applies one mapping to the records of one document."""

    def __init__(self, form: RowMap, source: str, limits: Limits, report: Report) -> None:
        self._form = form.ordered()
        self._source = source
        self._limits = limits
        self._report = report
        self._sorted = self._form.sorted
        self._blank = self._form.blank
        one = self._form.one_blank()
        self._named = constant(named_as(one)) if one and self._sorted else None

    def batches(self, records: Records) -> Iterator[pa.RecordBatch]:
        """The events of some records. What cannot be one is reported, and costs no other."""
        problems = Problems(len(records))
        self._check(records, problems)
        lines = _texts(self._form.lines, records, problems)
        if self._form.rest is not None:
            lines += [_rest(*self._form.rest, cells, records, problems) for cells in records.rest]
        sizes = np.zeros(len(records), np.int64)
        for each in lines:
            sizes += each.sizes(len(records))
        self._check_sizes(lines, sizes, problems)
        self._tell(records, problems)
        sizes[problems.mask()] = 0
        named = None
        if self._named is not None:
            renamed = [replace(line, subject=self._named) for line in self._form.lines]
            named = _texts(renamed, records, Problems(len(records)))
        for start, stop in _slices(sizes):
            keep = sizes[start:stop] > 0
            if keep.any():
                yield from self._batch(lines, named, start, keep)

    def _check(self, records: Records, problems: Problems) -> None:
        columns = [(name, records.columns.get(name, ())) for name in self._form.columns()]
        for name, column_cells in [*columns, ("a member", records.rest)]:
            for cells in column_cells:
                size = lengths(cells.text)
                if size.size and size.max() > self._limits.max_term:
                    places = np.flatnonzero(size > self._limits.max_term)
                    reason = f"the value of '{name}' is larger than {human(self._limits.max_term)}"
                    problems.add(places if cells.rows is None else cells.rows[places], reason)
        for name in self._form.needs:
            missing = np.ones(len(records), np.bool_)
            for cells in records.columns.get(name, ()):
                there = np.flatnonzero(np.asarray(cells.text.is_valid()))
                missing[there if cells.rows is None else cells.rows[there]] = False
            problems.add(np.flatnonzero(missing), f"the record has no value for '{name}', which it needs")
        for name in self._form.key:
            several = merged(records.columns.get(name, ()), len(records))[1]
            problems.add(several, f"'{name}' has several values where one is needed")

    def _check_sizes(self, lines: list[_Text], sizes: Ints, problems: Problems) -> None:
        if sizes.size and sizes.max() > self._limits.max_event:
            reason = f"the event is larger than {human(self._limits.max_event)}"
            problems.add(np.flatnonzero(sizes > self._limits.max_event), reason)
        lists = [each.rows for each in lines if each.rows is not None]
        most = len(lines) + sum(int(np.bincount(rows).max()) for rows in lists if rows.size)
        if most > self._limits.max_triples:
            counts = np.full(sizes.size, len(lines) - len(lists), np.int64)
            for rows in lists:
                counts += np.bincount(rows, minlength=sizes.size)
            reason = f"an event may have {self._limits.max_triples:,} triples, and this has more"
            problems.add(np.flatnonzero(counts > self._limits.max_triples), reason)

    def _tell(self, records: Records, problems: Problems) -> None:
        for row, reason in problems.told():
            number = int(records.numbers[row])
            self._report(EventError(f"record {number}: {reason}", span=records.place(row), source=self._source))

    def _batch(
        self,
        lines: list[_Text],
        named: list[_Text] | None,
        start: int,
        keep: Mask,
    ) -> Iterator[pa.RecordBatch]:
        parts = [each.part(start, len(keep)) for each in lines]
        if not self._sorted or any(each.line < 0 for each in parts):
            bodies = _gathered(parts, keep)
            ids = self._ids_one_by_one(bodies)
        else:
            bodies = _joined(parts, keep)
            if named is not None:
                ids = _hashes(_joined([each.part(start, len(keep)) for each in named], keep))
            else:
                ids = self._ids_one_by_one(bodies) if self._blank else _hashes(bodies)
        if ids.null_count:
            bodies, ids = bodies.filter(ids.is_valid()), ids.drop_null()
        if len(ids):
            source = pa.repeat(pa.scalar(self._source, pa.string()), len(ids))
            yield pa.record_batch([ids, bodies, source], schema=SCHEMA)

    def _ids_one_by_one(self, bodies: pa.Array) -> pa.Array:
        if not self._blank:
            return _hashes(bodies)
        ids: list[str | None] = []
        for body in bodies.to_pylist():
            try:
                ids.append(id_of(body, self._limits.max_canonical_steps))
            except EventError as error:
                ids.append(None)
                self._report(EventError(error.reason, source=self._source, hint=error.hint))
        return pa.array(ids, pa.string())


def _texts(lines: Iterable[Line], records: Records, problems: Problems) -> list[_Text]:
    made = ((number, text) for number, line in enumerate(lines) for text in _line(line, records, problems))
    return [replace(text, line=number) for number, text in made]


def _line(line: Line, records: Records, problems: Problems) -> Iterator[_Text]:
    """The texts that a line makes: one for each datatype that its object's column has."""
    subjects, predicates = (evaluated(each, records, problems) for each in (line.subject, line.predicate))
    for object_ in evaluated(line.object, records, problems, lists=True):
        for subject in subjects:
            for predicate in predicates:
                yield _put_together(subject, predicate, object_)


def _rest(subject: TermMap, prefix: str, cells: Cells, records: Records, problems: Problems) -> _Text:
    """The lines of columns that are given by name and value."""
    (about,) = evaluated(subject, records, problems)
    (object_,) = evaluated(column("rest"), Records(records.numbers, {"rest": (cells,)}, nowhere), problems, lists=True)
    places = pa.array(cells.rows)
    of = [piece if isinstance(piece, str) else piece.take(places) for piece in about.pieces]
    return _Text((*of, f" <{prefix}", safe(cells.names), "> ", *object_.pieces, " .\n"), cells.rows)


def _put_together(subject: Terms, predicate: Terms, object_: Terms) -> _Text:
    pieces: list[str | pa.Array] = []
    rows = object_.rows
    places = None if rows is None else pa.array(rows)
    for terms, end in ((subject, " "), (predicate, " "), (object_, " .\n")):
        for piece in (*terms.pieces, end):
            if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
                pieces[-1] += piece
            elif isinstance(piece, str) or terms is object_ or places is None:
                pieces.append(piece)
            else:
                pieces.append(piece.take(places))
    return _Text(tuple(pieces), rows)


def _slices(sizes: Ints) -> Iterator[tuple[int, int]]:
    ends = np.cumsum(sizes)
    start, before = 0, 0
    while start < len(sizes):
        stop = max(int(np.searchsorted(ends, before + _SLICE, side="right")), start + 1)
        yield start, stop
        start, before = stop, int(ends[stop - 1])


def _joined(lines: list[_Text], keep: Mask) -> pa.Array:
    """Bodies of lines that are in order. Of a line with several values in a record, only these are put in order."""
    pieces: list[str | pa.Array] = []
    for line in _one_each(lines, len(keep)):
        for piece in (line.joined(len(keep)),) if line.nulls else line.pieces:
            if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
                pieces[-1] += piece
            else:
                pieces.append(piece)
    if all(isinstance(each, str) for each in pieces):
        bodies = pa.array(["".join(map(str, pieces))] * len(keep), pa.string())
    else:
        bodies = pc.binary_join_element_wise(*pieces, "", null_handling="replace", null_replacement="")
    return bodies if keep.all() else bodies.filter(pa.array(keep))


def _one_each(lines: list[_Text], count: int) -> Iterator[_Text]:
    for number, group in groupby(lines, lambda each: each.line):
        same = list(group)
        if any(each.rows is not None for each in same):
            yield _Text((_gathered(same, np.ones(count, np.bool_)),), None, number)
        else:
            yield from same


def _gathered(lines: list[_Text], keep: Mask) -> pa.Array:
    """Bodies of lines in any order, with repeats."""
    every = np.arange(len(keep))
    texts, rows = [], []
    for line in lines:
        joined = line.joined(len(keep))
        of = every if line.rows is None else line.rows
        there = np.asarray(joined.is_valid()) & keep[of]
        texts.append(joined.filter(pa.array(there)))
        rows.append(of[there])
    row = np.concatenate(rows)
    order = np.argsort(row, kind="stable")
    text = pa.concat_arrays(texts).take(pa.array(order)).to_pylist()
    ends = np.searchsorted(row[order], np.append(np.flatnonzero(keep), len(keep))).tolist()
    return pa.array(["".join(sorted(set(text[start:stop]))) for start, stop in pairwise(ends)], pa.string())


def _hashes(bodies: pa.Array) -> pa.Array:
    """The ids of events without blank nodes."""
    if len(bodies) == 0:
        return pa.array([], pa.string())
    _, offsets, data = bodies.buffers()
    places = np.frombuffer(offsets, np.int32)[bodies.offset : bodies.offset + len(bodies) + 1].tolist()
    view = memoryview(data)
    digests = [sha256(view[start:stop]).hexdigest() for start, stop in pairwise(places)]
    return pc.binary_join_element_wise(PREFIX, pa.array(digests, pa.string()), "")
