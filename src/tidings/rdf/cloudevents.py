"""Documents that come as CloudEvents 1.0: in an envelope of JSON (structured mode), or with the same said beside them,
in the headers of a message (binary mode).

What is taken of an envelope are the data, their media type and the time. Its `id`, `source` and `type` do not name the
event: that is done by its graph, or else by what it says.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from tidings.errors import EventError, Span
from tidings.rdf.formats import Format

STRUCTURED = "application/cloudevents+json"
_ENVELOPES = "application/cloudevents"
_DEFAULT = "application/json"
"""The media type of the data of an envelope that does not say."""

_SPACE = re.compile(r"[ \t\n\r]*")
_value_at = json.JSONDecoder().raw_decode


class Unpacked(NamedTuple):
    """A document, and when it was published, where that was said."""

    data: bytes
    format: Format
    time: datetime | None


def unpacked(value: bytes, content_type: str | None, time: str | None = None, format: Format | None = None) -> Unpacked:
    """The document of a message with this media type, and with this time beside it; an `EventError` where it has none.

    `format` is that of the document, whatever its media type says.
    """
    kind = _plain(content_type or "")
    if kind == STRUCTURED:
        return _of_envelope(value, format)
    if kind.startswith(_ENVELOPES):
        raise EventError(f"the content type is '{kind}'; of the envelopes of CloudEvents, {STRUCTURED} can be read")
    return Unpacked(value, format or _format(kind), None if time is None else moment_of(time))


def moment_of(text: str) -> datetime:
    """A moment as RFC 3339 writes it; in UTC where it does not say."""
    try:
        then = datetime.fromisoformat(text.strip().upper())
        return (then if then.tzinfo else then.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise EventError(f"the time is not a date and time such as 2024-05-01T12:00:00Z: '{text}'") from error


def _plain(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _format(kind: str) -> Format:
    if not kind:
        raise EventError("nothing says of which RDF format the message is", hint="give a format, or a content type")
    found = Format.of_media_type(kind)
    if found is None:
        raise EventError(
            f"the content type '{kind}' is of no RDF format", hint="give the format, if it is one all the same"
        )
    return found


def _of_envelope(value: bytes, format: Format | None) -> Unpacked:
    text, members = _members(value)
    time = _text(members, "time")
    published = None if time is None else moment_of(time)
    kind = format or _format(_plain(_text(members, "datacontenttype") or _DEFAULT))
    data, packed = members.get("data"), _text(members, "data_base64")
    if packed is not None and data is not None:
        raise EventError("the envelope has both 'data' and 'data_base64'")
    if packed is not None:
        try:
            return Unpacked(b64decode(packed, validate=True), kind, published)
        except (Base64Error, ValueError) as error:
            raise EventError(f"'data_base64' of the envelope is not base64: {error}") from error
    if data is None:
        raise EventError("the envelope has no data")
    if isinstance(data, str):
        return Unpacked(_bytes(data, "data"), kind, published)
    if kind is not Format.JSONLD:
        raise EventError(f"'data' of the envelope should be a string, since its format is {kind.value}")
    # Its own text, and not what would be written for it: the same document is to be the same event.
    return Unpacked(_bytes(_text_of_member(text, "data"), "data"), kind, published)


def _members(value: bytes) -> tuple[str, Mapping[str, object]]:
    try:
        text = value.decode("utf-8-sig")
        members = json.loads(text)
    except UnicodeDecodeError as error:
        raise EventError(f"the envelope is not UTF-8: byte 0x{value[error.start]:02X}") from error
    except json.JSONDecodeError as error:
        raise EventError(f"the envelope is not JSON: {error.msg}", span=Span(error.lineno, error.colno)) from error
    except (ValueError, RecursionError) as error:
        raise EventError(f"the envelope is not JSON that can be read: {error}") from error
    if not isinstance(members, dict):
        raise EventError("the envelope should be one JSON object")
    return text, members


def _text(members: Mapping[str, object], name: str) -> str | None:
    value = members.get(name)
    if value is not None and not isinstance(value, str):
        raise EventError(f"'{name}' of the envelope should be a string")
    return value


def _bytes(text: str, name: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise EventError(f"'{name}' of the envelope has half a character in it") from error


def _text_of_member(text: str, name: str) -> str:
    """What stands for a member of a sound JSON object; where it is there twice, the last, as for `json`."""
    found = ""
    place = _after_space(text, text.index("{") + 1)
    while text[place] != "}":
        key, end = _value_at(text, place)
        place = _after_space(text, _after_space(text, end) + len(":"))
        _, end = _value_at(text, place)
        if key == name:
            found = text[place:end]
        place = _after_space(text, end)
        if text[place] == ",":
            place = _after_space(text, place + len(","))
    return found


def _after_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    assert match is not None, "nothing is a space too"
    return match.end()
