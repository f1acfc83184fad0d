"""What a stream of feeds has read, kept in a folder: so a batch that is run again has the same rows.

A take is what was new in one document of one feed, in a file with a number; the file also has all that is known of the
feed since. An offset of the stream is such a number, and there is none before its file. Beside them is what is known of
every feed, as it was when it was last asked for: a file each, which is written after the take. Where a crash came in
between, the take is the newer of the two, and counts.

What Spark is done with is removed, when `done` says so. One stream has one folder.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from io import BytesIO

import pyarrow as pa

from tidings.delivery.feeds import Followed, hints_of_json, hints_to_json
from tidings.delivery.fetch import Known
from tidings.errors import EngineError
from tidings.ingest.feeds.items import Items
from tidings.ingest.feeds.options import FeedOptions
from tidings.ingest.feeds.schedule import Schedule
from tidings.spark.schema import READ_ROWS
from tidings.spark.store import Store

_TAKES, _FEEDS, _DONE = "takes", "feeds", "done"
_ENDING = ".arrow"
_MARK = b"tidings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Followed):
    """A feed of a stream: `listed` is the address that it was named by, `take` the last one of its own."""

    listed: str
    options: FeedOptions
    take: int = 0

    def to_json(self) -> str:
        return json.dumps(
            {
                "listed": self.listed,
                "options": self.options.to_json(),
                "take": self.take,
                "url": self.url,
                "state": self.state,
                "problem": self.problem,
                "status": self.status,
                "known": asdict(self.known),
                "version": self.version,
                "hints": hints_to_json(self.hints),
                "schedule": asdict(self.schedule),
                "items": b64encode(self.items.data).decode(),
            }
        )

    @staticmethod
    def of_json(text: str | bytes) -> Kept:
        told = json.loads(text)
        told["options"] = FeedOptions.of_json(told["options"])
        told["known"] = Known(**told["known"])
        told["hints"] = hints_of_json(told["hints"])
        told["schedule"] = Schedule(**told["schedule"])
        told["items"] = Items(b64decode(told["items"]))
        return Kept(**told)


class Takes:
    """The folder."""

    def __init__(self, folder: str) -> None:
        self._store = Store(folder)

    def done(self) -> int:
        """The last take that Spark needs no more."""
        return int(self._store.read(_DONE)) if self._store.is_file(_DONE) else 0

    def numbers(self) -> list[int]:
        """Of the takes that are there."""
        names = (name.removesuffix(_ENDING) for name in self._store.names(_TAKES) if name.endswith(_ENDING))
        return sorted(int(name) for name in names if name.isdecimal())

    def feeds(self) -> dict[str, Kept]:
        """What is known of every feed, by the address that it was named by."""
        names = [name for name in self._store.names(_FEEDS) if name.endswith(".json")]
        found = {kept.listed: kept for kept in (Kept.of_json(self._store.read(f"{_FEEDS}/{name}")) for name in names)}
        for number in self.numbers():
            kept = Kept.of_json(_opened(self._store.read(_name(number))).schema.metadata[_MARK])
            if kept.listed not in found or found[kept.listed].take < kept.take:
                found[kept.listed] = kept
        return found

    def write(self, feed: Kept, rows: Iterable[pa.RecordBatch]) -> None:
        """A take, by the number that the feed says; it is there for good when this returns."""
        name = _name(feed.take)
        if self._store.is_file(name):
            raise EngineError(f"two streams of feeds keep what they read in {self._store.folder}: name a folder each")
        out = BytesIO()
        schema = READ_ROWS.with_metadata({_MARK: feed.to_json().encode()})
        with pa.ipc.new_stream(out, schema) as writer:
            for batch in rows:
                writer.write_batch(batch.replace_schema_metadata(schema.metadata))
        self._store.write(name, out.getvalue())

    def keep(self, feed: Kept) -> None:
        name = sha256(feed.listed.encode()).hexdigest()[:32]
        self._store.write(f"{_FEEDS}/{name}.json", feed.to_json().encode())

    def rows(self, numbers: Sequence[int]) -> Iterator[pa.RecordBatch]:
        for number in numbers:
            for batch in _opened(self._store.read(_name(number))):
                yield batch.replace_schema_metadata(None)

    def forget(self, upto: int) -> None:
        """Spark is done with all up to this one."""
        if upto > self.done():
            self._store.write(_DONE, str(upto).encode())
        for number in self.numbers():
            if number <= upto:
                self._store.delete(_name(number))


def _name(number: int) -> str:
    return f"{_TAKES}/{number:012}{_ENDING}"


def _opened(data: bytes) -> pa.RecordBatchReader:
    return pa.ipc.open_stream(data)
