"""Algorithm match: the edges of a publication against G_M, then the joins of the candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

from tidings.errors import EvaluationError, UnsupportedError
from tidings.lang.pattern import Block, Constraint, Query, Var, variables
from tidings.match.base import Answer, Failure, Match, Report, Solution
from tidings.match.gtopss.graph import MergedEdge, MergedGraph, SubscriptionGraph
from tidings.match.gtopss.join import NO_COLUMNS, Table, by_size, natural_join
from tidings.match.gtopss.taxonomy import Taxonomy
from tidings.match.meaning import Meaning
from tidings.match.run import DEFAULT_BUDGET, Budget
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term

MOST_VARIABLES = 64


class Gtopss:
    """An `Engine` that takes the `gtopss` dialect.

    `budget` are the steps that the joins and constraints of one subscription may take on one event. Every edge of every
    event is looked up for k² pairs of stars, k being the most variables of a subscription, so one subscription may have
    no more than `most_variables`. `now` has no meaning here: no constraint speaks of it.
    """

    name = "gtopss"

    def __init__(
        self,
        ontology: Ontology,
        *,
        budget: int = DEFAULT_BUDGET,
        now: Term | None = None,
        published: bool = False,
        most_variables: int = MOST_VARIABLES,
    ) -> None:
        self._ontology = ontology
        self._budget = budget
        self._published = published
        self._most_variables = most_variables
        self._graph = MergedGraph(published)
        # The counters of one event; SubSet is their keys. `published` carries over those that were not reset.
        self._edge_counts: Counter[SubscriptionGraph] = Counter()
        self._carried: Counter[SubscriptionGraph] = Counter()
        self._touched: dict[MergedEdge, None] = {}
        self._counts = dict.fromkeys(
            (
                "events",
                "publication_edges",
                "probes",
                "edge_lookups",
                "edge_counts",
                "candidates",
                "joined_subscriptions",
                "joins",
                "rows_joined",
                "constraint_checks",
                "taxonomy_steps",
                "binding_rows",
                "matches",
                "failures",
            ),
            0,
        )

    def __len__(self) -> int:
        return len(self._graph.subs)

    def __contains__(self, id: object) -> bool:
        return id in self._graph.subs

    def add(self, id: str, query: Query) -> None:
        """Take a subscription; one of the same id is replaced."""
        graph = SubscriptionGraph(id, *self._accepted(query))
        if id in self._graph.subs:
            self.remove(id)
        self._graph.insert(graph)

    def remove(self, id: str) -> None:
        self._carried.pop(self._graph.remove(id), None)

    def _accepted(self, query: Query) -> tuple[Block, tuple[Var, ...]]:
        """Its edges and constraints, and its variables."""
        if query.dialect != "gtopss":
            raise UnsupportedError(self.name, f"subscriptions in the {query.dialect} dialect")
        block = query.where
        if not isinstance(block, Block) or block.paths or block.classes or block.injective or not block.triples:
            raise UnsupportedError(self.name, "what is not a set of edges")
        scope = variables(block)
        for constraint in block.filters:
            if not isinstance(constraint, Constraint):
                raise UnsupportedError(self.name, "a filter that is no constraint")
            if constraint.var not in scope:
                raise UnsupportedError(self.name, f"a constraint on ?{constraint.var.name}, which is on no edge")
        if len(scope) > self._most_variables:
            raise UnsupportedError(self.name, f"more than {self._most_variables} variables in one subscription")
        return block, scope

    # -------------------------------------------------------------------------------------------------- matching

    def match(self, event: Event, report: Report) -> list[Match]:
        """The subscriptions that match, by id; those that fail are reported. The joins have made the bindings."""
        meaning = Meaning(event, self._ontology)
        taxonomy = Taxonomy(meaning, self._published)
        found: list[Match] = []
        try:
            self._match_edges(meaning)
            for graph in self._complete():
                try:
                    tables = self._bindings(graph, taxonomy)
                    if tables is not None:
                        found.append(Match(event.id, graph.id, event.source, partial(self._answer, graph, tables)))
                except EvaluationError as error:
                    self._counts["failures"] += 1
                    report(Failure(event.id, graph.id, str(error)))
        finally:
            self._reset()
        self._counts["events"] += 1
        self._counts["matches"] += len(found)
        self._counts["taxonomy_steps"] += taxonomy.steps
        return found

    def _match_edges(self, meaning: Meaning) -> None:
        """The first stage: binding tables, edge counters and SubSet."""
        graph = self._graph
        edges = meaning.asserted.triples if self._published else meaning.triples
        probes = lookups = 0
        for edge in edges:
            v, label, w = edge
            names = (label, *graph.label_stars)
            for pair in graph.completed(v, w):
                probes += 1
                t2 = graph.t1.get(pair)
                if t2 is None:
                    continue
                for name in names:
                    lookups += 1
                    met = t2.get(name)
                    if met is not None and met.fits(edge):
                        if self._published or not met.table.rows:
                            self._count(met)
                        met.table.add(edge)
        self._counts["publication_edges"] += len(edges)
        self._counts["probes"] += probes
        self._counts["edge_lookups"] += lookups
        self._counts["candidates"] += len(self._edge_counts)
        self._counts["binding_rows"] += sum(len(edge.table.rows) for edge in self._touched)

    def _count(self, edge: MergedEdge) -> None:
        self._touched[edge] = None
        self._edge_counts.update(edge.subs.keys())
        self._counts["edge_counts"] += len(edge.subs)

    def _complete(self) -> list[SubscriptionGraph]:
        """Those of SubSet whose every edge was met (published: as often as they have edges), by id."""
        counts = self._edge_counts
        if self._published:
            counts.update({graph: self._carried.pop(graph, 0) for graph in counts})
        complete = [graph for graph, count in counts.items() if count >= graph.size]
        for graph in complete:
            del counts[graph]
        complete.sort(key=lambda graph: graph.id)
        self._counts["joined_subscriptions"] += len(complete)
        return complete

    def _reset(self) -> None:
        for edge in self._touched:
            if self._published:
                edge.table.drop_oldest()
            else:
                edge.table.clear()
        if self._published:
            self._carried.update(self._edge_counts)
        self._edge_counts = Counter()
        self._touched = {}

    def _bindings(self, graph: SubscriptionGraph, taxonomy: Taxonomy) -> list[Table] | None:
        """The second stage: one table for each group of edges that variables tie together; None where one is empty."""
        budget = Budget(self._budget)
        tables = []
        for group in graph.groups:
            b = NO_COLUMNS
            for number, edge in enumerate(group if self._published else by_size(group, budget)):
                b = self._join(b, edge, budget)
                self._counts["joins"] += number > 0
                self._counts["rows_joined"] += len(b.rows)
                if not b.rows:
                    return None
            b = self._check_constraints(graph, b, taxonomy, budget)
            if not b.rows:
                return None
            tables.append(b)
        return tables

    def _join(self, b: Table, edge: MergedEdge, budget: Budget) -> Table:
        return natural_join(b, edge, budget)

    def _check_constraints(self, graph: SubscriptionGraph, b: Table, taxonomy: Taxonomy, budget: Budget) -> Table:
        """Algorithm CheckConstraint, on every row."""
        checks = [(b.names.index(star), op, value) for star, op, value in graph.constraints if star in b.names]
        if not checks:
            return b
        if self._published:
            checks = checks[:1]
        rows = []
        for row in b.rows:
            for place, op, value in checks:
                budget.spend(1)
                self._counts["constraint_checks"] += 1
                if not taxonomy.is_true(row[place], op, value, budget):
                    break
            else:
                rows.append(row)
        return Table(b.names, rows)

    def _answer(self, graph: SubscriptionGraph, tables: Sequence[Table]) -> Answer:
        """The product of the tables, a set over the variables, in the order of their terms' texts."""
        budget = Budget(self._budget)
        names = [name for table in tables for name in table.names]
        at = [names.index(star) for _, star in graph.variables]
        rows: dict[tuple[Term, ...], None] = {}
        for parts in product(*(table.rows for table in tables)):
            budget.keep_row()
            terms = [term for part in parts for term in part]
            rows[tuple([terms[place] for place in at])] = None
        variables = [name for name, _ in graph.variables]
        solutions: list[Solution] = [dict(zip(variables, row, strict=True)) for row in sorted(rows)]
        return Answer(tuple(solutions))

    # ------------------------------------------------------------------------------------------------ statistics

    def stats(self) -> Mapping[str, int | float]:
        """The work of all events so far; G_M as it is now; bytes, estimated, of G_M and of all that is held."""
        matrix, own = self._graph.bytes()
        return {
            **self._counts,
            "gm_pairs": len(self._graph.t1),
            "gm_edges": sum(map(len, self._graph.t1.values())),
            "stars": len(self._graph.stars),
            "bytes_matrix": matrix,
            "bytes_held": matrix + own,
        }
