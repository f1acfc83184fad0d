"""JSON to events, a record each: by the user's JSON-LD context, by a mapping in RML (see `mapped`), or by the direct
mapping of `facade`.

Of `How` it uses `base`, `key` (references to members), `classes`, `home`, `record` (see `paths`; without it the members
of an array, or the document), `mapping`, `context`, and the option `contexts` (local copies of remote contexts).
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from tidings.errors import EventError, Span
from tidings.ingest.base import Batches, How, Input, Report
from tidings.ingest.trees.context import InContext
from tidings.ingest.trees.facade import json_triples
from tidings.ingest.trees.json_records import Found, found
from tidings.ingest.trees.mapped import mapped
from tidings.ingest.trees.naming import Names, about, key_values, subject
from tidings.ingest.trees.paths import json_path
from tidings.ingest.trees.records import HALF, JsonRecord
from tidings.rdf.terms import HOME, Term, Triple, is_iri


def convert(input: Input, how: How, report: Report) -> Iterator[pa.RecordBatch]:
    if how.mapping is not None:
        yield from mapped(input, how, report, "json")
        return
    names = Names(how)
    path = None if how.record is None else json_path(how.record)
    context = None if how.context is None else InContext(how)
    batches = Batches(input.name)
    try:
        for record in found(input, path, how.limits):
            try:
                if context is None:
                    triples = _direct(record, names, how)
                else:
                    triples = _in_context(record, context, how)
                yield from batches.add(triples, how.limits)
            except EventError as error:
                report(EventError(error.reason, span=Span(record.line), source=input.name, hint=error.hint))
            except UnicodeEncodeError:
                report(EventError(HALF, span=Span(record.line), source=input.name))
    except EventError as error:
        report(error)
    yield from batches.rest()


def _direct(record: Found, names: Names, how: How) -> list[Triple]:
    own = subject(how, record.number, key_values(how, JsonRecord(record.value).all))
    return about(own, how) + json_triples(HOME if how.home else own, record.value, names, how)


def _in_context(record: Found, context: InContext, how: How) -> list[Triple]:
    """The root of a record keeps the IRI that it has, unless the user says what its key is."""
    root, triples = context.triples(record.value)
    if root is None:
        return triples
    own = (
        root
        if is_iri(root) and not how.key
        else subject(how, record.number, key_values(how, JsonRecord(record.value).all))
    )
    node = HOME if how.home else own
    return about(own, how) + [(_put(s, root, node), p, _put(o, root, node)) for s, p, o in triples]


def _put(term: Term, root: Term, node: Term) -> Term:
    return node if term == root else term
