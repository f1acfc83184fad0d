"""WebSub: `/v1/websub/{callback}`, where hubs of others tell of feeds, and `/v1/hub`, where others ask us to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from tidings.broker.feeds import keys
from tidings.broker.feeds.hub import Asked, lease_of
from tidings.broker.http.bodies import body_of, kind_of
from tidings.broker.http.problems import Problem
from tidings.broker.http.service import Service
from tidings.broker.http.subscriptions import found
from tidings.delivery.addresses import Endpoint
from tidings.rdf.limits import MIB

_FORM = "application/x-www-form-urlencoded"
_BODY = 1 << 14
_MOST = 32 * MIB
_LONGEST_SECRET = 200


# --------------------------------------------------------------------------------------------------- a hub of others


async def verify(request: Request) -> Response:
    """A hub asks whether we asked it: yes is what it gave us to say."""
    service = Service.of(request)
    service.access.anybody(request)
    asked = dict(request.query_params)
    answer = await asyncio.to_thread(service.poller.websub.answer, request.path_params["callback"], asked)
    if answer is None:
        raise Problem(HTTPStatus.NOT_FOUND, "nothing of the kind was asked for")
    challenge, feed = answer
    service.poller.verified(feed)
    return Response(challenge, media_type="text/plain")


async def told(request: Request) -> Response:
    """A hub tells of a feed. What is not signed as it should be is thanked for, and forgotten."""
    service = Service.of(request)
    service.access.anybody(request)
    callback = request.path_params["callback"]
    websub = service.poller.websub
    if not await asyncio.to_thread(websub.is_known, callback):
        raise Problem(HTTPStatus.GONE, "nothing of the kind was asked for")
    body = await body_of(request, min(_MOST, service.bounds.body))
    feed = await asyncio.to_thread(websub.sender, callback, body, request.headers.get("x-hub-signature"))
    if feed is None:
        service.core.figures.count("websub_unsigned")
    else:
        await asyncio.to_thread(service.poller.told, feed, body, request.headers.get("content-type"))
    return Response(status_code=HTTPStatus.ACCEPTED)


# ------------------------------------------------------------------------------------------------------------- our own


async def hub(request: Request) -> Response:
    service = Service.of(request)
    service.access.anybody(request)
    if kind_of(request.headers.get("content-type", "")) != _FORM:
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body should be {_FORM}")
    form = _form(await body_of(request, _BODY))
    mode = form.get("hub.mode")
    if mode not in ("subscribe", "unsubscribe"):
        raise Problem(HTTPStatus.BAD_REQUEST, "hub.mode is subscribe or unsubscribe")
    callback, topic = form.get("hub.callback", ""), form.get("hub.topic", "")
    Endpoint.of(callback, "a callback")
    if "#" in callback:
        raise Problem(HTTPStatus.BAD_REQUEST, "hub.callback has no fragment")
    secret = form.get("hub.secret", "")
    if len(secret.encode()) >= _LONGEST_SECRET:
        raise Problem(HTTPStatus.BAD_REQUEST, f"hub.secret has fewer than {_LONGEST_SECRET} bytes")
    lease = lease_of(_seconds(form.get("hub.lease_seconds")))
    tenant, id = await _topic(request, service, topic)
    asked = Asked(mode == "subscribe", tenant, id, topic, callback, secret, lease)
    if not await asyncio.to_thread(service.audience.ask, asked):
        raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "too many listen already", headers={"retry-after": "3600"})
    return Response(status_code=HTTPStatus.ACCEPTED)


def _form(body: bytes) -> Mapping[str, str]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=100, errors="strict")
    except ValueError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, "the body is no form that can be read") from error
    names = [name for name, _ in pairs if name.startswith("hub.")]
    if len(names) != len(set(names)):
        raise Problem(HTTPStatus.BAD_REQUEST, "something is given twice")
    return dict(pairs)


def _seconds(text: str | None) -> int | None:
    if text is None or text == "":
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 12 or not int(text):
        raise Problem(HTTPStatus.BAD_REQUEST, "hub.lease_seconds is a number above 0")
    return int(text)


async def _topic(request: Request, service: Service, topic: str) -> tuple[str, str]:
    """Whose subscription is meant, and which: a feed of ours, named as it names itself, with a key that is valid."""
    named = keys.named(topic)
    if named is not None and named[0] == service.base(request):
        _, id, key = named
        tenant = await asyncio.to_thread(service.audience.tenant_of, id, key)
        if tenant is not None:
            standing = await found(service.core, tenant, id)
            return tenant, standing.id
    raise Problem(HTTPStatus.NOT_FOUND, "hub.topic is no feed of this server")
