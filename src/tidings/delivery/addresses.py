"""Where a request may go: an address that somebody gave us, checked, and a connection to the very address that was.

A name is looked up once, all that it stands for is checked, and one of these addresses is connected to, whatever the
name stands for by then. So nobody can have us ask a service that only we can reach.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import Thread
from typing import TypeAlias
from urllib.parse import urlsplit

from tidings.errors import DeliveryError, UsageError

_LONGEST = 2_000
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?|[0-9a-f:.]*:[0-9a-f:.]*(%25?[a-z0-9_.-]+)?")

Address: TypeAlias = IPv4Address | IPv6Address
Look: TypeAlias = Callable[[str, int], list[str]]
"""The addresses of a name."""

_LOOK = 0.25
"""Seconds after which it is seen whether all of it is over."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to: `target` is the path with its query, `origin` is what has a circuit breaker of its own."""

    secure: bool
    host: str
    port: int
    target: str

    @property
    def origin(self) -> str:
        return f"{self.host}:{self.port}"

    @staticmethod
    def of(url: str, what: str = "a webhook") -> Endpoint:
        """A `UsageError` says what is wrong with the address of what it is."""
        name = f"the address of {what}"
        if len(url) > _LONGEST or not url.isascii() or not url.isprintable() or " " in url:
            raise UsageError(f"{name} is a URL of up to {_LONGEST} plain characters")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise UsageError(f"{name} is no URL: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{name} begins with https:// or http://, and names a host, not '{url}'")
        if not _HOST.fullmatch(parts.hostname):
            raise UsageError(f"{name} names no host that there can be: '{parts.hostname}'")
        if parts.username is not None or parts.password is not None:
            raise UsageError(f"{name} has no user and no password in it")
        secure = parts.scheme == "https"
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return Endpoint(secure, parts.hostname, port or (443 if secure else 80), target)


_SPECIAL = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32", "fec0::/10")))
"""Addresses that look public and are not: kept for protocols, and where clouds answer their own machines."""


def is_public(address: Address) -> bool:
    """Whether it is somewhere in the open internet, and not here, nearby, or in the middle of everything."""
    if isinstance(address, IPv6Address):
        teredo = address.teredo
        inner = address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)
        if inner is not None and not is_public(inner):
            return False
        if address.ipv4_mapped is not None:
            return True
    if any(address.version == each.version and address in each for each in _SPECIAL):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def look_up(host: str, port: int) -> list[str]:
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def within(look: Look, end: float, over: Callable[[], bool]) -> Look:
    """A look-up cannot be ended from outside: who has waited long enough leaves it to itself."""

    def bounded(host: str, port: int) -> list[str]:
        found: Future[list[str]] = Future()

        def looking() -> None:
            try:
                found.set_result(look(host, port))
            except BaseException as error:
                found.set_exception(error)

        Thread(target=looking, name="tidings-look-up", daemon=True).start()
        while (left := end - time.monotonic()) > 0 and not over():
            wait([found], min(left, _LOOK))
            if found.done():
                return found.result()
        raise TimeoutError("it took too long")

    return bounded


def address_of(endpoint: Endpoint, *, private: bool, look: Look = look_up) -> str:
    """The address to connect to. Where not all that the name stands for may be spoken to, a `DeliveryError`."""
    try:
        found = look(endpoint.host, endpoint.port)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise DeliveryError(f"the host {endpoint.host} is not known: {reason or error}") from error
    if not found:
        raise DeliveryError(f"the host {endpoint.host} has no address")
    if not private and not all(is_public(ip_address(each.partition("%")[0])) for each in found):
        raise DeliveryError(f"the host {endpoint.host} is a private address, which is not allowed here")
    return found[0]


class _To(HTTPConnection):
    """A connection to an address that was checked, whatever the name stands for by now."""

    def __init__(self, endpoint: Endpoint, address: str, timeout: float) -> None:
        super().__init__(endpoint.host, endpoint.port, timeout=timeout)
        self._address = address

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)


class _SecureTo(HTTPSConnection):
    def __init__(self, endpoint: Endpoint, address: str, timeout: float) -> None:
        self._checked = ssl.create_default_context()
        super().__init__(endpoint.host, endpoint.port, timeout=timeout, context=self._checked)
        self._address = address

    def connect(self) -> None:
        plain = socket.create_connection((self._address, self.port), self.timeout)
        self.sock = self._checked.wrap_socket(plain, server_hostname=self.host)


def connection_to(endpoint: Endpoint, address: str, timeout: float) -> HTTPConnection:
    """Not connected yet; `address` is what `address_of` has checked."""
    return (_SecureTo if endpoint.secure else _To)(endpoint, address, timeout)
