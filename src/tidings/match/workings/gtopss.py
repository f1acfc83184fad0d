"""`gtopss` under watch: the edges of G_M met, the binding tables, their joins, the constraints on what is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tidings.match.explain.names import Names
from tidings.match.explain.text import MARKS
from tidings.match.gtopss.engine import Gtopss
from tidings.match.gtopss.graph import MergedEdge, Name, SubscriptionGraph, is_star
from tidings.match.gtopss.join import Table
from tidings.match.gtopss.taxonomy import Taxonomy
from tidings.match.meaning import Meaning
from tidings.match.run import Budget
from tidings.match.workings.model import MOST_ROWS, Kept, Section, counted, listed, section, table
from tidings.rdf.terms import Term, is_literal

Place: TypeAlias = int | Term
"""As in `gtopss.taxonomy`."""

# Different ones, on one table; above that, they are only counted.
_MOST_CHECKS = 1000


@dataclass(slots=True)
class Check:
    """One constraint on one node: the way up the taxonomy that led from one to the other, or all places seen."""

    node: Term
    op: str
    value: Term
    holds: bool
    way: tuple[Term, ...]
    seen: tuple[Term, ...]


class WatchedTaxonomy(Taxonomy):
    """`checks` are those made so far, each once, and `more` how many there were when these were enough."""

    def __init__(self, meaning: Meaning) -> None:
        super().__init__(meaning, published=False)
        self.checks: dict[tuple[Term, str, Term], Check] = {}
        self.more = 0
        self._below: dict[Place, Place | None] = {}
        self._way: tuple[Term, ...] = ()
        self._seen: tuple[Term, ...] = ()

    def is_true(self, node: Term, op: str, value: Term, budget: Budget) -> bool:
        self._way = self._seen = ()
        holds = super().is_true(node, op, value, budget)
        if len(self.checks) < _MOST_CHECKS:
            self.checks[node, op, value] = Check(node, op, value, holds, self._way, self._seen)
        else:
            self.more += (node, op, value) not in self.checks
        return holds

    def is_node_descendant(self, node: Term, ancestor: Term, budget: Budget) -> bool:
        self._below = {}
        holds = super().is_node_descendant(node, ancestor, budget)
        if holds:
            downwards = [self._place(ancestor)]
            while (below := self._below.get(downwards[-1])) is not None and below not in downwards:
                downwards.append(below)
            way = [self._name(place, (node, ancestor)) for place in reversed(downwards)]
            self._way = tuple(dict.fromkeys([node, *way]))
        else:
            self._seen = tuple(self._name(place, (node,)) for place in self._below)
        return holds

    def _above(self, place: Place) -> Iterable[Place]:
        self._below.setdefault(place, None)
        for above in super()._above(place):
            self._below.setdefault(above, place)
            yield above

    def _name(self, place: Place, preferred: Sequence[Term]) -> Term:
        """Of the names of a class, the one that was asked for."""
        if not isinstance(place, int):
            return place
        members = self._ontology.classes.members(place)
        return next((name for name in preferred if name in members), min(members))


@dataclass(slots=True)
class Joined:
    """One step of the natural join: what B was, by its columns, and what it became."""

    before: tuple[Name, ...]
    edge: MergedEdge
    result: Kept


@dataclass(slots=True)
class Checked:
    """What the constraints have left of B."""

    before: int
    checks: list[Check]
    more: int
    result: Kept


@dataclass(slots=True)
class Seen:
    """What happened on one event."""

    edge_count: int = 0
    tables: dict[MergedEdge, Kept] = field(default_factory=dict)
    steps: list[Joined | Checked] = field(default_factory=list)


class WatchedGtopss(Gtopss):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._seen = Seen()

    def _match_edges(self, meaning: Meaning) -> None:
        self._seen = Seen()
        self._taxonomy = WatchedTaxonomy(meaning)
        super()._match_edges(meaning)

    def _complete(self) -> list[SubscriptionGraph]:
        for graph in self._graph.subs.values():
            self._seen.edge_count = self._edge_counts[graph]
            for edge in graph.edges:
                rows = [tuple([triple[place] for _, place in edge.columns]) for triple in edge.table.rows]
                self._seen.tables[edge] = Kept([name for name, _ in edge.columns], rows)
        return super()._complete()

    def _bindings(self, graph: SubscriptionGraph, taxonomy: Taxonomy) -> list[Table] | None:
        return super()._bindings(graph, self._taxonomy)

    def _join(self, b: Table, edge: MergedEdge, budget: Budget) -> Table:
        joined = super()._join(b, edge, budget)
        self._seen.steps.append(Joined(b.names, edge, Kept(joined.names, joined.rows)))
        return joined

    def _check_constraints(self, graph: SubscriptionGraph, b: Table, taxonomy: Taxonomy, budget: Budget) -> Table:
        self._taxonomy.checks, self._taxonomy.more = {}, 0
        left = super()._check_constraints(graph, b, taxonomy, budget)
        if self._taxonomy.checks:
            checks = list(self._taxonomy.checks.values())
            self._seen.steps.append(Checked(len(b.rows), checks, self._taxonomy.more, Kept(left.names, left.rows)))
        return left

    def sections(self, names: Names) -> Iterator[Section]:
        for graph in self._graph.subs.values():
            told = _Told(graph, names, self._seen)
            yield told.merged_graph(self._counts["publication_edges"], self._counts["probes"])
            yield from told.binding_tables()
            yield from told.steps()


class _Told:
    """The same in words."""

    def __init__(self, graph: SubscriptionGraph, names: Names, seen: Seen) -> None:
        self._graph = graph
        self._names = names
        self._seen = seen
        self._numbers = {edge: number for number, edge in enumerate(graph.edges, 1)}
        named = sorted((int(star[1:]), star, name) for name, star in graph.variables)
        self._variables = {star: f"?{name}" for _, star, name in named}

    def merged_graph(self, publication_edges: int, probes: int) -> Section:
        stars = listed((f"{star} = {name}" for star, name in self._variables.items()), MOST_ROWS)
        count, edges = self._seen.edge_count, len(self._graph.edges)
        outcome = "every edge is met, a candidate" if count == edges else "no candidate, nothing is joined"
        return section(
            f"G_M: {counted(edges, 'edge')} of this subscription",
            f"stars: {stars}",
            f"{counted(publication_edges, 'publication edge')}, looked up under (v, w), (v, *i), (*i, w), (*i, *j): "
            f"{counted(probes, 'pair')} of vertices",
            table=table(("", "edge", "met by"), self._graph.edges, self._edge_row),
            outcome=f"edgeCount {count} of {edges}: {outcome}",
        )

    def _edge_row(self, edge: MergedEdge) -> tuple[str, ...]:
        met = self._seen.tables[edge].total
        return f"e{self._numbers[edge]}", self._edge(edge), f"{MARKS[met > 0]} {counted(met, 'publication edge')}"

    def binding_tables(self) -> Iterator[Section]:
        for edge, kept in self._seen.tables.items():
            if kept.total and edge.columns:
                title = f"Binding table B{self._numbers[edge]} of {self._edge(edge)}: {counted(kept.total, 'row')}"
                yield section(title, table=kept.table(self._names, self._star))

    def steps(self) -> Iterator[Section]:
        """Joins, and constraints after those of each group of edges that stars tie together."""
        for step in self._seen.steps:
            left = step.result.table(self._names, self._star)
            rows = counted(step.result.total, "row")
            if isinstance(step, Checked):
                yield self._constraints(step)
                yield section(f"B after the constraints: {rows} of {step.before}", table=left)
                continue
            binding_table = f"B{self._numbers[step.edge]}"
            if step.before:
                common = [self._star(name) for name, _ in step.edge.columns if name in step.before]
                yield section(f"B := B ⋈ {binding_table} on {listed(common)}: {rows}", table=left)
            else:
                yield section(f"B := {binding_table}: {rows}")

    def _constraints(self, step: Checked) -> Section:
        asked = [f"{self._star(star)} {op} {self._names.term(value)}" for star, op, value in self._graph.constraints]
        return section(
            f"Constraints on B: {listed(asked, MOST_ROWS)}",
            table=table(("node", "asked for", "", "in the taxonomy"), step.checks, self._check_row, left_out=step.more),
        )

    def _check_row(self, check: Check) -> tuple[str, ...]:
        term = self._names.term
        return term(check.node), f"{check.op} {term(check.value)}", MARKS[check.holds], self._taxonomy(check)

    def _taxonomy(self, check: Check) -> str:
        if is_literal(check.value) or is_literal(check.node):
            return "–"
        if check.op in ("=", "!="):
            return "a direct edge" if check.holds == (check.op == "=") else "no direct edge"
        if check.seen:
            return f"not above it; climbed {listed(map(self._names.term, check.seen))}"
        return " → ".join(map(self._names.term, check.way)) if len(check.way) > 1 else "the same class"

    def _edge(self, edge: MergedEdge) -> str:
        return f"({', '.join(self._name(name) for name in (edge.v, edge.label, edge.w))})"

    def _name(self, name: Name) -> str:
        return name if is_star(name) else self._names.term(Term(name))

    def _star(self, star: Name) -> str:
        return f"{star} {self._variables.get(star, '')}".rstrip()
