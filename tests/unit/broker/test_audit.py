"""Who did what, written with the change; and a database from before that."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.broker.offers import ANY, CHEAP, ids, offer, told

import tidings
from tidings.broker import audit, schema
from tidings.broker import core as cores
from tidings.broker.core import Core
from tidings.broker.database import FILE
from tidings.broker.retention import Retention
from tidings.errors import UsageError

DAY = 86_400_000_000


def noted(core: Core) -> list[tuple[str, str, str]]:
    """The oldest first."""
    with core.database.reading() as reader:
        return [(each.token, each.what, each.object) for each in reversed(audit.before(reader, audit.LAST, 1_000))]


def test_every_change_is_noted_and_nothing_of_what_is_in_it(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path) as broker:
        sub = broker.subscribe(CHEAP, id="s")
        broker.subscribe(CHEAP, id="s", ttl=60)
        broker.subscribe(ANY, id="s")
        sub.pause("a-private-reason")
        sub.resume()
        broker.publish(offer(1))
        broker.delete_event(ids(1)[0])
        assert not broker.delete_event("none")
        sub.cancel()
        found = noted(broker._core)
        with broker._core.database.reading() as reader:
            text = str(reader.execute("SELECT * FROM audit").fetchall())
    assert {token for token, _, _ in found} == {"(program)"}
    assert [(what, object) for _, what, object in found] == [
        ("subscribe", "s"),
        ("renew", "s"),
        ("replace", "s"),
        ("pause", "s"),
        ("resume", "s"),
        ("delete event", ids(1)[0]),
        ("cancel", "s"),
    ]
    assert "SELECT" not in text
    assert "a-private-reason" not in text


def test_what_the_broker_does_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_800_000_000_000_000]
    monkeypatch.setattr(cores, "_now", lambda: now[0])
    with tidings.Broker() as broker:
        broker.subscribe(CHEAP, id="s", ttl=60)
        now[0] += 61_000_000
        broker._core.upkeep.once()
        assert noted(broker._core)[1:] == [("(broker)", "expire", "s")]


def test_what_is_refused_is_not_noted() -> None:
    with tidings.Broker() as broker:
        with pytest.raises(UsageError):
            broker.subscribe(CHEAP, colour="red")
        assert noted(broker._core) == []


def test_it_is_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_800_000_000_000_000]
    monkeypatch.setattr(cores, "_now", lambda: now[0])
    monkeypatch.setattr(audit, "_STRETCH", 2)
    keep = Retention(audit=timedelta(days=2), audit_entries=4)
    with tidings.Broker(retention=keep) as broker:
        for day in range(4):
            broker.subscribe(ANY, id=f"s{day}")
            now[0] += DAY
        now[0] -= DAY // 2
        broker._core.upkeep.once()
        assert [object for _, _, object in noted(broker._core)] == ["s2", "s3"]
        for number in range(10):
            broker.subscribe(ANY, id=f"t{number}")
        broker._core.upkeep.once()
        assert [object for _, _, object in noted(broker._core)] == ["t6", "t7", "t8", "t9"]


def test_a_database_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    """What is in it stays, and can be used."""
    database = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    database.execute("BEGIN")
    schema.MIGRATIONS[0](database)
    database.execute("COMMIT")
    database.execute(f"PRAGMA application_id = {schema.APPLICATION}")
    database.execute("PRAGMA user_version = 1")
    database.execute(
        "INSERT INTO subscriptions (stream, tenant, id, version, query, dialect, options, state, reason, created, "
        "after, acked, dropped) VALUES (1, '', 's', 1, ?, 'sparql', '{}', 'active', '', 0, 0, 0, 0)",
        (CHEAP,),
    )
    database.close()
    with tidings.Broker(tmp_path) as broker:
        broker.publish(offer(1))
        assert told(broker.subscription("s")) == ids(1)
        assert broker.subscription("s")._standing.complexity is None
        broker.subscription("s").pause()
        assert noted(broker._core) == [("(program)", "pause", "s")]
    again = sqlite3.connect(tmp_path / FILE)
    assert again.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    again.close()
