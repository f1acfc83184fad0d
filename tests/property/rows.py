"""Comparing an answer's rows with the expected ones, as multisets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.property import model as m
from tests.property.brute_sparql import OneOf
from tests.property.brute_values import computed_key
from tests.property.render import nt


def computed(subscription: m.Subscription) -> frozenset[str]:
    """Names of the variables that hold computed values, which are compared by value."""
    names: set[str] = set()

    def visit_select(query: m.Select) -> None:
        names.update(var.name for var, expr in query.columns or () if expr is not None)
        visit_group(query.where)

    def visit_group(group: m.Group) -> None:
        for element in group.elements:
            match element:
                case m.Bind(_, var):
                    names.add(var.name)
                case m.Optional(inner) | m.Minus(inner) | m.Nested(inner) | m.InGraph(_, inner):
                    visit_group(inner)
                case m.Union(groups):
                    for inner in groups:
                        visit_group(inner)
                case m.SubSelect(select):
                    visit_select(select)

    if isinstance(subscription, m.Select):
        visit_select(subscription)
    return frozenset(names)


def same_rows(
    expected: Sequence[dict[str, m.RdfTerm]],
    actual: Sequence[dict[str, str]],
    by_value: frozenset[str] = frozenset(),
    limit: int | None = None,
) -> bool:
    """Equal as multisets; with a LIMIT, as many as it allows and each of them right."""
    if len(actual) != (len(expected) if limit is None else min(limit, len(expected))):
        return False
    left = [_keys(row, by_value) for row in expected]
    for row in actual:
        key = {name: frozenset([_actual_key(name, term, by_value)]) for name, term in row.items()}
        place = next((i for i, want in enumerate(left) if _fits(want, key)), None)
        if place is None:
            return False
        del left[place]
    return True


_Keys = dict[str, frozenset[object]]


def _fits(want: _Keys, have: _Keys) -> bool:
    return want.keys() == have.keys() and all(have[k] <= want[k] for k in want)


def _keys(row: dict[str, m.RdfTerm], by_value: frozenset[str]) -> _Keys:
    return {
        name: frozenset(_key(name, t, by_value) for t in (cell.terms if isinstance(cell, OneOf) else [cell]))
        for name, cell in row.items()
    }


def _key(name: str, term: m.RdfTerm, by_value: frozenset[str]) -> object:
    return computed_key(term) if name in by_value and isinstance(term, m.Lit) else nt(term)


def _actual_key(name: str, text: str, by_value: frozenset[str]) -> object:
    return computed_key(_literal(text)) if name in by_value and text.startswith('"') else text


def _literal(text: str) -> m.Lit:
    """A literal from its N-Triples text."""
    end = text.rindex('"')
    lexical = re.sub(r"\\(u[0-9A-F]{4}|.)", _unescaped, text[1:end])
    tail = text[end + 1 :]
    if tail.startswith("@"):
        return m.tagged(lexical, tail[1:])
    return m.Lit(lexical, tail[3:-1]) if tail else m.Lit(lexical)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if code.startswith("u"):
        return chr(int(code[1:], 16))
    return {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}.get(code, code)
