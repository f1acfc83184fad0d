"""The broker over HTTP: what is asked, and what is answered."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.unit.broker.endpoint import Receiver
from tests.unit.broker.offers import ANY, CHEAP, X, ids, offer

from tidings.broker import tokens
from tidings.broker.core import Core
from tidings.broker.hooks import Patience
from tidings.broker.http.app import application
from tidings.broker.http.service import Bounds
from tidings.broker.knowledge import Knowledge
from tidings.broker.retention import Retention
from tidings.rdf.event import to_nquads

SPARQL = {"content-type": "application/sparql-query"}
NQUADS = {"content-type": "application/n-quads"}


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    made = Core(tmp_path, None, Retention())
    yield made
    made.close()


@pytest.fixture
def client(core: Core) -> Iterator[TestClient]:
    with TestClient(application(core, open=True, bounds=Bounds(body=1 << 16, query=1 << 12))) as made:
        yield made


def subscribe(client: TestClient, id: str, query: str = CHEAP) -> None:
    assert client.put(f"/v1/subscriptions/{id}", content=query, headers=SPARQL).status_code == 201


def publish(client: TestClient, *numbers: int, price: int = 100) -> None:
    data = b"".join(to_nquads(offer(number, price)) for number in numbers)
    answer = client.post("/v1/events", content=data, headers=NQUADS)
    assert (answer.status_code, answer.json()) == (202, {"events": [{"id": id} for id in ids(*numbers)]})


def told(client: TestClient, id: str, **query: str) -> list[str]:
    answer = client.get(f"/v1/subscriptions/{id}/notifications", params=query)
    assert answer.status_code == 200, answer.text
    return [each["event"] for each in answer.json()["notifications"]]


# --------------------------------------------------------------------------------------------------------------- events


def test_publish_and_be_told(client: TestClient) -> None:
    subscribe(client, "cheap")
    publish(client, 1, 2)
    publish(client, 3, price=900)
    [first, _] = client.get("/v1/subscriptions/cheap/notifications").json()["notifications"]
    assert first["event"] == ids(1)[0]
    assert first["bindings"] == [{"pc": {"type": "uri", "value": f"{X}pc1"}}]
    assert told(client, "cheap") == ids(1, 2)


def test_matches_of_ones_own(client: TestClient) -> None:
    subscribe(client, "cheap")
    answer = client.post("/v1/events?matches=own", content=to_nquads(offer(1)), headers=NQUADS).json()
    assert [each["subscription"] for each in answer["matches"]] == ["cheap"]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("text/turtle", f"<{X}a> <{X}price> 1 ."),
        ("application/trig", f"<{X}g> {{ <{X}a> <{X}price> 1 }}"),
        ("application/ld+json", json.dumps({"@id": f"{X}a", f"{X}price": 1})),
        (
            "application/cloudevents+json",
            json.dumps(
                {
                    "specversion": "1.0",
                    "id": "1",
                    "source": "/s",
                    "type": "t",
                    "time": "2026-05-01T12:00:00Z",
                    "datacontenttype": "text/turtle",
                    "data": f"<{X}a> <{X}price> 1 .",
                }
            ),
        ),
    ],
)
def test_any_format(client: TestClient, kind: str, data: str) -> None:
    subscribe(client, "cheap")
    answer = client.post("/v1/events", content=data, headers={"content-type": kind})
    assert answer.status_code == 202
    assert told(client, "cheap") == [answer.json()["events"][0]["id"]]


def test_an_event_in_the_format_that_is_wanted(client: TestClient) -> None:
    publish(client, 1)
    id = ids(1)[0]
    for kind in ("application/n-triples", "text/turtle", "application/n-quads", "application/trig"):
        answer = client.get(f"/v1/events/{id}", headers={"accept": kind})
        assert answer.headers["content-type"].startswith(kind)
        assert f"{X}pc1" in answer.text
    tag = answer.headers["etag"]
    assert client.get(f"/v1/events/{id}", headers={"if-none-match": tag}).status_code == 304
    assert client.get(f"/v1/events/{id}", headers={"accept": "image/png"}).status_code == 406
    assert client.get(f"/v1/events/{id}x").status_code == 404


def test_a_deleted_event(client: TestClient) -> None:
    publish(client, 1)
    assert client.delete(f"/v1/events/{ids(1)[0]}").status_code == 204
    assert client.delete(f"/v1/events/{ids(1)[0]}").status_code == 404


def test_what_is_wrong_has_its_place_and_the_rest_is_taken(client: TestClient) -> None:
    data = to_nquads(offer(1)) + to_nquads(offer(2)) + b"nonsense\n" + to_nquads(offer(3))
    answer = client.post("/v1/events", content=data, headers=NQUADS)
    assert answer.status_code == 202
    assert [each["id"] for each in answer.json()["events"]] == ids(1, 3)
    assert [each["line"] for each in answer.json()["problems"]] == [3]
    answer = client.post("/v1/events", content=b"nonsense", headers={"content-type": "text/turtle"})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["line"] == 1


def test_an_id_that_another_event_has(client: TestClient) -> None:
    publish(client, 1)
    publish(client, 1)
    other = to_nquads(offer(1, 7))
    assert client.post("/v1/events", content=other, headers=NQUADS).status_code == 409


def test_a_kind_that_is_not_known(client: TestClient) -> None:
    assert client.post("/v1/events", content=b"x", headers={"content-type": "application/zip"}).status_code == 415


def test_packed_bodies(client: TestClient) -> None:
    headers = NQUADS | {"content-encoding": "gzip"}
    data = gzip.compress(to_nquads(offer(1)))
    assert client.post("/v1/events", content=data, headers=headers).status_code == 202
    assert client.post("/v1/events", content=b"no gzip", headers=headers).status_code == 400
    bomb = gzip.compress(bytes(10_000_000))
    assert len(bomb) < 1 << 16
    assert client.post("/v1/events", content=bomb, headers=headers).status_code == 413
    assert client.post("/v1/events", content=bytes(1 << 17), headers=NQUADS).status_code == 413


# -------------------------------------------------------------------------------------------------------- subscriptions


def test_a_subscription_and_its_versions(client: TestClient) -> None:
    path = "/v1/subscriptions/s"
    made = client.put(path, content=CHEAP, headers=SPARQL)
    assert (made.status_code, made.headers["location"], made.json()["version"]) == (201, path, 1)
    again = client.put(path, content=CHEAP, headers=SPARQL)
    assert (again.status_code, again.json()["version"]) == (200, 1)
    other = client.put(path, json={"query": ANY, "labels": {"a": "b"}, "ttl": 60})
    assert (other.status_code, other.json()["version"]) == (200, 2)
    got = client.get(path).json()
    assert (got["query"], got["labels"], got["ttl"]) == (ANY, {"a": "b"}, 60)
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert client.delete(path).status_code == 404


def test_conditions(client: TestClient) -> None:
    path = "/v1/subscriptions/s"
    assert client.put(path, content=CHEAP, headers=SPARQL | {"if-match": "*"}).status_code == 412
    tag = client.put(path, content=CHEAP, headers=SPARQL | {"if-none-match": "*"}).headers["etag"]
    assert client.put(path, content=ANY, headers=SPARQL | {"if-none-match": "*"}).status_code == 412
    assert client.get(path, headers={"if-none-match": tag}).status_code == 304
    assert client.put(path, content=ANY, headers=SPARQL | {"if-match": tag}).status_code == 200
    assert client.put(path, content=CHEAP, headers=SPARQL | {"if-match": tag}).status_code == 412
    assert client.delete(path, headers={"if-match": tag}).status_code == 412


def test_pages_of_subscriptions(client: TestClient) -> None:
    for number in range(5):
        subscribe(client, f"s{number}")
    answer = client.get("/v1/subscriptions?limit=3").json()
    assert [each["id"] for each in answer["subscriptions"]] == ["s0", "s1", "s2"]
    answer = client.get(answer["next"]).json()
    assert [each["id"] for each in answer["subscriptions"]] == ["s3", "s4"]
    assert "next" not in answer
    assert client.get("/v1/subscriptions?limit=0").status_code == 400


def test_a_query_that_is_none_has_its_place(client: TestClient) -> None:
    answer = client.put("/v1/subscriptions/s", content="SELECT ?x {\n ?x nonsense }", headers=SPARQL)
    assert answer.status_code == 400
    assert (answer.json()["line"], answer.json()["source_line"]) == (2, " ?x nonsense }")


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"x", "text/plain", 415),
        (b"[]", "application/json", 400),
        (b"{", "application/json", 400),
        (b"{}", "application/json", 400),
        (b'{"query": "\\ud800"}', "application/json", 400),
        (b'{"query": "ASK {}", "dialect": "x"}', "application/json", 400),
        (b'{"query": "ASK {}", "since": "x"}', "application/json", 400),
        (b'{"query": "ASK {}", "colour": "x"}', "application/json", 400),
        (b"\xff", "application/sparql-query", 400),
        (b" " * 5_000, "application/sparql-query", 413),
    ],
)
def test_what_is_no_subscription(client: TestClient, body: bytes, kind: str, status: int) -> None:
    answer = client.put("/v1/subscriptions/s", content=body, headers={"content-type": kind})
    assert (answer.status_code, answer.json()["status"]) == (status, status)


def test_one_that_looks_back(client: TestClient) -> None:
    publish(client, 1)
    answer = client.put("/v1/subscriptions/s", json={"query": CHEAP, "since": "2020-01-01T00:00:00Z"})
    assert answer.status_code == 201
    for _ in range(100):
        if not client.get("/v1/subscriptions/s").json()["looking_back"]:
            break
    publish(client, 2)
    assert told(client, "s") == ids(1, 2)


# -------------------------------------------------------------------------------------------------------- notifications


def test_pages_and_acks(client: TestClient) -> None:
    subscribe(client, "s")
    publish(client, *range(5))
    page = client.get("/v1/subscriptions/s/notifications?limit=2&payload=ids").json()
    assert [each["event"] for each in page["notifications"]] == ids(0, 1)
    assert "bindings" not in page["notifications"][0]
    assert told(client, "s", after=page["cursor"]) == ids(2, 3, 4)
    assert client.post("/v1/subscriptions/s/ack", json={"cursor": page["cursor"]}).status_code == 204
    assert told(client, "s") == ids(2, 3, 4)


def test_cursors_that_are_none(client: TestClient) -> None:
    subscribe(client, "s")
    for cursor, status in (("nonsense", 400), ("77-0", 410), ("1-99", 410)):
        answer = client.get("/v1/subscriptions/s/notifications", params={"after": cursor})
        assert answer.status_code == status
        stream = {"accept": "text/event-stream", "last-event-id": cursor}
        assert client.get("/v1/subscriptions/s/notifications", headers=stream).status_code == status
        assert client.post("/v1/subscriptions/s/ack", json={"cursor": cursor}).status_code == status


def test_payloads(client: TestClient) -> None:
    construct = f"CONSTRUCT {{ ?pc <{X}is> <{X}cheap> }} WHERE {{ ?pc <{X}price> ?p }}"
    client.put("/v1/subscriptions/c", json={"query": construct, "payload": "construct"})
    subscribe(client, "s")
    publish(client, 1)
    [made] = client.get("/v1/subscriptions/c/notifications").json()["notifications"]
    assert made["construct"] == f"<{X}pc1> <{X}is> <{X}cheap> .\n"
    [whole] = client.get("/v1/subscriptions/s/notifications?payload=event").json()["notifications"]
    assert whole["data"] == offer(1).body
    assert client.get("/v1/subscriptions/s/notifications?payload=x").status_code == 400


# --------------------------------------------------------------------------------------------------------------- access


@pytest.fixture
def closed(core: Core) -> Iterator[TestClient]:
    with TestClient(application(core)) as made:
        yield made


def token(core: Core, tenant: str, *scopes: tokens.Scope) -> dict[str, str]:
    make = partial(tokens.make, tenant=tenant, scopes=frozenset(scopes), label="", created=0, expires=None)
    return {"authorization": f"Bearer {core.change(make).result()[1]}"}


def test_without_a_token_nothing_is_to_be_had(closed: TestClient) -> None:
    for answer in (
        closed.post("/v1/events", content=b"", headers=NQUADS),
        closed.put("/v1/subscriptions/s", content=CHEAP, headers=SPARQL),
        closed.get("/v1/subscriptions"),
        closed.get("/v1/subscriptions/s/notifications"),
        closed.get("/v1/events/x", headers={"authorization": "Bearer tdg_0_x"}),
        closed.get("/v1/events/x", headers={"authorization": "Basic eDp5"}),
    ):
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert closed.get("/healthz").status_code == 200


def test_a_token_is_for_what_it_is_for(core: Core, closed: TestClient) -> None:
    publisher, reader = token(core, "a", "publish"), token(core, "a", "subscribe")
    data = to_nquads(offer(1))
    assert closed.post("/v1/events", content=data, headers=NQUADS | reader).status_code == 403
    assert closed.post("/v1/events", content=data, headers=NQUADS | publisher).status_code == 202
    assert closed.get("/v1/subscriptions", headers=publisher).status_code == 403
    assert closed.delete("/v1/events/x", headers=publisher).status_code == 403
    assert closed.delete("/v1/events/x", headers=token(core, "a", "admin")).status_code == 404


def test_tenants_do_not_see_each_other(core: Core, closed: TestClient) -> None:
    one, other = token(core, "one", "subscribe", "publish"), token(core, "other", "subscribe", "publish")
    path = "/v1/subscriptions/s"
    assert closed.put(path, content=CHEAP, headers=SPARQL | one).status_code == 201
    assert closed.get(path, headers=other).status_code == 404
    assert closed.get(f"{path}/notifications", headers=other).status_code == 404
    assert closed.delete(path, headers=other).status_code == 404
    assert closed.get("/v1/subscriptions", headers=other).json() == {"subscriptions": []}
    assert closed.put(path, content=ANY, headers=SPARQL | other).json()["version"] == 1
    answer = closed.post("/v1/events?matches=own", content=to_nquads(offer(1)), headers=NQUADS | other)
    assert [each["subscription"] for each in answer.json()["matches"]] == ["s"]
    mine = closed.get(f"{path}/notifications", headers=one).json()["notifications"]
    theirs = closed.get(f"{path}/notifications", headers=other).json()["notifications"]
    assert mine[0]["event"] == theirs[0]["event"]
    assert mine[0]["id"] != theirs[0]["id"]
    assert closed.get(f"{path}/notifications", params={"after": mine[0]["cursor"]}, headers=other).status_code == 410


# ------------------------------------------------------------------------------------------------- webhooks and pauses


def test_a_webhook_and_its_dead_letters(core: Core) -> None:
    patience = Patience(tries=2, first=0.01, longest=0.01, breaks=1_000, timeout=2)
    receiver = Receiver()
    receiver.answers = [500, 500, 200, 500, 200]
    with TestClient(application(core, open=True, private=True, patience=patience)) as client:
        made = client.put("/v1/subscriptions/s", json={"query": CHEAP, "webhook": receiver.url})
        assert made.status_code == 201
        assert made.json()["webhook_secret"].startswith("whsec_")
        publish(client, 1)
        publish(client, 2)
        assert receiver.events(3) == ids(1, 1, 2)
        path = "/v1/subscriptions/s/dead"
        [letter] = client.get(path).json()["dead"]
        assert (letter["event"], letter["tries"]) == (ids(1)[0], 2)
        assert client.post(f"{path}/{letter['cursor']}").status_code == 502
        assert client.post(f"{path}/{letter['cursor']}").status_code == 204
        assert client.get(path).json() == {"dead": []}
        assert client.post(f"{path}/{letter['cursor']}").status_code == 404
        assert client.delete(f"{path}/{letter['cursor']}").status_code == 404
    receiver.close()


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://u:p@x/", "x", 7])
def test_a_webhook_that_is_none(client: TestClient, url: object) -> None:
    answer = client.put("/v1/subscriptions/s", json={"query": CHEAP, "webhook": url})
    assert answer.status_code == 400


def test_pause_and_resume(client: TestClient) -> None:
    subscribe(client, "s")
    assert client.post("/v1/subscriptions/s/pause").json()["state"] == "paused"
    publish(client, 1)
    assert client.post("/v1/subscriptions/s/resume").json()["state"] == "active"
    publish(client, 2)
    assert told(client, "s") == ids(2)
    assert client.post("/v1/subscriptions/none/pause").status_code == 404


# -------------------------------------------------------------------------------------------- ontology and explanations

SHOP = f"""@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . <{X}Notebook> rdfs:subClassOf <{X}Computer> ."""
COMPUTERS = f"SELECT ?x {{ ?x a <{X}Computer> }}"
TURTLE = {"content-type": "text/turtle"}


def test_an_ontology_is_learnt_and_kept(client: TestClient, core: Core) -> None:
    subscribe(client, "computers", COMPUTERS)
    client.post("/v1/events", content=f"<{X}a> a <{X}Notebook> .", headers=TURTLE)
    assert told(client, "computers") == []
    answer = client.put("/v1/ontology", content=SHOP, headers=TURTLE)
    assert (answer.status_code, answer.json()["classes"]) == (200, 2)
    client.post("/v1/events", content=f"<{X}b> a <{X}Notebook> .", headers=TURTLE)
    assert len(told(client, "computers")) == 1
    got = client.get("/v1/ontology")
    assert got.headers["content-type"].startswith("text/turtle")
    assert "subClassOf" in got.text
    assert client.get("/v1/ontology", headers={"if-none-match": got.headers["etag"]}).status_code == 304
    assert client.put("/v1/ontology", content=SHOP, headers=TURTLE | {"if-match": '"x"'}).status_code == 412
    with core.database.reading() as reader:
        assert Knowledge.kept(reader).text == core.knowledge.text


@pytest.mark.parametrize(
    ("data", "kind", "status"),
    [
        ("nonsense", "text/turtle", 400),
        (f"<{X}a> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{X}b> . "
         f"<{X}b> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <{X}a> .", "text/turtle", 400),
        ("x", "image/png", 415),
    ],
)  # fmt: skip
def test_what_is_no_ontology(client: TestClient, data: str, kind: str, status: int) -> None:
    assert client.put("/v1/ontology", content=data, headers={"content-type": kind}).status_code == status


def test_why_it_matched_and_why_not(client: TestClient) -> None:
    subscribe(client, "cheap")
    publish(client, 1)
    publish(client, 2, price=900)
    answer = client.post("/v1/explain", json={"subscription": "cheap", "event": ids(1)[0]}).json()
    assert answer["matches"]
    answer = client.post("/v1/explain", json={"subscription": "cheap", "event": ids(2)[0]}).json()
    assert not answer["matches"]
    assert "900" in answer["text"]
    body = {"query": COMPUTERS, "data": f"<{X}a> a <{X}Computer> .", "format": "ttl"}
    assert client.post("/v1/explain", json=body).json()["matches"]
    drawn = client.post("/v1/explain", json=body, headers={"accept": "image/svg+xml"})
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert drawn.text.startswith("<svg")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"subscription": "none", "event": "x"}, 404),
        ({"query": "ASK {}", "event": "x"}, 404),
        ({"query": "nonsense", "data": "", "format": "ttl"}, 400),
        ({"query": "ASK {}", "data": "nonsense", "format": "ttl"}, 400),
        ({"query": "ASK {}", "data": "", "format": "x"}, 400),
        ({"query": "ASK {}", "dialect": "x", "event": "x"}, 400),
    ],
)
def test_what_cannot_be_explained(client: TestClient, body: dict[str, str], status: int) -> None:
    assert client.post("/v1/explain", json=body).status_code == status


# ------------------------------------------------------------------------------------------------------- recent events


def test_the_newest_events_with_ones_own_matches(client: TestClient) -> None:
    subscribe(client, "cheap")
    publish(client, 1)
    publish(client, 2, price=900)
    found = client.get("/v1/events?limit=5").json()["events"]
    assert [(each["id"], each["matches"]) for each in found] == [(ids(2)[0], []), (ids(1)[0], ["cheap"])]


def test_a_query_is_tried_and_not_left(client: TestClient) -> None:
    publish(client, 1, 2)
    publish(client, 3, price=900)
    answer = client.post("/v1/try", json={"query": CHEAP}).json()
    assert (answer["tried"], [each["event"] for each in answer["matches"]]) == (3, ids(2, 1))
    assert client.get("/v1/subscriptions").json() == {"subscriptions": []}
    wrong = client.post("/v1/try", json={"query": "SELECT ?x {\n nonsense }"})
    assert (wrong.status_code, wrong.json()["line"]) == (400, 2)


def test_the_console_asks_no_other_host(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    for name in sorted(each.name for each in files("tidings.broker").joinpath("console").iterdir()):
        file = client.get(f"/console/{name}")
        assert file.status_code == 200
        assert file.headers["content-security-policy"] == page.headers["content-security-policy"]
        ours = file.text.replace("http://shop.example/", "").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"(^|\s)//[ -]", "", ours), name
    assert client.get("/console/nothing.js").status_code == 404
    assert client.get("/console/..%2fschema.py").status_code == 404


def test_a_method_that_there_is_not(client: TestClient) -> None:
    answer = client.request("PATCH", "/v1/subscriptions/s")
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == {"PUT", "GET", "HEAD", "DELETE"}
    assert answer.json()["status"] == 405


def test_metrics(client: TestClient) -> None:
    subscribe(client, "s")
    publish(client, 1, 2)
    publish(client, 1)
    told(client, "s")
    text = client.get("/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    names = ("events_total", "repeats_total", "matches_total", "told_pages_total", "subscriptions")
    assert [lines[f"tidings_{name}"] for name in names] == ["2", "1", "2", "2", "1"]
    assert lines['tidings_publish_seconds_count{stage="write"}'] == "1"
    assert lines['tidings_published_together_bucket{le="2"}'] == "1"
    assert client.get("/v1/status").json()["events"] == 2
