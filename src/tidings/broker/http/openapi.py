"""`/openapi.json`: what can be asked, and what is answered, for programs that read such."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import tidings
from tidings.broker.audit import LAST
from tidings.broker.http import problems
from tidings.broker.http.schemas import (
    CURSOR,
    ID,
    MOMENT,
    NUMBER,
    PLACE,
    SCHEMAS,
    START,
    TAGS,
    TEXT,
    Json,
    list_of,
    object_of,
    query_in,
    ref,
)
from tidings.broker.http.subscriptions import DIALECTS
from tidings.broker.options import PAYLOADS
from tidings.rdf.cloudevents import STRUCTURED
from tidings.rdf.formats import Format

_RDF = {format.media_type: {"schema": {"type": "string", "format": format.value}} for format in Format}
_STREAM = {"text/event-stream": {"schema": TEXT}}


def _asked(name: str, schema: Json, place: str = "query", about: str = "", **more: Any) -> Json:
    return {"name": name, "in": place, "schema": schema, **({"description": about} if about else {}), **more}


_ID = _asked("id", {**ID, "pattern": "^[^/]+$"}, "path", required=True)
_EVENT = _asked("id", {"type": "string", "minLength": 1}, "path", "Slashes in it are escaped.", required=True)
_LETTER = _asked("cursor", CURSOR, "path", required=True)
_LIMIT = _asked("limit", {"type": "integer", "minimum": 1, "maximum": 1_000})
_AFTER = _asked("after", CURSOR, "query", "The place behind which to begin.")
_LAST = "The same as `after`, as a browser says it when it connects again."
_IF_MATCH = _asked("If-Match", TAGS, "header", "Only if it is still this.")
_IF_NONE = _asked("If-None-Match", TAGS, "header", "Only if it is none of these any more; `*`: if it is not there.")


def _answer(what: str, schema: Json | None = None, kind: str = "application/json", *headers: str) -> Json:
    answer: Json = {"description": what}
    if schema is not None:
        answer["content"] = {kind: {"schema": schema}}
    if headers:
        answer["headers"] = {name: {"schema": TEXT, "required": True} for name in headers}
    return answer


_WRONG: dict[int, str] = {
    400: "What is asked cannot be understood; where there is a place, it is told.",
    401: "There is no token, or it is not valid.",
    403: "The token is not for this, or a page of another origin asks.",
    404: "There is no such thing, or it is somebody else's.",
    405: "It cannot be done with this.",
    406: "It cannot be had in that format.",
    408: "The body came too slowly.",
    409: "It does not go with what is there: an event of this id with other triples; or nothing is matched elsewhere.",
    410: "The cursor is none of this subscription, or notifications behind it are gone.",
    412: "It is not as the condition says.",
    413: "It is too large.",
    415: "It is of a kind that is not known.",
    421: "The server is not to be asked under this name.",
    422: "The query is too complex, of which `score`, `limit` and `costs` tell; or it takes too long to work out.",
    429: "That is too often; `Retry-After` says when it may be asked again.",
    502: "The webhook did not take it.",
    503: "Nothing can be written just now.",
}
_ALWAYS = (400, 421)
_GUARDED = (401, 403, 429, 503)
_WITH_BODY = (408, 413, 415)


def _operation(id: str, summary: str, good: dict[int, Json], wrong: list[int], **more: Any) -> Json:
    """An operation, which needs a token unless it has a `security` of its own."""
    guarded = () if "security" in more else _GUARDED
    body = _WITH_BODY if "requestBody" in more else ()
    answers = {str(status): answer for status, answer in good.items()}
    for status in (*_ALWAYS, *guarded, *body, *wrong):
        answers[str(status)] = _answer(_WRONG[status], ref("Problem"), problems.MEDIA_TYPE)
    if guarded:
        answers["401"]["headers"] = {"WWW-Authenticate": {"schema": TEXT, "required": True}}
    return {"operationId": id, "summary": summary, "responses": dict(sorted(answers.items())), **more}


def _body(kinds: Json) -> Json:
    return {"required": True, "content": kinds}


def _json(schema: Json) -> Json:
    return _body({"application/json": {"schema": schema}})


def _links(**names: str) -> Json:
    """What can be asked next about the subscription of this answer."""
    return {
        name: {"operationId": operation, "parameters": {"id": "$request.path.id"}} for name, operation in names.items()
    }


_NEXT = _links(
    Look="subscription",
    Cancel="cancel",
    Pause="pause",
    Resume="resume",
    Notifications="notifications",
    DeadLetters="dead_letters",
)
_ONE = _answer("The subscription.", ref("Subscription"), "application/json", "ETag")
_MADE = {**_answer("It is new.", ref("Subscription"), "application/json", "ETag", "Location"), "links": _NEXT}
_SAME = _answer("It is as it was.", None, "", "ETag")
_PAGE = object_of(
    ["notifications", "cursor", "state"],
    notifications=list_of(ref("Notification")),
    cursor=CURSOR,
    state={"enum": ["active", "paused"]},
    reason=TEXT,
    missed=CURSOR,
)

_EVENTS: Json = {
    "/v1/events": {
        "post": _operation(
            "publish",
            "Publish a document of events.",
            {202: _answer("They are durable.", ref("Published"))},
            [409],
            parameters=[
                _asked("events-by", {"enum": ["graph", "document", "subject", "nanopub"]}),
                _asked("matches", {"enum": ["own"]}),
                _asked("ce-time", MOMENT, "header", "When it was published."),
            ],
            requestBody=_body({**_RDF, STRUCTURED: {"schema": {"type": "string", "format": "cloudevent"}}}),
        ),
        "get": _operation(
            "recent",
            "The newest events with one's own matches; or, as a stream, those that come.",
            {
                200: {
                    "description": "The newest first; in a stream, in order.",
                    "content": {
                        "application/json": {"schema": object_of(["events"], events=list_of(ref("Recent")))},
                        **_STREAM,
                    },
                }
            },
            [],
            parameters=[
                _LIMIT,
                _asked("after", PLACE, "query", "Where a stream begins."),
                _asked("Last-Event-ID", PLACE, "header", _LAST),
            ],
        ),
    },
    "/v1/events/{id}": {
        "parameters": [_EVENT],
        "get": _operation(
            "event",
            "An event, in the format that is accepted.",
            {
                200: {"description": "The event.", "content": _RDF, "headers": {"ETag": {"schema": TEXT}}},
                304: _SAME,
            },
            [404, 406],
            parameters=[_IF_NONE],
        ),
        "delete": _operation("delete_event", "Delete an event.", {204: _answer("It is gone.")}, [404]),
    },
    "/v1/try": {
        "post": _operation(
            "attempt",
            "Which of the newest events a query matches, without leaving it.",
            {200: _answer("What it matches.", ref("Attempted"))},
            [422],
            requestBody=_json(ref("Attempt")),
        )
    },
    "/v1/explain": {
        "post": _operation(
            "explain",
            "Why a subscription matches an event, or why not.",
            {
                200: {
                    "description": "In words, or as a picture.",
                    "content": {
                        "application/json": {"schema": ref("Explanation")},
                        "image/svg+xml": {"schema": TEXT},
                    },
                }
            },
            [404, 422],
            requestBody=_json(ref("Question")),
        )
    },
    "/v1/ontology": {
        "get": _operation(
            "ontology",
            "What is known of classes and properties.",
            {
                200: {"description": "The ontology.", "content": _RDF, "headers": {"ETag": {"schema": TEXT}}},
                304: _SAME,
            },
            [406],
            parameters=[_IF_NONE],
        ),
        "put": _operation(
            "learn",
            "Go on with another one.",
            {200: _answer("It counts from now on.", ref("Learnt"), "application/json", "ETag")},
            [412],
            parameters=[_IF_MATCH, _IF_NONE],
            requestBody=_body(
                {kind: {"schema": {"type": "string", "format": f"ontology-{format}"}} for kind, format in (
                    (each.media_type, each.value) for each in Format
                )}
            ),
        ),
    },
}  # fmt: skip

_SUBSCRIPTIONS: Json = {
    "/v1/subscriptions": {
        "get": _operation(
            "subscriptions",
            "One's own subscriptions, by id.",
            {
                200: _answer(
                    "A page of them.",
                    object_of(["subscriptions"], subscriptions=list_of(ref("Subscription")), next=TEXT),
                )
            },
            [],
            parameters=[_asked("after", TEXT), _LIMIT],
        )
    },
    "/v1/subscriptions/{id}": {
        "parameters": [_ID],
        "put": _operation(
            "subscribe",
            "Leave a subscription, or its next version.",
            {200: {**_ONE, "links": _NEXT}, 201: _MADE},
            [412, 422],
            parameters=[_IF_MATCH, _IF_NONE],
            requestBody=_body(
                {
                    **{kind: {"schema": query_in(dialect)} for kind, dialect in DIALECTS.items()},
                    "application/json": {"schema": ref("Wanted")},
                }
            ),
        ),
        "get": _operation("subscription", "A subscription.", {200: _ONE, 304: _SAME}, [404], parameters=[_IF_NONE]),
        "delete": _operation(
            "cancel",
            "End a subscription.",
            {204: {**_answer("It has ended."), "links": _links(Gone="subscription", Silent="notifications")}},
            [404, 412],
            parameters=[_IF_MATCH, _IF_NONE],
        ),
    },
    "/v1/subscriptions/{id}/pause": {
        "parameters": [_ID],
        "post": _operation("pause", "Have it match nothing for a while.", {200: _ONE}, [404]),
    },
    "/v1/subscriptions/{id}/resume": {
        "parameters": [_ID],
        "post": _operation("resume", "Have it match again.", {200: _ONE}, [404]),
    },
    "/v1/subscriptions/{id}/notifications": {
        "parameters": [_ID],
        "get": _operation(
            "notifications",
            "Notifications behind a place: a page of them, or a stream of those there are and those that come.",
            {
                200: {
                    "description": "In order.",
                    "content": {"application/json": {"schema": _PAGE}, **_STREAM},
                    "links": {
                        "Ack": {
                            "operationId": "ack",
                            "parameters": {"id": "$request.path.id"},
                            "requestBody": {"cursor": "$response.body#/cursor"},
                        }
                    },
                }
            },
            [404, 410],
            parameters=[
                _asked("after", START, "query", "The place behind which to begin; or with what comes from now on."),
                _LIMIT,
                _asked("payload", {"enum": list(PAYLOADS)}),
                _asked("format", {"enum": list(_RDF)}),
                _asked("Last-Event-ID", START, "header", _LAST),
            ],
        ),
    },
    "/v1/subscriptions/{id}/ack": {
        "parameters": [_ID],
        "post": _operation(
            "ack",
            "Say that everything up to a place has been dealt with.",
            {204: _answer("It is written down.")},
            [404, 410],
            requestBody=_json(object_of(["cursor"], cursor=CURSOR)),
        ),
    },
    "/v1/subscriptions/{id}/dead": {
        "parameters": [_ID],
        "get": _operation(
            "dead_letters",
            "Notifications that the webhook did not take.",
            {200: _answer("A page of them.", object_of(["dead"], dead=list_of(ref("Letter"))))},
            [404],
            parameters=[_AFTER, _LIMIT],
        ),
    },
    "/v1/subscriptions/{id}/dead/{cursor}": {
        "parameters": [_ID, _LETTER],
        "post": _operation("send_again", "Send one again.", {204: _answer("It was taken.")}, [404, 502]),
        "delete": _operation("forget_letter", "Forget one.", {204: _answer("It is gone.")}, [404]),
    },
}

_OK = _answer("It is well.", object_of(["status"], status={"const": "ok"}))
_HTML = {"description": "The page.", "content": {"text/html": {"schema": TEXT}}}
_SERVER: Json = {
    "/v1/audit": {
        "get": _operation(
            "audit",
            "Who did what, the newest first.",
            {200: _answer("A page of it.", object_of(["entries"], entries=list_of(ref("Entry")), next=TEXT))},
            [],
            parameters=[_asked("before", {"type": "integer", "minimum": 0, "maximum": LAST}), _LIMIT],
        )
    },
    "/v1/status": {"get": _operation("status", "Counts.", {200: _answer("Them.", ref("Status"))}, [])},
    "/metrics": {"get": _operation("metrics", "Counts and times for Prometheus.",
                                   {200: _answer("Them.", TEXT, "text/plain")}, [])},
    "/healthz": {"get": _operation("healthy", "Whether the process lives.", {200: _OK}, [], security=[])},
    "/readyz": {"get": _operation("ready", "Whether its store answers.", {200: _OK}, [503], security=[])},
    "/": {"get": _operation("console", "A page for people.", {200: _HTML}, [], security=[])},
    "/openapi.json": {"get": _operation("openapi", "This.", {200: _answer("This.", {"type": "object"})}, [],
                                        security=[])},
}  # fmt: skip

_VERSIONS = list_of({"type": "integer", "minimum": 1, "maximum": 4_294_967_295})
_PLACE: Json = {"type": "integer", "minimum": 1, "maximum": 10**18 - 1}
_BEHIND: Json = {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}
_TEXTS = list_of(object_of(["number", "query", "dialect"], number=NUMBER, query=TEXT, dialect=TEXT))
_LOG: Json = {
    "/v1/log": {
        "get": _operation(
            "log",
            "For who matches elsewhere: the events behind a place, in order.",
            {
                200: _answer(
                    "How far the log goes, how far it is matched, and events.",
                    object_of(
                        ["last", "matched", "events"],
                        last=_BEHIND,
                        matched=_BEHIND,
                        events=list_of(
                            object_of(
                                ["place", "id", "published", "body"], place=_PLACE, id=TEXT, published=TEXT, body=TEXT
                            )
                        ),
                    ),
                )
            },
            [409],
            parameters=[
                _asked("after", _BEHIND),
                _asked("upto", _BEHIND),
                _asked("limit", {"type": "integer", "minimum": 0, "maximum": 10_000}),
                _asked("wait", {"type": "integer", "minimum": 0, "maximum": 20_000}, "query", "Milliseconds."),
            ],
        )
    },
    "/v1/log/ontology": {
        "get": _operation(
            "log_ontology",
            "The ontology to match with.",
            {200: _answer("As N-Triples.", object_of(["tag", "text", "cycles"], tag=TEXT, text=TEXT, cycles=TEXT))},
            [409],
        )
    },
    "/v1/log/subscriptions": {
        "get": _operation(
            "log_subscriptions",
            "The numbers of all versions of subscriptions that may be due an event which is not matched yet.",
            {
                200: _answer(
                    "Without numbers where the state of them is known.",
                    object_of(
                        ["state", "ontology", "steps"], state=TEXT, ontology=TEXT, steps=NUMBER, numbers=_VERSIONS
                    ),
                )
            },
            [409],
            parameters=[_asked("known", TEXT)],
        ),
        "post": _operation(
            "log_texts",
            "The texts of some of them.",
            {200: _answer("Those that there are.", object_of(["subscriptions"], subscriptions=_TEXTS))},
            [409],
            requestBody=_json(object_of(["numbers"], numbers={**_VERSIONS, "maxItems": 10_000})),
        ),
    },
    "/v1/log/matched": {
        "post": _operation(
            "log_matched",
            "Say what events matched: all from where they are matched, in order, each with the numbers of versions.",
            {200: _answer("Up to where they are matched now.", object_of(["matched"], matched=_BEHIND))},
            [409],
            requestBody=_json(
                object_of(
                    ["events", "ontology"],
                    events=list_of({"type": "array", "prefixItems": [_PLACE, _VERSIONS], "minItems": 2, "maxItems": 2}),
                    ontology=TEXT,
                    failed=list_of(
                        object_of(
                            ["number", "times", "event", "reason"],
                            number={"type": "integer", "minimum": 1, "maximum": 4_294_967_295},
                            times=_PLACE,
                            event=TEXT,
                            reason=TEXT,
                        )
                    ),
                )
            ),
        )
    },
}

DOCUMENT: Json = {
    "openapi": "3.1.0",
    "info": {
        "title": "Tidings",
        "version": tidings.__version__,
        "description": "Publish/subscribe that understands meaning.",
        "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    },
    "security": [{"token": []}],
    "components": {
        "schemas": SCHEMAS,
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    },
    "paths": {**_EVENTS, **_SUBSCRIPTIONS, **_SERVER, **_LOG},
}


async def openapi(request: Request) -> Response:
    return JSONResponse(DOCUMENT)
