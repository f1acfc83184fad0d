"""Is data that is no RDF taken in as fast as it was asked to be? Every format, and large files, in one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tidings.bench.fast_timing import one_core
from tidings.bench.ingest_formats import FEED, ROWS, Point, formats, measure
from tidings.bench.ingest_large import Large, large
from tidings.bench.report import Claim, Curve, Figure, Report, Row, Table
from tidings.bench.settings import Settings

_FEED = 2.0
_ROWS = 1.0
_GROWTH = 500e6
_CORES = 1.5
_LARGE = ("csv", "jsonl")
_UNITS = {FEED: "items", ROWS: "rows"}


@dataclass(frozen=True, slots=True)
class Sizes:
    """`large` is the bytes of each of the large files, `large_rounds` how often they go through."""

    items: int
    rows: int
    records: int
    documents: int
    rounds: int
    large: int
    large_rounds: int


FULL = Sizes(2_000, 20_000, 2_000, 100, 7, 1_000_000_000, 1)
QUICK = Sizes(100, 10_000, 100, 4, 3, 20_000_000, 1)


@dataclass(frozen=True, slots=True)
class Line:
    """`held` is None where nothing is asked, or it cannot be told."""

    what: str
    asked: str
    measured: str
    held: bool | None
    more: str = ""

    def verdict(self, quick: bool) -> str:
        if quick:
            return "not at full size"
        return {True: "held", False: "missed", None: "cannot be told"}[self.held]


def run(settings: Settings) -> Report:
    return at_sizes(QUICK if settings.quick else FULL, settings)


def at_sizes(sizes: Sizes, settings: Settings) -> Report:
    points: list[Point] = []
    with one_core():
        for format in formats(sizes, settings.seed):
            settings.tell(f"{format.name}: {format.count:,} of {format.size / format.count:,.0f} bytes")
            points.append(measure(format, sizes.rounds))
    with TemporaryDirectory(prefix="tidings-bench-") as root:
        files = [
            large(format, sizes.large, settings.seed, sizes.large_rounds, Path(root), settings.tell)
            for format in _LARGE
        ]
    lines = [*_of_formats(points), *_of_files(files)]
    described: Row = {
        "items": f"{sizes.items:,} in feeds of 50",
        "rows": f"{sizes.rows:,} of 10 columns",
        "records": sizes.records,
        "documents": sizes.documents,
        "rounds": sizes.rounds,
        "large files": f"{sizes.large / 1e6:,.0f} MB each, {sizes.large_rounds} rounds",
        "seed": settings.seed,
    }
    return Report(
        "ingest",
        "is data that is no RDF taken in as fast as it was asked to be?",
        described,
        (_asked(lines, settings.quick), _by_format(points), _by_file(files)),
        (_times(points), _memory(files)),
        (_claim(lines, settings.quick),),
    )


def _of_formats(points: Sequence[Point]) -> Iterator[Line]:
    """What was asked: of feeds beside the parser, of rows beside the parser of what they become."""
    for point in points:
        unit = _UNITS.get(point.format.kind, "")
        rate = f"{1e6 / point.each(point.ours):,.0f} {unit} a second"
        if point.format.kind == FEED:
            for name, parsing in point.parsing.items():
                times = point.times(parsing)
                yield Line(
                    f"{point.format.name}, beside {name}",
                    f"at most {_FEED:.0f} times the parse",
                    f"{times:.2f} times",
                    times <= _FEED,
                    f"{rate}; the parse alone {1e6 / point.each(parsing):,.0f}",
                )
        elif point.nquads is not None:
            times = point.times(point.nquads)
            yield Line(
                f"{point.format.name}, beside pyoxigraph parsing the N-Quads that it becomes",
                "at most its time",
                f"{times:.2f} times",
                times <= _ROWS,
                f"{rate}; pyoxigraph {1e6 / point.each(point.nquads):,.0f}",
            )


def _of_files(files: Sequence[Large]) -> Iterator[Line]:
    for file in files:
        name = f"a {file.format} file of {file.size / 1e6:,.0f} MB"
        peak = max(one.peak for one in file.streamed)
        yield Line(
            f"{name}, in a process of its own: memory",
            f"grows by less than {_GROWTH / 1e6:.0f} MB",
            "the system does not tell" if file.growth is None else f"{file.growth / 1e6:,.0f} MB",
            None if file.growth is None else file.growth < _GROWTH,
            f"{peak / 1e6:,.0f} MB at most; {file.embedded:,.0f} rows a second",
        )
        yield Line(
            f"{name}, on Spark with two cores: cores that its Python workers keep busy",
            f"at least {_CORES}",
            "the system does not tell" if file.cores is None else f"{file.cores:.2f}",
            None if file.cores is None else file.cores >= _CORES,
            f"{file.spark:,.0f} rows a second, {file.spark / file.embedded:.2f} times the process of its own",
        )


def _asked(lines: Sequence[Line], quick: bool) -> Table:
    rows: tuple[Row, ...] = tuple(
        {
            "what": line.what,
            "asked": line.asked,
            "measured": line.measured,
            "verdict": line.verdict(quick),
            "more": line.more,
        }
        for line in lines
    )
    note = (
        "Times of formats are the processor's, on one core, from bytes in memory to Arrow batches of events; both ways "
        "have their rounds in turn, and the median counts. feedparser.parse neither cleans HTML nor resolves "
        "addresses, as in the converter. RSS 1.0 is RDF and read by pyoxigraph, so it stands beside both. "
        "Cores are the processor's time of Spark's Python workers by the clock's, while the stage runs."
    )
    return Table("What was asked, and what was measured", rows, note)


def _by_format(points: Sequence[Point]) -> Table:
    rows: list[Row] = []
    for point in points:
        for number, (name, parsing) in enumerate(point.parsing.items()):
            rows.append(
                {
                    "format": point.format.name if not number else "",
                    "count": point.format.count,
                    "bytes each": point.format.size / point.format.count,
                    "N-Quads each": point.written / point.format.count,
                    "a second": 1e6 / point.each(point.ours),
                    "µs each": point.each(point.ours),
                    "library": name,
                    "µs to parse": point.each(parsing),
                    "times": point.times(parsing),
                    "µs to parse the N-Quads": None if point.nquads is None else point.each(point.nquads),
                }
            )
    note = "`a second` and `µs each` are of the converter, `times` is how long it takes beside the library's parse."
    return Table("Formats", tuple(rows), note)


def _by_file(files: Sequence[Large]) -> Table:
    rows: tuple[Row, ...] = tuple(
        {
            "format": file.format if not number else "",
            "round": number + 1,
            "rows": file.rows,
            "seconds": streamed.seconds,
            "processor": streamed.cpu,
            "MB before": streamed.base / 1e6,
            "MB at most": streamed.peak / 1e6,
            "Spark plans": spread.planning,
            "its stage": spread.stage,
            "its workers": spread.workers,
            "cores": spread.cores,
        }
        for file in files
        for number, (streamed, spread) in enumerate(zip(file.streamed, file.spread, strict=True))
    )
    note = "Seconds, but for memory. Spark first looks, on one core, where a file can be cut; its rates include that."
    return Table("Large files", rows, note)


def _times(points: Sequence[Point]) -> Figure:
    places = range(len(points))
    first = [next(iter(point.parsing.values())) for point in points]
    parsed = (point.each(parsing) for point, parsing in zip(points, first, strict=True))
    quads = [(place, point.each(point.nquads)) for place, point in zip(places, points, strict=True) if point.nquads]
    curves = (
        Curve("its library parses", tuple(places), tuple(parsed)),
        Curve("becomes events", tuple(places), tuple(point.each(point.ours) for point in points)),
        Curve("pyoxigraph parses what it becomes", tuple(x for x, _ in quads), tuple(y for _, y in quads)),
    )
    names = tuple(point.format.name for point in points)
    title = "An item, row, record or document"
    return Figure("ingest-formats", title, "", "µs of the processor", curves, log_y=True, bars=names)


def _memory(files: Sequence[Large]) -> Figure:
    curves = tuple(
        Curve(file.format, one.read, tuple(bytes / 1e6 for bytes in one.held))
        for file in files
        for one in file.streamed[:1]
    )
    return Figure("ingest-memory", "Memory while a large file streams through", "MB read", "MB held", curves)


def _claim(lines: Sequence[Line], quick: bool) -> Claim:
    missed = [line.what for line in lines if line.held is False]
    told = all(line.held is not None for line in lines)
    return Claim(
        "asked",
        "every line of the table is held",
        None if quick or not (told or missed) else not missed,
        f"{len(lines) - len(missed)} of {len(lines)} lines" + (f"; missed: {'; '.join(missed)}" if missed else ""),
    )
