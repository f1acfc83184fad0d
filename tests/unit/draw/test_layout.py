"""Where things go: nothing lies on anything else, whatever the graph."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.draw.layered import Arc, Layout
from tidings.draw.packed import packed
from tidings.draw.svg import Box
from tidings.draw.tidy import tidy

SIZE = st.tuples(st.integers(20, 300), st.integers(20, 120))


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[Arc]]:
    cards = draw(st.lists(SIZE, min_size=1, max_size=14))
    node = st.integers(0, len(cards) - 1)
    ends = draw(st.lists(st.tuples(node, node).filter(lambda pair: pair[0] != pair[1]), max_size=24))
    return cards, [Arc(a, b, draw(SIZE)) for a, b in ends]


def lies_inside(box: Box, x: float, y: float) -> bool:
    return box.x + 0.1 < x < box.x + box.w - 0.1 and box.y + 0.1 < y < box.y + box.h - 0.1


def level_points(layout: Layout) -> list[tuple[float, float]]:
    """Points on the lines inside columns, which pass cards and labels."""
    strokes = [stroke for route in layout.routes for stroke in route]
    points = [((s.start + s.leave) / 2, s.from_y) for s in strokes]
    return points + [((s.enter + s.end) / 2, s.to_y) for s in strokes]


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_nothing_overlaps(graph: tuple[list[tuple[int, int]], list[Arc]]) -> None:
    cards, arcs = graph
    layout = packed(cards, arcs)
    boxes = [*layout.cards, *layout.labels]
    assert not [pair for pair in combinations(boxes, 2) if pair[0].meets(pair[1])]
    assert not [point for point in level_points(layout) for box in boxes if lies_inside(box, *point)]
    assert all(box.x >= 0 and box.x + box.w <= layout.width + 0.1 for box in boxes)
    assert all(box.y >= -0.1 and box.y + box.h <= layout.height + 0.1 for box in boxes)


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_an_arc_leads_from_its_source_over_its_label_to_its_target(
    graph: tuple[list[tuple[int, int]], list[Arc]],
) -> None:
    cards, arcs = graph
    layout = packed(cards, arcs)
    for arc, label, route in zip(arcs, layout.labels, layout.routes, strict=True):
        source, target = layout.cards[arc.source], layout.cards[arc.target]
        first, last = route[0], route[-1]
        assert first.start in (source.x, source.x + source.w)
        assert source.y <= first.from_y <= source.y + source.h
        assert first.end in (pytest.approx(label.x), pytest.approx(label.x + label.w))
        assert last.end in (target.x, target.x + target.w)
        assert target.y <= last.to_y <= target.y + target.h


def test_a_chain_goes_from_left_to_right() -> None:
    layout = packed([(50, 20)] * 4, [Arc(0, 1, (20, 10)), Arc(1, 2, (20, 10)), Arc(2, 3, (20, 10))])
    assert [box.x for box in layout.cards] == sorted(box.x for box in layout.cards)
    assert len({box.y for box in layout.cards}) == 1


def test_a_cycle_has_one_arc_that_leads_back() -> None:
    layout = packed([(50, 20)] * 3, [Arc(0, 1, (20, 10)), Arc(1, 2, (20, 10)), Arc(2, 0, (20, 10))])
    back = [route for route in layout.routes if route[-1].end < route[0].start]
    assert len(back) == 1


def test_a_node_stays_near_what_leads_to_it() -> None:
    """0 → 1, and a long way 0 → 2 → … → 7 → 1: the last arc of it leads back."""
    chain = [Arc(0, 2, (20, 10)), *(Arc(i, i + 1, (20, 10)) for i in range(2, 7)), Arc(7, 1, (20, 10))]
    layout = packed([(50, 20)] * 8, [Arc(0, 1, (20, 10)), *chain])
    assert layout.cards[1].x == layout.cards[2].x


def test_parts_that_are_not_connected_go_side_by_side() -> None:
    layout = packed([(100, 50)] * 30, [])
    assert layout.width < 1000
    assert layout.height < 1000


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 100), st.integers(10, 90)), max_size=40))
def test_a_tree_is_tidy(grown: list[tuple[int, int]]) -> None:
    """Nodes of a level do not overlap, children are in order, a parent is in the middle of its children."""
    children: list[list[int]] = [[]]
    breadths, levels = [40.0], [0]
    # Breadth first, as the drawing has it: a node's parent is never before that of the node before it.
    last = 0
    for place, breadth in grown:
        last += place % 3 if last + place % 3 < len(children) else 0
        children[last].append(len(children))
        children.append([])
        breadths.append(float(breadth))
        levels.append(levels[last] + 1)
    centres = tidy(children, breadths, 10)
    for level in set(levels):
        row = [node for node in range(len(children)) if levels[node] == level]
        for a, b in pairwise(row):
            assert centres[b] - breadths[b] / 2 - (centres[a] + breadths[a] / 2) >= 10 - 1e-6
    for node, inner in enumerate(children):
        if inner:
            assert centres[node] == pytest.approx((centres[inner[0]] + centres[inner[-1]]) / 2)
    assert min(c - b / 2 for c, b in zip(centres, breadths, strict=True)) == pytest.approx(0)
