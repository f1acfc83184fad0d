"""The embedded broker: subscribe, publish, be told; in memory and in a folder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event as Flag
from threading import Thread

import pytest
from tests.unit.broker.offers import ANY, CHEAP, X, ids, offer, told

import tidings
from tidings.delivery.notification import notification_id
from tidings.errors import BrokerError, CursorError, EventError, SubscriptionError, UsageError
from tidings.rdf.event import Event, to_nquads


@pytest.fixture(params=["memory", "folder"])
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tidings.Broker]:
    with tidings.Broker(None if request.param == "memory" else tmp_path / "broker") as made:
        yield made


# ----------------------------------------------------------------------------------------------------------- publishing


def test_a_match_has_what_the_interface_says(broker: tidings.Broker) -> None:
    broker.subscribe(CHEAP, id="cheap")
    [match] = broker.publish(offer(1, 390))
    assert (match.event, match.subscription) == (f"{X}offer/1", "cheap")
    assert match.bindings == ({"pc": f"<{X}pc1>"},)
    assert not broker.publish(offer(2, 410))


def test_matches_are_by_event_and_then_by_subscription(broker: tidings.Broker) -> None:
    for id in ("b", "a", "c"):
        broker.subscribe(ANY, id=id)
    data = b"".join(to_nquads(offer(n)) for n in (2, 1))
    found = [(match.event, match.subscription) for match in broker.publish(data, format="nq")]
    assert found == [(id, s) for id in ids(2, 1) for s in "abc"]


def test_the_same_event_again_is_no_new_notification(broker: tidings.Broker) -> None:
    cheap = broker.subscribe(CHEAP)
    assert len(broker.publish(offer(1))) == 1
    again = broker.publish(offer(1))
    assert (len(again), again.ids) == (0, ids(1))
    assert told(cheap) == ids(1)


def test_the_same_id_with_other_triples_is_refused(broker: tidings.Broker) -> None:
    broker.publish(offer(1))
    with pytest.raises(EventError, match="was published before, with other triples"):
        broker.publish(Event(f"{X}offer/1", offer(2).body))
    assert broker.event(f"{X}offer/1") is not None


def test_a_document_that_cannot_be_read_publishes_nothing(broker: tidings.Broker) -> None:
    with pytest.raises(EventError) as raised:
        broker.publish(b"<http://x/a> <http://x/b> <http://x/c> .\n<http://x/a> nonsense .\n", format="nt")
    assert raised.value.line == 2
    assert broker.stats()["events"] == 0


def test_now_is_when_it_was_published(broker: tidings.Broker) -> None:
    later = broker.subscribe(f"SELECT (NOW() AS ?now) {{ ?pc <{X}price> ?p FILTER(YEAR(NOW()) > 2000) }}")
    broker.publish(offer(1))
    [notification] = later.page().notifications
    assert notification.event.published is not None
    assert notification.bindings[0]["now"].startswith(f'"{notification.event.published}"')


# -------------------------------------------------------------------------------------------------------- subscriptions


def test_one_sees_what_is_published_after_it(broker: tidings.Broker) -> None:
    broker.publish(offer(1))
    cheap = broker.subscribe(CHEAP)
    broker.publish(offer(2))
    assert told(cheap) == ids(2)


def test_the_same_again_changes_nothing_and_another_text_is_the_next_version(broker: tidings.Broker) -> None:
    first = broker.subscribe(CHEAP, id="s")
    broker.publish(offer(1))
    assert broker.subscribe(CHEAP, id="s").version == 1
    second = broker.subscribe(ANY, id="s")
    assert second.version == 2
    broker.publish(offer(2, 900))
    notifications = second.page().notifications
    assert [(n.event.id, n.version) for n in notifications] == [(ids(1)[0], 1), (ids(2)[0], 2)]
    assert [n.id for n in notifications] == [notification_id("s", n.event.id, version=n.version) for n in notifications]
    # Who was reading does not notice.
    assert [n.event.id for n in first.page(notifications[0].cursor).notifications] == ids(2)


def test_what_is_cancelled_hears_nothing_and_may_come_again(broker: tidings.Broker) -> None:
    cheap = broker.subscribe(CHEAP, id="s")
    cheap.cancel()
    assert not broker.publish(offer(1))
    with pytest.raises(UsageError, match="there is no subscription 's'"):
        broker.subscription("s")
    again = broker.subscribe(CHEAP, id="s")
    assert again.version == 2
    broker.publish(offer(2))
    assert told(again) == ids(2)


def test_what_is_paused_hears_nothing_until_it_is_resumed(broker: tidings.Broker) -> None:
    cheap = broker.subscribe(CHEAP)
    cheap.pause()
    broker.publish(offer(1))
    assert cheap.state == "paused"
    cheap.resume()
    broker.publish(offer(2))
    assert told(cheap) == ids(2)


def test_one_may_look_back(broker: tidings.Broker) -> None:
    broker.publish(offer(1))
    broker.publish(offer(2, 900))
    moment = datetime.now(UTC)
    broker.publish(offer(3))
    late = broker.subscribe(CHEAP, since=moment - timedelta(days=1))
    later = broker.subscribe(CHEAP, since=moment)
    broker.publish(offer(4))
    assert told(late) == ids(1, 3, 4)
    assert told(later) == ids(3, 4)


def test_all_of_them_by_id(broker: tidings.Broker) -> None:
    for id in ("b", "ä", "a"):
        broker.subscribe(CHEAP, id=id, labels={"for": id})
    assert [each.id for each in broker.subscriptions()] == ["a", "b", "ä"]


def test_a_text_that_is_none_is_refused_with_its_place(broker: tidings.Broker) -> None:
    with pytest.raises(SubscriptionError) as raised:
        broker.subscribe("SELECT ?x {\n ?x nonsense }", id="wrong")
    assert raised.value.line == 2


@pytest.mark.parametrize("id", ["", "a\nb", "x" * 513, 7])
def test_an_id_that_is_none_is_refused(broker: tidings.Broker, id: str) -> None:
    with pytest.raises(UsageError, match="the id of a subscription is"):
        broker.subscribe(CHEAP, id=id)


# ------------------------------------------------------------------------------------------------------------ receiving


def test_pages_and_acks(broker: tidings.Broker) -> None:
    cheap = broker.subscribe(CHEAP)
    for number in range(10):
        broker.publish(offer(number))
    first = cheap.page(limit=4)
    assert [n.event.id for n in first.notifications] == ids(0, 1, 2, 3)
    assert [n.event.id for n in cheap.page(first.cursor, limit=4).notifications] == ids(4, 5, 6, 7)
    assert len(cheap.page().notifications) == 10
    cheap.ack(first.notifications[1].cursor)
    cheap.ack(first.notifications[0].cursor)
    assert told(cheap) == ids(*range(2, 10))
    last = cheap.page().cursor
    assert cheap.page(last).cursor == last


@pytest.mark.parametrize("cursor", ["9-1", "1-99"])
def test_a_cursor_that_is_none_of_it(broker: tidings.Broker, cursor: str) -> None:
    cheap = broker.subscribe(CHEAP)
    with pytest.raises(CursorError, match="none of this subscription"):
        cheap.page(cursor)


@pytest.mark.parametrize("cursor", ["", "x", "1", "-1-2", "1-2 ", "1-9999999999999999999"])
def test_a_cursor_that_is_no_cursor(broker: tidings.Broker, cursor: str) -> None:
    with pytest.raises(UsageError, match="no place among notifications"):
        broker.subscribe(CHEAP).page(cursor)


def test_an_iterator_goes_from_what_there_is_to_what_comes(broker: tidings.Broker) -> None:
    cheap = broker.subscribe(CHEAP)
    broker.publish(offer(1))
    heard = iter(cheap)
    assert next(heard).event.id == ids(1)[0]
    publishing = Thread(target=lambda: [broker.publish(offer(number)) for number in (2, 3)])
    publishing.start()
    assert [next(heard).event.id, next(heard).event.id] == ids(2, 3)
    publishing.join()
    ending = Thread(target=cheap.cancel)
    ending.start()
    assert list(heard) == []
    ending.join()


def test_an_iterator_may_be_impatient(broker: tidings.Broker) -> None:
    assert list(broker.subscribe(CHEAP).listen(timeout=0.01)) == []


def test_callbacks(broker: tidings.Broker) -> None:
    cheap, heard, done = broker.subscribe(CHEAP), [], Flag()

    def tell(notification: object) -> None:
        heard.append(notification.event.id)  # type: ignore[attr-defined]
        if len(heard) == 2:
            done.set()

    running = cheap.on(tell)
    broker.publish(offer(1))
    broker.publish(offer(2))
    assert done.wait(10)
    assert heard == ids(1, 2)
    cheap.cancel()
    running.join(10)
    assert not running.is_alive()


def test_asyncio(broker: tidings.Broker) -> None:
    cheap = broker.subscribe(CHEAP)
    broker.publish(offer(1))

    async def run() -> list[str]:
        heard = []
        async for notification in cheap:
            heard.append(notification.event.id)
            if len(heard) == 1:
                await asyncio.to_thread(broker.publish, offer(2))
            else:
                await asyncio.to_thread(cheap.cancel)
        return heard

    assert asyncio.run(run()) == ids(1, 2)


def test_a_deleted_event_is_gone_and_so_are_its_notifications(broker: tidings.Broker) -> None:
    cheap = broker.subscribe(CHEAP)
    for number in range(3):
        broker.publish(offer(number))
    assert broker.delete_event(ids(1)[0])
    assert not broker.delete_event(ids(1)[0])
    assert broker.event(ids(1)[0]) is None
    assert told(cheap) == ids(0, 2)


# --------------------------------------------------------------------------------------------------------- in a folder


def test_it_goes_on_where_it_ended(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path) as broker:
        broker.subscribe(CHEAP, id="s")
        broker.subscribe(ANY, id="gone").cancel()
        broker.subscribe(ANY, id="paused").pause()
        broker.publish(offer(1))
        broker.subscription("s").ack(broker.subscription("s").page().cursor)
        broker.publish(offer(2))
    with tidings.Broker(tmp_path) as broker:
        assert [match.subscription for match in broker.publish(offer(3))] == ["s"]
        assert not broker.publish(offer(2))
        assert told(broker.subscription("s")) == ids(2, 3)
        broker.subscription("paused").resume()
        assert len(broker.publish(offer(4))) == 2


def test_a_folder_belongs_to_one_broker(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path), pytest.raises(BrokerError, match="running already"):
        tidings.Broker(tmp_path)
    tidings.Broker(tmp_path).close()


def test_what_is_closed_takes_nothing(tmp_path: Path) -> None:
    broker = tidings.Broker(tmp_path)
    broker.close()
    with pytest.raises(BrokerError, match="it is closed"):
        broker.publish(offer(1))


def test_a_backup_goes_on_by_itself(tmp_path: Path) -> None:
    with tidings.Broker(tmp_path / "here") as broker:
        broker.subscribe(CHEAP, id="s")
        broker.publish(offer(1))
        broker.backup(tmp_path / "there")
        broker.publish(offer(2))
        with pytest.raises(BrokerError, match="there is a broker already"):
            broker.backup(tmp_path / "there")
    with tidings.Broker(tmp_path / "there") as broker:
        broker.publish(offer(3))
        assert told(broker.subscription("s")) == ids(1, 3)


def test_many_publish_at_once_and_there_is_one_order(broker: tidings.Broker) -> None:
    cheap = broker.subscribe(CHEAP)

    def publish(first: int) -> None:
        for number in range(first, first + 50):
            broker.publish(offer(number))

    threads = [Thread(target=publish, args=(50 * n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    page = cheap.page(limit=1_000)
    found = [int(n.event.id.rpartition("/")[2]) for n in page.notifications]
    assert sorted(found) == list(range(400))
    for n in range(8):
        mine = [number for number in found if number // 50 == n]
        assert mine == sorted(mine)
