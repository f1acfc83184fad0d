"""What can be said to `format("feeds")`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidings.delivery.addresses import Endpoint
from tidings.delivery.fetch import Care, plain_url
from tidings.errors import UsageError
from tidings.ingest.feeds.options import FeedOptions
from tidings.ingest.feeds.schedule import DEFAULT_POLICY, Policy
from tidings.spark.listing import opened
from tidings.spark.options import flag, number, paths, seconds

_WANTED = "a feed is missing: name its address, or a file of addresses, as in load('feeds.txt')"
_SCHEMES = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class Options:
    """`places` are addresses of feeds, and files that have an address a line."""

    places: tuple[str, ...]
    state: str | None
    feed: FeedOptions
    private: bool
    policy: Policy
    most: int | None
    problems: bool

    @staticmethod
    def of(given: Mapping[str, str]) -> Options:
        """From the options of Spark, whose names have no case."""
        values = {name.lower(): value for name, value in given.items()}
        feed: dict[str, object] = {"home": flag(values, "home") or None, "charset": values.get("charset") or None}
        if "classes" in values:
            feed["classes"] = values["classes"].replace(",", " ").split()
        return Options(
            places=paths(values, _WANTED),
            state=values.get("state") or None,
            feed=FeedOptions.of(feed),
            private=flag(values, "private"),
            policy=Policy.every(seconds(values, "every", DEFAULT_POLICY.minimum)),
            most=number(values, "maxDocumentsPerTrigger"),
            problems=flag(values, "problems"),
        )

    @property
    def care(self) -> Care:
        return Care(private=self.private)

    @property
    def folder(self) -> str:
        if self.state is None:
            raise UsageError("a stream of feeds keeps what it has read: name a folder for it, as option state")
        return self.state


def addresses(places: tuple[str, ...]) -> list[str]:
    """The addresses of all feeds, each once. In a file a line that is empty or begins with `#` is none."""
    found: dict[str, None] = {}
    for place in places:
        if place.lower().startswith(_SCHEMES):
            found[_checked(place, "")] = None
            continue
        try:
            with opened(place) as file:
                lines = file.read().decode("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"'{place}' should be a file with an address of a feed a line: {error}") from error
        for line, text in enumerate(map(str.strip, lines), start=1):
            if text and not text.startswith("#"):
                found[_checked(text, f"{place}, line {line}: ")] = None
    return list(found)


def _checked(text: str, where: str) -> str:
    url = plain_url(text)
    try:
        Endpoint.of(url, "a feed")
    except UsageError as error:
        raise UsageError(f"{where}{error}") from error
    return url
