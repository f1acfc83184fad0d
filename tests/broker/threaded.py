"""A server in a thread of this process: real connections, and the broker behind them at hand."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

from tidings.broker import tokens
from tidings.broker.core import Core
from tidings.broker.feeds.poller import Manner
from tidings.broker.http.app import application
from tidings.broker.http.server import Server, listening
from tidings.broker.matching import Effort
from tidings.broker.retention import Retention


class Threaded:
    """`options` are those of the application; without a folder it is in memory. One that is `public` knows its own
    address."""

    def __init__(
        self, folder: Path | None = None, effort: Effort | None = None, *, public: bool = False, **options: Any
    ) -> None:
        self.core = Core(folder, None, Retention(), effort)
        self._on = listening("127.0.0.1", 0)
        self.port: int = self._on.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        if public:
            options["feeds"] = replace(options.get("feeds") or Manner(), public=self.url)
        ready = Event()
        self.app = application(self.core, **options)
        self._server = Server(self.app, ready.set)
        self._thread = Thread(target=self._server.run, args=([self._on],), daemon=True)
        self._thread.start()
        assert ready.wait(30)

    def token(self, tenant: str, *scopes: tokens.Scope) -> dict[str, str]:
        """A header that lets one in."""
        return token(self.core, tenant, *scopes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        self.core.close()
        assert not self._thread.is_alive()


def token(core: Core, tenant: str, *scopes: tokens.Scope) -> dict[str, str]:
    make = partial(tokens.make, tenant=tenant, scopes=frozenset(scopes), label="", created=0, expires=None)
    return {"authorization": f"Bearer {core.change(make).result()[1]}"}
