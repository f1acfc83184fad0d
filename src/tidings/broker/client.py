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
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Self, TypeAlias
from urllib.parse import quote

import httpx2

from tidings.errors import ClientError
from tidings.lang.pattern import Dialect

Json: TypeAlias = dict[str, Any]

_TIMEOUT = httpx2.Timeout(30.0, read=60.0)
_POLL = 90.0
"""Seconds that a server may take to ask somebody else's."""

_FIRST, _LONGEST = 0.2, 10.0
"""Seconds before a connection that broke is tried again."""

_AT_ONCE = 5_000
"""Subscriptions of a template in one request."""

_LINES = {"content-type": "application/x-ndjson"}
_AGAIN = (429, 502, 503, 504)
"""Statuses that may be others a little later."""


def _headers(token: str | None) -> dict[str, str]:
    return {} if token is None else {"authorization": f"Bearer {token}"}


def _subscription(id: str, *more: str) -> str:
    return "/".join(("/v1/subscriptions", quote(id, safe=""), *more))


def _template(id: str, *more: str) -> str:
    return "/".join(("/v1/templates", quote(id, safe=""), *more))


def _mapping(id: str) -> str:
    return f"/v1/mappings/{quote(id, safe='')}"


def _wanted(query: str | None, dialect: Dialect, options: Mapping[str, object]) -> Json:
    """A query and its options; or, without one, a `template` and `parameters` among the options."""
    return dict(options) if query is None else {"query": query, "dialect": dialect, **options}


def _definition(query: str, parameters: Mapping[str, object], dialect: Dialect, description: str | None) -> Json:
    note = {} if description is None else {"description": description}
    return {"query": query, "dialect": dialect, "parameters": dict(parameters), **note}


def _lines(rows: Iterable[Mapping[str, object]]) -> Iterator[bytes]:
    """Requests of as many subscriptions as one may have, an object a line."""
    several = iter(rows)
    while some := list(islice(several, _AT_ONCE)):
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in some).encode()


class _Registered:
    """What was answered to several requests, as if it had been one."""

    def __init__(self) -> None:
        self.told: Json = {"subscriptions": [], "problems": []}
        self._sent = 0

    def add(self, answer: Json) -> None:
        self.told["subscriptions"] += answer.get("subscriptions", ())
        self.told["problems"] += [{**each, "item": each["item"] + self._sent} for each in answer.get("problems", ())]
        self._sent += _AT_ONCE

    def refused(self, error: ClientError) -> None:
        """All of a request were wrong, each for its own reason; or it was the request."""
        if "problems" not in error.problem:
            raise error
        self.add({"problems": error.problem["problems"]})


def _feed(id: str, *more: str) -> str:
    return "/".join(("/v1/feeds", quote(id, safe=""), *more))


def _place(after: str | None, limit: int | None = None) -> dict[str, str]:
    given = {"after": after, "limit": None if limit is None else str(limit)}
    return {name: value for name, value in given.items() if value is not None}


def _stream_headers(after: str | None) -> dict[str, str]:
    return {"accept": "text/event-stream"} | ({} if after is None else {"last-event-id": after})


def _checked(answer: httpx2.Response, as_text: bool = False) -> Any:
    """What was answered, as JSON says it, or as it is; a `ClientError` where that is a problem."""
    if answer.is_success:
        return answer.content if as_text else answer.json() if answer.content else None
    try:
        problem = answer.json()
    except ValueError:
        problem = {}
    detail = problem.get("detail") if isinstance(problem, dict) else None
    wait = answer.headers.get("retry-after", "")
    raise ClientError(
        answer.status_code,
        detail or answer.reason_phrase,
        problem if isinstance(problem, dict) else {},
        float(wait) if wait.isascii() and wait.isdecimal() else None,
    )


Said: TypeAlias = Callable[[str, Json], None]
"""Told of what is no notification: its kind (`paused`, `resumed`, `missed`, or `lost` for a connection that broke)."""


def _unsaid(kind: str, data: Json) -> None:
    pass


class _Ended(Exception):
    """There is no such subscription any more."""


class _Told:
    """The lines of a stream to what they tell."""

    def __init__(self, after: str | None, said: Said) -> None:
        self.after = after
        self.wait = _FIRST
        self._said = said
        self._kind, self._data = "", ""

    def lost(self, error: Exception) -> None:
        """A connection broke, or was refused; an error where it is no use to try again."""
        seconds: Any = self.wait
        if isinstance(error, ClientError):
            if error.status not in _AGAIN:
                raise error
            seconds = max(self.wait, error.retry_after or 0.0)
        self._said("lost", {"detail": str(error) or type(error).__name__, "again": seconds})
        self.wait = seconds

    def waited(self) -> None:
        self.wait = min(2 * self.wait, _LONGEST)

    def line(self, line: str) -> Json | None:
        """What is complete with this line."""
        if line.startswith("event: "):
            self._kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            self._data = line.removeprefix("data: ")
        elif not line and self._data:
            kind, data = self._kind, json.loads(self._data)
            self._kind = self._data = ""
            if kind in ("paused", "resumed", "missed"):
                self._said(kind, dict(data))
                return None
            if kind == "ended":
                raise _Ended
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

    def publish(self, data: bytes | Iterable[bytes], media_type: str, asked: Mapping[str, str] | None = None) -> Json:
        """Publish a document; `events` has the ids of what is durable now. Of one that is no RDF, `asked` says how it
        becomes events, as in `{"as": "csv", "mapping": "shops"}`.
        """
        headers = {"content-type": media_type}
        return dict(self._ask("POST", "/v1/events", content=data, headers=headers, params=dict(asked or {})))

    def mapping(self, id: str, text: bytes, media_type: str = "text/turtle") -> Json:
        """Leave a mapping, or a JSON-LD context, to publish data with that is no RDF."""
        return dict(self._ask("PUT", _mapping(id), content=text, headers={"content-type": media_type}))

    def mappings(self) -> dict[str, Json]:
        """All of them, by id."""
        return {each["id"]: each for each in self._pages("/v1/mappings", "mappings")}

    def mapping_text(self, id: str) -> bytes:
        """One as it was left."""
        return bytes(self._ask("GET", _mapping(id), as_text=True))

    def remove_mapping(self, id: str) -> None:
        self._ask("DELETE", _mapping(id))

    def subscribe(self, id: str, query: str | None = None, dialect: Dialect = "sparql", **options: object) -> Json:
        """With a query, or with a `template` and its `parameters`."""
        return dict(self._ask("PUT", _subscription(id), json=_wanted(query, dialect, options)))

    def subscribe_many(self, template: str, rows: Iterable[Mapping[str, object]]) -> Json:
        """Leave many subscriptions of one template: each row has an `id`, `parameters`, and perhaps options. What
        stands is under `subscriptions`, and what was refused under `problems`, with its place in the rows as `item`.
        """
        done = _Registered()
        for body in _lines(rows):
            try:
                done.add(self._ask("POST", _template(template, "instances"), content=body, headers=_LINES))
            except ClientError as error:
                done.refused(error)
        return done.told

    def template(
        self,
        id: str,
        query: str,
        parameters: Mapping[str, object],
        dialect: Dialect = "sparql",
        *,
        description: str | None = None,
    ) -> Json:
        """Keep a template under this id, or its next version."""
        return dict(self._ask("PUT", _template(id), json=_definition(query, parameters, dialect, description)))

    def templates(self) -> dict[str, Json]:
        """All of them, by id."""
        return {each["id"]: each for each in self._pages("/v1/templates", "templates")}

    def remove_template(self, id: str) -> None:
        self._ask("DELETE", _template(id))

    def subscription(self, id: str) -> Json:
        return dict(self._ask("GET", _subscription(id)))

    def cancel(self, id: str) -> None:
        self._ask("DELETE", _subscription(id))

    def pause(self, id: str) -> Json:
        return dict(self._ask("POST", _subscription(id, "pause")))

    def resume(self, id: str) -> Json:
        return dict(self._ask("POST", _subscription(id, "resume")))

    def page(self, id: str, after: str | None = None, limit: int = 100) -> Json:
        return dict(self._ask("GET", _subscription(id, "notifications"), params=_place(after, limit)))

    def ack(self, id: str, cursor: str) -> None:
        self._ask("POST", _subscription(id, "ack"), json={"cursor": cursor})

    def listen(self, id: str, after: str | None = None, said: Said = _unsaid) -> Iterator[Json]:
        """Notifications, those there are and those that come, until the subscription ends. What else there is to tell
        is `said`.
        """
        told = _Told(after, said)
        while True:
            try:
                headers = _stream_headers(told.after)
                with self._http.stream("GET", _subscription(id, "notifications"), headers=headers) as answer:
                    if not answer.is_success:
                        answer.read()
                        _checked(answer)
                    told.wait = _FIRST
                    for line in answer.iter_lines():
                        if (notification := told.line(line)) is not None:
                            yield notification
            except _Ended:
                return
            except (httpx2.HTTPError, ClientError) as error:
                told.lost(error)
            time.sleep(told.wait)
            told.waited()

    def add_feed(self, url: str, **options: object) -> Json:
        """Have a feed read from now on; options are `classes`, `home` and `charset`."""
        return dict(self._ask("POST", "/v1/feeds", json={"url": url, **options}))

    def feeds(self) -> Iterator[Json]:
        """All that are read."""
        return self._pages("/v1/feeds", "feeds")

    def feed(self, id: str) -> Json:
        return dict(self._ask("GET", _feed(id)))

    def remove_feed(self, id: str) -> None:
        self._ask("DELETE", _feed(id))

    def poll_feed(self, id: str) -> Json:
        """Have it asked for now; how it does then."""
        return dict(self._ask("POST", _feed(id, "poll"), timeout=_POLL))

    def feed_address(self, id: str) -> str:
        """Where a subscription can be read as an Atom feed, by whoever has this address. The one before it ends."""
        return str(self._ask("POST", _subscription(id, "feed", "key"))["url"])

    def status(self) -> Json:
        return dict(self._ask("GET", "/v1/status"))

    def _pages(self, first: str, name: str) -> Iterator[Json]:
        path: str | None = first
        while path is not None:
            page = self._ask("GET", path)
            yield from page[name]
            path = page.get("next")

    def _ask(self, method: str, path: str, *, as_text: bool = False, **more: Any) -> Any:
        try:
            return _checked(self._http.request(method, path, **more), as_text)
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

    async def publish(self, data: bytes, media_type: str, asked: Mapping[str, str] | None = None) -> Json:
        headers = {"content-type": media_type}
        return dict(await self._ask("POST", "/v1/events", content=data, headers=headers, params=dict(asked or {})))

    async def mapping(self, id: str, text: bytes, media_type: str = "text/turtle") -> Json:
        return dict(await self._ask("PUT", _mapping(id), content=text, headers={"content-type": media_type}))

    async def mappings(self) -> dict[str, Json]:
        return {each["id"]: each async for each in self._pages("/v1/mappings", "mappings")}

    async def mapping_text(self, id: str) -> bytes:
        return bytes(await self._ask("GET", _mapping(id), as_text=True))

    async def remove_mapping(self, id: str) -> None:
        await self._ask("DELETE", _mapping(id))

    async def subscribe(
        self, id: str, query: str | None = None, dialect: Dialect = "sparql", **options: object
    ) -> Json:
        return dict(await self._ask("PUT", _subscription(id), json=_wanted(query, dialect, options)))

    async def subscribe_many(self, template: str, rows: Iterable[Mapping[str, object]]) -> Json:
        done = _Registered()
        for body in _lines(rows):
            try:
                done.add(await self._ask("POST", _template(template, "instances"), content=body, headers=_LINES))
            except ClientError as error:
                done.refused(error)
        return done.told

    async def template(
        self,
        id: str,
        query: str,
        parameters: Mapping[str, object],
        dialect: Dialect = "sparql",
        *,
        description: str | None = None,
    ) -> Json:
        return dict(await self._ask("PUT", _template(id), json=_definition(query, parameters, dialect, description)))

    async def templates(self) -> dict[str, Json]:
        return {each["id"]: each async for each in self._pages("/v1/templates", "templates")}

    async def remove_template(self, id: str) -> None:
        await self._ask("DELETE", _template(id))

    async def subscription(self, id: str) -> Json:
        return dict(await self._ask("GET", _subscription(id)))

    async def cancel(self, id: str) -> None:
        await self._ask("DELETE", _subscription(id))

    async def pause(self, id: str) -> Json:
        return dict(await self._ask("POST", _subscription(id, "pause")))

    async def resume(self, id: str) -> Json:
        return dict(await self._ask("POST", _subscription(id, "resume")))

    async def page(self, id: str, after: str | None = None, limit: int = 100) -> Json:
        return dict(await self._ask("GET", _subscription(id, "notifications"), params=_place(after, limit)))

    async def ack(self, id: str, cursor: str) -> None:
        await self._ask("POST", _subscription(id, "ack"), json={"cursor": cursor})

    async def listen(self, id: str, after: str | None = None, said: Said = _unsaid) -> AsyncIterator[Json]:
        told = _Told(after, said)
        while True:
            try:
                headers = _stream_headers(told.after)
                async with self._http.stream("GET", _subscription(id, "notifications"), headers=headers) as answer:
                    if not answer.is_success:
                        await answer.aread()
                        _checked(answer)
                    told.wait = _FIRST
                    async for line in answer.aiter_lines():
                        if (notification := told.line(line)) is not None:
                            yield notification
            except _Ended:
                return
            except (httpx2.HTTPError, ClientError) as error:
                told.lost(error)
            await asyncio.sleep(told.wait)
            told.waited()

    async def add_feed(self, url: str, **options: object) -> Json:
        """Have a feed read from now on; options are `classes`, `home` and `charset`."""
        return dict(await self._ask("POST", "/v1/feeds", json={"url": url, **options}))

    async def feeds(self) -> AsyncIterator[Json]:
        """All that are read."""
        async for each in self._pages("/v1/feeds", "feeds"):
            yield each

    async def feed(self, id: str) -> Json:
        return dict(await self._ask("GET", _feed(id)))

    async def remove_feed(self, id: str) -> None:
        await self._ask("DELETE", _feed(id))

    async def poll_feed(self, id: str) -> Json:
        """Have it asked for now; how it does then."""
        return dict(await self._ask("POST", _feed(id, "poll"), timeout=_POLL))

    async def feed_address(self, id: str) -> str:
        """Where a subscription can be read as an Atom feed, by whoever has this address. The one before it ends."""
        return str((await self._ask("POST", _subscription(id, "feed", "key")))["url"])

    async def status(self) -> Json:
        return dict(await self._ask("GET", "/v1/status"))

    async def _pages(self, first: str, name: str) -> AsyncIterator[Json]:
        path: str | None = first
        while path is not None:
            page = await self._ask("GET", path)
            for each in page[name]:
                yield each
            path = page.get("next")

    async def _ask(self, method: str, path: str, *, as_text: bool = False, **more: Any) -> Any:
        try:
            return _checked(await self._http.request(method, path, **more), as_text)
        except httpx2.HTTPError as error:
            raise _lost(error, self._url) from error
