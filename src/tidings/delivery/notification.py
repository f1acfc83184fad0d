"""The id of a notification: one for each (tenant, subscription, version, event), whoever works it out, and whenever."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

NO_TENANT = ""
FIRST_VERSION = 1


def notification_id(subscription: str, event: str, *, tenant: str = NO_TENANT, version: int = FIRST_VERSION) -> str:
    """SHA-256, in hexadecimal, over the four in UTF-8, each behind its length in 8 bytes, big-endian.

    >>> notification_id("cheap", "http://e.x/offer")[:16]
    '45eb6e689078e97d'
    """
    return sha256(b"".join(map(_measured, (tenant, subscription, str(version), event)))).hexdigest()


def notification_ids(subscriptions: Sequence[str], events: Sequence[str]) -> list[str]:
    """The ids of many, in order, with no tenant and of first versions; rows of one event are side by side."""
    tenant, version = _measured(NO_TENANT), _measured(str(FIRST_VERSION))
    known: dict[str, bytes] = {}
    last, tail = "", _measured("")
    ids = []
    for subscription, event in zip(subscriptions, events, strict=True):
        if event != last:
            last, tail = event, _measured(event)
        middle = known.get(subscription)
        if middle is None:
            middle = known[subscription] = tenant + _measured(subscription) + version
        ids.append(sha256(middle + tail).hexdigest())
    return ids


def _measured(text: str) -> bytes:
    data = text.encode()
    return len(data).to_bytes(8, "big") + data
