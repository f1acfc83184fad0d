"""When a feed is asked again."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.ingest.feeds.reading import atom, rdf, reading, rss

from tidings.ingest.feeds import schedule
from tidings.ingest.feeds.schedule import DAY, DEFAULT_POLICY, HOUR, MINUTE, Hints, Policy, Schedule

MONDAY = 1_630_886_400.0  # 2021-09-06T00:00:00Z


def test_changes_shorten_and_quiet_lengthens() -> None:
    first = Schedule().answered(MONDAY, 0.0, changed=True)
    assert first.due == MONDAY + DEFAULT_POLICY.first
    assert first.changed == MONDAY
    busy = first.answered(first.due, 0.0, changed=True)
    quiet = first.answered(first.due, 0.0, changed=False)
    assert busy.due - first.due < DEFAULT_POLICY.first < quiet.due - first.due
    assert quiet.changed == MONDAY
    for _ in range(50):
        busy, quiet = busy.answered(0, 0.0, changed=True), quiet.answered(0, 0.0, changed=False)
    assert (busy.interval, quiet.interval) == (DEFAULT_POLICY.minimum, DEFAULT_POLICY.maximum)


def test_ttl_period_and_max_age_are_kept_within_the_bounds_of_the_policy() -> None:
    for hints, max_age, wait in (
        (Hints(ttl=2 * HOUR), None, 2 * HOUR),
        (Hints(period=3 * HOUR), None, 3 * HOUR),
        (Hints(), 4 * HOUR, 4 * HOUR),
        (Hints(ttl=400 * DAY), None, DEFAULT_POLICY.maximum),
        (Hints(ttl=1.0), None, DEFAULT_POLICY.first),
    ):
        assert Schedule().answered(0.0, 0.0, changed=True, hints=hints, max_age=max_age).due == wait
    assert Schedule().answered(0.0, 0.0, changed=True, pushed=True).due == DEFAULT_POLICY.pushed


def test_failures_double_the_wait_and_leave_the_interval() -> None:
    state = Schedule().answered(0.0, 0.0, changed=True)
    waits = []
    for _ in range(30):
        state = state.failed(0.0, 0.0)
        waits.append(state.due)
    assert waits[:3] == [MINUTE, 2 * MINUTE, 4 * MINUTE]
    assert waits[-1] == DEFAULT_POLICY.maximum
    assert state.interval == DEFAULT_POLICY.first
    assert state.answered(0.0, 0.0, changed=False).failures == 0
    assert Schedule().failed(0.0, 0.0, retry_after=HOUR).due == HOUR
    assert Schedule().failed(0.0, 0.0, retry_after=1e9).due == DEFAULT_POLICY.patience


def test_a_hub_makes_it_due_at_once() -> None:
    assert Schedule(due=9e9).told(5.0).due == 5.0


def test_a_schedule_is_kept_and_restored() -> None:
    state = Schedule().answered(1.0, 0.5, changed=True).failed(2.0, 0.5)
    assert Schedule(**asdict(state)) == state


def test_hours_and_days_are_skipped() -> None:
    night = Hints(skip_hours=frozenset({22, 23, 0, 1}))
    assert schedule.unskipped(MONDAY + 30 * MINUTE, night) == MONDAY + 2 * HOUR
    weekend = Hints(skip_days=frozenset({5, 6}))
    assert schedule.unskipped(MONDAY - HOUR, weekend) == MONDAY
    assert schedule.unskipped(MONDAY, weekend) == MONDAY
    never = Hints(skip_hours=frozenset(range(24)))
    assert schedule.unskipped(MONDAY + 7, never) == MONDAY + 7


@given(
    st.lists(st.tuples(st.sampled_from(["changed", "same", "failed"]), st.floats(0, 1, exclude_max=True)), max_size=30),
    st.builds(
        Hints,
        ttl=st.none() | st.floats(0, 1e12),
        skip_hours=st.frozensets(st.integers(0, 23)),
        skip_days=st.frozensets(st.integers(0, 6)),
    ),
)
def test_it_is_due_later_and_never_out_of_bounds(history: list[tuple[str, float]], hints: Hints) -> None:
    policy = Policy()
    state, now = Schedule(), MONDAY
    for what, chance in history:
        if what == "failed":
            state = state.failed(now, chance, policy=policy)
            assert policy.back_off <= state.due - now <= policy.maximum * (1 + policy.jitter)
        else:
            state = state.answered(now, chance, changed=what == "changed", hints=hints, policy=policy)
            assert policy.minimum <= state.due - now <= policy.maximum * (1 + policy.jitter) + 7 * DAY
        now = state.due


# --------------------------------------------------------------------------------------------------- what feeds say


def test_hints_of_rss() -> None:
    found = reading(
        rss(
            "<item><title>T</title><description>&lt;skipHours>&lt;hour>9&lt;/hour></description></item>",
            "<title>N</title><ttl>60</ttl><skipHours><hour>0</hour><hour>24</hour><hour>7</hour><hour>x</hour></skipHours>"
            "<skipDays><day>Sunday</day><day>Caturday</day></skipDays><sy:updatePeriod>daily</sy:updatePeriod>"
            '<sy:updateFrequency>4</sy:updateFrequency><atom:link rel="hub" href="http://hub.example/"/>'
            '<atom:link rel="self" href="http://news.example/feed"/>',
        )
    ).hints
    assert found == Hints(
        ttl=HOUR,
        period=6 * HOUR,
        skip_hours=frozenset({0, 7}),
        skip_days=frozenset({6}),
        hubs=("http://hub.example/",),
        topic="http://news.example/feed",
    )


def test_hints_of_atom_rdf_and_json() -> None:
    links = (
        '<link rel="hub" href="http://a.example/"/><link rel="hub" href="javascript:x"/><link rel="self" href="/feed"/>'
    )
    found = reading(atom("", links), address="http://news.example/x").hints
    assert (found.hubs, found.topic) == (("http://a.example/",), "http://news.example/feed")
    assert reading(rdf("", "<sy:updatePeriod>hourly</sy:updatePeriod>")).hints.period == HOUR
    hub = '"hubs": [{"type": "WebSub", "url": "http://h.example/"}]'
    json = f'{{"version": "https://jsonfeed.org/version/1", "feed_url": "http://n.example/f", {hub}}}'
    assert reading(json).hints == Hints(hubs=("http://h.example/",), topic="http://n.example/f")


@pytest.mark.parametrize(
    ("text", "seconds"), [("60", HOUR), (" 5 ", 300), ("0", None), ("-1", None), ("x", None), (None, None)]
)
def test_ttl(text: str | None, seconds: float | None) -> None:
    assert schedule.ttl(text) == seconds


@pytest.mark.parametrize(
    ("period", "frequency", "seconds"),
    [("hourly", None, HOUR), ("hourly", "2", HOUR / 2), (None, "2", DAY / 2), ("never", "1", None), (None, None, None)],
)
def test_period(period: str | None, frequency: str | None, seconds: float | None) -> None:
    assert schedule.period(period, frequency) == seconds


# ------------------------------------------------------------------------------------------------- what servers say


@pytest.mark.parametrize(
    ("header", "age", "seconds"),
    [
        ("max-age=60", None, 60),
        ("public, Max-Age = 60, must-revalidate", "20", 40),
        ("s-maxage=5", None, None),
        ("max-age=60", "99", 0),
        ("no-cache, max-age=60", None, 0),
        ("", None, None),
        (None, None, None),
    ],
)
def test_max_age(header: str | None, age: str | None, seconds: float | None) -> None:
    assert schedule.max_age(header, age) == seconds


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        ("Mon, 06 Sep 2021 00:02:00 GMT", 120),
        ("Sun, 05 Sep 2021 00:02:00 GMT", 0),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert schedule.retry_after(header, MONDAY) == seconds


def test_links_of_an_answer() -> None:
    headers = [
        '<http://hub.example/>; rel="hub", </feed?a=1,2>; title="a, \\"b\\"; rel=x"; rel="self alternate"',
        "<http://second.example/>;rel=HUB",
        '<http://other.example/>; rel="self"; anchor="#x"',
        "no link at all",
    ]
    found = schedule.links(headers)
    assert found == [
        ("hub", "http://hub.example/"),
        ("self", "/feed?a=1,2"),
        ("alternate", "/feed?a=1,2"),
        ("hub", "http://second.example/"),
    ]
    hints = schedule.with_links(Hints(hubs=("http://of-the-feed.example/",), topic="http://t.example/", ttl=5.0), found)
    assert hints == Hints(ttl=5.0, hubs=("http://hub.example/", "http://second.example/"), topic="/feed?a=1,2")
    assert schedule.with_links(Hints(topic="http://t.example/"), []).topic == "http://t.example/"


@given(st.text('<>;,="\\ ahrefl', max_size=200))
def test_any_header_is_read(header: str) -> None:
    assert all(isinstance(relation, str) for relation, _ in schedule.links([header * 20]))
