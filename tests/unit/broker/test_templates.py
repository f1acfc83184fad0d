"""Templates of the embedded broker: kept, used, replaced, and there again after a restart."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.unit.broker.offers import X, ids, offer, told

import tidings
from tidings.broker import audit, schema
from tidings.broker.database import FILE
from tidings.broker.instances import cost
from tidings.errors import BrokerError, ParameterError, SubscriptionError, UsageError

UNDER = f"SELECT ?pc {{ ?pc <{X}price> ?p FILTER(?p < $most) }}"


@pytest.fixture(params=["memory", "folder"])
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tidings.Broker]:
    with tidings.Broker(None if request.param == "memory" else tmp_path / "broker") as made:
        yield made


def test_one_of_a_template_is_told(broker: tidings.Broker) -> None:
    assert broker.template("under", UNDER, {"most": "number"}) == 1
    cheap = broker.subscribe(template="under", parameters={"most": 400}, id="cheap")
    dear = broker.subscribe(template="under", parameters={"most": "4e9"}, id="dear", payload="event", labels={"a": "b"})
    broker.publish(offer(1, 390))
    broker.publish(offer(2, 410))
    assert told(cheap) == ids(1)
    assert told(dear) == ids(1, 2)
    options = dear._standing.options
    assert (options.template, options.template_version, options.parameters) == ("under", 1, {"most": "4e9"})
    assert (options.payload, options.labels) == ("event", {"a": "b"})
    assert dear._standing.query == UNDER.replace("$most", "4e9")


def test_the_same_again_changes_nothing(broker: tidings.Broker) -> None:
    assert [broker.template("under", UNDER, {"most": "number"}) for _ in range(3)] == [1, 1, 1]
    first = broker.subscribe(template="under", parameters={"most": 400}, id="s")
    again = broker.subscribe(template="under", parameters={"most": 400}, id="s")
    as_text = broker.subscribe(UNDER.replace("$most", "400"), id="s")
    assert first._standing.version == again._standing.version == as_text._standing.version == 1
    assert as_text._standing.options.template is None
    assert broker.subscribe(template="under", parameters={"most": 500}, id="s")._standing.version == 2
    with broker._core.database.reading() as reader:
        what = [entry.what for entry in audit.before(reader, audit.LAST, 100)][::-1]
    assert what == ["define template", "subscribe", "renew", "renew", "replace"]


def test_another_template_does_not_change_what_was_made_of_it(broker: tidings.Broker) -> None:
    broker.template("t", UNDER, {"most": "number"})
    cheap = broker.subscribe(template="t", parameters={"most": 400}, id="cheap")
    assert broker.template("t", UNDER.replace("?p < ", "?p > "), {"most": "number"}) == 2
    above = broker.subscribe(template="t", parameters={"most": 400}, id="above")
    broker.publish(offer(1, 390))
    broker.publish(offer(2, 410))
    assert (told(cheap), told(above)) == (ids(1), ids(2))
    assert above._standing.options.template_version == 2
    assert list(broker.templates()) == ["t"]
    broker.remove_template("t")
    broker.publish(offer(3, 390))
    assert told(cheap) == ids(1, 3)
    assert broker.templates() == {}
    for ask in (lambda: broker.remove_template("t"), lambda: broker.subscribe(template="t"), lambda: many(broker, [])):
        with pytest.raises(UsageError, match="there is no template 't'"):
            ask()
    assert broker.template("t", UNDER, {"most": "number"}) == 3


def many(broker: tidings.Broker, rows: list[dict[str, object]]) -> int:
    return broker.subscribe_many("t", rows)


def test_many_at_once(broker: tidings.Broker) -> None:
    broker.template("t", UNDER, {"most": {"kind": "number", "default": 50}})
    rows: list[dict[str, object]] = [{"id": f"s{n}", "parameters": {"most": n}} for n in range(300)]
    rows += [{"id": "same", "parameters": {"most": 1}}, {"id": "same", "parameters": {"most": 200}}, {"id": "usual"}]
    assert many(broker, rows) == 303
    found = {match.subscription for match in broker.publish(offer(1, 150))}
    assert found == {f"s{n}" for n in range(151, 300)} | {"same"}
    assert broker.subscription("same")._standing.version == 2
    assert many(broker, rows[:300]) == 300
    assert broker.subscription("s7")._standing.version == 1


def test_the_first_that_is_wrong_is_told_and_those_before_it_stay(broker: tidings.Broker) -> None:
    broker.template("t", UNDER, {"most": "number"})
    good = {"id": "a", "parameters": {"most": 1}}
    for wrong, error in (
        ({"id": "b", "parameters": {"most": "x"}}, ParameterError),
        ({"id": "b"}, ParameterError),
        ({"id": "", "parameters": {"most": 1}}, UsageError),
        ({"parameters": {"most": 1}}, UsageError),
        ({"id": "b", "parameters": [1]}, UsageError),
        ({"id": "b", "parameters": {"most": 1}, "color": 1}, UsageError),
        ({"id": "b", "parameters": {"most": 1}, "template": "x"}, UsageError),
    ):
        with pytest.raises(error) as raised:
            many(broker, [good, wrong, {"id": "c", "parameters": {"most": 1}}])
        assert raised.value.__notes__ == ["in row 2"]
        assert [each.id for each in broker.subscriptions()] == ["a"]


def test_one_of_a_template_can_look_back(broker: tidings.Broker) -> None:
    broker.publish(offer(1, 390))
    broker.template("t", UNDER, {"most": "number"})
    then = datetime(2000, 1, 1, tzinfo=UTC)
    assert told(broker.subscribe(template="t", parameters={"most": 400}, since=then)) == ids(1)
    many(broker, [{"id": "late", "parameters": {"most": 400}, "since": then}])
    assert told(broker.subscription("late")) == ids(1)


def test_what_does_not_go_together(broker: tidings.Broker) -> None:
    broker.template("t", UNDER, {"most": "number"})
    with pytest.raises(UsageError, match="either a query, or a template"):
        broker.subscribe()
    with pytest.raises(UsageError, match="either a query, or a template"):
        broker.subscribe(UNDER, template="t")
    with pytest.raises(UsageError, match="either a query, or a template"):
        broker.subscribe("ASK {}", parameters={})
    with pytest.raises(UsageError, match="there is no option 'template_version'"):
        broker.subscribe("ASK {}", template_version=5)
    with pytest.raises(UsageError, match="1 to 512 characters"):
        broker.template("..", UNDER, {"most": "number"})
    with pytest.raises(SubscriptionError, match="t2:1:"):
        broker.template("t2", "SELECT", {})


def test_all_of_it_is_there_after_a_restart_and_in_a_backup(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path / "a") as broker:
        broker.template("t", UNDER, {"most": "number"}, description="Under a price.")
        broker.subscribe(template="t", parameters={"most": 400}, id="cheap")
        broker.backup(tmp_path / "b")
    for folder in ("a", "b"):
        with tidings.Broker(tmp_path / folder) as broker:
            assert broker.templates()["t"].description == "Under a price."
            assert broker.template("t", UNDER, {"most": "number"}, description="Under a price.") == 1
            broker.publish(offer(1, 390))
            assert told(broker.subscription("cheap")) == ids(1)
            assert broker.subscription("cheap")._standing.options.parameters == {"most": 400}


def test_a_database_of_the_version_before_is_brought_up_to_date(tmp_path: Path) -> None:
    """What is in it stays, and can be used."""
    database = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    database.create_function("tidings_sum", -1, schema.checksum, deterministic=True)
    database.execute("BEGIN")
    for migration in schema.MIGRATIONS[:4]:
        migration(database)
    database.execute("COMMIT")
    database.execute(f"PRAGMA application_id = {schema.APPLICATION}")
    database.execute("PRAGMA user_version = 4")
    database.execute(
        "INSERT INTO subscriptions (stream, tenant, id, version, query, dialect, options, state, reason, created, "
        "after, acked, dropped) VALUES (1, '', 's', 1, ?, 'sparql', '{}', 'active', '', 0, 0, 0, 0)",
        (UNDER.replace("$most", "400"),),
    )
    database.close()
    with tidings.Broker(tmp_path) as broker:
        broker.publish(offer(1))
        assert told(broker.subscription("s")) == ids(1)
        assert broker.templates() == {}
        broker.template("t", UNDER, {"most": "number"})
    with tidings.Broker(tmp_path) as broker:
        assert list(broker.templates()) == ["t"]


def test_a_template_that_is_not_as_it_was_written(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path) as broker:
        broker.template("t", UNDER, {"most": "number"})
    database = sqlite3.connect(tmp_path / FILE)
    database.create_function("tidings_sum", -1, lambda *values: 0)
    database.execute("UPDATE templates SET definition = replace(definition, '<', '>')")
    database.commit()
    database.close()
    with pytest.raises(BrokerError, match="damaged"):
        tidings.Broker(tmp_path)


def test_what_an_instance_costs_is_what_its_text_costs(broker: tidings.Broker) -> None:
    text = f"SELECT * {{ ?s a $class ; <{X}says> ?t ; ?p $term FILTER ftcontains(?t, $words) FILTER(?t != $n) }}"
    broker.template("t", text, {"class": "iri", "term": "term", "words": "words", "n": "number"})
    ready = broker._ready("t")
    universal = broker._core.knowledge.ontology.resource_classes
    for values in (
        {"class": "e:C", "term": 5, "words": "one", "n": 1},
        {"class": "e:D", "term": 6, "words": "one two three", "n": 1.5},
        {"class": "http://www.w3.org/2002/07/owl#Thing", "term": "<e:x>", "words": "x " * 500, "n": "1e0"},
    ) * 2:
        instance = ready.template.instance(values)
        assert dict(ready.cost(instance, universal).costs) == dict(cost(instance.query, instance.text, universal).costs)
