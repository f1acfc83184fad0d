"""What a notification says, with as much as is wanted."""

from __future__ import annotations

from tidings.broker.options import Payload
from tidings.broker.receiving import Notification
from tidings.rdf.terms import to_json


def told(notification: Notification, payload: Payload) -> dict[str, object]:
    event = notification.event
    said: dict[str, object] = {
        "id": notification.id,
        "cursor": notification.cursor,
        "subscription": notification.subscription,
        "version": notification.version,
        "event": event.id,
        "published": event.published,
    }
    match payload:
        case "event":
            said["data"] = event.body
        case "construct" if notification.construct is not None:
            said["construct"] = notification.construct
        case "bindings" | "construct":
            said["bindings"] = [{name: to_json(term) for name, term in row.items()} for row in notification.bindings]
    return said
