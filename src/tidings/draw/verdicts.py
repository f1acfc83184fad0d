"""What became of each node of a matching tree: chosen, possible, ruled out and by what; and how states went up.

The rules are those of the paper on OPS: no subscription vertex has two images (rule 4), no event vertex is the image of
two (rule 5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from tidings.errors import EvaluationError
from tidings.match.ops.patterns import Vertex
from tidings.match.ops.tree import Circle, MatchingTree, Rectangle, TreeNode
from tidings.match.ops.verification import reduced, solutions
from tidings.match.run import Budget
from tidings.rdf.terms import Term

_MOST_SOLUTIONS = 200
_STEPS = 200_000


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a circle is in no solution: the rule, and the pair that it contradicts."""

    rule: int
    vertex: Vertex
    image: Term


class Verdicts:
    def __init__(self, tree: MatchingTree) -> None:
        self._tree = tree
        self.chosen: set[TreeNode] = set(reduced(tree, tree.solution)) if tree.solution else set()
        self._possible, self._complete = self._all()
        self.upwards = dict(_upwards(tree))
        """Of a node, the number of the back-tracking that went on from it to its parent."""

    def _all(self) -> tuple[set[TreeNode], bool]:
        """The nodes of all solutions, and whether these are all."""
        found: set[TreeNode] = set()
        try:
            for count, solution in enumerate(islice(solutions(self._tree, Budget(_STEPS)), _MOST_SOLUTIONS + 1)):
                if count == _MOST_SOLUTIONS:
                    return found, False
                found.update(reduced(self._tree, solution))
        except EvaluationError:
            return found, False
        return found, True

    def is_false(self, circle: Circle) -> bool:
        """Whether a checked circle is known to be in no solution, though the states allow for one."""
        return self._tree.root.checked and circle.checked and self._complete and circle not in self._possible

    def conflict(self, circle: Circle) -> Conflict | None:
        """A pair that every choice with this circle has, and that its own pair contradicts."""
        found = [
            Conflict(4 if other.vertex == circle.vertex else 5, other.vertex, other.image)
            for other in self._certain(circle)
            if (other.vertex == circle.vertex) != (other.image == circle.image)
        ]
        return min(found, key=lambda conflict: conflict.rule, default=None)

    def _certain(self, circle: Circle) -> Iterator[Circle]:
        """The circles that every choice with this one has: on the way to it, and where a rectangle has no other."""
        path = set(circle.upwards())
        todo = list(self._tree.root.children)
        while todo:
            rectangle = todo.pop()
            ways = [c for c in rectangle.children.values() if c in path]
            ways = ways or [c for c in rectangle.children.values() if c.checked]
            if len(ways) == 1:
                yield ways[0]
                todo += ways[0].children


def _upwards(tree: MatchingTree) -> Iterator[tuple[TreeNode, int]]:
    for number, way in enumerate(tree.backtracks or (), 1):
        for node in way[:-1]:
            yield node, number
        # A rectangle at the end has told its circle, which waits for others; a circle has found nothing to tell.
        if isinstance(way[-1], Rectangle):
            yield way[-1], number
