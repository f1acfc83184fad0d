"""What the workers do for `chained` over tables: put events together, give their quads, look at conditions, and tell.

A condition is the verifier's: a block without patterns, which is asked about a row of bindings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from tidings.errors import EvaluationError, EventError
from tidings.match.base import Match
from tidings.match.meaning import Meaning
from tidings.match.nodes import Node
from tidings.match.plan import plan_pattern
from tidings.match.run import Run
from tidings.match.verify import Prepared, current_time
from tidings.rdf.event import Event
from tidings.rdf.terms import Triple
from tidings.spark.chained.deciding import micros, standing
from tidings.spark.chained.parts import excess, part_of, whole
from tidings.spark.chained.steps import ARCS, Conditions
from tidings.spark.schema import HIT_ROWS
from tidings.spark.stage import bindings_text
from tidings.spark.versions import Version
from tidings.spark.workers import opened

Batches: TypeAlias = Iterator[pa.RecordBatch]
Stage: TypeAlias = Callable[[Batches], Batches]
_MOMENT = pa.timestamp("us", "UTC")
_ROWS = 10_000

MERGED = "event string, published timestamp, body string, source string, reason string"
_MERGED_ROWS = pa.schema(
    [
        ("event", pa.string()),
        ("published", _MOMENT),
        ("body", pa.string()),
        ("source", pa.string()),
        ("reason", pa.string()),
    ]
)
QUADS = "event string, arc int, s string, p string, o string"
_QUAD_ROWS = pa.schema(
    [("event", pa.string()), ("arc", pa.int32()), ("s", pa.string()), ("p", pa.string()), ("o", pa.string())]
)
BOUND = "event string, number int, row array<string>, reason string"
"""Rows of bindings; one with a reason is that of a subscription that failed."""

_BOUND_ROWS = pa.schema(
    [("event", pa.string()), ("number", pa.int32()), ("row", pa.list_(pa.string())), ("reason", pa.string())]
)


class _Rows:
    """Rows on their way into batches."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: list[tuple[Any, ...]] = []

    def put(self, row: tuple[Any, ...]) -> Batches:
        self._rows.append(row)
        if len(self._rows) >= _ROWS:
            yield from self.rest()

    def rest(self) -> Batches:
        if self._rows:
            columns = zip(*self._rows, strict=True)
            arrays = [pa.array(values, each.type) for values, each in zip(columns, self._schema, strict=True)]
            self._rows = []
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _each(batches: Batches) -> Iterator[tuple[Any, ...]]:
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def merge_stage(batches: Batches) -> Batches:
    """From (event, published, bodies, source) to whole events, and problems."""
    rows = _Rows(_MERGED_ROWS)
    for event, published, bodies, source in _each(batches):
        lines: set[str] = set()
        for part in bodies:
            try:
                lines |= part_of(event, part["body"]).lines
            except EventError as error:
                yield from rows.put((event, None, None, source, error.reason))
        reason = excess(body := whole(lines), len(lines))
        if reason is not None:
            yield from rows.put((event, None, None, source, reason))
        elif lines:
            yield from rows.put((event, published, body, source, None))
    yield from rows.rest()


def quad_stage(version: Version, kinds: frozenset[int]) -> Stage:
    """From (event, body) to the triples of its meaning, the arcs of the OPS model, or both: 0 and `ARCS` in `kinds`."""

    def stage(batches: Batches) -> Batches:
        ontology = opened(version).engine.ontology
        rows = _Rows(_QUAD_ROWS)
        for event, body in _each(batches):
            meaning = Meaning(Event(event, body), ontology)
            found: list[tuple[int, Sequence[Triple]]] = []
            if 0 in kinds:
                found.append((0, meaning.triples))
            if ARCS in kinds:
                found.append((ARCS, meaning.arc_index.triples))
            for kind, triples in found:
                for triple in triples:
                    yield from rows.put((event, kind, *triple))
        yield from rows.rest()

    return stage


class Asked(NamedTuple):
    """The conditions behind a step by subscription, and what of the row is kept."""

    conditions: Mapping[int, Conditions]
    kept: Mapping[int, Sequence[int]]


def condition_stage(version: Version, asked: Asked) -> Stage:
    """From (event, body, rows of (number, row, reason)) to the rows that satisfy the conditions of their step."""

    def stage(batches: Batches) -> Batches:
        ontology = opened(version).engine.ontology
        nodes: dict[int, Node] = {}
        rows = _Rows(_BOUND_ROWS)
        for event, body, bound in _each(batches):
            meaning = Meaning(Event(event, body), ontology)
            given: set[tuple[Any, ...]] = set()
            for each in bound:
                number, terms, reason = each["number"], each["row"], each["reason"]
                behind = asked.conditions.get(number)
                if behind is not None and reason is None:
                    if number not in nodes:
                        nodes[number] = plan_pattern(behind.block)
                    run = Run(meaning, version.budget, current_time())
                    try:
                        if not _holds(nodes[number], run, dict(zip(behind.names, terms, strict=True))):
                            continue
                    except EvaluationError as error:
                        reason = str(error)
                kept = [terms[place - 1] for place in asked.kept.get(number, ())] if reason is None else []
                if (key := (number, *kept, reason)) not in given:
                    given.add(key)
                    yield from rows.put((event, number, kept, reason))
        yield from rows.rest()

    return stage


def _holds(node: Node, run: Run, row: dict[str, Any]) -> bool:
    try:
        return next(node.rows(run, row), None) is not None
    except RecursionError:
        raise EvaluationError("the subscription is nested too deeply to be evaluated") from None


def telling_stage(version: Version, ids: Sequence[str], bindings: bool, accepted: datetime | None) -> Stage:
    """From (event, published, body, source, rows of (number, reason)) to matches and failures: see `schema.HITS`."""

    def stage(batches: Batches) -> Batches:
        engine, times = opened(version)
        moment = micros(accepted or datetime.now(UTC))
        prepared = _Preparing(version) if bindings else None
        rows = _Rows(HIT_ROWS)
        for event, published, body, source, decided in _each(batches):
            names = [ids[each["number"]] for each in decided]
            when = None if published is None else micros(published)
            stand = standing(engine, times, names, when, moment)
            meaning = Meaning(Event(event, body), engine.ontology)
            for id, each, stands in zip(names, decided, stand, strict=True):
                reason, text = each["reason"], None
                if reason is None and prepared is not None:
                    text, reason = prepared.solutions(id, meaning)
                if reason is not None or stands:
                    now = datetime.now(UTC)
                    yield from rows.put((id, event, published, now, text, reason, None, source))
            yield from rows.put((None, None, None, datetime.now(UTC), None, None, len(decided), None))
        yield from rows.rest()

    return stage


class _Preparing:
    """Subscriptions of a version made ready for the verifier, each when it is first asked for."""

    def __init__(self, version: Version) -> None:
        self._queries = dict(opened(version).engine.queries())
        self._budget = version.budget
        self._prepared: dict[str, Prepared] = {}

    def solutions(self, id: str, meaning: Meaning) -> tuple[str | None, str | None]:
        """The solutions as JSON; or the reason why there are none."""
        if id not in self._prepared:
            self._prepared[id] = Prepared(self._queries[id])
        try:
            answer = self._prepared[id].solve(meaning, budget=self._budget)
            assert answer is not None, "a match has a solution"
            return bindings_text(Match(meaning.event.id, id, "", answer)), None
        except EvaluationError as error:
            return None, str(error)
