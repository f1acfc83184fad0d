"""Whether a rule holds of an event: a search for a solution, pattern by pattern, under a limit of steps."""

from __future__ import annotations

import numpy as np

from tidings.index.arrays import Bytes, Ints
from tidings.index.kernels.event import EPOCH, FAILED, STEPS, SUBCLASSED, Work, datatype_of
from tidings.index.kernels.fulltext import holds
from tidings.index.kernels.jit import inlined
from tidings.index.kernels.lists import first_of, has_type
from tidings.index.kernels.numbers import NOT_A_NUMBER, compared, parsed
from tidings.index.kernels.scan import LITERAL
from tidings.index.layout import (
    ASK,
    EQUAL,
    ERROR,
    FALSE,
    INJECTIVE,
    NOT_EQUAL,
    OP_AND,
    OP_CLASS,
    OP_EXISTS,
    OP_IS_A,
    OP_NOT,
    OP_NUMBER,
    OP_OR,
    OP_RESOURCE,
    OP_SAME,
    OP_TEXT,
    OP_VALUE,
    TRUE,
    UNSURE,
    Names,
    Rules,
)

NO, YES, ASKED = 0, 1, 2
MOST_STEPS = 20_000
"""What a search may take before the rule is left to the verifier, which counts its own steps."""
MOST_VARIABLES = 30
MOST_PATTERNS = 30
MOST_INNER = 8

_BOUND_S, _BOUND_O = 1, 2
# Where so many searches of an event were in vain, others are likely to be, and a look before each of them pays.
_MANY = 16
# An index that is not below 0, and need not be looked at for that.
_u = np.uint64
_EVERY, _NONE = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0)


@inlined
def _node(work: Work, node: int) -> int:
    """The term of the event that a node of the code is; -1 where there is none (yet)."""
    if node < 0:
        return work.bound[_u(-1 - node)]
    return work.local[_u(node)] if work.local_stamp[_u(node)] == work.count[EPOCH] else -1


@inlined
def _has_class(data: Bytes, names: Names, work: Work, term: int, cls: int) -> bool:
    """Whether an OPS vertex has a class; that of a literal is its datatype."""
    if work.terms.kind[term] != LITERAL:
        return has_type(work, term, cls)
    for at in range(names.literal.size):
        if names.literal[at] == cls:
            return True
    datatype = datatype_of(data, names, work.terms, term)
    if 0 <= datatype < names.data_first.size - 1:
        for at in range(names.data_first[datatype], names.data_first[datatype + 1]):
            if names.data_up[at] == cls:
                return True
    return datatype == cls


@inlined
def _is_above(names: Names, term: int, cls: int) -> bool:
    """Whether the ontology has `cls` above `term`, both terms of the dictionary."""
    if term == cls:
        return True
    if term < names.class_first.size - 1:
        for at in range(names.class_first[term], names.class_first[term + 1]):
            if names.class_up[at] == cls:
                return True
    return False


@inlined
def _is_a(names: Names, work: Work, term: int, cls: int, strictly: int) -> int:
    """G-ToPSS's `<=` and `<` against a class."""
    if work.terms.kind[term] == LITERAL:
        return FALSE
    if work.count[SUBCLASSED]:
        return UNSURE
    id = work.terms.id[term]
    if id >= 0 and _is_above(names, id, cls):
        return FALSE if strictly and _is_above(names, cls, id) else TRUE
    return TRUE if has_type(work, term, cls) else FALSE


@inlined
def _number(data: Bytes, names: Names, work: Work, term: int, comparison: int, other: float, plain: bool) -> int:
    """A comparison with a number: SPARQL's, or (`plain`) that of G-ToPSS."""
    if work.terms.kind[term] != LITERAL:
        if plain:
            return FALSE
        return UNSURE if comparison in (EQUAL, NOT_EQUAL) else ERROR
    datatype = datatype_of(data, names, work.terms, term)
    kind = names.number[datatype] if datatype >= 0 else NOT_A_NUMBER
    if kind == NOT_A_NUMBER or work.terms.start[term] < 0:
        return UNSURE
    sure, value = parsed(data, work.terms.start[term] + 1, work.terms.text_end[term], kind)
    return compared(value, comparison, other) if sure else UNSURE


@inlined
def _combined(stack: Bytes, first: int, last: int, decisive: int) -> int:
    """SPARQL's `&&` (one FALSE decides) and `||` (one TRUE decides); what is not sure outweighs an error."""
    found = TRUE if decisive == FALSE else FALSE
    for n in range(first, last):
        value = stack[n]
        if value == decisive:
            return decisive
        if value == UNSURE or found == UNSURE:
            found = UNSURE
        elif value == ERROR:
            found = ERROR
    return found


@inlined
def _fits(work: Work, t: int, s: int, p: int, o: int, s_term: int, o_term: int) -> bool:
    """Whether a triple of the event fits a pattern whose ends are these terms so far."""
    # No branches: which of these fails cannot be foretold.
    found_s, found_o = work.s[_u(t)], work.o[_u(t)]
    return (
        ((s_term < 0) | (found_s == s_term))
        & ((o_term < 0) | (found_o == o_term))
        & ((p < 0) | (work.p[_u(t)] == p))
        & ((s != o) | (found_s == found_o))
    )


@inlined
def _bind(work: Work, frame: int, t: int, s: int, o: int, s_term: int, o_term: int) -> None:
    """Give the free ends of a pattern the terms of a triple; the frame notes which these are."""
    trail = 0
    if s_term < 0:
        work.bound[_u(-1 - s)] = work.s[_u(t)]
        work.taken[_u(work.s[_u(t)])] = 1
        trail = _BOUND_S
    if o_term < 0 and o != s:
        work.bound[_u(-1 - o)] = work.o[_u(t)]
        work.taken[_u(work.o[_u(t)])] = 1
        trail |= _BOUND_O
    work.trail[_u(frame)] = trail


@inlined
def _unbind(work: Work, frame: int, s: int, o: int) -> None:
    if work.trail[_u(frame)] & _BOUND_S:
        work.taken[_u(work.bound[-1 - s])] = 0
        work.bound[_u(-1 - s)] = -1
    if work.trail[_u(frame)] & _BOUND_O:
        work.taken[_u(work.bound[-1 - o])] = 0
        work.bound[_u(-1 - o)] = -1
    work.trail[_u(frame)] = 0


@inlined
def _exists(work: Work, code: Ints, at: int, patterns: int) -> int:
    """Whether the patterns from `at` on have a solution with the present bindings, which stay as they are."""
    count, link = work.count, work.link
    value = FALSE
    depth, entering = 0, True
    while depth >= 0:
        frame, place = MOST_PATTERNS + depth, at + 3 * depth
        s, p, o = code[_u(place)], code[_u(place + 1)], code[_u(place + 2)]
        t, list = -1, 0
        if not entering:
            _unbind(work, frame, s, o)
            list = work.list[_u(frame)]
            t = link[_u(list + work.cursor[_u(frame)])]
        s_term, o_term = _node(work, s), _node(work, o)
        if entering and (s < 0 or s_term >= 0) and (o < 0 or o_term >= 0):
            t, list = first_of(work, s_term, p, o_term)
        while value == FALSE and t >= 0 and not _fits(work, t, s, p, o, s_term, o_term):
            t = link[_u(list + t)]
            count[STEPS] += 1
        count[STEPS] += 1
        if t >= 0 and value == FALSE and count[STEPS] > MOST_STEPS:
            value = UNSURE
        if t >= 0 and value == FALSE and depth + 1 == patterns:
            value = TRUE
        # Once the value is known, only the way back is left, which frees what was bound.
        entering = t >= 0 and value == FALSE
        if entering:
            _bind(work, frame, t, s, o, s_term, o_term)
            work.list[_u(frame)] = list
            work.cursor[_u(frame)] = t
        depth += 1 if entering else -1
    return value


@inlined
def value_of(data: Bytes, names: Names, rules: Rules, work: Work, at: int, stop: int) -> int:
    """The value of the postfix expression `code[at:stop]` under the present bindings."""
    code, stack = rules.code, work.stack
    top = 0
    while at < stop:
        op = code[_u(at)]
        value = UNSURE
        if op == OP_CLASS:
            value = TRUE if _has_class(data, names, work, _node(work, code[_u(at + 1)]), code[_u(at + 2)]) else FALSE
            at += 3
        elif op == OP_AND or op == OP_OR:
            count = code[_u(at + 1)]
            value = _combined(stack, top - count, top, FALSE if op == OP_AND else TRUE)
            top -= count
            at += 2
        elif op == OP_NOT:
            top -= 1
            value = stack[top]
            value = TRUE if value == FALSE else FALSE if value == TRUE else value
            at += 1
        elif op == OP_TEXT:
            term = _node(work, code[_u(at + 1)])
            end = at + code[_u(at + 2)]
            if term < 0:
                value = ERROR
            elif work.terms.kind[term] != LITERAL:
                value = FALSE
            elif work.words_first[term] >= 0:
                first, last = work.words_first[term], work.words_last[term]
                held = holds(work.words, first, last, code, at + 3, end, work.text_stack, work.ends)
                value = TRUE if held else FALSE
            at = end
        elif op == OP_RESOURCE:
            value = FALSE if work.terms.kind[_node(work, code[_u(at + 1)])] == LITERAL else TRUE
            at += 2
        elif op == OP_NUMBER or op == OP_VALUE:
            number = rules.numbers[code[_u(at + 3)]]
            term = _node(work, code[_u(at + 1)])
            if term >= 0:
                value = _number(data, names, work, term, code[_u(at + 2)], number, op == OP_VALUE)
            at += 4
        elif op == OP_SAME:
            term = _node(work, code[_u(at + 1)])
            if term >= 0:
                value = TRUE if work.terms.id[term] == code[_u(at + 2)] else FALSE
            at += 3
        elif op == OP_IS_A:
            value = _is_a(names, work, _node(work, code[_u(at + 1)]), code[_u(at + 2)], code[_u(at + 3)])
            at += 4
        elif op == OP_EXISTS:
            value = _exists(work, code, at + 2, code[_u(at + 1)])
            at += 2 + 3 * code[_u(at + 1)]
        else:
            at += 1
        stack[top] = value
        top += 1
    return stack[0]


@inlined
def _holding(data: Bytes, names: Names, rules: Rules, work: Work, at: int) -> int:
    """What the expressions of the pattern at `at` come to: FALSE where one is not true, UNSURE where one may not be."""
    found = TRUE
    expression = at + 4
    stop = expression + rules.code[_u(at + 3)]
    while expression < stop and found != FALSE:
        size = rules.code[_u(expression)]
        if size == 3 and rules.code[_u(expression + 1)] == OP_CLASS:
            term = _node(work, rules.code[_u(expression + 2)])
            value = TRUE if _has_class(data, names, work, term, rules.code[_u(expression + 3)]) else FALSE
        else:
            value = value_of(data, names, rules, work, expression + 1, expression + 1 + size)
        if value == FALSE or value == ERROR:
            found = FALSE
        elif value == UNSURE:
            found = UNSURE
        expression += 1 + size
    return found


@inlined
def _may_join(work: Work, code: Ints, head: int) -> bool:
    """Whether each variable may be a term that fits all patterns around it, as far as 64 bits tell."""
    for n in range(code[_u(head)]):
        work.open[n] = _EVERY
    at = head + 4 + code[_u(head + 3)]
    for _ in range(code[_u(head + 1)]):
        s, p, o = code[_u(at)], code[_u(at + 1)], code[_u(at + 2)]
        if p >= 0:
            if work.head_stamp[p] != work.count[EPOCH]:
                return False
            if s < 0:
                work.open[-1 - s] &= work.marks[2 * p]
                if work.open[-1 - s] == _NONE:
                    return False
            if o < 0:
                work.open[-1 - o] &= work.marks[2 * p + 1]
                if work.open[-1 - o] == _NONE:
                    return False
        at += 4 + code[_u(at + 3)]
    return True


@inlined
def _search(data: Bytes, names: Names, rules: Rules, work: Work, head: int) -> int:
    """NO, YES or ASKED, by the code at `head`."""
    code, link, count = rules.code, work.link, work.count
    patterns, flags = code[_u(head + 1)], code[_u(head + 2)]
    injective = flags & INJECTIVE != 0
    answer = NO
    doubts = 0  # bits: the patterns on the path whose expressions are not sure to hold
    steps = 0
    depth, entering = 0, True
    work.place[_u(0)] = head + 4 + code[_u(head + 3)]
    while depth >= 0:
        at = work.place[_u(depth)]
        s, p, o = code[_u(at)], code[_u(at + 1)], code[_u(at + 2)]
        t, list = -1, 0
        if not entering:
            _unbind(work, depth, s, o)
            doubts &= ~(1 << depth)
            list = work.list[_u(depth)]
            t = link[_u(list + work.cursor[_u(depth)])]
        s_term, o_term = _node(work, s), _node(work, o)
        if entering and (s < 0 or s_term >= 0) and (o < 0 or o_term >= 0):
            t, list = first_of(work, s_term, p, o_term)
        entering = False
        while t >= 0:
            steps += 1
            fits = _fits(work, t, s, p, o, s_term, o_term)
            if fits and injective:
                # An end that is free must not be taken, and two free ends not be one.
                found_s, found_o = work.s[_u(t)], work.o[_u(t)]
                fits = (
                    (work.arc[_u(t)] != 0)
                    & ((s_term >= 0) | (work.taken[_u(found_s)] == 0))
                    & ((o_term >= 0) | (work.taken[_u(found_o)] == 0))
                    & ((s == o) | (s_term >= 0) | (o_term >= 0) | (found_s != found_o))
                )
            if fits:
                _bind(work, depth, t, s, o, s_term, o_term)
                holding = _holding(data, names, rules, work, at)
                if holding != FALSE:
                    if holding == UNSURE:
                        doubts |= 1 << depth
                    entering = True
                    break
                _unbind(work, depth, s, o)
            t = link[_u(list + t)]
        if steps + count[STEPS] > MOST_STEPS:
            return ASKED
        if not entering:
            depth -= 1
            continue
        work.list[_u(depth)] = list
        work.cursor[_u(depth)] = t
        if depth + 1 < patterns:
            depth += 1
            work.place[_u(depth)] = at + 4 + code[_u(at + 3)]
        elif flags & ASK:
            return ASKED
        elif doubts == 0:
            return YES
        else:
            answer = ASKED
            entering = False
    return answer


@inlined
def decide(data: Bytes, names: Names, rules: Rules, work: Work, rule: int) -> int:
    """NO, YES, or ASKED where the verifier must decide.

    The code of a rule: the number of variables, of patterns, the flags, the number of constants and these; then for
    each pattern its subject, property and object, how long its expressions are, and each of them, its length first.
    """
    code = rules.code
    head = rules.code_at[rule]
    if code[head + 1] == 0:
        return ASKED if code[head + 2] & ASK else YES
    if work.count[FAILED] > _MANY and not _may_join(work, code, head):
        return NO
    work.count[STEPS] = 0
    for n in range(code[head]):
        work.bound[n] = -1
    for n in range(code[head + 3]):
        term = _node(work, code[head + 4 + n])
        if term >= 0:
            work.taken[term] = 1
    answer = _search(data, names, rules, work, head)
    if answer == NO:
        work.count[FAILED] += 1
    for n in range(code[head + 3]):
        term = _node(work, code[head + 4 + n])
        if term >= 0:
            work.taken[term] = 0
    for n in range(code[head]):
        if work.bound[n] >= 0:
            work.taken[work.bound[n]] = 0
    return answer
