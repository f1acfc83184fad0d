"""Documents to events: the one way in, for every format and source.

    sources ─ documents ─ items (runs of triples, broken lines) ─ drafts (by graph, document, subject, nanopub) ─ events

A document that cannot be read, a broken line, an event that is refused: each is one report, and reading goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import pyoxigraph as ox

from tidings.errors import EventError, UsageError
from tidings.rdf.blanks import numbered
from tidings.rdf.by_graph import by_document, by_graph
from tidings.rdf.by_nanopub import by_nanopub
from tidings.rdf.by_subject import by_subject
from tidings.rdf.draft import Draft, Problems
from tidings.rdf.event import Event
from tidings.rdf.finish import Finisher
from tidings.rdf.formats import Format
from tidings.rdf.group import regrouped
from tidings.rdf.jsonld import Contexts
from tidings.rdf.limits import DEFAULT_LIMITS, Limits
from tidings.rdf.lines import line_items
from tidings.rdf.objects import quads_of
from tidings.rdf.quads import Broken, Item, Refused, runs
from tidings.rdf.seen import Numbering, SeenEvents
from tidings.rdf.sources import Document, Source, documents
from tidings.rdf.terms import Triple, split_triple
from tidings.rdf.whole import checked, repeatable

EventsBy: TypeAlias = Literal["graph", "document", "subject", "nanopub"]
Report: TypeAlias = Callable[[EventError], None]

_BY: dict[EventsBy, Callable[[Iterable[Item], Problems], Iterator[Draft]]] = {
    "graph": by_graph,
    "document": by_document,
    "subject": by_subject,
    "nanopub": by_nanopub,
}


def read_events(
    sources: Iterable[Source] | Source,
    *,
    report: Report,
    format: str | Format | None = None,
    by: EventsBy = "graph",
    strict: bool = False,
    group: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    contexts: Contexts | None = None,
    base: str | None = None,
    seen: SeenEvents | None = None,
) -> Iterator[Event]:
    """The events of all sources, in order: files, folders, globs, `-` (N-Quads on stdin), bytes and streams.

    What is rejected goes to `report`, one error each. `seen` holds the events known already, and takes the new ones.
    `base` resolves relative IRIs; without it, a file's own address does.
    """
    reading = _Reading(
        _known(by), strict, group, limits, contexts or {}, report, SeenEvents() if seen is None else seen
    )
    return reading.events(documents(sources, format=format, base=_valid(base)))


def read_triples(
    source: Source,
    *,
    format: str | Format | None = None,
    limits: Limits = DEFAULT_LIMITS,
    contexts: Contexts | None = None,
    base: str | None = None,
) -> Iterator[Triple]:
    """All triples of one document, its graphs merged; an `EventError` where anything is wrong with it."""
    found = list(documents(source, format=format, base=_valid(base)))
    if len(found) != 1:
        raise EventError(f"stands for {len(found)} documents, and should for one", source=str(source))
    document = found[0]
    if isinstance(document, EventError):
        raise document
    with ExitStack() as stack:
        triples: list[str] = []
        items, given = _items(document, limits, contexts or {}, stack)
        for item in items:
            if isinstance(item, Broken):
                raise item.error
            triples += item.triples
    for triple in triples if given is None else numbered(triples, given):
        yield split_triple(triple)


def events_of(
    data: object,
    *,
    format: str | Format | None = None,
    by: EventsBy = "graph",
    strict: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    contexts: Contexts | None = None,
    base: str | None = None,
) -> list[Event]:
    """The events of what a program holds: a path, bytes with their format, quads, an rdflib graph, an `Event`.

    The first problem is raised as an `EventError`.
    """
    if isinstance(data, Event):
        return [data]
    reading = _Reading(_known(by), strict, False, limits, contexts or {}, _raise, SeenEvents())
    if isinstance(data, str | os.PathLike | bytes) or hasattr(data, "read"):
        return list(reading.events(documents(cast(Source, data), format=format, base=_valid(base))))
    return list(reading.events_of_quads(quads_of(data)))


def event_from(data: object, *, format: str | Format | None = None, limits: Limits = DEFAULT_LIMITS) -> Event:
    """The one event that `data` is, as in `events_of`; an `EventError` where it is none or several."""
    events = events_of(data, format=format, limits=limits)
    if len(events) != 1:
        raise EventError(f"one event was expected, and there are {len(events) or 'none'}")
    return events[0]


def _raise(error: EventError) -> None:
    raise error


def _known(by: EventsBy) -> EventsBy:
    if by not in _BY:
        raise UsageError(f"events by '{by}'? It is one of {', '.join(_BY)}")
    return by


def _valid(base: str | None) -> str | None:
    try:
        return base and ox.NamedNode(base).value
    except ValueError as error:
        raise UsageError(f"the base '{base}' is no absolute IRI") from error


def _items(
    document: Document, limits: Limits, contexts: Contexts, stack: ExitStack, *, together: bool = False
) -> tuple[Iterator[Item], Numbering | None]:
    """The items of a document, and the labels in it that only look generated (None where none can be).

    Where `together` is asked for, graphs that come apart are brought together if the document is held anyway.
    """
    if document.format.by_line:
        return line_items(document, limits), None
    whole = checked(stack.enter_context(repeatable(document, limits)), limits, contexts)
    items = whole.items()
    return (regrouped(items, limits) if together and whole.apart else items), whole.given


def _refusing(items: Iterable[Item]) -> Iterator[Item]:
    try:
        yield from items
    except Refused as error:
        yield Broken(EventError(str(error), source="quads"), None, None, rest=True)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One run over many documents."""

    by: EventsBy
    strict: bool
    group: bool
    limits: Limits
    contexts: Contexts
    report: Report
    seen: SeenEvents

    def events(self, found: Iterable[Document | EventError]) -> Iterator[Event]:
        for document in found:
            if isinstance(document, EventError):
                self.report(document)
                continue
            with ExitStack() as stack:
                try:
                    items, given = _items(document, self.limits, self.contexts, stack, together=self._by_graphs)
                except EventError as error:
                    self.report(error)
                    continue
                if self.group and self._by_graphs and document.format is Format.NQ:
                    items = regrouped(items, self.limits)
                yield from self._finished(items, given, document.name)

    def events_of_quads(self, quads: Iterable[ox.Quad]) -> Iterator[Event]:
        items = _refusing(runs(quads, self.limits))
        yield from self._finished(regrouped(items, self.limits) if self._by_graphs else items, None, "quads")

    @property
    def _by_graphs(self) -> bool:
        return self.by in ("graph", "nanopub")

    def _finished(self, items: Iterator[Item], given: Numbering | None, source: str) -> Iterator[Event]:
        problems = Problems(source, self.limits, self.report)
        return Finisher(problems, given, self.seen, strict=self.strict).events(_BY[self.by](items, problems))
