"""The matching tree of a subscription and an event: what has been tried, and what each attempt still needs.

A circle is a partial mapping solution and stands for *and*: all its rectangles must be matched. A rectangle is a
statement pattern and stands for *or*: one of its circles must succeed. The root is the circle `_:H ↔ _:H`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from tidings.match.ops.patterns import Contents, StatementPattern, SubscriptionGraph, Vertex, is_variable
from tidings.match.ops.verification import backtrack
from tidings.match.run import Budget
from tidings.rdf.terms import HOME, Term

_NODE = 50
"""The steps that a node counts for, since it stays in memory while all other trees grow."""


class Circle:
    """A partial mapping solution: one more vertex pair, with those of the circles above."""

    __slots__ = ("checked", "children", "depth", "image", "parent", "unchecked_children", "vertex")

    def __init__(self, parent: Rectangle | None, vertex: Vertex, image: Term) -> None:
        self.parent = parent
        self.vertex = vertex
        self.image = image
        self.depth: int = 1 if parent is None else parent.parent.depth + 1
        self.children: tuple[Rectangle, ...] = ()
        self.unchecked_children = 0
        self.checked = False

    @property
    def pairs(self) -> dict[Vertex, Term]:
        """All vertex pairs; the vertices, in order, are the path that the rule for cycles asks about."""
        return dict(reversed([(circle.vertex, circle.image) for circle in self.upwards()]))

    def upwards(self) -> Iterator[Circle]:
        """This circle and those above it, up to the root."""
        circle = self
        while circle.parent is not None:
            yield circle
            circle = circle.parent.parent
        yield circle

    def __repr__(self) -> str:
        return f"({', '.join(f'{vertex}={image}' for vertex, image in self.pairs.items())})"


class Rectangle:
    """A statement pattern of the subscription, its variables replaced by what the path knows of them."""

    __slots__ = ("checked", "children", "object", "on_path", "parent", "pattern", "subject", "tree")

    def __init__(
        self, tree: MatchingTree, parent: Circle, pattern: StatementPattern, pairs: Mapping[Vertex, Term]
    ) -> None:
        """`pairs` are those of the parent."""
        self.tree = tree
        self.parent = parent
        self.pattern = pattern
        self.subject = parent.image
        self.on_path = pattern.object in pairs
        self.object: Term | None = pairs.get(pattern.object)
        """None: a variable that the path does not know."""
        if self.object is None and not is_variable(pattern.object):
            self.object = Term(pattern.object)
        self.children: dict[Term, Circle] = {}
        """By the vertex that the object is mapped to."""
        self.checked = False

    @property
    def contents(self) -> Contents:
        return (None, self.pattern.condition) if self.object is None else (self.object, None)

    def __repr__(self) -> str:
        return f"[{self.subject}, {self.object or self.pattern.object}, {self.pattern.row.meta}]"


TreeNode: TypeAlias = Circle | Rectangle


class MatchingTree:
    """What one subscription has come to on one event.

    `matched` is the outcome of BEBV, None where SBPV ruled the tree out before, and `solution` the first mapping found.
    `backtracks` holds the ways of the SBPV backtracking, each from a leaf upwards, where they are asked for.
    """

    __slots__ = (
        "backtracks",
        "budget",
        "circles",
        "failure",
        "graph",
        "initial",
        "rectangles",
        "root",
        "solution",
        "verified",
    )

    def __init__(self, graph: SubscriptionGraph, budget: Budget, *, keep_backtracks: bool = False) -> None:
        self.graph = graph
        self.budget = budget
        self.backtracks: list[list[TreeNode]] | None = [] if keep_backtracks else None
        self.failure: str | None = None
        self.verified = False
        self.solution: dict[Vertex, Term] | None = None
        self.root = Circle(None, HOME, HOME)
        self.circles = 1
        self.rectangles = 0
        self._derive(self.root)
        self.initial = {rectangle.pattern: rectangle for rectangle in self.root.children}

    def match(self, rectangle: Rectangle, object: Term, *, early: bool) -> tuple[Rectangle, ...]:
        """The pattern has matched a statement with this object: a new circle. Returns the patterns derived from it.

        With `early`, pairs that contradict each other make no circle.
        """
        self.budget.spend(rectangle.parent.depth)
        if early and not rectangle.on_path and any(circle.image == object for circle in rectangle.parent.upwards()):
            return ()
        circle = Circle(rectangle, rectangle.pattern.object, object)
        rectangle.children[object] = circle
        self.circles += 1
        if not rectangle.on_path:
            self._derive(circle)
        self.budget.spend(_NODE * (1 + len(circle.children)))
        if not circle.children:
            way = backtrack(circle)
            if self.backtracks is not None:
                self.backtracks.append(way)
        return circle.children

    def _derive(self, circle: Circle) -> None:
        patterns = self.graph.outgoing.get(circle.vertex)
        if patterns is not None:
            pairs = circle.pairs
            circle.children = tuple([Rectangle(self, circle, pattern, pairs) for pattern in patterns])
            circle.unchecked_children = len(patterns)
            self.rectangles += len(patterns)

    @property
    def matched(self) -> bool | None:
        return self.solution is not None if self.verified else None

    def nodes(self) -> Iterator[TreeNode]:
        """Every node, breadth first."""
        queue: deque[TreeNode] = deque([self.root])
        while queue:
            node = queue.popleft()
            yield node
            queue.extend(node.children if isinstance(node, Circle) else node.children.values())
