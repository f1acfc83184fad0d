"""What has changed in a source of subscriptions since one last looked.

A source is one of two kinds. A *state* says what stands: a folder of query files, or one file of rows. What is new in
it is put, what is gone from it goes. A folder of files of rows is a *log*: every row is a change, every file is taken
once, in the order of the names among those that are new. There, a row puts a subscription unless it says otherwise:
`op` is `add`, `replace` or `cancel`, and a row that has `cancelled` and no query cancels as of that moment.

Only rows that are new are looked into: a look at a hundred thousand that stand as they did costs a hash of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from tidings.errors import SubscriptionError, UsageError
from tidings.lang.files import id_of, microseconds, moment_of, placed, subscription_of
from tidings.lang.pattern import Dialect, Query
from tidings.lang.rows import QUERY_SUFFIXES, TABLES, Known, Report, Row, read_rows, suffix_of

Kind: TypeAlias = Literal["put", "end", "gone", "taken"]
OPERATIONS = ("add", "replace", "cancel")
_BYTES = 12
_NEVER: object = object()


@dataclass(frozen=True, slots=True)
class Change:
    """One subscription is put in place of what had its id; or ends at a moment; or is gone, from now on. Or the file of
    a log has been taken, whose name is the id: its changes are those before this one.

    Moments are microseconds since 1970. `retroactive` is from when on it asks for events that were before it. `digest`
    is that of the row it came from.
    """

    kind: Kind
    id: str
    query: str = ""
    dialect: Dialect = "sparql"
    created: int | None = None
    cancelled: int | None = None
    retroactive: int | None = None
    digest: bytes = b""
    form: Query | None = field(default=None, compare=False, repr=False)
    """The query, read; None where that is still to be done."""


def is_late(change: Change) -> bool:
    """Whether there may be events already that a subscription is to be told of."""
    return change.kind == "put" and (change.created is not None or change.retroactive is not None)


@dataclass(slots=True)
class Standing:
    """What one has to remember between looks: the digests of a state's rows by id, the files taken of a log."""

    rows: dict[str, bytes] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def note(self, change: Change) -> None:
        if change.kind == "gone":
            self.rows.pop(change.id, None)
        elif change.kind == "put":
            self.rows[change.id] = change.digest
        elif change.kind == "taken":
            self.taken.add(change.id)


class Source(Protocol):
    """Where subscriptions come from. The one who asks has `standing`, and notes the changes he makes his own."""

    def changes(self, standing: Standing, report: Report) -> Iterator[Change]: ...


class Watched:
    """A file or folder of subscriptions on this machine. A file of rows is best written beside and renamed."""

    def __init__(self, path: str | Path) -> None:
        if not str(path):
            raise UsageError("the name of the file or folder of subscriptions is empty")
        self._path = Path(path)
        self._stamp = _NEVER
        self._told: set[bytes] = set()

    def changes(self, standing: Standing, report: Report) -> Iterator[Change]:
        """What is to be done. What is wrong with a row is reported once; what had its id before stays."""
        stamp = self._look()
        if stamp == self._stamp or (stamp is None and self._stamp is not _NEVER):
            return
        tell = self._once(report)
        if not self._path.is_dir():
            yield from changes_of_state(partial(read_rows, self._path), standing, tell)
        elif _has(self._path, TABLES):
            if _has(self._path, QUERY_SUFFIXES):
                raise UsageError(f"{self._path}: the folder has query files and files of changes; use two folders")
            yield from self._log(standing, tell)
        elif standing.rows or _has(self._path, QUERY_SUFFIXES):
            yield from changes_of_state(partial(_queries, self._path), standing, tell)
        self._stamp = stamp

    def _look(self) -> object:
        """Something that differs where a file does."""
        if not self._path.is_dir():
            return _stamp(self._path) if self._path.exists() else None
        return [(path.name, *_stamp(path)) for path in _files(self._path)]

    def _log(self, standing: Standing, report: Report) -> Iterator[Change]:
        for path in _files(self._path):
            if suffix_of(path) in TABLES and path.name not in standing.taken:
                yield from changes_of_log(read_rows(path, report), report)
                yield Change("taken", path.name)

    def _once(self, report: Report) -> Report:
        def tell(error: SubscriptionError) -> None:
            digest = blake2b(str(error).encode("utf-8", "surrogateescape"), digest_size=_BYTES).digest()
            if digest not in self._told:
                self._told.add(digest)
                report(error)

        return tell


def changes_of_state(
    rows: Callable[[Report, Known], Iterable[Row]], standing: Standing, report: Report
) -> Iterator[Change]:
    """The difference between what stands and what should.

    Where something is no row at all, nothing goes: it may have been any of them, or the file may be half written.
    """
    holders = {digest: id for id, digest in standing.rows.items()}
    there: set[str] = set()

    def known(raw: bytes) -> bool:
        id = holders.get(digest_of(raw))
        # The same row twice is looked into, so that it is told.
        if id is None or id in there:
            return False
        there.add(id)
        return True

    unread = 0

    def no_row(error: SubscriptionError) -> None:
        nonlocal unread
        unread += 1
        report(error)

    # Where nothing stands nothing can go, and nothing has to wait for that.
    first = not standing.rows
    puts: list[Change] = []
    for row in rows(no_row, known):
        try:
            id = id_of(row.fields)
            if id in there:
                raise SubscriptionError(f"the id '{id}' is taken already, by another row")
            # What cannot be read takes nothing away.
            there.add(id)
            put = _put(row)
        except SubscriptionError as error:
            report(placed(error, row))
            continue
        if first:
            yield put
        else:
            puts.append(put)
    if not unread:
        yield from (Change("gone", id) for id in list(standing.rows) if id not in there)
    yield from puts


def changes_of_log(rows: Iterable[Row], report: Report) -> Iterator[Change]:
    """Every row is a change."""
    for row in rows:
        try:
            yield _change(row)
        except SubscriptionError as error:
            report(placed(error, row))


def _change(row: Row) -> Change:
    ends = row.fields.get("cancelled") and not row.fields.get("query")
    operation = row.fields.get("op") or ("cancel" if ends else "add")
    if operation not in OPERATIONS:
        raise SubscriptionError(f"the field 'op' is '{operation}'; it is one of {', '.join(OPERATIONS)}")
    if operation != "cancel":
        return _put(row)
    moment = moment_of(row.fields, "cancelled")
    if moment is None:
        return Change("gone", id_of(row.fields))
    return Change("end", id_of(row.fields), cancelled=microseconds(moment))


def _put(row: Row) -> Change:
    read = subscription_of(row)
    moments = (read.created, read.cancelled, read.retroactive)
    created, cancelled, since = (None if moment is None else microseconds(moment) for moment in moments)
    if created is not None and since is not None:
        created = min(created, since)
    return Change("put", read.id, read.text, read.dialect, created, cancelled, since, digest_of(row.raw), read.query)


def digest_of(raw: bytes) -> bytes:
    return blake2b(raw, digest_size=_BYTES).digest()


def _queries(folder: Path, report: Report, known: Known) -> Iterator[Row]:
    """Of a folder that may have become empty."""
    return read_rows(folder, report, known) if _has(folder, QUERY_SUFFIXES) else iter(())


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))


def _has(folder: Path, suffixes: Mapping[str, object]) -> bool:
    return any(suffix_of(path) in suffixes for path in _files(folder))


def _stamp(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino
