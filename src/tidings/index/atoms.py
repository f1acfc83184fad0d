"""Conditions on the meaning of an event that look-ups decide: atoms, and what `and` and `or` make of them.

An atom speaks of E*, the event with all that the ontology adds, so it needs no hierarchy itself. There is no negation:
what holds of some triples still holds when there are more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias


class Kind(IntEnum):
    """What an atom says there is, and which two texts it says it with."""

    PROPERTY = 0
    """A triple with the property `first`."""
    OBJECT = 1
    """A triple with the property `first` and the object `second`; of rdf:type, an instance of a class."""
    SUBJECT = 2
    """A triple with the subject `first` and the property `second`."""
    NODE_S = 3
    """A triple with the subject `first`."""
    NODE_O = 4
    """A triple with the object `first`."""
    WORD = 5
    """A triple with the property `first` and a literal that has the word `second`."""
    ANYWORD = 6
    """A triple with a literal that has the word `first`."""
    LITERAL = 7
    """A triple with a literal of the datatype `first`, or of one below it."""
    CLASS_O = 8
    """A triple with the property `first` and an object of the class `second`: typed, or a literal of that datatype."""
    HOME = 9
    """The home vertex of an OPS event, of the class `first`."""


@dataclass(frozen=True, slots=True)
class Atom:
    kind: Kind
    first: str
    second: str = ""


@dataclass(frozen=True, slots=True)
class All:
    """Every item holds. Of no items: always."""

    items: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """One item at least holds. Of no items: never."""

    items: tuple[Condition, ...]


Condition: TypeAlias = Atom | All | Some

ALWAYS = All(())
NEVER = Some(())

_NONE: frozenset[Atom] = frozenset()


def implied(atom: Atom) -> tuple[Atom, ...]:
    """The weaker atoms that hold wherever this one does."""
    first, second = atom.first, atom.second
    match atom.kind:
        case Kind.OBJECT:
            return Atom(Kind.PROPERTY, first), Atom(Kind.NODE_O, second)
        case Kind.SUBJECT:
            return Atom(Kind.PROPERTY, second), Atom(Kind.NODE_S, first)
        case Kind.WORD:
            return Atom(Kind.PROPERTY, first), Atom(Kind.ANYWORD, second)
        case Kind.CLASS_O:
            return (Atom(Kind.PROPERTY, first),)
    return ()


def simplified(condition: Condition) -> Condition:
    """The same condition in fewer parts: `All` and `Some` alternate, and nothing is said that is known by then.

    >>> p, o = Atom(Kind.PROPERTY, "p"), Atom(Kind.OBJECT, "p", "o")
    >>> simplified(All((p, Some((o, NEVER))))) == o
    True
    """
    while True:
        simpler = _reduced(condition, _NONE, _NONE)
        if simpler == condition or isinstance(condition, Atom) or not _sorted_out(condition.items, type(condition))[1]:
            return simpler
        condition = simpler


def _reduced(condition: Condition, held: frozenset[Atom], failed: frozenset[Atom]) -> Condition:
    """What is left to decide where the atoms of `held` hold, with all they imply, and those of `failed` do not."""
    match condition:
        case Atom():
            if condition in held:
                return ALWAYS
            return NEVER if failed and not failed.isdisjoint((condition, *implied(condition))) else condition
        case All(items=items):
            return _reduced_all(items, held, failed)
        case Some(items=items):
            return _reduced_some(items, held, failed)


def _reduced_all(items: Iterable[Condition], held: frozenset[Atom], failed: frozenset[Atom]) -> Condition:
    """Within a conjunction its atoms hold for the other items."""
    atoms, others = _sorted_out(items, All)
    weaker = {weak for atom in atoms for weak in implied(atom)}
    kept: dict[Condition, None] = {}
    for atom in atoms:
        if atom not in weaker:
            left = _reduced(atom, held, failed)
            if left == NEVER:
                return NEVER
            if left != ALWAYS:
                kept[left] = None
    inner = held.union(atoms, weaker) if others else held
    for other in others:
        left = _reduced(other, inner, failed)
        if left == NEVER:
            return NEVER
        kept.update(dict.fromkeys(left.items if isinstance(left, All) else (left,)))
    return next(iter(kept)) if len(kept) == 1 else All(tuple(kept))


def _reduced_some(items: Iterable[Condition], held: frozenset[Atom], failed: frozenset[Atom]) -> Condition:
    """Within a disjunction the other items matter only where its atoms do not hold."""
    atoms, others = _sorted_out(items, Some)
    kept: dict[Condition, None] = {}
    for atom in atoms:
        if not any(weak in atoms for weak in implied(atom)):
            left = _reduced(atom, held, failed)
            if left == ALWAYS:
                return ALWAYS
            if left != NEVER:
                kept[left] = None
    inner = failed.union(atoms) if others else failed
    for other in others:
        left = _reduced(other, held, inner)
        if left == ALWAYS:
            return ALWAYS
        kept.update(dict.fromkeys(left.items if isinstance(left, Some) else (left,)))
    return next(iter(kept)) if len(kept) == 1 else Some(tuple(kept))


def _sorted_out(items: Iterable[Condition], kind: type[All | Some]) -> tuple[dict[Atom, None], dict[Condition, None]]:
    """The atoms and the other items, each once, in order; items of the same kind as the whole are opened."""
    atoms: dict[Atom, None] = {}
    others: dict[Condition, None] = {}
    todo = [iter(items)]
    while todo:
        for item in todo[-1]:
            if isinstance(item, Atom):
                atoms[item] = None
            elif isinstance(item, kind):
                todo.append(iter(item.items))
                break
            else:
                others[item] = None
        else:
            todo.pop()
    return atoms, others
