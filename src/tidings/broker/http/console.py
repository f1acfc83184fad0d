"""`/`: a page on which a person sees what happens, writes subscriptions, and publishes."""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from tidings.broker.http.problems import Problem

_SCRIPTS = ("api", "console", "editor", "live", "own", "page", "samples", "why")
_KINDS = {
    "index.html": "text/html; charset=utf-8",
    "console.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    **{f"{name}.js": "text/javascript; charset=utf-8" for name in _SCRIPTS},
}
# Pictures are shown from memory (blob:). A script that made HTML of a text would be stopped by the browser.
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "cache-control": "no-cache",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}


async def page(request: Request) -> Response:
    return _file("index.html")


async def file(request: Request) -> Response:
    return _file(request.path_params["name"])


def _file(name: str) -> Response:
    if name not in _KINDS:
        raise Problem(HTTPStatus.NOT_FOUND, "there is no such file")
    return Response(_data(name), media_type=_KINDS[name], headers=_HEADERS)


@cache
def _data(name: str) -> bytes:
    return files("tidings.broker").joinpath("console", name).read_bytes()
