"""Every format that can be taken in: a workload, its converter, and the library that merely parses the same bytes."""

from __future__ import annotations

import io
import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol
from xml.etree import ElementTree

import feedparser
import html5lib
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pyoxigraph as ox
from PIL import Image
from pypdf import PdfReader

from tidings.bench.fast_timing import Timed, interleaved
from tidings.bench.fast_timing import parse as parse_nquads
from tidings.bench.ingest_stream import refuse
from tidings.bench.workloads.ingest import feeds, others, rows
from tidings.bench.workloads.ingest.words import Words
from tidings.ingest.base import How, Input
from tidings.ingest.read import events_of
from tidings.ingest.registry import converter
from tidings.rdf.event import to_nquads
from tidings.rdf.sources import Stream

FEED, ROWS, TREE, DOCUMENT = "feed", "rows", "tree", "document"
ADDRESS = "https://news.example/document"


class Counts(Protocol):
    """How many of each: items of feeds, rows of a table, records of a tree, pages, PDF files and pictures."""

    @property
    def items(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def records(self) -> int: ...
    @property
    def documents(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Format:
    """`libraries` are by name what parses a document and no more; the first is the one that the format is told by."""

    name: str
    kind: str
    converter: str
    count: int
    documents: Sequence[bytes]
    libraries: Mapping[str, Callable[[bytes], object]]
    how: How = field(default_factory=How)

    @property
    def size(self) -> int:
        return sum(map(len, self.documents))

    def batches(self) -> Iterator[Any]:
        convert = converter(self.converter)
        for data in self.documents:
            yield from convert(Input(self.name, Stream(self.name, io.BytesIO(data)), ADDRESS), self.how, refuse)

    def convert(self) -> None:
        deque(self.batches(), maxlen=0)

    def nquads(self) -> bytes:
        """What it becomes; the benchmark ends where an event is missing."""
        found = [to_nquads(event) for batch in self.batches() for event in events_of(batch)]
        if len(found) != self.count:
            raise RuntimeError(f"{self.name}: {len(found):,} events of {self.count:,}")
        return b"".join(found)


@dataclass(frozen=True, slots=True)
class Point:
    """A format, measured: the processor's time for all of it, by each way. `nquads` is for rows alone."""

    format: Format
    ours: Timed
    parsing: Mapping[str, Timed]
    nquads: Timed | None
    written: int
    """The bytes of its events as N-Quads."""

    def each(self, timed: Timed) -> float:
        """Microseconds an item."""
        return timed.cpu / self.format.count * 1e6

    def times(self, timed: Timed) -> float:
        """As long as that."""
        return self.ours.cpu / timed.cpu


def measure(format: Format, rounds: int) -> Point:
    nquads = format.nquads()
    ways: dict[str, Callable[[], object]] = {"ours": format.convert}
    for name, library in format.libraries.items():
        ways[name] = partial(_all, library, format.documents)
    if format.kind == ROWS:
        ways["nquads"] = partial(parse_nquads, nquads)
    timed = interleaved(ways, rounds)
    parsing = {name: timed[name] for name in format.libraries}
    return Point(format, timed["ours"], parsing, timed.get("nquads"), len(nquads))


def _all(library: Callable[[bytes], object], documents: Sequence[bytes]) -> None:
    for data in documents:
        library(data)


def formats(counts: Counts, seed: int) -> Iterator[Format]:
    yield from _feeds(counts.items, seed)
    yield from _rows(counts.rows, seed)
    yield from _trees(counts.records, seed)
    yield from _documents(counts.documents, seed)


# --------------------------------------------------------------------------------------------------------------- feeds


def _feeds(count: int, seed: int) -> Iterator[Format]:
    stories = feeds.stories(count, Words(seed))
    for name, write in feeds.WRITERS.items():
        libraries: dict[str, Callable[[bytes], object]] = {"feedparser": _feedparser}
        if name == "JSON Feed":
            libraries = {"json.loads": json.loads}
        elif name == "RSS 1.0":
            libraries["pyoxigraph, RDF/XML"] = _rdf_xml
        yield Format(name, FEED, "feed", count, feeds.feeds(stories, write), libraries)


def _feedparser(data: bytes) -> object:
    return feedparser.parse(io.BytesIO(data), sanitize_html=False, resolve_relative_uris=False)


def _rdf_xml(data: bytes) -> object:
    return deque(ox.parse(data, ox.RdfFormat.RDF_XML), maxlen=0)


# ---------------------------------------------------------------------------------------------------------------- rows


def _rows(count: int, seed: int) -> Iterator[Format]:
    table = rows.rows(count, Words(seed))
    libraries: Mapping[str, tuple[str, Callable[[bytes], object]]] = {
        "csv": ("pyarrow.csv", partial(_separated, ",")),
        "tsv": ("pyarrow.csv", partial(_separated, "\t")),
        "jsonl": ("json.loads, by line", _json_lines),
        "parquet": ("pyarrow.parquet", _parquet),
    }
    for name, write in rows.WRITERS.items():
        library, parse = libraries[name]
        yield Format(name, ROWS, name, count, [write(table)], {library: parse})


def _separated(delimiter: str, data: bytes) -> object:
    read = pacsv.ReadOptions(use_threads=False)
    parse = pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    return pacsv.read_csv(io.BytesIO(data), read_options=read, parse_options=parse)


def _json_lines(data: bytes) -> object:
    return [json.loads(line) for line in data.decode().split("\n") if line]


def _parquet(data: bytes) -> object:
    return pq.read_table(io.BytesIO(data), use_threads=False)


# ------------------------------------------------------------------------------------------------- trees and documents


def _trees(count: int, seed: int) -> Iterator[Format]:
    records = others.records(count, Words(seed))
    yield Format("json", TREE, "json", count, [others.as_json(records)], {"json.loads": json.loads})
    path = How(record="/orders/order")
    xml = others.as_xml(records)
    yield Format("xml", TREE, "xml", count, [xml], {"ElementTree": ElementTree.fromstring}, path)


def _documents(count: int, seed: int) -> Iterator[Format]:
    words = Words(seed)
    pages = [others.page(number, words) for number in range(count)]
    yield Format("html", DOCUMENT, "html", count, pages, {"html5lib": _html})
    files = [others.pdf(words) for _ in range(count)]
    yield Format("pdf", DOCUMENT, "pdf", count, files, {"pypdf": _pdf})
    pictures = [others.picture(words) for _ in range(count)]
    yield Format("image", DOCUMENT, "image", count, pictures, {"Pillow": _image})


def _html(data: bytes) -> object:
    return html5lib.parse(data.decode(), treebuilder="dom", namespaceHTMLElements=False)


def _pdf(data: bytes) -> object:
    """What it says of itself, unpacked and not looked at."""
    reader = PdfReader(io.BytesIO(data))
    packet = reader.root_object["/Metadata"].get_object()
    return reader.metadata, packet.get_data(), reader.get_num_pages()  # type: ignore[union-attr]


def _image(data: bytes) -> object:
    with Image.open(io.BytesIO(data)) as image:
        return image.size, image.info.get("xmp")
