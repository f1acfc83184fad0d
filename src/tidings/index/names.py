"""The terms and words that subscriptions and the ontology speak of, numbered, and what is above them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from tidings.index.arrays import Ints
from tidings.index.growing import Growing
from tidings.index.kernels.dictionary import Dictionary, insert
from tidings.index.kernels.numbers import DECIMAL, DOUBLE, INTEGER
from tidings.index.kernels.words import Vocabulary, insert_short
from tidings.index.layout import Names
from tidings.ontology import Ontology
from tidings.ontology.datatypes import DATATYPES, LITERAL_CLASSES
from tidings.rdf.terms import HOME, RDF_LANGSTRING, RDF_TYPE, SUBCLASS_OF, XSD, XSD_STRING, Term, iri

FIRST_TERMS = (RDF_TYPE, SUBCLASS_OF, HOME, iri(XSD_STRING), iri(RDF_LANGSTRING))
ALL_BITS = 0xFFFFFFFFFFFFFFFF

Lists: TypeAlias = tuple[Ints, Ints]
"""Where the list of each term begins, and all lists."""

_PADDING = 16
_SHORT = 8
# An xsd:float is not what its digits say but the nearest of few numbers: those are left to the verifier.
_NUMBERS = {"integer": INTEGER, "decimal": DECIMAL, "double": DOUBLE}


class Entries:
    """A dictionary under construction. `weak` cuts its hashes down, for tests of what collisions do."""

    def __init__(self, weak: int) -> None:
        self._numbers: dict[str, int] = {}
        self._inserted = 0
        self._start: Growing[np.int64] = Growing(np.int64)
        self._start.append(0)
        self._pool: Growing[np.uint8] = Growing(np.uint8)
        self._slots = np.zeros(128, np.uint64)
        self._weak = np.array([weak], np.uint64)

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, text: str) -> int:
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self._numbers)
            self._pool.extend(np.frombuffer(text.encode(), np.uint8))
            self._start.append(self._pool.size)
        return found

    def texts(self) -> list[Term]:
        return [Term(text) for text in self._numbers]

    def table(self) -> Dictionary:
        """As it is now."""
        self._pool.reserve(self._pool.size + _PADDING)
        count = len(self._numbers)
        if 2 * count > self._slots.size:
            self._slots = np.zeros(_power_of_two(4 * count), np.uint64)
            self._inserted = 0
        table = Dictionary(self._slots, self._start.array, self._pool.array, self._weak)
        if self._inserted < count:
            insert(table, self._inserted, count)
            self._inserted = count
        return table


class WordEntries:
    """A vocabulary under construction."""

    def __init__(self, weak: int) -> None:
        self._numbers: dict[str, int] = {}
        self._long = Entries(weak)
        self._long_ids: Growing[np.int32] = Growing(np.int32)
        self._keys: list[int] = []
        self._ids: list[int] = []
        self._inserted = 0
        self._key = np.zeros(128, np.uint64)
        self._id = np.zeros(128, np.int32)

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, word: str) -> int:
        found = self._numbers.get(word)
        if found is None:
            found = self._numbers[word] = len(self._numbers)
            encoded = word.encode()
            if len(encoded) <= _SHORT:
                self._keys.append(int.from_bytes(encoded, "little"))
                self._ids.append(found)
            else:
                self._long.number(word)
                self._long_ids.append(found)
        return found

    def known(self, word: str) -> int:
        return self._numbers.get(word, -1)

    def table(self) -> Vocabulary:
        if 2 * len(self._keys) > self._key.size:
            self._key = np.zeros(_power_of_two(4 * len(self._keys)), np.uint64)
            self._id = np.zeros(self._key.size, np.int32)
            self._inserted = 0
        table = Vocabulary(self._key, self._id, self._long.table(), self._long_ids.array)
        if self._inserted < len(self._keys):
            keys, ids = self._keys[self._inserted :], self._ids[self._inserted :]
            insert_short(table, np.array(keys, np.uint64), np.array(ids, np.int32))
            self._inserted = len(self._keys)
        return table


class NameTables:
    """All names, and the arrays that `layout.Names` describes."""

    def __init__(self, ontology: Ontology, weak: int = ALL_BITS) -> None:
        self.ontology = ontology
        self._terms = Entries(weak)
        self._words = WordEntries(weak)
        self._property: Growing[np.int32] = Growing(np.int32, fill=-1)
        self._asked: Growing[np.uint8] = Growing(np.uint8)
        self._text: Growing[np.uint8] = Growing(np.uint8)
        self._word: Growing[np.uint8] = Growing(np.uint8)
        self._wanted = np.zeros(8, np.uint8)
        self._properties: dict[int, int] = {}
        for term in (*FIRST_TERMS, *sorted(DATATYPES), *LITERAL_CLASSES):
            self.term(term)
        self._hierarchies = self._closures()
        self._number = np.zeros(len(self._terms), np.uint8)
        for name, kind in _NUMBERS.items():
            self._number[self.term(iri(XSD + name))] = kind

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

    def known_word(self, word: str) -> int:
        """The number of a word, or -1 where nobody asks for it."""
        return self._words.known(word)

    def property(self, term: Term) -> int:
        """The number of a property that is asked for."""
        number = self.term(term)
        found = self._properties.get(number)
        if found is None:
            found = self._properties[number] = len(self._properties)
            self._property.reach(len(self._terms))
            self._property.array[number] = found
            self._text.reach(found + 1)
        return found

    def ask(self, term: int, how: int) -> None:
        """Note how a term is asked for."""
        self._asked.reach(len(self._terms))
        self._asked.array[term] |= how

    def ask_words(self, property: int) -> None:
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

    def _closures(self) -> tuple[Lists, Lists, Lists, Lists]:
        """What is above each term, from the first to the last one that the ontology knows."""
        known = self.ontology
        for term in (*known.classes, *known.properties, *known.instances):
            self.term(term)
        for types in known.instances.values():
            for term in types:
                self.term(term)
        terms = self._terms.texts()
        self._literal = np.array(sorted(map(self.term, known.literal_classes(LITERAL_CLASSES[0]))), np.int32)
        return (
            self._lists(known.superproperties(term) for term in terms),
            self._lists(known.superclasses(term) for term in terms),
            self._lists(known.types_of(term) for term in terms),
            self._lists(known.literal_classes(term) if _datatype(known, term) else () for term in terms),
        )

    def _lists(self, sets: Iterable[Iterable[Term]]) -> Lists:
        lists = [[self.term(member) for member in sorted(each)] for each in sets]
        first = np.zeros(len(lists) + 1, np.int32)
        np.cumsum([len(each) for each in lists], out=first[1:])
        return first, np.array([member for each in lists for member in each], np.int32)


def _datatype(known: Ontology, term: Term) -> bool:
    return term in DATATYPES or known.is_class(term)


def _power_of_two(least: int) -> int:
    return 1 << max(7, (least - 1).bit_length())
