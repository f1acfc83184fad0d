"""Mappings that are kept apart from documents, and used for many of them: what they may be, and that they are sound.

Such a mapping is of one document, the one that comes with it. It names no other source, no table of a database and no
remote context, so there is nothing that it could have read.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from tidings.errors import EventError, Span, UsageError
from tidings.ingest.base import How
from tidings.ingest.rows.csvw import described
from tidings.ingest.rows.csvw_model import read_metadata
from tidings.ingest.rows.mapping import CSVW
from tidings.ingest.rows.rml import Mapping as Rml
from tidings.ingest.rows.sources import reader_of
from tidings.ingest.trees.columns import check_reference
from tidings.ingest.trees.context import InContext
from tidings.ingest.trees.mapped import check_iterator
from tidings.rdf.limits import Limits

TURTLE, CSVM, CONTEXT = "text/turtle", "application/csvm+json", "application/ld+json"
MAPPED = ("csv", "tsv", "jsonl", "parquet", "json", "xml")
"""The formats whose records a mapping is applied to; a JSON-LD context is for `json`."""

_NO_DESCRIPTION = (TypeError, ValueError, AttributeError, LookupError, RecursionError)


def applied(how: How, kind: str, text: bytes, format: str) -> How:
    """How documents of a format are read with a mapping; a `UsageError` where these do not go together."""
    if format not in (MAPPED if kind != CONTEXT else ("json",)):
        what = "a JSON-LD context" if kind == CONTEXT else "a mapping"
        raise UsageError(f"{what} is not for '{format}'")
    if kind == CONTEXT:
        return replace(how, context=text.decode())
    return replace(how, mapping=text, mapping_format="turtle" if kind == TURTLE else CSVW)


def check(kind: str, text: bytes, limits: Limits) -> None:
    """A `TidingsError` says what is wrong with a mapping; where that has a place in the text, it is told."""
    _CHECKS[kind](text, limits)


def _rml(text: bytes, limits: Limits) -> None:
    mapping = Rml.of(How(mapping=text, limits=limits), "turtle", trees=True)
    sources = {each.source for each in mapping.maps.values()}
    for each in sources:
        if each.kind == "sql":
            raise EventError(f"'{each.name}' is in a database, which there is none of here", source="mapping")
    names = sorted({f"'{each.name}' ({each.kind})" for each in sources})
    if len(names) > 1:
        reason = f"a mapping that is kept is of one document, and this is of {', '.join(names)}"
        raise EventError(reason, source="mapping", hint="what is to be joined with must be in the same document")
    for each in sources:
        form = mapping.form(each, lambda source, needed: iter(()))
        if each.is_tree:
            check_iterator(each)
            for name in form.columns():
                check_reference(name, each.kind)


def _csvw(text: bytes, limits: Limits) -> None:
    how = How(mapping=text, mapping_format=CSVW, limits=limits)
    try:
        table = read_metadata(how)
        reader_of(io.BytesIO().read, replace(how, options=table.options), "mapping")
        names = ["a"] if table.columns is None else [each.name for each in table.columns if not each.virtual]
        delimiter, quote = table.options.get("delimiter", ","), table.options.get("quote", '"')
        names = [f"{quote}{name.replace(quote, quote * 2)}{quote}" if quote else name for name in names]
        head = "\n" * table.skip + delimiter.join(names) + "\n"
        described(io.BytesIO(head.encode()).read, how, "mapping", None)
    except _NO_DESCRIPTION as error:
        raise EventError(f"is no description of a table: {error}"[:200], source="mapping") from error


def _context(text: bytes, limits: Limits) -> None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        raise EventError(f"is no JSON: {error.msg}", span=Span(error.lineno, error.colno), source="mapping") from error
    except RecursionError as error:
        raise EventError("is nested too deeply", source="mapping") from error
    InContext(How(context=text.decode(), limits=limits)).check()


_CHECKS: Mapping[str, Callable[[bytes, Limits], None]] = {TURTLE: _rml, CSVM: _csvw, CONTEXT: _context}
KINDS = tuple(_CHECKS)
"""The media types of what can be kept."""
