"""Keys by which a subscription can be read as a feed: readers of feeds send no tokens, but know addresses.

A key is part of an address, and lets whoever has it read this one subscription, and nothing else. It is made from the
broker's own secret, so there is nothing to keep of it but how many there have been: a new one ends those before it.
"""

from __future__ import annotations

import hmac
import re
import sqlite3
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tidings.broker.schema import damaged, sound

_FORM = re.compile(r"([1-9][0-9]{0,14})\.([1-9][0-9]{0,14})\.([A-Za-z0-9_-]{32})", re.ASCII)
_PATH = re.compile(r"/v1/subscriptions/([^/]+)/feed")
_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class Key:
    """The one that is valid, for a subscription of a tenant."""

    number: int
    tenant: str
    id: str
    version: int

    def text(self, secret: bytes) -> str:
        said = f"feed key\0{self.number}\0{self.version}\0{self.tenant}\0{self.id}"
        mac = hmac.new(secret, said.encode(), sha256).digest()[:24]
        return f"{self.number}.{self.version}.{urlsafe_b64encode(mac).decode()}"


def _one(reader: sqlite3.Connection, where: str, *values: object) -> Key | None:
    row = reader.execute(
        f"SELECT {sound('feed_keys')}, number, tenant, id, version FROM feed_keys WHERE {where}", values
    ).fetchone()
    if row is not None and not row[0]:
        raise damaged(f"the key {row[1]} of a feed")
    return None if row is None else Key(*row[1:])


def of(reader: sqlite3.Connection, tenant: str, id: str) -> Key | None:
    return _one(reader, "tenant = ? AND id = ?", tenant, id)


def make(writer: sqlite3.Connection, tenant: str, id: str) -> Key:
    """The next one: all before it end."""
    writer.execute(
        "INSERT INTO feed_keys (tenant, id, version) VALUES (?, ?, 1) "
        "ON CONFLICT (tenant, id) DO UPDATE SET version = version + 1",
        (tenant, id),
    )
    made = of(writer, tenant, id)
    assert made is not None
    return made


def revoke(writer: sqlite3.Connection, tenant: str, id: str) -> bool:
    return writer.execute("DELETE FROM feed_keys WHERE tenant = ? AND id = ?", (tenant, id)).rowcount > 0


def tenant_of(reader: sqlite3.Connection, secret: bytes, id: str, text: str) -> str | None:
    """Whose subscription of this id may be read with a key; None where it is none."""
    found = _FORM.fullmatch(text)
    key = None if found is None else _one(reader, "number = ?", int(found[1]))
    # Where there is none of that number, it takes as long.
    expected = (key or Key(0, "", "", 0)).text(secret)
    right = hmac.compare_digest(expected.encode(), text.encode())
    return key.tenant if key is not None and right and key.id == id else None


# ------------------------------------------------------------------------------------------------------------ addresses


def address(base: str, id: str, key: str | None, **more: str) -> str:
    """Where a subscription is as a feed."""
    given = {**({} if key is None else {"key": key}), **more}
    asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in given.items())
    return f"{base}/v1/subscriptions/{quote(id, safe='')}/feed{f'?{asked}' if asked else ''}"


def named(topic: str) -> tuple[str, str, str | None] | None:
    """Of the address of a feed: the server's, the id of the subscription, and the key; None where it is no such."""
    if len(topic) > _LONGEST:
        return None
    try:
        parts = urlsplit(topic)
        asked = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query), max_num_fields=4)
        path = _PATH.fullmatch(parts.path)
        id = "" if path is None else unquote(path[1], errors="strict")
    except ValueError:
        return None
    if not id or parts.fragment or [name for name, _ in asked] not in ([], ["key"]):
        return None
    return f"{parts.scheme}://{parts.netloc}", id, asked[0][1] if asked else None
