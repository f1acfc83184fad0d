"""Who asks, and whether he may."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from ipaddress import IPv6Address, IPv6Network
from math import ceil
from time import monotonic

from starlette.requests import Request

from tidings.broker import tokens
from tidings.broker.audit import Who
from tidings.broker.core import Core
from tidings.broker.feeds import keys
from tidings.broker.http.problems import Problem
from tidings.broker.http.rates import Rates
from tidings.broker.tokens import SCOPES, Scope, Token
from tidings.delivery.notification import NO_TENANT
from tidings.errors import BrokerError

_KNOWN_FOR = 5_000_000
"""Microseconds for which a token that was found good is not looked up again: so long may one live that is revoked."""

_MOST_KNOWN = 10_000

_NOTED, _NOTED_AT_ONCE = 1.0, 60.0
"""Requests a second that were refused of which it is written down who made them; and how many at once."""


@dataclass(frozen=True, slots=True)
class Caller:
    """`name` is that of the token, empty for one without; `address` is from where he asks."""

    tenant: str
    scopes: frozenset[Scope]
    name: str = ""
    address: str = ""

    @property
    def who(self) -> Who:
        return Who(self.tenant, self.name or "(anybody)", self.address)


class Access:
    """By tokens; where the broker is `open`, whoever has none may do everything. Each token, and each address without
    one, may publish `rate` times a second, and ask as often for something else.
    """

    def __init__(self, core: Core, *, open: bool, rate: float | None = None) -> None:
        self._core = core
        self._open = open
        self._known: dict[bytes, tuple[Token, int]] = {}
        self._rates = Rates(rate)
        self._noted = Rates(_NOTED, burst=_NOTED_AT_ONCE)

    def caller(self, request: Request, scope: Scope) -> Caller:
        """Who asks, if he may do this; a `Problem` otherwise."""
        return self.known(_address(request), request.headers.get("authorization"), scope)

    def known(self, address: str, given: str | None, scope: Scope) -> Caller:
        """The same of who asks from there, and has given that as his authorization."""
        if given is None:
            self._check_rate(address, scope)
            if self._open:
                return Caller(NO_TENANT, frozenset(SCOPES), address=address)
            self._refuse(Who(token="(nobody)", address=address))
            raise _unknown("this needs a token: send it as 'Authorization: Bearer TOKEN'")
        kind, _, text = given.partition(" ")
        token = self._token(text.strip()) if kind.lower() == "bearer" else None
        if token is None:
            self._check_rate(address, scope)
            self._refuse(Who(token="(unknown)", address=address))
            raise _unknown("the token is not valid", error="invalid_token")
        self._check_rate(token.name, scope)
        if scope not in token.scopes and "admin" not in token.scopes:
            self._refuse(Who(token.tenant, token.name, address))
            raise Problem(HTTPStatus.FORBIDDEN, f"the token is not for this; it would have to be for '{scope}'")
        return Caller(token.tenant, token.scopes, token.name, address)

    def anybody(self, request: Request) -> None:
        """Whoever asks may; but not too often."""
        self._check_rate(_address(request), "subscribe")

    def reader(self, request: Request, id: str, key: str | None) -> Caller:
        """Who may read this one subscription, by a key of it, or by a token."""
        if key is None:
            return self.caller(request, "subscribe")
        self.anybody(request)
        with self._core.database.reading() as reader:
            tenant = keys.tenant_of(reader, self._core.key, id, key)
        if tenant is None:
            self._refuse(Who(token="(unknown key)", address=_address(request)))
            raise Problem(HTTPStatus.NOT_FOUND, "there is no such feed, or this is no key to it")
        return Caller(tenant, frozenset(), "(feed key)", _address(request))

    def _check_rate(self, asker: str, scope: Scope) -> None:
        wait = self._rates.wait((asker, scope == "publish"), monotonic())
        if wait:
            self._core.figures.count("limited")
            raise Problem(
                HTTPStatus.TOO_MANY_REQUESTS,
                "that is too often; wait, and ask again",
                headers={"retry-after": str(ceil(wait))},
            )

    def _refuse(self, who: Who) -> None:
        """Write it down, unless there is too much of it."""
        self._core.figures.count("refused")
        if not self._noted.wait("", monotonic()):
            with suppress(BrokerError):
                self._core.note(who, "refused")

    def _token(self, text: str) -> Token | None:
        now = self._core.now()
        # By its digest: how far a guess is right shows nowhere, and what was right is not left lying about.
        digest = sha256(text.encode()).digest()
        known = self._known.get(digest)
        if known is not None and now < known[1]:
            return known[0]
        with self._core.database.reading() as reader:
            token = tokens.find(reader, text, now)
        if token is None:
            self._known.pop(digest, None)
            return None
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        until = now + _KNOWN_FOR
        self._known[digest] = token, until if token.expires is None else min(until, token.expires)
        return token


def _address(request: Request) -> str:
    return address_of(request.client)


def address_of(client: tuple[str, int] | None) -> str:
    """From where he asks; of the sixth version the half that says whose it is, since all of the other half is his."""
    host = client[0] if client else ""
    if ":" not in host:
        return host
    with suppress(ValueError):
        found = IPv6Address(host.partition("%")[0])
        return str(found.ipv4_mapped or IPv6Network((int(found) >> 64 << 64, 64)))
    return host


def _unknown(detail: str, error: str | None = None) -> Problem:
    challenge = 'Bearer realm="tidings"' + (f', error="{error}"' if error else "")
    return Problem(HTTPStatus.UNAUTHORIZED, detail, headers={"www-authenticate": challenge})
