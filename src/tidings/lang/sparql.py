"""SPARQL 1.1 queries as subscriptions: SELECT, ASK and CONSTRUCT, solution modifiers, and what is refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tidings.lang.expressions import AGGREGATES, CALLS
from tidings.lang.forms import MAX_HEIGHT, height, number_hidden
from tidings.lang.groups import GroupParser
from tidings.lang.pattern import (
    Aggregate,
    Call,
    Expr,
    Form,
    FtContains,
    GroupKey,
    OrderKey,
    Pattern,
    Projection,
    Query,
    TriplePattern,
    Values,
    Var,
    variables,
)
from tidings.lang.triples import Triples

_UPDATES = ("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH")


def parse_sparql(text: str, source: str | None = None, base: str | None = None) -> Query:
    """The form of a query; a `SubscriptionError` says what is wrong with it, and where."""
    return SparqlParser(text, source, base).query()


class SparqlParser(GroupParser):
    def __init__(self, text: str, source: str | None = None, base: str | None = None) -> None:
        super().__init__(text, source, base)
        self._selects: list[tuple[Query, list[int], bool]] = []

    def query(self) -> Query:
        self.prologue()
        kind = self.kinds[self.i]
        if kind == "SELECT":
            query = self._select()
        elif kind == "ASK":
            self.i += 1
            self._where_keyword()
            query = self._modified("ASK", self.group())
        elif kind == "CONSTRUCT":
            query = self._construct()
        else:
            raise self._no_query(kind)
        self.expect_end()
        if len(self.texts) > MAX_HEIGHT // 2 and height(query) > MAX_HEIGHT:
            raise self.error(f"too deep: at most {MAX_HEIGHT} operators or groups may build on one another", at=0)
        self.check_binds()
        for select in self._selects:
            self._check_select(*select)
        return number_hidden(query) if self.has_hidden else query

    def _no_query(self, kind: str) -> Exception:
        if kind == "DESCRIBE":
            return self.error("DESCRIBE is not available in subscriptions", hint="use CONSTRUCT or SELECT")
        if kind in _UPDATES:
            return self.error(f"a subscription is a query, not an update ({kind})")
        return self.unexpected("SELECT", "ASK", "CONSTRUCT", "PREFIX", "BASE")

    # ---------------------------------------------------------------------------------------------------------- SELECT

    def sub_select(self) -> Query:
        outer = self.no_aggregate, self.aggregated
        query = self._select()
        self.no_aggregate, self.aggregated = outer
        return query

    def _select(self) -> Query:
        self.expect("SELECT")
        self.no_aggregate, self.aggregated = None, False
        distinct = self.take("DISTINCT")
        reduced = not distinct and self.take("REDUCED")
        places = [self.i]
        projection = None if self.take("*") else self._columns(places)
        self._where_keyword()
        query = self._modified("SELECT", self.group(), projection, distinct, reduced)
        self._selects.append((query, places, self.aggregated))
        return query

    def _columns(self, places: list[int]) -> tuple[Projection, ...]:
        """The columns; `places` gets where each begins."""
        places.clear()
        columns: list[Projection] = []
        while True:
            kind, start = self.kinds[self.i], self.i
            if kind == "var":
                columns.append(Projection(self.var()))
            elif kind == "(":
                columns.append(Projection(*self._named()))
            elif columns:
                return tuple(columns)
            else:
                hint = f"name the result: ({kind}(…) AS ?name)" if kind in AGGREGATES else None
                raise self.unexpected("var", "(", "*", hint=hint)
            places.append(start)

    def _named(self) -> tuple[Var, Expr]:
        """`(expr AS ?var)`."""
        self.expect("(")
        expr = self.expression()
        if not self.take("AS"):
            raise self.unexpected("AS", "an operator", hint="a computed column needs a name: (… AS ?name)")
        var = self.var()
        self.expect(")")
        return var, expr

    def _check_select(self, query: Query, places: list[int], aggregated: bool) -> None:
        """Columns name new variables, and in a grouped query they are what a group has one value of."""
        grouping = query.group is not None or aggregated
        if query.projection is None:
            if grouping:
                raise self.error("SELECT * cannot be grouped", at=places[0], hint="name the grouped variables")
            return
        known = set(query.values.vars) if query.values else set()
        keys = {var for key in query.group or () for var in (key.var, key.expr) if isinstance(var, Var)}
        taken = known | keys | set(variables(query.where))
        single = known | keys
        for column, start in zip(query.projection, places, strict=True):
            if column.expr is not None and column.var in taken:
                raise self.error(f"?{column.var.name} already has a value, it cannot name this one", at=start)
            if grouping:
                self._check_grouped(column, single, start)
                single.add(column.var)
            taken.add(column.var)

    def _check_grouped(self, column: Projection, grouped: Collection[Var], start: int) -> None:
        for var in [column.var] if column.expr is None else free_variables(column.expr):
            if var not in grouped:
                hint = "add it to GROUP BY, or put it into an aggregate such as SAMPLE"
                raise self.error(f"?{var.name} is not grouped, so it has no single value here", at=start, hint=hint)

    # ------------------------------------------------------------------------------------------------------- CONSTRUCT

    def _construct(self) -> Query:
        self.expect("CONSTRUCT")
        self._refuse_dataset()
        if self.kinds[self.i] == "{":
            template = self._template()
            self._where_keyword()
            return self._modified("CONSTRUCT", self.group(), template=template)
        if not self.take("WHERE"):
            raise self.unexpected("a template in braces", "WHERE")
        start = self.i
        template = self._template()
        self.i = start
        return self._modified("CONSTRUCT", self.group(), template=template)

    def _template(self) -> tuple[TriplePattern, ...]:
        """Triples in braces. Every solution makes its blank nodes anew, so they share no labels with WHERE."""
        outer, self.into = self.into, Triples()
        labels, self.labels = self.labels, {}
        self.template = True
        self.expect("{")
        while self.at_triples():
            self.same_subject()
            if not self.take("."):
                break
        if not self.take("}"):
            raise self.unexpected(".", ";", ",", "}")
        self.template = False
        triples = tuple(self.into.triples)
        self.into, self.labels = outer, labels
        return triples

    # ------------------------------------------------------------------------------------------------------- modifiers

    def _where_keyword(self) -> None:
        self._refuse_dataset()
        self.take("WHERE")
        if self.kinds[self.i] != "{":
            hint = "nothing separates the columns but space" if self.kinds[self.i] == "," else None
            raise self.unexpected("WHERE", "{", hint=hint)

    def _refuse_dataset(self) -> None:
        if self.kinds[self.i] == "FROM":
            name = "FROM NAMED" if self.kinds[self.i + 1] == "NAMED" else "FROM"
            raise self.error(f"{name} is not available in subscriptions", hint="the event is the only data there is")

    def _modified(
        self,
        form: Form,
        where: Pattern,
        projection: tuple[Projection, ...] | None = None,
        distinct: bool = False,
        reduced: bool = False,
        template: tuple[TriplePattern, ...] = (),
    ) -> Query:
        """The query with the solution modifiers that follow its pattern."""
        group = self._group_by()
        having = self._having()
        order = self._order_by()
        limit, offset = self._slice()
        values: Values | None = self.inline_data() if self.take("VALUES") else None
        modifiers = (group, having, order, limit, offset, values)
        return Query("sparql", form, where, projection, distinct, reduced, *modifiers, template)

    def _group_by(self) -> tuple[GroupKey, ...] | None:
        if not self.take("GROUP"):
            return None
        self.expect("BY")
        outer, self.no_aggregate = self.no_aggregate, "in GROUP BY"
        keys: list[GroupKey] = []
        while True:
            kind = self.kinds[self.i]
            if kind == "var":
                keys.append(GroupKey(self.var()))
            elif kind == "(":
                keys.append(self._group_key())
            elif self._at_call() or not keys:
                keys.append(GroupKey(self.constraint()))
            else:
                break
        self.no_aggregate = outer
        return tuple(keys)

    def _group_key(self) -> GroupKey:
        self.expect("(")
        expr = self.expression()
        var = self.var() if self.take("AS") else None
        self.expect(")")
        return GroupKey(expr, var)

    def _at_call(self) -> bool:
        return self.kinds[self.i] in CALLS

    def _having(self) -> tuple[Expr, ...]:
        if not self.take("HAVING"):
            return ()
        conditions = [self.constraint()]
        while self.kinds[self.i] == "(" or self._at_call():
            conditions.append(self.constraint())
        return tuple(conditions)

    def _order_by(self) -> tuple[OrderKey, ...]:
        if not self.take("ORDER"):
            return ()
        self.expect("BY")
        keys: list[OrderKey] = []
        while True:
            kind = self.kinds[self.i]
            if kind == "ASC" or kind == "DESC":
                self.i += 1
                keys.append(OrderKey(self.bracketed(), kind == "DESC"))
            elif kind == "var":
                keys.append(OrderKey(self.var()))
            elif kind == "(" or self._at_call() or not keys:
                keys.append(OrderKey(self.constraint()))
            else:
                return tuple(keys)

    def _slice(self) -> tuple[int | None, int]:
        limit, offset = None, None
        while True:
            if limit is None and self.take("LIMIT"):
                limit = self.natural()
            elif offset is None and self.take("OFFSET"):
                offset = self.natural()
            else:
                return limit, offset or 0


def free_variables(expr: Expr) -> Iterator[Var]:
    """The variables an expression reads outside aggregates; what EXISTS looks at is its own affair."""
    match expr:
        case Var():
            yield expr
        case Call(args=args):
            for arg in args:
                yield from free_variables(arg)
        case FtContains(var=var):
            yield var
        case Aggregate():
            pass
