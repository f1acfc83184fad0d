"""What a notification says, with as much as is wanted."""

from __future__ import annotations

import json

from tidings.broker.options import Carries
from tidings.broker.receiving import Notification
from tidings.errors import EvaluationError
from tidings.rdf.formats import Format
from tidings.rdf.terms import to_json
from tidings.rdf.write import written


def told(notification: Notification, carries: Carries) -> dict[str, object]:
    """A notification as JSON. Where what it should carry takes more than it may, `failed` says so instead."""
    event = notification.event
    said: dict[str, object] = {
        "id": notification.id,
        "cursor": notification.cursor,
        "subscription": notification.subscription,
        "version": notification.version,
        "event": event.id,
        "published": event.published,
    }
    try:
        return said | _carried(notification, carries)
    except EvaluationError as error:
        return said | {"failed": str(error)}


def _carried(notification: Notification, carries: Carries) -> dict[str, object]:
    event, format = notification.event, carries.format
    match carries.payload:
        case "event":
            return {"data": _document(event.body, format, event.id), "format": format.media_type}
        case "construct" if notification.construct is not None:
            return {"construct": _document(notification.construct, format, None), "format": format.media_type}
        case "bindings" | "construct":
            rows = notification.bindings
            return {"bindings": [{name: to_json(term) for name, term in row.items()} for row in rows]}
    return {}


def _document(body: str, format: Format, graph: str | None) -> object:
    """A text; JSON-LD as it is, since it stands in JSON."""
    if format is Format.NT:
        return body
    data = written(body, format, graph)
    return json.loads(data) if format is Format.JSONLD else data.decode()
