"""The messages of a topic to rows, as a worker does it. What a message says of itself is in its headers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from tidings.errors import EventError
from tidings.rdf.cloudevents import unpacked
from tidings.rdf.formats import Format
from tidings.spark.reading import Batches, Message, Reading, read_messages


def topic_stage(reading: Reading) -> Callable[[Batches], Batches]:
    """From (value, headers, published, source) to events: each value is a document, or has one in an envelope."""

    def messages(batches: Batches) -> Iterator[Message | EventError]:
        for batch in batches:
            for value, headers, published, source in zip(*(each.to_pylist() for each in batch.columns), strict=True):
                yield _message(value, headers, published, source, given)

    given = None if reading.format is None else Format.of(reading.format)
    return lambda batches: read_messages(messages(batches), reading)


def _message(
    value: bytes | None,
    headers: list[Mapping[str, Any]] | None,
    published: datetime | None,
    source: str,
    format: Format | None,
) -> Message | EventError:
    if value is None:
        return EventError("the message is null", source=source)
    try:
        said = {header["key"].lower(): header["value"] for header in headers or ()}
        document = unpacked(value, _text(said, "content-type"), _text(said, "ce_time"), format)
    except EventError as error:
        return EventError(error.reason, span=error.span, source=source, hint=error.hint)
    return Message(document.data, source, document.time or published, document.format.value)


def _text(headers: Mapping[str, bytes | None], name: str) -> str | None:
    value = headers.get(name)
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise EventError(f"the header '{name}' is not UTF-8: byte 0x{value[error.start]:02X}") from error
