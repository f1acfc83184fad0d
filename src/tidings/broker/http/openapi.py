"""`/openapi.json`: what can be asked, and what is answered, for programs that read such."""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

import tidings
from tidings.broker.audit import LAST, What
from tidings.broker.http import problems
from tidings.broker.http.subscriptions import DIALECTS
from tidings.broker.options import PAYLOADS
from tidings.rdf.cloudevents import STRUCTURED
from tidings.rdf.formats import Format

Json: TypeAlias = dict[str, Any]

_TEXT: Json = {"type": "string"}
_RDF = [format.media_type for format in Format]
_CURSOR: Json = {"type": "string", "pattern": "^[1-9][0-9]{0,9}-[0-9]{1,18}$"}
_MOMENT: Json = {"type": "string", "format": "date-time"}
_NUMBER: Json = {"type": "integer", "minimum": 1}


def _object(required: list[str], **properties: Json) -> Json:
    return {"type": "object", "required": required, "properties": properties}


def _list(of: Json) -> Json:
    return {"type": "array", "items": of}


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


_BINDINGS = _list({"type": "object", "additionalProperties": {"type": "object"}})
_DOCUMENT: Json = {"type": ["string", "object", "array"]}
"""RDF as a text, or JSON-LD."""

_OPTIONS: Json = {
    "payload": {"enum": list(PAYLOADS)},
    "format": {"enum": _RDF},
    "labels": {"type": "object", "maxProperties": 32, "additionalProperties": {"type": "string", "maxLength": 256}},
    "ttl": {"type": "number", "exclusiveMinimum": 0, "maximum": 3_153_600_000},
    "webhook": {"type": "string", "maxLength": 2_000},
}
_SCHEMAS: Json = {
    "Problem": _object(
        ["type", "title", "status", "detail"],
        type=_TEXT,
        title=_TEXT,
        status={"type": "integer"},
        detail=_TEXT,
        line={"type": "integer"},
        column={"type": "integer"},
        source_line=_TEXT,
        hint=_TEXT,
        problems=_list({"type": "object"}),
        score={"type": "integer"},
        limit={"type": "integer"},
        costs={"type": "object", "additionalProperties": {"type": "integer"}},
    ),
    "Published": _object(
        ["events"],
        events=_list(_object(["id"], id=_TEXT)),
        problems=_list(_ref("Problem")),
        matches=_list(
            _object(
                ["event", "subscription", "bindings"],
                event=_TEXT,
                subscription=_TEXT,
                bindings=_BINDINGS,
                failed=_TEXT,
            )
        ),
    ),
    "Subscription": _object(
        ["id", "version", "query", "dialect", "state", "created"],
        id=_TEXT,
        version=_NUMBER,
        query=_TEXT,
        dialect={"enum": list(DIALECTS.values())},
        state={"enum": ["active", "paused"]},
        reason=_TEXT,
        created=_MOMENT,
        expires=_MOMENT,
        since=_MOMENT,
        looking_back={"type": "boolean"},
        webhook_secret=_TEXT,
        complexity={"type": "integer", "minimum": 0},
        **_OPTIONS,
    ),
    "Wanted": {
        **_object(["query"], query=_TEXT, dialect={"enum": list(DIALECTS.values())}, since=_MOMENT, **_OPTIONS),
        "additionalProperties": False,
    },
    "Notification": _object(
        ["id", "cursor", "subscription", "version", "event", "published"],
        id={"type": "string", "pattern": "^[0-9a-f]{64}$"},
        cursor=_CURSOR,
        subscription=_TEXT,
        version=_NUMBER,
        event=_TEXT,
        published=_TEXT,
        bindings=_BINDINGS,
        construct=_DOCUMENT,
        data=_DOCUMENT,
        format={"enum": _RDF},
        failed=_TEXT,
    ),
    "Entry": _object(
        ["place", "at", "tenant", "token", "address", "what", "object"],
        place=_NUMBER,
        at=_MOMENT,
        tenant=_TEXT,
        token=_TEXT,
        address=_TEXT,
        what={"enum": list(get_args(What))},
        object=_TEXT,
    ),
    "Letter": _object(
        ["cursor", "id", "event", "tries", "reason", "died"],
        cursor=_CURSOR,
        id=_TEXT,
        event=_TEXT,
        tries=_NUMBER,
        reason=_TEXT,
        died=_MOMENT,
    ),
}

_ID: Json = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": 512, "pattern": "^[^/]+$"},
}
_LIMIT: Json = {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 1_000}}
_PLACE: Json = {"name": "cursor", "in": "path", "required": True, "schema": _CURSOR}


def _asked(name: str, schema: Json, place: str = "query") -> Json:
    return {"name": name, "in": place, "schema": schema}


def _answer(what: str, schema: Json | None = None, kind: str = "application/json") -> Json:
    return {"description": what} if schema is None else {"description": what, "content": {kind: {"schema": schema}}}


_WRONG: dict[int, str] = {
    400: "What is asked cannot be understood; where there is a place, it is told.",
    401: "There is no token, or it is not valid.",
    403: "The token is not for this.",
    404: "There is no such thing, or it is somebody else's.",
    406: "It cannot be had in that format.",
    409: "It does not go with what is there: an event of this id with other triples; or nothing is matched elsewhere.",
    410: "The cursor is none of this subscription, or notifications behind it are gone.",
    412: "It is not as the condition says.",
    413: "It is too large.",
    415: "It is of a kind that is not known.",
    422: "The query is too complex; `score` says how much, `limit` how much may be, `costs` of what it is made.",
    429: "That is too often; `Retry-After` says when it may be asked again.",
    502: "The webhook did not take it.",
    503: "Nothing can be written just now.",
}


def _operation(id: str, summary: str, good: dict[int, Json], wrong: list[int], **more: Any) -> Json:
    answers = {str(status): answer for status, answer in good.items()}
    for status in (400, 401, 403, *wrong, 429, 503):
        answers[str(status)] = _answer(_WRONG[status], _ref("Problem"), problems.MEDIA_TYPE)
    return {"operationId": id, "summary": summary, "responses": dict(sorted(answers.items())), **more}


def _body(**kinds: Json) -> Json:
    return {"required": True, "content": {kind: {"schema": schema} for kind, schema in kinds.items()}}


_MATCHED = _list({"type": "integer", "minimum": 1, "maximum": 4_294_967_295})
_ROW = _object(["place", "id", "published", "body"], place=_NUMBER, id=_TEXT, published=_TEXT, body=_TEXT)
_PAIR: Json = {"type": "array", "prefixItems": [_NUMBER, _MATCHED], "minItems": 2, "maxItems": 2}
_COUNT: Json = {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}
_LOG_PATHS: Json = {
    "/v1/log": {
        "get": _operation(
            "log",
            "For who matches elsewhere: the events behind a place, in order.",
            {
                200: _answer(
                    "How far the log goes, how far it is matched, and events.",
                    _object(["last", "matched", "events"], last=_COUNT, matched=_COUNT, events=_list(_ROW)),
                )
            },
            [409],
            parameters=[
                _asked("after", _COUNT),
                _asked("upto", _COUNT),
                _asked("limit", {"type": "integer", "minimum": 0, "maximum": 10_000}),
                _asked("wait", {"type": "integer", "minimum": 0, "maximum": 20_000, "description": "Milliseconds."}),
            ],
        )
    },
    "/v1/log/ontology": {
        "get": _operation(
            "log_ontology",
            "The ontology to match with.",
            {200: _answer("As N-Triples.", _object(["tag", "text", "cycles"], tag=_TEXT, text=_TEXT, cycles=_TEXT))},
            [],
        )
    },
    "/v1/log/subscriptions": {
        "get": _operation(
            "log_subscriptions",
            "The numbers of all versions of subscriptions that may be due an event which is not matched yet.",
            {
                200: _answer(
                    "Without numbers where the state of them is known.",
                    _object(
                        ["state", "ontology", "steps"], state=_TEXT, ontology=_TEXT, steps=_NUMBER, numbers=_MATCHED
                    ),
                )
            },
            [409],
            parameters=[_asked("known", _TEXT)],
        ),
        "post": _operation(
            "log_texts",
            "The texts of some of them.",
            {
                200: _answer(
                    "Those that there are.",
                    _object(
                        ["subscriptions"],
                        subscriptions=_list(
                            _object(["number", "query", "dialect"], number=_NUMBER, query=_TEXT, dialect=_TEXT)
                        ),
                    ),
                )
            },
            [413],
            requestBody=_body(**{"application/json": _object(["numbers"], numbers={**_MATCHED, "maxItems": 10_000})}),
        ),
    },
    "/v1/log/matched": {
        "post": _operation(
            "log_matched",
            "Say what events matched: all from where they are matched, in order, each with the numbers of versions.",
            {200: _answer("Up to where they are matched now.", _object(["matched"], matched=_COUNT))},
            [409, 413],
            requestBody=_body(
                **{
                    "application/json": _object(
                        ["events", "ontology"],
                        events=_list(
                            {"type": "array", "prefixItems": [_NUMBER, _MATCHED], "minItems": 2, "maxItems": 2}
                        ),
                        ontology=_TEXT,
                        failed=_list(
                            _object(
                                ["number", "times", "event", "reason"],
                                number=_NUMBER,
                                times=_NUMBER,
                                event=_TEXT,
                                reason=_TEXT,
                            )
                        ),
                    )
                }
            ),
        )
    },
}
_ONE = _answer("The subscription.", _ref("Subscription"))
_PATHS: Json = {
    "/v1/events": {
        "post": _operation(
            "publish",
            "Publish a document of events.",
            {202: _answer("They are durable.", _ref("Published"))},
            [409, 413, 415],
            parameters=[
                _asked("events-by", {"enum": ["graph", "document", "subject", "nanopub"]}),
                _asked("matches", {"enum": ["own"]}),
            ],
            requestBody=_body(**dict.fromkeys((*_RDF, STRUCTURED), _TEXT)),
        )
    },
    "/v1/events/{id}": {
        "parameters": [_ID],
        "get": _operation(
            "event",
            "An event, in the format that is accepted.",
            {
                200: {"description": "The event.", "content": {kind: {"schema": _TEXT} for kind in _RDF}},
                304: _answer("It is as it was."),
            },
            [404, 406],
        ),
        "delete": _operation("delete_event", "Delete an event.", {204: _answer("It is gone.")}, [404]),
    },
    "/v1/subscriptions": {
        "get": _operation(
            "subscriptions",
            "One's own subscriptions, by id.",
            {
                200: _answer(
                    "A page of them.",
                    _object(["subscriptions"], subscriptions=_list(_ref("Subscription")), next=_TEXT),
                )
            },
            [],
            parameters=[_asked("after", _TEXT), _LIMIT],
        )
    },
    "/v1/subscriptions/{id}": {
        "parameters": [_ID],
        "put": _operation(
            "subscribe",
            "Leave a subscription, or its next version.",
            {200: _ONE, 201: _ONE},
            [412, 413, 415, 422],
            requestBody=_body(**dict.fromkeys(DIALECTS, _TEXT), **{"application/json": _ref("Wanted")}),
        ),
        "get": _operation("subscription", "A subscription.", {200: _ONE, 304: _answer("It is as it was.")}, [404]),
        "delete": _operation("cancel", "End a subscription.", {204: _answer("It has ended.")}, [404, 412]),
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
                    "content": {
                        "application/json": {
                            "schema": _object(
                                ["notifications", "cursor", "state"],
                                notifications=_list(_ref("Notification")),
                                cursor=_CURSOR,
                                state={"enum": ["active", "paused"]},
                                reason=_TEXT,
                                missed=_CURSOR,
                            )
                        },
                        "text/event-stream": {"schema": _TEXT},
                    },
                }
            },
            [404, 410],
            parameters=[
                _asked("after", _CURSOR),
                _LIMIT,
                _asked("payload", {"enum": list(PAYLOADS)}),
                _asked("format", {"enum": _RDF}),
            ],
        ),
    },
    "/v1/subscriptions/{id}/ack": {
        "parameters": [_ID],
        "post": _operation(
            "ack",
            "Say that everything up to a place has been dealt with.",
            {204: _answer("It is written down.")},
            [404, 410, 413],
            requestBody=_body(**{"application/json": _object(["cursor"], cursor=_CURSOR)}),
        ),
    },
    "/v1/subscriptions/{id}/dead": {
        "parameters": [_ID],
        "get": _operation(
            "dead_letters",
            "Notifications that the webhook did not take.",
            {200: _answer("A page of them.", _object(["dead"], dead=_list(_ref("Letter"))))},
            [404],
            parameters=[_asked("after", _CURSOR), _LIMIT],
        ),
    },
    "/v1/subscriptions/{id}/dead/{cursor}": {
        "parameters": [_ID, _PLACE],
        "post": _operation("send_again", "Send one again.", {204: _answer("It was taken.")}, [404, 502]),
        "delete": _operation("forget_letter", "Forget one.", {204: _answer("It is gone.")}, [404]),
    },
    "/v1/audit": {
        "get": _operation(
            "audit",
            "Who did what, the newest first.",
            {200: _answer("A page of it.", _object(["entries"], entries=_list(_ref("Entry")), next=_TEXT))},
            [],
            parameters=[_asked("before", {"type": "integer", "minimum": 0, "maximum": LAST}), _LIMIT],
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
        "schemas": _SCHEMAS,
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    },
    "paths": {**_PATHS, **_LOG_PATHS},
}


async def openapi(request: Request) -> Response:
    return JSONResponse(DOCUMENT)
