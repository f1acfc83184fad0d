"""`/v1/events`: publish, and get back by id."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tidings.broker import log, subscriptions
from tidings.broker.core import Accepted, Core
from tidings.broker.http import tags, taking
from tidings.broker.http.access import Caller
from tidings.broker.http.bodies import body_of, kind_of
from tidings.broker.http.negotiation import negotiated
from tidings.broker.http.problems import Problem, problem_of
from tidings.broker.http.query import choice_of, query_of
from tidings.broker.http.service import Service
from tidings.broker.log import Logged
from tidings.errors import EvaluationError, EventError
from tidings.index.plain import plain_events
from tidings.rdf.cloudevents import STRUCTURED, Unpacked, moment_of, unpacked
from tidings.rdf.event import Event
from tidings.rdf.formats import Format
from tidings.rdf.limits import Limits
from tidings.rdf.read import read_events
from tidings.rdf.terms import to_json
from tidings.rdf.write import written

_SMALL = 16 << 10
"""A document of so many bytes that leaves nothing to work out is read at once, and not by another thread."""

_PLAIN = 1 << 20
"""In a document of so many bytes, no term and no event is beyond the limits, whatever it says."""

_BY = ("graph", "document", "subject", "nanopub")


async def publish(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "publish")
    asked = query_of(request, "events-by", "matches", *taking.ASKED)
    by = choice_of(asked.get("events-by"), "events-by", _BY) or "graph"
    own = choice_of(asked.get("matches"), "matches", ("own",)) is not None
    if own and service.core.where == "outside":
        raise Problem(HTTPStatus.BAD_REQUEST, "events are matched elsewhere here, and later: ask without matches")
    kind = _kind(request, asked)
    beside = request.headers.get("ce-time")
    if beside is not None:
        moment_of(beside)
    body = await body_of(request, service.bounds.body)
    format = taking.format_of(kind, asked)
    if format is not None:
        published = None if beside is None else moment_of(beside).isoformat().replace("+00:00", "Z")
        with taking.not_such_data():
            how = await asyncio.to_thread(taking.how_of, service, caller, asked, format)
            outcomes, problems = await taking.taken(request, body, format, how, published)
            return await _answered(service, caller, own, outcomes, problems)
    if beyond := [name for name in taking.ASKED if name in asked]:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{beyond[0]} is for documents that are no RDF; say which: as")
    document = unpacked(body, kind, beside)
    problems = []
    if len(body) <= _SMALL and document.format.by_line and b"_:" not in body and by == "graph":
        events = list(_events(document, by, service.bounds.reading, problems))
    else:
        events = await asyncio.to_thread(lambda: list(_events(document, by, service.bounds.reading, problems)))
    outcomes = await service.outcomes.of(service.core.publish(events)) if events else []
    return await _answered(service, caller, own, outcomes, problems)


async def _answered(
    service: Service,
    caller: Caller,
    own: bool,
    outcomes: Sequence[Accepted | EventError],
    problems: Sequence[EventError],
) -> Response:
    if not own:
        return answer_of(outcomes, problems)
    accepted = [outcome for outcome in outcomes if isinstance(outcome, Accepted)]
    return answer_of(outcomes, problems, await asyncio.to_thread(_own_matches, service.core, caller, accepted))


def answer_of(
    outcomes: Sequence[Accepted | EventError],
    problems: Sequence[EventError],
    matches: list[dict[str, object]] | None = None,
) -> Response:
    """What became of events, and of what could not even be read; where nothing was taken, that is a problem."""
    problems = [*problems, *(outcome for outcome in outcomes if isinstance(outcome, EventError))]
    accepted = [outcome for outcome in outcomes if isinstance(outcome, Accepted)]
    if problems and not accepted:
        first = problem_of(problems[0])
        raise Problem(first.status, first.detail, more={**first.more, "problems": _told(problems)})
    answer: dict[str, object] = {"events": [{"id": each.id} for each in accepted]}
    if problems:
        answer["problems"] = _told(problems)
    if matches is not None:
        answer["matches"] = matches
    return JSONResponse(answer, HTTPStatus.ACCEPTED)


def _kind(request: Request, asked: Mapping[str, str]) -> str:
    """Of the document; one that cannot be read is not even taken."""
    kind = kind_of(request.headers.get("content-type", ""))
    if kind != STRUCTURED and Format.of_media_type(kind) is None and taking.format_of(kind, asked) is None:
        offered = ", ".join([*(each.media_type for each in Format), STRUCTURED, *taking.MEDIA_TYPES])
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"events come as one of {offered}")
    return kind


def _events(document: Unpacked, by: str, limits: Limits, problems: list[EventError]) -> Iterator[Event]:
    found: Iterable[Event] | None = None
    if document.format is Format.NQ and by == "graph" and len(document.data) <= _PLAIN:
        found = plain_events(document.data)
    if found is None:
        found = read_events(
            [document.data],
            format=document.format,
            by=by,  # type: ignore[arg-type]
            report=problems.append,
            limits=limits,
        )
    if document.time is None:
        yield from found
        return
    published = document.time.isoformat().replace("+00:00", "Z")
    for event in found:
        yield replace(event, published=published)


def _told(problems: Sequence[EventError]) -> list[dict[str, object]]:
    return [problem_of(each).document() for each in problems[:100]]


def _own_matches(core: Core, caller: Caller, accepted: Sequence[Accepted]) -> list[dict[str, object]]:
    """The caller's own matches, and nobody else's."""
    found: list[dict[str, object]] = []
    with core.database.reading() as reader:
        for each in accepted:
            numbers = [] if each.logged.matched is None or not each.new else each.logged.matched.tolist()
            matched = filter(None, (subscriptions.by_number(reader, number) for number in numbers))
            own = sorted((one for one in matched if one.tenant == caller.tenant), key=lambda one: one.id)
            for standing in own:
                match: dict[str, object] = {"event": each.id, "subscription": standing.id, "bindings": []}
                try:
                    answer = core.answer(standing, each.logged.event)
                    match["bindings"] = [{name: to_json(term) for name, term in row.items()} for row in answer.bindings]
                except EvaluationError as error:
                    match["failed"] = str(error)
                found.append(match)
    return found


# ---------------------------------------------------------------------------------------------------------------- by id


async def event(request: Request) -> Response:
    service = Service.of(request)
    service.access.caller(request, "subscribe")
    id = request.path_params["id"]
    found = await asyncio.to_thread(_find, service.core, id)
    if found is None:
        raise Problem(HTTPStatus.NOT_FOUND, "there is no such event; it may have been deleted, or be too old")
    format = negotiated(request.headers.get("accept"))
    tag = f'"{found.seq}-{format.value}"'
    headers = {"etag": tag, "vary": "accept", "cache-control": "private, max-age=0, must-revalidate"}
    if tags.is_known(request, tag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    data = await asyncio.to_thread(written, found.event.body, format, found.event.id)
    return Response(data, media_type=format.media_type, headers=headers)


async def delete(request: Request) -> Response:
    service = Service.of(request)
    caller = service.access.caller(request, "admin")
    if not await asyncio.wrap_future(service.core.delete_event(request.path_params["id"], caller.who)):
        raise Problem(HTTPStatus.NOT_FOUND, "there is no such event")
    return Response(status_code=HTTPStatus.NO_CONTENT)


def _find(core: Core, id: str) -> Logged | None:
    with core.database.reading() as reader:
        return log.by_id(reader, id)
