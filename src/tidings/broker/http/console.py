"""`/`: a page on which a person sees what happens, writes subscriptions, and publishes."""

from __future__ import annotations

from http import HTTPStatus
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from tidings.broker.http.problems import Problem

_KINDS = {
    "index.html": "text/html; charset=utf-8",
    "console.css": "text/css; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
}
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob: data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cache-control": "no-cache",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


async def page(request: Request) -> Response:
    return _file("index.html")


async def file(request: Request) -> Response:
    return _file(request.path_params["name"])


def _file(name: str) -> Response:
    if name not in _KINDS:
        raise Problem(HTTPStatus.NOT_FOUND, "there is no such file")
    data = files("tidings.broker").joinpath("console", name).read_bytes()
    return Response(data, media_type=_KINDS[name], headers=_HEADERS)
