"""The ontology of a broker, as a text that is kept with everything else."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tidings.errors import OntologyError
from tidings.ontology import Ontology
from tidings.ontology.load import read
from tidings.ontology.model import Cycles
from tidings.rdf.event import Event
from tidings.rdf.formats import Format
from tidings.rdf.limits import DEFAULT_LIMITS, Limits
from tidings.rdf.terms import Triple

_KEY, _TAG = "ontology", "ontology_tag"


@dataclass(frozen=True, slots=True)
class Knowledge:
    """An ontology, and the N-Triples that it was made of; None where it was made otherwise, and is not kept."""

    ontology: Ontology
    text: str | None = None
    cycles: Cycles = "error"

    @staticmethod
    def of_files(paths: tuple[Path, ...], cycles: Cycles) -> Knowledge:
        return _known(list(read(paths, None, DEFAULT_LIMITS, None)), cycles)

    @staticmethod
    def of_bytes(data: bytes, format: Format, limits: Limits) -> Knowledge:
        """An `OntologyError` says what is wrong with it."""
        return _known(list(read((data,), format.value, limits, None)), "error")

    @property
    def tag(self) -> str:
        """What tells it from others that are kept."""
        return sha256(f"{self.cycles}\n{self.text}".encode()).hexdigest()[:32]

    def write(self, writer: sqlite3.Connection) -> None:
        if self.text is not None:
            value = json.dumps({"text": self.text, "cycles": self.cycles})
            pairs = [(_KEY, value), (_TAG, self.tag)]
            writer.executemany("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", pairs)

    @staticmethod
    def kept(reader: sqlite3.Connection) -> Knowledge:
        """The one that is kept, or none."""
        row = reader.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
        if row is None:
            return Knowledge(Ontology.empty(), "")
        fields = json.loads(row[0])
        text, cycles = fields["text"], fields["cycles"]
        return Knowledge(Ontology.load(text.encode(), format="nt", cycles=cycles), text, cycles)


def kept_tag(reader: sqlite3.Connection) -> str:
    """Of the one that is kept, without looking into it."""
    row = reader.execute("SELECT value FROM meta WHERE key = ?", (_TAG,)).fetchone()
    return Knowledge.kept(reader).tag if row is None else str(row[0])


def _known(triples: list[Triple], cycles: Cycles) -> Knowledge:
    try:
        return Knowledge(Ontology.of(triples, cycles=cycles), Event.of("", triples).body, cycles)
    except OntologyError as error:
        raise OntologyError(f"it cannot be used: {error}") from None
