"""Whether the words of a text satisfy a text expression: the kernel's counterpart of `match.fulltext`."""

from __future__ import annotations

from tidings.index.arrays import Bytes, Ints
from tidings.index.kernels.jit import inlined
from tidings.index.layout import FT_NEAR, FT_NOT, FT_OR, FT_PHRASE, FT_WORD


@inlined
def _has(words: Ints, first: int, last: int, word: int) -> bool:
    for place in range(first, last):
        if words[place] == word:
            return True
    return False


@inlined
def _phrase_at(words: Ints, place: int, last: int, code: Ints, at: int, length: int) -> bool:
    if place + length > last:
        return False
    for n in range(length):
        if words[place + n] != code[at + n]:
            return False
    return True


@inlined
def _near(words: Ints, first: int, last: int, code: Ints, at: int, parts: int, ends: Bytes) -> bool:
    """A chain of phrases: `ends[p]` says whether an occurrence of the chain so far ends just before place p.

    At `at` there are, for each phrase, the least and the most words before it, its length and its words.
    """
    for part in range(parts):
        least, most, length = code[at], code[at + 1], code[at + 2]
        at += 3
        found = False
        # From the right, since the ends of this phrase are written where those of the last one were read.
        for place in range(last - length, first - 1, -1):
            begins = part == 0
            if not begins:
                for end in range(max(first, place - most), place - least + 1):
                    if ends[end - first]:
                        begins = True
                        break
            if begins and _phrase_at(words, place, last, code, at, length):
                ends[place + length - first] |= 2
                found = True
        for place in range(last - first + 1):
            ends[place] >>= 1
        if not found:
            for place in range(last - first + 1):
                ends[place] = 0
            return False
        at += length
    for place in range(last - first + 1):
        ends[place] = 0
    return True


@inlined
def holds(words: Ints, first: int, last: int, code: Ints, at: int, stop: int, stack: Bytes, ends: Bytes) -> bool:
    """Evaluate the postfix text expression `code[at:stop]` on `words[first:last]`."""
    top = 0
    while at < stop:
        op = code[at]
        if op == FT_WORD:
            stack[top] = _has(words, first, last, code[at + 1])
            top += 1
            at += 2
        elif op == FT_PHRASE:
            length = code[at + 1]
            stack[top] = 0
            for place in range(first, last - length + 1):
                if _phrase_at(words, place, last, code, at + 2, length):
                    stack[top] = 1
                    break
            top += 1
            at += 2 + length
        elif op == FT_NEAR:
            stack[top] = _near(words, first, last, code, at + 3, code[at + 1], ends)
            top += 1
            at += code[at + 2]
        elif op == FT_NOT:
            stack[top - 1] = 1 - stack[top - 1]
            at += 1
        else:
            count = code[at + 1]
            held = 0
            for n in range(top - count, top):
                held += stack[n]
            top -= count
            stack[top] = held > 0 if op == FT_OR else held == count
            top += 1
            at += 2
    return stack[0] == 1
