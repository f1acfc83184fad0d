"""The benchmark of feeds, in small: what it counts is what was asked, and nobody misses anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidings.bench import run
from tidings.bench.feeds import BROKER, POLL, QUICK, WAYS, WEBSUB
from tidings.bench.plots import save
from tidings.bench.report import Report, keep
from tidings.bench.settings import Settings


@pytest.fixture(scope="module")
def report() -> Report:
    return run("feeds", Settings(quick=True))


def test_every_way_is_there_for_every_number_of_subscribers(report: Report) -> None:
    [table] = report.tables
    assert [(row["subscribers"], row["way"]) for row in table.rows] == [
        (count, way) for count in QUICK.subscribers for way in WAYS
    ]
    assert all(row["missed"] == 0 for row in table.rows)


def test_a_broker_asks_once_for_all(report: Report) -> None:
    requests = {(row["subscribers"], row["way"]): int(row["requests"] or 0) for row in report.tables[0].rows}
    one, many = QUICK.subscribers
    assert requests[many, POLL] > requests[one, POLL]
    assert requests[many, BROKER] < requests[many, POLL]
    assert requests[many, WEBSUB] == requests[one, WEBSUB] == 0
    pushes = [(row["pushes"], row["items"]) for row in report.tables[0].rows if row["way"] == WEBSUB]
    assert all(pushed == items for pushed, items in pushes)


def test_it_is_kept_with_its_plots(report: Report, tmp_path: Path) -> None:
    paths = [*keep(report, tmp_path), *save(report.figures, tmp_path)]
    assert {path.name for path in paths} == {"feeds.json", "feeds.md", "feeds-requests.svg", "feeds-delay.svg"}
    assert all(claim.verdict == "cannot be told" for claim in report.claims)
    assert "stands for 30 minutes" in (tmp_path / "feeds.md").read_text()
