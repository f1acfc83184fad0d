"""What is written down of a batch before it begins, so that it is the same batch when it is run again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias
from uuid import uuid4

from tidings.errors import SubscriptionError, TidingsError
from tidings.spark.changing import Taken
from tidings.spark.store import Store
from tidings.spark.versions import Version

Tell: TypeAlias = Callable[[TidingsError], None]
_MOST_PROBLEMS = 1_000
_KEPT = 20
_OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Problem:
    """A subscription that could not be taken."""

    source: str | None
    line: int | None
    subscription: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Record:
    """When a batch began and with which subscriptions; how many of these came and went, what was wrong, and which of
    their changes may have missed events."""

    accepted: str
    version: Version
    put: int = 0
    gone: int = 0
    standing: int = 0
    problems: list[Problem] = field(default_factory=list)
    late: list[int] = field(default_factory=list)

    @property
    def time(self) -> datetime:
        return datetime.fromisoformat(self.accepted)

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self) | {"version": self.version._asdict()}, ensure_ascii=False).encode()

    @staticmethod
    def of_bytes(data: bytes) -> Record:
        row: dict[str, Any] = json.loads(data)
        problems = [Problem(**each) for each in row.pop("problems")]
        return Record(**{**row, "version": Version(**row["version"]), "problems": problems})


class Records:
    """The records of a pipeline's batches. Those of batches that were done long ago are removed."""

    def __init__(self, folder: str) -> None:
        self._store = Store(folder)

    def owner(self) -> str:
        """What tells this pipeline from any other."""
        if not self._store.is_file(_OWNER):
            self._store.write(_OWNER, uuid4().hex.encode())
        return self._store.read(_OWNER).decode()

    def last(self) -> int:
        """The last batch that was begun; -1 where none was."""
        return max((int(name[:-5]) for name in self._store.names() if name.endswith(".json")), default=-1)

    def of(self, batch: int, take: Callable[[Tell], Taken]) -> Record:
        """The record of a batch, made now if there is none."""
        name = f"{batch}.json"
        if self._store.is_file(name):
            return Record.of_bytes(self._store.read(name))
        problems: list[Problem] = []
        taken = take(lambda error: problems.append(problem_of(error)))
        if len(problems) > _MOST_PROBLEMS:
            more = f"and {len(problems) - _MOST_PROBLEMS:,} more subscriptions that could not be taken"
            problems = [*problems[:_MOST_PROBLEMS], Problem(None, None, None, more)]
        now = datetime.now(UTC).isoformat()
        record = Record(now, taken.version, taken.put, taken.gone, taken.standing, problems, list(taken.late))
        self._store.write(name, record.to_bytes())
        self._store.delete(f"{batch - _KEPT}.json")
        return record


def problem_of(error: TidingsError) -> Problem:
    if not isinstance(error, SubscriptionError):
        return Problem(None, None, None, str(error))
    return Problem(error.source, error.row if error.row is not None else error.line, error.id, str(error))
