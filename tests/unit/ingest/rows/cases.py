"""Cases of mappings: a folder each, with the mapping, the data, and the events that must come of it.

`expected.nt` has the events one after the other, a blank line between them; `errors.txt` what is told, a line each.
Other files are further sources of the mapping, by their names.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.support import ROOT
from tests.unit.ingest.rows.helpers import Told, converted, drained

from tidings.errors import EventError
from tidings.ingest.base import How
from tidings.ingest.rows.sql import from_sql

FOLDER = ROOT / "tests" / "cases" / "ingest"
_OWN = {"mapping.ttl", "metadata.json", "expected.nt", "errors.txt", "data.sql", "data.csv", "data.jsonl"}


def names() -> list[str]:
    return sorted(str(each.parent.relative_to(FOLDER)) for each in FOLDER.glob("*/*/expected.nt"))


def run(name: str) -> tuple[list[str], list[str]]:
    """The events and errors of a case."""
    folder = FOLDER / name
    told: list[EventError] = []
    if name.startswith("r2rml"):
        how = How(mapping=(folder / "mapping.ttl").read_bytes())
        connection = sqlite3.connect(":memory:")
        connection.executescript((folder / "data.sql").read_text())
        found = drained(from_sql(connection, None, how, report=told.append))
    elif name.startswith("csvw"):
        how = How(mapping=(folder / "metadata.json").read_bytes(), mapping_format="csvw")
        found = _document(folder, how, told)
    else:
        others = {each.name: each.read_bytes() for each in folder.iterdir() if each.name not in _OWN}
        options = {"sources": others} if others else {}
        found = _document(folder, How(mapping=(folder / "mapping.ttl").read_bytes(), options=options), told)
    return [event.body for event in found], [str(each).splitlines()[0] for each in told]


def _document(folder: Path, how: How, told: list[EventError]) -> Told:
    (data,) = (each for each in folder.iterdir() if each.name in ("data.csv", "data.jsonl"))
    return converted(data.suffix[1:], data.read_bytes(), how, told, name="data")


def expected(name: str) -> tuple[list[str], list[str]]:
    text = (FOLDER / name / "expected.nt").read_text()
    errors = FOLDER / name / "errors.txt"
    bodies = [each.strip("\n") + "\n" for each in text.split("\n\n") if each.strip()]
    return bodies, errors.read_text().splitlines() if errors.exists() else []
