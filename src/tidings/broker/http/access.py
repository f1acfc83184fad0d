"""Who asks, and whether he may."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import Request

from tidings.broker import tokens
from tidings.broker.core import Core
from tidings.broker.http.problems import Problem
from tidings.broker.tokens import SCOPES, Scope, Token
from tidings.delivery.notification import NO_TENANT

_KNOWN_FOR = 5_000_000
"""Microseconds for which a token that was found good is not looked up again: so long may one live that is revoked."""

_MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Caller:
    """`name` is that of the token, empty for one without."""

    tenant: str
    scopes: frozenset[Scope]
    name: str = ""


ANYBODY = Caller(NO_TENANT, frozenset(SCOPES))


class Access:
    """By tokens; where the broker is `open`, whoever has none may do everything."""

    def __init__(self, core: Core, *, open: bool) -> None:
        self._core = core
        self._open = open
        self._known: dict[str, tuple[Token, int]] = {}

    def caller(self, request: Request, scope: Scope) -> Caller:
        """Who asks, if he may do this; a `Problem` otherwise."""
        given = request.headers.get("authorization")
        if given is None:
            if self._open:
                return ANYBODY
            raise _unknown("this needs a token: send it as 'Authorization: Bearer TOKEN'")
        kind, _, text = given.partition(" ")
        token = self._token(text.strip()) if kind.lower() == "bearer" else None
        if token is None:
            raise _unknown("the token is not valid", error="invalid_token")
        if scope not in token.scopes and "admin" not in token.scopes:
            raise Problem(HTTPStatus.FORBIDDEN, f"the token is not for this; it would have to be for '{scope}'")
        return Caller(token.tenant, token.scopes, token.name)

    def _token(self, text: str) -> Token | None:
        now = self._core.now()
        known = self._known.get(text)
        if known is not None and now < known[1]:
            return known[0]
        with self._core.database.reading() as reader:
            token = tokens.find(reader, text, now)
        if token is None:
            self._known.pop(text, None)
            return None
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        until = now + _KNOWN_FOR
        self._known[text] = token, until if token.expires is None else min(until, token.expires)
        return token


def _unknown(detail: str, error: str | None = None) -> Problem:
    challenge = 'Bearer realm="tidings"' + (f', error="{error}"' if error else "")
    return Problem(HTTPStatus.UNAUTHORIZED, detail, headers={"www-authenticate": challenge})
