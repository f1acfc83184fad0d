"""Arrays of every kind, and what the tests of snapshots ask about a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tidings.errors import SnapshotError
from tidings.index.snapshot import open_snapshot

ARRAYS: dict[str, NDArray[Any]] = {
    "pool": np.frombuffer(b"a pool of bytes", np.uint8),
    "starts": np.array([0, 2, 7, 15], np.int32),
    "table.slots": np.array([[1, 2], [3, 2**64 - 1]], np.uint64),
    "longs": np.arange(-5, 1000, dtype=np.int64),
    "floats": np.array([0.0, -0.0, np.inf, np.nan, 5e-324], np.float64),
    "none": np.zeros(0, np.int32),
    "none-of-three": np.zeros((0, 3), np.uint64),
    "one": np.array(7, np.int64),
}
ABOUT = {"subscriptions": 3, "ontology": "sha256:00", "of": ["a", {"b": None, "c": 0.1}], "ſ": "\ud800 é"}


def data_file(folder: Path) -> Path:
    [path] = folder.glob("data-*")
    return path


def names(folder: Path) -> set[str]:
    return {path.name.partition("-")[0] for path in folder.iterdir()}


def assert_same(found: Mapping[str, NDArray[Any]], expected: Mapping[str, NDArray[Any]]) -> None:
    assert set(found) == set(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


def refusal(folder: Path, *, verify: bool = False) -> str:
    """Why the snapshot is not opened; the message always has the folder and an advice."""
    with pytest.raises(SnapshotError) as caught:
        open_snapshot(folder, verify=verify)
    assert caught.value.folder == str(folder)
    assert str(caught.value) == f"the snapshot in '{folder}': {caught.value.problem}; {caught.value.advice}"
    return caught.value.problem


def forge(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest as somebody would who knows how its digest is made."""
    path = folder / "manifest.json"
    fields = json.loads(path.read_text())
    del fields["digest"]
    change(fields)
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    path.write_text(json.dumps(fields | {"digest": digest}))
