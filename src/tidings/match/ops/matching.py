"""One event through the array: typed statements meet the patterns that wait, and matching trees grow."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, fields

from tidings.errors import EvaluationError
from tidings.match.meaning import Meaning
from tidings.match.ops.ems import EmsArray, Row
from tidings.match.ops.patterns import Contents, InitialPattern, SubscriptionGraph, WaitingPattern
from tidings.match.ops.traversal import TypedStatement, traverse
from tidings.match.ops.tree import MatchingTree, Rectangle
from tidings.match.run import Budget, Run
from tidings.rdf.terms import HOME, Term, is_literal


@dataclass(slots=True)
class Counts:
    """What the algorithm has done, over all events."""

    typed_statements: int = 0
    rows_visited: int = 0
    """Rows that typed statements were matched with: their own and its ancestors."""
    patterns_examined: int = 0
    """Comparisons of a typed statement with a waiting pattern."""
    patterns_matched: int = 0
    late_matches: int = 0
    """Of these, with a statement that had passed before the pattern came."""
    notifications: int = 0
    """Matches told to rectangles: to the one that waits and to those registered to it."""
    waiting_patterns: int = 0
    """Derived patterns put into a waiting-pattern list."""
    registered_patterns: int = 0
    """Derived patterns registered to an equal one instead."""

    def as_dict(self) -> dict[str, int]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, slots=True)
class Options:
    budget: int
    now: Term
    published: bool
    keep_backtracks: bool


class Matching:
    """The state of one event; `reset` takes it out of the array again."""

    def __init__(self, ems: EmsArray, meaning: Meaning, options: Options, counts: Counts) -> None:
        self.trees: dict[str, MatchingTree] = {}
        self._ems = ems
        self._meaning = meaning
        self._options = options
        self._counts = counts
        self._touched: list[Row] = []
        self._matches: deque[tuple[Rectangle, Term]] = deque()

    def run(self) -> None:
        for statement in traverse(self._meaning, self._ems):
            self._counts.typed_statements += 1
            self._pass(statement)
            self._grow()

    def reset(self) -> None:
        for row in self._touched:
            row.reset()

    def tree_of(self, graph: SubscriptionGraph) -> MatchingTree:
        """The tree of a subscription, made when its first pattern matches."""
        tree = self.trees.get(graph.id)
        if tree is None:
            options = self._options
            tree = MatchingTree(graph, Budget(options.budget), keep_backtracks=options.keep_backtracks)
            self.trees[graph.id] = tree
        return tree

    # ----------------------------------------------------------------------------------- a typed statement comes by

    def _pass(self, statement: TypedStatement) -> None:
        subject, object, meta = statement
        literal = self._meaning.classes(object) if is_literal(object) else None
        for row in self._ems.lineage(self._ems.row(meta), literal):
            self._counts.rows_visited += 1
            self._touch(row)
            passed = row.passed.setdefault(subject, {})
            if object in passed:
                continue
            passed[object] = None
            if subject == HOME:
                for initial in row.initial.values():
                    self._meet_initial(initial, object)
            for waiting in row.waiting.get(subject, {}).values():
                self._meet(waiting, object)

    def _touch(self, row: Row) -> None:
        if not row.touched:
            self._touched.append(row)

    def _meet_initial(self, pattern: InitialPattern, object: Term) -> None:
        self._counts.patterns_examined += 1
        try:
            if not self._accepts(pattern.contents, object):
                return
        except EvaluationError as error:
            for graph in pattern.observers.values():
                self.tree_of(graph).failure = str(error)
            return
        self._counts.patterns_matched += 1
        for observer, graph in pattern.observers.items():
            self._matches.append((self.tree_of(graph).initial[observer], object))

    def _meet(self, pattern: WaitingPattern, object: Term) -> bool:
        """Whether the pattern matches a statement with this object; then all its observers are told."""
        self._counts.patterns_examined += 1
        try:
            if not self._accepts(pattern.contents, object):
                return False
        except EvaluationError as error:
            pattern.failure = str(error)
            for rectangle in pattern.observers:
                rectangle.tree.failure = pattern.failure
            return False
        self._counts.patterns_matched += 1
        pattern.matched.append(object)
        self._matches.extend([(rectangle, object) for rectangle in pattern.observers])
        return True

    def _accepts(self, contents: Contents, object: Term) -> bool:
        wanted, condition = contents
        if wanted is not None:
            return wanted == object
        return condition is None or condition.holds(Run(self._meaning, self._options.budget, self._options.now), object)

    # --------------------------------------------------------------------------------------------- the trees grow

    def _grow(self) -> None:
        """Every match becomes a circle of its tree; the patterns derived from it wait, or match at once."""
        while self._matches:
            rectangle, object = self._matches.popleft()
            self._counts.notifications += 1
            tree = rectangle.tree
            if tree.failure is not None:
                continue
            try:
                derived = tree.match(rectangle, object, early=not self._options.published)
            except EvaluationError as error:
                tree.failure = str(error)
                continue
            for child in derived:
                self._register(child)

    def _register(self, rectangle: Rectangle) -> None:
        """Put a derived pattern into the waiting-pattern list of its row, or register it to an equal one there."""
        row = rectangle.pattern.row
        self._touch(row)
        here = row.waiting.setdefault(rectangle.subject, {})
        pattern = here.get(rectangle.contents)
        if pattern is not None:
            self._counts.registered_patterns += 1
            self._join(pattern, rectangle)
            return
        self._counts.waiting_patterns += 1
        pattern = here[rectangle.contents] = WaitingPattern(rectangle.contents)
        pattern.observers.append(rectangle)
        if not self._options.published:
            for object in row.passed.get(rectangle.subject, ()):
                self._counts.late_matches += self._meet(pattern, object)

    def _join(self, pattern: WaitingPattern, rectangle: Rectangle) -> None:
        pattern.observers.append(rectangle)
        if pattern.failure is not None:
            rectangle.tree.failure = pattern.failure
        if not self._options.published:
            self._matches.extend([(rectangle, object) for object in pattern.matched])
