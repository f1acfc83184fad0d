"""Bodies of every format, with something wrong in them, under headers and paths that are not what they should be:
whatever comes is answered, with a problem document where it is refused, and the broker goes on.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.broker.samples import BODIES, DOCUMENTS, ONTOLOGY, QUERIES, X
from tests.broker.threaded import Threaded
from tests.unit.broker.offers import CHEAP, ids, offer

from tidings.broker.http import bodies
from tidings.broker.http.service import Bounds
from tidings.rdf.event import to_nquads
from tidings.rdf.formats import Format

DEADLINE = 30.0
"""Seconds in which everything is answered; many times what it takes."""

MORE = 50 if os.environ.get("TIDINGS_SOAK") else 1


def some(count: int) -> Any:
    return settings(max_examples=count * MORE, deadline=None, suppress_health_check=list(HealthCheck))


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Asking:
    """One who asks byte by byte as he is told to, on a connection that he keeps."""

    server: Threaded
    connection: HTTPConnection | None = field(default=None)

    def ask(self, method: str, target: str, body: bytes = b"", headers: dict[str, bytes] | None = None) -> Answer:
        """The answer, which is none of a server that has made a mistake."""
        if self.connection is None:
            self.connection = HTTPConnection("127.0.0.1", self.server.port, timeout=DEADLINE)
        asked = {"content-length": str(len(body)).encode(), "host": b"127.0.0.1"} | (headers or {})
        try:
            self.connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            for name, value in asked.items():
                self.connection.putheader(name, value)
            self.connection.endheaders(body)
            answer = self.connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            streams = found.get("content-type", "").startswith("text/event-stream")
            data = answer.read1() if streams else answer.read()
        except BaseException:
            self._end()
            raise
        if streams or answer.will_close:
            self._end()
        checked = Answer(answer.status, found, data)
        check(checked, method)
        return checked

    def _end(self) -> None:
        assert self.connection is not None
        self.connection.close()
        self.connection = None


def check(answer: Answer, method: str = "GET") -> None:
    assert answer.status < 500, answer
    assert answer.status not in (301, 302, 303, 307, 308), answer
    if answer.status >= 400 and method != "HEAD":
        assert answer.headers["content-type"] == "application/problem+json", answer
        document = json.loads(answer.body)
        assert document["status"] == answer.status
        assert document["detail"]


@pytest.fixture(scope="module")
def server() -> Iterator[Threaded]:
    with Threaded(open=True, bounds=Bounds(body=1 << 18, query=1 << 16)) as made:
        yield made


@pytest.fixture(scope="module")
def asking(server: Threaded) -> Asking:
    made = Asking(server)
    for id in ("a", "b"):
        kind = {"content-type": b"application/sparql-query"}
        assert made.ask("PUT", f"/v1/subscriptions/{id}", CHEAP.encode(), kind).status == 201
    return made


# --------------------------------------------------------------------------------------------- what can be wrong in one

TOKENS = [
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\xef\xbb\xbf", b"\xf4\x90\x80\x80", b"\xe2\x80\xa8", b"\r",
    b"\n",
    b"\t", b"\\", b"\\u000A", b"\\uD800", b"\\U00110000", b"\\x", b'"', b"'", b'"""', b"<", b">", b"<<", b">>", b"<<(",
    b"[", b"]", b"{", b"}", b"(", b")", b".", b";", b",", b"_:", b"_:H", b"@", b"@en--ltr", b"^^", b"^", b"|", b"*",
    b"?",
    b"$", b"#", b"//", b"@prefix", b"PREFIX", b"BASE", b"a", b"true", b"null", b"1e999", b"-0.0", b"9" * 400, b"%",
    b"&",
    b"&x;", b"&#0;", b"&#xD800;", b"<!ENTITY", b"<!--", b"]]>", b"<![CDATA[", b"<?x?>", b'"@id":', b'"@context":',
    b'"@type":',
    b'"@list":', b'"@value":', b'"@graph":', b'"@reverse":', b'"@included":', b"SELECT", b"FILTER", b"OPTIONAL",
    b"UNION",
    b"ftNEAR[5,1]", b"ftNOT", b"GROUP BY", b"regex(", b"EXISTS", b"VALUES", b"BIND", b"http://", b"urn:tidings:home",
    b"http://www.w3.org/1999/02/22-rdf-syntax-ns#type", b"xsd:dateTime", "\u202e\u0301\U0001f600".encode(),
]  # fmt: skip


@st.composite
def spoilt(draw: st.DrawFn, sample: bytes) -> bytes:
    """A sound text with a few things done to it."""
    data = sample
    for _ in range(draw(st.integers(0, 4))):
        low = draw(st.integers(0, len(data)))
        high = min(len(data), low + draw(st.integers(0, 12)))
        match draw(st.sampled_from(["insert", "delete", "double", "byte", "end", "bytes", "move"])):
            case "insert":
                data = data[:low] + draw(st.sampled_from(TOKENS)) + data[low:]
            case "delete":
                data = data[:low] + data[high:]
            case "double":
                data = data[:high] + data[low:high] * draw(st.integers(1, 50)) + data[high:]
            case "byte" if low < len(data):
                data = data[:low] + bytes([draw(st.integers(0, 255))]) + data[low + 1 :]
            case "end":
                data = data[:low]
            case "bytes":
                data = data[:low] + draw(st.binary(max_size=8)) + data[low:]
            case "move":
                data = data[:low] + data[high:] + data[low:high]
    return data


def spoilt_of(samples: list[bytes]) -> st.SearchStrategy[bytes]:
    return st.sampled_from(samples).flatmap(spoilt)


TYPED = st.sampled_from(BODIES).flatmap(lambda pair: st.tuples(st.just(pair[0]), spoilt(pair[1])))


@given(
    data=TYPED, by=st.sampled_from(["", "?events-by=document", "?events-by=subject", "?events-by=nanopub&matches=own"])
)
@some(250)
def test_documents(asking: Asking, data: tuple[str, bytes], by: str) -> None:
    kind, body = data
    answer = asking.ask("POST", f"/v1/events{by}", body, {"content-type": kind.encode()})
    assert answer.status in (202, 400, 409)
    if answer.status == 202:
        for event in json.loads(answer.body)["events"][:2]:
            target = f"/v1/events/{quote(event['id'], safe='')}"
            for format in Format:
                assert asking.ask("GET", target, headers={"accept": format.media_type.encode()}).status == 200


@given(kind=st.sampled_from([kind for kind, _ in BODIES]), data=TYPED)
@some(60)
def test_documents_under_another_name(asking: Asking, kind: str, data: tuple[str, bytes]) -> None:
    headers = {
        "content-type": kind.encode(),
        "ce-specversion": b"1.0",
        "ce-id": b"1",
        "ce-time": b"2026-05-01T12:00:00Z",
    }
    assert asking.ask("POST", "/v1/events", data[1], headers).status in (202, 400, 409)


@given(data=TYPED, cut=st.integers(0, 60), garbage=st.binary(max_size=10), level=st.integers(0, 9))
@some(80)
def test_packed_documents(asking: Asking, data: tuple[str, bytes], cut: int, garbage: bytes, level: int) -> None:
    """What is cut off, or has something behind it that is no gzip, is refused; several files in a row are one."""
    kind, body = data
    headers = {"content-type": kind.encode(), "content-encoding": b"gzip"}
    half = len(body) // 2
    packed = gzip.compress(body[:half], level) + gzip.compress(body[half:], level)
    plain = asking.ask("POST", "/v1/events", body, {"content-type": kind.encode()})
    whole = asking.ask("POST", "/v1/events", packed, headers)
    assert (whole.status, whole.body) == (plain.status, plain.body)
    if cut:
        assert asking.ask("POST", "/v1/events", packed[: -min(cut, len(packed) - 1)], headers).status == 400
    if garbage:
        assert asking.ask("POST", "/v1/events", packed + garbage, headers).status == 400
    asking.ask("POST", "/v1/events", packed[:20] + garbage + packed[20:], headers)


LANGUAGES = [(dialect, query.encode()) for dialect, queries in QUERIES.items() for query in queries]
KINDS = {"sparql": b"application/sparql-query", "ops": b"text/x-ops", "gtopss": b"text/x-gtopss"}


@given(asked=st.sampled_from(LANGUAGES).flatmap(lambda pair: st.tuples(st.just(pair[0]), spoilt(pair[1]))))
@some(250)
def test_subscriptions(asking: Asking, asked: tuple[str, bytes]) -> None:
    dialect, query = asked
    answer = asking.ask("PUT", "/v1/subscriptions/fuzz", query, {"content-type": KINDS[dialect]})
    assert answer.status in (200, 201, 400)
    if answer.status != 400:
        told = asking.ask("GET", "/v1/subscriptions/fuzz")
        assert json.loads(told.body)["query"] == query.decode()
        kind = {"content-type": b"application/trig"}
        assert asking.ask("POST", "/v1/events?matches=own", DOCUMENTS[Format.TRIG].encode(), kind).status in (202, 409)
        assert asking.ask("GET", "/v1/subscriptions/fuzz/notifications").status == 200


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["\ud800", "1-0", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
NAMES = ["query", "dialect", "payload", "labels", "ttl", "webhook", "since", "cursor", "limit", "subscription",
"event", "data",
         "format", "x", "\udc00"]  # fmt: skip
SOUND = st.sampled_from(
    ["sparql", "ops", "bindings", 60, 1, "2026-05-01T12:00:00Z", "http://10.1.2.3/", "1-0", "a", "ttl", f"{X}offer/1",
    CHEAP,
     DOCUMENTS[Format.TRIG], "trig", {"a": "b"}]
)  # fmt: skip
OBJECTS = st.dictionaries(st.sampled_from(NAMES), SOUND | JSON, max_size=5)
TARGETS = [
    ("PUT", "/v1/subscriptions/json"),
    ("POST", "/v1/try"),
    ("POST", "/v1/explain"),
    ("POST", "/v1/subscriptions/a/ack"),
]
SOUND_JSON = [
    {"query": CHEAP, "labels": {"a": "b"}, "ttl": 60, "payload": "ids", "since": "2026-05-01T12:00:00Z"},
    {"query": CHEAP, "dialect": "sparql", "limit": 5},
    {"query": CHEAP, "data": DOCUMENTS[Format.TTL], "format": "ttl"},
    {"subscription": "a", "event": f"{X}offer/1"},
    {"cursor": "1-0"},
]


@given(
    target=st.sampled_from(TARGETS),
    body=OBJECTS.map(lambda found: json.dumps(found).encode())
    | JSON.map(lambda found: json.dumps(found).encode())
    | spoilt_of([json.dumps(each).encode() for each in SOUND_JSON]),
    accept=st.sampled_from([b"*/*", b"image/svg+xml", b"text/html"]),
)
@some(350)
def test_json_bodies(asking: Asking, target: tuple[str, str], body: bytes, accept: bytes) -> None:
    headers = {"content-type": b"application/json", "accept": accept}
    assert asking.ask(*target, body, headers).status in (200, 201, 204, 400, 404, 410, 422)


@given(body=spoilt(ONTOLOGY.encode()), kind=st.sampled_from(list(Format)))
@some(40)
def test_ontologies(asking: Asking, body: bytes, kind: Format) -> None:
    if kind is not Format.TTL and body == ONTOLOGY.encode():
        body = DOCUMENTS[kind].encode()
    assert asking.ask("PUT", "/v1/ontology", body, {"content-type": kind.media_type.encode()}).status in (200, 400)
    assert asking.ask("GET", "/v1/ontology", headers={"accept": kind.media_type.encode()}).status == 200


# ---------------------------------------------------------------------------------------------------- headers and paths

HEADERS = [
    "content-type", "content-encoding", "accept", "accept-encoding", "last-event-id", "if-match", "if-none-match",
    "ce-time",
    "ce-specversion", "authorization", "origin", "sec-fetch-site", "expect", "range", "connection", "te", "upgrade",
    "host",
    "transfer-encoding", "x-forwarded-for", "cookie",
]  # fmt: skip
VALUES = [
    b"", b" ", b"*", b"*/*", b"text/turtle; charset=utf-16", b"text/turtle;charset=\"utf-8\";x", b"text/turtle;;;=;",
    b";", b"/",
    b"application/ld+json; profile=\"x\"", b"gzip", b"GZIP", b"identity", b"gzip;q=0", b"br", b"deflate", b"gzip, gzip",
    b"text/event-stream", b"text/event-stream;q=0", b"application/trig;q=nan, */*;q=1e999, a;q=-1", b"image/svg+xml",
    b"a" * 5000,
    b"1-0", b"1-999", b"0-0", b"-1", b"999999999999999999999999", b"\xe9\xff", b"1-0\t", b'"1-0"', b'W/"1-0"', b'"',
    b'"a", "b",',
    b"2026-05-01", b"2026-13-01T00:00:00Z", b"0001-01-01T00:00:00+14:00", b"9999-12-31T23:59:59-14:00", b"now",
    b"2026-05-01T12:00:00.123456789Z", b"24:00", b"Bearer", b"Bearer ", b"Bearer tdg_a_b", b"Basic x", b"Bearer \xff",
    b"null",
    b"http://127.0.0.1", b"cross-site", b"100-continue", b"bytes=0-", b"close", b"keep-alive", b"upgrade",
    b"websocket", b"h2c",
    b"trailers", b"127.0.0.1:99999", b"[", b"chunked",
]  # fmt: skip
ASKED = [
    ("POST", "/v1/events", DOCUMENTS[Format.TTL].encode()), ("GET", "/v1/events", b""), ("GET", f"/v1/events/{X}g1",
    b""),
    ("PUT", "/v1/subscriptions/h", CHEAP.encode()), ("GET", "/v1/subscriptions/a", b""), ("DELETE",
    "/v1/subscriptions/h", b""),
    ("GET", "/v1/subscriptions/a/notifications", b""), ("POST", "/v1/subscriptions/a/ack", b'{"cursor": "1-0"}'),
    ("POST", "/v1/try", b'{"query": "ASK {}"}'), ("GET", "/v1/ontology", b""), ("PUT", "/v1/ontology", b""), ("GET",
    "/", b""),
    ("HEAD", "/v1/subscriptions/a/notifications", b""), ("HEAD", "/v1/events", b""), ("GET", "/metrics", b""),
]  # fmt: skip


@given(
    asked=st.sampled_from(ASKED), headers=st.dictionaries(st.sampled_from(HEADERS), st.sampled_from(VALUES), max_size=4)
)
@some(400)
def test_headers(asking: Asking, asked: tuple[str, str, bytes], headers: dict[str, bytes]) -> None:
    method, target, body = asked
    if b"chunked" in headers.get("transfer-encoding", b"") or headers.get("upgrade"):
        # With a length beside it, it is no request at all; and who changes the protocol has said nothing.
        assume(not body)
    asking.ask(method, target, body, headers)


PIECES = st.sampled_from(
    ["a", "b", "%00", "%0a", "%0d%0a", "%2e", "..", ".", "%2f", "%5c", "%25", "%", "%zz", "%ff", "%c3%a9",
    "%ed%a0%80", "%20",
     "http:", "//", "/", "?", "&", "=", ";", "limit", "after", "matches=own", "payload=ids", "+", "~", "dead", "1-1",
     "notifications",
     "ack", "x" * 600, "[]", "{}", "|", "'", "<", "%3cscript%3e", "%F0%9F%98%80", "events-by", "limit=1", "after=1-0",
     "@", ":"]
)  # fmt: skip


@given(
    method=st.sampled_from(["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"]),
    start=st.sampled_from(["/", "/v1/", "/v1/events/", "/v1/subscriptions/", "/v1/subscriptions/a/", "/console/",
    "/v1/events?",
                           "/v1/subscriptions?", "/v1/subscriptions/a/notifications?", "/v1/subscriptions/a/dead/"]),
    pieces=st.lists(PIECES, max_size=5),
)  # fmt: skip
@some(400)
def test_paths(asking: Asking, method: str, start: str, pieces: list[str]) -> None:
    assume((method, start, pieces) != ("DELETE", "/v1/subscriptions/", ["a"]))
    asking.ask(method, start + "".join(pieces))


@given(
    length=st.sampled_from(
        [b"0", b"1", b"5000", b"-1", b"+5", b"1,1", b"99999999999999999999", b"x", b"", b"0x10", b" 5 "]
    ),
    data=TYPED,
    head=spoilt(b"POST /v1/events HTTP/1.1\r\nhost: 127.0.0.1\r\n"),
)
@some(40)
def test_lengths_that_are_none(server: Threaded, length: bytes, data: tuple[str, bytes], head: bytes) -> None:
    kind, body = data
    with pytest.MonkeyPatch.context() as patch, socket.create_connection(("127.0.0.1", server.port), DEADLINE) as asked:
        patch.setattr(bodies, "GRACE", 0.05)
        asked.sendall(
            head + f"content-type: {kind}\r\nconnection: close\r\ncontent-length: ".encode() + length + b"\r\n\r\n"
        )
        try:
            asked.sendall(body)
            asked.shutdown(socket.SHUT_WR)
            heard = b""
            while piece := asked.recv(1 << 16):
                heard += piece
        except TimeoutError:
            raise
        except OSError:
            return
    assert not heard.startswith(b"HTTP/1.1 5"), heard[:200]


def test_after_all_of_this_it_works(server: Threaded, asking: Asking) -> None:
    kind = {"content-type": b"application/n-quads"}
    assert asking.ask("PUT", "/v1/subscriptions/last", CHEAP.encode(), {"content-type": KINDS["sparql"]}).status in (
        200,
        201,
    )
    assert asking.ask("POST", "/v1/events", to_nquads(offer(7_000)), kind).status == 202
    page = json.loads(asking.ask("GET", "/v1/subscriptions/last/notifications").body)
    assert [each["event"] for each in page["notifications"]] == ids(7_000)
    assert asking.ask("GET", "/readyz").status == 200
