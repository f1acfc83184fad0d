"""The matcher `ops`: subscriptions in the array, events through it, trees verified."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tidings.errors import EvaluationError, UsageError
from tidings.lang.pattern import Query
from tidings.match.base import Answer, Failure, Match, Report
from tidings.match.meaning import Meaning
from tidings.match.ops.ems import EmsArray
from tidings.match.ops.matching import Counts, Matching, Options
from tidings.match.ops.patterns import Conditions, InitialPattern, SubscriptionGraph, decompose, initial_contents
from tidings.match.ops.tree import MatchingTree
from tidings.match.ops.verification import solutions
from tidings.match.run import DEFAULT_BUDGET, Budget
from tidings.match.select import row_key
from tidings.match.verify import current_time
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import HOME, Term


class Ops:
    """An `Engine` for subscriptions in the `ops` dialect.

    `published`: the paper's own behaviour, with the matches it misses. `declared_only`: a statement that is neither
    declared nor below a declared meta-statement matches nothing. `keep_trees`: `tree` gives those of the last event.
    """

    name = "ops"

    def __init__(
        self,
        ontology: Ontology,
        *,
        budget: int = DEFAULT_BUDGET,
        now: Term | None = None,
        published: bool = False,
        declared_only: bool = False,
        keep_trees: bool = False,
    ) -> None:
        self.ems = EmsArray(ontology, declared_only=declared_only)
        self._ontology = ontology
        self._options = Options(budget, now or current_time(), published, keep_backtracks=keep_trees)
        self._keep_trees = keep_trees
        self._trees: dict[str, MatchingTree] = {}
        self._conditions = Conditions()
        self._subscriptions: dict[str, SubscriptionGraph] = {}
        self._initial_nodes = 0
        self._steps = Counts()
        names = ("events", "matches", "failures", "trees", "circles", "rectangles", "resting_nodes")
        self._counts = dict.fromkeys((*names, "sbpv_rejections", "bebv_evaluations", "bebv_rejections"), 0)

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __contains__(self, id: object) -> bool:
        return id in self._subscriptions

    # -------------------------------------------------------------------------------------------------- subscriptions

    def add(self, id: str, query: Query) -> None:
        """Take a subscription; one of the same id is replaced."""
        graph = decompose(self.name, id, query, self.ems, self._conditions)
        if id in self._subscriptions:
            self.remove(id)
        self._subscriptions[id] = graph
        self._initial_nodes += 1 + len(graph.outgoing[HOME])
        for pattern in graph.outgoing[HOME]:
            contents = initial_contents(pattern)
            initial = pattern.row.initial.setdefault(contents, InitialPattern(contents))
            initial.observers[pattern] = graph

    def remove(self, id: str) -> None:
        graph = self._subscriptions.pop(id)
        self._initial_nodes -= 1 + len(graph.outgoing[HOME])
        self._trees.pop(id, None)
        for pattern in graph.outgoing[HOME]:
            contents = initial_contents(pattern)
            initial = pattern.row.initial[contents]
            del initial.observers[pattern]
            if not initial.observers:
                del pattern.row.initial[contents]
        for pattern in graph.patterns:
            self.ems.release(pattern.row)

    # ---------------------------------------------------------------------------------------------------------- events

    def match(self, event: Event, report: Report) -> list[Match]:
        """The subscriptions that match, by id; those that fail are reported. Bindings are computed when asked for."""
        matching = self._matching(Meaning(event, self._ontology))
        try:
            matching.run()
        finally:
            matching.reset()
            self.ems.trim()
        if self._keep_trees:
            self._trees = matching.trees
        self._count(matching)
        found: list[Match] = []
        for id in sorted(matching.trees):
            tree = matching.trees[id]
            self._verify(tree)
            if tree.failure is not None:
                self._counts["failures"] += 1
                report(Failure(event.id, id, tree.failure))
            elif tree.matched:
                self._counts["matches"] += 1
                found.append(Match(event.id, id, event.source, partial(self._answer, tree)))
        return found

    def _matching(self, meaning: Meaning) -> Matching:
        return Matching(self.ems, meaning, self._options, self._steps)

    def _verify(self, tree: MatchingTree) -> None:
        """BEBV, for what SBPV has let through."""
        if tree.failure is not None:
            return
        if not tree.root.checked:
            self._counts["sbpv_rejections"] += 1
            return
        self._counts["bebv_evaluations"] += 1
        try:
            tree.solution = next(solutions(tree, tree.budget), None)
        except EvaluationError as error:
            tree.failure = str(error)
            return
        tree.verified = True
        self._counts["bebv_rejections"] += tree.solution is None

    def _answer(self, tree: MatchingTree) -> Answer:
        budget = Budget(self._options.budget)
        names = tree.graph.names
        rows = []
        for image in solutions(tree, budget):
            budget.keep_row()
            rows.append({name: image[f"?{name}"] for name in names})
        rows.sort(key=lambda row: row_key(names, row))
        return Answer(tuple(rows))

    # ------------------------------------------------------------------------------------------------------ inspection

    def tree(self, id: str) -> MatchingTree:
        """The matching tree of a subscription on the last event; KeyError where there is no such subscription."""
        if not self._keep_trees:
            raise UsageError("matching trees are only kept by a matcher made with keep_trees=True")
        graph = self._subscriptions[id]
        return self._trees.get(id) or MatchingTree(graph, Budget(self._options.budget))

    def stats(self) -> Mapping[str, int | float]:
        """Counts over all events (see `Counts` too), and what is held now: rows of the array, patterns in its lists.

        `trees`, `circles` and `rectangles` are of trees with a match at the first layer at least; the others have
        `resting_nodes`: their root and its patterns. `bytes_held` are those of the array and the subscription graphs,
        without the texts of terms and the filters.
        """
        return {
            **self._counts,
            **self._steps.as_dict(),
            "rows": len(self.ems),
            "initial_patterns": sum(len(row.initial) for row in self.ems.rows),
            "bytes_held": self.ems.bytes() + sum(graph.bytes() for graph in self._subscriptions.values()),
        }

    def _count(self, matching: Matching) -> None:
        trees = matching.trees.values()
        self._counts["events"] += 1
        self._counts["trees"] += len(trees)
        self._counts["circles"] += sum(tree.circles for tree in trees)
        self._counts["rectangles"] += sum(tree.rectangles for tree in trees)
        self._counts["resting_nodes"] += self._initial_nodes - sum(1 + len(tree.initial) for tree in trees)
