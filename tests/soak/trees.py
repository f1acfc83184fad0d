"""Walking through the forms of subscriptions, and changing one place of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from tidings.errors import SubscriptionError
from tidings.lang import parse, to_text
from tidings.lang.pattern import Query

Place = tuple[int | str, ...]
"""How to get somewhere from the root: names of fields, and positions in tuples."""


def places(tree: Any, here: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every node under its place, the root first."""
    yield here, tree
    if dataclasses.is_dataclass(tree):
        for field in dataclasses.fields(tree):
            yield from places(getattr(tree, field.name), (*here, field.name))
    elif isinstance(tree, tuple):
        for number, item in enumerate(tree):
            yield from places(item, (*here, number))


def at(tree: Any, place: Place) -> Any:
    for step in place:
        tree = tree[step] if isinstance(step, int) else getattr(tree, step)
    return tree


def put(tree: Any, place: Place, new: Any) -> Any:
    """The tree with `new` at a place."""
    if not place:
        return new
    first, *rest = place
    inner = put(at(tree, (first,)), tuple(rest), new)
    if isinstance(first, int):
        return (*tree[:first], inner, *tree[first + 1 :])
    return dataclasses.replace(tree, **{first: inner})


def valid(tree: Query) -> Query | None:
    """The form as its own text reads: None where it is none that a text could have."""
    try:
        text = to_text(tree)
    except (AssertionError, AttributeError, LookupError, TypeError, ValueError):
        return None
    try:
        return parse(text, tree.dialect)
    except SubscriptionError:
        return None
