"""The charts of a pipeline run: what is joined, counted, drawn and said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from tests.unit.draw.worlds import SVG, elements, texts, titles

from tidings.draw.charts import (
    NARROW,
    REST,
    WIDE,
    BatchFigures,
    Column,
    amount,
    duration,
    joined,
    lag_apart,
    lag_chart,
    latency_chart,
    rate,
    throughput_chart,
    total_seconds,
)

STARTED = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
SECONDS = {"subscriptions": 0.5, "read": 0.25, "archive": 0.25, "match": 0.75, "rejects": 0.125, "total": 2.0}


def batch(number: int, events: int = 10, **more: object) -> BatchFigures:
    moment = STARTED + timedelta(seconds=3 * number)
    made = BatchFigures(number, moment, events, 30, 20, 1, 40, 0, 0, 2.5, SECONDS)
    return made._replace(**more)  # type: ignore[arg-type]


def description(svg: str) -> str:
    return ElementTree.fromstring(svg).findtext(f"{SVG}desc") or ""


def test_neighbours_are_joined_where_there_are_many_batches() -> None:
    batches = [batch(i, events=i, taken=i % 2, lag=float(i)) for i in range(2_000)]
    for w in (WIDE, NARROW):
        columns = joined(batches, w)
        assert 20 <= len(columns) <= w / 8
        assert sum(column.batches for column in columns) == 2_000
        assert sum(column.events for column in columns) == sum(range(2_000))
        assert sum(column.taken for column in columns) == 1_000
        assert all(a.last + 1 == b.first for a, b in pairwise(columns))
    assert joined(batches)[1]._replace(stages={}) == (20, 39, 20, 590, 40.0, {}, 39.0, 10, 0)
    assert joined(batches)[1].name == "batches 20 to 39"


def test_few_batches_are_columns_of_their_own() -> None:
    columns = joined([batch(i) for i in range(8)])
    assert [column.name for column in columns][::7] == ["batch 0", "batch 7"]
    assert columns[0].stages == {**{k: v for k, v in SECONDS.items() if k != "total"}, REST: 0.125}
    assert joined([]) == []


def test_joined_batches_have_mean_stages_and_the_longest_lag() -> None:
    slow = {stage: 3 * seconds for stage, seconds in SECONDS.items()}
    [column] = joined([batch(0), batch(1, seconds=slow, lag=9.0), batch(2, lag=None)][:2], 8.0)
    assert (column.stages["match"], column.lag, column.seconds) == (1.5, 9.0, 8.0)
    assert column.rate == 20 / 8


def test_times_that_are_none_are_nothing() -> None:
    odd = batch(0, lag=float("nan"), seconds={"read": float("inf"), "match": -1.0, "archive": 0.5})
    assert total_seconds(odd) == 0.5
    [column] = joined([odd])
    assert (column.lag, column.stages["archive"], column.stages[REST]) == (None, 0.5, 0.0)
    [column] = joined([batch(0, seconds={})])
    assert column.rate == 0
    for chart in (throughput_chart, latency_chart, lag_chart):
        ElementTree.fromstring(chart([column]))


def test_throughput_has_a_bar_and_a_number_for_every_batch() -> None:
    svg = throughput_chart(joined([batch(0, 100), batch(1, 5_000), batch(2, 0)]))
    assert len(elements(svg, "rect", "c-match")) == 2
    assert {"50.0", "2,500", "events a second", "batch"} <= set(texts(svg))
    assert "batch 1: 5,000 events in 2 s: 2,500 a second" in titles(svg)
    assert description(svg) == "5,100 events in 6 s, 850 a second; most in batch 1, 2,500 a second."


def test_latency_stacks_the_stages_and_draws_the_lag() -> None:
    svg = latency_chart(joined([batch(0), batch(1, lag=None), batch(2), batch(3)]))
    for name in ("subscriptions", "read", "archive", "match", "rejects", "rest"):
        assert len(elements(svg, "rect", f"c-{name}")) == 4 + 1, "with one in the legend"
    assert len(elements(svg, "rect", "s-ink")) == 3
    line, *_ = elements(svg, "path", "s-ink")
    assert line.get("d", "").count("M") == 2, "broken where no lag was measured"
    assert {"seconds", "match 38 %", "lag"} <= set(texts(svg))
    assert "The longest lag was 2.5 s, in batch 0." in description(svg)


def test_without_lags_there_is_no_line() -> None:
    svg = latency_chart(joined([batch(0, lag=None)]))
    assert not elements(svg, "path", "s-ink")
    assert "lag" not in texts(svg)
    assert "No lag" in description(lag_chart(joined([batch(0, lag=None)])))


def test_a_lag_that_would_flatten_the_stages_is_drawn_apart() -> None:
    assert not lag_apart(joined([batch(0)]))
    columns = joined([batch(0), batch(1, lag=7_200.0)])
    assert lag_apart(columns)
    assert not elements(latency_chart(columns, lag=False), "path", "s-ink")
    assert "minutes" in texts(lag_chart(columns))


@pytest.mark.parametrize("chart", [throughput_chart, latency_chart])
def test_marks_where_subscriptions_come_and_go(chart: Callable[[Sequence[Column]], str]) -> None:
    heads = len(elements(chart(joined([batch(0)])), "path", "step"))
    svg = chart(joined([batch(0, taken=31), batch(1), batch(2, taken=2, cancelled=1_200)]))
    assert len(elements(svg, "path", "step")) == heads + 2
    assert len(elements(svg, "path", "hollow")) == 1
    assert {"31", "2", "1,200", "subscriptions added or replaced", "subscriptions cancelled"} <= set(texts(svg))
    assert any("1,200 subscriptions cancelled" in title for title in titles(svg))
    assert "subscriptions cancelled" not in texts(chart(joined([batch(0, taken=1)])))


def test_no_two_names_of_batches_overlap() -> None:
    for count in (1, 8, 40, 119, 121, 5_000):
        svg = throughput_chart(joined([batch(10_000_000 + i) for i in range(count)], NARROW), NARROW)
        names = [text for text in elements(svg, "text") if (text.text or "").startswith("10,0")]
        places = [float(text.get("x", "")) for text in names]
        assert places
        assert all(b - a > 60 for a, b in pairwise(places))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.0123, "12.3 ms"),
        (1.5, "1.5 s"),
        (61, "1 min 1 s"),
        (7_260, "2 h 1 min"),
        (900_000, "10 days 10 h"),
    ],
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_numbers() -> None:
    assert [amount(n) for n in (0, 0.5, 12, 1234, 1.5e6, 2e9, 3e12, 4e17)] == [
        *("0", "0.5", "12", "1,234", "1.5 million", "2 billion", "3 trillion", "4.00e+17"),
    ]
    assert [rate(n) for n in (0.5, 12, 1234)] == ["0.50", "12.0", "1,234"]
