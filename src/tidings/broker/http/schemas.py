"""What is sent and answered, as JSON Schema: the parts of `/openapi.json`."""

from __future__ import annotations

from typing import Any, TypeAlias, get_args

from tidings.broker.audit import What
from tidings.broker.http.subscriptions import DIALECTS
from tidings.broker.options import PAYLOADS
from tidings.broker.receiving import LATEST
from tidings.ingest.feeds.options import CHARSETS, MOST
from tidings.ingest.kept import KINDS as MAPPING_KINDS
from tidings.lang.parameters import KINDS, MAX_NOTE
from tidings.lang.templates import MAX_PARAMETERS, NAME
from tidings.rdf.formats import Format

Json: TypeAlias = dict[str, Any]

TEXT: Json = {"type": "string"}
CURSOR: Json = {"type": "string", "format": "cursor", "pattern": "^[1-9][0-9]{0,9}-[0-9]{1,18}$"}
START: Json = {"type": "string", "format": "start", "pattern": f"^({LATEST}|[1-9][0-9]{{0,9}}-[0-9]{{1,18}})$"}
PLACE: Json = {"type": "string", "format": "place", "pattern": "^[0-9]{1,18}$"}
MOMENT: Json = {"type": "string", "format": "date-time"}
TAGS: Json = {"type": "string", "format": "entity-tags", "pattern": '^(\\*|(W/)?"[!#-~]*"(, (W/)?"[!#-~]*")*)$'}
URL: Json = {"type": "string", "format": "feed-url", "minLength": 8, "maxLength": 2_000}
KEY: Json = {
    "type": "string",
    "format": "feed-key",
    "pattern": "^[1-9][0-9]{0,14}\\.[1-9][0-9]{0,14}\\.[A-Za-z0-9_-]{32}$",
}
ID: Json = {"type": "string", "format": "subscription-id", "minLength": 1, "maxLength": 512}
COUNT: Json = {"type": "integer", "minimum": 0}
NUMBER: Json = {"type": "integer", "minimum": 1}


def object_of(required: list[str], **properties: Json) -> Json:
    """It has no members but these."""
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


def list_of(each: Json) -> Json:
    return {"type": "array", "items": each}


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


_TERM = {
    "type": "object",
    "required": ["type", "value"],
    "properties": {
        "type": {"enum": ["uri", "literal", "bnode"]},
        "value": TEXT,
        "datatype": TEXT,
        "xml:lang": TEXT,
    },
    "additionalProperties": False,
}
_DOCUMENT: Json = {"type": ["string", "object", "array"]}
"""RDF as a text, or JSON-LD."""

_BINDINGS = list_of({"type": "object", "additionalProperties": _TERM})
_GIVEN: Json = {
    "payload": {"enum": list(PAYLOADS)},
    "format": {"enum": [format.media_type for format in Format]},
    "labels": {
        "type": "object",
        "maxProperties": 32,
        "propertyNames": {"maxLength": 256},
        "additionalProperties": {"type": "string", "maxLength": 256},
    },
    "ttl": {"type": "number", "exclusiveMinimum": 0, "maximum": 3_153_600_000},
    "webhook": {"type": "string", "format": "webhook", "maxLength": 2_000},
}
_FEED_GIVEN: Json = {
    "classes": {
        "type": "array",
        "maxItems": MOST,
        "items": {
            "type": "string",
            "format": "class-iri",
            "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:",
            "maxLength": 2_000,
        },
    },
    "home": {"type": "boolean"},
    "charset": {"enum": list(CHARSETS)},
}


def query_in(dialect: str) -> Json:
    """A text in that language."""
    return {"type": "string", "format": dialect}


def _in_each(required: list[str], **more: Json) -> list[Json]:
    """A query in each of the languages; in SPARQL, where it does not say."""
    found = []
    for dialect in DIALECTS.values():
        language = [] if dialect == "sparql" else ["dialect"]
        members = {"query": query_in(dialect), "dialect": {"const": dialect}, **more}
        found.append(object_of(["query", *language, *required], **members))
    return found


_EVENT_IN: list[tuple[list[str], Json]] = [
    (["event"], {"event": TEXT}),
    *(
        (
            ["data"] if format is Format.TRIG else ["data", "format"],
            {"data": {"type": "string", "format": f"one-event-in-{format.value}"}, "format": {"const": format.value}},
        )
        for format in Format
    ),
]

VALUE: Json = {"type": ["string", "number", "boolean", "object"]}
"""What stands for a parameter; the template says which of these."""

_VALUES: Json = {"type": "object", "additionalProperties": VALUE}
_NOTE: Json = {"type": "string", "maxLength": MAX_NOTE}
_PARAMETERS: Json = {
    "type": "object",
    "maxProperties": MAX_PARAMETERS,
    "propertyNames": {"pattern": f"^{NAME}$"},
    "additionalProperties": {
        "anyOf": [
            {"enum": list(KINDS)},
            object_of(["kind"], kind={"enum": list(KINDS)}, default=VALUE, description=_NOTE),
        ]
    },
}

SCHEMAS: Json = {
    "Problem": {
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": TEXT,
            "title": TEXT,
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": TEXT,
            "line": NUMBER,
            "column": NUMBER,
            "source_line": TEXT,
            "hint": TEXT,
            "problems": list_of(ref("Problem")),
            "item": NUMBER,
            "score": COUNT,
            "limit": COUNT,
            "costs": {"type": "object", "additionalProperties": COUNT},
        },
    },
    "Published": object_of(
        ["events"],
        events=list_of(object_of(["id"], id=TEXT)),
        problems=list_of(ref("Problem")),
        matches=list_of(
            object_of(
                ["event", "subscription", "bindings"], event=TEXT, subscription=TEXT, bindings=_BINDINGS, failed=TEXT
            )
        ),
    ),
    "Recent": object_of(["id", "published", "place", "matches"],
                        id=TEXT, published=TEXT, place=NUMBER, matches=list_of(TEXT)),
    "Subscription": object_of(
        ["id", "version", "query", "dialect", "state", "created", "payload"],
        id=TEXT,
        version=NUMBER,
        query=TEXT,
        dialect={"enum": list(DIALECTS.values())},
        state={"enum": ["active", "paused"]},
        reason=TEXT,
        created=MOMENT,
        expires=MOMENT,
        since=MOMENT,
        looking_back={"type": "boolean"},
        webhook_secret=TEXT,
        complexity=COUNT,
        template=TEXT,
        template_version=NUMBER,
        parameters=_VALUES,
        **_GIVEN,
    ),
    "Wanted": {
        "oneOf": [
            *_in_each([], since=MOMENT, **_GIVEN),
            object_of(["template"], template=ID, parameters=_VALUES, since=MOMENT, **_GIVEN),
        ]
    },
    "Template": object_of(
        ["id", "version", "created", "complexity", "query", "dialect", "parameters"],
        id=TEXT,
        version=NUMBER,
        created=MOMENT,
        complexity=COUNT,
        query=TEXT,
        dialect={"enum": list(DIALECTS.values())},
        description=_NOTE,
        parameters=_PARAMETERS,
    ),
    "Definition": {
        "oneOf": [
            object_of(
                ["query"] if dialect == "sparql" else ["query", "dialect"],
                query=query_in(f"template-in-{dialect}"),
                dialect={"const": dialect},
                parameters=_PARAMETERS,
                description=_NOTE,
            )
            for dialect in DIALECTS.values()
        ]
    },
    "Mapping": object_of(
        ["id", "kind", "bytes", "created"], id=TEXT, kind={"enum": list(MAPPING_KINDS)}, bytes=COUNT, created=MOMENT
    ),
    "Instance": object_of(["id"], id=ID, parameters=_VALUES, since=MOMENT, **_GIVEN),
    "Instances": object_of(
        ["subscriptions"],
        subscriptions=list_of(object_of(["id", "version", "new"], id=TEXT, version=NUMBER, new={"type": "boolean"})),
        problems=list_of(ref("Problem")),
    ),
    "Notification": object_of(
        ["id", "cursor", "subscription", "version", "event", "published"],
        id={"type": "string", "pattern": "^[0-9a-f]{64}$"},
        cursor=CURSOR,
        subscription=TEXT,
        version=NUMBER,
        event=TEXT,
        published=TEXT,
        bindings=_BINDINGS,
        construct=_DOCUMENT,
        data=_DOCUMENT,
        format={"enum": [format.media_type for format in Format]},
        failed=TEXT,
    ),
    "Entry": object_of(
        ["place", "at", "tenant", "token", "address", "what", "object"],
        place=NUMBER,
        at=MOMENT,
        tenant=TEXT,
        token=TEXT,
        address=TEXT,
        what={"enum": list(get_args(What))},
        object=TEXT,
    ),
    "Letter": object_of(
        ["cursor", "id", "event", "tries", "reason", "died"],
        cursor=CURSOR,
        id=TEXT,
        event=TEXT,
        tries=NUMBER,
        reason=TEXT,
        died=MOMENT,
    ),
    "Attempt": {"oneOf": _in_each([], limit={"type": "integer", "minimum": 1, "maximum": 1_000})},
    "Attempted": object_of(
        ["tried", "matches", "failed"],
        tried=COUNT,
        matches=list_of(object_of(["event", "bindings"], event=TEXT, bindings=_BINDINGS, failed=TEXT)),
        failed=list_of(TEXT),
    ),
    "Question": {
        "oneOf": [
            each
            for required, event in _EVENT_IN
            for each in (
                object_of(["subscription", *required], subscription=ID, **event),
                *_in_each(required, **event),
            )
        ]
    },
    "Explanation": {
        "type": "object",
        "required": ["subscription", "text", "event", "matches", "solutions", "solution", "findings"],
        "properties": {
            "subscription": TEXT,
            "text": TEXT,
            "event": TEXT,
            "matches": {"type": "boolean"},
            "solutions": COUNT,
            "solution": {"type": "object"},
            "findings": list_of({"type": "object"}),
        },
    },
    "FeedWanted": object_of(["url"], url=URL, **_FEED_GIVEN),
    "Feed": object_of(
        ["id", "url", "state", "items", "failures", "added"],
        id=TEXT,
        url=TEXT,
        state={"enum": ["active", "gone"]},
        items=COUNT,
        failures=COUNT,
        added=MOMENT,
        due=MOMENT,
        polled=MOMENT,
        changed=MOMENT,
        status={"type": "integer", "minimum": 100, "maximum": 599},
        problem=TEXT,
        version=TEXT,
        hub=object_of(
            ["url", "state"],
            url=TEXT,
            state={"enum": ["asked", "active", "renewing", "refused"]},
            problem=TEXT,
            expires=MOMENT,
        ),
        **_FEED_GIVEN,
    ),
    "FeedKey": object_of(["key", "url"], key=KEY, url=TEXT),
    "Learnt": object_of(["classes", "properties", "recompiled"], classes=COUNT, properties=COUNT, recompiled=COUNT),
    "Status": {
        "type": "object",
        "required": ["version", "events", "subscriptions", "listening", "bytes", "matching"],
        "properties": {
            "version": TEXT,
            "events": COUNT,
            "subscriptions": COUNT,
            "listening": COUNT,
            "bytes": COUNT,
            "matching": {"type": "object"},
        },
    },
}  # fmt: skip
