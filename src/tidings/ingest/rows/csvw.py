"""CSVW: a table with its description becomes the one form, as `csv2rdf` has it in minimal mode.

Every cell that is not null is a triple. Its subject is `aboutUrl`, or a blank node that the record has; its property is
`propertyUrl`, or `table#column`; its object is `valueUrl`, or the value.
"""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import unquote

from tidings.errors import EventError
from tidings.ingest.base import How
from tidings.ingest.rows.csv import ColumnReader, CsvPlan
from tidings.ingest.rows.csv_head import Head, read_head
from tidings.ingest.rows.csvw_cells import Described, check_format
from tidings.ingest.rows.csvw_model import Column, Table, read_metadata, resolved
from tidings.ingest.rows.direct import below, missing
from tidings.ingest.rows.form import Encoding, Kind, Line, RowMap, Slot, TermMap, constant
from tidings.ingest.rows.mapping import finished
from tidings.ingest.rows.sources import Read
from tidings.ingest.rows.text import is_iri_text, safe_text
from tidings.rdf.terms import blank, iri, literal

_PREFIXES = {
    "as": "https://www.w3.org/ns/activitystreams#",
    "cc": "http://creativecommons.org/ns#",
    "csvw": "http://www.w3.org/ns/csvw#",
    "dc": "http://purl.org/dc/terms/",
    "dc11": "http://purl.org/dc/elements/1.1/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "gr": "http://purl.org/goodrelations/v1#",
    "ical": "http://www.w3.org/2002/12/cal/icaltzd#",
    "org": "http://www.w3.org/ns/org#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "prov": "http://www.w3.org/ns/prov#",
    "qb": "http://purl.org/linked-data/cube#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "schema": "http://schema.org/",
    "sioc": "http://rdfs.org/sioc/ns#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "void": "http://rdfs.org/ns/void#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_RECORD = blank("record")


def described(read: Read, how: How, source: str, delimiter: str | None) -> tuple[CsvPlan, Head]:
    """How to read a file by its description, and the head of the file."""
    table = read_metadata(how)
    options = {
        **table.options,
        **{name: how.options[name] for name in how.options if name not in ("source", "sources")},
    }
    head = read_head(
        read, source, options, delimiter=delimiter or ("," if "delimiter" not in options else None), skip=table.skip
    )
    columns = _columns(table, head)
    physical = [each for each in columns if not each.virtual]
    for each in columns:
        check_format(each.datatype)
    names = tuple(each.name for each in physical)
    missing(how.key, names, "the key")
    readers: tuple[ColumnReader, ...] = tuple(Described(each, table.trim) for each in physical)
    needs = tuple(each.name for each in physical if each.required)
    form = finished(replace(_form(table, columns, how), needs=(*how.key, *needs)), how)
    return CsvPlan(head.dialect, names, readers, form, how.limits, head.start, head.line), head


def _columns(table: Table, head: Head) -> tuple[Column, ...]:
    if table.columns is None:
        return tuple(replace(table.common, name=name, titles=(name,)) for name in head.names)
    physical = [each for each in table.columns if not each.virtual]
    if len(physical) != len(head.names):
        reason = f"the description has {len(physical)} columns, and the table {len(head.names)}"
        raise EventError(reason, source="mapping")
    if len({each.name for each in table.columns}) < len(table.columns):
        raise EventError("two columns of the description have one name", source="mapping")
    if table.options.get("header", True):
        for column, name in zip(physical, head.names, strict=True):
            if name not in (*column.titles, column.name) and (column.titles or not name.startswith("_col.")):
                titles = ", ".join(f"'{each}'" for each in column.titles) or f"'{column.name}'"
                reason = f"the column '{name}' of the table is {titles} in the description"
                raise EventError(reason, source="mapping")
    return table.columns


def _form(table: Table, columns: tuple[Column, ...], how: How) -> RowMap:
    lines = []
    for place, column in enumerate(columns, 1):
        if column.suppressed:
            continue
        templates = _Templates(table, columns, column, place)
        if how.key:
            subject = TermMap(below(how.base, how.key))
        else:
            subject = constant(_RECORD) if column.about is None else templates.iri(column.about)
        if column.property is None:
            predicate = constant(iri(f"{table.url.partition('#')[0]}#{safe_text(unquote(column.name))}"))
        else:
            predicate = templates.iri(column.property)
        object_ = _object(column, templates)
        if object_ is not None:
            lines.append(Line(subject, predicate, object_))
    return RowMap(tuple(lines))


def _object(column: Column, templates: _Templates) -> TermMap | None:
    language = None if column.lang == "und" else column.lang
    is_text = column.datatype.base in ("string", "normalizedString", "token")
    if column.value is not None:
        if column.separator is not None:
            raise EventError("'valueUrl' of a column with a 'separator' is not read here", source="mapping")
        return templates.iri(column.value, present=None if column.virtual else column.name)
    if not column.virtual:
        return TermMap((Slot(column.name),), Kind.LITERAL, None, language if is_text else None)
    if not column.default or column.default in column.null:
        return None
    return constant(literal(column.default, None if language and is_text else column.datatype.iri, language))


class _Templates:
    """URI templates of one column."""

    def __init__(self, table: Table, columns: tuple[Column, ...], column: Column, place: int) -> None:
        self._table = table
        self._known = {each.name: each for each in columns if not each.virtual}
        self._fixed = {"_column": str(place), "_sourceColumn": str(place), "_name": safe_text(column.name)}

    def iri(self, template: str, present: str | None = None) -> TermMap:
        """The IRI that a template makes; with `present`, where that column has a value."""
        parts: list[str | Slot] = []
        for at, piece in enumerate(_EXPRESSION.split(template)):
            made = self._expanded(piece, template) if at % 2 else piece
            if isinstance(made, str) and parts and isinstance(parts[-1], str):
                parts[-1] += made
            elif made != "":
                parts.append(made)
        if parts and isinstance(parts[0], str):
            parts[0] = resolved(self._table.url, _full(parts[0]))
        elif not parts or (isinstance(parts[0], Slot) and parts[0].before == "#"):
            parts.insert(0, self._table.url.partition("#")[0])
        if all(isinstance(part, str) for part in parts):
            text = "".join(map(str, parts))
            if not is_iri_text(text):
                raise EventError(f"'{template}' makes '{text}', which is no absolute IRI", source="mapping")
            if present is None:
                return constant(iri(text))
        if present is not None:
            parts.append(Slot(present, Encoding.PRESENT))
        return TermMap(tuple(parts), Kind.IRI, base=resolved(self._table.url, "."))

    def _expanded(self, expression: str, template: str) -> str | Slot:
        """One variable, plain, with `+` or with `#`: what RFC 6570 has beyond that is refused."""
        match = re.fullmatch(r"([+#]?)([A-Za-z0-9_.%]+)", expression)
        if match is None:
            raise EventError(f"'{{{expression}}}' in the template '{template}' is not read here", source="mapping")
        operator, name = match[1], unquote(match[2])
        if name in self._fixed:
            return ("#" if operator == "#" else "") + self._fixed[name]
        if name == "_row":
            return Slot(None)
        column = self._known.get(name)
        if column is None:
            reason = f"the template '{template}' has '{name}', which is no column with values"
            raise EventError(reason, source="mapping")
        if column.separator is not None:
            reason = f"the template '{template}' has '{name}', which has a 'separator': that is not read here"
            raise EventError(reason, source="mapping")
        encoding = Encoding.RESERVED if operator else Encoding.UNRESERVED
        return Slot(name, encoding, "#" if operator == "#" else "", optional=True)


def _full(text: str) -> str:
    """A text that begins with a known prefix, in full."""
    prefix, colon, rest = text.partition(":")
    return f"{_PREFIXES[prefix]}{rest}" if colon and prefix in _PREFIXES and not rest.startswith("//") else text
