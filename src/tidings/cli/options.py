"""Options that several commands share, handed to the callback as one object each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidings.errors import EventError
from tidings.ontology import Ontology
from tidings.ontology.model import Cycles
from tidings.rdf.event import Event
from tidings.rdf.formats import Format
from tidings.rdf.limits import KIB, MIB, Limits
from tidings.rdf.read import EventsBy, read_events
from tidings.rdf.seen import SeenEvents
from tidings.rdf.sources import Source

if TYPE_CHECKING:
    from tidings.spark.events import How

_UNITS = {"": 1, "k": KIB, "m": MIB, "g": KIB * MIB}
_SIZE = re.compile(r"(\d+)\s*([kmg]?)(?:i?b)?", re.IGNORECASE)


def _size(ctx: click.Context, option: click.Parameter, value: str) -> int:
    """A number of bytes: 4096, 512K, 4M, 2GiB."""
    match = _SIZE.fullmatch(value.strip())
    if not match:
        raise click.BadParameter(f"'{value}' is not a size; write 4096, 512K, 4M or 2G.", ctx, option)
    return int(match[1]) * _UNITS[match[2].lower()]


def _contexts(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, Path]:
    """URL=FILE, each: local copies of remote JSON-LD contexts."""
    found = {}
    for value in values:
        # The address may have an equals sign of its own; a path seldom has.
        url, _, file = value.rpartition("=")
        if not url or not Path(file).is_file():
            raise click.BadParameter(f"'{value}' should be URL=FILE, with a file that exists.", ctx, option)
        found[url] = Path(file)
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """How events are read."""

    format: str | None
    by: EventsBy
    strict: bool
    group: bool
    limits: Limits
    contexts: Mapping[str, Path]

    def events(
        self, sources: Sequence[Source], report: Callable[[EventError], None], seen: SeenEvents | None = None
    ) -> Iterator[Event]:
        return read_events(
            sources,
            format=self.format,
            by=self.by,
            strict=self.strict,
            group=self.group,
            limits=self.limits,
            contexts=self.contexts,
            report=report,
            seen=seen,
        )

    def for_spark(self, validate: Ontology | None = None) -> How:
        """The same for the workers of Spark; events that the ontology rules out are rejected where one is given."""
        return {
            "format": self.format,
            "by": self.by,
            "strict": self.strict,
            "group": self.group,
            "limits": self.limits,
            "contexts": self.contexts,
            "validate": validate,
        }


@dataclass(frozen=True, slots=True)
class OntologyFiles:
    """The ontology as files, and how to take cycles in it."""

    paths: tuple[Path, ...]
    cycles: Cycles

    def load(self, reading: Reading | None = None) -> Ontology:
        if reading is None:
            return Ontology.load(*self.paths, cycles=self.cycles)
        return Ontology.load(*self.paths, cycles=self.cycles, limits=reading.limits, contexts=reading.contexts)


def _limit(what: str, default: str, help: str) -> Callable[[Any], Any]:
    return click.option(f"--max-{what}", callback=_size, metavar="SIZE", default=default, show_default=True, help=help)


_READING = [
    click.option(
        "--events-by",
        "by",
        type=click.Choice(["graph", "document", "subject", "nanopub"]),
        default="graph",
        show_default=True,
        help="What one event is: a graph of a document, a document, a subject with what its blank nodes lead to, or a "
        "nanopublication.",
    ),
    click.option("--format", type=click.Choice([f.value for f in Format]), help="The RDF format, where no name tells."),
    click.option("--group", is_flag=True, help="Bring together graphs whose quads come apart (on disk if large)."),
    click.option("--strict", is_flag=True, help="Reject events that are not well-formed OPS events."),
    click.option(
        "--context",
        "contexts",
        callback=_contexts,
        multiple=True,
        metavar="URL=FILE",
        help="A local copy of a remote JSON-LD context.",
    ),
    _limit("term", "4M", "The largest term."),
    _limit("event", "64M", "The largest event."),
    click.option(
        "--max-triples",
        type=click.IntRange(min=1),
        metavar="NUMBER",
        default=500_000,
        show_default=True,
        help="The most triples in an event.",
    ),
    _limit("document", "512M", "The largest document not read by line."),
    _limit("json", "64M", "The largest JSON-LD document."),
    click.option(
        "--max-depth", type=click.IntRange(1, 1000), default=100, show_default=True, help="The deepest nesting."
    ),
]
_ONTOLOGY = [
    click.option(
        "--ontology",
        "ontology_paths",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        multiple=True,
        metavar="FILE",
        help="An ontology, in any RDF format; several are merged.",
    ),
    click.option(
        "--cycles",
        type=click.Choice(["error", "equivalence"]),
        default="error",
        show_default=True,
        help="What a cycle in the ontology's hierarchies is.",
    ),
]


def reading_options(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Options for reading events, which become the argument `reading`."""

    @wraps(callback)
    def wrapper(
        *args: Any,
        format: str | None,
        by: EventsBy,
        strict: bool,
        group: bool,
        contexts: dict[str, Path],
        max_term: int,
        max_event: int,
        max_triples: int,
        max_document: int,
        max_json: int,
        max_depth: int,
        **rest: Any,
    ) -> Any:
        limits = replace(
            Limits(),
            max_term=max_term,
            max_event=max_event,
            max_triples=max_triples,
            max_document=max_document,
            max_json=max_json,
            max_depth=max_depth,
        )
        return callback(*args, reading=Reading(format, by, strict, group, limits, contexts), **rest)

    return _with(wrapper, _READING)


def ontology_options(callback: Callable[..., Any]) -> Callable[..., Any]:
    """`--ontology` and `--cycles`, which become the argument `ontology_files`."""

    @wraps(callback)
    def wrapper(*args: Any, ontology_paths: tuple[Path, ...], cycles: Cycles, **rest: Any) -> Any:
        return callback(*args, ontology_files=OntologyFiles(ontology_paths, cycles), **rest)

    return _with(wrapper, _ONTOLOGY)


def _with(callback: Callable[..., Any], options: list[Callable[[Any], Any]]) -> Callable[..., Any]:
    for option in reversed(options):
        callback = option(callback)
    return callback
