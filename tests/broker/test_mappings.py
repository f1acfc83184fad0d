"""Mappings that are left at a server, and data that is published with them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner
from tests.broker.samples import MAPPINGS, X
from tests.broker.threaded import Threaded

from tidings.broker import schema
from tidings.broker.client import AsyncClient, Client
from tidings.broker.core import Core
from tidings.broker.http.service import Bounds
from tidings.broker.mappings import Mappings
from tidings.broker.retention import Retention
from tidings.cli.app import app
from tidings.errors import BrokerError, ClientError

TURTLE, CSVM, CONTEXT = "text/turtle", "application/csvm+json", "application/ld+json"
OF_CSV, OF_JSON, OF_XML = MAPPINGS[TURTLE]


@pytest.fixture
def server() -> Iterator[Threaded]:
    with Threaded(open=True) as made:
        yield made


@pytest.fixture
def http(server: Threaded) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url) as made:
        yield made


def put(http: httpx2.Client, id: str, text: str, kind: str = TURTLE, **headers: str) -> httpx2.Response:
    return http.put(f"/v1/mappings/{id}", content=text, headers={"content-type": kind, **headers})


def published(http: httpx2.Client, body: str, kind: str, query: str) -> list[str]:
    answer = http.post(f"/v1/events?{query}", content=body, headers={"content-type": kind})
    assert answer.status_code == 202, answer.text
    ids = [each["id"] for each in answer.json()["events"]]
    events = [http.get(f"/v1/events/{id}", headers={"accept": "application/n-triples"}).text for id in ids]
    return [line for event in events for line in event.splitlines()]


def test_from_first_to_last(http: httpx2.Client) -> None:
    made = put(http, "offers", OF_CSV)
    assert (made.status_code, made.headers["location"]) == (201, "/v1/mappings/offers")
    told = made.json()
    assert told.pop("created")
    assert told == {"id": "offers", "kind": TURTLE, "bytes": len(OF_CSV)}
    again = put(http, "offers", OF_CSV)
    assert (again.status_code, again.json()) == (200, made.json())
    found = http.get("/v1/mappings/offers")
    assert (found.text, found.headers["content-type"]) == (OF_CSV, TURTLE)
    tag = found.headers["etag"]
    assert tag == made.headers["etag"]
    assert http.get("/v1/mappings/offers", headers={"if-none-match": tag}).status_code == 304
    assert put(http, "offers", OF_JSON, **{"if-none-match": "*"}).status_code == 412
    other = put(http, "offers", OF_JSON, **{"if-match": tag})
    assert other.status_code == 200
    assert http.delete("/v1/mappings/offers", headers={"if-match": tag}).status_code == 412
    assert http.delete("/v1/mappings/offers").status_code == 204
    assert [http.request(each, "/v1/mappings/offers").status_code for each in ("GET", "DELETE")] == [404, 404]
    entries = [each["what"] for each in http.get("/v1/audit").json()["entries"]]
    assert entries == ["delete mapping", "define mapping", "define mapping"]


def test_pages(http: httpx2.Client) -> None:
    for id in "cab":
        put(http, id, OF_CSV)
    first = http.get("/v1/mappings?limit=2").json()
    assert [each["id"] for each in first["mappings"]] == ["a", "b"]
    assert [each["id"] for each in http.get(first["next"]).json()["mappings"]] == ["c"]


@pytest.mark.parametrize(
    ("kind", "text", "media_type", "body", "query"),
    [
        (TURTLE, OF_CSV, "text/csv", "id,price\n7,5\n", ""),
        (TURTLE, OF_CSV, "text/tab-separated-values", "id\tprice\n7\t5\n", ""),
        (TURTLE, OF_JSON, "application/json", '{"offers": [{"id": 7, "price": "5"}]}', "as=json&"),
        (TURTLE, OF_XML, "application/xml", '<offers><offer id="7"><price>5</price></offer></offers>', "as=xml&"),
        (CSVM, MAPPINGS[CSVM][0], "text/csv", "id,price\n7,5\n", ""),
        (CONTEXT, MAPPINGS[CONTEXT][0], "application/json", '[{"id": "7", "price": "5"}]', "as=json&"),
    ],
)
def test_published_with(http: httpx2.Client, kind: str, text: str, media_type: str, body: str, query: str) -> None:
    assert put(http, "m", text, kind).status_code == 201
    lines = published(http, body, media_type, f"{query}mapping=m")
    assert any(line.startswith(f'<{X}7> <{X}price> "5"') for line in lines)


def test_classes_and_home_beside_it(http: httpx2.Client) -> None:
    put(http, "m", OF_CSV)
    lines = published(http, "id,price\n7,5\n", "text/csv", f"mapping=m&home=true&class={X}More")
    assert f"<{X}More>" in " ".join(lines)
    assert not any(line.startswith("<") for line in lines)


def test_what_does_not_go_together(http: httpx2.Client) -> None:
    put(http, "m", OF_CSV)
    put(http, "j", OF_JSON)
    put(http, "c", MAPPINGS[CONTEXT][0], CONTEXT)
    csv = "id,price\n7,5\n"
    for query, kind, body, status in (
        ("mapping=none", "text/csv", csv, 404),
        ("mapping=", "text/csv", csv, 404),
        ("mapping=m", "text/turtle", "", 422),
        ("mapping=m", "text/html", "<p>", 422),
        ("mapping=m&key=id", "text/csv", csv, 422),
        ("mapping=m&as=json", "application/json", "{}", 422),
        ("mapping=j&as=json&record=$.x", "application/json", "{}", 422),
        ("mapping=c", "text/csv", csv, 422),
        ("mapping=m", "text/csv", "other\n1\n", 422),
    ):
        answer = http.post(f"/v1/events?{query}", content=body, headers={"content-type": kind})
        assert answer.status_code == status, (query, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"


def test_what_is_wrong_is_told_with_its_place(http: httpx2.Client) -> None:
    for kind, text, status, line in (
        (TURTLE, OF_CSV + "\n:x :y", 400, 7),
        (CSVM, "{\n  x", 400, 2),
        (CONTEXT, "{\n\n  x", 400, 3),
        (TURTLE, "\ufeff\udcff", 400, None),
        (TURTLE, f"<{X}a> <{X}b> <{X}c> .", 422, None),
        (TURTLE, OF_CSV.replace("{id}", "{id"), 422, None),
        (TURTLE, OF_JSON.replace("$.offers[*]", "$..offers"), 422, None),
        (TURTLE, OF_XML.replace("{@id}", "{../@id}"), 422, None),
        (TURTLE, OF_CSV.replace('"price"', '"price" ; rr:language "e n"'), 422, None),
        (CSVM, '{"tableSchema": "http://127.0.0.1/x"}', 422, None),
        (CSVM, '{"tableSchema": {"columns": 5}}', 422, None),
        (CSVM, "[" * 100_000, 422, None),
        (CONTEXT, '{"@context": "http://127.0.0.1/x"}', 422, None),
        (CONTEXT, "[" * 100_000, 422, None),
        ("text/csv", "a", 415, None),
    ):
        answer = http.put(
            "/v1/mappings/m", content=text.encode("utf-8", "surrogateescape"), headers={"content-type": kind}
        )
        assert (answer.status_code, answer.json().get("line")) == (status, line), answer.text
    assert http.get("/v1/mappings/m").status_code == 404
    assert http.put("/v1/mappings/a%2Fb", content=OF_CSV, headers={"content-type": TURTLE}).status_code == 400


def test_who_may() -> None:
    with Threaded() as server, httpx2.Client(base_url=server.url) as http:
        admin, publisher, reader = (server.token("a", each) for each in ("admin", "publish", "subscribe"))
        other = server.token("b", "publish")
        assert put(http, "m", OF_CSV, **publisher).status_code == 403
        assert put(http, "m", OF_CSV, **admin).status_code == 201
        csv = {"content": "id,price\n7,5\n"}
        statuses = [
            http.post("/v1/events?mapping=m", headers={**who, "content-type": "text/csv"}, **csv).status_code
            for who in (publisher, other, reader)
        ]
        assert statuses == [202, 404, 403]
        assert http.get("/v1/mappings/m", headers=other).status_code == 404
        assert http.get("/v1/mappings", headers=other).json() == {"mappings": []}
        assert http.get("/v1/mappings/m", headers=publisher).status_code == 200
        assert http.delete("/v1/mappings/m", headers=publisher).status_code == 403


def test_one_that_is_too_large() -> None:
    with Threaded(open=True, bounds=Bounds(query=100)) as server, httpx2.Client(base_url=server.url) as http:
        assert put(http, "m", OF_CSV).status_code == 413


def test_the_client(server: Threaded) -> None:
    with Client(server.url) as client:
        assert client.mapping("m", OF_CSV.encode())["kind"] == TURTLE
        assert list(client.mappings()) == ["m"]
        assert client.mapping_text("m")
        done = client.publish(b"id,price\n7,5\n", "text/csv", {"mapping": "m"})
        assert len(done["events"]) == 1
        client.remove_mapping("m")
        with pytest.raises(ClientError, match="no such mapping"):
            client.remove_mapping("m")


def test_the_same_for_asyncio(server: Threaded) -> None:
    async def run() -> None:
        async with AsyncClient(server.url) as client:
            await client.mapping("m", MAPPINGS[CSVM][0].encode(), CSVM)
            assert list(await client.mappings()) == ["m"]
            assert await client.mapping_text("m") == MAPPINGS[CSVM][0].encode()
            done = await client.publish(b"id,price\n7,5\n", "text/csv", {"mapping": "m"})
            assert len(done["events"]) == 1
            await client.remove_mapping("m")
            assert await client.mappings() == {}

    asyncio.run(run())


def test_the_command_line(server: Threaded, tmp_path: Path) -> None:
    def run(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, ["mapping", *arguments, "--url", server.url])
        assert result.exit_code == code, result.output
        return result.stdout if code == 0 else result.stderr

    file = tmp_path / "shops.json"
    file.write_text(MAPPINGS[CSVM][0])
    assert "say what it is, with --kind" in run(str(file), code=2)
    assert json.loads(run(str(file), "--kind", "csvw"))["id"] == "shops"
    assert [json.loads(line)["kind"] for line in run("--list").splitlines()] == [CSVM]
    assert run("--show", "shops") == MAPPINGS[CSVM][0]
    wrong = tmp_path / "wrong.ttl"
    wrong.write_text("@prefix rml: <http://w3id.org/rml/> .\n<#a> rml:x .\n")
    assert "line 2, column 12" in run(str(wrong), code=2)
    assert run("--remove", "shops") == run("--list") == ""
    assert "one of FILE" in run(code=2)
    assert "go with FILE" in run("--list", "--id", "x", code=2)


def test_they_stay_and_are_looked_after(tmp_path: Path) -> None:
    core = Core(tmp_path, None, Retention())
    Mappings(core).put("", "m", TURTLE, b"text").result()
    core.close()
    core = Core(tmp_path, None, Retention())
    found = Mappings(core).find("", "m")
    assert found is not None
    assert found.text == b"text"
    core.close()
    with closing(sqlite3.connect(next(tmp_path.glob("*.sqlite*")))) as database:
        database.create_function("tidings_sum", -1, lambda *_: 5)
        database.execute("UPDATE mappings SET text = x'00'")
        database.commit()
    with pytest.raises(BrokerError):
        Core(tmp_path, None, Retention())


def test_a_broker_of_before_gets_them() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.create_function("tidings_sum", -1, schema.checksum, deterministic=True)
        for migration in schema.MIGRATIONS[:7]:
            migration(database)
        database.execute(f"PRAGMA application_id = {schema.APPLICATION}")
        database.execute("PRAGMA user_version = 7")
        schema.prepare(database, "old")
        assert database.execute("SELECT count(*) FROM mappings").fetchone() == (0,)
        schema.check(database)
