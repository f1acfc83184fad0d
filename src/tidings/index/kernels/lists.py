"""The triples of an event in lists, so that a search goes through few of them; the classes of its terms."""

from __future__ import annotations

import numpy as np

from tidings.index.arrays import Bytes
from tidings.index.kernels.event import (
    CLASS_O,
    EPOCH,
    FAILED,
    HOME_CLASS,
    LISTED,
    SPREAD,
    TERMS,
    Work,
    datatype_of,
    hit,
    key_of,
    slot_of,
)
from tidings.index.kernels.jit import inlined, kernel
from tidings.index.kernels.scan import LITERAL
from tidings.index.layout import AS_CLASS, HOME, TYPE, Atoms, Names

_BITS = 64
_NO_BIT, _NO_CLASS = 64, 255
_U0, _U1, _U63 = np.uint64(0), np.uint64(1), np.uint64(63)
# An index that is not below 0, and need not be looked at for that.
_u = np.uint64


@inlined
def make_lists(names: Names, work: Work) -> None:
    """Once for an event: whatever a rule needs to be decided. In the list of a subject its types come last."""
    count, link = work.count, work.link
    triples, terms, room, objects = count[SPREAD], count[TERMS], work.s.size, work.taken.size
    count[LISTED] = count[EPOCH]
    count[FAILED] = 0
    for n in range(terms):
        work.list_head[n] = -1
        work.list_size[n] = 0
        work.list_head[objects + n] = -1
        work.list_size[objects + n] = 0
        work.type_head[n] = -1
        work.class_bit[n] = _NO_CLASS
        work.classes[n] = _U0
    property = names.property[TYPE]
    bits = 0
    for n in range(triples):
        s, p, o = work.s[n], work.p[n], work.o[n]
        link[2 * room + n] = work.list_head[objects + o]
        work.list_head[objects + o] = n
        work.list_size[objects + o] += 1
        link[3 * room + n] = n - 1
        if p < 0:
            continue
        link[n] = work.next[n]
        if work.next[n] < 0:
            work.property_size[p] = 0
            work.marks[2 * p] = _U0
            work.marks[2 * p + 1] = _U0
        work.property_size[p] += 1
        work.marks[2 * p] |= _U1 << (_u(s) & _U63)
        work.marks[2 * p + 1] |= _U1 << (_u(o) & _U63)
        if p == property:
            link[room + n] = work.type_head[s]
            work.type_head[s] = n
            work.list_head[s] = n
            work.list_size[s] += 1
            if work.class_bit[o] == _NO_CLASS:
                work.class_bit[o] = min(bits, _NO_BIT)
                bits += 1
            if work.class_bit[o] < _BITS:
                work.classes[s] |= _U1 << _u(work.class_bit[o])
    for n in range(triples):
        if work.p[n] < 0 or work.p[n] != property:
            s = work.s[n]
            link[room + n] = work.list_head[s]
            work.list_head[s] = n
            work.list_size[s] += 1


@inlined
def _note(names: Names, atoms: Atoms, work: Work, kind: int, p: int, cls: int) -> None:
    """Note that a property has a value of a class, or that the home vertex has it, where somebody asks for that."""
    if cls >= 0 and names.asked[cls] & AS_CLASS:
        key = key_of(CLASS_O, p, cls) if kind == CLASS_O else key_of(HOME_CLASS, cls, 0)
        at = slot_of(atoms, key)
        if atoms.key[at] == key:
            hit(work, atoms.id[at])


@kernel
def find_classes(data: Bytes, names: Names, atoms: Atoms, work: Work) -> None:
    """The atoms about the classes of objects and of the home vertex; lists are made on the way."""
    make_lists(names, work)
    terms, property = work.terms, names.property[TYPE]
    for n in range(work.count[SPREAD]):
        p, o = work.p[n], work.o[n]
        if p < 0 or p == property:
            if p >= 0 and terms.id[work.s[n]] == HOME:
                _note(names, atoms, work, HOME_CLASS, p, terms.id[o])
        elif terms.kind[o] == LITERAL:
            datatype = datatype_of(data, names, terms, o)
            _note(names, atoms, work, CLASS_O, p, datatype)
            for at in range(names.literal.size):
                _note(names, atoms, work, CLASS_O, p, names.literal[at])
            if 0 <= datatype < names.data_first.size - 1:
                for at in range(names.data_first[datatype], names.data_first[datatype + 1]):
                    _note(names, atoms, work, CLASS_O, p, names.data_up[at])
        else:
            at = work.type_head[o]
            while at >= 0:
                _note(names, atoms, work, CLASS_O, p, terms.id[work.o[at]])
                at = work.link[work.s.size + at]


@inlined
def first_of(work: Work, s: int, p: int, o: int) -> tuple[int, int]:
    """The first triple, or -1, of a short list that has all triples with these ends (below 0: any) and this property;
    and where in `link` that list is.
    """
    room, objects = work.s.size, work.taken.size
    if p < 0:
        at, least, list = work.count[SPREAD] - 1, work.count[SPREAD], 3 * room
    elif work.head_stamp[_u(p)] == work.count[EPOCH]:
        at, least, list = work.head[_u(p)], work.property_size[_u(p)], 0
    else:
        return -1, 0
    if least > 1:
        if s >= 0 and work.list_size[_u(s)] < least:
            at, least, list = work.list_head[_u(s)], work.list_size[_u(s)], room
        if o >= 0 and work.list_size[_u(objects + o)] < least:
            at, list = work.list_head[_u(objects + o)], 2 * room
    return at, list


@inlined
def has_type(work: Work, term: int, cls: int) -> bool:
    """Whether E* says that a term of the event is of the class `cls`, a term of the dictionary."""
    if work.local_stamp[_u(cls)] != work.count[EPOCH]:
        return False
    image = work.local[_u(cls)]
    bit = work.class_bit[_u(image)]
    if bit < _BITS:
        return (work.classes[_u(term)] >> _u(bit)) & _U1 != _U0
    if bit == _NO_BIT:
        at = work.type_head[_u(term)]
        while at >= 0:
            if work.o[_u(at)] == image:
                return True
            at = work.link[_u(work.s.size + at)]
    return False
