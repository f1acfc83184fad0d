"""A snapshot to be opened, damaged and replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.index.snapshots import ABOUT, ARRAYS

from tidings.index.snapshot import write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the snapshot of ARRAYS."""
    write(tmp_path / "snapshot", ARRAYS, ABOUT)
    return tmp_path / "snapshot"
