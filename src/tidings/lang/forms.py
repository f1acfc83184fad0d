"""What every form goes through once it is read: its height is bounded, its hidden variables are numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from tidings.lang.pattern import Node, PathPattern, Query, TriplePattern, Var

MAX_HEIGHT = 150
"""How many nodes of a form may lie on one another; so whoever goes through a form may call itself."""

_Form = TypeVar("_Form")


def parts_of(node: object) -> Sequence[object]:
    """The items of a tuple, the fields of a node in their order, nothing of anything else."""
    if isinstance(node, tuple):
        return node
    return [getattr(node, name) for name in getattr(type(node), "__slots__", ())]


def walk(form: object) -> Iterator[object]:
    """Every node of a form, the outer before the inner, in the order of the form."""
    todo = [form]
    while todo:
        node = todo.pop()
        if not isinstance(node, tuple):
            yield node
        todo.extend(reversed(parts_of(node)))


def height(form: object) -> int:
    """The number of nodes on the longest way from the root to a leaf."""
    deepest = 0
    todo: list[tuple[object, int]] = [(form, 0)]
    while todo:
        node, depth = todo.pop()
        if not isinstance(node, tuple):
            depth += 1
            deepest = max(deepest, depth)
        todo.extend([(part, depth) for part in parts_of(node)])
    return deepest


def rename(form: _Form, names: Mapping[Var, Var]) -> _Form:
    """The form with its variables replaced; parts without any of them are kept, not copied."""
    new = _renamed(form, names)
    assert isinstance(new, type(form))
    return new


def _renamed(node: object, names: Mapping[Var, Var]) -> object:
    if type(node) is Var:
        return names.get(node, node)
    parts = parts_of(node)
    new, changed = [], False
    for part in parts:
        other = _renamed(part, names)
        changed = changed or other is not part
        new.append(other)
    if not changed:
        return node
    return tuple(new) if isinstance(node, tuple) else type(node)(*new)


def number_hidden(query: Query) -> Query:
    """The query with `_:0`, `_:1`, … and `*0`, `*1`, … in the order of the form, which is not always the text's.

    A Block keeps its paths behind its triples and its filters behind both, so only this order survives printing. A
    wildcard that is the subject of several triples becomes a blank node, which can be written more than once.
    """
    hidden: dict[Var, None] = {}
    uses: Counter[Node] = Counter()
    for node in walk(query):
        if isinstance(node, Var) and node.hidden:
            hidden[node] = None
        elif isinstance(node, TriplePattern | PathPattern):
            uses.update((node.s, node.o))
    blanks = [var for var in hidden if var.name[0] == "_" or uses[var] > 1]
    wildcards = [var for var in hidden if var.name[0] == "*" and uses[var] <= 1]
    names = {var: Var(f"_:{n}") for n, var in enumerate(blanks)}
    names |= {var: Var(f"*{n}") for n, var in enumerate(wildcards)}
    changed = {old: new for old, new in names.items() if old != new}
    return rename(query, changed) if changed else query
