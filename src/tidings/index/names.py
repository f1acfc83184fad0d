"""The terms and words that subscriptions and the ontology speak of, numbered, and what is above them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from tidings.index.arrays import Ints
from tidings.index.growing import Growing
from tidings.index.kernels.dictionary import Dictionary, find_one, insert
from tidings.index.kernels.numbers import KINDS
from tidings.index.kernels.words import Vocabulary, find_word, insert_short
from tidings.index.layout import Names
from tidings.ontology import Ontology
from tidings.ontology.datatypes import DATATYPES, LITERAL_CLASSES
from tidings.rdf.terms import HOME, RDF_LANGSTRING, RDF_TYPE, SUBCLASS_OF, XSD_STRING, Term, iri

FIRST_TERMS = (RDF_TYPE, SUBCLASS_OF, HOME, iri(XSD_STRING), iri(RDF_LANGSTRING))
ALL_BITS = 0xFFFFFFFFFFFFFFFF

Lists: TypeAlias = tuple[Ints, Ints]
"""Where the list of each term begins, and all lists."""

_PADDING = 16
_SHORT = 8


class Numbering(Protocol):
    """Who numbers names, as far as the code of a rule is concerned; it cannot tell one name from another."""

    universal: frozenset[Term]
    """The classes that every resource has."""

    def term(self, term: Term) -> int: ...

    def word(self, word: str) -> int: ...

    def property(self, term: Term) -> int: ...

    def want(self, what: int) -> None: ...

    def ask_words(self, property: int) -> None: ...


class Entries:
    """A dictionary under construction. `weak` cuts its hashes down, for tests of what collisions do. Python knows the
    entries made here; the `older` ones, of a dictionary that this one goes on from, are looked up in the arrays.
    """

    def __init__(self, weak: int, older: Dictionary | None = None) -> None:
        self.numbers: dict[str, int] = {}
        self._new: list[bytes] = []
        self._start: Growing[np.int64] = Growing(np.int64)
        self._start.append(0)
        self._pool: Growing[np.uint8] = Growing(np.uint8)
        self._slots = np.zeros(128, np.uint64)
        self._weak = np.array([weak], np.uint64)
        if older is not None:
            self._start.adopt(older.start)
            self._pool.adopt(older.pool[: older.start[-1]])
            self._slots = older.slots.copy()
        self._older = self._inserted = self._count = self._start.size - 1

    def __len__(self) -> int:
        return self._count

    def number(self, text: str) -> int:
        found = self.known(text)
        if found < 0:
            found = self.numbers[text] = self._count
            self._count += 1
            self._new.append(text.encode())
        return found

    def known(self, text: str) -> int:
        """The number of an entry, or -1."""
        found = self.numbers.get(text, -1)
        if found < 0 and self._older:
            data = np.frombuffer(text.encode() + b" ", np.uint8).copy()
            table = Dictionary(self._slots, self._start.array, self._pool.array, self._weak)
            found = int(find_one(table, data, data.size - 1))
            if found >= 0:
                self.numbers[text] = found
        return found

    def texts(self) -> list[Term]:
        """The entries that Python knows."""
        return [Term(text) for text in self.numbers]

    def table(self) -> Dictionary:
        """As it is now."""
        if self._new:
            sizes = np.fromiter(map(len, self._new), np.int64, len(self._new))
            self._start.extend(self._pool.size + np.cumsum(sizes))
            self._pool.extend(np.frombuffer(b"".join(self._new), np.uint8))
            self._new = []
        self._pool.reserve(self._pool.size + _PADDING)
        if 2 * self._count > self._slots.size:
            self._slots = np.zeros(_power_of_two(4 * self._count), np.uint64)
            self._inserted = 0
        table = Dictionary(self._slots, self._start.array, self._pool.array, self._weak)
        if self._inserted < self._count:
            insert(table, self._inserted, self._count)
            self._inserted = self._count
        return table

    def frozen(self) -> Dictionary:
        """As it is now, in arrays of its own and without room."""
        slots, start, pool, weak = self.table()
        size = self._pool.size + _PADDING
        return Dictionary(slots.copy(), start[: self._count + 1].copy(), pool[:size].copy(), weak)


class WordEntries:
    """A vocabulary under construction; see `Entries`."""

    def __init__(self, weak: int, older: Vocabulary | None = None, count: int = 0) -> None:
        self.numbers: dict[str, int] = {}
        self._older = self._count = count
        self._long = Entries(weak, older.long if older else None)
        self._long_ids: Growing[np.int32] = Growing(np.int32)
        self._keys: list[int] = []
        self._ids: list[int] = []
        self._short = 0
        self._key = np.zeros(128, np.uint64)
        self._id = np.zeros(128, np.int32)
        if older is not None:
            self._long_ids.adopt(older.long_id)
            self._key, self._id = older.key.copy(), older.id.copy()
            self._short = int(np.count_nonzero(self._key))

    def __len__(self) -> int:
        return self._count

    def number(self, word: str) -> int:
        found = self.known(word)
        if found < 0:
            found = self.numbers[word] = self._count
            self._count += 1
            encoded = word.encode()
            if len(encoded) <= _SHORT:
                self._keys.append(int.from_bytes(encoded, "little"))
                self._ids.append(found)
            else:
                self._long.number(word)
                self._long_ids.append(found)
        return found

    def known(self, word: str) -> int:
        """The number of a word, or -1."""
        found = self.numbers.get(word, -1)
        if found < 0 and self._older:
            found = number_of(word, self._table())
            if found >= 0:
                self.numbers[word] = found
        return found

    def table(self) -> Vocabulary:
        count = self._short + len(self._keys)
        if 2 * count > self._key.size:
            there = self._key != 0
            keys, ids = self._key[there], self._id[there]
            self._key = np.zeros(_power_of_two(4 * count), np.uint64)
            self._id = np.zeros(self._key.size, np.int32)
            insert_short(self._table(), keys, ids)
        table = self._table()
        if self._keys:
            insert_short(table, np.array(self._keys, np.uint64), np.array(self._ids, np.int32))
            self._short, self._keys, self._ids = count, [], []
        return table

    def frozen(self) -> Vocabulary:
        key, id, _, _ = self.table()
        return Vocabulary(key.copy(), id.copy(), self._long.frozen(), self._long_ids.filled.copy())

    def _table(self) -> Vocabulary:
        return Vocabulary(self._key, self._id, self._long.table(), self._long_ids.array)


def number_of(word: str, vocabulary: Vocabulary) -> int:
    """The number of a word, or -1 where nobody asks for it."""
    encoded = word.encode()
    return int(find_word(vocabulary, np.frombuffer(encoded.ljust(_SHORT, b"\0"), np.uint8).copy(), len(encoded)))


class NameTables:
    """All names, and the arrays that `layout.Names` describes."""

    def __init__(self, ontology: Ontology, weak: int = ALL_BITS) -> None:
        self.ontology = ontology
        self.universal = ontology.resource_classes
        self._terms = Entries(weak)
        self._words = WordEntries(weak)
        self._property: Growing[np.int32] = Growing(np.int32, fill=-1)
        self._asked: Growing[np.uint8] = Growing(np.uint8)
        self._text: Growing[np.uint8] = Growing(np.uint8)
        self._word: Growing[np.uint8] = Growing(np.uint8)
        self._wanted = np.zeros(8, np.uint8)
        self._properties: dict[int, int] = {}
        self._property_numbers: dict[str, int] = {}
        self._texts: set[int] = set()
        for term in (*FIRST_TERMS, *sorted(DATATYPES), *LITERAL_CLASSES):
            self.term(term)
        self._hierarchies = self._closures()
        self._number = np.zeros(len(self._terms), np.uint8)
        for datatype, kind in KINDS.items():
            self._number[self.term(iri(datatype))] = kind

    @classmethod
    def thawed(cls, names: Names, ontology: Ontology) -> NameTables:
        """Tables that go on from these names, which are of the same ontology."""
        tables = cls.__new__(cls)
        weak = int(names.terms.weak[0])
        tables.ontology = ontology
        tables.universal = ontology.resource_classes
        tables._property_numbers, tables._texts = {}, set()
        tables._terms = Entries(weak, names.terms)
        tables._words = WordEntries(weak, names.words, names.word.size)
        tables._property = Growing(np.int32, fill=-1)
        tables._asked, tables._text, tables._word = Growing(np.uint8), Growing(np.uint8), Growing(np.uint8)
        tables._property.adopt(names.property)
        tables._asked.adopt(names.asked)
        tables._text.adopt(names.text)
        tables._word.adopt(names.word)
        tables._wanted = names.wanted.copy()
        asked = np.flatnonzero(names.property >= 0)
        tables._properties = dict(zip(asked.tolist(), names.property[asked].tolist(), strict=True))
        tables._hierarchies = (
            (names.up_first, names.up),
            (names.class_first, names.class_up),
            (names.type_first, names.types),
            (names.data_first, names.data_up),
        )
        tables._literal, tables._number = names.literal, names.number
        return tables

    @classmethod
    def renewed(cls, names: Names, ontology: Ontology) -> Names:
        """The same names with the same numbers, and another ontology."""
        tables = cls.thawed(names, ontology)
        tables._hierarchies = tables._closures()
        return tables.frozen()

    @property
    def terms(self) -> int:
        return len(self._terms)

    @property
    def properties(self) -> int:
        return len(self._properties)

    def term(self, term: Term) -> int:
        return self._terms.number(term)

    def word(self, word: str) -> int:
        return self._words.number(word)

    def property(self, term: Term) -> int:
        """The number of a property that is asked for."""
        number = self.term(term)
        found = self._properties.get(number)
        if found is None:
            found = self._properties[number] = len(self._properties)
            self._property.reach(len(self._terms))
            self._property.array[number] = found
            self._text.reach(found + 1)
        self._property_numbers[term] = found
        return found

    def numbers(self, terms: Sequence[str], properties: Sequence[str], words: Sequence[str]) -> list[int]:
        """The numbers of all these, one after the other."""
        tables = (self._terms.numbers, terms), (self._property_numbers, properties), (self._words.numbers, words)
        try:
            return [table[each] for table, names in tables for each in names]
        except KeyError:
            numbers = [self.term(Term(each)) for each in terms]
            numbers += [self.property(Term(each)) for each in properties]
            return numbers + [self.word(each) for each in words]

    def ask(self, term: int, how: int) -> None:
        """Note how a term is asked for."""
        self._asked.reach(len(self._terms))
        self._asked.array[term] |= how

    def ask_words(self, property: int) -> None:
        if property not in self._texts:
            self._texts.add(property)
            self._text.array[property] = 1

    def ask_word(self, word: int, how: int) -> None:
        """Note how a word is asked for."""
        self._word.reach(word + 1)
        self._word.array[word] |= how

    def want(self, what: int) -> None:
        self._wanted[what] = 1

    def tables(self) -> Names:
        self._property.reach(len(self._terms))
        self._asked.reach(len(self._terms))
        self._word.reach(len(self._words))
        number = np.zeros(len(self._terms), np.uint8)
        number[: self._number.size] = self._number
        up, classes, types, datatypes = self._hierarchies
        return Names(
            self._terms.table(),
            self._words.table(),
            self._property.array,
            self._asked.array,
            self._text.array,
            self._word.array,
            self._wanted,
            *up,
            *classes,
            *types,
            *datatypes,
            self._literal,
            number,
        )

    def frozen(self) -> Names:
        """As they are now, in arrays of their own and without room."""
        names = self.tables()
        return names._replace(
            terms=self._terms.frozen(),
            words=self._words.frozen(),
            property=self._property.filled.copy(),
            asked=self._asked.filled.copy(),
            text=self._text.filled.copy(),
            word=self._word.filled.copy(),
            wanted=names.wanted.copy(),
        )

    def _closures(self) -> tuple[Lists, Lists, Lists, Lists]:
        """What is above each term, from the first to the last one that there is by now."""
        known = self.ontology
        types = [term for types in known.instances.values() for term in types]
        told = (*FIRST_TERMS, *DATATYPES, *LITERAL_CLASSES, *known.classes, *known.properties, *known.instances, *types)
        terms = {self.term(term): term for term in told}
        self._literal = np.array(sorted(map(self.term, known.literal_classes(LITERAL_CLASSES[0]))), np.int32)
        datatypes = {number: term for number, term in terms.items() if _datatype(known, term)}
        return (
            self._lists({number: known.superproperties(term) for number, term in terms.items()}, itself=True),
            self._lists({number: known.superclasses(term) for number, term in terms.items()}, itself=True),
            self._lists({number: known.types_of(term) for number, term in terms.items()}),
            self._lists({number: known.literal_classes(term) for number, term in datatypes.items()}),
        )

    def _lists(self, above: Mapping[int, Iterable[Term]], *, itself: bool = False) -> Lists:
        """The lists of all terms; one that is not told has nothing above it, or itself."""
        numbers = {number: [self.term(member) for member in sorted(each)] for number, each in above.items()}
        lists = [numbers.get(n, [n] if itself else []) for n in range(len(self._terms))]
        first = np.zeros(len(lists) + 1, np.int32)
        np.cumsum([len(each) for each in lists], out=first[1:])
        return first, np.array([member for each in lists for member in each], np.int32)


def _datatype(known: Ontology, term: Term) -> bool:
    return term in DATATYPES or known.is_class(term)


def _power_of_two(least: int) -> int:
    return 1 << max(7, (least - 1).bit_length())
