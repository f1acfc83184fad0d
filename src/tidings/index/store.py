"""The index under construction: rules go in and out at any time, and `index()` gives the arrays as they are now.

What is added waits in lists until somebody asks for the arrays; in these, rules hang in chains. `freeze` makes an index
of its own of them, where they lie in rows and the dead are left out.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from tidings.index.arrays import Bytes, Ints, Longs, Words
from tidings.index.atoms import Kind
from tidings.index.growing import Growing
from tidings.index.kernels.atoms import chain, find_atom, insert_atoms
from tidings.index.kernels.decided import decided
from tidings.index.kernels.rows import gather
from tidings.index.layout import (
    ANY_PROPERTY,
    ANY_WORD,
    ANYWHERE,
    AS_ANY_OBJECT,
    AS_ANY_SUBJECT,
    AS_CLASS,
    AS_OBJECT,
    AS_SUBJECT,
    CLASSES,
    LITERALS,
    UNDECIDED,
    WITH_PROPERTY,
    Atoms,
    Filed,
    Index,
    Rules,
)
from tidings.index.names import ALL_BITS, NameTables
from tidings.index.plans import Plan, PlannedRule, Plans, planned, shared_plans
from tidings.index.rules import Rule
from tidings.index.usage import Usage, cost
from tidings.lang.pattern import Query
from tidings.ontology import Ontology
from tidings.rdf.terms import RDF_TYPE

_NOBODY = -1
_NO_ROWS: Longs = np.zeros(1, np.int64)
_NOTHING: Ints = np.zeros(0, np.int32)
_LOW = (1 << 30) - 1
_FULLEST = 0.7
"""Which part of the slots of a table may be taken."""


class Store:
    """Rules, by the number of their subscription."""

    def __init__(
        self,
        ontology: Ontology,
        weak: int = ALL_BITS,
        names: NameTables | None = None,
        plans: Plans | None = None,
        usage: Usage | None = None,
    ) -> None:
        self.names = names or NameTables(ontology, weak)
        self._plans = plans or shared_plans(ontology.resource_classes)
        self._usage = usage or Usage()
        self._atom_ids: dict[int, int] = {}
        """The atoms that came since the store was made."""
        self._older_atoms = 0
        self._new_keys: list[int] = []
        self._atom_key: Words = np.zeros(128, np.uint64)
        self._atom_id: Ints = np.zeros(128, np.int32)
        self._of_property: Growing[np.int32] = Growing(np.int32, fill=-1)

        self._subscription: Growing[np.int32] = Growing(np.int32)
        self._alive: Growing[np.uint8] = Growing(np.uint8)
        self._how: Growing[np.uint8] = Growing(np.uint8, fill=UNDECIDED)
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
        self._head: Growing[np.int32] = Growing(np.int32, fill=_NOBODY)
        self._chain: tuple[Growing[np.int32], ...] = tuple(Growing(np.int32) for _ in range(3))

        self._waiting = _Waiting()

    # ------------------------------------------------------------------------------------------------------ changes

    def add(self, subscription: int, query: Query) -> None:
        """Take a subscription, whose number is above all others."""
        self._fill(subscription, *self._plans.of(query))

    def add_rules(self, subscription: int, rules: Iterable[Rule]) -> None:
        """The same, of one that has these rules."""
        self._fill(subscription, planned(rules, (), self.names.universal), ())

    def _fill(self, subscription: int, plan: Plan, own: Sequence[str]) -> None:
        names, waiting = self.names, self._waiting
        texts = [*own, *plan.more]
        base = self._numbers.size + len(waiting.numbers)
        numbers = [
            *plan.fixed,
            *names.numbers(
                [texts[n] for n in plan.terms], [texts[n] for n in plan.properties], [texts[n] for n in plan.words]
            ),
            *range(base, base + len(plan.numbers)),
        ]
        waiting.numbers.extend(plan.numbers)
        for what in plan.wanted:
            names.want(what)
        for place in plan.texts:
            names.ask_words(numbers[place])
        shares = [*self._usage.count([texts[n] for n in plan.asked]), 1.0]
        for rule in plan.rules:
            self._add(subscription, rule, numbers, shares)

    def _add(self, subscription: int, rule: PlannedRule, numbers: Sequence[int], shares: Sequence[float]) -> None:
        waiting = self._waiting
        number = self._subscription.size + len(waiting.subscription)
        waiting.subscription.append(subscription)
        waiting.code_at.append(self._code.size + len(waiting.code))
        waiting.code.extend(rule.code(numbers))
        keys, costs = [], []
        for head, first, second, weight, independent, one, other in rule.atoms:
            keys.append(head | numbers[first] << 30 | numbers[second])
            costs.append(cost(weight, independent, shares[one], shares[other]))
        under, needed = rule.filed(costs)
        needs = self._atoms([keys[place] for place in needed])
        waiting.needs.extend(needs)
        waiting.needs_last.append(self._needs.size + len(waiting.needs))
        if under is None:
            waiting.always.append(number)
            return
        for atom in self._atoms([keys[place] for place in under]):
            waiting.entry_atom.append(atom)
            waiting.entry_rule.append(number)
            waiting.entry_second.append(needs[0] if needs else _NOBODY)

    def remove(self, subscription: int) -> None:
        waiting = self._waiting.subscription
        if waiting and subscription >= waiting[0]:
            self._flush()
        first, last = np.searchsorted(self._subscription.filled, np.array((subscription, subscription + 1), np.int32))
        self._alive.array[first:last] = 0

    # -------------------------------------------------------------------------------------------------------- atoms

    def _atoms(self, keys: Sequence[int]) -> list[int]:
        ids = self._atom_ids
        try:
            return [ids[key] for key in keys]
        except KeyError:
            return [self._atom(key) for key in keys]

    def _atom(self, key: int) -> int:
        id = self._atom_ids.get(key, _NOBODY)
        if id < 0 and self._older_atoms:
            id = int(find_atom(self._atom_table(), np.uint64(key)))
        if id >= 0:
            return id
        id = self._atom_ids[key] = self.atoms
        self._new_keys.append(key)
        kind, first, second = Kind((key >> 60) - 1), key >> 30 & _LOW, key & _LOW
        if kind is Kind.PROPERTY:
            self._of_property.reach(first + 1)
            self._of_property.array[first] = id
        self._ask(kind, first, second)
        return id

    def _ask(self, kind: Kind, first: int, second: int) -> None:
        """Have the kernels look for what the atom is about."""
        names = self.names
        match kind:
            case Kind.OBJECT:
                names.ask(second, AS_OBJECT)
            case Kind.SUBJECT:
                names.ask(first, AS_SUBJECT)
            case Kind.NODE_S:
                names.ask(first, AS_ANY_SUBJECT)
                names.want(ANY_PROPERTY)
            case Kind.NODE_O:
                names.ask(first, AS_ANY_OBJECT)
                names.want(ANY_PROPERTY)
            case Kind.WORD:
                names.ask_words(first)
                names.ask_word(second, WITH_PROPERTY)
            case Kind.ANYWORD:
                names.ask_word(first, ANYWHERE)
                names.want(ANY_WORD)
            case Kind.LITERAL:
                names.want(LITERALS)
            case Kind.CLASS_O | Kind.HOME:
                names.ask(second if kind is Kind.CLASS_O else first, AS_CLASS)
                names.want(CLASSES)
                names.property(RDF_TYPE)

    # ------------------------------------------------------------------------------------------------------- arrays

    @property
    def atoms(self) -> int:
        return self._older_atoms + len(self._atom_ids)

    @property
    def rules(self) -> int:
        return self._subscription.size + len(self._waiting.subscription)

    @property
    def unindexed(self) -> int:
        """How many rules are looked at on every event."""
        return self._always.size + len(self._waiting.always)

    def index(self) -> Index:
        """The arrays as they are now."""
        self._flush()
        names = self.names.tables()
        self._of_property.reach(self.names.properties)
        self._head.reach(self.atoms)
        return Index(
            names,
            self._atom_table(),
            self._rules(),
            Filed(_NO_ROWS, _NOTHING, _NOTHING, self._head.array, *(each.array for each in self._chain)),
        )

    def _rules(self) -> Rules:
        return Rules(
            self._subscription.array,
            self._alive.array,
            self._how.array,
            self._needs_first.array,
            self._needs.array,
            self._code_at.array,
            self._code.array,
            self._numbers.array,
            self._always.filled,
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
        self._flush_how(waiting)
        if waiting.entry_atom:
            self._head.reach(self.atoms)
            rule, second, next = self._chain
            rule.extend(waiting.entry_rule)
            second.extend(waiting.entry_second)
            first = next.size
            next.extend(np.zeros(len(waiting.entry_atom), np.int32))
            chain(np.array(waiting.entry_atom, np.int32), first, self._head.array, next.array)

    def _flush_how(self, waiting: _Waiting) -> None:
        """Which of the new rules their atoms decide; before a kernel can find them."""
        first, count = self._how.size, len(waiting.subscription)
        if count == 0:
            return
        entries = np.asarray(waiting.entry_rule) - first
        filings = np.bincount(entries, minlength=count).astype(np.int32)
        under = np.full(count, _NOBODY, np.int32)
        under[entries] = waiting.entry_atom
        self._how.reach(first + count)
        decided(self._atom_table(), self._rules(), first, first + count, filings, under, self._how.array)

    def _flush_atoms(self) -> None:
        if self.atoms > _FULLEST * self._atom_key.size:
            size = self._atom_key.size
            while self.atoms > _FULLEST * size:
                size *= 2
            keys = self._keys()
            self._atom_key, self._atom_id = np.zeros(size, np.uint64), np.zeros(size, np.int32)
        else:
            keys = np.array(self._new_keys, np.uint64)
        if keys.size:
            insert_atoms(self._atom_table(), keys, self.atoms - keys.size)
        self._new_keys = []

    def _keys(self) -> Words:
        """The keys of all atoms, by their numbers."""
        keys = np.zeros(self.atoms, np.uint64)
        there = self._atom_key != 0
        keys[self._atom_id[there]] = self._atom_key[there]
        keys[self.atoms - len(self._new_keys) :] = self._new_keys
        return keys

    def _atom_table(self) -> Atoms:
        return Atoms(self._atom_key, self._atom_id, self._of_property.array)

    # ------------------------------------------------------------------------------------------- to segments and back

    def freeze(self) -> tuple[Index, Ints]:
        """What is alive as an index of its own, and whose rules they are: its subscription n is number `kept[n]` here.

        The rules lie in rows by atom, those that need the same second atom side by side; and they are numbered in this
        order, as are the subscriptions, so that what a kernel meets in a row is side by side in all arrays.
        """
        self._flush()
        # Looked at once: a subscription may be taken out at any moment, by another thread.
        alive = self._alive.filled.copy()
        rows = self._row_order(alive)
        rules = self._rule_order(alive, rows)
        of = self._subscription.filled[rules]
        begins = np.ones(of.size, bool)
        begins[1:] = of[1:] != of[:-1]
        kept = of[begins]
        renumbered = np.full(self.rules, _NOBODY, np.int32)
        renumbered[rules] = np.arange(rules.size, dtype=np.int32)
        always = renumbered[self._always.filled]
        needs_first, needs = _rows(self._needs_first.filled, self._needs.filled, rules)
        code_first = np.append(self._code_at.filled, np.int64(self._code.size))
        code_at, code = _rows(code_first, self._code.filled, rules)
        return Index(
            self.names.frozen(),
            Atoms(self._atom_key.copy(), self._atom_id.copy(), self._properties_alone()),
            Rules(
                np.cumsum(begins, dtype=np.int32) - np.int32(1),
                np.ones(rules.size, np.uint8),
                self._how.filled[rules],
                needs_first,
                needs,
                code_at[:-1],
                code,
                self._numbers.filled.copy(),
                always[always >= 0],
            ),
            self._filed(rows, renumbered),
        ), kept

    def _row_order(self, alive: Bytes) -> Ints:
        """The filings of rules that are alive, by atom and second atom."""
        rows = np.flatnonzero(alive[self._entry_rule.filled])
        return rows[np.lexsort((self._entry_second.filled[rows], self._entry_atom.filled[rows]))].astype(np.int32)

    def _rule_order(self, alive: Bytes, rows: Ints) -> Ints:
        """The rules that are alive, those of a subscription side by side, by the first row that it is in."""
        rules = np.flatnonzero(alive).astype(np.int32)
        of = self._subscription.filled
        place = np.full(int(of.max(initial=0)) + 1, rows.size, np.int32)
        # The first row is the last one to be written.
        place[of[self._entry_rule.filled[rows[::-1]]]] = np.arange(rows.size - 1, -1, -1, dtype=np.int32)
        return rules[np.argsort(place[of[rules]], kind="stable")]

    def _properties_alone(self) -> Ints:
        self._of_property.reach(self.names.properties)
        return self._of_property.filled.copy()

    def _filed(self, rows: Ints, renumbered: Ints) -> Filed:
        first = np.zeros(self.atoms + 1, np.int64)
        np.cumsum(np.bincount(self._entry_atom.filled[rows], minlength=self.atoms), out=first[1:])
        rules, seconds = renumbered[self._entry_rule.filled[rows]], self._entry_second.filled[rows]
        return Filed(first, rules, seconds, _NOTHING, _NOTHING, _NOTHING, _NOTHING)

    def _adopt_atoms(self, atoms: Atoms, count: int) -> None:
        self._older_atoms = count
        self._atom_key, self._atom_id = atoms.key.copy(), atoms.id.copy()
        self._of_property.adopt(atoms.of_property)

    @classmethod
    def thawed(cls, index: Index, ontology: Ontology, usage: Usage | None = None) -> Store:
        """A store that has the rules of this index, and takes more."""
        names = NameTables.thawed(index.names, ontology)
        store = cls(ontology, int(index.names.terms.weak[0]), names, usage=usage)
        filed, rules = index.filed, index.rules
        store._adopt_atoms(index.atoms, filed.first.size - 1)
        store._subscription.adopt(rules.subscription)
        store._alive.adopt(rules.alive)
        store._how.adopt(rules.how)
        store._needs_first.adopt(rules.needs_first)
        store._needs.adopt(rules.needs)
        store._code_at.adopt(rules.code_at)
        store._code.adopt(rules.code)
        store._numbers.adopt(rules.numbers)
        store._always.adopt(rules.always)
        store._entry_atom.adopt(np.repeat(np.arange(filed.first.size - 1, dtype=np.int32), np.diff(filed.first)))
        store._entry_rule.adopt(filed.rule)
        store._entry_second.adopt(filed.second)
        return store


def _rows(first: Longs, values: Ints, chosen: Ints) -> tuple[Longs, Ints]:
    """Some of the rows `values[first[n]:first[n + 1]]`: where each begins, and all of them."""
    starts, ends = first[chosen], first[chosen + 1]
    bounds = np.zeros(chosen.size + 1, np.int64)
    np.cumsum(ends - starts, out=bounds[1:])
    out = np.empty(int(bounds[-1]), np.int32)
    gather(starts, ends, values, out)
    return bounds, out


class _Waiting:
    """What was added since the arrays were last asked for."""

    def __init__(self) -> None:
        self.subscription = array("i")
        self.needs = array("i")
        self.needs_last = array("q")
        self.code = array("i")
        self.code_at = array("q")
        self.numbers = array("d")
        self.always = array("i")
        self.entry_atom = array("i")
        self.entry_rule = array("i")
        self.entry_second = array("i")
