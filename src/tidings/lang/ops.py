"""The `ops` dialect: statement patterns of Wang, Jin and Li's ontology-based publish/subscribe system.

    PREFIX : <http://e.x/auction#>
    (_:H, ?1, (Selling, target, Computer))
    (_:H, ?2, (Selling, price, MoneyValue))
    (?2, ?3, (MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00)

Each is (subject, object, (subject class, property, object class)) and may end in a condition on the object. In the
form, `classes` has two entries for each triple, that of its subject and that of its object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidings.lang.pattern import Block, Call, ClassOf, Const, Expr, Node, Pattern, Query, TriplePattern, Var
from tidings.lang.print_expressions import print_expression, print_node
from tidings.lang.tuples import TupleParser
from tidings.rdf.terms import HOME, RDF_TYPE, Term

_COMPARISONS = frozenset(["=", "!=", "<", "<=", ">", ">="])
_CONNECTIVES = frozenset(["&&", "||", "!"])
_FILTER_HINT = "a condition is made of = != < <= > >=, regex, && || ! and parentheses"


def parse_ops(text: str, source: str | None = None, base: str | None = None) -> Query:
    return OpsParser(text, source, base).query()


class OpsParser(TupleParser):
    def __init__(self, text: str, source: str | None = None, base: str | None = None) -> None:
        super().__init__(text, source, base)
        self._first_place: dict[Node, int] = {}

    def query(self) -> Query:
        self.prologue()
        triples: list[TriplePattern] = []
        classes: list[ClassOf] = []
        filters: list[Expr] = []
        while self.kinds[self.i] != "end":
            self._statement(triples, classes, filters)
            self._between()
        if not triples:
            raise self.unexpected("a statement pattern: (subject, object, (class, property, class))")
        self._check_reachable(triples)
        block = Block(tuple(triples), filters=tuple(filters), classes=tuple(classes), injective=True)
        return Query("ops", "SELECT", block, distinct=True)

    def _between(self) -> None:
        """Patterns follow each other; a comma or AND may stand between two."""
        if (self.take(",") or self.take("AND")) and self.kinds[self.i] == "end":
            raise self.unexpected("a further statement pattern")

    def _statement(self, triples: list[TriplePattern], classes: list[ClassOf], filters: list[Expr]) -> None:
        if not self.take("("):
            raise self.unexpected("(", "the end of the text", hint="a statement pattern stands in parentheses")
        subject = self._vertex("the subject", literals=False)
        self.separator()
        object = self._vertex("the object")
        self.separator()
        if not self.take("("):
            raise self.unexpected("(", hint="the third member is (subject class, property, object class)")
        subject_class = self._class("the class of the subject")
        self.separator()
        place = self.i
        property = self._property()
        self.separator()
        object_class = self._class("the class of the object")
        self.close()
        if property == RDF_TYPE:
            hint = "the classes of a vertex stand in the third member"
            raise self.error("rdf:type cannot be the property of a statement pattern", at=place, hint=hint)
        triples.append(TriplePattern(subject, property, object))
        classes += [ClassOf(subject, subject_class), ClassOf(object, object_class)]
        if self.take(","):
            filters.append(self._condition(object))
        self.close()

    def _vertex(self, what: str, literals: bool = True) -> Node:
        place = self.i
        node = self.node(what, literals)
        self._first_place.setdefault(node, place)
        return node

    def _class(self, what: str) -> Term:
        if self.kinds[self.i] == "var":
            raise self.error("a class cannot be a variable", hint="owl:Thing is the class of everything but literals")
        return self.name(what)

    def _property(self) -> Term:
        if self.kinds[self.i] == "var":
            raise self.error("a property cannot be a variable", hint="the gtopss and sparql dialects allow that")
        return self.property()

    # ---------------------------------------------------------------------------------------------------- conditions

    def _condition(self, object: Node) -> Expr:
        start = self.i
        if not isinstance(object, Var):
            raise self.error("a condition needs a variable as the object", hint="this object is one term already")
        condition = self.expression()
        for at in range(start, self.i):
            if self.kinds[at] == "var" and self.texts[at][1:] != object.name:
                hint = f"a condition is on the object of its own pattern, here ?{object.name}"
                raise self.error(f"'{self.texts[at]}' has no place in this condition", at=at, hint=hint)
        wrong = _wrong(condition)
        if wrong is not None:
            raise self.error(f"{wrong} has no place in a condition", at=start, hint=_FILTER_HINT)
        return condition

    # -------------------------------------------------------------------------------------------------- reachability

    def _check_reachable(self, triples: Iterable[TriplePattern]) -> None:
        arcs: dict[Node, list[Node]] = {}
        for triple in triples:
            arcs.setdefault(triple.s, []).append(triple.o)
        if HOME not in arcs:
            hint = "one statement pattern at least has _:H as its subject"
            raise self.error("no statement pattern starts at the home vertex _:H", at=0, hint=hint)
        reached: set[Node] = {HOME}
        todo: list[Node] = [HOME]
        while todo:
            for node in arcs.get(todo.pop(), ()):
                if node not in reached:
                    reached.add(node)
                    todo.append(node)
        for node, place in self._first_place.items():
            if node not in reached:
                reason = f"no path leads from the home vertex _:H to {print_node(node)}"
                raise self.error(reason, at=place, hint="every vertex must be reachable from _:H along the arcs")


def _wrong(expr: Expr) -> str | None:
    """What in a condition is not a condition, as a message names it; None where all is well."""
    match expr:
        case Call(op=op, args=args) if op in _CONNECTIVES:
            return next((wrong for arg in args if (wrong := _wrong(arg)) is not None), None)
        case Call(op=op, args=(Const(), Const())) if op in _COMPARISONS:
            return "a comparison of two terms"
        case Call(op=op, args=(a, b)) if op in _COMPARISONS:
            return next((_called(side) for side in (a, b) if not isinstance(side, Var | Const)), None)
        case Call(op="REGEX", args=(Var(), *rest)):
            return None if all(isinstance(arg, Const) for arg in rest) else "a computed regular expression"
        case Call(op="REGEX"):
            return "a regular expression on anything but the object"
    return _called(expr)


def _called(expr: Expr) -> str:
    match expr:
        case Var():
            return f"?{expr.name} by itself"
        case Const():
            return "a term by itself"
        case Call(op=op):
            return f"'{op}'"
    return "this expression"


def print_ops(query: Query) -> str:
    """Text that parses to the same form."""
    block = query.where
    assert isinstance(block, Block)
    assert len(block.classes) == 2 * len(block.triples), "two classes for each triple"
    conditions = _conditions(block)
    lines = []
    for i, triple in enumerate(block.triples):
        subject_class, object_class = block.classes[2 * i].cls, block.classes[2 * i + 1].cls
        meta = ", ".join(map(print_node, (subject_class, triple.p, object_class)))
        condition = f", {print_expression(conditions[i], _no_group)}" if i in conditions else ""
        lines.append(f"({print_node(triple.s)}, {print_node(triple.o)}, ({meta}){condition})")
    return "\n".join(lines) + "\n"


def _conditions(block: Block) -> dict[int, Expr]:
    """Each filter at a triple with its variable as the object. Taking the first one behind the filter before leaves
    room for the rest, since the parser met them in the order of the triples."""
    placed: dict[int, Expr] = {}
    at = 0
    for expr in block.filters:
        var = next(_variables(expr), None)
        while block.triples[at].o != var:
            at += 1
        placed[at] = expr
        at += 1
    return placed


def _variables(expr: Expr) -> Iterator[Var]:
    if isinstance(expr, Var):
        yield expr
    elif isinstance(expr, Call):
        for arg in expr.args:
            yield from _variables(arg)


def _no_group(pattern: Pattern) -> str:
    raise AssertionError("a condition holds no EXISTS")
