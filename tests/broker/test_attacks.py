"""What an attacker would try, each as a test with a name, and each refused. It is one long list, so that one can see
what is on it; who thinks of another attack adds it here.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from itertools import count, repeat
from typing import Any
from xml.etree import ElementTree

import httpx2
import pytest
from tests.broker.threaded import Threaded
from tests.unit.broker.endpoint import Receiver
from tests.unit.broker.offers import ANY, CHEAP, X, ids, offer

from tidings.broker import core, tokens
from tidings.broker.core import Core
from tidings.broker.hooks import Patience
from tidings.broker.http import bodies, protocol
from tidings.broker.http.app import application
from tidings.broker.http.service import Bounds
from tidings.broker.matching import Effort
from tidings.broker.retention import Retention
from tidings.delivery import addresses, webhooks
from tidings.delivery.addresses import Endpoint
from tidings.delivery.packed import Gzip
from tidings.errors import DeliveryError, UsageError
from tidings.rdf.event import to_nquads

MIB = 1 << 20
BOUNDS = Bounds(body=4 * MIB)
SPARQL = {"content-type": "application/sparql-query"}
NQUADS = {"content-type": "application/n-quads"}
TURTLE = {"content-type": "text/turtle"}
IMPATIENT = Patience(tries=1, first=0.01, longest=0.01, breaks=1_000, timeout=2)


@pytest.fixture(scope="module")
def server() -> Iterator[Threaded]:
    """With tokens, as a server that others can reach."""
    with Threaded(bounds=BOUNDS, patience=IMPATIENT) as made:
        yield made


@pytest.fixture(scope="module")
def one(server: Threaded) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, timeout=30, headers=server.token("one", "subscribe", "publish")) as made:
        yield made


@pytest.fixture(scope="module")
def other(server: Threaded) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, timeout=30, headers=server.token("other", "subscribe", "publish")) as made:
        yield made


@pytest.fixture(scope="module")
def let_in() -> Iterator[Threaded]:
    """Started with --open, on loopback: whoever reaches it may do everything."""
    with Threaded(open=True, names=("127.0.0.1",), bounds=BOUNDS) as made:
        yield made


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A service on loopback, which is none of anybody's business."""
    made = Receiver()
    yield made
    made.close()


def refused(answer: httpx2.Response, *statuses: int) -> dict[str, Any]:
    """It is a problem document of one of these statuses."""
    assert answer.status_code in statuses, (answer.status_code, answer.text[:500])
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == answer.status_code
    return dict(found)


NUMBERS = count(1_000)


def well(client: httpx2.Client) -> None:
    """It works as if nothing had been."""
    number = next(NUMBERS)
    name = f"well{number}"
    assert client.put(f"/v1/subscriptions/{name}", content=CHEAP, headers=SPARQL).status_code in (200, 201)
    assert client.post("/v1/events", content=to_nquads(offer(number)), headers=NQUADS).status_code == 202
    page = client.get(f"/v1/subscriptions/{name}/notifications").json()
    assert ids(number)[0] in [each["event"] for each in page["notifications"]]
    assert client.delete(f"/v1/subscriptions/{name}").status_code == 204


def said(port: int, *pieces: bytes, patience: float = 10.0) -> bytes:
    """What is answered to these bytes, until the connection is closed."""
    with socket.create_connection(("127.0.0.1", port), patience) as connection:
        for piece in pieces:
            connection.sendall(piece)
        heard = b""
        while piece := connection.recv(1 << 16):
            heard += piece
        return heard


# ---------------------------------------------------------------------------------- webhooks to where only we can reach

PRIVATE = [
    "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "0.0.0.0",
    "0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "100.100.100.200", "169.254.169.254", "0xa9fea9fe",
    "2852039166", "192.0.0.192", "168.63.129.16", "198.18.0.1", "224.0.0.1", "255.255.255.255", "[::1]", "[::]",
    "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
    "[2001:0:7f00:1::80ff:fffe]", "[fd00:ec2::254]", "[fe80::1]", "[fec0::1]", "[ff02::1]", "localhost.",
]  # fmt: skip


@pytest.mark.parametrize("host", PRIVATE)
def test_a_webhook_to_a_private_address_however_it_is_spelt(host: str) -> None:
    with pytest.raises(DeliveryError, match=r"private|not known"):
        addresses.address_of(Endpoint.of(f"http://{host}:8000/"), private=False)


@pytest.mark.parametrize("found", [["10.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["2606:2800::1", "::1"]])
def test_a_webhook_to_a_name_that_stands_for_a_private_address(found: list[str]) -> None:
    with pytest.raises(DeliveryError, match="private"):
        addresses.address_of(Endpoint.of("https://innocent.example/"), private=False, look=lambda *_: found)


def test_a_name_that_stands_for_another_address_when_it_is_looked_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    asked: list[object] = []

    def look_up(host: str, port: int, *_: object, **__: object) -> list[Any]:
        return [(0, 0, 0, "", (address, port)) for address in answers.pop(0)]

    def connect(address: object, *_: object, **__: object) -> socket.socket:
        asked.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(socket, "create_connection", connect)
    for scheme in ("http", "https"):
        answers[:] = [["93.184.216.34"], ["127.0.0.1"]]
        endpoint = Endpoint.of(f"{scheme}://rebinding.example:81/")
        address = addresses.address_of(endpoint, private=False)
        with pytest.raises(DeliveryError):
            webhooks.post(endpoint, address, b"", {}, 1)
    assert asked == [("93.184.216.34", 81)] * 2


def test_nothing_is_sent_to_loopback(one: httpx2.Client, receiver: Receiver) -> None:
    for number, host in enumerate(("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1")):
        path = f"/v1/subscriptions/hook{number}"
        url = f"http://{host}:{receiver.port}/"
        assert one.put(path, json={"query": CHEAP, "webhook": url}).status_code == 201
        assert one.post("/v1/events", content=to_nquads(offer(100 + number)), headers=NQUADS).status_code == 202
        letter = wait_for(lambda path=path: one.get(f"{path}/dead").json()["dead"])[0]
        assert "private" in letter["reason"]
        problem = refused(one.post(f"{path}/dead/{letter['cursor']}"), 502)
        assert "private" in problem["detail"]
        one.delete(path)
    assert receiver.heard == []


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    receiver.answers = [302, 307, 308, 303]
    with Threaded(open=True, private=True, patience=IMPATIENT) as server, httpx2.Client(base_url=server.url) as client:
        client.put("/v1/subscriptions/s", json={"query": CHEAP, "webhook": receiver.url})
        for number in range(4):
            client.post("/v1/events", content=to_nquads(offer(number)), headers=NQUADS)
        letters = wait_for(lambda: (found := client.get("/v1/subscriptions/s/dead").json()["dead"])[3:] and found)
        assert [each["reason"][-3:] for each in letters] == ["302", "307", "308", "303"]
        assert len(receiver.heard) == 4


def test_an_endpoint_that_answers_letter_by_letter_holds_nobody_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = Endpoint.of(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        listener.settimeout(10)
        begun = time.monotonic()
        send = asyncio.to_thread(webhooks.post, endpoint, "127.0.0.1", b"{}", {}, 0.5)

        async def drip() -> None:
            sending = asyncio.create_task(send)
            connection, _ = await asyncio.to_thread(listener.accept)
            with connection:
                while not sending.done() and time.monotonic() < begun + 20:
                    connection.sendall(b"H")
                    await asyncio.sleep(0.1)
            await sending

        with pytest.raises(DeliveryError, match="did not take it"):
            asyncio.run(drip())


@pytest.mark.parametrize(
    "url",
    ["http://x/\r\nhost: y", "http://x/a b", "http://x\t/", "gopher://x/", "http://", "http://x:99999/", "http://[::1/",
     "//x/", "http://a\u0000b/", "http://ex\u0430mple/", "http://u@x/", f"http://{'a' * 64}.example/", "http://a..b/",
     "http://x/" + "a" * 3_000],
)  # fmt: skip
def test_addresses_of_webhooks_with_something_in_them(one: httpx2.Client, url: str) -> None:
    refused(one.put("/v1/subscriptions/s", json={"query": CHEAP, "webhook": url}), 400)
    with pytest.raises(UsageError):
        Endpoint.of(url)


def test_public_addresses_are_public() -> None:
    for each in ("93.184.216.34", "1.1.1.1", "2606:2800:220:1::1", "::ffff:1.1.1.1"):
        assert addresses.is_public(ip_address(each))


# --------------------------------------------------------------------------------------------------------------- tokens


def test_a_guess_is_compared_in_constant_time_also_under_a_name_that_there_is_not(
    server: Threaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = server.token("one", "subscribe")["authorization"].removeprefix("Bearer ")
    compared: list[tuple[int, int]] = []

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((len(a), len(b)))
        return a == b

    monkeypatch.setattr(tokens, "compare_digest", compare)
    name = text.split("_")[1]
    guesses = [text, f"tdg_{name}_x", f"tdg_{name}_{'x' * 43}", f"tdg_{'0' * 16}_{text.split('_', 2)[2]}", "tdg__"]
    with server.core.database.reading() as reader:
        found = [tokens.find(reader, guess, 0) for guess in guesses]
    assert [each is not None for each in found] == [True, False, False, False, False]
    assert compared == [(32, 32)] * 5


def test_wrong_tokens_are_all_told_the_same(server: Threaded) -> None:
    text = server.token("one", "subscribe")["authorization"]
    name = text.split("_")[1]
    answers = set()
    for guess in (f"Bearer tdg_{name}_x", f"Bearer tdg_{'0' * 16}_x", "Bearer x", "Bearer", "Basic eDp5", text[:-1]):
        answer = httpx2.get(f"{server.url}/v1/subscriptions", headers={"authorization": guess})
        refused(answer, 401)
        answers.add(answer.text)
    assert len(answers) == 1


def test_no_token_is_kept_as_it_is(server: Threaded, one: httpx2.Client) -> None:
    assert one.get("/v1/subscriptions").status_code == 200
    text = one.headers["authorization"].removeprefix("Bearer ").encode()
    secret = text.split(b"_", 2)[2]
    with server.core.database.reading() as reader:
        for row in reader.execute("SELECT * FROM tokens"):
            assert secret not in repr(row).encode()
    known = server.app.state.service.access._known
    assert known
    assert all(isinstance(key, bytes) and len(key) == 32 for key in known)


# ------------------------------------------------------------------------------------------- lines where there are none


def test_ids_do_not_become_headers(one: httpx2.Client) -> None:
    for id in ("a%0d%0aset-cookie:%20x=y", "a%0a", "a%00", "a%c2%85", "a%e2%80%a8b"):
        refused(one.put(f"/v1/subscriptions/{id}", content=CHEAP, headers=SPARQL), 400)
    answer = one.put("/v1/subscriptions/%C3%A9%22%20%3Cx%3E", content=CHEAP, headers=SPARQL)
    assert answer.headers["location"] == "/v1/subscriptions/%C3%A9%22%20%3Cx%3E"
    one.delete(answer.headers["location"])


def test_labels_do_not_become_headers(one: httpx2.Client) -> None:
    body = {"query": CHEAP, "labels": {"a\r\nx-evil: 1": "b\r\nset-cookie: x"}}
    answer = one.put("/v1/subscriptions/labelled", json=body)
    assert answer.json()["labels"] == body["labels"]
    assert not {"x-evil", "set-cookie"} & set(answer.headers)
    one.delete("/v1/subscriptions/labelled")


def test_what_an_event_says_does_not_become_another_message_of_a_stream(one: httpx2.Client) -> None:
    evil = 'x\\n\\nid: 9-9\\nevent: notification\\ndata: {\\"event\\": \\"forged\\"}\\n\\n\\r\\r'
    refused(one.post("/v1/events", content=f"<{X}s> <{X}p> <{X}o> <{X}a\\u000Aid: 5> .", headers=NQUADS), 400)
    one.put("/v1/subscriptions/sse", json={"query": f"SELECT ?o {{ ?s <{X}evil> ?o }}"})
    data = f'<{X}s> <{X}evil> "{evil}" <{X}evil-event> .\n<{X}s> <{X}evil> "end" <{X}z> .\n'
    assert one.post("/v1/events", content=data, headers=NQUADS).status_code == 202
    lines: list[str] = []
    with one.stream("GET", "/v1/subscriptions/sse/notifications", headers={"accept": "text/event-stream"}) as answer:
        text = ""
        for piece in answer.iter_text():
            text += piece
            if f"{X}z" in text:
                break
    lines = text.split("\n")
    assert "\r" not in text
    events = [json.loads(line.removeprefix("data: "))["event"] for line in lines if line.startswith("data: ")]
    assert events == [f"{X}evil-event", f"{X}z"]
    assert len([line for line in lines if line.startswith("id: ")]) == 2
    one.delete("/v1/subscriptions/sse")


# ---------------------------------------------------------------------------------------------------------------- bombs


def test_a_zip_bomb(one: httpx2.Client) -> None:
    headers = {**NQUADS, "content-encoding": "gzip"}
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    piece = bytes(MIB)
    bomb = b"".join(packer.compress(piece) for _ in range(100)) + packer.flush()
    assert len(bomb) < MIB // 4
    refused(one.post("/v1/events", content=bomb, headers=headers), 413)
    member = gzip.compress(bytes(MIB))
    refused(one.post("/v1/events", content=member * 1_000, headers=headers), 413)
    refused(one.post("/v1/events", content=gzip.compress(b"") * 100_000, headers=headers), 400, 413)
    refused(one.post("/v1/events", content=gzip.compress(bomb), headers=headers), 400)
    refused(one.post("/v1/events", content=bomb, headers={**NQUADS, "content-encoding": "gzip, gzip"}), 415)
    well(one)


def test_a_zip_bomb_is_not_unpacked_further_than_allowed() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(MIB)) for _ in range(20)) + packer.flush()
    unpacking = Gzip(MIB)
    assert len(unpacking.unpack(bomb)) == MIB + 1


XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">{}</rdf:RDF>'
LAUGH = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))


def test_an_xml_bomb(one: httpx2.Client) -> None:
    body = f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGH}]>' + XML.format('<x:S rdf:about="http://x/s"><x:p>&l11;</x:p></x:S>')
    headers = {"content-type": "application/rdf+xml"}
    refused(one.post("/v1/events", content=body, headers=headers), 400)
    quadratic = f'<!DOCTYPE r [<!ENTITY a "{"a" * 100_000}">]>' + XML.format(
        f'<x:S rdf:about="http://x/s"><x:p>{"&a;" * 100_000}</x:p></x:S>'
    )
    refused(one.post("/v1/events", content=quadratic, headers=headers), 400)
    well(one)


def test_xml_does_not_read_files_or_ask_other_servers(one: httpx2.Client, receiver: Receiver) -> None:
    inner = XML.format('<x:S rdf:about="http://x/s"><x:p>&e;</x:p></x:S>')
    web = f"http://127.0.0.1:{receiver.port}/"
    for declared in (
        '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
        f'<!DOCTYPE r [<!ENTITY e SYSTEM "{web}">]>',
        f'<!DOCTYPE r PUBLIC "-//x//y" "{web}">',
        f'<!DOCTYPE r [<!ENTITY % p SYSTEM "{web}"> %p;]>',
    ):
        answer = one.post("/v1/events", content=declared + inner, headers={"content-type": "application/rdf+xml"})
        assert "root:" not in answer.text
        refused(answer, 400)
    assert receiver.heard == []


def test_json_ld_does_not_fetch_contexts(one: httpx2.Client, receiver: Receiver) -> None:
    web = f"http://127.0.0.1:{receiver.port}/context"
    kind = {"content-type": "application/ld+json"}
    for context in (web, [web], {"@import": web}, {"x": {"@id": "http://x/", "@context": web}}, "file:///etc/passwd"):
        body = json.dumps({"@context": context, "@id": "http://x/a", "x": {"@id": "http://x/b"}})
        answer = one.post("/v1/events", content=body, headers=kind)
        assert "root:" not in answer.text
        refused(answer, 400)
        envelope = {
            "specversion": "1.0",
            "id": "1",
            "source": "/",
            "type": "t",
            "datacontenttype": "application/ld+json",
        }
        body = json.dumps({**envelope, "data": json.loads(body)})
        refused(one.post("/v1/events", content=body, headers={"content-type": "application/cloudevents+json"}), 400)
        refused(one.post("/v1/explain", json={"query": CHEAP, "format": "jsonld", "data": body}), 400)
    assert receiver.heard == []


@pytest.mark.parametrize(
    "pattern",
    ["^(a+)+$", "^(a|a)*$", "(.*a){30}", "^(([a-z])+.)+[A-Z]([a-z])+$", "((a{0,50}){0,50}){0,50}", "(a)\\\\1"],
)
def test_a_regex_bomb(one: httpx2.Client, pattern: str) -> None:
    query = f'SELECT ?o {{ ?s <{X}r> ?o FILTER regex(?o, "{pattern}") }}'
    answer = one.put("/v1/subscriptions/regex", content=query, headers=SPARQL)
    if answer.status_code != 201:
        refused(answer, 400)
    else:
        data = f'<{X}s> <{X}r> "{"a" * 50_000}!" .'
        assert one.post("/v1/events?matches=own", content=data, headers=TURTLE).status_code == 202
        one.delete("/v1/subscriptions/regex")
    well(one)


def deep(levels: int = 20_000) -> dict[str, str]:
    """Queries that go on and on inward."""
    return {
        "groups": "ASK " + "{" * levels + "}" * levels,
        "parentheses": f"ASK {{ ?s ?p ?o FILTER({'(' * levels}1{')' * levels}) }}",
        "not": f"ASK {{ ?s ?p ?o FILTER({'!' * levels}true) }}",
        "minus": f"ASK {{ ?s ?p ?o FILTER({'- ' * levels}1 = 1) }}",
        "paths": f"ASK {{ ?s {'(' * levels}<{X}p>{')*' * levels} ?o }}",
        "inverse": f"ASK {{ ?s {'^(' * levels}<{X}p>{')' * levels} ?o }}",
        "blank nodes": f"ASK {{ ?s ?p {'[ ?p ' * levels} 1 {']' * levels} }}",
        "lists": f"ASK {{ ?s ?p {'( ' * levels} 1 {')' * levels} }}",
        "exists": "ASK " + "{ FILTER EXISTS " * levels + "{}" + "}" * levels,
        "optional": "ASK " + "{ ?s ?p ?o OPTIONAL " * levels + "{}" + "}" * levels,
        "selects": "ASK " + "{ SELECT * " * levels + "{}" + "}" * levels,
        "functions": f"ASK {{ ?s ?p ?o FILTER({'STR(' * levels}1{')' * levels}) }}",
        "ors": f"ASK {{ ?s ?p ?o FILTER({' || '.join(['?o = 1'] * levels)}) }}",
        "sums": f"ASK {{ ?s ?p ?o FILTER({'1 + ' * levels}1 > 0) }}",
        "unions": "ASK { " + " UNION ".join(["{ ?s ?p ?o }"] * (levels // 4)) + " }",
        "sequence": f"ASK {{ ?s {'/'.join([f'<{X}p>'] * (levels // 4))} ?o }}",
        "full text": f'ASK {{ ?s ?p ?o FILTER ftcontains(?o, {"(" * levels}"a"{")" * levels}) }}',
        "near": "ASK { ?s ?p ?o FILTER ftcontains(?o, " + " ftNEAR[0,1] ".join(['"a"'] * levels) + ") }",
        "values": f"ASK {{ VALUES ?x {{ {'1 ' * levels} }} }}",
    }


@pytest.mark.parametrize("kind", deep(1))
def test_queries_that_nest_deeply_or_go_on_for_ever(one: httpx2.Client, kind: str) -> None:
    query = deep()[kind]
    for path, method in (("/v1/subscriptions/deep", "PUT"), ("/v1/try", "POST"), ("/v1/explain", "POST")):
        asked = {"query": query} | ({"data": f"<{X}a> <{X}b> 1 .", "format": "ttl"} if path == "/v1/explain" else {})
        answer = one.request(method, path, json=asked)
        if not answer.is_success:
            refused(answer, 400, 413, 422)
    one.delete("/v1/subscriptions/deep")
    well(one)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/turtle", f"<{X}s> <{X}p> " + "[ <http://x/p> " * 100_000 + "1" + "]" * 100_000 + " ."),
        ("text/turtle", f"<{X}s> <{X}p> " + "( " * 100_000 + ")" * 100_000 + " ."),
        ("application/trig", "{ " * 100_000),
        ("application/ld+json", '{"@graph":' * 20_000 + "[]" + "}" * 20_000),
        ("application/ld+json", "[" * 100_000 + "]" * 100_000),
        ("application/rdf+xml", XML.format("<x:a><x:b>" * 50_000 + "</x:b></x:a>" * 50_000)),
        ("application/cloudevents+json", '{"data":' * 100_000 + "1" + "}" * 100_000),
    ],
)
def test_documents_that_nest_deeply(one: httpx2.Client, kind: str, body: str) -> None:
    refused(one.post("/v1/events", content=body, headers={"content-type": kind}), 400)


def test_json_that_nests_deeply_or_has_endless_numbers(one: httpx2.Client) -> None:
    headers = {"content-type": "application/json"}
    for path in ("/v1/try", "/v1/explain", "/v1/subscriptions/well/ack"):
        for body in (
            "[" * 100_000,
            '{"query":' * 100_000 + "1" + "}" * 100_000,
            f'{{"limit": {"9" * 100_000}}}',
            "NaN",
        ):
            refused(one.post(path, content=body, headers=headers), 400, 404, 413)


# --------------------------------------------------------------------------------------------------- too much, too slow


async def drained(path: str, headers: dict[str, str], method: str, chunks: Iterator[bytes]) -> tuple[int, int]:
    """The status that an endless body is answered with, and how many bytes of it were asked for."""
    made = Core(None, None, Retention())
    app = application(made, open=True)
    read, status = 0, 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        chunk = next(chunks)
        read += len(chunk)
        return {"type": "http.request", "body": chunk, "more_body": True}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
             "headers": raw, "scheme": "http", "server": ("127.0.0.1", 1)}  # fmt: skip
    async with app.router.lifespan_context(app):
        await app(scope, receive, send)  # type: ignore[arg-type]
    made.close()
    return status, read


def test_a_query_of_100_mb_is_refused_before_it_is_read() -> None:
    size = 100 * MIB
    headers = {**SPARQL, "content-length": str(size)}
    assert asyncio.run(drained("/v1/subscriptions/s", headers, "PUT", repeat(b" " * 65_536))) == (413, 0)
    status, read = asyncio.run(drained("/v1/subscriptions/s", SPARQL, "PUT", repeat(b" " * 65_536)))
    assert status == 413
    assert read <= MIB + 65_536
    # Nor is what unpacks to nothing, however long it goes on.
    nothing = zlib.compressobj(0, zlib.DEFLATED, 31)
    start = nothing.compress(b"") + nothing.flush(zlib.Z_SYNC_FLUSH)
    pieces = iter([start, *[b"\0\0\0\xff\xff" * 13_107] * 1_000])
    status, read = asyncio.run(drained("/v1/subscriptions/s", {**SPARQL, "content-encoding": "gzip"}, "PUT", pieces))
    assert status == 413
    assert read <= 2 * MIB


def test_a_body_that_does_not_come(one: httpx2.Client, server: Threaded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "GRACE", 0.3)
    head = f"POST /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: {one.headers['authorization']}\r\n"
    for framing in ("content-length: 100\r\n\r\n<", "transfer-encoding: chunked\r\n\r\n5\r\n<"):
        heard = said(server.port, f"{head}content-type: text/turtle\r\n{framing}".encode())
        assert heard.startswith(b"HTTP/1.1 408 ")
        assert b"application/problem+json" in heard


def test_headers_that_do_not_come(server: Threaded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.3)
    assert said(server.port) == b""
    assert said(server.port, b"GET / HTTP/1.1\r\nx: y\r\n").startswith(b"HTTP/1.1 408 ")
    answered = said(server.port, b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n", b"GET / HT")
    assert answered.startswith(b"HTTP/1.1 200 ")


def test_blank_lines_are_no_way_to_stay(server: Threaded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.3)
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        for _ in range(2):
            connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"\r\n")
        assert connection.recv(1 << 16) == b""


def test_headers_without_end(server: Threaded) -> None:
    sent = 0
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nx: ")
        with suppress(OSError):
            while sent < 100 * MIB:
                connection.sendall(b"y" * 65_536)
                sent += 65_536
    assert sent < 100 * MIB


def test_requests_hidden_in_requests(server: Threaded) -> None:
    inner = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"
    for framing in (
        f"content-length: {len(inner)}\r\ntransfer-encoding: chunked\r\n",
        f"content-length: {len(inner)}\r\ncontent-length: 0\r\n",
        "transfer-encoding: chunked, identity\r\n",
        "content-length: -1\r\n",
        "content-length: 0x5\r\n",
        "content-length : 5\r\n",
        "x: y\r\n\tcontent-length: 5\r\nhost: a\r\nhost: b\r\n",
    ):
        request = f"POST /v1/events HTTP/1.1\r\nhost: x\r\n{framing}connection: close\r\n\r\n0\r\n\r\n{inner}"
        heard = said(server.port, request.encode())
        assert heard.count(b"HTTP/1.1 ") == 1
        assert heard.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 401 ")), heard[:100]


def test_a_subscription_whose_evaluation_explodes_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "FAILURES", 3)
    product = " ".join(f"?a{n} ?b{n} ?c{n} ." for n in range(6))
    never = f"FILTER({' + '.join(f'?c{n}' for n in range(6))} < 0)"
    numbers = " , ".join(map(str, range(60)))
    with Threaded(open=True, effort=Effort(20_000)) as server, httpx2.Client(base_url=server.url, timeout=30) as client:
        for id, query in (("explodes", product + never), ("product", product), ("any", f"?s <{X}price> 7")):
            asked = {"query": f"SELECT * {{ {query} }}"}
            assert client.put(f"/v1/subscriptions/{id}", json=asked).status_code == 201
        for number in range(6):
            data = f"<{X}wide{number}> {{ <{X}wide> <{X}price> {numbers} }}"
            trig = {"content-type": "application/trig"}
            assert client.post("/v1/events", content=data, headers=trig).status_code == 202
        paused = wait_for(lambda: (it := client.get("/v1/subscriptions/explodes").json())["state"] == "paused" and it)
        assert "budget" in paused["reason"]
        page = client.get("/v1/subscriptions/any/notifications").json()
        assert [each["event"] for each in page["notifications"]] == [f"{X}wide{number}" for number in range(6)]
        # What there are too many answers of is told without them, and does not stand in the way of the rest.
        page = client.get("/v1/subscriptions/product/notifications").json()
        assert ["budget" in each["failed"] for each in page["notifications"]] == [True] * 6


@pytest.mark.parametrize(
    "query",
    [
        "ASK { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }",
        "ASK { SERVICE SILENT <http://127.0.0.1/> { ?s ?p ?o } }",
        "ASK FROM <http://127.0.0.1/> { ?s ?p ?o }",
        "SELECT * FROM NAMED <file:///etc/passwd> { ?s ?p ?o }",
        "LOAD <http://127.0.0.1/>",
        "DELETE WHERE { ?s ?p ?o }",
        "DESCRIBE <http://x/>",
        "ASK { BIND(RAND() AS ?x) }",
    ],
)
def test_queries_that_ask_elsewhere_or_change_something(one: httpx2.Client, query: str) -> None:
    refused(one.put("/v1/subscriptions/s", content=query, headers=SPARQL), 400)
    refused(one.post("/v1/try", json={"query": query}), 400)
    refused(one.post("/v1/explain", json={"query": query, "data": "", "format": "ttl"}), 400)


# ------------------------------------------------------------------------------------------------- values of templates

EVIL = [
    '" } UNION { ?s ?p ?o } #', "' OR '1'='1", "\\", '\\" } {', "x\n}\n", "\u2028", "$w", "?s", "${jndi:ldap://x/}",
    "%s%n", '"@en', '"^^<e:x>', "<script>alert(1)</script>", "\x00", "\ufffe", "*", "a}b{c", "tidingsslot0", "{{7*7}}",
]  # fmt: skip


def test_a_value_stays_a_value(one: httpx2.Client) -> None:
    """Whatever is in it, it is one string; an event has to say just that to match."""
    query = f"SELECT ?s {{ ?s <{X}told> $w }}"
    assert one.put("/v1/templates/evil", json={"query": query, "parameters": {"w": "string"}}).status_code == 201
    wanted = [{"id": f"evil{n}", "parameters": {"w": each}} for n, each in enumerate(EVIL)]
    assert "problems" not in one.post("/v1/templates/evil/instances", json=wanted).json()
    for number, each in enumerate(EVIL):
        assert one.get(f"/v1/subscriptions/evil{number}").json()["parameters"] == {"w": each}
        data = json.dumps({"@id": f"{X}evil/{number}", f"{X}told": each})
        answer = one.post(
            "/v1/events?matches=own", content=data, headers={"content-type": "application/ld+json"}
        ).json()
        assert [match["subscription"] for match in answer["matches"]] == [f"evil{number}"]
    for number in range(len(EVIL)):
        one.delete(f"/v1/subscriptions/evil{number}")


def test_an_iri_with_something_in_it(one: httpx2.Client) -> None:
    one.put("/v1/templates/iri", json={"query": f"SELECT * {{ ?s <{X}p> $i }}", "parameters": {"i": "iri"}})
    for evil in (
        "e:a> ?o . ?s ?p <e:b",
        "e:a\n",
        "e:a b",
        "e:<",
        "e:\\u003e",
        "",
        "//x",
        "a",
        "_:b",
        "e:{",
        'e:"',
        "e:^`|",
    ):
        problem = refused(one.put("/v1/subscriptions/s", json={"template": "iri", "parameters": {"i": evil}}), 422)
        assert problem["detail"].startswith("parameter 'i': expected an absolute IRI")


def test_values_without_end(one: httpx2.Client) -> None:
    one.put("/v1/templates/w", json={"query": f"SELECT * {{ ?s <{X}p> $w }}", "parameters": {"w": "term"}})
    large = "x" * 70_000
    deep: Any = "x"
    for _ in range(400):
        deep = {"value": deep}
    text = '{"type":"literal","value":"x","datatype":"e:' + large + '"}'
    for value in (
        f'"{large}"',
        deep,
        [["x"] * 1_000] * 50,
        json.loads(text),
        {large: 1},
        {"type": "uri", "value": large},
    ):
        problem = refused(one.put("/v1/subscriptions/s", json={"template": "w", "parameters": {"w": value}}), 422)
        assert len(problem["detail"]) < 1_000
    headers = {"content-type": "application/json"}
    nested = '{"template":"w","parameters":{"w":' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}}"
    refused(one.put("/v1/subscriptions/s", content=nested, headers=headers), 400)
    digits = '{"template":"w","parameters":{"w":' + "9" * 100_000 + "}}"
    refused(one.put("/v1/subscriptions/s", content=digits, headers=headers), 400)
    half = '{"template":"w","parameters":{"w":"\\ud800"}}'
    refused(one.put("/v1/subscriptions/s", content=half, headers=headers), 400)
    lines = {"content-type": "application/x-ndjson"}
    refused(one.post("/v1/templates/w/instances", content=b"{}\n" * 100_000, headers=lines), 413)
    refused(one.post("/v1/templates/w/instances", content=b"[" * MIB, headers=headers), 400)
    packed = gzip.compress(b"[" + b" " * (50 * MIB) + b"]")
    refused(one.post("/v1/templates/w/instances", content=packed, headers={**headers, "content-encoding": "gzip"}), 413)
    names = {f"p{n}": "string" for n in range(5_000)}
    refused(one.put("/v1/templates/x", json={"query": "ASK {}", "parameters": names}), 400)
    many = [f"a{n}" for n in range(100)]
    query = f"SELECT * {{ ?s <{X}p> {', '.join('$' + name for name in many)} }}"
    one.put("/v1/templates/many", json={"query": query, "parameters": dict.fromkeys(many, "string")})
    wide = {"template": "many", "parameters": dict.fromkeys(many, "x" * 9_000)}
    refused(one.put("/v1/subscriptions/s", json=wide), 422)
    well(one)


def test_the_templates_of_another_tenant(one: httpx2.Client, other: httpx2.Client) -> None:
    mine = one.put(
        "/v1/templates/secret", json={"query": f"SELECT * {{ ?s <{X}secret> $x }}", "parameters": {"x": "iri"}}
    )
    tag = {"if-none-match": mine.headers["etag"]}
    item = {"id": "stolen", "parameters": {"x": "e:x"}}
    for path in ("secret", "none"):
        refused(other.get(f"/v1/templates/{path}", headers=tag), 404)
        refused(other.delete(f"/v1/templates/{path}"), 404)
        refused(other.post(f"/v1/templates/{path}/instances", json=[item]), 404)
        refused(other.put("/v1/subscriptions/s", json={"template": path, "parameters": {"x": "e:x"}}), 404)
    assert other.get("/v1/templates").json() == {"templates": []}
    own = other.put("/v1/templates/secret", json={"query": "ASK {}"})
    assert (own.status_code, own.json()["version"]) == (201, 1)
    assert one.get("/v1/templates/secret").json() == mine.json()
    other.delete("/v1/templates/secret")
    assert one.get("/v1/templates/secret").status_code == 200


# ------------------------------------------------------------------------------------------------------ paths and names


def test_path_tricks(server: Threaded, one: httpx2.Client) -> None:
    token = f"authorization: {one.headers['authorization']}\r\n"
    for path in (
        "/v1/events/../../etc/passwd", "/v1/events/%2e%2e/%2e%2e/metrics", "/v1/events/..%2f..%2fv1%2fstatus",
        "/v1/events/%00", "/v1/events/a%00b", "/v1/events/" + "a" * 50_000, "/v1/events/%ff", "/v1/events/%c0%ae",
        "/v1/events/\u00e9", "/v1/events/%ed%a0%80", "/v1/events/%", "/v1/events/%zz", "/v1/events/", "//v1/events/a",
        "/v1/subscriptions/..", "/v1/subscriptions/%2e%2e", "/v1/subscriptions/a%2fnotifications",
        "/v1/subscriptions/a%2Fb", "/v1/subscriptions/%00", "/v1/subscriptions/" + "a" * 20_000,
        "/v1/templates/..", "/v1/templates/%2e%2e", "/v1/templates/a%2finstances", "/v1/templates/a%2Fb",
        "/v1/templates/%00", "/v1/templates/" + "a" * 20_000, "/v1/templates/", "/v1/templates//instances",
        "/v1/templates/%ff", "/v1/templates/a/instances/..%2f..", "/v1/templates/a/../../subscriptions/a",
        "/v1/subscriptions/", "/v1/subscriptions//notifications", "/v1/subscriptions/%ff", "/v1/subscriptions/a/dead/1",
        "/v1/subscriptions/a/dead/..%2f..", "/console/..%2f..%2fschema.py", "/console/%2e%2e/schema.py",
        "/console/index.html%00.css", "/../../etc/passwd", "/%2e%2e/etc/passwd", "http://other/v1/status", "*", "x",
    ):  # fmt: skip
        for method in ("GET", "DELETE"):
            request = f"{method} {path} HTTP/1.1\r\nhost: x\r\n{token}connection: close\r\n\r\n"
            heard = said(server.port, request.encode())
            assert heard.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 403 ", b"HTTP/1.1 404 ", b"HTTP/1.1 405 ")), heard[
                :99
            ]
            assert b"application/problem+json" in heard
            assert b"root:" not in heard
    for id in ("..", ".", "%2e%2e", "a%2fb", "%ff", "a" * 513, "%20%0a", "%e2%80%ae"):
        request = f"PUT /v1/subscriptions/{id} HTTP/1.1\r\nhost: x\r\n{token}content-type: application/sparql-query\r\n"
        heard = said(server.port, f"{request}connection: close\r\ncontent-length: 6\r\n\r\nASK {{}}".encode())
        assert heard.startswith(b"HTTP/1.1 400 "), heard[:99]
        request = f"PUT /v1/templates/{id} HTTP/1.1\r\nhost: x\r\n{token}content-type: application/json\r\n"
        body = '{"query": "ASK {}"}'
        heard = said(server.port, f"{request}connection: close\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())
        assert heard.startswith(b"HTTP/1.1 400 "), heard[:99]


def test_a_path_does_not_send_anybody_elsewhere(server: Threaded) -> None:
    for path in ("/v1/subscriptions/", "/healthz/", "//evil.example/%2f..", "/metrics/"):
        heard = said(server.port, f"GET {path} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n".encode())
        assert b"location" not in heard.lower()
        assert heard.startswith(b"HTTP/1.1 40")


def test_a_method_cannot_be_put_in_a_header(one: httpx2.Client) -> None:
    one.put("/v1/subscriptions/s", content=CHEAP, headers=SPARQL)
    one.get("/v1/subscriptions/s", headers={"x-http-method-override": "DELETE", "x-method-override": "DELETE"})
    assert one.get("/v1/subscriptions/s?_method=DELETE").status_code == 200
    one.delete("/v1/subscriptions/s")


def test_a_limit_is_a_limit(one: httpx2.Client) -> None:
    for limit in ("0", "-1", "1001", "1e3", "0000000001000000", "9" * 30, "\u0661", "1 ", "", "1&limit=2"):
        for path in ("/v1/subscriptions", "/v1/templates", "/v1/events"):
            refused(one.get(f"{path}?limit={limit}"), 400)


# --------------------------------------------------------------------------------------------------------- other people


def test_a_tenant_sees_nothing_of_another(server: Threaded, one: httpx2.Client, other: httpx2.Client) -> None:
    secret = f"SELECT ?s {{ ?s <{X}secret> ?o }}"
    assert one.put("/v1/subscriptions/secret", json={"query": secret, "labels": {"a": "b"}}).status_code == 201
    mine = one.get("/v1/subscriptions/secret")
    event = f"<{X}s> <{X}secret> 1 ."
    published = other.post("/v1/events?matches=own", content=event, headers=TURTLE).json()
    assert published["matches"] == []
    id = published["events"][0]["id"]
    page = one.get("/v1/subscriptions/secret/notifications").json()
    assert [each["event"] for each in page["notifications"]] == [id]
    unknown = {
        path: other.request(method, f"/v1/subscriptions/none{path}", **more).text for method, path, more in ASKED
    }
    for method, path, more in ASKED:
        answer = other.request(method, f"/v1/subscriptions/secret{path}", **more)
        refused(answer, 404)
        assert answer.text == unknown[path]
    tag = mine.headers["etag"]
    refused(other.get("/v1/subscriptions/secret", headers={"if-none-match": tag}), 404)
    refused(other.delete("/v1/subscriptions/secret", headers={"if-match": tag}), 404)
    asked = other.post("/v1/explain", json={"subscription": "secret", "event": id})
    assert asked.text == other.post("/v1/explain", json={"subscription": "none", "event": id}).text
    refused(asked, 404)
    assert other.get("/v1/subscriptions").json() == {"subscriptions": []}
    assert other.get("/v1/subscriptions?after=sec&limit=1000").json() == {"subscriptions": []}
    assert [each["matches"] for each in other.get("/v1/events?limit=1").json()["events"]] == [[]]
    assert [each["matches"] for each in one.get("/v1/events?limit=1").json()["events"]] == [["secret"]]
    with other.stream("GET", "/v1/events?after=0", headers={"accept": "text/event-stream"}) as stream:
        for line in stream.iter_lines():
            assert 'secret"' not in line
            if id in line:
                break
    refused(other.get("/metrics"), 403)
    refused(other.get("/v1/status"), 403)


ASKED: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "", {}), ("DELETE", "", {}), ("GET", "/notifications", {}),
    ("GET", "/notifications?after=1-0", {}), ("POST", "/ack", {"json": {"cursor": "1-0"}}), ("POST", "/pause", {}),
    ("POST", "/resume", {}), ("GET", "/dead", {}), ("POST", "/dead/1-1", {}), ("DELETE", "/dead/1-1", {}),
]  # fmt: skip


def test_a_place_in_the_stream_of_another(one: httpx2.Client, other: httpx2.Client) -> None:
    """It is refused as one that never was."""
    for client in (one, other):
        client.put("/v1/subscriptions/same", content=ANY, headers=SPARQL)
    one.post("/v1/events", content=to_nquads(offer(301)), headers=NQUADS)
    place = one.get("/v1/subscriptions/same/notifications").json()["cursor"]
    never = f"999999-{place.partition('-')[2]}"
    stream = {"accept": "text/event-stream"}
    told = {
        cursor: [
            refused(answer, 404, 410)["detail"].replace(cursor, "it")
            for answer in (
                other.get("/v1/subscriptions/same/notifications", params={"after": cursor}),
                other.get("/v1/subscriptions/same/notifications", headers={**stream, "last-event-id": cursor}),
                other.post("/v1/subscriptions/same/ack", json={"cursor": cursor}),
                other.post(f"/v1/subscriptions/same/dead/{cursor}"),
                other.delete(f"/v1/subscriptions/same/dead/{cursor}"),
            )
        ]
        for cursor in (place, never)
    }
    assert told[place] == told[never]
    for client in (one, other):
        client.delete("/v1/subscriptions/same")


def test_another_tenants_letters_are_not_sent_or_forgotten(one: httpx2.Client, other: httpx2.Client) -> None:
    for client in (one, other):
        client.put("/v1/subscriptions/hook", json={"query": ANY, "webhook": "http://10.0.0.1/"})
    one.post("/v1/events", content=to_nquads(offer(302)), headers=NQUADS)
    letter = wait_for(lambda: one.get("/v1/subscriptions/hook/dead").json()["dead"])[0]
    refused(other.delete(f"/v1/subscriptions/hook/dead/{letter['cursor']}"), 404)
    refused(other.post(f"/v1/subscriptions/hook/dead/{letter['cursor']}"), 404)
    assert one.get("/v1/subscriptions/hook/dead").json()["dead"] == [letter]
    assert (
        one.get("/v1/subscriptions/hook").json()["webhook_secret"]
        != (other.get("/v1/subscriptions/hook").json()["webhook_secret"])
    )
    for client in (one, other):
        client.delete("/v1/subscriptions/hook")


# ------------------------------------------------------------------------------------------------------------- browsers

SCRIPT = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>]]>&lt;"


def test_what_looks_like_a_page_stays_data(one: httpx2.Client) -> None:
    text = SCRIPT.replace('"', '\\"')
    data = f'<{X}%3Cscript%3E> <{X}says> "{text}" . <{X}%3Cscript%3E> <{X}see> <javascript:alert(1)> .'
    id = one.post("/v1/events", content=data, headers=TURTLE).json()["events"][0]["id"]
    one.put("/v1/subscriptions/%3Cscript%3Ealert(1)%3C%2Fscript%3E".replace("%2F", ""), content=CHEAP, headers=SPARQL)
    asked = {"query": f"SELECT * {{ ?s <{X}says> ?o ; <{X}see> ?t }}", "event": id}
    picture = one.post("/v1/explain", json=asked, headers={"accept": "image/svg+xml"})
    assert picture.headers["content-type"] == "image/svg+xml"
    assert "sandbox" in picture.headers["content-security-policy"]
    assert "<script>alert" not in picture.text
    for element in ElementTree.fromstring(picture.text).iter():
        assert element.tag.rpartition("}")[2] not in ("script", "foreignObject", "iframe", "image", "use", "a")
        for name, value in element.attrib.items():
            assert not name.rpartition("}")[2].startswith("on")
            assert "javascript:" not in value.lower() or name.rpartition("}")[2] not in ("href", "src", "to", "values")
    for path in ("/v1/subscriptions", "/v1/events", f"/v1/events/{id}"):
        answer = one.get(path)
        assert "html" not in answer.headers["content-type"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    wrong = one.get("/v1/subscriptions?limit=%3Cscript%3E")
    assert (wrong.headers["content-type"], wrong.headers["x-content-type-options"]) == (
        "application/problem+json",
        "nosniff",
    )


def test_the_console_trusts_nobody_else(one: httpx2.Client) -> None:
    page = one.get("/")
    policy = dict(part.strip().partition(" ")[::2] for part in page.headers["content-security-policy"].split(";"))
    assert (policy["default-src"], policy["script-src"]) == ("'none'", "'self'")
    assert (policy["frame-ancestors"], policy["base-uri"], policy["form-action"]) == ("'none'",) * 3
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cross-origin-resource-policy"] == "same-origin"
    assert "unsafe" not in page.headers["content-security-policy"]
    script = one.get("/console/console.js").text
    assert "innerHTML" not in script
    assert "eval(" not in script


WRITES: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/v1/events", {"content": to_nquads(offer(401)), "headers": NQUADS}),
    ("PUT", "/v1/subscriptions/s", {"content": CHEAP, "headers": SPARQL}),
    ("DELETE", "/v1/subscriptions/s", {}),
    ("POST", "/v1/subscriptions/s/pause", {}),
    ("PUT", "/v1/ontology", {"content": "", "headers": TURTLE}),
    ("DELETE", f"/v1/events/{X}a", {}),
]


@pytest.mark.parametrize(
    "browser",
    [{"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
     {"sec-fetch-site": "same-site"}, {"origin": "http://127.0.0.1:1"}, {"origin": "http://127.0.0.1.evil.example"}],
)  # fmt: skip
def test_a_page_of_another_origin_cannot_change_anything(let_in: Threaded, browser: dict[str, str]) -> None:
    with httpx2.Client(base_url=let_in.url) as client:
        for method, path, more in WRITES:
            headers = {**more.get("headers", {}), **browser}
            refused(client.request(method, path, content=more.get("content"), headers=headers), 403)
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
            refused(client.post("/v1/try", content=b'{"query": "ASK {}"}', headers={"content-type": kind}), 415)
        answer = client.options("/v1/events", headers={**browser, "access-control-request-method": "POST"})
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        answer = client.get("/v1/events", headers=browser)
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_its_own_page_can(let_in: Threaded) -> None:
    with httpx2.Client(base_url=let_in.url) as client:
        for browser in ({"origin": let_in.url, "sec-fetch-site": "same-origin"}, {"origin": let_in.url}):
            answer = client.put("/v1/subscriptions/s", content=CHEAP, headers={**SPARQL, **browser})
            assert answer.status_code in (200, 201)


def test_a_name_that_stands_for_loopback_since_a_moment_ago(let_in: Threaded) -> None:
    """DNS rebinding: the browser thinks that it asks the page's own server."""
    for host in ("evil.example", f"evil.example:{let_in.port}", "127.0.0.1.evil.example", "localhost.evil.example", "",
                 "x@127.0.0.1:1@evil.example", "[::1", "127.0.0.1, evil.example"):  # fmt: skip
        for method in ("GET", "POST"):
            request = f"{method} /v1/events HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
            heard = said(let_in.port, request.encode())
            assert heard.startswith((b"HTTP/1.1 421 ", b"HTTP/1.1 400 ")), (host, heard[:99])
    for host in ("127.0.0.1", f"localhost:{let_in.port}", "[::1]:1", "LOCALHOST", "tidings.localhost"):
        request = f"GET /v1/events HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
        assert said(let_in.port, request.encode()).startswith(b"HTTP/1.1 200 "), host


def test_after_all_of_this_it_works(one: httpx2.Client, other: httpx2.Client) -> None:
    well(one)
    well(other)


def wait_for(found: Any, seconds: float = 20.0) -> Any:
    """What it gives, as soon as it gives something."""
    end = time.monotonic() + seconds
    while not (it := found()):
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.02)
    return it
