"""R2RML and RML: triples maps become the one form, all of one source together, so that a record is one event."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow.compute as pc

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How
from tidings.ingest.rows.direct import template
from tidings.ingest.rows.form import Encoding, Join, Kind, Line, RowMap, Slot, TermMap, constant
from tidings.ingest.rows.records import Records, merged
from tidings.ingest.rows.rml_model import Ref, Source, Spec, TriplesMap, read_mapping
from tidings.ingest.rows.term_maps import Problems, evaluated
from tidings.rdf.limits import human
from tidings.rdf.terms import HOME, RDF_TYPE, Term, is_blank

HOME_IRI = "<urn:tidings:home>"
"""As a constant in a mapping this is the home vertex."""

Parents = Callable[[Source, frozenset[str]], Iterator[Records]]
"""The records of a source of which these columns are needed."""

_KINDS = {"IRI": Kind.IRI, "BlankNode": Kind.BLANK, "Literal": Kind.LITERAL}
_ENTRY = 200
"""What an entry of a lookup costs beside its text, about."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping document, and the maps of it by their source."""

    maps: dict[Term, TriplesMap]
    how: How

    @staticmethod
    def of(how: How, format: str, *, trees: bool = False) -> Mapping:
        if how.key:
            raise UsageError("a mapping says itself what records are about: leave the key out")
        return Mapping(read_mapping(how.mapping or b"", format, how.base, how.limits, trees=trees), how)

    def sources(self, kind: str) -> list[Source]:
        """The sources of a kind, each once, in the order of their names."""
        found = {each.source for each in self.maps.values() if each.source.kind == kind}
        return sorted(found, key=lambda each: (each.query, each.name, each.iterator or ""))

    def document(self, kind: str) -> list[Source]:
        """The source that a document stands for: the one that is asked for, or the one that is not given otherwise.
        In trees there may be several, with an iterator each.
        """
        sources = self.sources(kind)
        wanted, given = self.how.options.get("source"), self.how.options.get("sources", {})
        left = [each for each in sources if (each.name == wanted if wanted is not None else each.name not in given)]
        if len({each.name for each in left}) != 1:
            names = ", ".join(dict.fromkeys(f"'{each.name}'" for each in sources)) or "none"
            raise UsageError(f"the option 'source' says which source the document is; in the mapping they are {names}")
        return left

    def form(self, source: Source, parents: Parents) -> RowMap:
        """All that the mapping says of the records of a source."""
        lines: list[Line] = []
        for each in self.maps.values():
            if each.source == source:
                lines += self._lines(each, parents)
        return RowMap(tuple(lines))

    def joins_with(self, source: Source) -> set[Source]:
        """The sources that records must be looked up in."""
        refs = [
            v for m in self.maps.values() if m.source == source for _, v in m.pairs if isinstance(v, Ref) and v.joins
        ]
        return {self.maps[each.parent].source for each in refs}

    def _lines(self, of: TriplesMap, parents: Parents) -> Iterator[Line]:
        subject = self._term(of, of.subject, Kind.IRI)
        if subject.kind is Kind.LITERAL:
            raise _error(of, "a subject is no literal")
        for each in of.classes:
            yield Line(subject, constant(RDF_TYPE), _constant(of, each))
        for predicate, value in of.pairs:
            named = self._term(of, predicate, Kind.IRI)
            if named.kind is not Kind.IRI:
                raise _error(of, "a predicate is an IRI")
            yield Line(
                subject, named, self._ref(of, value, parents) if isinstance(value, Ref) else self._object(of, value)
            )

    def _object(self, of: TriplesMap, spec: Spec) -> TermMap:
        plain = spec.reference is not None or spec.datatype is not None or spec.language is not None
        return self._term(of, spec, Kind.LITERAL if plain else Kind.IRI)

    def _term(self, of: TriplesMap, spec: Spec, default: Kind) -> TermMap:
        if spec.constant is not None:
            return _constant(of, spec.constant)
        kind = default if spec.kind is None else _KINDS[spec.kind]
        if kind is not Kind.LITERAL and (spec.datatype or spec.language):
            raise _error(of, "only literals have a datatype or a language")
        if spec.reference is not None:
            value: tuple[str | Slot, ...] = (Slot(self._column(of, spec.reference)),)
        else:
            encoding = Encoding.SAFE if kind is Kind.IRI else Encoding.NONE
            value = tuple(self._part(of, part, encoding) for part in template(spec.template or ""))
        if not any(isinstance(part, Slot) for part in value):
            raise _error(
                of, f"the template '{spec.template}' has no column; a text that is always the same is a constant"
            )
        return TermMap(value, kind, spec.datatype, spec.language, self.how.base if kind is Kind.IRI else "")

    def _part(self, of: TriplesMap, part: str | Slot, encoding: Encoding) -> str | Slot:
        return part if isinstance(part, str) else Slot(self._column(of, part.column or ""), encoding)

    def _column(self, of: TriplesMap, reference: str) -> str:
        if of.source.is_tree:
            return reference
        return json_path(reference) if of.source.kind == "jsonl" else unquoted(reference)

    def _ref(self, of: TriplesMap, ref: Ref, parents: Parents) -> TermMap:
        parent = self.maps[ref.parent]
        subject = self._term(parent, parent.subject, Kind.IRI)
        if not ref.joins:
            if parent.source != of.source:
                raise _error(of, f"{ref.parent} has another source, so a join condition is needed")
            return subject
        children = tuple(self._column(of, child) for child, _ in ref.joins)
        keys = tuple(self._column(parent, key) for _, key in ref.joins)
        needed = frozenset([*keys, *(slot.column for slot in subject.slots() if slot.column is not None)])
        found = _index(parents(parent.source, needed), subject, keys, self.how.limits.max_pending)
        return TermMap(Join(children, found), subject.kind)


def _index(
    records: Iterable[Records], subject: TermMap, keys: tuple[str, ...], most: int
) -> dict[tuple[str, ...], list[str]]:
    """The subjects of records by the values of their keys."""
    found: dict[tuple[str, ...], list[str]] = {}
    size = 0
    for part in records:
        (terms,) = evaluated(subject, part, Problems(len(part)))
        text = [*terms.pieces, "", "", ""]
        if all(isinstance(each, str) for each in text):
            subjects: Sequence[str | None] = ["".join(text)] * len(part)
        else:
            subjects = pc.binary_join_element_wise(*text, null_handling="emit_null").to_pylist()
        columns = [merged(part.columns.get(key, ()), len(part))[0].to_pylist() for key in keys]
        for term, key in zip(subjects, zip(*columns, strict=True), strict=True):
            if term is not None and None not in key:
                size += len(term) + sum(map(len, key)) + _ENTRY
                if size > most:
                    raise EventError(f"the records to join with are more than {human(most)}", source="mapping")
                of_key = found.setdefault(key, [])
                if term not in of_key[-1:]:
                    of_key.append(term)
    return found


def _constant(of: TriplesMap, term: Term) -> TermMap:
    if is_blank(term):
        raise _error(of, f"the constant {term} is a blank node")
    return constant(HOME if term == HOME_IRI else term)


def _error(of: TriplesMap, reason: str) -> EventError:
    return EventError(f"{of.name}: {reason}", source="mapping")


_BRACKETS = re.compile(r"\[(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")\]")


def json_path(reference: str) -> str:
    """A simple path to a member, as the name of its column: `$.a.b`, `a.b`, `$['a']`, `a[*]`."""
    text = re.sub(r"^(?:\$|@)\.?", "", reference.removesuffix("[*]"))
    text = _BRACKETS.sub(lambda match: "." + re.sub(r"\\(.)", r"\1", match[1] or match[2] or ""), text).removeprefix(
        "."
    )
    if not text or ".." in reference or re.search(r"[\[\]*()?]", text):
        raise EventError(f"the reference '{reference}' is not read here: it names a member, as $.a.b", source="mapping")
    return text


def unquoted(name: str) -> str:
    """The name of a column, which SQL writes in quotes."""
    return name[1:-1].replace('""', '"') if len(name) > 1 and name[0] == name[-1] == '"' else name


def known(form: RowMap, columns: Iterable[str], *, fold: bool = False) -> RowMap:
    """The form with its columns found among these; with `fold`, letters in any case. An `EventError` for others."""
    there = list(columns)
    names: dict[str, str] = {}
    for name in form.columns():
        near = [each for each in there if each == name] or [x for x in there if fold and x.lower() == name.lower()]
        if len(near) != 1:
            raise EventError(f"there is no column '{name}'; the columns are {', '.join(there[:50])}", source="mapping")
        names[name] = near[0]
    if all(name == found for name, found in names.items()):
        return form
    return replace(form, lines=tuple(_renamed(line, names) for line in form.lines))


def _renamed(line: Line, names: dict[str, str]) -> Line:
    return Line(*(_renamed_term(each, names) for each in (line.subject, line.predicate, line.object)))


def _renamed_term(term: TermMap, names: dict[str, str]) -> TermMap:
    if isinstance(term.value, tuple):
        value = tuple(replace(x, column=names[x.column]) if isinstance(x, Slot) and x.column else x for x in term.value)
        return replace(term, value=value)
    if isinstance(term.value, Join):
        return replace(term, value=Join(tuple(names[x] for x in term.value.columns), term.value.found))
    return term
