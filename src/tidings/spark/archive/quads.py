"""The triples of bodies as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidings.match.fast.canonical import canonical_bodies
from tidings.rdf.numbers import NUMERIC_TYPES
from tidings.rdf.terms import Term
from tidings.rdf.values import number_of
from tidings.spark.archive.layout import QUAD_ROWS

Batches: TypeAlias = Iterator[pa.RecordBatch]

_TRIPLE = r"^(?P<subject>\S+) (?P<predicate>\S+) (?P<object>.*) \.$"
_NUMERIC = rf"\^\^<({'|'.join(each.replace('.', '[.]') for each in sorted(NUMERIC_TYPES))})>$"


def quads_stage(batches: Batches) -> Batches:
    """From (event, body, day) to quads and their day, as a worker does it."""
    for batch in batches:
        rows, quads = quads_of(batch["event"], batch["body"])
        yield pa.record_batch([*quads.columns, batch["day"].take(rows)], [*QUAD_ROWS.names, "day"])


def quads_of(events: pa.Array, bodies: pa.Array) -> tuple[pa.Array, pa.RecordBatch]:
    """The quads of these events, and which of them each is of."""
    # A line a triple, one space between two terms.
    lines = pc.split_pattern(canonical_bodies(events, bodies), "\n")
    flat = pc.list_flatten(lines)
    there = pc.not_equal(flat, "")
    rows = pc.list_parent_indices(lines).filter(there)
    terms = pc.extract_regex(flat.filter(there), _TRIPLE)
    subjects, predicates, objects = (pc.struct_field(terms, n) for n in range(3))
    columns = [events.take(rows), subjects, predicates, objects, _numbers(objects)]
    return rows, pa.record_batch(columns, schema=QUAD_ROWS)


def _numbers(objects: pa.Array) -> pa.Array:
    """What the literals among these are worth, as the comparisons of filters see it."""
    named = pc.dictionary_encode(objects)
    worth = np.full(len(named.dictionary), np.nan)
    numeric = pc.match_substring_regex(named.dictionary, _NUMERIC)
    for place in np.flatnonzero(numeric.to_numpy(zero_copy_only=False)).tolist():
        value = number_of(Term(named.dictionary[place].as_py()))
        if value is not None:
            worth[place] = float(value.value)
    return pc.if_else(pc.is_nan(pa.array(worth)), pa.scalar(None, pa.float64()), pa.array(worth)).take(named.indices)
