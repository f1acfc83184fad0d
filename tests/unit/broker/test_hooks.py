"""Webhooks: sent in order, signed, again until they are taken, given up in the end, and not to private addresses."""

from __future__ import annotations

import hmac
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from ipaddress import ip_address
from threading import Event as Flag
from typing import Any

import pytest
from tests.unit.broker.endpoint import Receiver
from tests.unit.broker.offers import CHEAP, ids, offer

import tidings
from tidings.broker import dead, subscriptions
from tidings.broker.cursors import Cursor
from tidings.broker.hooks import Breaker, Hooks, Patience
from tidings.broker.receiving import Subscription
from tidings.broker.retention import Retention
from tidings.delivery.addresses import Endpoint, address_of, is_public
from tidings.delivery.webhooks import signed, written_secret
from tidings.errors import DeliveryError, UsageError

QUICK = Patience(tries=3, first=0.01, longest=0.02, breaks=1_000, timeout=2)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def broker() -> Iterator[tidings.Broker]:
    with tidings.Broker() as made:
        yield made


def hooked(broker: tidings.Broker, url: str) -> Subscription:
    return broker.subscribe(CHEAP, id="s", webhook=url)


def waits_for(broker: tidings.Broker, subscription: Subscription, cursor: str) -> None:
    end = time.monotonic() + 10
    while subscription.page().notifications and time.monotonic() < end:
        time.sleep(0.01)
    assert subscription.page().cursor == cursor


def test_notifications_are_sent_in_order_and_signed(broker: tidings.Broker, receiver: Receiver) -> None:
    subscription = hooked(broker, receiver.url)
    broker.publish(offer(1))
    hooks = Hooks(broker._core, private=True, patience=QUICK)
    broker.publish(offer(2))
    broker.publish(offer(3))
    assert receiver.events(3) == ids(1, 2, 3)
    waits_for(broker, subscription, "1-3")
    headers, envelope, body = receiver.heard[0]
    assert headers["content-type"] == "application/cloudevents+json"
    assert (envelope["specversion"], envelope["type"], envelope["subject"]) == ("1.0", "tidings.notification", "s")
    assert envelope["id"] == headers["webhook-id"]
    secret = written_secret(hooks.secret(subscription._standing)).removeprefix("whsec_")
    said = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = b64encode(hmac.new(b64decode(secret), said, sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    hooks.close()


def test_what_is_not_taken_comes_again_and_those_behind_it_wait(broker: tidings.Broker, receiver: Receiver) -> None:
    receiver.answers = [500, 302, 200]
    hooked(broker, receiver.url)
    for number in (1, 2):
        broker.publish(offer(number))
    hooks = Hooks(broker._core, private=True, patience=QUICK)
    assert receiver.events(4) == ids(1, 1, 1, 2)
    assert len({headers["webhook-id"] for headers, _, _ in receiver.heard}) == 2
    hooks.close()


def test_what_is_never_taken_becomes_a_dead_letter(broker: tidings.Broker, receiver: Receiver) -> None:
    receiver.answers = [500, 500, 500]
    subscription = hooked(broker, receiver.url)
    for number in (1, 2):
        broker.publish(offer(number))
    hooks = Hooks(broker._core, private=True, patience=QUICK)
    assert receiver.events(4) == ids(1, 1, 1, 2)
    waits_for(broker, subscription, "1-2")
    with broker._core.database.reading() as reader:
        [letter] = dead.of_stream(reader, subscription.stream, 0, 10)
    assert (letter.event, letter.tries) == (ids(1)[0], 3)
    assert "answered 500" in letter.reason
    hooks.close()


def test_a_private_address_is_not_spoken_to(broker: tidings.Broker, receiver: Receiver) -> None:
    subscription = hooked(broker, receiver.url)
    broker.publish(offer(1))
    hooks = Hooks(broker._core, patience=QUICK)
    waits_for(broker, subscription, "1-1")
    assert receiver.heard == []
    with broker._core.database.reading() as reader:
        [letter] = dead.of_stream(reader, subscription.stream, 0, 10)
    assert "private address" in letter.reason
    hooks.close()


def test_who_takes_nothing_is_left_alone(broker: tidings.Broker, receiver: Receiver) -> None:
    receiver.answers = [500] * 50
    hooked(broker, receiver.url)
    broker.publish(offer(1))
    hooks = Hooks(
        broker._core, private=True, patience=Patience(tries=50, first=0.001, longest=0.002, breaks=3, rest=60)
    )
    assert len(receiver.events(3)) == 3
    time.sleep(0.2)
    assert len(receiver.heard) == 3
    hooks.close()


def kinds(receiver: Receiver, count: int) -> list[tuple[object, dict[str, object]]]:
    """What came, when so much has: its type, and its data."""
    end = time.monotonic() + 10
    while len(receiver.heard) < count and time.monotonic() < end:
        time.sleep(0.01)
    return [(body["type"], body["data"]) for _, body, _ in receiver.heard]  # type: ignore[misc]


def test_a_pause_is_told_unless_it_is_the_owners(broker: tidings.Broker, receiver: Receiver) -> None:
    subscription = hooked(broker, receiver.url)
    receiver.answers = [500]
    hooks = Hooks(broker._core, private=True, patience=QUICK)
    subscription.pause("it failed too often")
    (kind, data), (again, _) = kinds(receiver, 2)
    assert (kind, again) == ("tidings.paused", "tidings.paused")
    assert data == {"subscription": "s", "version": 1, "state": "paused", "reason": "it failed too often"}
    assert len({headers["webhook-id"] for headers, _, _ in receiver.heard}) == 1
    subscription.resume()
    hooks.watch(subscription._standing)
    broker.publish(offer(1))
    assert kinds(receiver, 3)[2][0] == "tidings.notification"
    subscription.pause()
    time.sleep(0.1)
    assert len(receiver.heard) == 3
    hooks.close()


def test_what_went_before_it_was_sent_is_told(receiver: Receiver) -> None:
    with tidings.Broker(retention=Retention(backlog=10)) as broker:
        subscription = hooked(broker, receiver.url)
        for number in range(12):
            broker.publish(offer(number))
        broker._core.backlog.once()
        hooks = Hooks(broker._core, private=True, patience=QUICK)
        (kind, data), *rest = kinds(receiver, 10)
        assert (kind, data["upto"]) == ("tidings.missed", "1-3")
        assert [told["event"] for _, told in rest] == ids(*range(3, 12))
        waits_for(broker, subscription, "1-12")
        hooks.close()


def test_a_breaker_closes_again() -> None:
    breaker, patience = Breaker(), Patience(breaks=2, rest=10)
    breaker.note(True, patience, 0)
    assert breaker.closed(0)
    breaker.note(True, patience, 1)
    assert (breaker.closed(10.9), breaker.closed(11)) == (False, True)
    breaker.note(False, patience, 11)
    breaker.note(True, patience, 12)
    assert breaker.closed(12)


def test_waits_double_up_to_the_longest() -> None:
    patience = Patience(first=1, longest=10)
    assert [patience.wait(tried, lambda: 1.0) for tried in range(1, 7)] == [1, 2, 4, 8, 10, 10]
    assert patience.wait(3, lambda: 0.0) == 2


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "2002:7f00:1::", "64:ff9b::7f00:1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))
    with pytest.raises(DeliveryError, match="private address"):
        address_of(Endpoint.of("http://x.example/"), private=False, look=lambda host, port: ["93.184.216.34", address])


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])
def test_addresses_that_are_public(address: str) -> None:
    assert address_of(Endpoint.of("http://x.example/"), private=False, look=lambda host, port: [address]) == address


@pytest.mark.parametrize(
    "url",
    ["", "x", "ftp://x/", "file:///etc/passwd", "http://", "http://u:p@x/", "http://x/\r\nh: v", "http://x:99999/",
     "http://x/" + "a" * 2_000, "http://[::1/"],
)  # fmt: skip
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(UsageError):
        Endpoint.of(url)


def test_a_signature_is_that_of_the_specification() -> None:
    """Its own example."""
    secret = b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    headers = signed(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_what_goes_to_make_room_does_not_stop_the_others(broker: tidings.Broker, receiver: Receiver) -> None:
    """Sent, and gone before that is written down."""
    hooked(broker, receiver.url)
    core = broker._core
    acknowledge = core.acknowledge

    def gone(place: Cursor, *also: Any) -> Any:
        core.change(partial(subscriptions.drop, stream=1, seq=1)).result()
        return acknowledge(place, *also)

    core.acknowledge = gone  # type: ignore[method-assign]
    hooks = Hooks(core, private=True, patience=QUICK)
    for number in (1, 2, 3):
        broker.publish(offer(number))
    assert receiver.events(3) == ids(1, 2, 3)
    hooks.close()


def test_one_that_is_paused_is_sent_the_rest_when_it_goes_on(broker: tidings.Broker, receiver: Receiver) -> None:
    receiver.answers = [500]
    subscription = hooked(broker, receiver.url)
    hooks = Hooks(broker._core, private=True, patience=QUICK)
    for number in (1, 2):
        broker.publish(offer(number))
    assert receiver.events(1)[:1] == ids(1)
    subscription.pause()
    broker.publish(offer(3))
    with broker._core.database.reading() as reader:
        standing = subscriptions.find(reader, "", "s")
    assert standing is not None
    subscription.resume()
    hooks.watch(standing)
    broker.publish(offer(4))
    end = time.monotonic() + 10
    while ids(4)[0] not in receiver.events(0) and time.monotonic() < end:
        time.sleep(0.01)
    heard = receiver.events(0)
    assert [event for event, before in zip(heard, ["", *heard], strict=False) if event != before] == ids(1, 2, 4)
    hooks.close()


def test_a_look_up_that_does_not_end_is_not_waited_for(broker: tidings.Broker) -> None:
    held = Flag()

    def look(host: str, port: int) -> list[str]:
        held.wait(60)
        return []

    subscription = hooked(broker, "http://slow.example/")
    hooks = Hooks(broker._core, patience=Patience(tries=2, first=0.01, longest=0.02, timeout=0.2), look=look)
    broker.publish(offer(1))
    waits_for(broker, subscription, f"{subscription.stream}-1")
    with broker._core.database.reading() as reader:
        [letter] = dead.of_stream(reader, subscription.stream, 0, 10)
    assert "slow.example is not known: it took too long" in letter.reason
    hooks.close()
    held.set()


def test_a_look_up_under_way_does_not_hold_up_the_end(broker: tidings.Broker) -> None:
    began, held = Flag(), Flag()

    def look(host: str, port: int) -> list[str]:
        began.set()
        held.wait(60)
        return []

    hooked(broker, "http://slow.example/")
    hooks = Hooks(broker._core, patience=Patience(timeout=60), look=look)
    broker.publish(offer(1))
    assert began.wait(30)
    before = time.monotonic()
    hooks.close()
    assert time.monotonic() - before < 20
    held.set()
