"""What is too much, over HTTP: too complex, too often, too slow, too long; who did what; and what is told of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.broker.streams import streaming
from tests.unit.broker.offers import ANY, CHEAP, X, ids, offer

from tidings.broker import tokens
from tidings.broker.core import Core
from tidings.broker.http import access, hub
from tidings.broker.http.app import application
from tidings.broker.http.openapi import DOCUMENT
from tidings.broker.http.service import Bounds
from tidings.broker.matching import Effort
from tidings.broker.retention import Retention
from tidings.rdf.event import Event, to_nquads
from tidings.rdf.formats import Format
from tidings.rdf.read import read_events

SPARQL = {"content-type": "application/sparql-query"}
NQUADS = {"content-type": "application/n-quads"}
HARD = f"ASK {{ ?a <{X}p> ?x . ?b <{X}p> ?y . ?c <{X}p> ?z . FILTER(CONCAT(STR(?x), STR(?y), STR(?z)) = 'no') }}"


@pytest.fixture
def core(tmp_path: Path) -> Iterator[Core]:
    made = Core(tmp_path, None, Retention(backlog=10), Effort(steps=2_000))
    yield made
    made.close()


@pytest.fixture
def app(core: Core) -> Starlette:
    return application(core, open=True, bounds=Bounds(complexity=200))


@pytest.fixture
def client(app: Starlette) -> Iterator[TestClient]:
    with TestClient(app) as made:
        yield made


def publish(client: TestClient, *events: Event) -> None:
    data = b"".join(map(to_nquads, events))
    assert client.post("/v1/events", content=data, headers=NQUADS).status_code == 202


def many(number: int) -> Event:
    """An event on which what is hard takes too many steps."""
    return Event(f"{X}many/{number}", "".join(f"<{X}s{n}> <{X}p> <{X}o{n}> .\n" for n in range(10, 40)))


# ----------------------------------------------------------------------------------------------------------- complexity


def test_what_is_too_complex_is_refused_with_what_costs_most(client: TestClient) -> None:
    choices = " UNION ".join(f"{{ ?s <{X}p> {n} }}" for n in range(60))
    for answer in (
        client.put("/v1/subscriptions/s", content=f"ASK {{ {choices} }}", headers=SPARQL),
        client.put("/v1/subscriptions/s", json={"query": f"ASK {{ {choices} }}"}),
        client.put("/v1/subscriptions/s", content=f"ASK {{ ?s <{X}p> 'x' }} #{'x' * 30_000}", headers=SPARQL),
        client.post("/v1/try", json={"query": f"ASK {{ {choices} }}"}),
        client.post("/v1/explain", json={"query": f"ASK {{ {choices} }}", "data": offer(1).body}),
    ):
        problem = answer.json()
        assert (answer.status_code, problem["limit"]) == (422, 200)
        assert problem["score"] > 200
        assert max(problem["costs"], key=problem["costs"].get) in problem["detail"]
    assert client.get("/v1/subscriptions").json() == {"subscriptions": []}


def test_its_score_is_told_and_what_is_tried_on_every_event_has_more(client: TestClient) -> None:
    for id, query, score in (("a", CHEAP, 2), ("b", "ASK { ?s ?p ?o }", 101)):
        assert client.put(f"/v1/subscriptions/{id}", content=query, headers=SPARQL).json()["complexity"] == score
        assert client.get(f"/v1/subscriptions/{id}").json()["complexity"] == score


# ----------------------------------------------------------------------------------------------------------------- rate


def token(core: Core, tenant: str, *scopes: tokens.Scope) -> dict[str, str]:
    make = partial(tokens.make, tenant=tenant, scopes=frozenset(scopes), label="", created=0, expires=None)
    return {"authorization": f"Bearer {core.change(make).result()[1]}"}


def test_who_asks_too_often_is_told_when_to_come_again(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "monotonic", lambda: 1_000.0)
    first, second = token(core, "a", "publish", "subscribe"), token(core, "b", "publish", "subscribe")
    with TestClient(application(core, bounds=Bounds(rate=0.5))) as client:
        get = partial(client.get, "/v1/subscriptions")
        assert [get(headers=first).status_code for _ in range(2)] == [200, 429]
        refused = get(headers=first)
        assert refused.headers["content-type"] == "application/problem+json"
        assert 1 <= int(refused.headers["retry-after"]) <= 2
        # Publishing is counted apart, and so is everybody else.
        data = to_nquads(offer(1))
        assert client.post("/v1/events", content=data, headers=NQUADS | first).status_code == 202
        assert client.post("/v1/events", content=data, headers=NQUADS | first).status_code == 429
        assert get(headers=second).status_code == 200
        assert get().status_code == 401
        assert get(headers={"authorization": "Bearer x"}).status_code == 429
        assert client.get("/healthz").status_code == 200
    assert core.figures.counts()["limited"] == 4


# ---------------------------------------------------------------------------------------------------------------- audit


def test_who_did_what_is_for_admins(core: Core) -> None:
    admin, user = token(core, "a", "admin"), token(core, "b", "subscribe", "publish")
    with TestClient(application(core)) as client:
        path = "/v1/subscriptions/s"
        client.put(path, content=CHEAP, headers=SPARQL | user)
        for then in ("pause", "resume"):
            client.post(f"{path}/{then}", headers=user)
        client.delete(path, headers=user)
        client.post("/v1/events", content=to_nquads(offer(1)), headers=NQUADS | user)
        assert client.delete(f"/v1/events/{ids(1)[0]}", headers=user).status_code == 403
        client.delete(f"/v1/events/{ids(1)[0]}", headers=admin)
        client.put("/v1/ontology", content="", headers={"content-type": "text/turtle", **admin})
        client.get(path, headers={"authorization": "Bearer tdg_guess_secret"})
        assert client.get("/v1/audit", headers=user).status_code == 403
        core.change(lambda writer: None).result()
        entries, page = [], "/v1/audit?limit=4"
        while page:
            answer = client.get(page, headers=admin).json()
            entries += answer["entries"]
            page = answer.get("next")
        assert client.get("/v1/audit?before=x", headers=admin).status_code == 400
    assert [(each["what"], each["object"]) for each in reversed(entries)] == [
        ("subscribe", "s"),
        ("pause", "s"),
        ("resume", "s"),
        ("cancel", "s"),
        ("refused", ""),
        ("delete event", ids(1)[0]),
        ("change ontology", ""),
        ("refused", ""),
        ("refused", ""),
    ]
    names = {each["token"] for each in entries}
    assert names == {user["authorization"].split("_")[1], admin["authorization"].split("_")[1], "(unknown)"}
    assert {each["address"] for each in entries} == {"testclient"}
    assert "secret" not in json.dumps(entries)


def test_guesses_do_not_fill_the_audit(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "monotonic", lambda: 1_000.0)
    with TestClient(application(core)) as client:
        for _ in range(80):
            assert client.get("/v1/subscriptions").status_code == 401
    core.change(lambda writer: None).result()
    with core.database.reading() as reader:
        [count] = reader.execute("SELECT count(*) FROM audit").fetchone()
    assert count == 60
    assert core.figures.counts()["refused"] == 80


# --------------------------------------------------------------------------------------------------------------- effort


def test_what_takes_too_much_again_and_again_is_paused_and_its_owner_told(client: TestClient, core: Core) -> None:
    client.put("/v1/subscriptions/hard", content=HARD, headers=SPARQL)
    client.put("/v1/subscriptions/easy", content=f"ASK {{ <{X}s10> <{X}p> ?o }}", headers=SPARQL)
    publish(client, *map(many, range(19)))
    page = client.get("/v1/subscriptions/hard/notifications").json()
    assert (page["state"], "reason" in page) == ("active", False)
    publish(client, many(19))
    core.change(lambda writer: None).result()
    told = client.get("/v1/subscriptions/hard").json()
    assert told["state"] == "paused"
    assert told["reason"].startswith("it failed on 20 events within an hour")
    page = client.get("/v1/subscriptions/hard/notifications").json()
    assert (page["state"], page["reason"]) == ("paused", told["reason"])
    assert core.figures.counts()["failures"] == 20
    publish(client, many(20))
    assert core.figures.counts()["failures"] == 20
    assert client.get("/v1/subscriptions/easy/notifications").json()["state"] == "active"
    [last] = client.get("/v1/audit?limit=1").json()["entries"]
    assert (last["token"], last["what"], last["object"]) == ("(broker)", "pause", "hard")
    client.post("/v1/subscriptions/hard/resume")
    assert client.get("/v1/subscriptions/hard/notifications").json()["state"] == "active"


def test_a_notification_whose_answer_takes_too_much_says_so(client: TestClient) -> None:
    """Whether there is a solution takes a few steps, all of them take too many."""
    all_of_them = f"SELECT * {{ ?a <{X}p> ?x . ?b <{X}p> ?y . ?c <{X}p> ?z }}"
    client.put("/v1/subscriptions/s", content=all_of_them, headers=SPARQL)
    publish(client, many(1))
    [told] = client.get("/v1/subscriptions/s/notifications").json()["notifications"]
    assert "more than the budget of 2000 steps" in told["failed"]
    assert "bindings" not in told
    [only] = client.get("/v1/subscriptions/s/notifications?payload=ids").json()["notifications"]
    assert "failed" not in only
    answer = client.post("/v1/events?matches=own", content=to_nquads(many(2)), headers=NQUADS)
    assert (answer.status_code, [each["subscription"] for each in answer.json()["matches"]]) == (202, ["s"])


# -------------------------------------------------------------------------------------------------------------- formats


@pytest.mark.parametrize("format", list(Format))
def test_the_event_in_any_format(client: TestClient, format: Format) -> None:
    path = "/v1/subscriptions/s"
    options = {"payload": "event", "format": format.media_type}
    assert client.put(path, json={"query": ANY, **options}).json()["format"] == format.media_type
    publish(client, offer(1))
    [told] = client.get(f"{path}/notifications").json()["notifications"]
    assert told["format"] == format.media_type
    document = json.dumps(told["data"]) if format is Format.JSONLD else told["data"]
    assert isinstance(told["data"], str) == (format is not Format.JSONLD)
    [event] = read_events([document.encode()], format=format, report=pytest.fail)
    assert event.body == offer(1).body
    assert (event.id == ids(1)[0]) == format.has_graphs
    [plain] = client.get(f"{path}/notifications?format=application/n-triples").json()["notifications"]
    assert plain["data"] == offer(1).body


def test_what_is_constructed_in_another_format(client: TestClient) -> None:
    query = f"CONSTRUCT {{ ?pc <{X}is> <{X}cheap> }} WHERE {{ ?pc <{X}price> ?p }}"
    client.put("/v1/subscriptions/s", json={"query": query, "payload": "construct", "format": "application/json"})
    publish(client, offer(1))
    [made] = client.get("/v1/subscriptions/s/notifications").json()["notifications"]
    assert made["construct"] == [{"@id": f"{X}pc1", f"{X}is": [{"@id": f"{X}cheap"}]}]
    assert made["format"] == "application/ld+json"
    [made] = client.get("/v1/subscriptions/s/notifications?format=text/turtle").json()["notifications"]
    assert made["construct"] == f"<{X}pc1> <{X}is> <{X}cheap> .\n"


def test_a_format_that_is_none(client: TestClient) -> None:
    assert client.put("/v1/subscriptions/s", json={"query": ANY, "format": "text/html"}).status_code == 400
    assert client.put("/v1/subscriptions/s", json={"query": ANY, "format": 7}).status_code == 400
    client.put("/v1/subscriptions/s", json={"query": ANY})
    assert client.get("/v1/subscriptions/s/notifications?format=x").status_code == 400


def test_bindings_are_terms_of_the_sparql_results_format(client: TestClient) -> None:
    query = f"SELECT ?iri ?blank ?plain ?tagged ?typed ?none {{ ?iri <{X}p> ?plain, ?tagged, ?typed ; <{X}q> ?blank "
    query += "FILTER(datatype(?plain) = xsd:string) FILTER(lang(?tagged) = 'en') FILTER(isNumeric(?typed)) }"
    query = f"PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> {query}"
    assert client.put("/v1/subscriptions/s", content=query, headers=SPARQL).status_code == 201
    data = f'<{X}a> <{X}p> "a", "b"@en, 1 ; <{X}q> _:x .'
    client.post("/v1/events", content=data, headers={"content-type": "text/turtle"})
    [told] = client.get("/v1/subscriptions/s/notifications").json()["notifications"]
    assert told["bindings"] == [
        {
            "iri": {"type": "uri", "value": f"{X}a"},
            "blank": {"type": "bnode", "value": "x"},
            "plain": {"type": "literal", "value": "a"},
            "tagged": {"type": "literal", "value": "b", "xml:lang": "en"},
            "typed": {"type": "literal", "value": "1", "datatype": "http://www.w3.org/2001/XMLSchema#integer"},
        }
    ]


# -------------------------------------------------------------------------------------------------------------- streams


def stand(core: Core, app: Starlette, id: str, query: str = CHEAP) -> None:
    with TestClient(app) as client:
        assert client.put(f"/v1/subscriptions/{id}", content=query, headers=SPARQL).status_code == 201


def test_a_stream_tells_of_a_pause_and_stays(core: Core, app: Starlette) -> None:
    stand(core, app, "s")

    async def run() -> None:
        async with app.router.lifespan_context(app), streaming(app, "s") as stream:
            core.publish([offer(1)]).result()
            assert (await stream.next())[1]["event"] == ids(1)[0]
            core.pause("", "s", "it takes too much").result()
            assert await stream.next() == ("paused", {"reason": "it takes too much"})
            core.resume("", "s").result()
            assert await stream.next() == ("resumed", {})
            core.publish([offer(2)]).result()
            assert (await stream.next())[1]["event"] == ids(2)[0]
            core.end("", "s").result()
            assert (await stream.next())[0] == "ended"

    asyncio.run(run())
    assert 'tidings_delivery_seconds_count{by="stream"}' in core.figures.text({})


def test_who_reads_too_slowly_is_told_that_he_missed_something(
    core: Core, app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is held for him is bounded, and what waits for him is."""
    monkeypatch.setattr(hub, "_HELD", 5_000)
    stand(core, app, "slow")
    stand(core, app, "quick", ANY)
    core.upkeep.close()

    async def run() -> None:
        async with app.router.lifespan_context(app):
            async with streaming(app, "slow") as stream:
                core.publish([offer(1)]).result()
                _, first = await stream.next()
                core.publish([offer(number) for number in range(2, 500)]).result()
                # He has not read on since: a few pages lie between, and behind these is more than is held for him.
                before = -1
                async with asyncio.timeout(20):
                    while stream.sent != before:
                        before = stream.sent
                        await asyncio.sleep(0.3)
                assert stream.sent <= 6
                core.backlog.once()
                heard = []
                while (message := await stream.next())[0] == "notification":
                    heard.append(message[1]["event"])
                assert message[0] == "gone"
                assert heard == ids(*range(2, 2 + len(heard)))
                assert len(heard) < 400
            async with streaming(app, "slow") as stream:
                assert await stream.next() == ("missed", {"upto": "1-490"})
                assert (await stream.next())[1]["event"] == ids(491)[0]
            async with streaming(app, "slow", **{"last-event-id": first["cursor"]}) as stream:
                assert await stream.piece()
                assert stream.status == 410
            async with streaming(app, "quick", **{"last-event-id": "2-498"}) as stream:
                assert (await stream.next())[1]["event"] == ids(499)[0]

    asyncio.run(run())


# -------------------------------------------------------------------------------------------------------------- metrics


def test_metrics_of_what_waits_and_what_is_slow(client: TestClient, core: Core) -> None:
    id = 'odd "id" \\ here'
    client.put(f"/v1/subscriptions/{id}", content=HARD, headers=SPARQL)
    client.put("/v1/subscriptions/s", content=ANY, headers=SPARQL)
    publish(client, offer(1), offer(2), many(1))
    lines = client.get("/metrics").text.splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert (values["tidings_backlog"], values["tidings_backlog_largest"]) == ("2", "2")
    assert values["tidings_candidates_per_event_count"] == "3"
    slow = 'tidings_verifier_seconds_total{tenant="",subscription="odd \\"id\\" \\\\ here",version="1"}'
    assert float(values[slow]) > 0
    assert values["tidings_failures_total"] == "1"


def test_what_is_answered_is_what_the_document_says(client: TestClient) -> None:
    """Of what was added here: names that are told are names that are described."""
    publish(client, offer(1))
    client.put("/v1/subscriptions/s", content=CHEAP, headers=SPARQL)
    schemas = DOCUMENT["components"]["schemas"]
    assert set(client.get("/v1/subscriptions/s").json()) <= set(schemas["Subscription"]["properties"])
    [entry] = client.get("/v1/audit").json()["entries"]
    assert set(entry) == set(schemas["Entry"]["properties"])
    page = DOCUMENT["paths"]["/v1/subscriptions/{id}/notifications"]["get"]["responses"]["200"]["content"]
    described = page["application/json"]["schema"]["properties"]
    assert set(client.get("/v1/subscriptions/s/notifications").json()) <= set(described)
