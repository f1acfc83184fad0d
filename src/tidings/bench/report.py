"""What a benchmark gives: tables of figures, curves, and what became of a paper's claims; kept as JSON and Markdown."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeAlias

Cell: TypeAlias = str | int | float | None
Row: TypeAlias = dict[str, Cell]

_PACKAGES = ("tidings", "pyoxigraph", "rdflib")
_VERDICTS = {True: "holds", False: "does not hold", None: "cannot be told"}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the same columns; `note` says what a reader must know about them."""

    title: str
    rows: tuple[Row, ...]
    note: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.rows[0]) if self.rows else ()


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot; `paper` marks figures that are a paper's own and not measured here."""

    label: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    paper: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot laid out like one of a paper's; `name` is that of its file. With `bars`, these are what is at 0, 1, 2 …
    of x, and each curve is a bar at every one of them."""

    name: str
    title: str
    x: str
    y: str
    curves: tuple[Curve, ...]
    log_x: bool = False
    log_y: bool = False
    bars: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says, and what was found: `holds` is None where a run cannot tell."""

    source: str
    text: str
    holds: bool | None
    found: str

    @property
    def verdict(self) -> str:
        return _VERDICTS[self.holds]


@dataclass(frozen=True, slots=True)
class Report:
    name: str
    question: str
    settings: Row
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()


def keep(report: Report, folder: Path) -> list[Path]:
    """Write `NAME.json` and `NAME.md` into `folder`; the Markdown shows the plots that `plots.save` puts beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    measured = datetime.now(UTC).isoformat(timespec="seconds")
    content = {"measured": measured, "machine": machine(), **asdict(report)}
    data = folder / f"{report.name}.json"
    data.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = folder / f"{report.name}.md"
    page.write_text("\n".join(_markdown(report, measured)) + "\n", encoding="utf-8")
    return [data, page]


def machine() -> Row:
    """What the figures were measured on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else "unknown",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{package: _version(package) for package in _PACKAGES},
    }


def cell(value: Cell) -> str:
    """A figure as people read it: three or so digits that mean something."""
    match value:
        case None:
            return ""
        case float():
            digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 1 else 4
            return f"{value:,.{digits}f}"
        case int():
            return f"{value:,}"
        case _:
            return value


def numeric(table: Table, column: str) -> bool:
    return all(not isinstance(row[column], str) for row in table.rows)


def _markdown(report: Report, measured: str) -> Iterator[str]:
    yield f"# {report.name}\n\n{report.question[:1].upper()}{report.question[1:]}\n"
    yield f"Measured {measured}; {_listed(machine())}. Workload: {_listed(report.settings)}.\n"
    if report.claims:
        yield "## Claims\n"
        rows = [[c.source, c.text, f"**{c.verdict}**", c.found] for c in report.claims]
        yield from _grid(["from", "claim", "here", "what was found"], rows, [False] * 4)
    for table in report.tables:
        yield f"## {table.title}\n"
        if table.note:
            yield f"{table.note}\n"
        rows = [[cell(row[column]) for column in table.columns] for row in table.rows]
        yield from _grid(table.columns, rows, [numeric(table, column) for column in table.columns])
    for figure in report.figures:
        yield f"![{figure.title}]({figure.name}.svg)\n"


def _grid(columns: Sequence[str], rows: list[list[str]], right: list[bool]) -> Iterator[str]:
    for line in (list(columns), ["--:" if number else "---" for number in right], *rows):
        yield f"| {' | '.join(text.replace('|', '&#124;') for text in line)} |"
    yield ""


def _listed(values: Row) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())
