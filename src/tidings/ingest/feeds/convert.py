"""The converter `feed`: RSS, Atom and JSON Feed, one event an item.

Of `How` it uses `base` (against which addresses are resolved where the document has no address of its own), `classes`,
`home`, `limits`, and the option `charset`: what the server says of the encoding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from tidings.errors import EventError
from tidings.ingest.base import Batches, How, Input, Report, check_triples
from tidings.ingest.feeds.jsonfeed import read_json
from tidings.ingest.feeds.links import hierarchical
from tidings.ingest.feeds.model import Feed
from tidings.ingest.feeds.reading import Reading
from tidings.ingest.feeds.rss1 import read_rss1
from tidings.ingest.feeds.sniff import sniff
from tidings.ingest.feeds.text import decoded
from tidings.ingest.feeds.xmlfeed import read_xml
from tidings.rdf.limits import MIB, Limits, human
from tidings.rdf.quads import too_large

_CHUNK = 1 * MIB
_GROWTH = 64
_ROOT = re.compile(r"\s*+\{")


def convert(input: Input, how: How, report: Report) -> Iterator[pa.RecordBatch]:
    """The events of a feed; where it is none, that is reported."""
    try:
        reading = read(input, how, report)
    except EventError as error:
        report(error)
        return
    yield from reading.batches


def read(input: Input, how: How, report: Report) -> Reading:
    """The same with the hints, for who asks again. An `EventError` where it is no feed at all."""
    data = _all(input, how.limits)
    charset = how.options.get("charset")
    text = decoded(data, charset if isinstance(charset, str) else None)
    kind, size = sniff(data[:8_192]), len(data)
    del data
    address = hierarchical(input.address)
    base = address or hierarchical(how.base)
    feed = None
    if _ROOT.match(text):
        feed = read_json(text, input.name, how.limits, base, address, report)
    elif kind == "rdf":
        feed = read_rss1(text, how.limits, base)
    if feed is None:
        feed = read_xml(text, input.name, how.limits, base, address)
    return Reading(feed.version, feed.hints, _batches(feed, input.name, how, base, size, report), feed.problem)


def _all(input: Input, limits: Limits) -> bytes:
    """All bytes, if they are not too many: a stream that unpacks without end is left when it is."""
    parts: list[bytes] = []
    size = 0
    while part := input.stream.read(_CHUNK):
        size += len(part)
        if size > limits.max_document:
            raise EventError(f"a document of more than {human(limits.max_document)}", source=input.name)
        parts.append(part)
    return b"".join(parts)


def _batches(
    feed: Feed, source: str, how: How, base: str | None, size: int, report: Report
) -> Iterator[pa.RecordBatch]:
    batches = Batches(source)
    room = _GROWTH * (size + MIB)
    limits = how.limits
    for number, (body, lines, facts) in enumerate(feed.events(how, base), start=1):
        room -= len(body)
        if room < 0:
            reason = f"what the items share makes the document more than {_GROWTH} times as large"
            report(EventError(reason, source=source, hint=f"the items from number {number} on are left out"))
            break
        try:
            if facts is not None and len(body) > limits.max_term and facts.longest() > limits.max_term:
                raise EventError(too_large(limits))
            check_triples(lines, limits, source)
            yield from batches.add_body(body, limits)
        except EventError as error:
            report(EventError(f"item {number}: {error.reason}", source=source, hint=error.hint))
    yield from batches.rest()
