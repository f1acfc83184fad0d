"""SPARQL by the letter of its algebra, bottom up, on lists of rows: the brute-force check of the `sparql` dialect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from tests.property import brute_text
from tests.property import brute_values as values
from tests.property import model as m
from tests.property.brute_expr import evaluate, holds
from tests.property.brute_rdf import Knowledge
from tests.property.brute_values import TypeProblem

Row = dict[str, m.RdfTerm]
Rows = list[Row]
Pair = tuple[m.RdfTerm, m.RdfTerm]


@dataclass(frozen=True)
class OneOf:
    """A cell that the contract leaves open: any of these terms is right (MIN of 5 and 05, say)."""

    terms: frozenset[m.RdfTerm]


@dataclass(frozen=True)
class Result:
    """All solutions, and for CONSTRUCT the triples."""

    rows: Rows
    triples: frozenset[m.Statement] | None = None


def answer(query: m.Select, world: m.World) -> Result | None:
    """What a notification must carry, or None where there must be no match."""
    knowledge = Knowledge(world)
    graph = knowledge.star
    evaluator = Evaluator(graph, world.event_id)
    if query.form in ("ASK", "CONSTRUCT"):
        rows = evaluator.group(query.where)
        if query.values:
            rows = join(rows, inline(query.values))
        if not rows:
            return None
        triples = frozenset(_made(query.template, rows)) if query.form == "CONSTRUCT" else None
        return Result([{}], triples)
    if implicit_group(query) and not evaluator.group(query.where):
        return None
    rows = evaluator.select(query)
    return Result(rows) if rows else None


def implicit_group(query: m.Select) -> bool:
    aggregated = any(isinstance(expr, m.Agg) for _, expr in query.columns or ()) or query.having is not None
    return aggregated and query.group_by is None


def _made(template: Iterable[tuple[m.Place, m.Place, m.Place]], rows: Rows) -> Iterator[m.Statement]:
    for row in rows:
        for pattern in template:
            s, p, o = (row.get(n.name) if isinstance(n, m.V) else n for n in pattern)
            if isinstance(s, m.Iri | m.Blank) and isinstance(p, m.Iri) and o is not None:
                yield s, p, o


# -------------------------------------------------------------------------------------------------------------- algebra


def compatible(a: Row, b: Row) -> bool:
    return all(b[k] == v for k, v in a.items() if k in b)


def join(left: Rows, right: Rows) -> Rows:
    return [{**a, **b} for a in left for b in right if compatible(a, b)]


def minus(left: Rows, right: Rows) -> Rows:
    return [a for a in left if not any(compatible(a, b) and a.keys() & b.keys() for b in right)]


def inline(values_block: m.Inline) -> Rows:
    names = [v.name for v in values_block.vars]
    return [{n: t for n, t in zip(names, row, strict=True) if t is not None} for row in values_block.rows]


@dataclass(frozen=True)
class Evaluator:
    """One active graph; the dataset's named graph is the same one, under the event's id."""

    graph: frozenset[m.Statement]
    name: m.Iri

    def exists(self, group: m.Group, row: Row) -> bool:
        return bool(self.group(substitute(group, row)))

    def holds(self, expr: object, row: Row) -> bool:
        return holds(expr, row, self.exists)

    # --------------------------------------------------------------------------------------------------------- groups

    def group(self, group: m.Group) -> Rows:
        """A group graph pattern: its elements in order, its filters over the whole."""
        rows: Rows = [{}]
        for element in group.elements:
            rows = self._step(rows, element)
        filters = [e.expr for e in group.elements if isinstance(e, m.Filter)]
        return [row for row in rows if all(self.holds(f, row) for f in filters)]

    def _step(self, rows: Rows, element: m.Element) -> Rows:
        match element:
            case m.Bgp(triples):
                return join(rows, self.bgp(triples))
            case m.Filter():
                return rows
            case m.Optional(group):
                return self._left_join(rows, group)
            case m.Minus(group):
                return minus(rows, self.group(group))
            case m.Union(groups):
                return join(rows, [row for g in groups for row in self.group(g)])
            case m.Nested(group):
                return join(rows, self.group(group))
            case m.Bind(expr, var):
                return [self._extend(row, var, expr) for row in rows]
            case m.Inline():
                return join(rows, inline(element))
            case m.InGraph(m.V(name), group):
                return join(
                    rows, [{**r, name: self.name} for r in self.group(group) if r.get(name, self.name) == self.name]
                )
            case m.InGraph(name, group):
                return join(rows, self.group(group) if name == self.name else [])
            case m.SubSelect(select):
                return join(rows, self.select(select))

    def _left_join(self, rows: Rows, group: m.Group) -> Rows:
        """OPTIONAL: the filters directly inside it are its condition, and see both sides."""
        conditions = [e.expr for e in group.elements if isinstance(e, m.Filter)]
        inner = self.group(m.Group(tuple(e for e in group.elements if not isinstance(e, m.Filter))))
        out = []
        for row in rows:
            both = [{**row, **r} for r in inner if compatible(row, r)]
            out += [r for r in both if all(self.holds(c, r) for c in conditions)] or [row]
        return out

    def _extend(self, row: Row, var: m.V, expr: object) -> Row:
        try:
            return {**row, var.name: evaluate(expr, row, self.exists)}
        except TypeProblem:
            return row

    # ------------------------------------------------------------------------------------------------ basic patterns

    def bgp(self, triples: Iterable[tuple[m.Place, m.Place | m.PathTree, m.Place]]) -> Rows:
        """Plain triple patterns: every way to map variables and blank nodes, then only the variables are kept.

        A path is joined to them as its own table, whose repeats count.
        """
        plain = [t for t in triples if not isinstance(t[1], tuple)]
        paths = [t for t in triples if isinstance(t[1], tuple)]
        rows = _distinct(self._instances(plain))
        for s, tree, o in paths:
            rows = join(rows, [r for x, y in self.path(tree, s, o) if (r := bind((s, o), (x, y))) is not None])
        return [{k: v for k, v in row.items() if not k.startswith(("_", "*"))} for row in rows]

    def _instances(self, patterns: list[tuple[m.Place, m.Place, m.Place]]) -> Iterator[Row]:
        for choice in product(self.graph, repeat=len(patterns)):
            row: Row | None = {}
            for pattern, triple in zip(patterns, choice, strict=True):
                row = bind(pattern, triple, row)
                if row is None:
                    break
            else:
                assert row is not None
                yield row

    # ---------------------------------------------------------------------------------------------------------- paths

    def path(self, tree: m.PathTree, s: m.Place, o: m.Place) -> list[Pair]:
        """The pairs a path connects, with repeats where the algebra has them.

        A path of length zero connects every node of the graph with itself, and a term at an end of it that the
        pattern names even where the graph does not have it. The joints of a sequence are variables, hence in the graph.
        """
        ends = [{n} if isinstance(n, m.Iri | m.Lit | m.Blank) else set() for n in (s, o)]
        return self._pairs(tree, *ends)

    def _pairs(self, tree: m.PathTree, start: set[m.RdfTerm], end: set[m.RdfTerm]) -> list[Pair]:
        def zero() -> set[Pair]:
            return {(n, n) for n in {n for a, _, b in self.graph for n in (a, b)} | start | end}

        match tree:
            case ("iri", iri):
                return [(s, o) for s, p, o in self.graph if p == iri]
            case ("inv", inner):
                return [(b, a) for a, b in self._pairs(inner, end, start)]
            case ("seq", left, right):
                lefts, rights = self._pairs(left, start, set()), self._pairs(right, set(), end)
                return [(a, d) for a, b in lefts for c, d in rights if b == c]
            case ("alt", left, right):
                return self._pairs(left, start, end) + self._pairs(right, start, end)
            case ("?", inner):
                return list({*self._pairs(inner, start, end)} | zero())
            case ("+", inner):
                return list(_transitive(set(self._pairs(inner, start, end))))
            case ("*", inner):
                return list(_transitive(set(self._pairs(inner, start, end))) | zero())
            case ("not", forward, inverse):
                # The standard defines each direction as a set: one row however many properties connect two nodes.
                ahead = {(s, o) for s, p, o in self.graph if p not in forward} if forward else set()
                back = {(o, s) for s, p, o in self.graph if p not in inverse} if inverse else set()
                return [*ahead, *back]
        raise TypeError(tree)

    # ----------------------------------------------------------------------------------------------------- aggregates

    def select(self, query: m.Select) -> Rows:
        """SELECT. A VALUES block behind the query is not generated together with grouping."""
        rows = self.group(query.where)
        if query.values:
            rows = join(rows, inline(query.values))
        if query.group_by is not None or implicit_group(query):
            rows = self._grouped(query, rows)
        elif query.columns is not None:
            for var, expr in query.columns:
                if expr is not None:
                    rows = [self._extend(row, var, expr) for row in rows]
        if query.columns is not None:
            names = {var.name for var, _ in query.columns}
            rows = [{k: v for k, v in row.items() if k in names} for row in rows]
        if query.distinct:
            rows = _distinct(rows)
        return rows

    def _grouped(self, query: m.Select, rows: Rows) -> Rows:
        keys = [v.name for v in query.group_by or ()]
        groups: dict[tuple[m.RdfTerm | None, ...], Rows] = {} if query.group_by is not None else {(): []}
        for row in rows:
            groups.setdefault(tuple(row.get(k) for k in keys), []).append(row)
        out = []
        for key, members in groups.items():
            if query.having and not _having(query.having, members):
                continue
            row = {k: v for k, v in zip(keys, key, strict=True) if v is not None}
            for var, expr in query.columns or ():
                if isinstance(expr, m.Agg) and (found := aggregate(expr, members)) is not None:
                    row[var.name] = found
            out.append(row)
        return out


def bind(pattern: Iterable[m.Place], terms: Iterable[m.RdfTerm], row: Row | None = None) -> Row | None:
    """The row extended so that the pattern becomes the terms, or None."""
    bound = dict(row or {})
    for node, term in zip(pattern, terms, strict=True):
        match node:
            case m.V(name):
                key = name
            case m.Anon(label):
                key = f"_{label}"
            case m.Star(number):
                key = f"*{number}"
            case _:
                if node != term:
                    return None
                continue
        if bound.setdefault(key, term) != term:
            return None
    return bound


def _distinct(rows: Iterable[Row]) -> Rows:
    return list({frozenset(row.items()): row for row in rows}.values())


def _transitive(pairs: set[Pair]) -> set[Pair]:
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return pairs
        pairs = pairs | more


def _having(having: tuple[str, m.Agg, m.Lit], members: Rows) -> bool:
    op, agg, value = having
    found = aggregate(agg, members)
    if not isinstance(found, m.Lit):
        return False
    return holds((op, found, value), {}, lambda *_: False)


def aggregate(agg: m.Agg, members: Rows) -> m.RdfTerm | OneOf | None:
    """The value of an aggregate over one group; None is an error, which leaves the column unbound."""
    if agg.arg is None:
        return m.integer(len(_distinct(members)) if agg.distinct else len(members))
    bound = [row[agg.arg.name] for row in members if agg.arg.name in row]
    terms = list(dict.fromkeys(bound)) if agg.distinct else bound
    if agg.op == "COUNT":
        return m.integer(len(terms))
    if len(bound) < len(members):
        return None
    if agg.op in ("MIN", "MAX"):
        return _extremes(terms, agg.op) if terms else None
    if agg.op == "SAMPLE":
        return OneOf(frozenset(terms)) if terms else None
    total: m.RdfTerm = m.integer(0)
    try:
        for term in terms:
            total = values.arithmetic("+", total, term)
        return values.arithmetic("/", total, m.integer(len(terms))) if agg.op == "AVG" and terms else total
    except TypeProblem:
        return None


def _rank(term: m.RdfTerm) -> int:
    return [m.Blank, m.Iri, m.Lit].index(type(term))


def before(a: m.RdfTerm, b: m.RdfTerm) -> bool:
    """Strictly before in the order of ORDER BY, as far as SPARQL defines one."""
    if _rank(a) != _rank(b) or isinstance(a, m.Iri):
        return (_rank(a), a) < (_rank(b), b) if _rank(a) == _rank(b) else _rank(a) < _rank(b)
    try:
        return values.less(a, b, "<")
    except TypeProblem:
        return False


def _extremes(terms: list[m.RdfTerm], op: str) -> OneOf:
    if op == "MIN":
        return OneOf(frozenset(t for t in terms if not any(before(u, t) for u in terms)))
    return OneOf(frozenset(t for t in terms if not any(before(t, u) for u in terms)))


# -------------------------------------------------------------------------------------------------- EXISTS, literally


def substitute(group: m.Group, row: Row) -> m.Group:
    """The group with every variable that the row binds replaced by its value."""

    def node(place: m.Place) -> m.Place:
        return row.get(place.name, place) if isinstance(place, m.V) else place

    def in_expression(expr: object) -> object:
        match expr:
            case m.Group():
                return substitute(expr, row)
            case ("BOUND", m.V(name)):
                return m.boolean(True) if name in row else expr
            case ("ft", m.V(name), tree) if name in row:
                return _substituted_text(row[name], tree)
            case (op, *args):
                return (op, *(in_expression(a) for a in args))
            case m.V(name):
                return row.get(name, expr)
        return expr

    def element(item: m.Element) -> m.Element:
        match item:
            case m.Bgp(triples):
                return m.Bgp(tuple((node(s), p if isinstance(p, tuple) else node(p), node(o)) for s, p, o in triples))
            case m.Filter(expr):
                return m.Filter(in_expression(expr))
            case m.Optional(inner):
                return m.Optional(substitute(inner, row))
            case m.Nested(inner):
                return m.Nested(substitute(inner, row))
            case m.Minus(inner):
                return m.Minus(substitute(inner, row))
            case m.Union(groups):
                return m.Union(tuple(substitute(g, row) for g in groups))
            case m.InGraph(name, inner):
                return m.InGraph(node(name), substitute(inner, row))
        raise TypeError(f"not generated inside EXISTS: {item}")

    return m.Group(tuple(element(e) for e in group.elements))


def _substituted_text(term: m.RdfTerm, tree: m.FtTree) -> m.Lit:
    return m.boolean(isinstance(term, m.Lit) and brute_text.contains(term.lexical, tree))
