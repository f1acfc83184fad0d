"""The server: it listens until it is told to end, and then lets those who are waiting go."""

from __future__ import annotations

import ctypes
import gc
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread

import uvicorn
from starlette.applications import Starlette

from tidings.broker.http.protocol import Protocol
from tidings.broker.http.service import Service
from tidings.errors import UsageError

_TURN = 0.001
"""Seconds after which another thread has its turn: an event goes through three of them before it is told."""

_COLLECT = 20_000
"""Objects that are made, less those that are gone, until the young ones are looked through."""

_MMAP_THRESHOLD, _LARGE = -3, 1 << 20
"""By the name of the first in `malloc.h`: bytes from which something has pages of its own."""

_PATIENCE = 10
"""Seconds in which requests that are under way may come to their end."""


class Server(uvicorn.Server):
    """`ready` is called when requests are taken."""

    def __init__(self, app: Starlette, ready: Callable[[], None] = lambda: None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Protocol,
                ws="none",
                access_log=False,
                log_config=None,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=_PATIENCE,
            )
        )
        self._app = app
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal ends the server, and not the process: what is open has to be closed after that."""
        if current_thread() is not main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Streams of notifications would not end by themselves.
        service = self._app.state.service
        assert isinstance(service, Service)
        service.hub.close()
        await super().shutdown(sockets)


def listening(host: str, port: int) -> socket.socket:
    """A socket on that address; port 0 is any that is free."""
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
        )
    except OSError as error:
        raise UsageError(
            f"{host}:{port} cannot be listened on: {error.strerror or error}; choose another --port"
        ) from error


def run(app: Starlette, on: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until there is a signal; `ready` is called when requests are taken."""
    _open_many()
    _collect_seldom()
    _give_back()
    sys.setswitchinterval(_TURN)
    Server(app, ready).run([on])


def _collect_seldom() -> None:
    """What was made by now, all subscriptions among it, stays: the collector would walk through it again and again, and
    everybody would wait meanwhile. What requests make is mostly gone with them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT, 20, 100)


def _give_back() -> None:
    """What is large goes back to the system when it is not needed any more. By itself the allocator learns to keep it:
    a process that puts blocks of the log together now and then would have the memory for that all the time.
    """
    with suppress(OSError, AttributeError):
        # Not everywhere is there such a thing.
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)


def _open_many() -> None:
    """Every stream is an open file: take as many as the system gives."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
