"""The desk of a folder over HTTP, on this machine and for one who has the key: so that whoever matches elsewhere asks
in one way, whether a server runs or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hmac import compare_digest
from http import HTTPStatus
from pathlib import Path
from secrets import token_urlsafe
from threading import Thread
from typing import NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request

from tidings.broker.database import FILE
from tidings.broker.desk import Beside
from tidings.broker.http.app import LOG_ROUTES, WRONG
from tidings.broker.http.log import Door
from tidings.broker.http.problems import Problem
from tidings.broker.http.server import listening
from tidings.broker.http.service import Bounds
from tidings.broker.tokens import Scope
from tidings.errors import BrokerError


class Address(NamedTuple):
    url: str
    token: str


class _Key:
    """There is one, and it opens everything."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    def caller(self, request: Request, scope: Scope) -> None:
        given = request.headers.get("authorization", "").encode()
        if not compare_digest(given, self._expected):
            raise Problem(HTTPStatus.UNAUTHORIZED, "this is not for you", headers={"www-authenticate": "Bearer"})


@contextmanager
def beside(folder: Path) -> Iterator[Address]:
    """Where the log of the broker in a folder can be had while this lasts."""
    if not (folder / FILE).is_file():
        raise BrokerError(f"the broker in '{folder}'", "there is none; name the folder that tidings serve was given")
    desk, token = Beside(folder), token_urlsafe(32)
    try:
        # That it is matched elsewhere at all.
        assert desk.matched >= 0
        app = Starlette(routes=LOG_ROUTES, exception_handlers=WRONG)
        app.state.door = Door(desk, _Key(token), Bounds())
        on = listening("127.0.0.1", 0)
        server = uvicorn.Server(uvicorn.Config(app, access_log=False, log_config=None, server_header=False))
        thread = Thread(target=server.run, args=([on],), name="tidings-beside", daemon=True)
        thread.start()
        try:
            yield Address(f"http://127.0.0.1:{on.getsockname()[1]}", token)
        finally:
            server.should_exit = True
            thread.join()
    finally:
        desk.close()
