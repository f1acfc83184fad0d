"""The index under construction: rules go in and out at any time, and `index()` gives the arrays as they are now.

What is added waits in lists until somebody asks for the arrays. Rules that came since the last merge hang in chains;
`merge` puts them in rows with the others, and leaves out the dead.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tidings.index.arrays import Ints, Words
from tidings.index.atoms import Atom, Kind
from tidings.index.filing import filing
from tidings.index.growing import Growing
from tidings.index.kernels.atoms import chain, insert_atoms
from tidings.index.layout import (
    ANY_PROPERTY,
    ANY_WORD,
    ANYWHERE,
    AS_ANY_OBJECT,
    AS_ANY_SUBJECT,
    AS_OBJECT,
    AS_SUBJECT,
    LITERALS,
    WITH_PROPERTY,
    Atoms,
    Filed,
    Index,
    Rules,
)
from tidings.index.names import ALL_BITS, NameTables
from tidings.index.programs import program
from tidings.index.rules import Rule
from tidings.ontology import Ontology
from tidings.rdf.terms import Term

# How often an atom holds of an event, as long as nobody knows better.
_PRIORS = {
    Kind.PROPERTY: 0.05,
    Kind.OBJECT: 0.01,
    Kind.SUBJECT: 0.01,
    Kind.NODE_S: 0.01,
    Kind.NODE_O: 0.01,
    Kind.WORD: 0.002,
    Kind.ANYWORD: 0.02,
    Kind.LITERAL: 0.5,
}
_NOBODY = -1
_FULLEST = 0.7
"""Which part of the slots of a table may be taken."""


class Store:
    """Rules, by the number of their subscription."""

    def __init__(self, ontology: Ontology, weak: int = ALL_BITS) -> None:
        self.names = NameTables(ontology, weak)
        self._atom_ids: dict[int, int] = {}
        self._new_keys: list[int] = []
        self._atom_key: Words = np.zeros(128, np.uint64)
        self._atom_id: Ints = np.zeros(128, np.int32)
        self._of_property: Growing[np.int32] = Growing(np.int32, fill=-1)
        self._filed_under: Growing[np.int32] = Growing(np.int32)
        """By atom: how many rules are filed under it."""
        self._uses: dict[str, int] = {}

        self._subscription: Growing[np.int32] = Growing(np.int32)
        self._alive: Growing[np.uint8] = Growing(np.uint8)
        self._needs_first: Growing[np.int64] = Growing(np.int64)
        self._needs_first.append(0)
        self._needs: Growing[np.int32] = Growing(np.int32)
        self._code_at: Growing[np.int64] = Growing(np.int64)
        self._code: Growing[np.int32] = Growing(np.int32)
        self._numbers: Growing[np.float64] = Growing(np.float64)
        self._always: Growing[np.int32] = Growing(np.int32, fill=_NOBODY)

        self._entry_atom: Growing[np.int32] = Growing(np.int32)
        """Every filing, in order: its atom, its rule, and one more atom that the rule needs."""
        self._entry_rule: Growing[np.int32] = Growing(np.int32)
        self._entry_second: Growing[np.int32] = Growing(np.int32)
        self._merged = 0
        self._first = np.zeros(1, np.int64)
        self._rows: tuple[Ints, Ints] = (np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._head: Growing[np.int32] = Growing(np.int32, fill=_NOBODY)
        self._chain: tuple[Growing[np.int32], ...] = tuple(Growing(np.int32) for _ in range(3))

        self._rules_of: dict[int, list[int]] = {}
        self._waiting = _Waiting()

    # ------------------------------------------------------------------------------------------------------ changes

    def add(self, subscription: int, rules: Iterable[Rule]) -> None:
        numbers = self._rules_of.setdefault(subscription, [])
        for rule in rules:
            numbers.append(self._add(subscription, rule))

    def _add(self, subscription: int, rule: Rule) -> int:
        waiting = self._waiting
        number = self._subscription.size + len(waiting.subscription)
        filed = filing(rule.condition, self._cost)
        made = program(rule.block, self.names, ask=rule.ask, base=self._numbers.size + len(waiting.numbers))
        waiting.code_at.append(self._code.size + len(waiting.code))
        waiting.code += made.code
        waiting.numbers += made.numbers
        waiting.subscription.append(subscription)
        needs = [self._atom(atom) for atom in filed.needs]
        waiting.needs += needs
        waiting.needs_last.append(self._needs.size + len(waiting.needs))
        if filed.under is None:
            waiting.always.append(number)
        for atom in filed.under or ():
            id = self._atom(atom)
            self._filed_under.reach(id + 1)
            self._filed_under.array[id] += 1
            waiting.entry_atom.append(id)
            waiting.entry_rule.append(number)
            waiting.entry_second.append(needs[0] if needs else _NOBODY)
        return number

    def remove(self, subscription: int) -> None:
        self._flush()
        for rule in self._rules_of.pop(subscription):
            self._alive.array[rule] = 0

    # -------------------------------------------------------------------------------------------------------- atoms

    def _cost(self, atom: Atom) -> float:
        """How often an atom holds, about. What many ask for is likely to be common in events as well."""
        asked = self._uses.get(atom.second or atom.first, 0)
        return _PRIORS[atom.kind] * (1 + asked) / (100 + asked) * (1 + 1e-6 * asked)

    def _atom(self, atom: Atom) -> int:
        names = self.names
        self._uses[atom.second or atom.first] = self._uses.get(atom.second or atom.first, 0) + 1
        first, second = 0, 0
        match atom.kind:
            case Kind.PROPERTY:
                first = names.property(Term(atom.first))
            case Kind.OBJECT:
                first, second = names.property(Term(atom.first)), names.term(Term(atom.second))
                names.ask(second, AS_OBJECT)
            case Kind.SUBJECT:
                first, second = names.term(Term(atom.first)), names.property(Term(atom.second))
                names.ask(first, AS_SUBJECT)
            case Kind.NODE_S:
                first = names.term(Term(atom.first))
                names.ask(first, AS_ANY_SUBJECT)
                names.want(ANY_PROPERTY)
            case Kind.NODE_O:
                first = names.term(Term(atom.first))
                names.ask(first, AS_ANY_OBJECT)
                names.want(ANY_PROPERTY)
            case Kind.WORD:
                first, second = names.property(Term(atom.first)), names.word(atom.second)
                names.ask_words(first)
                names.ask_word(second, WITH_PROPERTY)
            case Kind.ANYWORD:
                first = names.word(atom.first)
                names.ask_word(first, ANYWHERE)
                names.want(ANY_WORD)
            case Kind.LITERAL:
                first = names.term(Term(atom.first))
                names.want(LITERALS)
        key = (atom.kind + 1) << 60 | first << 30 | second
        id = self._atom_ids.get(key)
        if id is None:
            id = self._atom_ids[key] = len(self._atom_ids)
            self._new_keys.append(key)
            if atom.kind is Kind.PROPERTY:
                self._of_property.reach(first + 1)
                self._of_property.array[first] = id
        return id

    # ------------------------------------------------------------------------------------------------------- arrays

    @property
    def atoms(self) -> int:
        return len(self._atom_ids)

    @property
    def rules(self) -> int:
        return self._subscription.size + len(self._waiting.subscription)

    @property
    def unindexed(self) -> int:
        """How many rules are looked at on every event."""
        return self._always.size + len(self._waiting.always)

    @property
    def unmerged(self) -> int:
        return self._entry_atom.size + len(self._waiting.entry_atom) - self._merged

    def index(self) -> Index:
        """The arrays as they are now."""
        self._flush()
        names = self.names.tables()
        self._of_property.reach(self.names.properties)
        self._head.reach(self.atoms)
        return Index(
            names,
            Atoms(self._atom_key, self._atom_id, self._of_property.array),
            Rules(
                self._subscription.array,
                self._alive.array,
                self._needs_first.array,
                self._needs.array,
                self._code_at.array,
                self._code.array,
                self._numbers.array,
                self._always.filled,
            ),
            Filed(self._first, *self._rows, self._head.array, *(each.array for each in self._chain)),
        )

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, _Waiting()
        self._flush_atoms()
        self._subscription.extend(waiting.subscription)
        self._alive.extend(np.ones(len(waiting.subscription), np.uint8))
        self._needs_first.extend(waiting.needs_last)
        self._needs.extend(waiting.needs)
        self._code_at.extend(waiting.code_at)
        self._code.extend(waiting.code)
        self._numbers.extend(waiting.numbers)
        self._always.extend(waiting.always)
        self._entry_atom.extend(waiting.entry_atom)
        self._entry_rule.extend(waiting.entry_rule)
        self._entry_second.extend(waiting.entry_second)
        if waiting.entry_atom:
            self._head.reach(self.atoms)
            rule, second, next = self._chain
            rule.extend(waiting.entry_rule)
            second.extend(waiting.entry_second)
            first = next.size
            next.extend(np.zeros(len(waiting.entry_atom), np.int32))
            chain(np.array(waiting.entry_atom, np.int32), first, self._head.array, next.array)

    def _flush_atoms(self) -> None:
        if self.atoms > _FULLEST * self._atom_key.size:
            size = self._atom_key.size
            while self.atoms > _FULLEST * size:
                size *= 2
            self._atom_key, self._atom_id = np.zeros(size, np.uint64), np.zeros(size, np.int32)
            keys, first = list(self._atom_ids), 0
        else:
            keys, first = self._new_keys, self.atoms - len(self._new_keys)
        if keys:
            table = Atoms(self._atom_key, self._atom_id, self._of_property.array)
            insert_atoms(table, np.array(keys, np.uint64), first)
        self._new_keys = []

    def merge(self) -> None:
        """Put the rules into rows by atom, those that need the same second atom side by side; drop dead ones."""
        self._flush()
        atoms, rules, seconds = self._entry_atom.filled, self._entry_rule.filled, self._entry_second.filled
        alive = self._alive.array[rules] == 1
        atoms, rules, seconds = atoms[alive], rules[alive], seconds[alive]
        order = np.lexsort((seconds, atoms))
        first = np.zeros(self.atoms + 1, np.int64)
        np.cumsum(np.bincount(atoms, minlength=self.atoms), out=first[1:])
        self._first, self._rows = first, (rules[order], seconds[order])
        self._entry_atom, self._entry_rule, self._entry_second = map(_growing, (atoms, rules, seconds))
        self._merged = self._entry_atom.size
        self._head = Growing(np.int32, fill=_NOBODY)
        self._chain = tuple(Growing(np.int32) for _ in range(3))
        self._always = _growing(self._always.filled[self._alive.array[self._always.filled] == 1], _NOBODY)


class _Waiting:
    """What was added since the arrays were last asked for."""

    def __init__(self) -> None:
        self.subscription: list[int] = []
        self.needs: list[int] = []
        self.needs_last: list[int] = []
        self.code: list[int] = []
        self.code_at: list[int] = []
        self.numbers: list[float] = []
        self.always: list[int] = []
        self.entry_atom: list[int] = []
        self.entry_rule: list[int] = []
        self.entry_second: list[int] = []


def _growing(values: Ints, fill: int = 0) -> Growing[np.int32]:
    made: Growing[np.int32] = Growing(np.int32, fill)
    made.extend(values)
    return made
