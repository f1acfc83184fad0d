"""Atoms into their table, and filings into their chains."""

from __future__ import annotations

import numpy as np

from tidings.index.arrays import Ints, Words
from tidings.index.kernels.event import slot_of
from tidings.index.kernels.jit import kernel
from tidings.index.layout import Atoms


@kernel
def insert_atoms(atoms: Atoms, keys: Words, first: int) -> None:
    """Put these keys into the table; their ids count from `first` on. The id is there before the key is."""
    for n in range(keys.size):
        at = slot_of(atoms, keys[n])
        atoms.id[at] = first + n
        atoms.key[at] = keys[n]


@kernel
def find_atom(atoms: Atoms, key: np.uint64) -> int:
    """The atom of this key, or -1."""
    at = slot_of(atoms, key)
    return atoms.id[at] if atoms.key[at] == key else -1


@kernel
def chain(entries: Ints, first: int, head: Ints, next: Ints) -> None:
    """Hang the filings, numbered from `first` on, before those that their atoms have."""
    for n in range(entries.size):
        atom = entries[n]
        next[first + n] = head[atom]
        head[atom] = first + n
