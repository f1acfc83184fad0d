"""Offers of computers as events, and who wants to hear of them."""

from __future__ import annotations

from tidings.broker.receiving import Subscription
from tidings.rdf.event import Event

X = "http://x/"
CHEAP = f"SELECT ?pc {{ ?pc <{X}price> ?p FILTER(?p < 400) }}"
ANY = f"SELECT ?pc {{ ?pc <{X}price> ?p }}"


def offer(number: int, price: int = 100) -> Event:
    body = f'<{X}pc{number}> <{X}price> "{price}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    return Event(f"{X}offer/{number}", body)


def ids(*numbers: int) -> list[str]:
    return [f"{X}offer/{number}" for number in numbers]


def told(subscription: Subscription) -> list[str]:
    """The events that it has been told of and has not acknowledged."""
    return [notification.event.id for notification in subscription.page(limit=10_000).notifications]
