"""The tables and figures of the G-ToPSS benchmark, laid out like figure 9 of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tidings.bench.gtopss_claims import Found, Point, Rival
from tidings.bench.report import Cell, Curve, Figure, Row, Table
from tidings.bench.workloads.gtopss import Parameters

_HARDWARE = (
    "The paper measured Java on a 1 GHz processor with 1 GB; its text gives no time and no size, and its figures are "
    "lost, so that shapes can be compared and figures cannot."
)
_SIZE = (
    "Subscriptions of (5, 35), as table 1 has it, cannot be drawn from publications of (35, 90); (5, 8) is taken "
    "instead. How many labels edges have is open in the paper: 100 here. Times are the mean over the publications of "
    "the fastest round."
)
_PUBLISHED = (
    "'As published' follows the pseudo-code: binding tables and counters are carried over from event to event, and "
    "edges also taken the wrong way round, so that it joins in vain and finds matches that are none."
)
_HOME = (
    "As input of OPS, a publication gets a home vertex _:H beside it, with an arc 'holds' to each vertex, and every "
    "vertex the class Vertex. A subscription gets arcs 'holds' to as few of its vertices as reach all others, names "
    "before variables; so it asks the same of the same graph. OPS maps no two vertices to one; the table says where "
    "that makes a difference. 'No names': every vertex of a subscription is a variable, as the paper says OPS assumes. "
    "'One at a time': a matcher for each subscription, nothing shared, each reading the event anew. OPS gets fewer "
    "subscriptions than the others, for the time it takes."
)
_STARS = "Not in the paper's figures; its analysis has k² pairs to look up."
_LABELS = (
    "Open in the paper. Where there are few, an edge between two stars is met by most publications, and makes "
    "candidates of all subscriptions that have it."
)
_TAXONOMY = (
    "Classes in five layers, some with two parents; every vertex is an instance of one in the lowest. The types that "
    "the taxonomy gives to the vertices of a publication are edges too, to be looked up like all others."
)


# --------------------------------------------------------------------------------------------------------------- tables


def tables(found: Found) -> tuple[Table, ...]:
    fewer = f"At {found.stars[0].parameters.subscriptions:,} subscriptions."
    many = _by("subscriptions", found.many, lambda p: p.subscriptions)
    overlaps = _by("overlap", found.overlaps, lambda p: f"{p.overlap:.0%}")
    sizes = _by("size", found.sizes, lambda p: str(p.subscription))
    ratios = _by("matching", found.ratios, lambda p: f"{p.ratio:.1%}")
    stars = _by("stars", found.stars, lambda p: p.stars)
    labels = _by("labels", found.labels, lambda p: p.labels)
    taxonomy = tuple(_constraints(label, point) for label, point in found.taxonomy)
    return (
        _work("Number of subscriptions (figure 9b)", many, f"{_HARDWARE} {_SIZE} {_PUBLISHED}"),
        _space("Memory and number of subscriptions (figure 9a)", many),
        _space("Memory and overlap (figure 9c)", overlaps, "G_M: the hash tables and edges; all: subscriptions too."),
        _space("Memory and size of subscriptions (figure 9d)", sizes, f"{fewer} Size: vertices, edges."),
        _work("Size of subscriptions (figure 9e)", sizes, fewer),
        _work("Matching ratio (figure 9f)", ratios),
        _work("Number of stars", stars, f"{fewer} {_STARS}"),
        _work("Number of labels", labels, f"{fewer} {_LABELS}"),
        Table("Is-a constraints", taxonomy, f"{fewer} {_TAXONOMY}"),
        Table("Alternatives (figures 9g, 9h)", tuple(_rival(rival) for rival in found.rivals), _HOME),
    )


def _by(column: str, points: Sequence[Point], value: Callable[[Parameters], Cell]) -> list[tuple[Row, Point]]:
    """The points, each with the first column of its row."""
    return [({column: value(point.parameters)}, point) for point in points]


def _work(title: str, points: Sequence[tuple[Row, Point]], note: str = "") -> Table:
    return Table(title, tuple({**first, **_time_row(point)} for first, point in points), note)


def _space(title: str, points: Sequence[tuple[Row, Point]], note: str = "") -> Table:
    return Table(title, tuple({**first, **_memory_row(point)} for first, point in points), note)


def _time_row(point: Point) -> Row:
    ours = point.ours
    row: Row = {
        "ms an event": ours.milliseconds,
        "matches": ours.matches,
        "probes": ours.counted["probes"],
        "edge counts": ours.counted["edge_counts"],
        "candidates": ours.counted["candidates"],
        "joined": ours.counted["joined_subscriptions"],
        "rows joined": ours.counted["rows_joined"],
    }
    if point.published is not None:
        row |= {
            "as published: ms": point.published.milliseconds,
            "its matches": point.published.matches,
            "its joined": point.published.counted["joined_subscriptions"],
        }
    return row


def _memory_row(point: Point) -> Row:
    held = point.ours.held
    return {
        "pairs of G_M": int(held["gm_pairs"]),
        "edges of G_M": int(held["gm_edges"]),
        "MB of G_M": held["bytes_matrix"] / 1e6,
        "MB in all": held["bytes_held"] / 1e6,
        "bytes a subscription": round(held["bytes_held"] / point.parameters.subscriptions),
        "µs to add one": point.added / point.parameters.subscriptions * 1e6,
    }


def _constraints(label: str, point: Point) -> Row:
    ours = point.ours
    return {
        "": label,
        "ms an event": ours.milliseconds,
        "matches": ours.matches,
        "publication edges": ours.counted["publication_edges"],
        "candidates": ours.counted["candidates"],
        "joined": ours.counted["joined_subscriptions"],
        "constraint checks": ours.counted["constraint_checks"],
        "taxonomy steps": ours.counted["taxonomy_steps"],
    }


def _rival(rival: Rival) -> Row:
    found = rival.found
    differs = f"{rival.more} more, {rival.fewer} fewer" if rival.more or rival.fewer else "the same"
    return {
        "matcher": rival.name,
        "subscriptions": rival.subscriptions,
        "ms an event": found.milliseconds,
        "matches": found.matches,
        "matches of gtopss": differs,
        "candidates": found.counted.get("candidates"),
        "rows joined": found.counted.get("rows_joined"),
        "trees": found.counted.get("trees"),
        "circles": found.counted.get("circles"),
        "patterns examined": found.counted.get("patterns_examined"),
    }


# -------------------------------------------------------------------------------------------------------------- figures


def figures(found: Found) -> tuple[Figure, ...]:
    return tuple(_figures(found))


def _figures(found: Found) -> Iterator[Figure]:
    counts = [float(point.parameters.subscriptions) for point in found.many]
    overlaps = [point.parameters.overlap * 100 for point in found.overlaps]
    grown = [point for point in found.sizes if point.parameters.subscription in ((4, 4), (5, 8), (8, 12), (10, 16))]
    edges = [float(point.parameters.subscription[1]) for point in grown]
    subscriptions = "subscriptions"
    yield _memory("gtopss-9a", "Memory and number of subscriptions", subscriptions, counts, found.many)
    yield Figure(
        "gtopss-9b",
        "Matching time and number of subscriptions",
        subscriptions,
        "ms a publication",
        (_time("gtopss", counts, found.many), _published(counts, found.many)),
    )
    yield _memory("gtopss-9c", "Memory and overlap of subscriptions", "overlap, %", overlaps, found.overlaps)
    by_edges = "edges of a subscription: (4, 4), (5, 8), (8, 12), (10, 16)"
    yield _memory("gtopss-9d", "Memory and size of subscriptions", by_edges, edges, grown)
    title = "Matching time and size of subscriptions"
    yield Figure("gtopss-9e", title, by_edges, "ms a publication", (_time("gtopss", edges, grown),))
    same = [point for point in found.sizes if point.parameters.subscription[1] == 8]
    vertices = [float(point.parameters.subscription[0]) for point in same]
    title, x = "Matching time and vertices, at 8 edges", "vertices of a subscription"
    yield Figure("gtopss-9e-vertices", title, x, "ms a publication", (_time("gtopss", vertices, same),))
    ratios = [point.parameters.ratio * 100 for point in found.ratios]
    yield Figure(
        "gtopss-9f",
        "Matching time and matching ratio",
        "matching subscriptions, %",
        "ms a publication",
        (_time("gtopss", ratios, found.ratios), _published(ratios, found.ratios)),
    )
    yield _rivals("gtopss-9g", "G-ToPSS and OPS", found, ("gtopss", "ops", "ops, no names"))
    yield _rivals("gtopss-9h", "OPS and naive", found, ("ops", "naive, OPS form", "ops, one at a time"))
    stars = [float(point.parameters.stars) for point in found.stars]
    yield Figure(
        "gtopss-stars",
        "Matching time and stars",
        "stars of a subscription",
        "ms a publication",
        (_time("gtopss", stars, found.stars),),
    )
    labels = [float(point.parameters.labels) for point in found.labels]
    curves = (_time("gtopss", labels, found.labels), _published(labels, found.labels))
    title = "Matching time and labels"
    yield Figure("gtopss-labels", title, "labels", "ms a publication", curves, log_x=True, log_y=True)


def _memory(name: str, title: str, x: str, xs: Sequence[float], points: Sequence[Point]) -> Figure:
    curves = tuple(
        Curve(label, tuple(xs), tuple(point.ours.held[counter] / 1e6 for point in points))
        for label, counter in (("all", "bytes_held"), ("G_M", "bytes_matrix"))
    )
    return Figure(name, title, x, "MB", curves)


def _time(label: str, xs: Sequence[float], points: Sequence[Point]) -> Curve:
    return Curve(label, tuple(xs), tuple(point.ours.milliseconds for point in points))


def _published(xs: Sequence[float], points: Sequence[Point]) -> Curve:
    taken = [point.published for point in points]
    return Curve("as published", tuple(xs), tuple(each.milliseconds for each in taken if each is not None))


def _rivals(name: str, title: str, found: Found, names: Sequence[str]) -> Figure:
    curves = []
    for rival in names:
        taken = found.of(rival)
        curves.append(Curve(rival, tuple(taken), tuple(each.milliseconds for each in taken.values())))
    return Figure(name, title, "subscriptions", "ms a publication", tuple(curves), log_x=True, log_y=True)
