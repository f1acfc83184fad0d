"""Templates over HTTP, by the clients, and on the command line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner
from tests.broker.threaded import Threaded
from tests.unit.broker.offers import X, ids, offer

from tidings.broker import instances
from tidings.broker.client import AsyncClient, Client
from tidings.broker.http.service import Bounds
from tidings.cli.app import app
from tidings.errors import ClientError
from tidings.rdf.event import to_nquads

UNDER = f"SELECT ?pc {{ ?pc <{X}price> ?p FILTER(?p < $most) }}"
TEMPLATE = {"query": UNDER, "parameters": {"most": "number"}}
KEPT = {"query": UNDER, "dialect": "sparql", "parameters": {"most": {"kind": "number"}}}
NDJSON = {"content-type": "application/x-ndjson"}
NQUADS = {"content-type": "application/n-quads"}


@pytest.fixture
def server() -> Iterator[Threaded]:
    with Threaded(open=True) as made:
        yield made


@pytest.fixture
def http(server: Threaded) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, timeout=30) as made:
        yield made


def test_put_get_delete(http: httpx2.Client) -> None:
    made = http.put("/v1/templates/under", json=TEMPLATE)
    assert (made.status_code, made.headers["location"]) == (201, "/v1/templates/under")
    told = made.json()
    assert told.pop("created")
    version = told["version"]
    assert told == {"id": "under", "version": version, "complexity": told["complexity"], **KEPT}
    again = http.put("/v1/templates/under", json={**TEMPLATE, "dialect": "sparql"})
    assert (again.status_code, again.json()["version"]) == (200, version)
    found = http.get("/v1/templates/under")
    assert found.json() == again.json()
    assert http.get("/v1/templates/under", headers={"if-none-match": found.headers["etag"]}).status_code == 304
    other = http.put("/v1/templates/under", json={**TEMPLATE, "description": "Under a price."})
    assert (other.status_code, other.json()["version"]) == (200, version + 1)
    assert other.headers["etag"] != found.headers["etag"]
    assert http.delete("/v1/templates/under", headers={"if-match": found.headers["etag"]}).status_code == 412
    assert http.delete("/v1/templates/under", headers={"if-match": other.headers["etag"]}).status_code == 204
    assert [http.request(m, "/v1/templates/under").status_code for m in ("GET", "DELETE")] == [404, 404]


def test_conditions(http: httpx2.Client) -> None:
    assert http.put("/v1/templates/t", json=TEMPLATE, headers={"if-match": "*"}).status_code == 412
    assert http.put("/v1/templates/t", json=TEMPLATE, headers={"if-none-match": "*"}).status_code == 201
    assert http.put("/v1/templates/t", json=TEMPLATE, headers={"if-none-match": "*"}).status_code == 412
    assert http.put("/v1/templates/t", json=TEMPLATE, headers={"if-match": '"1-2"'}).status_code == 412


def test_pages(http: httpx2.Client) -> None:
    for id in ("b", "a", "c", "é/x".replace("/", " ")):
        http.put(f"/v1/templates/{id}", json=TEMPLATE).raise_for_status()
    first = http.get("/v1/templates?limit=2").json()
    assert [each["id"] for each in first["templates"]] == ["a", "b"]
    second = http.get(first["next"]).json()
    assert [each["id"] for each in second["templates"]] == ["c", "é x"]
    assert http.get(second["next"]).json() == {"templates": []}


def test_what_is_wrong_is_told_with_its_place(http: httpx2.Client) -> None:
    answer = http.put("/v1/templates/t", json={"query": "SELECT ?x\nWHERE { ?x ?p }", "parameters": {}})
    assert (answer.status_code, answer.json()["line"], answer.json()["column"]) == (400, 2, 15)
    answer = http.put("/v1/templates/t", json={**TEMPLATE, "parameters": {}})
    assert (answer.status_code, answer.json()["column"]) == (422, UNDER.index("$") + 1)
    assert answer.json()["detail"] == "there is no parameter 'most'"
    assert http.put("/v1/templates/t", json={**TEMPLATE, "colour": 1}).status_code == 400
    assert http.put("/v1/templates/t", json={**TEMPLATE, "parameters": {"most": "int"}}).status_code == 400
    assert http.put("/v1/templates/t", content=UNDER).status_code == 415
    assert http.get("/v1/templates/t").status_code == 404


def test_a_subscription_of_a_template(http: httpx2.Client) -> None:
    http.put("/v1/templates/under", json=TEMPLATE)
    body = {"template": "under", "parameters": {"most": 400}, "payload": "ids", "labels": {"a": "b"}}
    made = http.put("/v1/subscriptions/cheap", json=body)
    assert made.status_code == 201
    told = made.json()
    assert told["query"] == UNDER.replace("$most", "400")
    assert {name: told[name] for name in body} == body
    assert told["template_version"] == http.get("/v1/templates/under").json()["version"]
    assert http.get("/v1/subscriptions/cheap").json() == told
    assert told in http.get("/v1/subscriptions").json()["subscriptions"]
    again = http.put("/v1/subscriptions/cheap", json=body)
    assert (again.status_code, again.json()["version"], again.headers["etag"]) == (200, 1, made.headers["etag"])
    http.post("/v1/events", content=to_nquads(offer(1, 390)), headers=NQUADS).raise_for_status()
    page = http.get("/v1/subscriptions/cheap/notifications").json()
    assert [each["event"] for each in page["notifications"]] == ids(1)
    said = http.post("/v1/explain", json={"subscription": "cheap", "event": ids(1)[0]}).json()
    assert said["matches"] is True


def test_what_is_no_subscription_of_a_template(http: httpx2.Client) -> None:
    http.put("/v1/templates/under", json=TEMPLATE)
    for body, status, detail in (
        ({"template": "none"}, 404, "there is no such template"),
        ({"template": 5}, 404, "there is no such template"),
        ({"template": "under"}, 422, "parameter 'most' is missing"),
        ({"template": "under", "parameters": {"most": "x"}}, 422, "parameter 'most': expected a number, found 'x'"),
        ({"template": "under", "parameters": {"most": None}}, 422, "parameter 'most': expected a number, found null"),
        ({"template": "under", "parameters": {"most": 1, "x": 1}}, 422, "there is no parameter 'x'"),
        ({"template": "under", "parameters": [1]}, 400, "'parameters' should be an object"),
        ({"template": "under", "parameters": {"most": 1}, "query": UNDER}, 400, "there is no option 'query'"),
        ({"template": "under", "parameters": {"most": 1}, "template_version": 1}, 400, "there is no option"),
        ({"query": UNDER, "parameters": {"most": 1}}, 400, "there is no option 'parameters'"),
    ):
        answer = http.put("/v1/subscriptions/s", json=body)
        assert answer.status_code == status, answer.text
        assert answer.json()["detail"].startswith(detail)
    assert http.get("/v1/subscriptions/s").status_code == 404


@pytest.mark.parametrize("lines", [False, True])
def test_many_at_once(http: httpx2.Client, lines: bool) -> None:
    http.put("/v1/templates/under", json=TEMPLATE)
    items: list[Any] = [{"id": f"s{n}", "parameters": {"most": n}, "payload": "ids"} for n in range(1_000)]
    items[3:3] = [5, {"id": "x"}, {"id": "s0", "parameters": {"most": 5}}, {"id": "y", "parameters": {"most": "z"}}]
    items.append({"id": "w", "parameters": {"most": 5}, "payload": None})
    if lines:
        body = "\n".join(map(json.dumps, items)).encode() + b"\n\n{not json\n"
        answer = http.post("/v1/templates/under/instances", content=body, headers=NDJSON)
    else:
        answer = http.post("/v1/templates/under/instances", json=items)
    assert answer.status_code == 200
    told = answer.json()
    assert [each["id"] for each in told["subscriptions"]] == [f"s{n}" for n in range(1_000)]
    assert all(each["new"] for each in told["subscriptions"])
    wrong = [(each["item"], each["status"]) for each in told["problems"]]
    assert wrong == [(4, 400), (5, 422), (6, 400), (7, 422), (1_005, 400), *([(1_007, 400)] if lines else [])]
    again = http.post("/v1/templates/under/instances", json=items[:2]).json()
    assert again == {"subscriptions": [{"id": f"s{n}", "version": 1, "new": False} for n in (0, 1)]}
    http.post("/v1/events", content=to_nquads(offer(7, 990)), headers=NQUADS).raise_for_status()
    matched = http.get("/v1/events?limit=1").json()["events"][0]["matches"]
    assert sorted(matched) == [f"s{n}" for n in range(991, 1_000)]


def test_many_of_which_none_can_be(http: httpx2.Client) -> None:
    http.put("/v1/templates/under", json=TEMPLATE)
    path = "/v1/templates/under/instances"
    answer = http.post(path, json=[{"id": "a"}, 5])
    assert (answer.status_code, len(answer.json()["problems"])) == (422, 2)
    for body in ({}, [], "x", 5):
        assert http.post(path, json=body).status_code == 400
    for text in (b"", b"\n\n", b"[", b"\xff"):
        assert http.post(path, content=text, headers=NDJSON).status_code == 400
    assert http.post(path, content=b"[]", headers={"content-type": "text/csv"}).status_code == 415
    assert http.post("/v1/templates/none/instances", json=[{"id": "a"}]).status_code == 404
    too_many = [{"id": str(n), "parameters": {"most": 1}} for n in range(instances.AT_ONCE + 1)]
    assert http.post(path, json=too_many).status_code == 413
    assert http.get("/v1/subscriptions").json() == {"subscriptions": []}


def test_what_is_too_complex() -> None:
    with Threaded(open=True, bounds=Bounds(complexity=120)) as server, httpx2.Client(base_url=server.url) as http:
        query = f"SELECT * {{ ?s <{X}p> ?t FILTER ftcontains(?t, $w) }}"
        assert http.put("/v1/templates/t", json={"query": query, "parameters": {"w": "words"}}).status_code == 201
        regexes = "".join(f'FILTER regex(?o, "a{n}") ' for n in range(20))
        large = {"query": f"SELECT * {{ ?s ?p ?o, $w {regexes} }}", "parameters": {"w": "string"}}
        answer = http.put("/v1/templates/large", json=large)
        assert (answer.status_code, answer.json()["limit"]) == (422, 120)
        words = {"w": "w " * 200}
        answer = http.put("/v1/subscriptions/s", json={"template": "t", "parameters": words})
        assert (answer.status_code, answer.json()["limit"]) == (422, 120)
        [problem] = http.post(
            "/v1/templates/t/instances", json=[{"id": "a", "parameters": words}, {"id": "b", "parameters": {"w": "w"}}]
        ).json()["problems"]
        assert (problem["item"], problem["status"], problem["limit"]) == (1, 422, 120)


# -------------------------------------------------------------------------------------------------------------- clients


def test_the_client(server: Threaded, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.broker.client._AT_ONCE", 3)
    with Client(server.url) as client:
        version = client.template("t", UNDER, {"most": "number"}, description="Under.")["version"]
        assert client.templates()["t"]["description"] == "Under."
        standing = client.subscribe("one", template="t", parameters={"most": 5})
        assert (standing["parameters"], standing["template_version"]) == ({"most": 5}, version)
        rows = [{"id": f"s{n}", "parameters": {"most": "x" if n in (3, 4, 5, 7) else n}} for n in range(9)]
        done = client.subscribe_many("t", iter(rows))
        assert [each["id"] for each in done["subscriptions"]] == ["s0", "s1", "s2", "s6", "s8"]
        assert [each["item"] for each in done["problems"]] == [4, 5, 6, 8]
        client.remove_template("t")
        with pytest.raises(ClientError, match="no such template"):
            client.subscribe_many("t", rows)


def test_the_same_for_asyncio(server: Threaded, http: httpx2.Client) -> None:
    async def run() -> None:
        async with AsyncClient(server.url) as client:
            await client.template("t", UNDER, {"most": "number"})
            assert list(await client.templates()) == ["t"]
            await client.subscribe("one", template="t", parameters={"most": 5})
            rows = [{"id": "a", "parameters": {"most": 1}}, {"id": "b", "parameters": {}}]
            done = await client.subscribe_many("t", rows)
            assert ([each["id"] for each in done["subscriptions"]], len(done["problems"])) == (["a"], 1)
            await client.remove_template("t")
            assert await client.templates() == {}

    asyncio.run(run())


# --------------------------------------------------------------------------------------------------------- command line


def tidings(*arguments: object, code: int = 0) -> tuple[list[dict[str, Any]], str]:
    done = CliRunner().invoke(app, [str(each) for each in arguments], prog_name="tidings")
    assert done.exit_code == code, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_the_commands(tmp_path: Path, server: Threaded) -> None:
    (tmp_path / "under.rq").write_text(UNDER)
    (tmp_path / "under.json").write_text(json.dumps(TEMPLATE))
    (tmp_path / "rows.csv").write_text("id,most\na,400\nb,nonsense\nc,500\nd,\n")
    (tmp_path / "rows.ndjson").write_text(
        '{"id": "e", "most": 600}\n{"id": "f", "parameters": {"most": 700}, "options": {"payload": "ids"}}\n'
    )
    url = ("--url", server.url)
    [made], _ = tidings("template", tmp_path / "under.rq", "--parameter", "most=number", *url)
    assert (made["id"], made["version"], made["parameters"]) == ("under", 1, {"most": {"kind": "number"}})
    [again], _ = tidings("template", tmp_path / "under.json", *url)
    assert again["version"] == 1
    [one], _ = tidings("subscribe", "--template", "under", "--id", "s", "--parameter", "most=9", "--ttl", "1h", *url)
    assert (one["id"], one["parameters"], one["ttl"]) == ("s", {"most": "9"}, 3600)
    done, said = tidings("subscribe", "--template", "under", "--instances", tmp_path / "rows.csv", *url, code=1)
    assert [each["id"] for each in done] == ["a", "c"]
    assert "rows.csv:3: subscription 'b': parameter 'most': expected a number, found 'nonsense'" in said
    assert "rows.csv:5: subscription 'd': parameter 'most' is missing" in said
    done, _ = tidings("subscribe", "--template", "under", "--instances", tmp_path / "rows.ndjson", *url)
    assert [each["id"] for each in done] == ["e", "f"]
    _, said = tidings("subscribe", "--template", "none", "--parameter", "most=9", *url, code=2)
    assert "there is no such template" in said
    assert [each["id"] for each in tidings("template", "--list", *url)[0]] == ["under"]
    assert tidings("template", "--remove", "under", *url)[0] == []
    assert tidings("template", "--list", *url)[0] == []


def test_written_out_without_a_server(tmp_path: Path) -> None:
    (tmp_path / "under.rq").write_text(UNDER)
    (tmp_path / "rows.csv").write_text('id,most,options\na,400,\nb,x,\nc,5e2,"{""payload"": ""ids""}"\n')
    done, said = tidings(
        "template", tmp_path / "under.rq", "--parameter", "most=number", "--write-out", tmp_path / "rows.csv", code=1
    )
    assert [each["id"] for each in done] == ["a", "c"]
    assert done[1]["options"] == {"payload": "ids"}
    assert "rows.csv:3: subscription 'b': parameter 'most'" in said
    (tmp_path / "subs.ndjson").write_text("\n".join(map(json.dumps, done)))
    (tmp_path / "offer.nq").write_bytes(to_nquads(offer(1, 450)))
    matches, _ = tidings("match", tmp_path / "subs.ndjson", tmp_path / "offer.nq")
    assert [each["subscription"] for each in matches] == ["c"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["subscribe"],
        ["subscribe", "FILE", "--template", "x"],
        ["subscribe", "FILE", "--id", "x"],
        ["subscribe", "--template", "x", "--instances", "FILE", "--id", "y"],
        ["subscribe", "--template", "x", "--parameter", "nonsense"],
        ["template"],
        ["template", "FILE", "--list"],
        ["template", "--list", "--parameter", "a=iri"],
        ["template", "FILE", "--parameter", "a=nonsense"],
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: list[str]) -> None:
    file = tmp_path / "a.rq"
    file.write_text("SELECT * { ?x <e:p> $a }")
    given = [str(file) if each == "FILE" else each for each in arguments]
    result = CliRunner().invoke(app, [*given, "--url", "http://127.0.0.1:1"])
    assert result.exit_code == 2
    assert "cannot be reached" not in result.stderr
