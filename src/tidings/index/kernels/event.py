"""One event at work: its terms, its E*, its words, and the atoms that hold of it.

Arrays travel into a function one by one, so a call costs as much as a good deal of work, and code that is put into its
caller in many places takes long to compile. So each step here is one loop over what the step before left in an array.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidings.index.arrays import Bytes, Ints, Longs, Words
from tidings.index.folding import Folding
from tidings.index.kernels.dictionary import Dictionary, find
from tidings.index.kernels.jit import inlined
from tidings.index.kernels.scan import IRI, LITERAL, Terms, Triples
from tidings.index.kernels.words import FULL, UNSURE, split
from tidings.index.layout import (
    ANY_PROPERTY,
    ANY_WORD,
    ANYWHERE,
    AS_ANY_OBJECT,
    AS_ANY_SUBJECT,
    AS_OBJECT,
    AS_SUBJECT,
    LITERALS,
    ONE_SUBJECT,
    ONE_TEXT,
    SUBCLASS,
    TYPE,
    UNDECIDED,
    WITH_PROPERTY,
    Atoms,
    Names,
)

# What became of an event; scan.READ, ODD and TOO_MANY come first.
DONE, ODD, TOO_MANY, ODD_TEXT = 0, 1, 2, 3
# The kinds of atoms, as in `index.atoms`.
PROPERTY, OBJECT, SUBJECT, NODE_S, NODE_O, WORD, ANYWORD, LITERAL_CLASS, CLASS_O, HOME_CLASS = range(10)
# The places of `Work.count`.
(
    TERMS,
    SPREAD,
    WORDS,
    HITS,
    EPOCH,
    SUBCLASSED,
    CANDIDATES,
    VISITED,
    KEYS,
    TYPED,
    CHOSEN,
    UNKNOWN,
    LISTED,
    STEPS,
    FETCHED,
    FAILED,
) = range(16)

STRING, LANG_STRING = 3, 4
"""Two datatypes that literals do not name; their places in every dictionary."""

_K = np.uint64(0x9E3779B97F4A7C15)
_S30, _S60, _S32 = np.uint64(30), np.uint64(60), np.uint64(32)
_NONE, _U1 = np.uint64(0), np.uint64(1)
_AT, _QUOTE = 64, 34
_NOT_WANTED, _WANTED = -2, -1
AHEAD = 64
"""So many rules are fetched at once."""
NEAR = 512
"""The words of `Work.near`, a power of two."""
_NEARLY, _S6, _LOW6 = np.uint64(NEAR - 1), np.uint64(6), np.uint64(63)


class OddTexts(NamedTuple):
    """Literals whose words the tables cannot tell, and their words: those of literal n are from `first[n]` on."""

    literals: Dictionary
    first: Ints
    words: Ints


class Work(NamedTuple):
    """What one thread needs for one event after the other. E* is the triples (s, property, o), those with the same
    property in a chain from `head` on by `next`; `arc` tells the ones that are arcs of the OPS model. Stamps that are
    not the present epoch belong to an earlier event.
    """

    terms: Terms
    triples: Triples
    s: Ints
    p: Ints  # the property, or -1
    o: Ints
    arc: Bytes
    next: Ints
    head: Ints  # by property
    head_stamp: Ints
    local: Ints  # by term of the dictionary: the term of the event
    local_stamp: Ints
    node: Bytes  # by term of the event: whether it is a subject or an object
    typed: Ints  # pairs: a term of the event, and a class of the dictionary that it has
    words_first: Ints  # by term of the event; below 0, its words are not known
    words_last: Ints
    words: Ints
    keys: Words  # of the atoms to look up
    places: Words  # by key: where it may be in the table of atoms
    there: Words  # by key: what is at that place
    hits: Ints  # the atoms that hold
    seen: Words  # by atom: one bit
    near: Words  # the same, folded until it fits into the fastest memory
    chosen: Ints  # the rules to decide
    rule_stamp: Ints
    subscription_stamp: Ints
    code_at: Longs  # of the rules that are fetched
    code_end: Longs
    link: Ints  # four lists through all triples, one behind the other: by property, subject, object, and of all
    list_head: Ints  # by term of the event, twice: the first triple it is the subject of, and the object of
    list_size: Ints  # the same: how many there are
    type_head: Ints  # by term of the event: the first triple that gives it a type
    property_size: Ints  # by property: how many triples it has
    marks: Words  # by property, twice: bits for the subjects it has, and for the objects
    class_bit: Bytes  # by term of the event: the bit it has as a class
    classes: Words  # by term of the event: the bits of its classes
    taken: Bytes  # by term of the event: whether it is the image of a vertex
    open: Words  # by variable: bits for the terms that it may be
    bound: Ints  # by variable: the term of the event, or -1
    cursor: Ints  # by pattern
    trail: Ints  # by pattern: which variables it bound, as bits
    place: Ints  # by pattern: where it is in the code
    list: Ints  # by pattern: where in `link` the list it goes through is
    text_stack: Bytes
    ends: Bytes
    stack: Bytes
    buffer: Bytes
    count: Ints


@inlined
def has(seen: Words, atom: int) -> bool:
    return (seen[atom >> 6] >> np.uint64(atom & 63)) & _U1 != _NONE


@inlined
def may_have(near: Words, atom: int) -> bool:
    """Whether the atom may be one that holds."""
    bit = np.uint64(atom)
    return (near[(bit >> _S6) & _NEARLY] >> (bit & _LOW6)) & _U1 != _NONE


@inlined
def key_of(kind: int, first: int, second: int) -> np.uint64:
    """The key of an atom; its numbers are below 2^30, and the key is never 0."""
    return (np.uint64(kind + 1) << _S60) | (np.uint64(first) << _S30) | np.uint64(second)


@inlined
def _place(key: np.uint64, mask: np.uint64) -> np.uint64:
    mixed = key * _K
    return (mixed ^ (mixed >> _S32)) & mask


@inlined
def slot_of(atoms: Atoms, key: np.uint64) -> np.uint64:
    """Where the key is, or would be."""
    mask = np.uint64(atoms.key.size - 1)
    at = _place(key, mask)
    while atoms.key[at] != key and atoms.key[at] != _NONE:
        at = (at + _U1) & mask
    return at


@inlined
def datatype_of(data: Bytes, names: Names, terms: Terms, term: int) -> int:
    """The datatype of a literal as a term of the dictionary, or -1."""
    end = terms.text_end[term]
    if terms.end[term] == end + 1:
        return STRING
    if data[end + 1] == _AT:
        return LANG_STRING
    return find(names.terms, data, end + 3, terms.end[term])


@inlined
def _begin(work: Work, stated: int) -> None:
    count = work.count
    count[EPOCH] += 1
    count[TERMS] = stated
    for place in (SPREAD, WORDS, HITS, SUBCLASSED, KEYS, TYPED):
        count[place] = 0
    for n in range(stated):
        work.words_first[n] = _NOT_WANTED
        work.node[n] = 0
        id = work.terms.id[n]
        if id >= 0:
            work.local_stamp[id] = count[EPOCH]
            work.local[id] = n


@inlined
def _add(names: Names, work: Work, s: int, p: int, o: int, arc: int) -> None:
    """One triple of E*, by terms of the event but for the property, which is a term of the dictionary or -1."""
    property = names.property[p] if p >= 0 else -1
    if property >= 0 or names.wanted[ANY_PROPERTY]:
        n = work.count[SPREAD]
        work.s[n] = s
        work.p[n] = property
        work.o[n] = o
        work.arc[n] = arc
        work.count[SPREAD] = n + 1


@inlined
def _stated(names: Names, work: Work, size: int) -> int:
    """The triples of the event, by all properties above theirs; the types among them are noted."""
    count, terms, triples = work.count, work.terms, work.triples
    for n in range(size):
        s, o, p = triples.s[n], triples.o[n], terms.id[triples.p[n]]
        work.node[s] = 1
        work.node[o] = 1
        if p == SUBCLASS:
            count[SUBCLASSED] = 1
        single = p < 0 or p >= names.up_first.size - 1
        first = 0 if single else names.up_first[p]
        last = 1 if single else names.up_first[p + 1]
        if count[SPREAD] + last - first > work.s.size or count[TYPED] + 2 > work.typed.size:
            return TOO_MANY
        if p == TYPE and terms.id[o] >= 0:
            # All that follows from a type, itself included, comes with the classes above it.
            work.typed[count[TYPED]] = s
            work.typed[count[TYPED] + 1] = terms.id[o]
            count[TYPED] += 2
            continue
        for at in range(first, last):
            q = p if single else names.up[at]
            _add(names, work, s, q, o, p != TYPE)
            if q == TYPE and terms.id[o] >= 0:
                work.typed[count[TYPED]] = s
                work.typed[count[TYPED] + 1] = terms.id[o]
                count[TYPED] += 2
    return DONE


@inlined
def _known_types(names: Names, work: Work, stated: int) -> int:
    """The types that the ontology states of what the event is about."""
    count = work.count
    for n in range(stated):
        id = work.terms.id[n]
        if work.node[n] and 0 <= id < names.type_first.size - 1:
            first, last = names.type_first[id], names.type_first[id + 1]
            if count[TYPED] + 2 * (last - first) > work.typed.size:
                return TOO_MANY
            for at in range(first, last):
                work.typed[count[TYPED]] = n
                work.typed[count[TYPED] + 1] = names.types[at]
                count[TYPED] += 2
    return DONE


@inlined
def _local(names: Names, work: Work, term: int) -> int:
    """The number in this event of a term of the dictionary, which may be one that E* alone has; -1 where full."""
    epoch = work.count[EPOCH]
    if work.local_stamp[term] != epoch:
        n = work.count[TERMS]
        if n >= work.terms.start.size:
            return -1
        work.count[TERMS] = n + 1
        work.terms.start[n] = -1
        work.terms.end[n] = -1
        work.terms.kind[n] = LITERAL if names.terms.pool[names.terms.start[term]] == _QUOTE else IRI
        work.terms.id[n] = term
        work.words_first[n] = _NOT_WANTED
        work.local_stamp[term] = epoch
        work.local[term] = n
    return work.local[term]


@inlined
def _typed(names: Names, work: Work) -> int:
    """Whatever has a class has all above it, by all relations above rdf:type."""
    for pair in range(0, work.count[TYPED], 2):
        s, cls = work.typed[pair], work.typed[pair + 1]
        single = cls >= names.class_first.size - 1
        first = 0 if single else names.class_first[cls]
        last = 1 if single else names.class_first[cls + 1]
        relations = names.up_first[TYPE + 1] - names.up_first[TYPE]
        if work.count[SPREAD] + (last - first) * relations > work.s.size:
            return TOO_MANY
        for at in range(first, last):
            upper = _local(names, work, cls if single else names.class_up[at])
            if upper < 0:
                return TOO_MANY
            for relation in range(names.up_first[TYPE], names.up_first[TYPE + 1]):
                _add(names, work, s, names.up[relation], upper, 0)
    return DONE


@inlined
def _push(work: Work, kind: int, first: int, second: int) -> None:
    work.keys[work.count[KEYS]] = key_of(kind, first, second)
    work.count[KEYS] += 1


@inlined
def hit(work: Work, atom: int) -> None:
    place = atom >> 6
    bit = _U1 << np.uint64(atom & 63)
    if work.seen[place] & bit == _NONE:
        work.seen[place] |= bit
        work.near[place & (NEAR - 1)] |= bit
        work.hits[work.count[HITS]] = atom
        work.count[HITS] += 1


@inlined
def _linked(names: Names, atoms: Atoms, work: Work) -> int:
    """Chain the triples of E* by property, note what their terms are asked for as, and whose words are; and what
    there is more than one of.
    """
    epoch = work.count[EPOCH]
    unknown = UNDECIDED
    subject = -1
    for n in range(work.count[SPREAD]):
        if work.count[KEYS] + 4 > work.keys.size:
            return TOO_MANY
        property, s, o = work.p[n], work.s[n], work.o[n]
        s_id, o_id = work.terms.id[s], work.terms.id[o]
        asked = (names.asked[s_id] if s_id >= 0 else 0) & (AS_SUBJECT | AS_ANY_SUBJECT)
        asked |= (names.asked[o_id] if o_id >= 0 else 0) & (AS_OBJECT | AS_ANY_OBJECT)
        if asked & AS_ANY_SUBJECT:
            _push(work, NODE_S, s_id, 0)
        if asked & AS_ANY_OBJECT:
            _push(work, NODE_O, o_id, 0)
        if property < 0:
            continue
        if work.head_stamp[property] != epoch:
            work.head_stamp[property] = epoch
            work.head[property] = -1
            if atoms.of_property[property] >= 0:
                hit(work, atoms.of_property[property])
        if subject >= 0 and s != subject:
            unknown |= ONE_SUBJECT
        subject = s
        before = work.head[property]
        work.next[n] = before
        work.head[property] = n
        if asked & AS_SUBJECT:
            _push(work, SUBJECT, s_id, property)
        if asked & AS_OBJECT:
            _push(work, OBJECT, property, o_id)
        if names.text[property] and work.terms.kind[o] == LITERAL:
            work.words_first[o] = _WANTED
            if before >= 0 and work.o[before] != o:
                unknown |= ONE_TEXT
    work.count[UNKNOWN] = unknown
    return DONE


@inlined
def _words(data: Bytes, names: Names, folds: Folding, odd: OddTexts, work: Work) -> int:
    """The words of the literals in which somebody looks for some."""
    count, terms = work.count, work.terms
    for term in range(count[TERMS]):
        wanted = work.words_first[term] == _WANTED or (names.wanted[ANY_WORD] and terms.kind[term] == LITERAL)
        if not wanted or terms.start[term] < 0:
            continue
        n = count[WORDS]
        found = split(data, terms.start[term] + 1, terms.text_end[term], folds, names.words, work.buffer, work.words, n)
        if found == UNSURE:
            place = find(odd.literals, data, terms.start[term], terms.end[term])
            if place < 0:
                return ODD_TEXT
            found = n + odd.first[place + 1] - odd.first[place]
            if found > work.words.size:
                return TOO_MANY
            for at in range(found - n):
                work.words[n + at] = odd.words[odd.first[place] + at]
        if found == FULL or count[KEYS] + found - n > work.keys.size:
            return TOO_MANY
        work.words_first[term] = n
        work.words_last[term] = found
        count[WORDS] = found
        if names.wanted[ANY_WORD]:
            for at in range(n, found):
                if work.words[at] >= 0 and names.word[work.words[at]] & ANYWHERE:
                    _push(work, ANYWORD, work.words[at], 0)
    return DONE


@inlined
def _property_words(names: Names, work: Work) -> int:
    """Each property with each word of its values."""
    for n in range(work.count[SPREAD]):
        property, o = work.p[n], work.o[n]
        if property >= 0 and names.text[property] and work.words_first[o] >= 0:
            first, last = work.words_first[o], work.words_last[o]
            if work.count[KEYS] + last - first > work.keys.size:
                return TOO_MANY
            for at in range(first, last):
                if work.words[at] >= 0 and names.word[work.words[at]] & WITH_PROPERTY:
                    _push(work, WORD, property, work.words[at])
    return DONE


@inlined
def _literal_classes(data: Bytes, names: Names, work: Work, stated: int) -> int:
    """The classes that literals have by their datatypes."""
    for term in range(stated):
        if work.terms.kind[term] == LITERAL:
            datatype = datatype_of(data, names, work.terms, term)
            known = 0 <= datatype < names.data_first.size - 1
            first = names.data_first[datatype] if known else 0
            last = names.data_first[datatype + 1] if known else 0
            if work.count[KEYS] + last - first + names.literal.size + 1 > work.keys.size:
                return TOO_MANY
            for at in range(first, last):
                _push(work, LITERAL_CLASS, names.data_up[at], 0)
            for at in range(names.literal.size):
                _push(work, LITERAL_CLASS, names.literal[at], 0)
            if datatype >= 0:
                _push(work, LITERAL_CLASS, datatype, 0)
    return DONE


@inlined
def _look_up(atoms: Atoms, work: Work) -> None:
    """Note the atoms that have the keys. A large table is far away: one loop fetches from many places of it at once."""
    count = work.count[KEYS]
    mask = np.uint64(atoms.key.size - 1)
    for n in range(count):
        at = _place(work.keys[n], mask)
        work.places[n] = at
        work.there[n] = atoms.key[at]
    found = 0
    for n in range(count):
        key, at, there = work.keys[n], work.places[n], work.there[n]
        while there != key and there != _NONE:
            at = (at + _U1) & mask
            there = atoms.key[at]
        if there == key:
            work.places[found] = at
            found += 1
    for n in range(found):
        work.there[n] = np.uint64(atoms.id[work.places[n]])
    for n in range(found):
        hit(work, np.int64(work.there[n]))


@inlined
def spread(
    data: Bytes, names: Names, folds: Folding, odd: OddTexts, atoms: Atoms, work: Work, stated: int, size: int
) -> int:
    """From the triples of an event to its E* and the atoms that hold of it."""
    _begin(work, stated)
    status = _stated(names, work, size)
    if status == DONE:
        status = _known_types(names, work, stated)
    if status == DONE:
        status = _typed(names, work)
    if status == DONE:
        status = _linked(names, atoms, work)
    if status == DONE:
        status = _words(data, names, folds, odd, work)
    if status == DONE:
        status = _property_words(names, work)
    if status == DONE and names.wanted[LITERALS]:
        status = _literal_classes(data, names, work, stated)
    if status == DONE:
        _look_up(atoms, work)
    return status


@inlined
def clear(work: Work) -> None:
    """Make the bits of the atoms that held free for the next event."""
    for n in range(work.count[HITS]):
        place = work.hits[n] >> 6
        work.seen[place] = _NONE
        work.near[place & (NEAR - 1)] = _NONE
