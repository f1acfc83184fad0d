"""What several test folders need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

IN_SOAK = pytest.mark.skipif("TIDINGS_SOAK" not in os.environ, reason="takes long, and runs with make soak")
ROOT = Path(__file__).resolve().parent.parent


def data_dir(*names: str) -> Path:
    """A folder or file of the public data sets; the test skips, with the reason, where it is absent."""
    root = Path(os.environ.get("TIDINGS_DATA") or ROOT.parent / "shared" / "data")
    path = root.joinpath(*names)
    if not path.exists():
        pytest.skip(f"public data set not present: {'/'.join(names)} (set TIDINGS_DATA to its folder)")
    return path
