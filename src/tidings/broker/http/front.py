"""Before anything else is asked: is it for this server, and is it who asks, or a page that makes his browser ask?

A browser lets any page send requests to any address that it can reach, a loopback one included, and a name that stands
for the page's own server today can stand for 127.0.0.1 tomorrow. So what is changed by a browser has to come from
a page of this server, and a server that lets everybody in answers only to names that nobody else can have.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import unquote_to_bytes, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidings.broker.http.problems import Problem

_IN_ONE_PART = (b"/v1/subscriptions/", b"/v1/templates/", b"/v1/mappings/")
_READING = ("GET", "HEAD", "OPTIONS")
_OURS = ("same-origin", "none")
_HOSTS = 100
"""So many that the server may be asked under are not looked at again."""

ADDED = [(b"x-content-type-options", b"nosniff"), (b"cross-origin-resource-policy", b"same-origin")]


class Front:
    """`names` are those that the server is asked under, besides addresses and localhost; None: any."""

    def __init__(self, app: ASGIApp, names: Iterable[str] | None = None) -> None:
        self._app = app
        self._names = None if names is None else frozenset(name.lower().rstrip(".") for name in names)
        self._good: set[bytes | None] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *ADDED]
            await send(message)

        try:
            self._check(scope)
        except Problem as problem:
            await problem.response()(scope, receive, answer)
        else:
            await self._app(scope, receive, answer)

    def is_good(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether there is nothing to say against a request that changes something, of which these are the headers."""
        try:
            self._check_headers(headers, reading=False)
        except Problem:
            return False
        return True

    def _check(self, scope: Scope) -> None:
        self._check_headers(scope["headers"], reading=scope["method"] in _READING)
        _check_path(scope.get("raw_path", b""))

    def _check_headers(self, headers: Iterable[tuple[bytes, bytes]], *, reading: bool) -> None:
        host: bytes | None = None
        origin: bytes | None = None
        site: bytes | None = None
        for name, value in headers:
            if name == b"host":
                if host is not None:
                    raise Problem(HTTPStatus.BAD_REQUEST, "the header host is there twice")
                host = value
            elif name == b"origin":
                origin = value
            elif name == b"sec-fetch-site":
                site = value
        if self._names is not None and host not in self._good:
            self._check_host("" if host is None else host.decode("latin-1"))
            if len(self._good) < _HOSTS:
                self._good.add(host)
        if not reading and (origin is not None or site is not None):
            _check_origin(host, origin, site)

    def _check_host(self, host: str) -> None:
        assert self._names is not None
        name = _hostname(host)
        if name is None or not (
            _is_address(name) or name == "localhost" or name.endswith(".localhost") or name in self._names
        ):
            raise Problem(
                HTTPStatus.MISDIRECTED_REQUEST,
                "this server lets everybody in, and so answers only under its address, as localhost, or under a name "
                "that it was started with (--name)",
            )


def _hostname(host: str) -> str | None:
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return None
    return None if name is None else name.rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _check_origin(host: bytes | None, origin: bytes | None, site: bytes | None) -> None:
    """Browsers say where a page is from: by what it has to do with us, and older ones only by its address."""
    if site is not None:
        ours = site.decode("latin-1").strip().lower() in _OURS
    else:
        assert origin is not None
        ours = (
            host is not None and origin.decode("latin-1").partition("://")[2].lower() == host.decode("latin-1").lower()
        )
    if not ours:
        raise Problem(HTTPStatus.FORBIDDEN, "a page of another origin cannot change anything here")


def _check_path(raw: bytes) -> None:
    """What stands for a byte that is no UTF-8 would be taken for something else, and so would a slash in an id that is
    one part of a path.
    """
    if b"%" not in raw:
        return
    try:
        unquote_to_bytes(raw).decode()
    except UnicodeDecodeError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, "the path is not UTF-8") from error
    if raw.startswith(_IN_ONE_PART) and b"%2f" in raw.lower():
        raise Problem(HTTPStatus.BAD_REQUEST, "the id of a subscription, a template or a mapping has no slash in it")
