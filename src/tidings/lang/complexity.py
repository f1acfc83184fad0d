"""What a subscription may cost, told from its form alone: a score that grows with everything that makes work.

It says nothing about an event, and is no promise: what an evaluation really takes is bounded when it runs. It is there
so that what is plainly too much can be refused before it is taken. It is linear in the size of the form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tidings.lang.forms import height, walk
from tidings.lang.pattern import (
    Aggregate,
    Alternative,
    Block,
    Call,
    ClassOf,
    Exists,
    FtPhrase,
    GroupKey,
    LeftJoin,
    Minus,
    Node,
    OrderKey,
    PathPattern,
    Query,
    Repeat,
    TriplePattern,
    Union,
    Values,
    Var,
)
from tidings.rdf.terms import RDF_TYPE, is_literal

_PATH, _UNBOUNDED = 3, 20
_ALTERNATIVE, _OPTIONAL, _MINUS, _EXISTS, _SUB_SELECT = 3, 5, 10, 10, 10
_PRODUCT = 50
_REGEX, _AGGREGATE, _KEY = 10, 5, 2
_TRIED_ON_ALL = 100
_FREE_HEIGHT = 20
"""So high a form may be without costing anything for that."""

_ROWS = 10
"""Rows of VALUES, or items of IN, that cost one."""

_CHARACTERS = 100
"""Of its text, that cost one."""


@dataclass(frozen=True, slots=True)
class Complexity:
    """`costs` is what each kind of thing adds."""

    costs: Mapping[str, int]

    @property
    def score(self) -> int:
        return sum(self.costs.values())

    def most(self, count: int = 3) -> str:
        """What costs most, in words."""
        largest = Counter(self.costs).most_common(count)
        return ", ".join(f"{name} ({cost})" for name, cost in largest)


def of_text(text: str) -> Complexity:
    """What can be said before it is read: never more than of its form."""
    return Complexity({"the length of its text": len(text) // _CHARACTERS})


def complexity(query: Query, text: str, *, tried_on_all: bool = False, enough: int | None = None) -> Complexity:
    """Of a subscription with this form and text; `tried_on_all` says that no index helps with it. What is above
    `enough` is not counted to its end.
    """
    costs: Counter[str] = Counter(of_text(text).costs)
    total = costs.total()
    links = _Links()
    for node in walk(query):
        kind, cost = _cost(node)
        if cost:
            costs[kind] += cost
            total += cost
            if enough is not None and total > enough:
                return Complexity(dict(+costs))
        if isinstance(node, Block):
            costs["patterns that nothing links"] += _PRODUCT * _Links.of(node).products
            links.take(node)
        elif isinstance(node, Query) and node is not query:
            costs["sub-selects"] += _SUB_SELECT
    # The same in a block, and between blocks.
    costs["patterns that nothing links"] = max(costs["patterns that nothing links"], _PRODUCT * links.products)
    costs["nesting"] += max(0, height(query) - _FREE_HEIGHT)
    if tried_on_all:
        costs["being tried on every event"] += _TRIED_ON_ALL
    return Complexity(dict(+costs))


def _cost(node: object) -> tuple[str, int]:
    match node:
        case TriplePattern() | ClassOf():
            return "patterns", 1
        case PathPattern():
            return "paths", _PATH
        case Repeat(most=None):
            return "paths of any length", _UNBOUNDED
        case Alternative(choices=choices):
            return "paths", len(choices)
        case Union(choices=choices):
            return "alternatives", _ALTERNATIVE * len(choices)
        case LeftJoin():
            return "OPTIONAL", _OPTIONAL
        case Minus():
            return "MINUS", _MINUS
        case Exists():
            return "EXISTS", _EXISTS
        case Values(rows=rows):
            return "VALUES", 1 + len(rows) // _ROWS
        case Call(op="REGEX" | "REPLACE"):
            return "regular expressions", _REGEX
        case Call(args=args):
            return "expressions", 1 + len(args) // _ROWS
        case Aggregate():
            return "aggregates", _AGGREGATE
        case GroupKey() | OrderKey():
            return "groups and order", _KEY
        case FtPhrase(words=words):
            return "words", len(words)
    return "", 0


def _ends(triple: TriplePattern) -> list[Node]:
    """What a triple is linked by: a property, a class or a literal does not make two things one subject."""
    ends = [triple.s]
    if isinstance(triple.p, Var):
        ends.append(triple.p)
    if isinstance(triple.o, Var) or not (is_literal(triple.o) or triple.p == RDF_TYPE):
        ends.append(triple.o)
    return ends


class _Links:
    """Nodes that stand together, and how many parts that makes. Filters link, and have no solutions of their own."""

    def __init__(self) -> None:
        self._root: dict[Node, Node] = {}
        self._starts: set[Node] = set()

    @staticmethod
    def of(block: Block) -> _Links:
        made = _Links()
        made.take(block)
        return made

    def take(self, block: Block) -> None:
        for triple in block.triples:
            self._join(_ends(triple), starts=True)
        for path in block.paths:
            self._join([path.s, path.o], starts=True)
        for each in block.filters:
            self._join([node for node in walk(each) if isinstance(node, Var)], starts=False)

    def _join(self, nodes: Iterable[Node], *, starts: bool) -> None:
        several = [self._find(node) for node in nodes]
        for node in several[1:]:
            self._root[node] = several[0] = self._find(several[0])
        if several and starts:
            self._starts.add(several[0])

    def _find(self, node: Node) -> Node:
        root = self._root
        root.setdefault(node, node)
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    @property
    def products(self) -> int:
        """How often solutions of one part are put together with those of another."""
        return max(0, len({self._find(node) for node in self._starts}) - 1)
