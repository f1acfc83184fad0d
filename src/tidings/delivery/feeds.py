"""A feed that is asked for again and again: what is known of it in between, and what an answer makes of that.

Who asks, when, and where it is kept, is for others to say: a broker has rows and threads (`broker.feeds`), a stream of
Spark has files and batches (`spark.feeds`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, TypeAlias, TypeVar
from urllib.parse import urljoin

import tidings
from tidings.delivery.fetch import Fetched, Known
from tidings.ingest.feeds.items import Items
from tidings.ingest.feeds.schedule import (
    DEFAULT_POLICY,
    Hints,
    Policy,
    Schedule,
    links,
    max_age,
    retry_after,
    with_links,
)
from tidings.ingest.feeds.taking import Taken

ACCEPT = (
    "application/atom+xml, application/rss+xml, application/rdf+xml, application/feed+json, application/json;q=0.9, "
    "application/xml;q=0.9, text/xml;q=0.8, */*;q=0.5"
)
WORKERS, OF_A_HOST = 16, 2
"""How many feeds are asked for at a time, and of one host."""

_LONGEST = 500
"""Characters of what is kept of a problem."""

State: TypeAlias = Literal["active", "gone"]
"""One that is gone is not asked for any more."""


def agent(public: str | None = None) -> str:
    """Who asks, and where to find him."""
    return f"tidings/{tidings.__version__} (feed reader{f'; +{public}' if public else ''})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """`problem` is what was wrong the last time, and `status` what was answered then."""

    url: str
    state: State = "active"
    problem: str = ""
    status: int | None = None
    known: Known = field(default_factory=Known)
    version: str = ""
    hints: Hints = field(default_factory=Hints)
    schedule: Schedule = field(default_factory=Schedule)
    items: Items = field(default_factory=Items)


F = TypeVar("F", bound=Followed)


@dataclass(frozen=True, slots=True)
class Moment:
    """When something was answered: seconds since 1970, and what chance adds to the wait (see `Schedule`)."""

    now: float
    chance: float
    policy: Policy = DEFAULT_POLICY


def answered(feed: F, fetched: Fetched, taken: Taken | None, at: Moment, *, pushed: bool = False) -> F:
    """After an answer: `taken` is what was in it, None where it has not been modified."""
    if taken is None:
        # What was wrong with the document still is; what was wrong since is not.
        problem = "" if feed.schedule.failures else feed.problem
        feed = replace(feed, known=_either(fetched.known, feed.known), problem=problem)
    else:
        feed = replace(
            feed,
            known=fetched.known,
            items=taken.items,
            version=taken.version,
            hints=_resolved(taken.hints, fetched),
            problem=taken.problem[:_LONGEST],
        )
    headers = fetched.headers
    schedule = feed.schedule.answered(
        at.now,
        at.chance,
        changed=taken is not None and taken.changes.any,
        hints=feed.hints,
        max_age=max_age(headers.get("cache-control"), headers.get("age")),
        pushed=pushed,
        policy=at.policy,
    )
    return replace(feed, schedule=schedule, status=fetched.status, state="active")


def failed(feed: F, problem: str, at: Moment, fetched: Fetched | None = None, *, gone: bool = False) -> F:
    """After no answer, or one that is none."""
    wait = None if fetched is None else retry_after(fetched.headers.get("retry-after"), at.now)
    return replace(
        feed,
        schedule=feed.schedule.failed(at.now, at.chance, retry_after=wait, policy=at.policy),
        status=None if fetched is None else fetched.status,
        problem=problem[:_LONGEST],
        state="gone" if gone else feed.state,
    )


def hints_to_json(hints: Hints) -> str:
    return json.dumps(asdict(hints), default=sorted)


def hints_of_json(text: str) -> Hints:
    told = json.loads(text)
    for name in ("skip_hours", "skip_days"):
        told[name] = frozenset(told.get(name, ()))
    return Hints(**{**told, "hubs": tuple(told.get("hubs", ()))})


def _either(new: Known, old: Known) -> Known:
    """What is said again counts, and what is not stays."""
    return Known(new.etag or old.etag, new.modified or old.modified)


def _resolved(hints: Hints, fetched: Fetched) -> Hints:
    """With what the headers say of hubs; and all of it as addresses."""
    hints = with_links(hints, links([fetched.headers.get("link", "")]))
    hubs = tuple(urljoin(fetched.url, each) for each in hints.hubs)
    return replace(hints, hubs=hubs, topic=None if hints.topic is None else urljoin(fetched.url, hints.topic))
