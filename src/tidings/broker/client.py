"""A client of a broker over HTTP, plain and for asyncio, with the same names.

    with Client("http://127.0.0.1:8420", token) as client:
        client.subscribe("cheap", "SELECT ?pc { … }")
        client.publish(b"…", "text/turtle")
        for notification in client.listen("cheap"):
            client.ack("cheap", notification["cursor"])

Who listens goes on where he was when the connection breaks, without a gap and without a repeat.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, Self, TypeAlias
from urllib.parse import quote

import httpx2

from tidings.errors import ClientError
from tidings.lang.pattern import Dialect

Json: TypeAlias = dict[str, Any]

_TIMEOUT = httpx2.Timeout(30.0, read=60.0)
_FIRST, _LONGEST = 0.2, 10.0
"""Seconds before a connection that broke is tried again."""


def _headers(token: str | None) -> dict[str, str]:
    return {} if token is None else {"authorization": f"Bearer {token}"}


def _subscription(id: str, *more: str) -> str:
    return "/".join(("/v1/subscriptions", quote(id, safe=""), *more))


def _wanted(query: str, dialect: Dialect, options: Mapping[str, object]) -> Json:
    return {"query": query, "dialect": dialect, **options}


def _place(after: str | None, limit: int | None = None) -> dict[str, str]:
    given = {"after": after, "limit": None if limit is None else str(limit)}
    return {name: value for name, value in given.items() if value is not None}


def _stream_headers(after: str | None) -> dict[str, str]:
    return {"accept": "text/event-stream"} | ({} if after is None else {"last-event-id": after})


def _checked(answer: httpx2.Response) -> Any:
    """What was answered; a `ClientError` where that is a problem."""
    if answer.is_success:
        return answer.json() if answer.content else None
    try:
        problem = answer.json()
    except ValueError:
        problem = {}
    detail = problem.get("detail") if isinstance(problem, dict) else None
    raise ClientError(answer.status_code, detail or answer.reason_phrase, problem if isinstance(problem, dict) else {})


class _Told:
    """The lines of a stream to what they tell."""

    def __init__(self, after: str | None) -> None:
        self.after = after
        self._kind, self._data = "", ""

    def line(self, line: str) -> Json | None:
        """What is complete with this line."""
        if line.startswith("event: "):
            self._kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            self._data = line.removeprefix("data: ")
        elif not line and self._data:
            kind, data = self._kind, json.loads(self._data)
            self._kind = self._data = ""
            if kind != "notification":
                raise ClientError(410, data.get("detail", kind), data)
            self.after = data["cursor"]
            return dict(data)
        return None


def _lost(error: httpx2.HTTPError, url: str) -> ClientError:
    return ClientError(None, f"{url} cannot be reached: {error or type(error).__name__}", {})


class Client:
    """`url` is that of the server, `token` one that `tidings token` made."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = url.rstrip("/")
        self._http = httpx2.Client(base_url=self._url, headers=_headers(token), timeout=_TIMEOUT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def publish(self, data: bytes | Iterable[bytes], media_type: str) -> Json:
        """Publish a document; `events` has the ids of what is durable now."""
        return dict(self._ask("POST", "/v1/events", content=data, headers={"content-type": media_type}))

    def subscribe(self, id: str, query: str, dialect: Dialect = "sparql", **options: object) -> Json:
        return dict(self._ask("PUT", _subscription(id), json=_wanted(query, dialect, options)))

    def subscription(self, id: str) -> Json:
        return dict(self._ask("GET", _subscription(id)))

    def cancel(self, id: str) -> None:
        self._ask("DELETE", _subscription(id))

    def page(self, id: str, after: str | None = None, limit: int = 100) -> Json:
        return dict(self._ask("GET", _subscription(id, "notifications"), params=_place(after, limit)))

    def ack(self, id: str, cursor: str) -> None:
        self._ask("POST", _subscription(id, "ack"), json={"cursor": cursor})

    def listen(self, id: str, after: str | None = None) -> Iterator[Json]:
        """Notifications, those there are and those that come, until the subscription ends."""
        told, wait = _Told(after), _FIRST
        while True:
            try:
                headers = _stream_headers(told.after)
                with self._http.stream("GET", _subscription(id, "notifications"), headers=headers) as answer:
                    if not answer.is_success:
                        answer.read()
                        _checked(answer)
                    wait = _FIRST
                    for line in answer.iter_lines():
                        if (notification := told.line(line)) is not None:
                            yield notification
            except httpx2.HTTPError:
                pass
            except ClientError as error:
                if error.status != 503:
                    raise
            time.sleep(wait)
            wait = min(2 * wait, _LONGEST)

    def status(self) -> Json:
        return dict(self._ask("GET", "/v1/status"))

    def _ask(self, method: str, path: str, **more: Any) -> Any:
        try:
            return _checked(self._http.request(method, path, **more))
        except httpx2.HTTPError as error:
            raise _lost(error, self._url) from error


class AsyncClient:
    """The same, for asyncio."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = url.rstrip("/")
        self._http = httpx2.AsyncClient(base_url=self._url, headers=_headers(token), timeout=_TIMEOUT)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def publish(self, data: bytes, media_type: str) -> Json:
        return dict(await self._ask("POST", "/v1/events", content=data, headers={"content-type": media_type}))

    async def subscribe(self, id: str, query: str, dialect: Dialect = "sparql", **options: object) -> Json:
        return dict(await self._ask("PUT", _subscription(id), json=_wanted(query, dialect, options)))

    async def subscription(self, id: str) -> Json:
        return dict(await self._ask("GET", _subscription(id)))

    async def cancel(self, id: str) -> None:
        await self._ask("DELETE", _subscription(id))

    async def page(self, id: str, after: str | None = None, limit: int = 100) -> Json:
        return dict(await self._ask("GET", _subscription(id, "notifications"), params=_place(after, limit)))

    async def ack(self, id: str, cursor: str) -> None:
        await self._ask("POST", _subscription(id, "ack"), json={"cursor": cursor})

    async def listen(self, id: str, after: str | None = None) -> AsyncIterator[Json]:
        told, wait = _Told(after), _FIRST
        while True:
            try:
                headers = _stream_headers(told.after)
                async with self._http.stream("GET", _subscription(id, "notifications"), headers=headers) as answer:
                    if not answer.is_success:
                        await answer.aread()
                        _checked(answer)
                    wait = _FIRST
                    async for line in answer.aiter_lines():
                        if (notification := told.line(line)) is not None:
                            yield notification
            except httpx2.HTTPError:
                pass
            except ClientError as error:
                if error.status != 503:
                    raise
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST)

    async def status(self) -> Json:
        return dict(await self._ask("GET", "/v1/status"))

    async def _ask(self, method: str, path: str, **more: Any) -> Any:
        try:
            return _checked(await self._http.request(method, path, **more))
        except httpx2.HTTPError as error:
            raise _lost(error, self._url) from error
