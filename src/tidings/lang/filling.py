"""Forms with places to be filled. What makes one is put together once, and copies only what lies above such a place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from tidings.lang.forms import parts_of

A = TypeVar("A")
B = TypeVar("B")

Fill: TypeAlias = Callable[[A, B], object]
"""Makes a part of a form from what is given."""


def filler(
    node: object, leaf: Callable[[object], Fill[A, B] | None], above: Callable[[object, Fill[A, B]], Fill[A, B]]
) -> Fill[A, B] | None:
    """What makes this part of a form; None for a part without places, which stays as it is.

    `leaf` says what fills a node that is a place. What makes a node `above` one can be changed.
    """
    found = leaf(node)
    if found is not None:
        return found
    parts = parts_of(node)
    fills: list[tuple[int, Fill[A, B]]] = []
    for n, part in enumerate(parts):
        fill = filler(part, leaf, above)
        if fill is not None:
            fills.append((n, fill))
    return above(node, _node_filler(type(node), list(parts), fills)) if fills else None


def _node_filler(cls: type, template: list[object], fills: list[tuple[int, Fill[A, B]]]) -> Fill[A, B]:
    def fill_tuple(a: A, b: B) -> object:
        parts = template.copy()
        for n, fill in fills:
            parts[n] = fill(a, b)
        return tuple(parts)

    def fill_node(a: A, b: B) -> object:
        parts = template.copy()
        for n, fill in fills:
            parts[n] = fill(a, b)
        return cls(*parts)

    return fill_tuple if cls is tuple else fill_node
