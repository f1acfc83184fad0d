"""`ops` under watch: the array and what waits in it, the typed statements, the matching tree with its verifications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tidings.match.explain.names import Names
from tidings.match.explain.text import MARKS
from tidings.match.meaning import Meaning
from tidings.match.ops.ems import Row
from tidings.match.ops.matcher import Ops
from tidings.match.ops.matching import Matching
from tidings.match.ops.patterns import Vertex, WaitingPattern, is_variable
from tidings.match.ops.traversal import TypedStatement
from tidings.match.ops.tree import Circle, MatchingTree, Rectangle, TreeNode
from tidings.match.ops.verification import reduced
from tidings.match.workings.model import (
    MOST_LISTED,
    MOST_ROWS,
    Section,
    counted,
    drawn,
    listed,
    section,
    table,
    tree_table,
)
from tidings.rdf.terms import Term, is_literal

_MOST_STATEMENTS = 30


@dataclass(slots=True)
class Passed:
    """A typed statement, its row and the rows asked for that it was matched with, and the patterns that it matched."""

    statement: TypedStatement
    row: Row
    lineage: tuple[Row, ...]
    matched: list[Rectangle]


class WatchedMatching(Matching):
    """`late` are matches of patterns with statements that had passed before; `waited` what waited in each row."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.passed: list[Passed] = []
        self.late: list[tuple[Rectangle, Term]] = []
        self.waited: dict[Row, list[WaitingPattern]] = {}

    def _pass(self, statement: TypedStatement) -> None:
        super()._pass(statement)
        literal = self._meaning.classes(statement.object) if is_literal(statement.object) else None
        row = self._ems.row(statement.meta)
        matched = [rectangle for rectangle, _ in self._matches]
        self.passed.append(Passed(statement, row, self._ems.lineage(row, literal), matched))

    def _register(self, rectangle: Rectangle) -> None:
        before = len(self._matches)
        super()._register(rectangle)
        self.late += [self._matches[at] for at in range(before - len(self._matches), 0)]

    def reset(self) -> None:
        for row in self._touched:
            self.waited[row] = [pattern for patterns in row.waiting.values() for pattern in patterns.values()]
        super().reset()


class WatchedOps(Ops):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, keep_trees=True, **options)

    def _matching(self, meaning: Meaning) -> Matching:
        self._seen = WatchedMatching(self.ems, meaning, self._options, self._steps)
        return self._seen

    def sections(self, names: Names) -> Iterator[Section]:
        for id in self._subscriptions:
            told = _Told(self, self.tree(id), self._seen, names)
            yield told.array()
            yield told.waiting()
            yield told.statements()
            yield from told.late()
            yield told.matching_tree()
            yield from told.verification()


class _Told:
    def __init__(self, ops: Ops, tree: MatchingTree, seen: WatchedMatching, names: Names) -> None:
        self._ems = ops.ems
        self._tree = tree
        self._seen = seen
        self._names = names
        self._numbers = {node: at for at, (_, node) in enumerate(drawn(self._root, _children), 1)}

    @property
    def _root(self) -> TreeNode:
        return self._tree.root

    @property
    def _contradictions(self) -> int:
        """Matches that are in no circle, since two vertices would have one image."""
        told = sum(len(passed.matched) for passed in self._seen.passed) + len(self._seen.late)
        return told - (self._tree.circles - 1) if self._tree.failure is None else 0

    # -------------------------------------------------------------------------------------------------- array and event

    def array(self) -> Section:
        lists = {passed.row: passed.lineage for passed in self._seen.passed if passed.lineage}
        rows = [row for row in self._ems.rows if row.patterns or row in lists]

        def told(row: Row) -> tuple[str, ...]:
            above = listed(self._ems_number(other) for other in lists.get(row, ()) if other is not row)
            return self._ems_number(row), *map(self._names.term, row.meta), above

        return section(
            f"The extended meta-statement array: of {counted(len(self._ems), 'row')} those asked for, or below them",
            table=table(("row", "class", "property", "class", "ancestors"), rows, told),
        )

    def waiting(self) -> Section:
        """Equal patterns are one here: a rectangle that waits, and those registered to it."""
        lists = [[self._tree.initial[pattern]] for pattern in self._tree.initial]
        lists += [pattern.observers for patterns in self._seen.waited.values() for pattern in patterns]
        lists.sort(key=lambda observers: self._numbers[observers[0]])
        return section(
            "Waiting patterns, those at _:H and those derived from matches, by their nodes in the tree below",
            table=table(("node", "row", "subject", "object", "condition"), lists, self._waiting_row),
        )

    def _waiting_row(self, observers: list[Rectangle]) -> tuple[str, ...]:
        first = observers[0]
        condition, vertex = first.pattern.condition, first.pattern.object
        return (
            self._nodes(observers),
            self._ems_number(first.pattern.row),
            self._names.term(first.subject),
            self._object(first),
            listed([] if condition is None else map(self._names.expression, condition.on(vertex))),
        )

    def statements(self) -> Section:
        """Those that came to a row asked for; any other can match nothing."""
        met = [passed for passed in self._seen.passed if passed.lineage]
        others = len(self._seen.passed) - len(met)
        return section(
            f"Traversal, breadth first from _:H: {counted(len(self._seen.passed), 'typed statement')}",
            f"{others} of them neither in a row asked for nor below one" if others else "",
            table=table(
                ("subject", "object", "row", "patterns matched"),
                met,
                self._statement_row,
                most=_MOST_STATEMENTS,
            ),
        )

    def _statement_row(self, passed: Passed) -> tuple[str, ...]:
        return (
            self._names.term(passed.statement.subject),
            self._names.term(passed.statement.object),
            self._ems_number(passed.row),
            self._nodes(passed.matched),
        )

    def late(self) -> Iterator[Section]:
        if self._seen.late:
            yield section(
                "Patterns that came after their statements had passed, and are told of them",
                table=table(
                    ("pattern", "subject", "object"),
                    self._seen.late,
                    lambda late: (
                        self._nodes([late[0]]),
                        self._names.term(late[0].subject),
                        self._names.term(late[1]),
                    ),
                ),
            )

    # -------------------------------------------------------------------------------------------------------- the tree

    def matching_tree(self) -> Section:
        solution = self._tree.solution
        chosen = set() if solution is None else set(reduced(self._tree, solution))

        def row(branch: str, node: TreeNode) -> tuple[str, ...]:
            return (
                str(self._numbers[node]),
                f"{branch}{self._node(node)}",
                f"{MARKS[node.checked]} {'checked' if node.checked else 'unchecked'}",
                str(node.unchecked_children) if isinstance(node, Circle) and node.children else "",
                "●" if node in chosen else "",
            )

        columns = ["", "node", "SBPV", "unCheckedChildren", "chosen"]
        return section(
            f"Matching tree: {counted(self._tree.circles, 'circle')} (vertex = vertex), "
            f"{counted(self._tree.rectangles, 'rectangle')} [subject, object, row]",
            *(
                [f"{counted(self._contradictions, 'match', 'matches')} made no circle: rule 5"]
                if self._contradictions
                else []
            ),
            table=tree_table(columns, self._root, _children, row),
            outcome="● the reduced matching tree of the first solution" if chosen else "",
        )

    def verification(self) -> Iterator[Section]:
        outcome = "the root is checked: BEBV decides" if self._tree.root.checked else "the root is unchecked: no match"
        yield section(
            "SBPV: backtracking from each circle that derives no pattern",
            table=table(
                ("from", "up to", "checked on the way"),
                self._tree.backtracks or [],
                lambda way: (self._nodes(way[:1]), self._nodes(way[-1:]), self._nodes(way, MOST_ROWS)),
            ),
            outcome=outcome if self._tree.failure is None else f"given up: {self._tree.failure}",
        )
        if self._tree.verified:
            yield self._choices()

    def _choices(self) -> Section:
        """What BEBV chooses from: for each rectangle, the images of its object."""
        rectangles = [node for node in self._tree.nodes() if isinstance(node, Rectangle) and node.checked]
        rectangles.sort(key=lambda node: node.pattern.object)
        solution = self._tree.solution or {}

        def row(rectangle: Rectangle) -> tuple[str, ...]:
            vertex = rectangle.pattern.object
            images = [self._names.term(image) for image, circle in rectangle.children.items() if circle.checked]
            return (
                self._vertex(vertex),
                str(self._numbers[rectangle]),
                listed(images),
                self._image(solution.get(vertex)),
            )

        return section(
            "BEBV: one circle for each rectangle, no vertex with two images, no image of two vertices",
            table=table(("vertex", "rectangle", "checked circles", "chosen"), rectangles, row),
            outcome="there is such a choice: a match" if solution else "there is no such choice: no match",
        )

    # ------------------------------------------------------------------------------------------------------------ names

    def _node(self, node: TreeNode) -> str:
        if isinstance(node, Circle):
            return f"({self._vertex(node.vertex)} = {self._names.term(node.image)})"
        subject, object = self._names.term(node.subject), self._object(node)
        return f"[{subject}, {object}, {self._ems_number(node.pattern.row)}]"

    def _object(self, rectangle: Rectangle) -> str:
        """What has replaced the object, and what it replaced."""
        known = rectangle.object
        return self._vertex(rectangle.pattern.object) if known is None else self._names.term(known)

    def _nodes(self, nodes: Iterable[TreeNode], most: int = MOST_LISTED) -> str:
        """By their numbers in the drawing."""
        return listed((str(self._numbers[node]) for node in nodes), most)

    def _vertex(self, vertex: Vertex) -> str:
        return vertex if is_variable(vertex) else self._names.term(Term(vertex))

    def _image(self, term: Term | None) -> str:
        return "–" if term is None else self._names.term(term)

    def _ems_number(self, row: Row) -> str:
        return f"EMS({self._ems.number(row.meta)})"


def _children(node: TreeNode) -> Iterator[TreeNode]:
    yield from node.children if isinstance(node, Circle) else node.children.values()
