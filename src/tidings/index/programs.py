"""A conjunction to the code of a rule, which `kernels.join` runs.

Whatever the kernel cannot decide becomes a doubt: a filter it does not know is UNSURE, and a block that is only part
of what must hold has the flag ASK. So a rule never says yes or no where the verifier might say otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tidings.index.kernels.join import MOST_INNER, MOST_PATTERNS, MOST_VARIABLES
from tidings.index.layout import (
    ANY,
    ANY_PROPERTY,
    ANY_WORD,
    ASK,
    EQUAL,
    FT_AND,
    FT_NEAR,
    FT_NOT,
    FT_OR,
    FT_PHRASE,
    FT_WORD,
    GREATER,
    GREATER_OR_EQUAL,
    INJECTIVE,
    LESS,
    LESS_OR_EQUAL,
    NOT_EQUAL,
    OP_AND,
    OP_CLASS,
    OP_EXISTS,
    OP_IS_A,
    OP_NOT,
    OP_NUMBER,
    OP_OR,
    OP_RESOURCE,
    OP_SAME,
    OP_TEXT,
    OP_UNSURE,
    OP_VALUE,
)
from tidings.index.names import Numbering
from tidings.lang.pattern import (
    Block,
    Call,
    Const,
    Constraint,
    Exists,
    Expr,
    FtAnd,
    FtContains,
    FtExpr,
    FtNear,
    FtNot,
    FtOr,
    FtPhrase,
    Node,
    TriplePattern,
    Var,
    variables,
)
from tidings.rdf.numbers import Number
from tidings.rdf.terms import RDF_TYPE, Term, is_iri
from tidings.rdf.values import value_of

_COMPARISONS = {
    "<": LESS,
    "<=": LESS_OR_EQUAL,
    ">": GREATER,
    ">=": GREATER_OR_EQUAL,
    "=": EQUAL,
    "!=": NOT_EQUAL,
}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
_LARGEST = 1e15
_SMALLEST = 1e-30
_DEEPEST = 60
"""How many values an expression may have on the kernel's stack."""
_LONGEST_TEXT = 500


@dataclass(frozen=True, slots=True)
class Program:
    code: list[int]
    numbers: list[float]
    """What the code means by numbers: they are at `base` and after."""


class _Unknown(Exception):
    """The kernel has nothing for this."""


def program(block: Block, names: Numbering, *, ask: bool, base: int) -> Program:
    """The code of a block. With `ask`, the block is only part of what must hold; the numbers come from `base` on."""
    return _Compiler(block, names, base, ask).run()


class _Compiler:
    def __init__(self, block: Block, names: Numbering, base: int, ask: bool) -> None:
        self._names = names
        self._base = base
        self._numbers: list[float] = []
        self._universal = names.universal
        self._block = block
        self._ask = ask
        self._ordered = _ordered(block)[:MOST_PATTERNS]
        self._variables: dict[Var, int] = {}
        for triple in self._ordered:
            for node in (triple.s, triple.o):
                if isinstance(node, Var):
                    self._variables.setdefault(node, len(self._variables))
        self._further = 0
        """How many variables there are beyond those: each EXISTS has its own."""

    def run(self) -> Program:
        block = self._block
        if len(self._variables) > MOST_VARIABLES:
            return Program([0, 0, ASK, 0], [])
        flags = (INJECTIVE if block.injective else 0) | (ASK if self._ask or self._incomplete() else 0)
        nodes = dict.fromkeys(node for t in self._ordered for node in (t.s, t.o) if not isinstance(node, Var))
        listed = [self._names.term(node) for node in nodes] if block.injective else []
        waiting = [self._class(each.node, each.cls) for each in dict.fromkeys(block.classes)]
        waiting += map(self._filter, block.filters)
        count = len(self._variables) + self._further
        code = [count, len(self._ordered), flags, len(listed), *listed]
        bound: set[Var] = set()
        for number, triple in enumerate(self._ordered):
            bound.update(node for node in (triple.s, triple.o) if isinstance(node, Var))
            last = number + 1 == len(self._ordered)
            ready = [each for each in waiting if last or each[0] <= bound]
            waiting = [each for each in waiting if not (last or each[0] <= bound)]
            expressions = [value for _, each in ready for value in (len(each), *each)]
            code += [self._node(triple.s), self._property(triple), self._node(triple.o), len(expressions), *expressions]
        return Program(code, self._numbers)

    def _incomplete(self) -> bool:
        """Whether the patterns of the code are less than the block, or it has filters and no patterns to check them."""
        block = self._block
        open_ended = any(isinstance(t.p, Var) and _uses(block, t.p) > 1 for t in self._ordered)
        cut = len(self._ordered) < len(block.triples)
        return cut or open_ended or bool(block.paths) or not self._ordered

    def _node(self, node: Node) -> int:
        return -1 - self._variables[node] if isinstance(node, Var) else self._names.term(node)

    def _property(self, triple: TriplePattern) -> int:
        if isinstance(triple.p, Var):
            self._names.want(ANY_PROPERTY)
            return ANY
        return self._names.property(triple.p)

    # ------------------------------------------------------------------------------------------------- expressions

    def _class(self, node: Node, cls: Term) -> tuple[set[Var], list[int]]:
        if isinstance(node, Var) and node not in self._variables:
            return set(), [OP_UNSURE]
        place = self._node(node)
        self._names.property(RDF_TYPE)
        code = [OP_CLASS, place, self._names.term(cls)]
        if cls in self._universal:
            code = [OP_RESOURCE, place, *code, OP_OR, 2]
        return {node} if isinstance(node, Var) else set(), code

    def _filter(self, expr: Expr) -> tuple[set[Var], list[int]]:
        used: set[Var] = set()
        try:
            code = self._expression(expr, used)
        except RecursionError:
            return set(), [OP_UNSURE]
        deep = code.count(OP_AND) + code.count(OP_OR) > _DEEPEST or len(code) > 20 * _DEEPEST
        return (set(), [OP_UNSURE]) if deep else (used, code)

    def _expression(self, expr: Expr, used: set[Var]) -> list[int]:
        try:
            return self._known(expr, used)
        except _Unknown:
            return [OP_UNSURE]

    def _known(self, expr: Expr, used: set[Var]) -> list[int]:
        match expr:
            case Call(op="&&" | "||" as op, args=args) if len(args) <= _DEEPEST:
                code = [value for arg in args for value in self._expression(arg, used)]
                return [*code, OP_AND if op == "&&" else OP_OR, len(args)]
            case Call(op="!", args=(inner,)):
                return [*self._expression(inner, used), OP_NOT]
            case Call(op="IN" | "NOT IN" as op, args=(Var() as var, *choices)) if 0 < len(choices) <= _DEEPEST:
                code = [value for choice in choices for value in self._equal(var, choice, used)]
                return [*code, OP_OR, len(choices), *([OP_NOT] if op == "NOT IN" else [])]
            case Call(op="SAMETERM", args=(Var() as var, Const(term=term)) | (Const(term=term), Var() as var)):
                return [OP_SAME, self._place(var, used), self._names.term(term)]
            case Call(op=op, args=(Var() as var, Const(term=term))) if op in _COMPARISONS:
                return self._comparison(var, op, term, used)
            case Call(op=op, args=(Const(term=term), Var() as var)) if op in _COMPARISONS:
                return self._comparison(var, _FLIPPED[op], term, used)
            case Exists(pattern=Block() as block, negated=negated):
                return [*self._exists(block, used), *([OP_NOT] if negated else [])]
            case FtContains(var=var, text=text):
                place = self._place(var, used)
                self._ask_words(var)
                code = self._text(text)
                if len(code) > _LONGEST_TEXT:
                    raise _Unknown
                return [OP_TEXT, place, 3 + len(code), *code]
            case Constraint(var=var, op=op, value=term):
                if not is_iri(term):
                    return [OP_VALUE, self._place(var, used), _COMPARISONS[op], self._number(term)]
                if op in ("<=", "<"):
                    self._names.property(RDF_TYPE)
                    return [OP_IS_A, self._place(var, used), self._names.term(term), op == "<"]
        raise _Unknown

    def _exists(self, block: Block, used: set[Var]) -> list[int]:
        """The block with the present bindings. Where more binds variables than this conjunction, nobody knows which."""
        outer, triples = set(variables(self._block)), block.triples
        inner = [var for var in variables(block) if var not in outer]
        ends = {node for t in triples for node in (t.s, t.o)}
        places = {var: len(self._variables) + self._further + n for n, var in enumerate(v for v in inner if v in ends)}
        links = [t.p for t in triples if isinstance(t.p, Var)]
        known = block == Block(triples) and 0 < len(triples) <= MOST_INNER and not self._ask
        if not known or len(self._variables) + self._further + len(places) > MOST_VARIABLES:
            raise _Unknown
        if any(link in ends or link in outer or links.count(link) > 1 for link in links):
            raise _Unknown
        code = [OP_EXISTS, len(triples)]
        for triple in triples:
            s, o = (
                -1 - places[node] if isinstance(node, Var) and node in places else self._outer(node, used)
                for node in (triple.s, triple.o)
            )
            code += [s, self._property(triple), o]
        self._further += len(places)
        return code

    def _outer(self, node: Node, used: set[Var]) -> int:
        return self._place(node, used) if isinstance(node, Var) else self._names.term(node)

    def _ask_words(self, var: Var) -> None:
        """Have the words of whatever the variable may be."""
        for triple in self._ordered:
            if triple.o == var and isinstance(triple.p, Var):
                self._names.want(ANY_WORD)
            elif triple.o == var:
                self._names.ask_words(self._names.property(Term(str(triple.p))))

    def _comparison(self, var: Var, op: str, term: Term, used: set[Var]) -> list[int]:
        if is_iri(term) and op in ("=", "!="):
            return [*self._equal(var, Const(term), used), *([OP_NOT] if op == "!=" else [])]
        return [OP_NUMBER, self._place(var, used), _COMPARISONS[op], self._number(term)]

    def _equal(self, var: Var, other: Expr, used: set[Var]) -> list[int]:
        if isinstance(other, Const) and is_iri(other.term):
            return [OP_SAME, self._place(var, used), self._names.term(other.term)]
        if isinstance(other, Const):
            return self._comparison(var, "=", other.term, used)
        raise _Unknown

    def _place(self, var: Var, used: set[Var]) -> int:
        if var not in self._variables:
            raise _Unknown
        used.add(var)
        return -1 - self._variables[var]

    def _number(self, term: Term) -> int:
        value = value_of(term)
        number = float(value.value) if isinstance(value, Number) else math.nan
        # A whole double stands for itself alone in a comparison: 7.00000000000000000001 must not become 7.
        rounded = isinstance(value, Number) and number.is_integer() and Decimal(value.value) != Decimal(number)
        if not abs(number) < _LARGEST or rounded or 0 < abs(number) < _SMALLEST:
            raise _Unknown
        self._numbers.append(number)
        return self._base + len(self._numbers) - 1

    # -------------------------------------------------------------------------------------------------------- text

    def _text(self, expr: FtExpr) -> list[int]:
        match expr:
            case FtPhrase(words=(word,)):
                return [FT_WORD, self._names.word(word)]
            case FtPhrase(words=words):
                return [FT_PHRASE, len(words), *map(self._names.word, words)]
            case FtAnd(items=items) | FtOr(items=items) if len(items) <= _DEEPEST:
                code = [value for item in items for value in self._text(item)]
                return [*code, FT_AND if isinstance(expr, FtAnd) else FT_OR, len(items)]
            case FtNot(item=item):
                return [*self._text(item), FT_NOT]
            case FtNear():
                parts = list(_chain(expr))
                code = []
                for least, most, phrase in parts:
                    code += [least, most, len(phrase), *map(self._names.word, phrase)]
                return [FT_NEAR, len(parts), 3 + len(code), *code]
        raise _Unknown


def _chain(expr: FtNear) -> Iterator[tuple[int, int, Sequence[str]]]:
    """The phrases of a chain of ftNEARs, each with the least and the most words before it."""
    if not isinstance(expr.right, FtPhrase) or max(expr.least, expr.most) > 2**30:
        raise _Unknown
    if isinstance(expr.left, FtNear):
        yield from _chain(expr.left)
    elif isinstance(expr.left, FtPhrase):
        yield 0, 0, expr.left.words
    else:
        raise _Unknown
    yield expr.least, expr.most, expr.right.words


def _uses(block: Block, var: Var) -> int:
    """In how many places of a block a variable stands; in a filter it counts as many."""
    places = sum((t.s == var) + (t.p == var) + (t.o == var) for t in block.triples)
    places += sum((p.s == var) + (p.o == var) for p in block.paths) + sum(c.node == var for c in block.classes)
    return places + sum(_mentions(expr, var) for expr in block.filters)


def _mentions(expr: object, var: Var) -> bool:
    """Whether an expression speaks of a variable, wherever in it."""
    if expr == var:
        return True
    if isinstance(expr, tuple):
        return any(_mentions(item, var) for item in expr)
    return any(_mentions(getattr(expr, name), var) for name in getattr(type(expr), "__slots__", ()))


def _ordered(block: Block) -> list[TriplePattern]:
    """The patterns such that each meets those before it where possible, the most definite first."""
    texts = {expr.var for expr in block.filters if isinstance(expr, FtContains)}
    left = list(dict.fromkeys(block.triples))
    known: set[Node] = set()
    ordered: list[TriplePattern] = []

    def definite(triple: TriplePattern) -> tuple[int, bool, bool]:
        ends = sum(not isinstance(node, Var) or node in known for node in (triple.s, triple.o))
        return ends, triple.o in texts, not isinstance(triple.p, Var)

    while left:
        chosen = max(left, key=definite)
        left.remove(chosen)
        ordered.append(chosen)
        known.update((chosen.s, chosen.o))
    return ordered
