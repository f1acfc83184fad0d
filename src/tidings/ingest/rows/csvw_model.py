"""Metadata of tables (CSVW): the JSON description of one, read into what is needed to map it.

What is only said about a table (titles, notes, properties with a prefix) is passed over. What would change the triples
or refuse records, and is not read here, is refused by its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from tidings.errors import EventError, Span
from tidings.ingest.base import How
from tidings.ingest.rows.text import is_iri_text, is_language
from tidings.rdf.terms import RDF, XSD

CSVW = "http://www.w3.org/ns/csvw"
_INHERITED = {"aboutUrl", "propertyUrl", "valueUrl", "datatype", "default", "lang", "null", "required", "separator"}
_INHERITED |= {"ordered", "textDirection"}
_GROUP = _INHERITED | {"@context", "@id", "@type", "tables", "dialect", "notes", "tableDirection", "tableSchema"}
_TABLE = _GROUP | {"url", "suppressOutput"}
_SCHEMA = _INHERITED | {"@id", "@type", "columns", "primaryKey", "foreignKeys", "rowTitles"}
_COLUMN = _INHERITED | {"@id", "@type", "name", "titles", "virtual", "suppressOutput"}
_DATATYPE = {"@id", "@type", "base", "format", "name", "dc:title", "dc:description"}
_DIALECT = {
    "@id",
    "@type",
    "delimiter",
    "encoding",
    "header",
    "headerRowCount",
    "lineTerminators",
    "quoteChar",
    "skipRows",
}
_DIALECT |= {"skipBlankRows", "trim"}
_ONLY = {"doubleQuote": True, "commentPrefix": None, "skipColumns": 0, "skipInitialSpace": False}
"""Properties of a dialect that are read if they say this."""

_OTHER_TYPES = {
    "number": f"{XSD}double",
    "binary": f"{XSD}base64Binary",
    "datetime": f"{XSD}dateTime",
    "any": f"{XSD}anyAtomicType",
    "xml": f"{RDF}XMLLiteral",
    "html": f"{RDF}HTML",
    "json": f"{CSVW}#JSON",
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")


@dataclass(frozen=True, slots=True)
class Datatype:
    """`base` is what values look like, `iri` what they are called."""

    base: str = "string"
    iri: str = f"{XSD}string"
    format: Any = None


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    titles: tuple[str, ...] = ()
    datatype: Datatype = Datatype()
    about: str | None = None
    property: str | None = None
    value: str | None = None
    default: str = ""
    lang: str = "und"
    null: tuple[str, ...] = ("",)
    separator: str | None = None
    required: bool = False
    virtual: bool = False
    suppressed: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` is None where the header says which they are; `common` is then what holds for each."""

    url: str
    base: str
    columns: tuple[Column, ...] | None
    common: Column
    options: Mapping[str, Any]
    skip: int
    trim: str


def read_metadata(how: How) -> Table:
    """The description of the table that the document is."""
    try:
        found = json.loads(how.mapping or b"")
    except json.JSONDecodeError as error:
        place = Span(error.lineno, error.colno)
        raise EventError(f"is no JSON: {error.msg}", span=place, source="mapping") from error
    except (ValueError, RecursionError) as error:
        raise _error(f"is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise _error("is no JSON object")
    base, language = _context(found.get("@context"), how.base)
    group = found if "tables" in found else {}
    if group:
        _check(group, _GROUP, "table group")
        found = _one_table(group["tables"], how)
    _check(found, _TABLE, "table")
    schema = found.get("tableSchema", group.get("tableSchema", {}))
    if isinstance(schema, str):
        raise _error("a 'tableSchema' that is somewhere else is not read here: put it into the description")
    _check(schema, _SCHEMA, "schema")
    if found.get("suppressOutput"):
        raise _error("'suppressOutput' of the table leaves nothing to convert")
    levels = [group, found, schema]
    written = schema.get("columns")
    columns = None if not written else tuple(_column(each, place, levels) for place, each in enumerate(written, 1))
    if columns is not None:
        _check_keys(schema, [each.name for each in columns])
    url = found.get("url", "")
    dialect = {**group.get("dialect", {}), **found.get("dialect", {})} if _dialects(group, found) else {}
    options, skip, trim = _dialect(dialect)
    common = _column({"name": "-"}, 1, [{"lang": language} if language else {}, *levels])
    if columns is not None and language:
        columns = tuple(_column(each, n, [{"lang": language}, *levels]) for n, each in enumerate(written, 1))
    return Table(resolved(base, url) if url else base, base, columns, common, options, skip, trim)


def resolved(base: str, reference: str) -> str:
    """A reference below a base; one like `urn:a:` has no folders, and the reference comes behind it."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.\-]*:", reference):
        return reference
    if reference.startswith("#"):
        return base.partition("#")[0] + reference
    if base.startswith(("http:", "https:", "file:")):
        return urljoin(base, reference)
    return base + reference


def _dialects(*levels: Mapping[str, Any]) -> bool:
    for each in levels:
        if not isinstance(each.get("dialect", {}), dict):
            raise _error("a 'dialect' that is somewhere else is not read here: put it into the description")
    return True


def _context(context: Any, base: str) -> tuple[str, str | None]:
    more = context[1] if isinstance(context, list) and len(context) == 2 and isinstance(context[1], dict) else {}
    if (context[0] if isinstance(context, list) and context else context) not in (CSVW, None):
        raise _error(f"its @context is not {CSVW}")
    base = resolved(base, more["@base"]) if isinstance(more.get("@base"), str) else base
    if not is_iri_text(f"{base}a"):
        raise _error(f"the base '{base}' is no absolute IRI")
    return base, more.get("@language")


def _one_table(tables: Any, how: How) -> Mapping[str, Any]:
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise _error("'tables' is no list of tables")
    wanted = how.options.get("source")
    found = [each for each in tables if wanted is None or each.get("url") == wanted]
    if len(found) != 1:
        names = ", ".join(f"'{each.get('url')}'" for each in tables)
        raise _error(f"has the tables {names}: the option 'source' says which one the document is")
    return dict(found[0])


def _check(found: Any, known: set[str], what: str) -> None:
    if not isinstance(found, dict):
        raise _error(f"the {what} is no JSON object")
    for name in found:
        if name not in known and ":" not in name:
            raise _error(f"'{name}' of a {what} is not read here")
    if found.get("ordered"):
        raise _error("'ordered' is not read here: values are a set")


def _column(found: Any, place: int, levels: Sequence[Mapping[str, Any]]) -> Column:
    _check(found, _COLUMN, "column")
    said: dict[str, Any] = {}
    for level in (*levels, found):
        said |= {name: value for name, value in level.items() if name in _INHERITED}
    titles = found.get("titles", [])
    if isinstance(titles, dict):
        titles = [each for value in titles.values() for each in (value if isinstance(value, list) else [value])]
    titles = tuple(str(each) for each in (titles if isinstance(titles, list) else [titles]))
    null = said.get("null", "")
    nulls = tuple(null) if isinstance(null, list) else (null,)
    for name in ("aboutUrl", "propertyUrl", "valueUrl", "default", "lang", "separator"):
        if not isinstance(said.get(name, ""), str) and not (name == "separator" and said[name] is None):
            raise _error(f"'{name}' of a column is no text")
    if not is_language(said.get("lang", "und")):
        raise _error(f"{said['lang']!r:.100} is no language")
    return Column(
        str(found.get("name") or (titles[0] if titles else f"_col.{place}")),
        titles,
        _datatype(said.get("datatype", "string")),
        said.get("aboutUrl"),
        said.get("propertyUrl"),
        said.get("valueUrl"),
        said.get("default", ""),
        said.get("lang", "und"),
        nulls,
        said.get("separator"),
        bool(said.get("required", False)),
        bool(found.get("virtual", False)),
        bool(found.get("suppressOutput", False)),
    )


def _datatype(found: Any) -> Datatype:
    if isinstance(found, str):
        found = {"base": found}
    if not isinstance(found, dict):
        raise _error(f"the datatype {found!r} is none")
    for name in found:
        if name not in _DATATYPE and ":" not in name:
            raise _error(f"'{name}' of a datatype is not read here")
    base = found.get("base", "string")
    if not isinstance(base, str) or not _NAME.fullmatch(base):
        raise _error(f"the datatype {base!r} is none")
    iri = found.get("@id", _OTHER_TYPES.get(base, f"{XSD}{base}"))
    if not isinstance(iri, str) or not is_iri_text(iri):
        raise _error(f"the datatype '{iri}' is no IRI")
    return Datatype({"number": "double", "datetime": "dateTime"}.get(base, base), iri, found.get("format"))


def _dialect(found: Mapping[str, Any]) -> tuple[dict[str, Any], int, str]:
    """Options as a user would give them, how many rows come before the header, and what is trimmed."""
    options: dict[str, Any] = {}
    for name, value in found.items():
        if name in _ONLY and value == _ONLY[name]:
            continue
        if name in _ONLY or (name not in _DIALECT and ":" not in name):
            raise _error(f"'{name}': {value!r} of a dialect is not read here")
    options |= {"delimiter": found["delimiter"]} if "delimiter" in found else {}
    options |= {"quote": found["quoteChar"] or ""} if "quoteChar" in found else {}
    options |= {"encoding": found["encoding"]} if "encoding" in found else {}
    rows = found.get("headerRowCount", 1 if found.get("header", True) else 0)
    if rows not in (0, 1):
        raise _error(f"'headerRowCount': {rows!r} is not read here: it is 0 or 1")
    options["header"] = rows == 1
    trim = found.get("trim", False)
    if trim not in (True, False, "true", "false", "start", "end"):
        raise _error(f"'trim': {trim!r} is none of true, false, start, end")
    skip = found.get("skipRows", 0)
    if not isinstance(skip, int) or not 0 <= skip <= 1000:
        raise _error(f"'skipRows': {skip!r} is no number up to 1,000")
    return options, skip, str(trim).lower()


def _check_keys(schema: Mapping[str, Any], names: list[str]) -> None:
    """Keys are checked for naming columns; that their values occur once, or elsewhere, is not looked into."""
    keys = [("primaryKey", schema.get("primaryKey", []))]
    for each in schema.get("foreignKeys", []):
        if not isinstance(each, dict) or not isinstance(each.get("reference"), dict):
            raise _error("a foreign key has 'columnReference' and 'reference'")
        if not each["reference"].get("columnReference"):
            raise _error("the 'reference' of a foreign key has a 'columnReference'")
        keys.append(("foreignKeys", each.get("columnReference", [])))
    for what, columns in keys:
        for name in [columns] if isinstance(columns, str) else columns:
            if name not in names:
                raise _error(f"'{what}' names the column '{name}', which there is not")


def _error(reason: str) -> EventError:
    return EventError(reason, source="mapping")
