"""Under which atoms a rule is filed, and which others it then needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidings.index.atoms import All, Atom, Condition


@dataclass(frozen=True, slots=True)
class Filing:
    """One of `under` holds wherever the rule does, and all of `needs`; `under` is None where nothing is known."""

    under: tuple[Atom, ...] | None
    needs: tuple[Atom, ...] = ()


def filing(condition: Condition, cost: Callable[[Atom], float]) -> Filing:
    """The cheapest cover of a condition, where `cost` is how often an atom holds; the needs are the rarest first."""
    _, under = _cover(condition, cost)
    needs = [item for item in _items(condition) if isinstance(item, Atom) and (under is None or under != (item,))]
    return Filing(under, tuple(sorted(needs, key=cost)))


def _items(condition: Condition) -> tuple[Condition, ...]:
    return condition.items if isinstance(condition, All) else (condition,)


def _cover(condition: Condition, cost: Callable[[Atom], float]) -> tuple[float, tuple[Atom, ...] | None]:
    """Atoms of which one must hold: of a conjunction the best of its items, of a disjunction those of all its items."""
    if isinstance(condition, Atom):
        return cost(condition), (condition,)
    covers = [_cover(item, cost) for item in condition.items]
    if isinstance(condition, All):
        known = [cover for cover in covers if cover[1] is not None]
        return min(known, key=lambda cover: cover[0]) if known else (1.0, None)
    atoms: dict[Atom, None] = {}
    for _, under in covers:
        if under is None:
            return 1.0, None
        atoms.update(dict.fromkeys(under))
    return sum(price for price, _ in covers), tuple(atoms)
