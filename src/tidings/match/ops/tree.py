"""The matching tree of a subscription and an event: what has been tried, and what each attempt still needs.

A circle is a partial mapping solution and stands for *and*: all its rectangles must be matched. A rectangle is a
statement pattern and stands for *or*: one of its circles must succeed. The root is the circle `_:H ↔ _:H`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TypeAlias

from tidings.match.ops.patterns import Contents, StatementPattern, SubscriptionGraph, Vertex, is_variable
from tidings.match.ops.verification import backtrack
from tidings.match.run import Budget
from tidings.rdf.terms import HOME, Term

_NODE = 50
"""The steps that a node counts for, since it stays in memory while all other trees grow."""


class Circle:
    """A partial mapping solution: the vertex pairs of all matches from the root down to here."""

    __slots__ = ("checked", "children", "pairs", "parent", "unchecked_children")

    def __init__(self, parent: Rectangle | None, pairs: dict[Vertex, Term]) -> None:
        self.parent = parent
        self.pairs = pairs
        """The vertices, in order, are the path from the home vertex that the rule for cycles asks about."""
        self.children: tuple[Rectangle, ...] = ()
        self.unchecked_children = 0
        self.checked = False

    def __repr__(self) -> str:
        return f"({', '.join(f'{vertex}={image}' for vertex, image in self.pairs.items())})"


class Rectangle:
    """A statement pattern of the subscription, its variables replaced by what the path knows of them."""

    __slots__ = ("checked", "children", "object", "parent", "pattern", "subject", "tree")

    def __init__(self, tree: MatchingTree, parent: Circle, pattern: StatementPattern) -> None:
        self.tree = tree
        self.parent = parent
        self.pattern = pattern
        self.subject = parent.pairs[pattern.subject]
        self.object: Term | None = parent.pairs.get(pattern.object)
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
        self.root = Circle(None, {HOME: HOME})
        self.circles = 1
        self.rectangles = 0
        self._derive(self.root, HOME)
        self.initial = {rectangle.pattern: rectangle for rectangle in self.root.children}

    def match(self, rectangle: Rectangle, object: Term, *, early: bool) -> tuple[Rectangle, ...]:
        """The pattern has matched a statement with this object: a new circle. Returns the patterns derived from it.

        With `early`, pairs that contradict each other make no circle.
        """
        pairs = rectangle.parent.pairs
        vertex = rectangle.pattern.object
        on_path = vertex in pairs
        if early and not on_path and object in pairs.values():
            return ()
        circle = Circle(rectangle, pairs if on_path else {**pairs, vertex: object})
        rectangle.children[object] = circle
        self.circles += 1
        if not on_path:
            self._derive(circle, vertex)
        self.budget.spend(_NODE * (1 + len(circle.children)))
        if not circle.children:
            way = backtrack(circle)
            if self.backtracks is not None:
                self.backtracks.append(way)
        return circle.children

    def _derive(self, circle: Circle, vertex: Vertex) -> None:
        patterns = self.graph.outgoing.get(vertex, ())
        circle.children = tuple([Rectangle(self, circle, pattern) for pattern in patterns])
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
