"""The two verifications of a matching tree: by states while it grows (SBPV), by its boolean expression (BEBV).

BEBV asks whether one circle can be chosen for each rectangle below the root, and again below the chosen circles, such
that no subscription vertex has two images (rule 4) and no event vertex is the image of two (rule 5). Each such choice
is a disjunct of the root's expression and a solution of the subscription.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tidings.match.run import Budget
from tidings.rdf.terms import Term

if TYPE_CHECKING:
    from tidings.match.ops.patterns import Vertex
    from tidings.match.ops.tree import Circle, MatchingTree, Rectangle, TreeNode


# ---------------------------------------------------------------------------------------------------------------- SBPV


def backtrack(circle: Circle) -> list[TreeNode]:
    """The circle has no patterns left to match: it is checked, and so may be what is above it. Returns the way up."""
    way: list[TreeNode] = []
    while True:
        circle.checked = True
        way.append(circle)
        rectangle = circle.parent
        if rectangle is None or rectangle.checked:
            return way
        rectangle.checked = True
        way.append(rectangle)
        circle = rectangle.parent
        circle.unchecked_children -= 1
        if circle.unchecked_children:
            return way


# ---------------------------------------------------------------------------------------------------------------- BEBV


class _Choice:
    """A rectangle whose circles are tried one after the other; `others` are the rectangles still to be chosen for."""

    __slots__ = ("circles", "others", "vertex")

    def __init__(self, rectangle: Rectangle, others: list[Rectangle]) -> None:
        self.vertex = rectangle.pattern.object
        self.circles = iter(rectangle.children.items())
        self.others = others


def solutions(tree: MatchingTree, budget: Budget) -> Iterator[dict[Vertex, Term]]:
    """Every consistent mapping of all subscription vertices, each once; none where the expression is false."""
    image: dict[Vertex, Term] = dict(tree.root.pairs)
    taken = set(image.values())
    choices: list[_Choice] = []
    rectangles: Sequence[Rectangle] | None = tree.root.children if tree.root.checked else None
    while True:
        undecided = None if rectangles is None else _undecided(rectangles, image, budget)
        if undecided:
            at = min(range(len(undecided)), key=lambda i: len(undecided[i].children))
            choices.append(_Choice(undecided.pop(at), undecided))
        elif undecided is not None:
            yield dict(image)
        rectangles = _next(choices, image, taken, budget)
        if rectangles is None:
            return


def _undecided(rectangles: Sequence[Rectangle], image: Mapping[Vertex, Term], budget: Budget) -> list[Rectangle] | None:
    """The rectangles, or those below the circles that `image` has decided on, whose object has no image yet.

    None where `image` contradicts one of them.
    """
    undecided: list[Rectangle] = []
    todo = list(rectangles)
    while todo:
        rectangle = todo.pop()
        budget.spend(1)
        vertex = image.get(rectangle.pattern.object)
        if vertex is None:
            undecided.append(rectangle)
            continue
        circle = rectangle.children.get(vertex)
        if circle is None or not circle.checked:
            return None
        todo += circle.children
    return undecided


def _next(
    choices: list[_Choice], image: dict[Vertex, Term], taken: set[Term], budget: Budget
) -> Sequence[Rectangle] | None:
    """Try the next circle, of the last choice that has one left. What is to be chosen for then; None at the end."""
    while choices:
        choice = choices[-1]
        if choice.vertex in image:
            taken.remove(image.pop(choice.vertex))
        for vertex, circle in choice.circles:
            budget.spend(1)
            if circle.checked and vertex not in taken:
                image[choice.vertex] = vertex
                taken.add(vertex)
                return [*choice.others, *circle.children]
        choices.pop()
    return None


def reduced(tree: MatchingTree, solution: Mapping[Vertex, Term]) -> list[TreeNode]:
    """The nodes of the reduced matching tree of a solution: of each rectangle, the one circle that agrees with it."""
    found: list[TreeNode] = []
    todo: list[Circle] = [tree.root]
    while todo:
        circle = todo.pop()
        chosen = [rectangle.children[solution[rectangle.pattern.object]] for rectangle in circle.children]
        found += [circle, *circle.children]
        todo += chosen
    return found
