"""What a pipeline asks of a broker: its log, the subscriptions to match it with, and to take what was found.

A broker that is started again is waited for. Whatever else is wrong is a `ConnectionError`: nothing is done without
the broker, and nothing is taken for granted (see `Pipeline._take`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from tidings.errors import UsageError
from tidings.lang.pattern import Dialect

PATIENCE = 300.0
"""Seconds for which a broker that does not answer is waited for."""

_TIMEOUT = 60.0
_FIRST, _LONGEST = 0.1, 5.0
_PAGE = 1_000
_TEXTS = 5_000
_LATER = (429, 503)
"""Answers that say: not just now."""


@dataclass(frozen=True, slots=True)
class Broker:
    """Where it is, and what opens it."""

    url: str
    token: str | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"the address of a broker begins with http:// or https://, and not '{self.url}'")


class Logged(NamedTuple):
    place: int
    id: str
    published: str | None
    body: str


class Marks(NamedTuple):
    """The last event of the log, and up to where all have been matched."""

    last: int
    matched: int


class Listed(NamedTuple):
    """The numbers of versions to match with; None where these are as they were. `state` is the name of that, `steps`
    what one may take on an event.
    """

    state: str
    ontology: str
    steps: int
    numbers: Sequence[int] | None


class Text(NamedTuple):
    number: int
    query: str
    dialect: Dialect


class Known(NamedTuple):
    """The ontology, as N-Triples."""

    tag: str
    text: str
    cycles: Any


class Failed(NamedTuple):
    number: int
    times: int
    event: str
    reason: str


class Refused(ConnectionError):
    """The broker answers, and does not do this."""


class Remote:
    """A connection, for one thread."""

    def __init__(self, broker: Broker, patience: float = PATIENCE) -> None:
        self._broker = broker
        self._patience = patience
        self._connection: HTTPConnection | None = None

    def marks(self, after: int = -1, wait: float = 0.0) -> Marks:
        """How far it is: at once, or when there is an event behind that one, or after so many seconds."""
        said = self._get("/v1/log", after=max(after, 0), limit=0, wait=round(wait * 1_000))
        return Marks(said["last"], said["matched"])

    def events(self, after: int, upto: int) -> Iterator[Logged]:
        """Those behind the one, up to the other."""
        while after < upto:
            page = self._get("/v1/log", after=after, upto=upto, limit=_PAGE)["events"]
            if not page:
                return
            yield from (Logged(each["place"], each["id"], each["published"], each["body"]) for each in page)
            after = page[-1]["place"]

    def ontology(self) -> Known:
        said = self._get("/v1/log/ontology")
        return Known(said["tag"], said["text"], said["cycles"])

    def listed(self, known: str | None) -> Listed:
        said = self._get("/v1/log/subscriptions", **({} if known is None else {"known": known}))
        return Listed(said["state"], said["ontology"], said["steps"], said.get("numbers"))

    def texts(self, numbers: Sequence[int]) -> Iterator[Text]:
        for start in range(0, len(numbers), _TEXTS):
            asked = numbers[start : start + _TEXTS]
            rows = self._ask("POST", "/v1/log/subscriptions", {"numbers": asked})["subscriptions"]
            yield from (Text(each["number"], each["query"], each["dialect"]) for each in rows)

    def take(self, events: Sequence[tuple[int, Sequence[int]]], failed: Sequence[Failed], ontology: str) -> None:
        said = {"events": events, "failed": [each._asdict() for each in failed], "ontology": ontology}
        self._ask("POST", "/v1/log/matched", said)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # ----------------------------------------------------------------------------------------------------------- asking

    def _get(self, path: str, **query: object) -> Any:
        return self._ask("GET", f"{path}?{urlencode(query)}" if query else path)

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        """All that is asked may be asked again."""
        over, wait = time.monotonic() + self._patience, _FIRST
        while True:
            try:
                status, answer = self._once(method, path, body)
                if status not in _LATER:
                    break
                reason = _detail(answer)
            except (OSError, HTTPException) as error:
                self.close()
                reason = str(error) or type(error).__name__
            if time.monotonic() + wait > over:
                raise ConnectionError(f"the broker at {self._broker.url} does not answer: {reason}")
            time.sleep(wait)
            wait = min(2 * wait, _LONGEST)
        if status != 200:
            raise Refused(f"the broker at {self._broker.url} refuses this ({status}): {_detail(answer)}")
        return json.loads(answer)

    def _once(self, method: str, path: str, body: object) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = _connected(self._broker.url)
        headers = {} if self._broker.token is None else {"authorization": f"Bearer {self._broker.token}"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["content-type"] = "application/json"
        base = urlsplit(self._broker.url).path.rstrip("/")
        self._connection.request(method, base + path, data, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()


def _connected(url: str) -> HTTPConnection:
    parts = urlsplit(url)
    assert parts.hostname is not None
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname, parts.port, timeout=_TIMEOUT)


def _detail(answer: bytes) -> str:
    try:
        return str(json.loads(answer)["detail"])
    except (ValueError, KeyError, TypeError):
        return answer[:200].decode("utf-8", "replace")
