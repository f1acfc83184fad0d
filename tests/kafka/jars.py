"""The jars that the tests need: of a broker, and of Spark's package for Kafka. Where they are not there yet, they are
fetched from Maven's repository, each as large and as it was when `jars.txt` was written.

What Spark has of its own, Scala and logging for instance, the broker shares.
"""

from __future__ import annotations

import os
import urllib.request
from hashlib import sha256
from pathlib import Path
from typing import Literal
from uuid import uuid4

from tests.support import ROOT

MAVEN = "https://repo1.maven.org/maven2"
_FOLDER = ROOT / "build" / "jars"
_LIST = Path(__file__).with_name("jars.txt")
_SECONDS = 20


class Absent(Exception):
    """There can be no Kafka here, for this reason."""


def jars(whose: Literal["broker", "spark"]) -> list[Path]:
    """Their jars, fetched now if need be; `Absent` where that cannot be done."""
    rows = (line.split() for line in _LIST.read_text().splitlines())
    return [_jar(name, digest) for owner, name, digest in rows if owner == whose]


def _jar(name: str, digest: str) -> Path:
    group, artifact, version = name.split(":")
    place = _FOLDER / f"{artifact}-{version}.jar"
    if place.exists():
        return place
    address = f"{MAVEN}/{group.replace('.', '/')}/{artifact}/{version}/{place.name}"
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:
            data: bytes = answer.read()
    except OSError as error:
        raise Absent(f"{address} cannot be had: {error}") from error
    if sha256(data).hexdigest() != digest:
        raise Absent(f"{address} is not what it was")
    _FOLDER.mkdir(parents=True, exist_ok=True)
    # Another process may be doing the same.
    beside = place.with_name(f".{uuid4().hex}")
    beside.write_bytes(data)
    os.replace(beside, place)
    return place
