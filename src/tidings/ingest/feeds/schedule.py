"""When a feed is asked again: what it and its server say of that, and what its history tells.

Nothing here knows the time or rolls dice: `now` is seconds since 1970, `chance` a number from 0 to below 1, and both
come from the caller. What was said is believed within the bounds of a `Policy`, for feeds say strange things.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

MINUTE = 60.0
HOUR = 60 * MINUTE
DAY = 24 * HOUR

PERIODS = {"hourly": HOUR, "daily": DAY, "weekly": 7 * DAY, "monthly": 30 * DAY, "yearly": 365 * DAY}
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class Hints:
    """What a feed says of when to ask for it, and who would tell of it.

    `ttl`: seconds that it may be kept (RSS `ttl`). `period`: seconds from one update to the next (`sy:updatePeriod`
    over `sy:updateFrequency`). `skip_hours`: hours of the day, 0 to 23, in GMT. `skip_days`: days, Monday is 0.
    `hubs` and `topic`: where WebSub's hubs are, and what the feed is called there.
    """

    ttl: float | None = None
    period: float | None = None
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()
    hubs: tuple[str, ...] = ()
    topic: str | None = None

    @property
    def least(self) -> float:
        """Seconds before which there is no use in asking."""
        return max(self.ttl or 0.0, self.period or 0.0)


@dataclass(frozen=True, slots=True)
class Policy:
    """Bounds in seconds. `first` is the interval of a feed that nothing is known of, `pushed` that of one whose hub
    tells of changes, `back_off` the wait after a first failure, `patience` the longest that a server can ask for.
    `jitter` is the part of an interval that chance may add.
    """

    minimum: float = 5 * MINUTE
    maximum: float = DAY
    first: float = 30 * MINUTE
    pushed: float = 12 * HOUR
    back_off: float = MINUTE
    patience: float = 7 * DAY
    jitter: float = 0.1
    faster: float = 0.5
    slower: float = 1.5

    @staticmethod
    def every(seconds: float) -> Policy:
        """The usual one, but that a feed is asked for so often at most."""
        usual = DEFAULT_POLICY
        return replace(usual, minimum=seconds, first=max(seconds, usual.first), maximum=max(seconds, usual.maximum))


DEFAULT_POLICY = Policy()


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a feed is due, and what is remembered for that. `asdict` and `Schedule(**fields)` keep and restore it.

    A change makes the interval shorter, an answer without one longer. Failures in a row double the wait, and leave
    the interval as it was.
    """

    due: float = 0.0
    interval: float | None = None
    failures: int = 0
    changed: float | None = None

    def answered(
        self,
        now: float,
        chance: float,
        *,
        changed: bool,
        hints: Hints = Hints(),
        max_age: float | None = None,
        pushed: bool = False,
        policy: Policy = DEFAULT_POLICY,
    ) -> Schedule:
        """After an answer (200 or 304). `changed`: it had new or updated items. `max_age`: how long it may be kept.

        `pushed`: a hub is known to tell of changes, so that to ask is only to be sure.
        """
        if self.interval is None:
            interval = policy.first
        else:
            interval = self.interval * (policy.faster if changed else policy.slower)
        interval = _within(interval, policy.minimum, policy.maximum)
        wait = max(interval, min(max(hints.least, max_age or 0.0), policy.maximum))
        if pushed:
            wait = max(wait, policy.pushed)
        due = unskipped(now + wait * (1 + policy.jitter * chance), hints)
        return Schedule(due, interval, 0, now if changed else self.changed)

    def failed(
        self, now: float, chance: float, *, retry_after: float | None = None, policy: Policy = DEFAULT_POLICY
    ) -> Schedule:
        """After no answer, or one that is none (a status of 4xx or 5xx, what is no feed). `retry_after`: in seconds."""
        wait = min(policy.back_off * 2.0 ** min(self.failures, 40), policy.maximum)
        wait = max(wait, min(retry_after or 0.0, policy.patience))
        return replace(self, due=now + wait * (1 + policy.jitter * chance), failures=self.failures + 1)

    def told(self, now: float) -> Schedule:
        """After a hub has told of a change: it is due at once."""
        return replace(self, due=now)


def unskipped(due: float, hints: Hints) -> float:
    """The first time from `due` on that is in no hour and on no day to be skipped; `due` itself where all are."""
    at = due
    for _ in range(7 * 24 + 1):
        hour, day = int(at // HOUR) % 24, (int(at // DAY) + 3) % 7  # 1970 began on a Thursday
        if hour not in hints.skip_hours and day not in hints.skip_days:
            return at
        at = (at // HOUR + 1) * HOUR
    return due


def _within(value: float, least: float, most: float) -> float:
    return max(least, min(value, most))


# ------------------------------------------------------------------------------------------------- what feeds say of it


def ttl(text: str | None) -> float | None:
    """RSS `ttl`: minutes as seconds; None where it is no number above 0."""
    minutes = _number(text)
    return minutes * MINUTE if minutes else None


def period(update_period: str | None, update_frequency: str | None) -> float | None:
    """`sy:updatePeriod` and `sy:updateFrequency` as seconds; None where neither is said, or not rightly."""
    if update_period is None and update_frequency is None:
        return None
    length = PERIODS.get((update_period or "daily").strip().lower())
    return length / (_number(update_frequency) or 1.0) if length else None


def skip_hours(texts: Iterable[str]) -> frozenset[int]:
    """RSS `hour`s; 24 is midnight, as in RSS 0.91."""
    return frozenset(int(text) % 24 for text in map(str.strip, texts) if re.fullmatch("[01]?[0-9]|2[0-4]", text))


def skip_days(texts: Iterable[str]) -> frozenset[int]:
    return frozenset(DAYS.index(text) for text in (t.strip().lower() for t in texts) if text in DAYS)


def _number(text: str | None) -> float | None:
    """A number of at most nine digits."""
    return float(text) if text and re.fullmatch(r"\s*[0-9]{1,9}(\.[0-9]{1,9})?\s*", text) else None


# ----------------------------------------------------------------------------------------------- what servers say of it


def max_age(cache_control: str | None, age: str | None = None) -> float | None:
    """How many seconds an answer stays fresh, by `Cache-Control` and `Age`; None where they do not say.

    `no-cache` and `no-store` are about keeping and not about asking: 0.
    """
    if cache_control is None:
        return None
    if re.search(r"(?i)(^|[,\s])no-(cache|store)($|[,;\s=])", cache_control):
        return 0.0
    found = re.search(r'(?i)(?:^|[,\s])max-age\s*=\s*"?([0-9]{1,15})', cache_control)
    return max(0.0, float(found[1]) - (_number(age) or 0.0)) if found else None


def retry_after(value: str | None, now: float) -> float | None:
    """`Retry-After`, seconds or a date, as seconds from now; None where it is neither, 0 where it has passed."""
    if value is None:
        return None
    if re.fullmatch(r"\s*[0-9]{1,15}\s*", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


_LINK = re.compile(r"""\s*<([^<>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*+"|[^\s;,"]*))?)*+)\s*(?:,|$)""")
_PARAMETER = re.compile(r""";\s*([^\s=;,"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*+)"|([^\s;,"]*))""")


def links(values: Iterable[str]) -> list[tuple[str, str]]:
    """The `Link` headers (RFC 8288) as pairs of relation and target, in order; what is no link is left out.

    Targets are as written: the caller resolves them against the address of the answer.
    """
    found: list[tuple[str, str]] = []
    for value in values:
        at = 0
        while link := _LINK.match(value, at):
            at = link.end()
            given = dict[str, str]()
            for name, quoted, plain in _PARAMETER.findall(link[2]):
                given.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or plain)
            if "anchor" not in given:
                found += ((relation.lower(), link[1].strip()) for relation in given.get("rel", "").split())
            if at >= len(value):
                break
    return found


def with_links(hints: Hints, found: Iterable[tuple[str, str]]) -> Hints:
    """The hints with hubs and topic as the links of the answer name them, which count before those of the feed."""
    found = list(found)
    hubs = tuple(dict.fromkeys(target for relation, target in found if relation == "hub"))
    topic = next((target for relation, target in found if relation == "self"), None)
    return replace(hints, hubs=hubs or hints.hubs, topic=topic or hints.topic)
