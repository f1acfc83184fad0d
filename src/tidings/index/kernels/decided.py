"""Which rules are decided by their atoms, so that no solution need be searched for.

The atoms of a rule are necessary. They also suffice where each pattern of the rule has an atom that says as much as the
pattern does, and where what the patterns share can only be one thing: all have the same subject, of an event that has
one subject; the words asked of one variable are those of one text, of an event where no property has two.
"""

from __future__ import annotations

from tidings.index.arrays import Bytes, Ints
from tidings.index.kernels.event import ANYWORD, OBJECT, PROPERTY, WORD, key_of, slot_of
from tidings.index.kernels.jit import inlined, kernel
from tidings.index.layout import (
    ANY,
    FT_AND,
    FT_WORD,
    MORE,
    ONE_SUBJECT,
    ONE_TEXT,
    OP_TEXT,
    REFILED,
    SHARED,
    UNDECIDED,
    Atoms,
    Rules,
)

_OTHER = -1


@inlined
def _words(code: Ints, at: int, stop: int, variable: int) -> int:
    """How many words the expression asks of the variable, if that is all that it does; else _OTHER."""
    if code[at] != OP_TEXT or code[at + 1] != variable or at + code[at + 2] != stop:
        return _OTHER
    at += 3
    count = 0
    while at + 1 < stop and code[at] == FT_WORD:
        count += 1
        at += 2
    if at == stop:
        return 1 if count == 1 else _OTHER
    return count if code[at] == FT_AND and code[at + 1] == count and at + 2 == stop else _OTHER


@inlined
def _needs(atoms: Atoms, rules: Rules, rule: int, under: int, kind: int, first: int, second: int) -> bool:
    """Whether the atom is one of the rule's: that it is filed `under`, or one that it needs besides."""
    key = key_of(kind, first, second)
    at = slot_of(atoms, key)
    if atoms.key[at] != key:
        return False
    atom = atoms.id[at]
    for place in range(rules.needs_first[rule], rules.needs_first[rule + 1]):
        if rules.needs[place] == atom:
            return True
    return atom == under


@inlined
def _pattern(atoms: Atoms, rules: Rules, rule: int, under: int, at: int, alone: bool) -> int:
    """What must be known of an event for atoms to say all that the pattern at `at` does, but for its subject."""
    code = rules.code
    p, o = code[at + 1], code[at + 2]
    expression = at + 4
    stop = expression + code[at + 3]
    if o >= 0:
        said = p != ANY and expression == stop and _needs(atoms, rules, rule, under, OBJECT, p, o)
        return 0 if said else UNDECIDED
    words = 0
    while expression < stop:
        last = expression + 1 + code[expression]
        found = _words(code, expression + 1, last, o)
        if found == _OTHER:
            return UNDECIDED
        words += found
        for n in range(found):
            word = code[expression + 5 + 2 * n]
            kind = ANYWORD if p == ANY else WORD
            if not _needs(atoms, rules, rule, under, kind, word if p == ANY else p, 0 if p == ANY else word):
                return UNDECIDED
        expression = last
    if words == 0:
        return 0 if p != ANY and _needs(atoms, rules, rule, under, PROPERTY, p, 0) else UNDECIDED
    if p == ANY:
        return 0 if alone and words == 1 else UNDECIDED
    return 0 if words == 1 else ONE_TEXT


@inlined
def _how(atoms: Atoms, rules: Rules, rule: int, under: int) -> int:
    code = rules.code
    head = rules.code_at[rule]
    patterns, flags = code[head + 1], code[head + 2]
    if patterns == 0 or flags != 0:
        return UNDECIDED
    how = 0 if patterns == 1 else ONE_SUBJECT
    first = head + 4 + code[head + 3]
    subject = code[first]
    at = first
    for n in range(patterns):
        if code[at] != subject or subject >= 0 or code[at + 2] == subject:
            return UNDECIDED
        how |= _pattern(atoms, rules, rule, under, at, patterns == 1)
        # A variable that two patterns share must be the same in both.
        other = first
        for _ in range(n):
            if code[at + 2] < 0 and code[other + 2] == code[at + 2]:
                return UNDECIDED
            other += 4 + code[other + 3]
        at += 4 + code[at + 3]
    return how


@kernel
def decided(atoms: Atoms, rules: Rules, first: int, last: int, filings: Ints, under: Ints, how: Bytes) -> None:
    """Note `how` the rules from `first` up to `last` are decided; each has so many `filings`, the last of them `under`
    this atom. The rules of a subscription are side by side.
    """
    for rule in range(first, last):
        n = rule - first
        found = _how(atoms, rules, rule, under[n] if filings[n] == 1 else -1)
        if filings[n] > 1:
            found |= REFILED
        if rules.needs_first[rule + 1] - rules.needs_first[rule] > 1:
            found |= MORE
        of = rules.subscription[rule]
        if (n > 0 and rules.subscription[rule - 1] == of) or (rule + 1 < last and rules.subscription[rule + 1] == of):
            found |= SHARED
        how[rule] = found
