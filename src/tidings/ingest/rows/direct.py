"""The direct mapping: what a table becomes where nobody says anything else of it.

A column is a property, `{base}{name}`. The subject of a record is `{base}{key values, by /}`, or, without a key,
`{base}#row={number}` (without the `#` where the base has one), so that rows that are the same stay different events.
Names and values are put into IRIs in R2RML's IRI-safe form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tidings.errors import UsageError
from tidings.ingest.base import How
from tidings.ingest.rows.form import Encoding, Kind, Line, RowMap, Slot, TermMap, column, constant
from tidings.ingest.rows.text import is_iri_text, safe_text
from tidings.rdf.terms import HOME, RDF_TYPE, XSD, Term, iri, iri_text, literal

IDENTIFIER = iri("http://purl.org/dc/terms/identifier")


@dataclass(frozen=True, slots=True)
class Direct:
    """The direct mapping of one document: the same for all its columns, whenever they are first seen."""

    base: str
    key: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    home: bool = False
    links: Mapping[str, tuple[str | Slot, ...]] = field(default_factory=dict)
    more: tuple[tuple[Term, tuple[str | Slot, ...]], ...] = ()
    """Further properties, which lead to other records by several columns each, and the IRIs of these."""

    subject_base: str | None = None
    """Records are below this, if they are not below the base itself."""

    @staticmethod
    def of(how: How) -> Direct:
        links = {name: _link(name, text) for name, text in _texts(how.options, "links").items()}
        return Direct(how.base, how.key, how.classes, how.home, links)

    def form(self, columns: Iterable[str]) -> RowMap:
        """The mapping of these columns."""
        columns = list(dict.fromkeys(columns))
        about = TermMap(self._subject())
        subject = constant(HOME) if self.home else about
        lines = [Line(subject, constant(RDF_TYPE), constant(iri(each))) for each in self.classes]
        if self.home:
            lines.append(identifier(about))
        lines += [Line(subject, constant(self.property(name)), self._value(name)) for name in columns]
        lines += [Line(subject, constant(name), TermMap(parts)) for name, parts in self.more]
        return RowMap(tuple(lines), self.key, self.key, (subject, self.base))

    def property(self, name: str) -> Term:
        return iri(f"{self.base}{safe_text(name)}")

    def _subject(self) -> tuple[str | Slot, ...]:
        base = self.base if self.subject_base is None else self.subject_base
        if not self.key:
            return f"{base}{'' if '#' in base else '#'}row=", Slot(None)
        return below(base, self.key)

    def _value(self, name: str) -> TermMap:
        return TermMap(self.links[name]) if name in self.links else column(name)


def identifier(about: TermMap) -> Line:
    """What the home vertex would have been called: a literal, for a vertex would have to have a class. What may have to
    be put below another address stays an IRI.
    """
    known = about.constant
    if known is not None:
        about = constant(literal(iri_text(known), f"{XSD}anyURI"))
    elif isinstance(about.value, tuple) and isinstance(first := about.value[0], str) and ":" in first:
        about = replace(about, kind=Kind.LITERAL, datatype=f"{XSD}anyURI")
    return Line(constant(HOME), constant(IDENTIFIER), about)


def below(base: str, columns: Iterable[str]) -> tuple[str | Slot, ...]:
    """The IRI of the record that these columns are the key of."""
    parts: list[str | Slot] = [base]
    for place, name in enumerate(columns):
        parts += ["/"] * (place > 0) + [Slot(name, Encoding.SAFE)]
    return tuple(parts)


def missing(names: Iterable[str], columns: Iterable[str], what: str) -> None:
    """A `UsageError` where one of the names is no column."""
    columns = list(columns)
    for name in names:
        if name not in columns:
            raise UsageError(f"there is no column '{name}' for {what}; the columns are {', '.join(columns[:50])}")


def _texts(options: Mapping[str, Any], name: str) -> Mapping[str, str]:
    found = options.get(name, {})
    if not isinstance(found, Mapping) or not all(isinstance(x, str) for pair in found.items() for x in pair):
        raise UsageError(f"'{name}' is an object of texts: for instance {{\"column\": …}}")
    return found


def types_option(options: Mapping[str, Any]) -> Mapping[str, str]:
    """The datatypes of columns as the user gives them."""
    return _texts(options, "types")


def _link(name: str, text: str) -> tuple[str | Slot, ...]:
    """An IRI with `{column}` in it; without, one that the value is put behind."""
    parts = template(text) if "{" in text else (text, Slot(name, Encoding.SAFE))
    if not is_iri_text("".join(part if isinstance(part, str) else "x" for part in parts)):
        raise UsageError(f"the link '{text}' of '{name}' makes no absolute IRI")
    return parts


def template(text: str) -> tuple[str | Slot, ...]:
    """`text {column} text`, with a backslash before a brace or backslash that is none of it (as R2RML has it)."""
    parts: list[str | Slot] = []
    plain, inside, place = "", None, 0
    while place < len(text):
        character = text[place]
        if character == "\\" and text[place + 1 : place + 2] in ("{", "}", "\\"):
            place += 1
            plain += text[place]
        elif character == "{" and inside is None:
            parts += [plain] * bool(plain)
            plain, inside = "", place
        elif character == "}" and inside is not None:
            parts.append(Slot(plain, Encoding.SAFE))
            plain, inside = "", None
        elif character in "{}":
            raise UsageError(f"the template '{text}' has a brace at {place + 1} that is not closed or not opened")
        else:
            plain += character
        place += 1
    if inside is not None:
        raise UsageError(f"the template '{text}' has a brace at {inside + 1} that is not closed")
    return (*parts, *([plain] * bool(plain)))
