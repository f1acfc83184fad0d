"""What a subscriber may say beside the query: what he wants to be sent, where to, for how long."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Literal, TypeAlias, get_args

from tidings.delivery.addresses import Endpoint
from tidings.errors import UsageError
from tidings.rdf.formats import Format

Payload: TypeAlias = Literal["event", "bindings", "construct", "ids"]

PAYLOADS = get_args(Payload)
_MOST_LABELS = 32
_LONGEST = 256
"""Characters of a label, or of its value."""

_LONGEST_TTL = timedelta(days=36_500)
_MADE = {"template", "template_version", "parameters"}


@dataclass(frozen=True, slots=True)
class Carries:
    """What a notification carries, and in which format where that is RDF."""

    payload: Payload = "bindings"
    format: Format = Format.NT


@dataclass(frozen=True, slots=True)
class Options:
    """`payload` is what a notification carries, `format` the media type of the RDF in it; `labels` are the subscriber's
    own; `ttl` is in seconds, from each time that it is registered. What it was made of is kept with these: a template,
    which version of it, and the values that were given.
    """

    payload: Payload = "bindings"
    labels: Mapping[str, str] | None = None
    ttl: float | None = None
    webhook: str | None = None
    format: str | None = None
    template: str | None = None
    template_version: int | None = None
    parameters: Mapping[str, object] | None = None

    @property
    def carries(self) -> Carries:
        return Carries(self.payload, written_as(self.format))

    @staticmethod
    def of(given: Mapping[str, object]) -> Options:
        """A `UsageError` says what is wrong with them."""
        known = {field.name for field in fields(Options)} - _MADE
        for name in given:
            if name not in known:
                raise UsageError(f"there is no option '{name}'; there are {', '.join(sorted(known))}")
        return Options(
            payload=payload_of(given.get("payload", "bindings")),
            labels=_labels(given.get("labels")),
            ttl=_ttl(given.get("ttl")),
            webhook=_webhook(given.get("webhook")),
            format=_format(given.get("format")),
        )

    def told(self) -> dict[str, object]:
        """What is given, by name."""
        return {name: value for name in _NAMES if (value := getattr(self, name)) is not None}

    def made_of(self, template: str, version: int, parameters: Mapping[str, object]) -> Options:
        return replace(self, template=template, template_version=version, parameters=parameters)

    def to_json(self) -> str:
        return json.dumps(self.told(), sort_keys=True)

    @staticmethod
    def of_json(text: str) -> Options:
        return replace(Options(), **json.loads(text))


_NAMES = tuple(field.name for field in fields(Options))


def payload_of(given: object) -> Payload:
    for payload in PAYLOADS:
        if given == payload:
            return payload  # type: ignore[no-any-return]
    raise UsageError(f"the payload is one of {', '.join(PAYLOADS)}, and not {given!r:.100}")


def _labels(given: object) -> Mapping[str, str] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping) or not all(
        isinstance(each, str) and len(each) <= _LONGEST for pair in given.items() for each in pair
    ):
        raise UsageError(f"labels are an object of strings, of up to {_LONGEST} characters each")
    if len(given) > _MOST_LABELS:
        raise UsageError(f"there are {len(given)} labels; there may be {_MOST_LABELS}")
    return dict(given)


def _ttl(given: object) -> float | None:
    if given is None:
        return None
    if isinstance(given, timedelta):
        given = given.total_seconds()
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= _LONGEST_TTL.total_seconds():
        raise UsageError(f"the time to live is a number of seconds above 0, and not {given!r:.100}")
    return float(given)


def _webhook(given: object) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise UsageError(f"a webhook is an address, and not {given!r:.100}")
    Endpoint.of(given)
    return given


def written_as(media_type: str | None) -> Format:
    """The format of this media type; N-Triples where none is given. A `UsageError` where it is that of none."""
    found = Format.NT if media_type is None else Format.of_media_type(media_type)
    if found is None:
        known = ", ".join(format.media_type for format in Format)
        raise UsageError(f"the format is one of {known}, and not {media_type!r:.100}")
    return found


def _format(given: object) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str):
        raise UsageError(f"the format is a media type, and not {given!r:.100}")
    return written_as(given).media_type
