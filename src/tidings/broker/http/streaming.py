"""An answer that goes on until nobody listens any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

STRAIGHT = "tidings.straight"
"""In the scope of a request: what sends a piece of its answer past everything in between, if it can be sent now."""


class Streamed(Response):
    """Server-sent events, as they come. Beside what is waited for there is one more who waits: for the other side to
    go away, which ends it.
    """

    media_type = "text/event-stream"

    def __init__(self, texts: AsyncGenerator[str, None]) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._texts = texts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        assert task is not None
        gone = False

        def leave(_: object) -> None:
            nonlocal gone
            gone = True
            task.cancel()

        other = asyncio.create_task(_disconnected(receive))
        other.add_done_callback(leave)
        try:
            try:
                await self._send(send)
            finally:
                other.remove_done_callback(leave)
                other.cancel()
                await self._texts.aclose()
        except asyncio.CancelledError:
            if not gone:
                raise
            task.uncancel()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for text in self._texts:
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
