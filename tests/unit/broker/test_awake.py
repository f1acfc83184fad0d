"""A server can keep processors from sleeping, or says why it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidings.broker.http.awake import awake
from tidings.errors import UsageError


def test_it_is_said_as_long_as_it_lasts(tmp_path: Path) -> None:
    file = tmp_path / "latency"
    file.write_bytes(b"")
    with awake(file):
        assert file.read_bytes() == bytes(4)


def test_where_it_cannot_be_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--awake needs Linux"), awake(tmp_path / "none"):
        pass
