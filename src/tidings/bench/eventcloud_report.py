"""The tables and the plots of the EventCloud benchmark; the plots are laid out as the paper's figure 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tidings.bench.eventcloud_claims import FACTOR, RATE, Found
from tidings.bench.eventcloud_store import STRATEGIES, Stored
from tidings.bench.eventcloud_ways import CHAINED, WAYS, Point, Taken
from tidings.bench.report import Curve, Figure, Row, Table

_WAYS = (
    "Notifications a second: matching events, divided by the time from the tables of events to the pairs of "
    "subscription and event in the driver; the median of the rounds. One-step has whole events; with shards, as many "
    "as executors, an event is sent to those that it could concern, and without them every worker has all "
    "subscriptions. Chained has the events quad by quad, in any order. Stages are Spark's; bytes moved are those that "
    "its tasks write for other tasks, compressed."
)
_ALL = (
    "Complete bindings are the solutions of what chained found: each would be a notification, if what is there twice "
    "were not removed on the way. They are counted in a run by itself, with the most executors."
)
_STORED = (
    "By the pipelines, without subscriptions: the seconds of a batch with all events, from reading them to when they "
    "are in the archive; a row of it is a whole event with one-step, a quad with chained. An event is open as long as "
    "quads may come, and kept in Spark's state meanwhile."
)


def tables(found: Found) -> tuple[Table, ...]:
    return (
        _points("Executors (figure 2a)", "executors", found.executors, _executors, _WAYS + _cores(found)),
        _points("Number of events (figure 2b)", "events", found.events, _events),
        _points("Number of subscriptions (figure 2c)", "subscriptions", found.subscriptions, _subscriptions),
        _points(
            "A subscription that accepts all (figure 2d)", "executors", found.accept_all, _executors, _ALL, counted=True
        ),
        Table("Storing (figure 2e)", tuple(_stored(found.stored)), _STORED),
    )


def _cores(found: Found) -> str:
    more = [point.executors for point in found.executors if point.executors > found.cores]
    if not more:
        return ""
    return (
        f" An executor is a process with one core of its own by Spark's count. But this machine has {found.cores} "
        f"cores, which the driver needs too: {_listed(more)} executors take turns on them. They show what more "
        "processes cost, not what more machines bring."
    )


def _listed(numbers: Sequence[int]) -> str:
    return " or ".join(map(str, numbers))


def _points(
    title: str,
    column: str,
    points: Sequence[Point],
    value: Callable[[Point], int],
    note: str = "",
    *,
    counted: bool = False,
) -> Table:
    rows = []
    for point in points:
        for way in WAYS:
            row: Row = {column: value(point), "strategy": way, **_row(point.taken[way])}
            if counted:
                row["complete bindings"] = point.complete if way == CHAINED else None
            rows.append(row)
    return Table(title, tuple(rows), note)


def _row(taken: Taken) -> Row:
    slow, fast = taken.rates
    return {
        "notifications a second": taken.rate,
        "slowest round": slow,
        "fastest round": fast,
        "seconds": taken.median,
        "stages": taken.stages,
        "bytes moved": taken.moved,
        "told": taken.told,
    }


def _stored(stored: Sequence[Stored]) -> Iterator[Row]:
    for each in stored:
        for strategy in STRATEGIES:
            taken = each.taken[strategy]
            yield {
                "events": each.parameters.events,
                "strategy": strategy,
                "rows": taken.told,
                "seconds": taken.median,
                "stages": taken.stages,
                "bytes moved": taken.moved,
            }


# -------------------------------------------------------------------------------------------------------------- figures


def figures(found: Found) -> tuple[Figure, ...]:
    return tuple(_figures(found))


def _figures(found: Found) -> Iterator[Figure]:
    chained = [point.taken[CHAINED].rate for point in found.executors]
    ahead = _curve(f"{FACTOR} times chained", found.executors, _executors, [FACTOR * rate for rate in chained])
    yield _rates("eventcloud-2a", "Throughput and executors", "executors", found.executors, _executors, ahead)
    yield _rates("eventcloud-2b", "Throughput and number of events", "events", found.events, _events)
    paper = _curve("chained", found.subscriptions, _subscriptions, [RATE] * len(found.subscriptions))
    title, x = "Throughput and number of subscriptions", "subscriptions"
    yield _rates("eventcloud-2c", title, x, found.subscriptions, _subscriptions, paper)
    title = "Throughput and executors, one subscription that accepts all"
    yield _rates("eventcloud-2d", title, "executors", found.accept_all, _executors)
    yield _storing("eventcloud-2e", "Time to store", "seconds", found.stored, lambda taken: taken.median)
    yield _storing("eventcloud-2e-moved", "Moved to store", "MB", found.stored, lambda taken: taken.moved / 1e6)


def _executors(point: Point) -> int:
    return point.executors


def _events(point: Point) -> int:
    return point.parameters.events


def _subscriptions(point: Point) -> int:
    return point.parameters.subscriptions


def _curve(label: str, points: Sequence[Point], x: Callable[[Point], int], ys: Sequence[float]) -> Curve:
    return Curve(label, tuple(map(x, points)), tuple(ys), paper=True)


def _rates(
    name: str, title: str, x: str, points: Sequence[Point], value: Callable[[Point], int], *paper: Curve
) -> Figure:
    xs = tuple(float(value(point)) for point in points)
    ours = (Curve(way, xs, tuple(point.taken[way].rate for point in points)) for way in WAYS)
    return Figure(name, title, x, "notifications a second", (*ours, *paper), log_y=True)


def _storing(name: str, title: str, y: str, stored: Sequence[Stored], value: Callable[[Taken], float]) -> Figure:
    xs = tuple(float(each.parameters.events) for each in stored)
    curves = (Curve(way, xs, tuple(value(each.taken[way]) for each in stored)) for way in STRATEGIES)
    return Figure(name, f"{title}, 25 quads an event, no subscription", "events", y, tuple(curves))
