"""The part of `/openapi.json` that is about mappings."""

from __future__ import annotations

from tidings.broker.http.operations import IF_MATCH, IF_NONE, LIMIT, WITH_ID, answer, asked, body, operation
from tidings.broker.http.schemas import TEXT, Json, list_of, object_of, ref
from tidings.ingest.kept import KINDS, TURTLE

_OF_IT = {
    name: {"operationId": operation, "parameters": {"id": "$request.path.id"}}
    for name, operation in (("Look", "mapping"), ("Remove", "remove_mapping"))
}
_TEXTS: Json = {kind: {"schema": {"type": "string", "format": f"mapping-in-{kind}"}} for kind in KINDS}

MAPPINGS: Json = {
    "/v1/mappings": {
        "get": operation(
            "mappings",
            "What there is to map data that is no RDF with, by id.",
            {200: answer("A page of it.", object_of(["mappings"], mappings=list_of(ref("Mapping")), next=TEXT))},
            [],
            parameters=[asked("after", TEXT), LIMIT],
        )
    },
    "/v1/mappings/{id}": {
        "parameters": [WITH_ID],
        "put": operation(
            "map",
            "Leave a mapping (R2RML or RML in Turtle, CSVW) or a JSON-LD context, to publish data with. It is of one "
            "document, and has no other sources.",
            {
                200: {**answer("It is kept.", ref("Mapping"), "application/json", "ETag"), "links": _OF_IT},
                201: {
                    **answer("It is new.", ref("Mapping"), "application/json", "ETag", "Location"),
                    "links": _OF_IT,
                },
            },
            [412, 422],
            parameters=[IF_MATCH, IF_NONE],
            requestBody=body(_TEXTS),
        ),
        "get": operation(
            "mapping",
            "A mapping, as it was left.",
            {
                200: {
                    "description": "Its text.",
                    "content": {kind: {"schema": TEXT if kind == TURTLE else {}} for kind in KINDS},
                    "headers": {"ETag": {"schema": TEXT, "required": True}},
                },
                304: answer("It is as it was.", None, "", "ETag"),
            },
            [404],
            parameters=[IF_NONE],
        ),
        "delete": operation(
            "remove_mapping",
            "Remove a mapping. What was published with it stays.",
            {204: answer("It is gone.")},
            [404, 412],
            parameters=[IF_MATCH, IF_NONE],
        ),
    },
}
