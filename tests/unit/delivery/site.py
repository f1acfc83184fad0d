"""A web server on loopback that says what it is told to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Self


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class Site:
    """`pages` are answers by path, or what makes them; a body without an `etag` has one, and is not sent again."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer | Callable[[Asked], Answer]] = {}
        self.asked: list[Asked] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._serve(self)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Whoever asked has gone away."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def put(self, path: str, body: str | bytes, kind: str = "application/xml", **headers: str) -> str:
        """A page; and its address."""
        data = body.encode() if isinstance(body, str) else body
        self.pages[path] = Answer(200, data, {"content-type": kind, **headers})
        return self.url + path

    def count(self, path: str) -> int:
        return sum(each.path == path for each in self.asked)

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length", 0))
        given = {name.lower(): value for name, value in handler.headers.items()}
        asked = Asked(handler.command, handler.path, given, handler.rfile.read(length))
        self.asked.append(asked)
        page = self.pages.get(handler.path.partition("?")[0], Answer(404))
        answer = page if isinstance(page, Answer) else page(asked)
        headers = {name.lower(): value for name, value in answer.headers.items()}
        status, body = answer.status, answer.body
        if status == 200 and asked.method == "GET":
            tag = headers.setdefault("etag", f'"{sha256(body).hexdigest()[:16]}"')
            if given.get("if-none-match") == tag:
                status, body = 304, b""
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        if "content-length" not in headers:
            handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
