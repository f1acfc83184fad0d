"""What can be said to `format("rdf")`, and how options are read: a value that is not allowed is an error that names
those that are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast, get_args

from tidings.errors import UsageError
from tidings.rdf.formats import Format
from tidings.rdf.limits import MIB
from tidings.rdf.read import EventsBy
from tidings.spark.reading import Reading

_SIZE = re.compile(r"(\d+)([kmgt]?)b?", re.IGNORECASE)
_WANTED = "a path is missing: name a file, a folder or a glob, as in load('events/')"
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass(frozen=True, slots=True)
class Options:
    """The options, as they were given or left out."""

    paths: tuple[str, ...]
    reading: Reading
    split_bytes: int
    max_files: int | None
    max_bytes: int | None
    settle: float
    problems: bool
    rejected: str | None

    @staticmethod
    def of(given: Mapping[str, str]) -> Options:
        """From the options of Spark, whose names have no case."""
        values = {name.lower(): value for name, value in given.items()}
        return Options(
            paths=paths(values),
            reading=Reading(_format(values.get("format")), _by(values.get("by", "graph")), flag(values, "strict")),
            split_bytes=_size(values, "splitBytes") or 64 * MIB,
            max_files=number(values, "maxFilesPerTrigger"),
            max_bytes=_size(values, "maxBytesPerTrigger"),
            settle=seconds(values, "settle", 1.0),
            problems=flag(values, "problems"),
            rejected=values.get("rejected") or None,
        )


def paths(values: Mapping[str, str], wanted: str = _WANTED) -> tuple[str, ...]:
    """By `load`; `wanted` is what is missing where there are none."""
    named = [values["path"]] if "path" in values else []
    if "paths" in values:
        several = _listed(values["paths"])
        if several is None:
            raise UsageError(f"paths '{values['paths']}'? They are a JSON list of texts, as load([…]) makes it")
        named += several
    if not named or not all(named):
        raise UsageError(wanted)
    return tuple(named)


def _listed(text: str) -> list[str] | None:
    try:
        names = json.loads(text)
    except ValueError:
        return None
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def _format(name: str | None) -> str | None:
    return Format.of(name).value if name else None


def _by(name: str) -> EventsBy:
    known = get_args(EventsBy)
    if name.lower() not in known:
        raise UsageError(f"by '{name}'? It is one of {', '.join(known)}")
    return cast(EventsBy, name.lower())


def flag(values: Mapping[str, str], name: str) -> bool:
    value = values.get(name.lower(), "false")
    if value.lower() not in ("true", "false"):
        raise UsageError(f"{name} '{value}'? It is true or false")
    return value.lower() == "true"


def number(values: Mapping[str, str], name: str) -> int | None:
    value = values.get(name.lower())
    if value is None:
        return None
    if not value.isdecimal() or int(value) == 0:
        raise UsageError(f"{name} '{value}'? It is a whole number from 1 on")
    return int(value)


def _size(values: Mapping[str, str], name: str) -> int | None:
    value = values.get(name.lower())
    if value is None:
        return None
    match = _SIZE.fullmatch(value.strip())
    if match is None or int(match[1]) == 0:
        raise UsageError(f"{name} '{value}'? It is a number of bytes from 1 on, as in 67108864 or 64m")
    return int(match[1]) * _UNITS[match[2].lower()]


def seconds(values: Mapping[str, str], name: str, usual: float) -> float:
    value = values.get(name.lower())
    if value is None:
        return usual
    if not re.fullmatch(r"\d+(\.\d+)?", value):
        raise UsageError(f"{name} '{value}'? It is a number of seconds, as in 1 or 0.5")
    return float(value)
