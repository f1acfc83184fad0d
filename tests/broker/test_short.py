"""The short way into the server gives the answers of the long one."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any, NamedTuple

import pytest
from tests.unit.broker.offers import offer

from tidings.broker import tokens
from tidings.broker.core import Core
from tidings.broker.http import protocol
from tidings.broker.http.app import application
from tidings.broker.http.server import Server, listening
from tidings.broker.http.service import Bounds
from tidings.broker.http.short import Short
from tidings.broker.retention import Retention
from tidings.rdf.event import to_nquads

ONE = to_nquads(offer(1))
OTHER = ONE.replace(b'"100"', b'"200"')
HOST = (b"host", b"127.0.0.1")
KIND = (b"content-type", b"application/n-quads")
LONG = (b"x-more", b"to be looked at")


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    made = Core(tmp_path, None, Retention())
    yield made
    made.close()


@pytest.fixture
def shortly(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each request that came to the short way, whether it was answered there."""
    taken: list[bool] = []
    publish = Short.publish

    def watched(self: Short, *args: Any) -> bool:
        taken.append(publish(self, *args))
        return taken[-1]

    monkeypatch.setattr(Short, "publish", watched)
    return taken


@contextmanager
def serving(core: Core, idle: int = 5, **options: Any) -> Iterator[int]:
    """A server on its port; it has ended when this is over. `idle` is how long it keeps a connection open."""
    ready = Flag()
    on = listening("127.0.0.1", 0)
    server = Server(application(core, **options), ready.set)
    server.config.timeout_keep_alive = idle
    thread = Thread(target=server.run, args=([on],))
    thread.start()
    try:
        assert ready.wait(10)
        yield on.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def closes(self) -> bool:
        return ("connection", "close") in self.headers


class Connection:
    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._data = b""

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def answer(self) -> Answer:
        while b"\r\n\r\n" not in self._data:
            self._more()
        head, _, self._data = self._data.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in lines)]
        length = int(dict(headers)["content-length"])
        while len(self._data) < length:
            self._more()
        body, self._data = self._data[:length], self._data[length:]
        return Answer(int(status.split()[1]), sorted((n, v) for n, v in headers if n != "date"), body)

    def is_closed(self) -> bool:
        return not self._data and self._socket.recv(1) == b""

    def _more(self) -> None:
        more = self._socket.recv(1 << 16)
        assert more, f"the server is gone, after {self._data!r}"
        self._data += more


def request(body: bytes, *headers: tuple[bytes, bytes], path: bytes = b"/v1/events", version: bytes = b"1.1") -> bytes:
    lines = [b"POST %b HTTP/%b" % (path, version), *(b"%b: %b" % header for header in headers)]
    return b"\r\n".join([*lines, b"content-length: %d" % len(body), b"", body])


def ask(port: int, data: bytes) -> Answer:
    with Connection(port) as connection:
        connection.send(data)
        return connection.answer()


@pytest.mark.parametrize(
    ("body", "headers", "short"),
    [
        (ONE, (HOST, KIND), True),
        (ONE, (HOST, KIND, (b"accept-encoding", b"gzip"), (b"connection", b"keep-alive")), True),
        (ONE + to_nquads(offer(2)), (HOST, KIND), True),
        (OTHER, (HOST, KIND), True),
        (OTHER + to_nquads(offer(3)), (HOST, KIND), True),
        (b"", (HOST, KIND), None),
        (b"<urn:a> <urn:b> .\n", (HOST, KIND), False),
        (ONE.replace(b"\n", b" # a remark\n"), (HOST, KIND), False),
        (ONE, (HOST,), None),
        (ONE, (HOST, (b"content-type", b"application/pdf")), None),
        (ONE, (HOST, (b"content-type", b"text/turtle")), None),
        (ONE, (HOST, KIND, KIND), None),
        (ONE, (HOST, KIND, (b"content-encoding", b"gzip")), None),
        (ONE, (HOST, KIND, (b"ce-time", b"yesterday")), None),
        (ONE, (HOST, KIND, (b"origin", b"http://elsewhere.example")), None),
        (ONE, (HOST, KIND, (b"authorization", b"Bearer nonsense")), True),
        (ONE, ((b"host", b"elsewhere.example"), KIND), False),
        (ONE, (HOST, HOST, KIND), None),
        (b" " * (1 << 15), (HOST, KIND), None),
    ],
)
def test_both_ways_answer_alike(
    core: Core,
    shortly: list[bool],
    body: bytes,
    headers: tuple[tuple[bytes, bytes], ...],
    short: bool | None,
) -> None:
    core.publish([offer(1)]).result()
    with serving(core, open=True, names=(), bounds=Bounds(body=1 << 14)) as port:
        first = ask(port, request(body, *headers))
        assert shortly == ([] if short is None else [short])
        assert ask(port, request(body, *headers, LONG)) == first
    assert shortly == ([] if short is None else [short])


@pytest.mark.parametrize("path", [b"/v1/events?matches=own", b"/v1/events?events-by=nonsense", b"/v1/events/"])
def test_who_asks_for_more_goes_the_long_way(core: Core, shortly: list[bool], path: bytes) -> None:
    with serving(core, open=True, names=()) as port:
        ask(port, request(ONE, HOST, KIND, path=path))
    assert shortly == []


@pytest.mark.parametrize("scopes", [("publish",), ("subscribe",), ()])
def test_both_ways_ask_for_a_token(core: Core, scopes: tuple[tokens.Scope, ...], shortly: list[bool]) -> None:
    headers = [HOST, KIND]
    if scopes:
        with core.database.writing() as writer:
            _, text = tokens.make(writer, "t", frozenset(scopes), "", core.now(), None)
        headers.append((b"authorization", f"Bearer {text}".encode()))
    with serving(core) as port:
        both = [ask(port, request(ONE, *headers, *more)) for more in ((), (LONG,))]
    assert shortly == [True]
    assert both[0] == both[1]
    assert both[0].status == (202 if scopes == ("publish",) else 403 if scopes else 401)


def test_both_ways_count_how_often_one_asks(core: Core) -> None:
    with serving(core, open=True, names=(), bounds=Bounds(rate=1)) as port, Connection(port) as connection:
        statuses = []
        for more in ((), (LONG,), (), (LONG,)):
            connection.send(request(ONE, HOST, KIND, *more))
            statuses.append(connection.answer().status)
    assert statuses == [202, 202, 429, 429]


def test_a_fault_of_the_store_is_told(core: Core, shortly: list[bool]) -> None:
    with serving(core, open=True, names=()) as port:
        core._committer.close()
        answer = ask(port, request(ONE, HOST, KIND))
    assert shortly == [True]
    assert answer.status == 503
    assert b"it is closed" in answer.body


# -------------------------------------------------------------------------------------------------------- connections


def test_a_body_may_come_in_pieces(core: Core, shortly: list[bool]) -> None:
    data = request(ONE, HOST, KIND)
    with serving(core, open=True, names=()) as port, Connection(port) as connection:
        for begin, end in pairwise((0, 30, len(data) - len(ONE) // 2, len(data) - 1, len(data))):
            connection.send(data[begin:end])
            time.sleep(0.02)
        assert connection.answer().status == 202
    assert shortly == [True]


@pytest.mark.parametrize("before", [0, 1])
def test_who_does_not_end_a_body_is_sent_away(core: Core, before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.2)
    with serving(core, open=True, names=()) as port, Connection(port) as connection:
        for _ in range(before):
            connection.send(request(ONE, HOST, KIND))
            assert connection.answer().status == 202
        connection.send(request(ONE, HOST, KIND)[:-1])
        assert connection.answer().status == 408
        assert connection.is_closed()


def test_a_body_is_no_part_of_the_head(core: Core) -> None:
    body = b"".join(to_nquads(offer(n)) for n in range(60))
    data = request(body, HOST, KIND, (b"user-agent", b"x" * (protocol.MOST - 5_000)))
    with serving(core, open=True, names=()) as port, Connection(port) as connection:
        connection.send(data[: -len(body)])
        for begin in range(len(data) - len(body), len(data), 1_000):
            time.sleep(0.01)
            connection.send(data[begin : begin + 1_000])
        assert len(body) > 5_000
        assert connection.answer().status == 202


def test_an_answer_is_not_cut_off_by_the_one_before(core: Core) -> None:
    """A refusal, which takes no time, and behind it what takes longer than an idle connection is kept."""
    with core.database.writing() as writer:
        _, text = tokens.make(writer, "t", frozenset(["publish"]), "", core.now(), None)
    good = request(ONE, HOST, KIND, (b"authorization", f"Bearer {text}".encode()))
    go = Flag()
    with serving(core, idle=1) as port, Connection(port) as connection:
        core.change(lambda writer: go.wait(10))
        connection.send(request(ONE, HOST, KIND) + good)
        assert connection.answer().status == 401
        time.sleep(1.5)
        go.set()
        assert connection.answer().status == 202


def test_a_mistake_of_ours_is_called_so(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(data: bytes) -> None:
        raise ValueError("a mistake")

    monkeypatch.setattr("tidings.broker.http.short.plain_events", wrong)
    with serving(core, open=True, names=()) as port, Connection(port) as connection:
        connection.send(request(ONE, HOST, KIND))
        assert connection.answer().status == 500
        connection.send(request(ONE, HOST, KIND, LONG))
        assert connection.answer().status == 202


def test_many_at_once_are_answered_in_order(core: Core, shortly: list[bool]) -> None:
    """On one connection, before the first has been answered: plain ones, and others between them."""
    several = [request(to_nquads(offer(n)), HOST, KIND, *(() if n % 3 else (LONG,))) for n in range(1, 20)]
    with serving(core, open=True, names=()) as port, Connection(port) as connection:
        connection.send(b"".join(several))
        answers = [connection.answer() for _ in several]
    assert [answer.status for answer in answers] == [202] * len(several)
    assert [answer.body for answer in answers] == [
        f'{{"events":[{{"id":"{offer(n).id}"}}]}}'.encode() for n in range(1, 20)
    ]
    assert shortly[0] is True


def test_a_connection_is_kept_or_closed_as_it_is_asked_for(core: Core) -> None:
    with serving(core, open=True, names=()) as port:
        with Connection(port) as connection:
            for _ in range(3):
                connection.send(request(ONE, HOST, KIND))
                answer = connection.answer()
                assert (answer.status, answer.closes) == (202, False)
            connection.send(request(ONE, HOST, KIND, (b"connection", b"close")))
            answer = connection.answer()
            assert (answer.status, answer.closes) == (202, True)
            assert connection.is_closed()
        old = ask(port, request(ONE, HOST, KIND, version=b"1.0"))
        assert (old.status, old.closes) == (202, True)


def test_who_waits_is_answered_when_the_server_ends(core: Core) -> None:
    go = Flag()
    with serving(core, open=True, names=()) as port:
        core.change(lambda writer: go.wait(10))
        waiting = Connection(port)
        waiting.send(request(ONE, HOST, KIND))
        deadline = time.monotonic() + 10
        while not core.waiting and time.monotonic() < deadline:
            time.sleep(0.01)
        Thread(target=lambda: (time.sleep(0.3), go.set())).start()
    with waiting:
        answer = waiting.answer()
        assert (answer.status, answer.closes) == (202, True)
        assert waiting.is_closed()


def test_who_is_sending_is_answered_when_the_server_ends(core: Core) -> None:
    data = request(ONE, HOST, KIND)
    with serving(core, open=True, names=()) as port:
        sending = Connection(port)
        sending.send(data[:-1])
        time.sleep(0.2)
        Thread(target=lambda: (time.sleep(0.5), sending.send(data[-1:]))).start()
    with sending:
        answer = sending.answer()
        assert (answer.status, answer.closes) == (202, True)


def test_who_goes_before_he_is_answered_has_published(core: Core) -> None:
    go = Flag()
    with serving(core, open=True, names=()) as port:
        core.change(lambda writer: go.wait(10))
        with Connection(port) as connection:
            connection.send(request(ONE, HOST, KIND))
            while not core.waiting:
                time.sleep(0.01)
        go.set()
        assert ask(port, request(ONE, HOST, KIND)).status == 202
    assert core.last == 1
