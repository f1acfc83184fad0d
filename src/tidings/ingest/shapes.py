"""Events against SHACL shapes, by pyshacl: an alternative to the concept model. It needs the extra `shacl`.

Bounded: shapes import nothing, run no JavaScript, and may not ask other servers. Patterns (sh:pattern) are those of
SPARQL, as the standard has it, and are searched for by RE2 in time linear in the text; pyshacl would take Python's.
Queries in shapes (sh:sparql) take the time they take: use such shapes only where you trust them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import Any

from tidings.errors import EventError, UsageError
from tidings.ingest.base import Report
from tidings.ingest.logs import quiet
from tidings.rdf.event import Event
from tidings.rdf.formats import Format
from tidings.rdf.limits import DEFAULT_LIMITS, Limits
from tidings.rdf.read import read_triples
from tidings.rdf.regex import Regex, compile_regex
from tidings.rdf.terms import Term, iri_text, is_blank, is_iri, parts

_SH = "http://www.w3.org/ns/shacl#"
_NEEDS = "SHACL shapes need pyshacl, which is not installed; install it with: pip install 'tidings[shacl]'"
_SWAPPED = RLock()
_SERVICE = re.compile(r"\bSERVICE\b", re.IGNORECASE)
_BOUNDED = {
    "inference": "none",
    "advanced": False,
    "js": False,
    "meta_shacl": False,
    "do_owl_imports": False,
    "inplace": True,
}
_PATTERN, _FLAGS = f"<{_SH}pattern>", f"<{_SH}flags>"
_QUERIES = tuple(f"<{_SH}{name}>" for name in ("select", "ask", "construct", "update", "expression"))


@dataclass(frozen=True, slots=True)
class Violation:
    """What a shape says of an event: at which node, along which path, and in whose words."""

    focus: str
    path: str | None
    message: str
    severity: str

    def __str__(self) -> str:
        where = f"{self.focus} {self.path}" if self.path else self.focus
        return f"{where}: {self.message}"


class Shapes:
    """Shapes, read once, for any number of events. Not for several threads at a time."""

    def __init__(self, data: bytes, format: str | Format = "ttl", *, limits: Limits = DEFAULT_LIMITS) -> None:
        """A `UsageError` where pyshacl is missing, or these are no shapes that may be used."""
        try:
            import pyshacl
            import rdflib
        except ModuleNotFoundError as error:
            raise UsageError(_NEEDS) from error
        self._rdflib = rdflib
        self._validate: Callable[..., tuple[bool, Any, str]] = pyshacl.validate
        graph = rdflib.Graph()
        try:
            for triple in read_triples(data, format=format, limits=limits, base="urn:tidings:shapes"):
                _refuse(triple[1], triple[2])
                graph.add(tuple(self._node(term) for term in triple))
        except EventError as error:
            raise UsageError(f"the shapes cannot be read: {error}") from error
        self._graph = graph
        try:
            self.violations(Event("urn:tidings:nothing", ""))
        except EventError as error:
            raise UsageError(f"the shapes cannot be used: {error.__cause__}") from error

    def violations(self, event: Event) -> list[Violation]:
        """What is wrong with the event, sorted; an `EventError` where that cannot be found out."""
        data = self._rdflib.Graph()
        for triple in event.triples():
            data.add(tuple(self._node(term) for term in triple))
        try:
            with quiet("pyshacl", "rdflib"), _linear():
                conforms, report, _ = self._validate(data, shacl_graph=self._graph, **_BOUNDED)
        except Exception as error:  # what a shape asks for may fail in nearly any way
            reason = f"the shapes cannot be checked on event {event.id}: {type(error).__name__}: {error}"
            raise EventError(reason, source=event.source) from error
        return [] if conforms else sorted(self._read(report), key=str)

    def valid(self, events: Iterable[Event], report: Report) -> Iterator[Event]:
        """The events that conform; of each violation of the others `report` is told."""
        for event in events:
            try:
                found = self.violations(event)
            except EventError as error:
                report(error)
                continue
            for each in found:
                report(EventError(f"{each} (event {event.id})", source=event.source))
            if not found:
                yield event

    def _read(self, report: Any) -> Iterator[Violation]:
        sh = self._rdflib.Namespace(_SH)
        for result in report.subjects(self._rdflib.RDF.type, sh.ValidationResult):
            focus, path = report.value(result, sh.focusNode), report.value(result, sh.resultPath)
            messages = sorted(str(message) for message in report.objects(result, sh.resultMessage))
            severity = str(report.value(result, sh.resultSeverity)).removeprefix(_SH)
            yield Violation(_text(focus), None if path is None else _text(path), " ".join(messages), severity)

    def _node(self, term: Term) -> Any:
        """The term for rdflib, which must not rewrite it."""
        if is_iri(term):
            return self._rdflib.URIRef(iri_text(term))
        if is_blank(term):
            return self._rdflib.BNode(term[2:])
        lexical, datatype, language = parts(term)
        if language is not None:
            return self._rdflib.Literal(lexical, lang=language, normalize=False)
        plain = datatype == "http://www.w3.org/2001/XMLSchema#string" and not term.endswith(">")
        kind = None if plain else self._rdflib.URIRef(datatype)
        return self._rdflib.Literal(lexical, datatype=kind, normalize=False)


def _refuse(property: Term, value: Term) -> None:
    if property.startswith(f"<{_SH}js"):
        raise UsageError("shapes that run JavaScript are not used")
    if property in _QUERIES and value.startswith('"') and _SERVICE.search(parts(value).lexical):
        raise UsageError("a shape asks another server (SERVICE), which is not done")
    if property in (_PATTERN, _FLAGS):
        _check_pattern(property, value)


def _check_pattern(property: Term, value: Term) -> None:
    if not value.startswith('"'):
        return
    text = parts(value).lexical
    if property == _FLAGS and set(text) - set("im"):
        raise UsageError(f"the flags '{text}' of a pattern are not used; i and m are")
    if property == _PATTERN:
        try:
            compile_regex(text)
        except ValueError as error:
            raise UsageError(f"the pattern '{text:.100}' of a shape is not used: {error}") from error


class _Re:
    """What pyshacl takes of the module `re` and of a pattern, with those of SPARQL. A match at the beginning is one
    that is found.
    """

    I, M = re.IGNORECASE, re.MULTILINE  # noqa: E741

    def __init__(self, pattern: Regex) -> None:
        self.search = self.match = pattern.search

    @staticmethod
    def compile(pattern: str, flags: int = 0) -> _Re:
        letters = (("i", re.IGNORECASE), ("m", re.MULTILINE))
        return _Re(compile_regex(pattern, "".join(letter for letter, flag in letters if flags & flag)))


@contextmanager
def _linear() -> Iterator[None]:
    """While this lasts, pyshacl's constraints on strings are checked by RE2. Whoever else checks shapes in this process
    meanwhile has the same patterns.
    """
    from pyshacl.constraints.core import string_based_constraints as constraints

    given: Any = vars(constraints)
    with _SWAPPED:
        before, given["re"] = given["re"], _Re
        try:
            yield
        finally:
            given["re"] = before


def _text(node: Any) -> str:
    return str(node.n3())
