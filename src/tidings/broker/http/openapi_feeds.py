"""The part of the OpenAPI document on feeds: those that are read, and subscriptions as such."""

from __future__ import annotations

from tidings.broker.http.operations import IF_NONE, LIMIT, WITH_ID, answer, asked, body, json_body, operation
from tidings.broker.http.schemas import CURSOR, KEY, TEXT, URL, Json, list_of, object_of, ref

_FEED = asked("id", {"type": "string", "minLength": 1, "pattern": "^[^/]+$"}, "path", required=True)
_CALLBACK = asked("callback", {"type": "string", "minLength": 1, "pattern": "^[^/]+$"}, "path", required=True)
_KEY = asked("key", KEY, "query", "Instead of a token: who has this may read this subscription.")
_SINCE = asked("If-Modified-Since", TEXT, "header", "Only if there is something newer; where no tag is named.")
_READ = answer("A feed.", TEXT, "application/atom+xml", "ETag", "Last-Modified", "Link")
_STILL = answer("It is as it was.", None, "", "ETag", "Last-Modified", "Link")
_ONE_FEED = answer("The feed, and how it does.", ref("Feed"))
_KINDS = ("application/atom+xml", "application/rss+xml", "application/feed+json")
_ASKED_HUB: Json = {
    "type": "object",
    "required": ["hub.mode", "hub.topic", "hub.callback"],
    "properties": {
        "hub.mode": {"enum": ["subscribe", "unsubscribe"]},
        "hub.topic": {"type": "string", "format": "topic"},
        "hub.callback": URL,
        "hub.secret": {"type": "string", "format": "hub-secret", "maxLength": 199},
        "hub.lease_seconds": {"type": "string", "format": "seconds", "pattern": "^[1-9][0-9]{0,11}$"},
    },
}
AS_FEEDS: Json = {
    "/v1/subscriptions/{id}/feed": {
        "parameters": [WITH_ID],
        "get": operation(
            "feed",
            "A subscription as an Atom feed, the newest notification first, and pages that go back.",
            {200: _READ, 304: _STILL},
            [404, 410],
            parameters=[
                _KEY,
                asked("before", CURSOR, "query", "The place before which the page ends."),
                LIMIT,
                IF_NONE,
                _SINCE,
            ],
        ),
    },
    "/v1/subscriptions/{id}/feed/key": {
        "parameters": [WITH_ID],
        "get": operation("feed_key", "The key to its feed.", {200: answer("It.", ref("FeedKey"))}, [404]),
        "post": operation(
            "make_feed_key",
            "A new key to its feed; the one before it ends.",
            {201: answer("It.", ref("FeedKey"))},
            [404],
        ),
        "delete": operation("revoke_feed_key", "End its key.", {204: answer("It has ended.")}, [404]),
    },
    "/v1/hub": {
        "post": operation(
            "hub",
            "WebSub: ask to be told of what is new in the feed of a subscription, or not any more.",
            {202: answer("You will be asked back.")},
            [404, 429, 503],
            requestBody=body({"application/x-www-form-urlencoded": {"schema": _ASKED_HUB}}),
            security=[],
        )
    },
}
FEEDS: Json = {
    "/v1/feeds": {
        "get": operation(
            "feeds",
            "The feeds that are read, in the order in which they were added.",
            {200: answer("A page of them.", object_of(["feeds"], feeds=list_of(ref("Feed")), next=TEXT))},
            [],
            parameters=[asked("after", {"type": "integer", "minimum": 0, "maximum": 10**15 - 1}), LIMIT],
        ),
        "post": operation(
            "add_feed",
            "Read a feed from now on.",
            {
                200: answer("It was read already.", ref("Feed")),
                201: answer("It is new.", ref("Feed"), "application/json", "Location"),
            },
            [],
            requestBody=json_body(ref("FeedWanted")),
        ),
    },
    "/v1/feeds/{id}": {
        "parameters": [_FEED],
        "get": operation("one_feed", "A feed.", {200: _ONE_FEED}, [404]),
        "delete": operation("remove_feed", "Read it no more.", {204: answer("It is gone.")}, [404]),
    },
    "/v1/feeds/{id}/poll": {
        "parameters": [_FEED],
        "post": operation(
            "poll_feed",
            "Ask for it now.",
            {200: _ONE_FEED, 202: answer("It is asked for.", ref("Feed"))},
            [404],
        ),
    },
    "/v1/websub/{callback}": {
        "parameters": [_CALLBACK],
        "get": operation(
            "websub_verify",
            "WebSub: a hub asks whether it was asked.",
            {200: answer("It was; this is what it gave us to say.", TEXT, "text/plain")},
            [404, 429, 503],
            parameters=[
                *(asked(f"hub.{name}", TEXT) for name in ("mode", "topic", "challenge", "lease_seconds", "reason"))
            ],
            security=[],
        ),
        "post": operation(
            "websub_told",
            "WebSub: a hub tells of a feed.",
            {202: answer("Thank you; where it was signed, it is taken.")},
            [410, 429, 503],
            requestBody={"required": False, "content": {kind: {"schema": {}} for kind in _KINDS}},
            parameters=[asked("X-Hub-Signature", TEXT, "header")],
            security=[],
        ),
    },
}
