"""Reading in tests: events and reports of a document, in short form."""

from __future__ import annotations

from typing import Any

from tidings.errors import EventError
from tidings.rdf.event import Event
from tidings.rdf.read import read_events

RDF_NS = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'


def read(*sources: Any, **options: Any) -> tuple[list[Event], list[EventError]]:
    """The events of the sources, and what was reported."""
    errors: list[EventError] = []
    events = list(read_events(sources, report=errors.append, **options))
    return events, errors


def ids(events: list[Event]) -> list[str]:
    """The ids in order, those made from content as `*`."""
    return ["*" if event.id.startswith("urn:tidings:sha256:") else event.id for event in events]


def bodies(events: list[Event]) -> dict[str, str]:
    return {event.id: event.body for event in events}


def good(*sources: Any, **options: Any) -> list[Event]:
    """The events of sources that have no problem."""
    events, errors = read(*sources, **options)
    assert not errors, [str(error) for error in errors]
    return events


def refused(*sources: Any, **options: Any) -> EventError:
    """The one report of sources that give no event."""
    events, errors = read(*sources, **options)
    assert not events
    assert len(errors) == 1, [str(error) for error in errors]
    return errors[0]
