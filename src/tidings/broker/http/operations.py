"""What an operation of the OpenAPI document is made of: parameters, bodies, answers, and what can go wrong."""

from __future__ import annotations

from typing import Any

from tidings.broker.http import problems
from tidings.broker.http.schemas import CURSOR, ID, TAGS, TEXT, Json, ref
from tidings.rdf.formats import Format

RDF = {format.media_type: {"schema": {"type": "string", "format": format.value}} for format in Format}
STREAM = {"text/event-stream": {"schema": TEXT}}


def asked(name: str, schema: Json, place: str = "query", about: str = "", **more: Any) -> Json:
    return {"name": name, "in": place, "schema": schema, **({"description": about} if about else {}), **more}


WITH_ID = asked("id", {**ID, "pattern": "^[^/]+$"}, "path", required=True)
EVENT = asked("id", {"type": "string", "minLength": 1}, "path", "Slashes in it are escaped.", required=True)
LETTER = asked("cursor", CURSOR, "path", required=True)
LIMIT = asked("limit", {"type": "integer", "minimum": 1, "maximum": 1_000})
AFTER = asked("after", CURSOR, "query", "The place behind which to begin.")
AS_AFTER = "The same as `after`, as a browser says it when it connects again."
IF_MATCH = asked("If-Match", TAGS, "header", "Only if it is still this.")
IF_NONE = asked("If-None-Match", TAGS, "header", "Only if it is none of these any more; `*`: if it is not there.")


def answer(what: str, schema: Json | None = None, kind: str = "application/json", *headers: str) -> Json:
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
    422: "The query is too complex, of which `score`, `limit` and `costs` tell; or it takes too long to work out; or a "
    "template, its parameters and their values do not go together.",
    429: "That is too often; `Retry-After` says when it may be asked again.",
    502: "The webhook did not take it.",
    503: "Nothing can be written just now.",
}
_ALWAYS = (400, 421)
_GUARDED = (401, 403, 429, 503)
_WITH_BODY = (408, 413, 415)


def operation(id: str, summary: str, good: dict[int, Json], wrong: list[int], **more: Any) -> Json:
    """An operation, which needs a token unless it has a `security` of its own."""
    guarded = () if "security" in more else _GUARDED
    body = _WITH_BODY if "requestBody" in more else ()
    answers = {str(status): answer for status, answer in good.items()}
    for status in (*_ALWAYS, *guarded, *body, *wrong):
        answers[str(status)] = answer(_WRONG[status], ref("Problem"), problems.MEDIA_TYPE)
    if guarded:
        answers["401"]["headers"] = {"WWW-Authenticate": {"schema": TEXT, "required": True}}
    return {"operationId": id, "summary": summary, "responses": dict(sorted(answers.items())), **more}


def body(kinds: Json) -> Json:
    return {"required": True, "content": kinds}


def json_body(schema: Json) -> Json:
    return body({"application/json": {"schema": schema}})


def links(**names: str) -> Json:
    """What can be asked next about the subscription of this answer."""
    return {
        name: {"operationId": operation, "parameters": {"id": "$request.path.id"}} for name, operation in names.items()
    }
