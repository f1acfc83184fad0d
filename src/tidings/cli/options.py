"""Options that several commands share, handed to the callback as one object each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from tidings.errors import EventError, UsageError
from tidings.ingest.base import DATA, How
from tidings.ingest.read import Source as DataSource
from tidings.ingest.read import documents as data_documents
from tidings.ingest.read import read
from tidings.ingest.registry import KINDS
from tidings.ontology import Ontology
from tidings.ontology.model import Cycles
from tidings.rdf.event import Event
from tidings.rdf.formats import EXTENSIONS, Format
from tidings.rdf.limits import KIB, MIB, Limits
from tidings.rdf.read import EventsBy, read_events
from tidings.rdf.seen import SeenEvents
from tidings.rdf.sources import Source, documents

if TYPE_CHECKING:
    from tidings.spark.events import How as SparkHow

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
    data: How | None = None
    """Where they are no RDF: how they become events; `format` says what they are."""

    def events(
        self, sources: Sequence[Source], report: Callable[[EventError], None], seen: SeenEvents | None = None
    ) -> Iterator[Event]:
        if self.data is not None:
            return self._of_data(sources, self.data, report, SeenEvents() if seen is None else seen)
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

    def _of_data(
        self, sources: Sequence[Source], how: How, report: Callable[[EventError], None], seen: SeenEvents
    ) -> Iterator[Event]:
        """They are called by what they say, so one that comes again is the same."""
        events = read(cast(Sequence[DataSource], sources), how, format=self.format, report=report)
        return (event for event in events if seen.add(event.id, b"")[0] == "new")

    def check(self, sources: Sequence[str]) -> None:
        """A `UsageError` where there is nothing to read."""
        there: Iterator[object] = (
            documents(sources, format=self.format) if self.data is None else data_documents(sources, self.format)
        )
        if next(there, None) is None:
            endings = " ".join(EXTENSIONS)
            what = f"no RDF file in {', '.join(sources)}: none ends in {endings}, .gz or .zst"
            raise UsageError(what if self.data is None else f"no such file in {', '.join(sources)}")

    def for_spark(self, validate: Ontology | None = None) -> SparkHow:
        """The same for the workers of Spark; events that the ontology rules out are rejected where one is given."""
        return {
            "format": self.format,
            "by": self.by,
            "strict": self.strict,
            "group": self.group,
            "limits": self.limits,
            "contexts": self.contexts,
            "data": self.data,
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


def limit(what: str, default: str, help: str) -> Callable[[Any], Any]:
    """An option `--max-WHAT` for a size."""
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
    limit("term", "4M", "The largest term."),
    limit("event", "64M", "The largest event."),
    click.option(
        "--max-triples",
        type=click.IntRange(min=1),
        metavar="NUMBER",
        default=500_000,
        show_default=True,
        help="The most triples in an event.",
    ),
    limit("document", "512M", "The largest document not read by line."),
    limit("json", "64M", "The largest JSON-LD document."),
    click.option(
        "--max-depth", type=click.IntRange(1, 1000), default=100, show_default=True, help="The deepest nesting."
    ),
]
_DATA = [
    click.option("--as", "kind", type=click.Choice(sorted(KINDS)), help="What the events are, if no RDF."),
    click.option("--base", metavar="IRI", default=DATA, help="With --as: properties and records are below it."),
    click.option("--key", metavar="COLUMN", multiple=True, help="With --as: what names a record."),
    click.option("--class", "classes", metavar="IRI", multiple=True, help="With --as: the class of every record."),
    click.option("--home", is_flag=True, help="With --as: a record is the home vertex."),
    click.option("--record", metavar="PATH", help="With --as: the path of what is one event, in a tree."),
    click.option(
        "--mapping",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        metavar="FILE",
        help="With --as: a mapping of rows, in CSVW, R2RML or RML.",
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
        kind: str | None,
        base: str,
        key: tuple[str, ...],
        classes: tuple[str, ...],
        home: bool,
        record: str | None,
        mapping: Path | None,
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
        data = None
        if kind is not None:
            if format is not None or by != "graph" or group or strict:
                raise UsageError("--format, --events-by, --group and --strict are for RDF, and --as for what is none")
            data = How(base, key, classes, home, record, *mapping_of(mapping), limits=limits)
        elif key or classes or home or record or mapping or base != DATA:
            raise UsageError(
                "--base, --key, --class, --home, --record and --mapping say how data that is no RDF is "
                "read: say which, with --as"
            )
        return callback(*args, reading=Reading(kind or format, by, strict, group, limits, contexts, data), **rest)

    return _with(wrapper, [*_READING, *_DATA])


def mapping_of(path: Path | None) -> tuple[bytes | None, str | None]:
    """The text of a mapping, and its RDF format by the name of the file; CSVW is JSON, and looked for in what is called
    so.
    """
    if path is None:
        return None, None
    format = None if path.suffix.lower() == ".json" else Format.of_path(path)
    return path.read_bytes(), None if format is None else format.value


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
