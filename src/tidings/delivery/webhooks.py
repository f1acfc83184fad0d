"""One request to somebody else's endpoint: a notification as a CloudEvent, signed, to an address that may be spoken to.

The signature is that of the Standard Webhooks specification: whoever has the secret can tell that a request is ours, is
what we sent, and is not one from long ago. Where it may go, `addresses` says; redirects are not followed.
"""

from __future__ import annotations

import hmac
import json
import re
import socket
import time
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from http.client import HTTPException

from tidings.delivery.addresses import Endpoint, connection_to
from tidings.errors import DeliveryError

MEDIA_TYPE = "application/cloudevents+json"
EVENT_TYPE = "tidings.notification"
PAUSED_TYPE = "tidings.paused"
MISSED_TYPE = "tidings.missed"
_READ = 1 << 14
"""Bytes of an answer in which its status has to be told; what else it says does not matter, and is not read."""

_STATUS = re.compile(rb"HTTP/1\.[0-9] ([1-5][0-9]{2})(?: [^\r\n]*)?\r?\n")

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


def post(endpoint: Endpoint, address: str, body: bytes, headers: Mapping[str, str], timeout: float) -> None:
    """Send it, as a CloudEvent unless the headers say otherwise. An answer of 2xx is that it was taken; anything else
    is a `DeliveryError`.
    """
    connection = connection_to(endpoint, address, timeout)
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
