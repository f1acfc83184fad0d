"""A graph that is not connected: each part laid out on its own, and all of them side by side in rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

from tidings.draw.layered import Arc, Layout, Size, layered
from tidings.draw.svg import Box

_APART = 30.0
_SHAPE = 1.8
"""The shape of a row of parts that is aimed at: width by height of a screen."""


def packed(cards: Sequence[Size], arcs: Sequence[Arc]) -> Layout:
    """Boxes and routes for any graph; the parts in the order of their first cards."""
    whole = Layout([Box(0, 0, 0, 0)] * len(cards), [Box(0, 0, 0, 0)] * len(arcs), [[] for _ in arcs], 0.0, 0.0)
    parts = _parts(len(cards), arcs)
    layouts = []
    for nodes, links in parts:
        places = {node: place for place, node in enumerate(nodes)}
        inner = [Arc(places[arcs[i].source], places[arcs[i].target], arcs[i].label) for i in links]
        layouts.append(layered([cards[node] for node in nodes], inner))
    for (nodes, links), (x, y), layout in zip(parts, _rows(layouts), layouts, strict=True):
        moved = layout.moved(x, y)
        for node, box in zip(nodes, moved.cards, strict=True):
            whole.cards[node] = box
        for link, label, route in zip(links, moved.labels, moved.routes, strict=True):
            whole.labels[link], whole.routes[link] = label, route
        whole = replace(whole, width=max(whole.width, x + layout.width), height=max(whole.height, y + layout.height))
    return whole


def _parts(count: int, arcs: Sequence[Arc]) -> list[tuple[list[int], list[int]]]:
    """The nodes and the arcs of each connected part."""
    leader = list(range(count))

    def find(node: int) -> int:
        while leader[node] != node:
            leader[node] = node = leader[leader[node]]
        return node

    for arc in arcs:
        a, b = sorted((find(arc.source), find(arc.target)))
        leader[b] = a
    parts: dict[int, tuple[list[int], list[int]]] = {}
    for node in range(count):
        parts.setdefault(find(node), ([], []))[0].append(node)
    for i, arc in enumerate(arcs):
        parts[find(arc.source)][1].append(i)
    return list(parts.values())


def _rows(layouts: Sequence[Layout]) -> list[tuple[float, float]]:
    """Where each part goes: in rows about as wide as the widest part, or as the shape asks for."""
    area = sum((layout.width + _APART) * (layout.height + _APART) for layout in layouts)
    room = max(max((layout.width for layout in layouts), default=0.0), sqrt(area * _SHAPE))
    places = []
    x = y = tallest = 0.0
    for layout in layouts:
        if x and x + layout.width > room:
            x, y, tallest = 0.0, y + tallest + _APART, 0.0
        places.append((x, y))
        x += layout.width + _APART
        tallest = max(tallest, layout.height)
    return places
