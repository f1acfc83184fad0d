"""A segment and its ontology in a snapshot, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tidings.errors import OntologyError, SnapshotError
from tidings.index.layout import VERSION
from tidings.index.manifest import Json
from tidings.index.segment import Segment, arrays, of_arrays
from tidings.index.snapshot import Snapshot, open_snapshot, write
from tidings.ontology import Ontology
from tidings.ontology.serial import fingerprint, of_bytes, to_bytes

SUBSCRIPTIONS = "subscriptions compiled for the matcher fast"
ROUTES = "which events concern which shards"
_ONTOLOGY = "ontology"


def save(folder: Path, segment: Segment, ontology: Ontology, kind: str = SUBSCRIPTIONS) -> None:
    """Make this the snapshot in `folder`, in place of one that is there."""
    axioms = np.frombuffer(to_bytes(ontology), np.uint8)
    about: dict[str, Json] = {
        "kind": kind,
        "arrays": VERSION,
        "subscriptions": segment.living(),
        "rules": int(segment.index.rules.subscription.size),
        "ontology": fingerprint(ontology),
    }
    write(folder, {**arrays(segment), _ONTOLOGY: axioms}, about)


@dataclass(frozen=True)
class Kept:
    """An opened snapshot; its ontology is made when it is first asked for."""

    snapshot: Snapshot
    segment: Segment

    @cached_property
    def ontology(self) -> Ontology:
        try:
            return of_bytes(self.snapshot.arrays[_ONTOLOGY].tobytes())
        except OntologyError as error:
            raise SnapshotError(self.snapshot.folder, str(error), "compile it again") from error

    def fits(self, ontology: Ontology) -> bool:
        return self.snapshot.about.get("ontology") == fingerprint(ontology)


def open_kept(folder: Path, *, verify: bool = False, kind: str = SUBSCRIPTIONS) -> Kept:
    """The snapshot in `folder`. Raises SnapshotError where there is none, or none of this kind."""
    snapshot = open_snapshot(folder, verify=verify)
    if snapshot.about.get("kind") != kind or _ONTOLOGY not in snapshot.arrays:
        wanted = "compiled subscriptions" if kind == SUBSCRIPTIONS else kind
        raise SnapshotError(folder, f"it holds something else than {wanted}", "name another folder")
    if snapshot.about.get("arrays") != VERSION:
        raise SnapshotError(folder, "another version of this program compiled it", "compile it again")
    try:
        segment = of_arrays(snapshot.arrays)
    except KeyError as error:
        raise SnapshotError(folder, f"it has no array {error}", "compile it again") from error
    return Kept(snapshot, segment)
