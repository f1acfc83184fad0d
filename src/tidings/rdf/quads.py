"""What the parsers hand on: runs of triples in one graph, as lines of canonical N-Triples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import pyoxigraph as ox

from tidings.errors import EventError
from tidings.rdf.limits import Limits, human

DEFAULT = ""
"""The graph of triples outside any graph; other graphs are named by their term, `<…>` or `_:…`."""


@dataclass(frozen=True, slots=True)
class Run:
    """Triples that follow one another in one graph of a document; `line` is the first one's, where it is known."""

    graph: str
    triples: list[str]
    size: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that could not be read, and what it costs: the event of `graph`, or of `subject`.

    None stands for the one that comes next. `rest` says that nothing after this place could be read either.
    """

    error: EventError
    graph: str | None
    subject: str | None
    rest: bool = False


Item: TypeAlias = Run | Broken

_CHUNK = 64 * 1024
_SOME = 16
_ODD = ("<<(", "--ltr .\n", "--rtl .\n")


class Refused(Exception):
    """A quad that is no RDF 1.1, or is too large; the message says why."""


def runs(
    quads: Iterable[ox.Quad], limits: Limits, lines: Sequence[int] | None = None, *, drop_direction: bool = False
) -> Iterator[Run]:
    """The quads as runs of limited size, in their order. `lines` are the line numbers of the quads."""
    graph: object = None
    name = DEFAULT
    triples: list[str] = []
    size = 0
    first: int | None = None
    for number, quad in enumerate(quads):
        text = _line(quad, limits, drop_direction)
        if quad.graph_name != graph or size > _CHUNK:
            if triples:
                yield Run(name, triples, size, first)
            graph = quad.graph_name
            name = DEFAULT if isinstance(graph, ox.DefaultGraph) else str(graph)
            triples, size = [], 0
            first = None if lines is None else lines[number]
        triples.append(text)
        size += len(text)
    if triples:
        yield Run(name, triples, size, first)


def triple_runs(quads: Iterator[ox.Quad], limits: Limits) -> Iterator[Run]:
    """The same of a document that has no graphs; it is written some triples at a time, which is faster."""
    triples: list[str] = []
    size = 0
    while some := list(islice(quads, _SOME)):
        text = (ox.serialize(some, format=ox.RdfFormat.N_QUADS) or b"").decode()
        if len(text) > limits.max_term or any(odd in text for odd in _ODD):
            lines = [_line(quad, limits, False) for quad in some]
        else:
            lines = [f"{line}\n" for line in text.split("\n") if line]
        triples += lines
        size += sum(map(len, lines))
        if size > _CHUNK:
            yield Run(DEFAULT, triples, size)
            triples, size = [], 0
    if triples:
        yield Run(DEFAULT, triples, size)


def _line(quad: ox.Quad, limits: Limits, drop_direction: bool) -> str:
    text = f"{quad.triple} .\n"
    if len(text) > limits.max_term or "<<(" in text or text.endswith(("--ltr .\n", "--rtl .\n")):
        return _checked(quad, text, limits, drop_direction)
    return text


def _checked(quad: ox.Quad, text: str, limits: Limits, drop_direction: bool) -> str:
    if isinstance(quad.object, ox.Triple) or isinstance(quad.subject, ox.Triple):
        raise Refused("a triple term: RDF 1.2 is not supported, only RDF 1.1")
    if any(len(str(term)) > limits.max_term for term in (quad.subject, quad.predicate, quad.object)):
        raise Refused(too_large(limits))
    if isinstance(quad.object, ox.Literal) and quad.object.direction is not None:
        if not drop_direction:
            raise Refused("a string with a base direction: RDF 1.2 is not supported, only RDF 1.1")
        return f"{text[: text.rindex('--')]} .\n"
    return text


def too_large(limits: Limits) -> str:
    return f"a term of more than {human(limits.max_term)}, the limit for one term"


def subject_of(triple: str) -> str:
    return triple[: triple.index(" ")]


def object_of(triple: str) -> str:
    return triple.split(" ", 2)[2][:-3]
