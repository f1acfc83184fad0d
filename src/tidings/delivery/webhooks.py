"""One request to somebody else's endpoint: a notification as a CloudEvent, signed, to an address that may be spoken to.

The signature is that of the Standard Webhooks specification: whoever has the secret can tell that a request is ours, is
what we sent, and is not one from long ago. A name is looked up once, what it stands for is checked, and that very
address is connected to; redirects are not followed. So nobody can have us ask a service that only we can reach.
"""

from __future__ import annotations

import hmac
import json
import re
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias
from urllib.parse import urlsplit

from tidings.errors import DeliveryError, UsageError

MEDIA_TYPE = "application/cloudevents+json"
EVENT_TYPE = "tidings.notification"
PAUSED_TYPE = "tidings.paused"
MISSED_TYPE = "tidings.missed"
_LONGEST = 2_000
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?|[0-9a-f:.]*:[0-9a-f:.]*(%25?[a-z0-9_.-]+)?")
_READ = 1 << 14
"""Bytes of an answer in which its status has to be told; what else it says does not matter, and is not read."""

_STATUS = re.compile(rb"HTTP/1\.[0-9] ([1-5][0-9]{2})(?: [^\r\n]*)?\r?\n")

Address: TypeAlias = IPv4Address | IPv6Address
Look: TypeAlias = Callable[[str, int], list[str]]
"""The addresses of a name."""


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
    def of(url: str) -> Endpoint:
        """A `UsageError` says what is wrong with an address."""
        if len(url) > _LONGEST or not url.isascii() or not url.isprintable() or " " in url:
            raise UsageError(f"the address of a webhook is a URL of up to {_LONGEST} plain characters")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise UsageError(f"the address of a webhook is no URL: {error}") from error
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"the address of a webhook begins with https:// or http://, and names a host, not '{url}'")
        if not _HOST.fullmatch(parts.hostname):
            raise UsageError(f"the address of a webhook names no host that there can be: '{parts.hostname}'")
        if parts.username is not None or parts.password is not None:
            raise UsageError("the address of a webhook has no user and no password in it; requests are signed instead")
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


# ----------------------------------------------------------------------------------------------------- what is sent


def cloud_event(
    id: str, source: str, subject: str, time: str | None, data: Mapping[str, object], kind: str = EVENT_TYPE
) -> bytes:
    """A notification, or something else of this kind, in structured form."""
    envelope: dict[str, object] = {
        "specversion": "1.0",
        "id": id,
        "source": source,
        "type": kind,
        "subject": subject,
        "datacontenttype": "application/json",
        "data": data,
    }
    if time is not None:
        envelope["time"] = time
    return json.dumps(envelope, ensure_ascii=False).encode()


def signed(secret: bytes, id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers that say who sent it: an id by which repeats can be told, the time in seconds, and a signature."""
    digest = hmac.new(secret, f"{id}.{timestamp}.".encode() + body, sha256).digest()
    return {
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{b64encode(digest).decode()}",
    }


def written_secret(secret: bytes) -> str:
    """As a receiver configures it."""
    return f"whsec_{b64encode(secret).decode()}"


# -------------------------------------------------------------------------------------------------------------- sending


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


def post(endpoint: Endpoint, address: str, body: bytes, headers: Mapping[str, str], timeout: float) -> None:
    """Send it. An answer of 2xx is that it was taken; anything else is a `DeliveryError`."""
    connection = (_SecureTo if endpoint.secure else _To)(endpoint, address, timeout)
    try:
        connection.request("POST", endpoint.target, body, {"content-type": MEDIA_TYPE, **headers})
        status = _status(connection.sock, timeout)
    except (OSError, HTTPException) as error:
        raise DeliveryError(f"{endpoint.origin} did not take it: {error or type(error).__name__}") from error
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise DeliveryError(f"{endpoint.origin} did not take it: it answered {status}", status)


def _status(sock: socket.socket, timeout: float) -> int:
    """What the endpoint answers, within that time in all: who says it letter by letter keeps nobody waiting."""
    end = time.monotonic() + timeout
    heard = b""
    while len(heard) < _READ:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer took too long")
        sock.settimeout(left)
        piece = sock.recv(_READ)
        if not piece:
            raise HTTPException("it said nothing" if not heard else "its answer is not one of HTTP")
        heard += piece
        found = _STATUS.match(heard)
        # Such as 103, before the answer proper.
        while found is not None and found[1].startswith(b"1") and b"\r\n\r\n" in heard:
            heard = heard.partition(b"\r\n\r\n")[2]
            found = _STATUS.match(heard)
        if found is not None and not found[1].startswith(b"1"):
            return int(found[1])
    raise HTTPException("its answer is not one of HTTP")
