"""What a benchmark gives: rows of figures, shown as a table and kept as JSON with the machine they are from."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeAlias

RESULTS = Path(__file__).parent / "results"

Row: TypeAlias = dict[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Report:
    name: str
    question: str
    settings: Row
    rows: tuple[Row, ...]


def show(report: Report) -> None:
    """The table on stdout: text to the left, numbers to the right."""
    print(f"\n{report.name}: {report.question}")
    print(", ".join(f"{key} {value}" for key, value in report.settings.items()))
    columns = list(report.rows[0])
    cells = [columns] + [[_cell(row[column]) for column in columns] for row in report.rows]
    widths = [max(len(line[n]) for line in cells) for n in range(len(columns))]
    numeric = [not isinstance(report.rows[0][column], str) for column in columns]
    for line in cells:
        aligned = [c.rjust(w) if right else c.ljust(w) for c, w, right in zip(line, widths, numeric, strict=True)]
        print("  ".join(aligned).rstrip())


def keep(report: Report) -> Path:
    """Write `results/NAME.json`."""
    content = {
        "benchmark": report.name,
        "question": report.question,
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "settings": report.settings,
        "rows": report.rows,
    }
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{report.name}.json"
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def machine() -> Row:
    packages = {}
    for package in ("tidings", "pyoxigraph", "rdflib"):
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            packages[package] = "absent"
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else "unknown",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **packages,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def _cell(value: str | int | float) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
