"""`/openapi.json`: what can be asked, and what is answered, for programs that read such."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import tidings
from tidings.broker.audit import LAST
from tidings.broker.http.openapi_feeds import AS_FEEDS, FEEDS
from tidings.broker.http.openapi_mappings import MAPPINGS
from tidings.broker.http.operations import (
    AFTER,
    AS_AFTER,
    EVENT,
    IF_MATCH,
    IF_NONE,
    LETTER,
    LIMIT,
    RDF,
    STREAM,
    WITH_ID,
    answer,
    asked,
    body,
    json_body,
    links,
    operation,
)
from tidings.broker.http.schemas import (
    CURSOR,
    ID,
    MOMENT,
    NUMBER,
    PLACE,
    SCHEMAS,
    START,
    TEXT,
    Json,
    list_of,
    object_of,
    query_in,
    ref,
)
from tidings.broker.http.subscriptions import DIALECTS
from tidings.broker.http.taking import MEDIA_TYPES
from tidings.broker.http.templates import LINES
from tidings.broker.instances import AT_ONCE
from tidings.broker.options import PAYLOADS
from tidings.ingest.registry import KINDS
from tidings.rdf.cloudevents import STRUCTURED
from tidings.rdf.formats import Format

_IRI: Json = {"type": "string", "format": "class-iri", "minLength": 1}
_NEXT = links(
    Look="subscription",
    Cancel="cancel",
    Pause="pause",
    Resume="resume",
    Notifications="notifications",
    DeadLetters="dead_letters",
)
_ONE = answer("The subscription.", ref("Subscription"), "application/json", "ETag")
_MADE = {**answer("It is new.", ref("Subscription"), "application/json", "ETag", "Location"), "links": _NEXT}
_SAME = answer("It is as it was.", None, "", "ETag")
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
        "post": operation(
            "publish",
            "Publish a document of events.",
            {202: answer("They are durable.", ref("Published"))},
            [404, 409, 422],
            parameters=[
                asked("events-by", {"enum": ["graph", "document", "subject", "nanopub"]}),
                asked("matches", {"enum": ["own"]}),
                asked("ce-time", MOMENT, "header", "When it was published."),
                asked("as", {"enum": sorted(KINDS)}, "query", "What a document is that is no RDF."),
                asked("base", _IRI, "query", "Of such: IRIs are made below this one."),
                asked("key", TEXT, "query", "Of such: what names a record; several with commas."),
                asked("class", _IRI, "query", "Of such: the classes of a record, IRIs; several with commas."),
                asked("home", {"enum": ["true", "false"]}, "query", "Of such: a record is the home vertex."),
                asked("record", TEXT, "query", "Of such: the path of what is one event."),
                asked("mapping", ID, "query", "Of such: the mapping or JSON-LD context that is kept under this id."),
            ],
            requestBody=body(
                {
                    **RDF,
                    **{kind: {"schema": TEXT} for kind in MEDIA_TYPES},
                    STRUCTURED: {"schema": {"type": "string", "format": "cloudevent"}},
                }
            ),
        ),
        "get": operation(
            "recent",
            "The newest events with one's own matches; or, as a stream, those that come.",
            {
                200: {
                    "description": "The newest first; in a stream, in order.",
                    "content": {
                        "application/json": {"schema": object_of(["events"], events=list_of(ref("Recent")))},
                        **STREAM,
                    },
                }
            },
            [],
            parameters=[
                LIMIT,
                asked("after", PLACE, "query", "Where a stream begins."),
                asked("Last-Event-ID", PLACE, "header", AS_AFTER),
            ],
        ),
    },
    "/v1/events/{id}": {
        "parameters": [EVENT],
        "get": operation(
            "event",
            "An event, in the format that is accepted.",
            {
                200: {"description": "The event.", "content": RDF, "headers": {"ETag": {"schema": TEXT}}},
                304: _SAME,
            },
            [404, 406],
            parameters=[IF_NONE],
        ),
        "delete": operation("delete_event", "Delete an event.", {204: answer("It is gone.")}, [404]),
    },
    "/v1/try": {
        "post": operation(
            "attempt",
            "Which of the newest events a query matches, without leaving it.",
            {200: answer("What it matches.", ref("Attempted"))},
            [422],
            requestBody=json_body(ref("Attempt")),
        )
    },
    "/v1/explain": {
        "post": operation(
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
            requestBody=json_body(ref("Question")),
        )
    },
    "/v1/ontology": {
        "get": operation(
            "ontology",
            "What is known of classes and properties.",
            {
                200: {"description": "The ontology.", "content": RDF, "headers": {"ETag": {"schema": TEXT}}},
                304: _SAME,
            },
            [406],
            parameters=[IF_NONE],
        ),
        "put": operation(
            "learn",
            "Go on with another one.",
            {200: answer("It counts from now on.", ref("Learnt"), "application/json", "ETag")},
            [412],
            parameters=[IF_MATCH, IF_NONE],
            requestBody=body(
                {kind: {"schema": {"type": "string", "format": f"ontology-{format}"}} for kind, format in (
                    (each.media_type, each.value) for each in Format
                )}
            ),
        ),
    },
}  # fmt: skip

_SUBSCRIPTIONS: Json = {
    "/v1/subscriptions": {
        "get": operation(
            "subscriptions",
            "One's own subscriptions, by id.",
            {
                200: answer(
                    "A page of them.",
                    object_of(["subscriptions"], subscriptions=list_of(ref("Subscription")), next=TEXT),
                )
            },
            [],
            parameters=[asked("after", TEXT), LIMIT],
        )
    },
    "/v1/subscriptions/{id}": {
        "parameters": [WITH_ID],
        "put": operation(
            "subscribe",
            "Leave a subscription, or its next version.",
            {200: {**_ONE, "links": _NEXT}, 201: _MADE},
            [404, 412, 422],
            parameters=[IF_MATCH, IF_NONE],
            requestBody=body(
                {
                    **{kind: {"schema": query_in(dialect)} for kind, dialect in DIALECTS.items()},
                    "application/json": {"schema": ref("Wanted")},
                }
            ),
        ),
        "get": operation("subscription", "A subscription.", {200: _ONE, 304: _SAME}, [404], parameters=[IF_NONE]),
        "delete": operation(
            "cancel",
            "End a subscription.",
            {204: {**answer("It has ended."), "links": links(Gone="subscription", Silent="notifications")}},
            [404, 412],
            parameters=[IF_MATCH, IF_NONE],
        ),
    },
    "/v1/subscriptions/{id}/pause": {
        "parameters": [WITH_ID],
        "post": operation("pause", "Have it match nothing for a while.", {200: _ONE}, [404]),
    },
    "/v1/subscriptions/{id}/resume": {
        "parameters": [WITH_ID],
        "post": operation("resume", "Have it match again.", {200: _ONE}, [404]),
    },
    "/v1/subscriptions/{id}/notifications": {
        "parameters": [WITH_ID],
        "get": operation(
            "notifications",
            "Notifications behind a place: a page of them, or a stream of those there are and those that come.",
            {
                200: {
                    "description": "In order.",
                    "content": {"application/json": {"schema": _PAGE}, **STREAM},
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
                asked("after", START, "query", "The place behind which to begin; or with what comes from now on."),
                LIMIT,
                asked("payload", {"enum": list(PAYLOADS)}),
                asked("format", {"enum": list(RDF)}),
                asked("Last-Event-ID", START, "header", AS_AFTER),
            ],
        ),
    },
    "/v1/subscriptions/{id}/ack": {
        "parameters": [WITH_ID],
        "post": operation(
            "ack",
            "Say that everything up to a place has been dealt with.",
            {204: answer("It is written down.")},
            [404, 410],
            requestBody=json_body(object_of(["cursor"], cursor=CURSOR)),
        ),
    },
    "/v1/subscriptions/{id}/dead": {
        "parameters": [WITH_ID],
        "get": operation(
            "dead_letters",
            "Notifications that the webhook did not take.",
            {200: answer("A page of them.", object_of(["dead"], dead=list_of(ref("Letter"))))},
            [404],
            parameters=[AFTER, LIMIT],
        ),
    },
    "/v1/subscriptions/{id}/dead/{cursor}": {
        "parameters": [WITH_ID, LETTER],
        "post": operation("send_again", "Send one again.", {204: answer("It was taken.")}, [404, 502]),
        "delete": operation("forget_letter", "Forget one.", {204: answer("It is gone.")}, [404]),
    },
}

_OF_IT = {
    name: {"operationId": operation, "parameters": {"id": "$request.path.id"}}
    for name, operation in (("Look", "template"), ("Remove", "remove_template"), ("Use", "instantiate"))
}
_KEPT = answer("The template.", ref("Template"), "application/json", "ETag")
_TEMPLATES: Json = {
    "/v1/templates": {
        "get": operation(
            "templates",
            "One's own templates, by id.",
            {200: answer("A page of them.", object_of(["templates"], templates=list_of(ref("Template")), next=TEXT))},
            [],
            parameters=[asked("after", TEXT), LIMIT],
        )
    },
    "/v1/templates/{id}": {
        "parameters": [WITH_ID],
        "put": operation(
            "define",
            "Keep a template, or its next version. What was made of it before stays as it is.",
            {
                200: {**_KEPT, "links": _OF_IT},
                201: {
                    **answer("It is new.", ref("Template"), "application/json", "ETag", "Location"),
                    "links": _OF_IT,
                },
            },
            [412, 422],
            parameters=[IF_MATCH, IF_NONE],
            requestBody=json_body(ref("Definition")),
        ),
        "get": operation("template", "A template.", {200: _KEPT, 304: _SAME}, [404], parameters=[IF_NONE]),
        "delete": operation(
            "remove_template",
            "Remove a template. What was made of it stays.",
            {204: answer("It is gone.")},
            [404, 412],
            parameters=[IF_MATCH, IF_NONE],
        ),
    },
    "/v1/templates/{id}/instances": {
        "parameters": [WITH_ID],
        "post": operation(
            "instantiate",
            "Leave many subscriptions of a template, up to 10,000 at once; those that are wrong are listed.",
            {200: answer("They stand.", ref("Instances"))},
            [404, 422],
            requestBody=body(
                {
                    "application/json": {"schema": {**list_of(ref("Instance")), "minItems": 1, "maxItems": AT_ONCE}},
                    LINES: {"schema": {"type": "string", "format": "instances-in-lines"}},
                }
            ),
        ),
    },
}

_OK = answer("It is well.", object_of(["status"], status={"const": "ok"}))
_HTML = {"description": "The page.", "content": {"text/html": {"schema": TEXT}}}
_SERVER: Json = {
    "/v1/audit": {
        "get": operation(
            "audit",
            "Who did what, the newest first.",
            {200: answer("A page of it.", object_of(["entries"], entries=list_of(ref("Entry")), next=TEXT))},
            [],
            parameters=[asked("before", {"type": "integer", "minimum": 0, "maximum": LAST}), LIMIT],
        )
    },
    "/v1/status": {"get": operation("status", "Counts.", {200: answer("Them.", ref("Status"))}, [])},
    "/metrics": {"get": operation("metrics", "Counts and times for Prometheus.",
                                   {200: answer("Them.", TEXT, "text/plain")}, [])},
    "/healthz": {"get": operation("healthy", "Whether the process lives.", {200: _OK}, [], security=[])},
    "/readyz": {"get": operation("ready", "Whether its store answers.", {200: _OK}, [503], security=[])},
    "/": {"get": operation("console", "A page for people.", {200: _HTML}, [], security=[])},
    "/openapi.json": {"get": operation("openapi", "This.", {200: answer("This.", {"type": "object"})}, [],
                                        security=[])},
}  # fmt: skip

_VERSIONS = list_of({"type": "integer", "minimum": 1, "maximum": 4_294_967_295})
_PLACE: Json = {"type": "integer", "minimum": 1, "maximum": 10**18 - 1}
_BEHIND: Json = {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}
_TEXTS = list_of(object_of(["number", "query", "dialect"], number=NUMBER, query=TEXT, dialect=TEXT))
_LOG: Json = {
    "/v1/log": {
        "get": operation(
            "log",
            "For who matches elsewhere: the events behind a place, in order.",
            {
                200: answer(
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
                asked("after", _BEHIND),
                asked("upto", _BEHIND),
                asked("limit", {"type": "integer", "minimum": 0, "maximum": 10_000}),
                asked("wait", {"type": "integer", "minimum": 0, "maximum": 20_000}, "query", "Milliseconds."),
            ],
        )
    },
    "/v1/log/ontology": {
        "get": operation(
            "log_ontology",
            "The ontology to match with.",
            {200: answer("As N-Triples.", object_of(["tag", "text", "cycles"], tag=TEXT, text=TEXT, cycles=TEXT))},
            [409],
        )
    },
    "/v1/log/subscriptions": {
        "get": operation(
            "log_subscriptions",
            "The numbers of all versions of subscriptions that may be due an event which is not matched yet.",
            {
                200: answer(
                    "Without numbers where the state of them is known.",
                    object_of(
                        ["state", "ontology", "steps"], state=TEXT, ontology=TEXT, steps=NUMBER, numbers=_VERSIONS
                    ),
                )
            },
            [409],
            parameters=[asked("known", TEXT)],
        ),
        "post": operation(
            "log_texts",
            "The texts of some of them.",
            {200: answer("Those that there are.", object_of(["subscriptions"], subscriptions=_TEXTS))},
            [409],
            requestBody=json_body(object_of(["numbers"], numbers={**_VERSIONS, "maxItems": 10_000})),
        ),
    },
    "/v1/log/matched": {
        "post": operation(
            "log_matched",
            "Say what events matched: all from where they are matched, in order, each with the numbers of versions.",
            {200: answer("Up to where they are matched now.", object_of(["matched"], matched=_BEHIND))},
            [409],
            requestBody=json_body(
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
    "paths": {**_EVENTS, **_SUBSCRIPTIONS, **_TEMPLATES, **MAPPINGS, **AS_FEEDS, **FEEDS, **_SERVER, **_LOG},
}


async def openapi(request: Request) -> Response:
    return JSONResponse(DOCUMENT)
