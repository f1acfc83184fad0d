"""The parsing benchmark, and how a report is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support import IN_SOAK

from tidings.bench import parsing
from tidings.bench.report import keep
from tidings.bench.settings import Settings
from tidings.bench.workloads.rtf import generated


@IN_SOAK
def test_a_benchmark_gives_tables_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing.rtf, "vocabulary", generated)
    found = parsing.at_scale(0.0005, Settings())
    data, page = keep(found, tmp_path)
    kept = json.loads(data.read_text(encoding="utf-8"))
    assert kept["name"] == "parsing"
    assert kept["machine"]["cores"] > 0
    assert [row["count"] for row in kept["tables"][0]["rows"][:2]] == [50, 10]
    assert "| cpu µs each |" in page.read_text(encoding="utf-8")
