"""The AND-OR matching tree of the matcher `ops`, as the paper draws it: `tree_svg`.

Circles are vertex pairs, rectangles statement patterns. What is checked is filled and has a mark, what is not is hollow
and dashed; dashed arrows, numbered in their order, are the ways of the back-tracking.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from tidings.draw.cards import short
from tidings.draw.lines import Line, Piece, breadth, draw_lines, height, paragraph, piece
from tidings.draw.panel import Sample, draw_legend, title_room
from tidings.draw.svg import Box, Canvas, number
from tidings.draw.tidy import tidy
from tidings.draw.verdicts import Verdicts
from tidings.match.explain import Names
from tidings.match.ops.ems import EmsArray
from tidings.match.ops.patterns import Vertex, is_variable
from tidings.match.ops.tree import Circle, MatchingTree, Rectangle, TreeNode
from tidings.rdf.terms import Term

MOST_NODES = 160
_MOST_CIRCLES = 8
_WIDEST = 1500.0
_MARGIN = 24.0
_ROOM = 230.0
_LEVEL_GAP = 46.0
_GAP = 20.0
_ASIDE = 9.0
"""How far the back-tracking goes beside the branch of the tree."""
_LEGEND = (
    Sample("round", "filled s-faint line", "AND: a vertex pair"),
    Sample("box", "filled s-faint line", "OR: a statement pattern"),
    Sample("✓", "hit", "checked"),
    Sample("box", "hollow s-faint line dash", "unchecked"),
    Sample("box", "filled s-hit thick", "chosen by BEBV"),
    Sample("✗", "bad", "ruled out by rule 4 or 5"),
    Sample("up", "s-step line dash", "back-tracking of SBPV, in order"),
    Sample("2→0", "step", "unchecked children: at first, in the end"),
)


@dataclass(slots=True)
class _Shape:
    """A node that is drawn; `node` is None for one that stands for all that is left out below its parent."""

    node: TreeNode | None
    level: int
    lines: list[Line]
    children: list[int] = field(default_factory=list)

    @property
    def size(self) -> tuple[float, float]:
        h = height(self.lines) + 10
        return max(breadth(self.lines) + (22 if isinstance(self.node, Circle) else 16), h), h


def tree_svg(tree: MatchingTree, event: str, names: Names, ems: EmsArray | None = None) -> str:
    """The matching tree of a subscription on an event, as the text of an SVG file; with `ems`, row numbers too."""
    verdicts = Verdicts(tree)
    shapes = _shapes(tree, verdicts, _Labels(tree, verdicts, names, ems))
    boxes, across = _placed(shapes)
    w = max(max(box.x + box.w for box in boxes), title_room(_verdict(tree)))
    title = _title(tree, event, names, len([s for s in shapes if s.node]), w)
    top = _MARGIN + height(title) + 12
    boxes = [box.moved(_MARGIN, top) for box in boxes]
    canvas = Canvas()
    draw_lines(canvas, title, Box(_MARGIN, _MARGIN - 6, w, 0))
    _draw_branches(canvas, shapes, boxes, verdicts, across=across)
    for shape, box in zip(shapes, boxes, strict=True):
        _draw_node(canvas, shape, box, verdicts)
    bottom = max(box.y + box.h for box in boxes) + 24
    bottom += draw_legend(canvas, _LEGEND, _MARGIN, bottom, w)
    about = f"Matching tree on event {event}: {_because(tree, names)}."
    return canvas.document(w + 2 * _MARGIN, bottom + 14, _verdict(tree), about)


def _verdict(tree: MatchingTree) -> str:
    if tree.failure is not None:
        return f"{tree.graph.id}: the tree is not complete"
    return f"✓ {tree.graph.id} matches" if tree.matched else f"✗ {tree.graph.id} does not match"


def _because(tree: MatchingTree, names: Names) -> str:
    if tree.failure is not None:
        return tree.failure
    if tree.solution is not None:
        variables = {vertex: image for vertex, image in tree.solution.items() if is_variable(vertex)}
        pairs = ", ".join(f"{vertex}={names.term(image)}" for vertex, image in variables.items())
        return f"the root is checked (SBPV), and a consistent circle can be chosen for every pattern (BEBV): {pairs}"
    if tree.root.checked:
        return "the root is checked (SBPV), but the circles cannot be chosen without contradiction (BEBV)"
    return "the root stays unchecked (SBPV)"


def _title(tree: MatchingTree, event: str, names: Names, drawn: int, room: float) -> list[Line]:
    total = tree.circles + tree.rectangles
    counts = f"{tree.circles:,} circles and {tree.rectangles:,} rectangles"
    more = f"; {total - drawn:,} of them are not drawn" if drawn < total else ""
    return [
        Line((piece(_verdict(tree), "title", "hit" if tree.matched else "bad", room),)),
        *paragraph(f"event <{event}>, matching tree of {counts}{more}", "sub", "soft", room, 2),
        *paragraph(_because(tree, names), "sub", "ink", room, 3),
    ]


# --------------------------------------------------------------------------------------------------------------- nodes


def _shapes(tree: MatchingTree, verdicts: Verdicts, labels: _Labels) -> list[_Shape]:
    """The nodes that are drawn, breadth first: the chosen ones, and as many others as can be read."""
    shapes = [_Shape(tree.root, 0, labels.lines(tree.root))]
    room = MOST_NODES - len(verdicts.chosen)
    queue = deque([0])
    while queue:
        parent = queue.popleft()
        node = shapes[parent].node
        if node is None:
            continue
        wide = 0
        left_out = 0
        for child in _children(node):
            wanted = child in verdicts.chosen
            if not wanted and (room <= 0 or (isinstance(child, Circle) and wide >= _MOST_CIRCLES)):
                left_out += 1
                continue
            wide += 1
            room -= not wanted
            shapes[parent].children.append(len(shapes))
            queue.append(len(shapes))
            shapes.append(_Shape(child, shapes[parent].level + 1, labels.lines(child)))
        if left_out:
            shapes[parent].children.append(len(shapes))
            text = Piece(f"… {left_out:,} more", "note", "soft")
            shapes.append(_Shape(None, shapes[parent].level + 1, [Line((text,))]))
    return shapes


def _children(node: TreeNode) -> Sequence[TreeNode]:
    return node.children if isinstance(node, Circle) else list(node.children.values())


class _Labels:
    def __init__(self, tree: MatchingTree, verdicts: Verdicts, names: Names, ems: EmsArray | None) -> None:
        self._tree = tree
        self._verdicts = verdicts
        self._names = names
        self._ems = ems

    def lines(self, node: TreeNode) -> list[Line]:
        return list(self._circle(node) if isinstance(node, Circle) else self._rectangle(node))

    def _circle(self, circle: Circle) -> Iterator[Line]:
        pair = f"{self._vertex(circle.vertex)} ↔ {short(circle.image, self._names)}"
        full = ", ".join(f"{vertex} ↔ {image}" for vertex, image in circle.pairs.items())
        yield Line((*_mark(circle), piece(pair, "row", "ink", _ROOM, full=full)))
        if circle.children:
            yield Line((Piece(f"{len(circle.children)}→{circle.unchecked_children}", "note", "step"),))
        if self._verdicts.is_false(circle):
            yield from self._false(circle)

    def _false(self, circle: Circle) -> Iterator[Line]:
        conflict = self._verdicts.conflict(circle)
        if conflict is not None:
            pair = f"{self._vertex(conflict.vertex)} ↔ {short(conflict.image, self._names)}"
            yield from paragraph(f"✗ rule {conflict.rule}: {pair}", "note", "bad", _ROOM, 2)
        elif self._tree.solution is not None or circle.parent is None:
            yield Line((Piece("✗ in no solution", "note", "bad"),))

    def _rectangle(self, rectangle: Rectangle) -> Iterator[Line]:
        names, pattern = self._names, rectangle.pattern
        object = self._vertex(pattern.object) if rectangle.object is None else short(rectangle.object, names)
        pair = f"({short(rectangle.subject, names)}, {object})"
        yield Line((*_mark(rectangle), piece(pair, "row", "ink", _ROOM, full=repr(rectangle))))
        meta = f"({', '.join(short(term, names) for term in pattern.row.meta)})"
        row = self._ems.number(pattern.row.meta) if self._ems else 0
        yield from paragraph(f"{meta} EMS({row})" if row else meta, "note", "soft", _ROOM, 2)
        if pattern.condition is not None:
            for expr in pattern.condition.on(pattern.object):
                yield from paragraph(names.expression(expr), "note", "soft", _ROOM, 2)
        if not rectangle.children:
            yield Line((Piece("✗ no statement matches", "note", "bad"),))

    def _vertex(self, vertex: Vertex) -> str:
        return vertex if is_variable(vertex) else short(Term(vertex), self._names)


def _mark(node: TreeNode) -> list[Piece]:
    return [Piece("✓", "row", "hit")] if node.checked else []


# -------------------------------------------------------------------------------------------------------------- places


def _placed(shapes: Sequence[_Shape]) -> tuple[list[Box], bool]:
    """From the top downwards, or where that is too wide from left to right (True)."""
    sizes = [shape.size for shape in shapes]
    children = [shape.children for shape in shapes]
    centres = tidy(children, [w for w, _ in sizes], _GAP)
    if max(c + w / 2 for c, (w, _) in zip(centres, sizes, strict=True)) <= _WIDEST:
        tops = _levels(shapes, [h for _, h in sizes])
        return [
            Box(c - w / 2, tops[s.level] + (tops[s.level + 1] - _LEVEL_GAP - tops[s.level] - h) / 2, w, h)
            for s, c, (w, h) in zip(shapes, centres, sizes, strict=True)
        ], False
    centres = tidy(children, [h for _, h in sizes], _GAP / 2)
    lefts = _levels(shapes, [w for w, _ in sizes])
    return [Box(lefts[s.level], c - h / 2, w, h) for s, c, (w, h) in zip(shapes, centres, sizes, strict=True)], True


def _levels(shapes: Sequence[_Shape], extents: Sequence[float]) -> list[float]:
    """Where each level begins, and where one more would."""
    most: dict[int, float] = {}
    for shape, extent in zip(shapes, extents, strict=True):
        most[shape.level] = max(most.get(shape.level, 0.0), extent)
    return [0.0, *accumulate(most[level] + _LEVEL_GAP for level in range(len(most)))]


# ------------------------------------------------------------------------------------------------------------- drawing


def _draw_node(canvas: Canvas, shape: _Shape, box: Box, verdicts: Verdicts) -> None:
    node = shape.node
    if node is not None:
        fill = "filled" if node.checked else "hollow dash"
        false = isinstance(node, Circle) and verdicts.is_false(node)
        edge = "s-hit thick" if node in verdicts.chosen else "s-bad line" if false else "s-faint line"
        canvas.box(box, f"{fill} {edge}", radius=box.h / 2 if isinstance(node, Circle) else 3)
    y = box.y + 5
    for line in shape.lines:
        middle = Box(box.x + (box.w - line.w) / 2, y, line.w, line.h)
        draw_lines(canvas, [line], middle)
        y += line.h


def _draw_branches(
    canvas: Canvas, shapes: Sequence[_Shape], boxes: Sequence[Box], verdicts: Verdicts, *, across: bool
) -> None:
    numbers: list[tuple[float, float, str, str]] = []
    for parent, shape in enumerate(shapes):
        for child in shape.children:
            node = shapes[child].node
            branch = _Branch(boxes[parent], boxes[child], across)
            canvas.path(branch.down(), "s-hit thick" if node in verdicts.chosen else "s-faint line")
            order = verdicts.upwards.get(node) if node is not None else None
            if order is not None:
                canvas.path(branch.up(), "s-step line dash", arrow="to-step")
                numbers.append((*branch.beside(), str(order)))
    for x, y, anchor, text in numbers:
        canvas.text(x, y, text, "small", "step halo", anchor=anchor)


@dataclass(frozen=True, slots=True)
class _Branch:
    """The curve between a parent and a child, and the one beside it on which the states go up."""

    parent: Box
    child: Box
    across: bool

    @property
    def _side(self) -> float:
        """The side that is turned away from the sisters in the middle: -1 or 1."""
        a, b = self.parent, self.child
        shift = b.y + b.h / 2 - a.y - a.h / 2 if self.across else b.x + b.w / 2 - a.x - a.w / 2
        return -1.0 if shift < -1 else 1.0

    def _ends(self, distance: float) -> tuple[float, float, float, float]:
        a, b, aside = self.parent, self.child, self._side * distance
        if self.across:
            return a.x + a.w, a.y + a.h / 2 + aside, b.x, b.y + b.h / 2 + aside
        return a.x + a.w / 2 + aside, a.y + a.h, b.x + b.w / 2 + aside, b.y

    def down(self) -> str:
        return self._curve(*self._ends(0.0))

    def up(self) -> str:
        x1, y1, x2, y2 = self._ends(_ASIDE)
        return self._curve(x2, y2, x1, y1)

    def beside(self) -> tuple[float, float, str]:
        """Where the number of the way goes, and its anchor."""
        *_, x, y = self._ends(_ASIDE)
        if self.across:
            return x - 12, y + 3.5, "middle"
        return x + 5 * self._side, y - 6, "start" if self._side > 0 else "end"

    def _curve(self, x1: float, y1: float, x2: float, y2: float) -> str:
        a, b, c, d = map(number, (x1, y1, x2, y2))
        if self.across:
            turn = number((x1 + x2) / 2)
            return f"M{a} {b}C{turn} {b} {turn} {d} {c} {d}"
        turn = number((y1 + y2) / 2)
        return f"M{a} {b}C{a} {turn} {c} {turn} {c} {d}"
