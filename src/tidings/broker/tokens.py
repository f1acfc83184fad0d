"""Who may do what: tokens that are made here, shown once, and kept as digests.

A token is a name, by which it is found, and a secret of 256 bits, which nobody can guess: so one round of SHA-256 is
enough to keep it by, and it is compared without telling by the time it takes how much of it was right.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe
from typing import Literal, TypeAlias, cast, get_args

from tidings.errors import UsageError

Scope: TypeAlias = Literal["publish", "subscribe", "feeds", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

_PREFIX = "tdg"
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token. Times are in microseconds since 1970."""

    name: str
    tenant: str
    scopes: frozenset[Scope]
    label: str
    created: int
    expires: int | None


def make(
    writer: sqlite3.Connection,
    tenant: str,
    scopes: frozenset[Scope],
    label: str,
    created: int,
    expires: int | None,
) -> tuple[Token, str]:
    """A new token, and the text of it, which is to be seen this once."""
    if not scopes or not scopes <= set(SCOPES):
        raise UsageError(f"a token is for some of {', '.join(SCOPES)}")
    if len(tenant) > _LONGEST or len(label) > _LONGEST or not (tenant + label).isprintable():
        raise UsageError(f"a tenant and a label are texts of up to {_LONGEST} characters that can be seen")
    name, secret = token_hex(8), token_urlsafe(32)
    writer.execute(
        "INSERT INTO tokens (name, digest, tenant, scopes, label, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (name, _digest(secret), tenant, " ".join(sorted(scopes)), label, created, expires),
    )
    return Token(name, tenant, scopes, label, created, expires), f"{_PREFIX}_{name}_{secret}"


def revoke(writer: sqlite3.Connection, name: str) -> bool:
    return writer.execute("DELETE FROM tokens WHERE name = ?", (name,)).rowcount > 0


def all_of(reader: sqlite3.Connection) -> list[Token]:
    rows = reader.execute("SELECT name, tenant, scopes, label, created, expires FROM tokens ORDER BY created, name")
    return [_token(*row) for row in rows]


def find(reader: sqlite3.Connection, text: str, now: int) -> Token | None:
    """The token of this text, if it is one, and its time is not over."""
    parts = text.split("_", 2)
    if len(parts) != 3 or parts[0] != _PREFIX:
        return None
    row = reader.execute(
        "SELECT digest, name, tenant, scopes, label, created, expires FROM tokens WHERE name = ?", (parts[1],)
    ).fetchone()
    # Where there is none of that name, it takes as long.
    kept = _digest("") if row is None else row[0]
    if not compare_digest(kept, _digest(parts[2])) or row is None:
        return None
    token = _token(*row[1:])
    return None if token.expires is not None and token.expires <= now else token


def _token(name: str, tenant: str, scopes: str, label: str, created: int, expires: int | None) -> Token:
    return Token(name, tenant, frozenset(cast("list[Scope]", scopes.split())), label, created, expires)


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()
