"""The page on ingestion: its example runs, and it names every format."""

from __future__ import annotations

import re

import pytest
from tests.support import ROOT

from tidings.ingest.registry import KINDS

PAGE = (ROOT / "docs" / "ingest.md").read_text("utf-8")


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "ingest.md", "exec"), {})
    assert '<http://example.org/7> <http://example.org/name> "Tome" .' in capsys.readouterr().out


def test_every_format_is_named_with_its_files() -> None:
    for name, kind in KINDS.items():
        assert f"`{name}`" in PAGE
        assert all(f"`{suffix}`" in PAGE for suffix in kind.suffixes)
