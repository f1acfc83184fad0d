"""The world of the demo: its ontology, its events and its subscriptions, each of which demonstrates one thing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

from tidings.errors import TidingsError, UsageError
from tidings.lang.files import Subscription, read_subscriptions
from tidings.match.explain import Explanation, declared_prefixes, explain
from tidings.match.naive import Naive
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import read_events

PREFIXES = {
    "item": "http://example.org/item/",
    "who": "http://example.org/who/",
    "pub": "http://example.org/publication/",
    "ev": "http://example.org/event/",
    "sale": "http://example.org/sale/",
}
_HASHED = "urn:tidings:sha256:"


@dataclass(frozen=True, slots=True)
class World:
    """The demo's ontology, events and subscriptions."""

    ontology: Ontology
    events: tuple[Event, ...]
    subscriptions: tuple[Subscription, ...]


def load_world(folder: Path) -> World:
    return World(
        Ontology.load(*sorted((folder / "ontologies").iterdir())),
        tuple(read_events([folder / "events"], report=_refuse)),
        tuple(read_subscriptions(folder / "subscriptions", report=_refuse)),
    )


def _refuse(error: TidingsError) -> None:
    raise error


def matches_of(world: World) -> dict[str, list[Event]]:
    """For every subscription, the events that match it."""
    matcher = Naive(world.ontology)
    for subscription in world.subscriptions:
        matcher.add(subscription.id, subscription.query)
    found: dict[str, list[Event]] = {subscription.id: [] for subscription in world.subscriptions}
    for event in world.events:
        for match in matcher.match(event, lambda failure: _refuse(UsageError(failure.reason))):
            found[match.subscription].append(event)
    return found


def purpose(subscription: Subscription) -> str:
    """What it demonstrates: its first line."""
    return subscription.text.partition("\n")[0].removeprefix("# ")


def near_miss(world: World, subscription: Subscription) -> Event:
    """The event that its second line names: one that almost matches."""
    name = subscription.text.split("\n")[1].removeprefix("# Near miss: ")
    return next(event for event in world.events if short_name(event) == name)


def explained(world: World, subscription: Subscription, event: Event) -> Explanation:
    prefixes = PREFIXES | declared_prefixes(subscription.text, subscription.dialect)
    return explain(subscription.query, event, world.ontology, prefixes=prefixes)


def short_name(event: Event) -> str:
    """The local name of an event, or the name of its file where only its content names it."""
    return PurePath(event.source).name if event.id.startswith(_HASHED) else event.id.rpartition("/")[2]
