"""Reads the cases of `tests/cases`: TOML files with ontology, events, subscriptions and the expected answers."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyoxigraph as ox
from tests.support import ROOT

FOLDER = ROOT / "tests" / "cases"
EX = "http://e.x/"
PREFIXES = {
    "ex": EX,
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "daml": "http://www.daml.org/2001/03/daml+oil#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
HEADER = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in PREFIXES.items())
Row = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Expected:
    rows: tuple[Row, ...]
    construct: frozenset[str] | None

    def counted(self) -> Counter[Row]:
        return Counter(self.rows)


@dataclass(frozen=True)
class CaseSubscription:
    id: str
    text: str
    dialect: str
    rejected: str | None
    ordered: bool
    expect: dict[str, Expected]


@dataclass(frozen=True)
class Case:
    path: Path
    ontology: str
    cycle: tuple[str, ...]
    events: str
    by: str
    published: str | None
    subscriptions: tuple[CaseSubscription, ...]

    @property
    def name(self) -> str:
        return str(self.path.relative_to(FOLDER).with_suffix(""))


_KEYS = {"about", "ontology", "cycle", "events", "by", "published", "subscriptions"}
_SUBSCRIPTION_KEYS = {"text", "dialect", "rejected", "ordered", "expect", "construct"}


def cases() -> Iterator[Case]:
    for path in sorted(FOLDER.rglob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        assert data.keys() <= _KEYS, f"{path}: unknown keys {data.keys() - _KEYS}"
        assert data["about"], path
        yield Case(
            path,
            HEADER + data.get("ontology", ""),
            tuple(data.get("cycle", ())),
            HEADER + data.get("events", ""),
            data.get("by", "graph"),
            data.get("published"),
            tuple(_subscription(path, name, entry) for name, entry in data.get("subscriptions", {}).items()),
        )


def _subscription(path: Path, name: str, entry: dict[str, Any]) -> CaseSubscription:
    assert entry.keys() <= _SUBSCRIPTION_KEYS, f"{path}: unknown keys {entry.keys() - _SUBSCRIPTION_KEYS}"
    made = entry.get("construct", {})
    expect = {
        _event_id(event): Expected(
            tuple(frozenset((var, term(text)) for var, text in row.items()) for row in rows),
            frozenset(_triples(made[event])) if event in made else None,
        )
        for event, rows in entry.get("expect", {}).items()
    }
    return CaseSubscription(
        name,
        HEADER + entry["text"],
        entry.get("dialect", "sparql"),
        entry.get("rejected"),
        entry.get("ordered", False),
        expect,
    )


def _event_id(name: str) -> str:
    return name if ":" in name else EX + name


def _triples(turtle: str) -> Iterator[str]:
    for quad in ox.parse(HEADER + turtle, format=ox.RdfFormat.TURTLE):
        yield f"{quad.subject} {quad.predicate} {quad.object} ."


def term(text: str) -> str:
    """A term written as in Turtle, as N-Triples."""
    if text.startswith("_:"):
        return text
    document = f"{HEADER}<urn:s> <urn:p> {text} ."
    return str(next(iter(ox.parse(document, format=ox.RdfFormat.TURTLE))).object)
