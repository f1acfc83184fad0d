"""A layered layout for cards and labelled arcs between them, after Sugiyama, Tagawa and Toda.

    ranks      arcs lead from left to right; those that close a cycle, or come from far behind, the other way round
    columns    cards stand in the even columns, and in the odd ones between them the labels of arcs: a label is laid out
               like a card, and an arc that passes a column has a place in it. So nothing can lie on anything else
    order      within a column, by the mean place of the neighbours, as long as there are fewer crossings
    places     as near to the neighbours as order and sizes allow, by least squares
    routes     curves between columns, straight lines inside them

Graphviz would do this, but is a program that few machines have; the bindings to it need a compiler, and what exists in
Python alone lays out points without labels, or is no longer kept. What is needed here is small.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from tidings.draw.svg import Box, number

Size: TypeAlias = tuple[float, float]

_SWEEPS = 12
_BACK = 2
"""From how many levels further on an arc is drawn as one that leads back."""
_CARD_GAP = 18.0
_LABEL_GAP = 7.0
_NARROW = 26.0
_WIDE = 90.0
_PORT_GAP = 15.0
_CHANNEL: Size = (0.0, 6.0)


@dataclass(frozen=True, slots=True)
class Arc:
    source: int
    target: int
    label: Size


@dataclass(frozen=True, slots=True)
class Stroke:
    """From one column to the next: level as far as the column reaches, a curve, and level again up to the end."""

    start: float
    leave: float
    enter: float
    end: float
    from_y: float
    to_y: float

    def moved(self, dx: float, dy: float) -> Stroke:
        xs = (self.start + dx, self.leave + dx, self.enter + dx, self.end + dx)
        return Stroke(*xs, self.from_y + dy, self.to_y + dy)

    def path(self) -> str:
        start, leave, enter, end = map(number, (self.start, self.leave, self.enter, self.end))
        turn, a, b = number((self.leave + self.enter) / 2), number(self.from_y), number(self.to_y)
        # An arrow at the end of a line without length would point anywhere.
        level = f"H{end}" if end != enter else ""
        return f"M{start} {a}H{leave}C{turn} {a} {turn} {b} {enter} {b}{level}"


@dataclass(frozen=True, slots=True)
class Layout:
    cards: list[Box]
    labels: list[Box]
    routes: list[list[Stroke]]
    """For each arc, in its direction: the first stroke ends at its label."""
    width: float
    height: float

    def moved(self, dx: float, dy: float) -> Layout:
        return Layout(
            [box.moved(dx, dy) for box in self.cards],
            [box.moved(dx, dy) for box in self.labels],
            [[stroke.moved(dx, dy) for stroke in route] for route in self.routes],
            self.width,
            self.height,
        )


class _Item:
    """Something that stands in a column: a card, a label, or the place where an arc passes."""

    __slots__ = ("after", "before", "column", "h", "is_card", "w", "x", "y")

    def __init__(self, column: int, size: Size, *, is_card: bool = False) -> None:
        self.column = column
        self.w, self.h = size
        self.is_card = is_card
        self.before: list[_Item] = []
        self.after: list[_Item] = []
        self.x = 0.0
        self.y = 0.0

    @property
    def middle(self) -> float:
        return self.y + self.h / 2


def layered(cards: Sequence[Size], arcs: Sequence[Arc]) -> Layout:
    """Boxes and routes for one connected graph; cards that come first go left, where the arcs allow it."""
    ranks = _ranks(len(cards), [(arc.source, arc.target) for arc in arcs])
    boxes = [_Item(2 * rank, size, is_card=True) for rank, size in zip(ranks, cards, strict=True)]
    chains = [_chain(boxes[arc.source], boxes[arc.target], arc.label) for arc in arcs]
    columns = _columns(boxes, chains)
    _order(columns)
    _place(columns)
    _spread(columns)
    ports = _ports(boxes)
    rights = [max(item.x + item.w for item in column) for column in columns]
    lefts = [min(item.x for item in column) for column in columns]
    routes = [_route(chain, ports, lefts, rights) for chain in chains]
    return Layout(
        [Box(b.x, b.y, b.w, b.h) for b in boxes],
        [Box(label.x, label.y, label.w, label.h) for _, label, *_ in chains],
        routes,
        rights[-1],
        max(item.y + item.h for column in columns for item in column),
    )


# --------------------------------------------------------------------------------------------------------------- ranks


def _ranks(count: int, arcs: Sequence[tuple[int, int]]) -> list[int]:
    """The longest way to each node, without the arcs that lead back; then sources move up to what they lead to."""
    heads: list[list[int]] = [[] for _ in range(count)]
    entered = {target for _, target in arcs}
    for source, target in arcs:
        heads[source].append(target)
    sources = [node for node in range(count) if node not in entered]
    _turn_back(heads, _depths(sources or [0], heads))
    order, forward = _topological([*sources, *range(count)], heads)
    ranks, incoming = [0] * count, [0] * count
    for node in order:
        for head in forward[node]:
            ranks[head] = max(ranks[head], ranks[node] + 1)
            incoming[head] += 1
    for node in reversed(order):
        if incoming[node] < len(forward[node]):
            ranks[node] = max(ranks[node], min(ranks[head] for head in forward[node]) - 1)
    least = min(ranks)
    return [rank - least for rank in ranks]


def _depths(sources: Sequence[int], heads: Sequence[Sequence[int]]) -> list[int]:
    """The shortest way to each node; what no source leads to is a source too."""
    depths = [-1] * len(heads)
    for starts in (sources, *([node] for node in range(len(heads)))):
        queue = deque(node for node in starts if depths[node] < 0)
        for node in queue:
            depths[node] = 0
        while queue:
            node = queue.popleft()
            for head in heads[node]:
                if depths[head] < 0:
                    depths[head] = depths[node] + 1
                    queue.append(head)
    return depths


def _turn_back(heads: list[list[int]], depths: Sequence[int]) -> None:
    """An arc from far away to a node near the sources would pull that node away from what leads to it directly."""
    for node, far in enumerate(list(map(list, heads))):
        for head in far:
            if depths[node] >= depths[head] + _BACK:
                heads[node].remove(head)
                heads[head].append(node)


def _topological(starts: Sequence[int], heads: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]]]:
    """The nodes in an order that all arcs follow once those against the depth-first search are turned around."""
    done: list[int] = []
    state = [0] * len(heads)
    forward: list[list[int]] = [[] for _ in heads]
    for start in starts:
        if state[start]:
            continue
        state[start] = 1
        stack = [(start, iter(heads[start]))]
        while stack:
            node, rest = stack[-1]
            for head in rest:
                # A head that the search is still below is an ancestor: this arc closes a cycle.
                if state[head] == 1:
                    forward[head].append(node)
                else:
                    forward[node].append(head)
                if not state[head]:
                    state[head] = 1
                    stack.append((head, iter(heads[head])))
                    break
            else:
                state[node] = 2
                done.append(node)
                stack.pop()
    return done[::-1], forward


# ------------------------------------------------------------------------------------------------------------- columns

_Chain: TypeAlias = list[_Item]


def _chain(source: _Item, target: _Item, label: Size) -> _Chain:
    """The items that an arc leads through, in its direction: next to its source, its label."""
    step = 1 if source.column < target.column else -1
    named = _Item(source.column + step, label)
    passed = [_Item(column, _CHANNEL) for column in range(source.column + 2 * step, target.column, step)]
    chain = [source, named, *passed, target]
    for a, b in pairwise(chain):
        left, right = (a, b) if step > 0 else (b, a)
        left.after.append(right)
        right.before.append(left)
    return chain


def _columns(boxes: Sequence[_Item], chains: Sequence[_Chain]) -> list[list[_Item]]:
    columns: list[list[_Item]] = [[] for _ in range(max(box.column for box in boxes) + 1)]
    for item in (*boxes, *(item for chain in chains for item in chain[1:-1])):
        columns[item.column].append(item)
    return columns


# --------------------------------------------------------------------------------------------------------------- order


def _order(columns: list[list[_Item]]) -> None:
    best = [list(column) for column in columns]
    fewest = _crossings(columns)
    for sweep in range(_SWEEPS):
        rightward = sweep % 2 == 0
        for column in columns if rightward else reversed(columns):
            for place, item in enumerate(column):
                item.y = float(place)
            near = {id(item): _mean(item.before if rightward else item.after, item) for item in column}
            column.sort(key=lambda item: near[id(item)])
            for place, item in enumerate(column):
                item.y = float(place)
        crossings = _crossings(columns)
        if crossings < fewest:
            best, fewest = [list(column) for column in columns], crossings
    columns[:] = best


def _mean(neighbours: Sequence[_Item], item: _Item) -> float:
    return sum(n.y for n in neighbours) / len(neighbours) if neighbours else item.y


def _crossings(columns: Sequence[Sequence[_Item]]) -> int:
    crossings = 0
    for left, right in pairwise(columns):
        places = {id(item): place for place, item in enumerate(right)}
        seen: list[int] = []
        for item in left:
            ends = sorted(places[id(end)] for end in item.after)
            crossings += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return crossings


# -------------------------------------------------------------------------------------------------------------- places


def _place(columns: list[list[_Item]]) -> None:
    """Heights: each column in turn as near as it can be to the one before it, then to both sides."""
    for column in columns:
        _settle(column, [0.0] * len(column))
    for sweep in range(_SWEEPS):
        last = sweep >= _SWEEPS - 4
        rightward = sweep % 2 == 0
        for column in columns if rightward else reversed(columns):
            wanted = []
            for item in column:
                side = item.before if rightward else item.after
                near = [*item.before, *item.after] if last or not side else side
                wanted.append(sum(n.middle for n in near) / len(near) if near else item.middle)
            _settle(column, wanted)
    least = min(item.y for column in columns for item in column)
    for column in columns:
        for item in column:
            item.y -= least


def _settle(column: Sequence[_Item], wanted: Sequence[float]) -> None:
    """Middles as near to `wanted` as gaps and order allow, by least squares (pool adjacent violators)."""
    tops: list[float] = []
    top = 0.0
    for i, item in enumerate(column):
        if i:
            both = column[i - 1].is_card and item.is_card
            top += column[i - 1].h + (_CARD_GAP if both else _LABEL_GAP)
        tops.append(top)
    pools: list[tuple[float, int]] = []
    for item, top, middle in zip(column, tops, wanted, strict=True):
        total, count = middle - item.h / 2 - top, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            more, others = pools.pop()
            total, count = total + more, count + others
        pools.append((total, count))
    shifts = [total / count for total, count in pools for _ in range(count)]
    for item, top, shift in zip(column, tops, shifts, strict=True):
        item.y = top + shift


def _spread(columns: Sequence[Sequence[_Item]]) -> None:
    """Places from left to right; where arcs climb far between two columns, the gap is wider."""
    left = 0.0
    for i, column in enumerate(columns):
        room = max(item.w for item in column)
        for item in column:
            item.x = left if item.is_card else left + (room - item.w) / 2
        climb = max((abs(item.middle - end.middle) for item in column for end in item.after), default=0.0)
        left += room + (min(_NARROW + 0.12 * climb, _WIDE) if i + 1 < len(columns) else 0.0)


# -------------------------------------------------------------------------------------------------------------- routes

_Ports: TypeAlias = dict[tuple[int, int], float]


def _ports(boxes: Sequence[_Item]) -> _Ports:
    """At which height an arc leaves or enters a card, by the card and its neighbour: in the order of the neighbours."""
    ports: _Ports = {}
    for box in boxes:
        for side in (box.before, box.after):
            gap = min(_PORT_GAP, (box.h - 16) / len(side)) if side else 0.0
            for place, item in enumerate(sorted(side, key=lambda n: n.middle)):
                ports[id(box), id(item)] = box.middle + (place - (len(side) - 1) / 2) * gap
    return ports


def _route(chain: _Chain, ports: _Ports, lefts: list[float], rights: list[float]) -> list[Stroke]:
    """Inside a column a line is level: it stays in its item's lane, and so never crosses another one."""
    strokes = []
    for a, b in pairwise(chain):
        rightward = a.column < b.column
        start, end = (a.x + a.w, b.x) if rightward else (a.x, b.x + b.w)
        leave, enter = (rights[a.column], lefts[b.column]) if rightward else (lefts[a.column], rights[b.column])
        from_y, to_y = ports.get((id(a), id(b)), a.middle), ports.get((id(b), id(a)), b.middle)
        strokes.append(Stroke(start, leave, enter, end, from_y, to_y))
    return strokes
