"""What every form goes through once it is read: its height is bounded, its hidden variables are numbered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from tidings.lang.pattern import Query, Var

MAX_HEIGHT = 200
"""How many nodes of a form may lie on one another; so whoever goes through a form may call itself."""

_Form = TypeVar("_Form")


def walk(form: object) -> Iterator[object]:
    """Every node of a form, the outer before the inner, fields in their order."""
    todo = [form]
    while todo:
        node = todo.pop()
        if type(node) is tuple:
            todo.extend(reversed(node))
            continue
        yield node
        names = getattr(type(node), "__slots__", ())
        todo.extend([getattr(node, name) for name in reversed(names)])


def height(form: object) -> int:
    """The number of nodes on the longest way from the root to a leaf."""
    deepest = 0
    todo: list[tuple[object, int]] = [(form, 1)]
    while todo:
        node, depth = todo.pop()
        if type(node) is tuple:
            todo.extend([(item, depth) for item in node])
            continue
        deepest = max(deepest, depth)
        names = getattr(type(node), "__slots__", ())
        todo.extend([(getattr(node, name), depth + 1) for name in names])
    return deepest


def rename(form: _Form, names: Mapping[Var, Var]) -> _Form:
    """The form with its variables replaced; parts without any of them are kept, not copied."""
    new = _renamed(form, names)
    assert isinstance(new, type(form))
    return new


def _renamed(node: object, names: Mapping[Var, Var]) -> object:
    if type(node) is Var:
        return names.get(node, node)
    if type(node) is tuple:
        items = [_renamed(item, names) for item in node]
        return tuple(items) if any(a is not b for a, b in zip(items, node, strict=True)) else node
    fields = getattr(type(node), "__slots__", ())
    old = [getattr(node, name) for name in fields]
    new = [_renamed(value, names) for value in old]
    return type(node)(*new) if any(a is not b for a, b in zip(new, old, strict=True)) else node


def number_hidden(query: Query) -> Query:
    """The query with `_:0`, `_:1`, … and `*0`, `*1`, … in the order of the form, which is not always the text's.

    A Block keeps its paths behind its triples and its filters behind both, so only this order survives printing.
    """
    hidden = dict.fromkeys(node for node in walk(query) if type(node) is Var and node.hidden)
    blanks = [var for var in hidden if var.name[0] == "_"]
    wildcards = [var for var in hidden if var.name[0] == "*"]
    names = {var: Var(f"_:{n}") for n, var in enumerate(blanks)}
    names |= {var: Var(f"*{n}") for n, var in enumerate(wildcards)}
    changed = {old: new for old, new in names.items() if old != new}
    return rename(query, changed) if changed else query
