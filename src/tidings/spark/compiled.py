"""Subscriptions as whoever matches needs them: which version counts now, and how many they are. Those that `tidings
compile` wrote do not change; for others see `changing`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from tidings.errors import UsageError
from tidings.index.placing import checked_shards
from tidings.index.snapshot import MANIFEST
from tidings.lang.rows import Report
from tidings.lang.watched import Change
from tidings.match.fast import Fast
from tidings.match.fast.sharded import is_sharded, open_sharded
from tidings.ontology import Ontology
from tidings.spark.versions import Version


class Taken(NamedTuple):
    """What a look at the source brought."""

    version: Version
    put: int
    gone: int
    standing: int
    late: Sequence[int] = ()
    """The numbers of changes whose subscriptions may have missed events: see `late`."""


class Standings(Protocol):
    """Subscriptions as a pipeline needs them."""

    @property
    def version(self) -> Version: ...

    @property
    def ready(self) -> bool: ...

    def __len__(self) -> int: ...

    def take(self, report: Report) -> Taken: ...

    @property
    def ontology(self) -> Ontology: ...

    def late(self, number: int) -> list[Change]:
        """The changes of this number; none where they are forgotten."""

    def forget(self, number: int) -> None:
        """They have been dealt with."""


class Fixed:
    """Subscriptions that `tidings compile` wrote, which do not change. An ontology that is named must be theirs."""

    def __init__(self, folder: str, ontology: Ontology | None = None, shards: int | None = None) -> None:
        # It is refused here, and not by every worker, where it does not fit.
        named = None if ontology is None or ontology.is_empty else ontology
        if is_sharded(Path(folder)):
            kept = open_sharded(Path(folder), named)
            self._size = kept.subscriptions
            self.version = Version(os.path.abspath(kept.folder), bare=True, shards=kept.shards)
        else:
            self._size = len(Fast.open(Path(folder), ontology=named))
            self.version = Version(os.path.abspath(folder), bare=True)
        same_shards(self.version, shards, folder)
        self.ready = True

    def __len__(self) -> int:
        return self._size

    def take(self, report: Report) -> Taken:
        return Taken(self.version, 0, 0, self._size)

    @property
    def ontology(self) -> Ontology:
        return Ontology.empty()

    def late(self, number: int) -> list[Change]:
        return []

    def forget(self, number: int) -> None:
        """There are none."""


def is_compiled(folder: str) -> bool:
    """Whether `tidings compile` wrote it, in shards or not."""
    return (Path(folder) / MANIFEST).is_file() or is_sharded(Path(folder))


def same_shards(version: Version, wanted: int | None, name: str) -> None:
    """Refuse another number of shards than there are."""
    if wanted is not None and checked_shards(wanted) != version.shards:
        there = f"in {version.shards} shards" if version.shards else "without shards"
        raise UsageError(f"{name} is compiled {there}: compile it with --shards {wanted}, or leave the number out")
