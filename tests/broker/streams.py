"""A stream of server-sent events, read as slowly as one likes."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette

Message = tuple[str, dict[str, Any]]


class Stream:
    """What an application sends to one who reads when he wants to: until then, it has to wait."""

    def __init__(self) -> None:
        self.status = 0
        self.sent = 0
        self._pieces: asyncio.Queue[str] = asyncio.Queue(1)
        self._messages: deque[Message] = deque()

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        self.sent += 1
        await self._pieces.put(message["body"].decode())

    async def piece(self) -> str:
        return await self._pieces.get()

    async def next(self) -> Message:
        """The next message, its kind and what it says; comments are passed over."""
        async with asyncio.timeout(20):
            while not self._messages:
                for text in (await self.piece()).split("\n\n"):
                    fields = dict(line.split(": ", 1) for line in text.splitlines() if not line.startswith(":"))
                    if fields:
                        self._messages.append((fields["event"], json.loads(fields["data"])))
        return self._messages.popleft()


@asynccontextmanager
async def streaming(app: Starlette, id: str, query: str = "", **headers: str) -> AsyncIterator[Stream]:
    """The notifications of a subscription. The application has to run already."""
    stream, over = Stream(), asyncio.Event()

    async def receive() -> dict[str, Any]:
        await over.wait()
        return {"type": "http.disconnect"}

    given = {"accept": "text/event-stream", **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": f"/v1/subscriptions/{id}/notifications",
        "raw_path": b"",
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "app": app,
    }
    running = asyncio.create_task(app(scope, receive, stream.send))  # type: ignore[arg-type]
    try:
        yield stream
    finally:
        over.set()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
