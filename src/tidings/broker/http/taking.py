"""Documents that are no RDF, published as they are: rows, feeds, trees and pages become events on their way in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus

from starlette.requests import Request

from tidings.broker.core import Accepted
from tidings.broker.http import mappings
from tidings.broker.http.access import Caller
from tidings.broker.http.problems import Problem, problem_of
from tidings.broker.http.query import choice_of
from tidings.broker.http.service import Service
from tidings.errors import EventError, ParseError, UsageError
from tidings.ingest.base import DATA, How
from tidings.ingest.kept import applied
from tidings.ingest.read import events_of, read_batches
from tidings.ingest.registry import KINDS, of_media_type

ASKED = ("as", "base", "key", "class", "home", "record", "mapping")
"""What may be said of how such a document becomes events."""


MEDIA_TYPES = tuple(sorted({each for kind in KINDS.values() for each in kind.media_types}))


def format_of(kind: str, asked: Mapping[str, str]) -> str | None:
    """Which converter a document is for; None for RDF. JSON and XML are RDF unless it is said what they are."""
    return choice_of(asked.get("as"), "as", tuple(sorted(KINDS))) or of_media_type(kind)


@contextmanager
def not_such_data() -> Iterator[None]:
    """What was asked for can be asked for, but not of this document: it is not what it should be, or has no such
    column.
    """
    try:
        yield
    except (ParseError, UsageError) as error:
        problem = problem_of(error)
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, problem.detail, more=problem.more) from error
    except Problem as problem:
        if problem.status is not HTTPStatus.BAD_REQUEST:
            raise
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, problem.detail, more=problem.more) from problem


def how_of(service: Service, caller: Caller, asked: Mapping[str, str], format: str) -> How:
    """What was asked for, with the mapping that it names. There are no options: a mapping has no other sources here."""
    how = How(
        base=asked.get("base", DATA),
        key=tuple(_several(asked.get("key"))),
        classes=tuple(_several(asked.get("class"))),
        home=choice_of(asked.get("home"), "home", ("true", "false")) == "true",
        record=asked.get("record"),
        limits=service.bounds.reading,
    )
    if "mapping" not in asked:
        return how
    kept = service.mappings.find(caller.tenant, asked["mapping"])
    if kept is None:
        raise mappings.none()
    return applied(how, kept.kind, kept.text, format)


def _several(given: str | None) -> Iterator[str]:
    return (each for each in (given or "").split(",") if each)


async def taken(
    request: Request, body: bytes, format: str, how: How, published: str | None
) -> tuple[list[Accepted | EventError], list[EventError]]:
    """What became of the events of such a document, and what of it could not be read. They are taken a batch at a time,
    as they are made: a long table is not held as events all at once.
    """
    service, problems = Service.of(request), list[EventError]()
    outcomes: list[Accepted | EventError] = []
    batches = read_batches(body, how, format=format, report=problems.append)
    while (batch := await asyncio.to_thread(next, batches, None)) is not None:
        events = [replace(event, source="", published=published) for event in events_of(batch)]
        done = await service.outcomes.of(service.core.publish(events))
        outcomes += done
    return outcomes, problems
