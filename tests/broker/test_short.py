"""The short way into the server gives the answers of the long one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from tests.unit.broker.offers import offer

from tidings.broker import tokens
from tidings.broker.core import Core
from tidings.broker.http import short
from tidings.broker.http.app import application
from tidings.broker.http.service import Bounds
from tidings.broker.retention import Retention
from tidings.rdf.event import to_nquads

ONE = to_nquads(offer(1))
OTHER = ONE.replace(b'"100"', b'"200"')
HOST = (b"host", b"127.0.0.1")
KIND = (b"content-type", b"application/n-quads")


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    made = Core(tmp_path, None, Retention())
    yield made
    made.close()


def ask(app: Starlette, body: bytes, *headers: tuple[bytes, bytes], whole: bool, **more: Any) -> tuple[Any, ...]:
    """Status, headers and body of the answer."""
    sent: list[dict[str, Any]] = []

    async def run() -> None:
        pieces = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            return pieces.pop() if pieces else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/v1/events",
            "raw_path": b"/v1/events",
            "query_string": b"",
            "root_path": "",
            "headers": [HOST, *headers, (b"content-length", b"%d" % len(body))],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
            **({short.WHOLE: True} if whole else {}),
            **more,
        }
        async with app.router.lifespan_context(app):
            await app(scope, receive, send)

    asyncio.run(run())
    start, end = sent
    return start["status"], sorted(start["headers"]), end["body"]


@pytest.mark.parametrize(
    ("body", "headers", "more"),
    [
        (ONE, (KIND,), {}),
        (ONE + to_nquads(offer(2)), (KIND,), {}),
        (OTHER, (KIND,), {}),
        (OTHER + to_nquads(offer(3)), (KIND,), {}),
        (b"", (KIND,), {}),
        (b"<urn:a> <urn:b> .\n", (KIND,), {}),
        (ONE.replace(b"\n", b" # a remark\n"), (KIND,), {}),
        (ONE, (), {}),
        (ONE, ((b"content-type", b"application/pdf"),), {}),
        (ONE, ((b"content-type", b"text/turtle"),), {}),
        (ONE, (KIND, (b"content-encoding", b"gzip")), {}),
        (ONE, (KIND, (b"ce-time", b"yesterday")), {}),
        (ONE, (KIND, (b"origin", b"http://elsewhere.example")), {}),
        (ONE, (KIND, (b"authorization", b"Bearer nonsense")), {}),
        (ONE, (KIND,), {"query_string": b"matches=own"}),
        (ONE, (KIND,), {"query_string": b"events-by=nonsense"}),
        (ONE, (KIND,), {"headers": [(b"host", b"elsewhere.example"), KIND]}),
        (ONE, (KIND,), {"headers": [HOST, HOST, KIND]}),
        (b" " * (1 << 17), (KIND,), {}),
    ],
)
def test_both_ways_answer_alike(
    core: Core, body: bytes, headers: tuple[tuple[bytes, bytes], ...], more: dict[str, Any]
) -> None:
    core.publish([offer(1)]).result()
    app = application(core, open=True, names=(), bounds=Bounds(body=1 << 16))
    assert ask(app, body, *headers, whole=True, **more) == ask(app, body, *headers, whole=False, **more)


@pytest.mark.parametrize("scopes", [("publish",), ("subscribe",), ()])
def test_both_ways_ask_for_a_token(core: Core, scopes: tuple[tokens.Scope, ...]) -> None:
    app = application(core)
    headers = [KIND]
    if scopes:
        with core.database.writing() as writer:
            _, text = tokens.make(writer, "t", frozenset(scopes), "", core.now(), None)
        headers.append((b"authorization", f"Bearer {text}".encode()))
    both = [ask(app, ONE, *headers, whole=whole) for whole in (True, False)]
    assert both[0] == both[1]
    assert both[0][0] == (202 if scopes == ("publish",) else 403 if scopes else 401)


def test_a_fault_of_the_store_is_told(core: Core) -> None:
    app = application(core, open=True, names=())
    core._committer.close()
    status, _, body = ask(app, ONE, KIND, whole=True)
    assert status == 503
    assert b"it is closed" in body
