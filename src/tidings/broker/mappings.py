"""The mappings of a broker: how data that is no RDF becomes events, left once and used with any number of documents."""

from __future__ import annotations

import sqlite3
from concurrent.futures import Future
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tidings.broker import audit
from tidings.broker.audit import PROGRAM, Who
from tidings.broker.core import Core
from tidings.broker.schema import damaged, sound

_COLUMNS = "tenant, id, kind, text, created"
_CHECKED = f"{sound('mappings')}, {_COLUMNS}"


@dataclass(frozen=True, slots=True)
class Kept:
    """`kind` is the media type of the text; `created` is in microseconds since 1970."""

    tenant: str
    id: str
    kind: str
    text: bytes
    created: int

    @staticmethod
    def of(row: tuple[Any, ...]) -> Kept:
        good, *values = row
        if not good:
            raise damaged(f"the mapping {values[1]}")
        return Kept(*values)

    @property
    def tag(self) -> str:
        """What tells it from others."""
        return sha256(self.kind.encode() + b"\n" + self.text).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Put:
    """`before` is what it takes the place of, or what is there already, as it is."""

    kept: Kept
    before: Kept | None


class Mappings:
    """Those of a broker."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def find(self, tenant: str, id: str) -> Kept | None:
        with self._core.database.reading() as reader:
            return _find(reader, tenant, id)

    def page(self, tenant: str, after: str, limit: int) -> list[Kept]:
        """Those of a tenant, by id, behind that one."""
        with self._core.database.reading() as reader:
            rows = reader.execute(
                f"SELECT {_CHECKED} FROM mappings WHERE tenant = ? AND id > ? ORDER BY id LIMIT ?",
                (tenant, after, limit),
            )
            return [Kept.of(row) for row in rows]

    def put(self, tenant: str, id: str, kind: str, text: bytes, by: Who = PROGRAM) -> Future[Put]:
        """The same again changes nothing."""

        def write(writer: sqlite3.Connection) -> Put:
            before = _find(writer, tenant, id)
            if before is not None and (before.kind, before.text) == (kind, text):
                return Put(before, before)
            now = self._core.now()
            writer.execute("DELETE FROM mappings WHERE tenant = ? AND id = ?", (tenant, id))
            writer.execute(f"INSERT INTO mappings ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", (tenant, id, kind, text, now))
            audit.write(writer, now, by, "define mapping", id)
            return Put(Kept(tenant, id, kind, text, now), before)

        return self._core.change(write)

    def delete(self, tenant: str, id: str, by: Who = PROGRAM) -> Future[Kept | None]:
        """What there was under this id."""

        def write(writer: sqlite3.Connection) -> Kept | None:
            gone = _find(writer, tenant, id)
            if gone is not None:
                writer.execute("DELETE FROM mappings WHERE tenant = ? AND id = ?", (tenant, id))
                audit.write(writer, self._core.now(), by, "delete mapping", id)
            return gone

        return self._core.change(write)


def _find(database: sqlite3.Connection, tenant: str, id: str) -> Kept | None:
    row = database.execute(f"SELECT {_CHECKED} FROM mappings WHERE tenant = ? AND id = ?", (tenant, id)).fetchone()
    return None if row is None else Kept.of(row)
