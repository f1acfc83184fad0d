"""Whether a rule holds of an event: a search for a solution, pattern by pattern, under a limit of steps."""

from __future__ import annotations

from tidings.index.arrays import Bytes, Ints
from tidings.index.kernels.event import EPOCH, SPREAD, SUBCLASSED, Work, datatype_of
from tidings.index.kernels.fulltext import holds
from tidings.index.kernels.jit import inlined
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
    OP_IS_A,
    OP_NOT,
    OP_NUMBER,
    OP_OR,
    OP_RESOURCE,
    OP_SAME,
    OP_TEXT,
    OP_VALUE,
    TRUE,
    TYPE,
    UNSURE,
    Names,
    Rules,
)

NO, YES, ASKED = 0, 1, 2
STEPS = 20_000
"""What a search may take before the rule is left to the verifier, which counts its own steps."""
MOST_VARIABLES = 30
MOST_PATTERNS = 30

_BOUND_S, _BOUND_O = 1, 2


@inlined
def _node(work: Work, node: int) -> int:
    """The term of the event that a node of the code is; -1 where there is none (yet)."""
    if node < 0:
        return work.bound[-1 - node]
    return work.local[node] if work.local_stamp[node] == work.count[EPOCH] else -1


@inlined
def _has_type(names: Names, work: Work, term: int, cls: int) -> bool:
    """Whether E* says that `term` is of the class `cls`."""
    epoch = work.count[EPOCH]
    property = names.property[TYPE]
    if property < 0 or work.head_stamp[property] != epoch or work.local_stamp[cls] != epoch:
        return False
    image = work.local[cls]
    at = work.head[property]
    while at >= 0:
        if work.s[at] == term and work.o[at] == image:
            return True
        at = work.next[at]
    return False


@inlined
def _has_class(data: Bytes, names: Names, work: Work, term: int, cls: int) -> bool:
    """Whether an OPS vertex has a class; that of a literal is its datatype."""
    if work.terms.kind[term] != LITERAL:
        return _has_type(names, work, term, cls)
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
    return TRUE if _has_type(names, work, term, cls) else FALSE


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
def value_of(data: Bytes, names: Names, rules: Rules, work: Work, at: int, stop: int) -> int:
    """The value of the postfix expression `code[at:stop]` under the present bindings."""
    code, stack = rules.code, work.stack
    top = 0
    while at < stop:
        op = code[at]
        value = UNSURE
        if op == OP_AND or op == OP_OR:
            count = code[at + 1]
            value = _combined(stack, top - count, top, FALSE if op == OP_AND else TRUE)
            top -= count
            at += 2
        elif op == OP_NOT:
            top -= 1
            value = stack[top]
            value = TRUE if value == FALSE else FALSE if value == TRUE else value
            at += 1
        elif op == OP_TEXT:
            term = _node(work, code[at + 1])
            end = at + code[at + 2]
            if term < 0:
                value = ERROR
            elif work.terms.kind[term] != LITERAL:
                value = FALSE
            elif work.words_first[term] >= 0:
                first, last = work.words_first[term], work.words_last[term]
                held = holds(work.words, first, last, code, at + 3, end, work.text_stack, work.ends)
                value = TRUE if held else FALSE
            at = end
        elif op == OP_CLASS:
            value = TRUE if _has_class(data, names, work, _node(work, code[at + 1]), code[at + 2]) else FALSE
            at += 3
        elif op == OP_RESOURCE:
            value = FALSE if work.terms.kind[_node(work, code[at + 1])] == LITERAL else TRUE
            at += 2
        elif op == OP_NUMBER or op == OP_VALUE:
            number = rules.numbers[code[at + 3]]
            term = _node(work, code[at + 1])
            if term >= 0:
                value = _number(data, names, work, term, code[at + 2], number, op == OP_VALUE)
            at += 4
        elif op == OP_SAME:
            term = _node(work, code[at + 1])
            if term >= 0:
                value = TRUE if work.terms.id[term] == code[at + 2] else FALSE
            at += 3
        elif op == OP_IS_A:
            value = _is_a(names, work, _node(work, code[at + 1]), code[at + 2], code[at + 3])
            at += 4
        else:
            at += 1
        stack[top] = value
        top += 1
    return stack[0]


@inlined
def _fresh(work: Work, code: Ints, at: int, variables: int, term: int) -> bool:
    """Whether no other vertex of an OPS subscription has this image. The constants are listed behind the head."""
    for n in range(variables):
        if work.bound[n] == term:
            return False
    id = work.terms.id[term]
    for n in range(code[at + 3]):
        if code[at + 4 + n] == id:
            return False
    return True


@inlined
def decide(data: Bytes, names: Names, rules: Rules, work: Work, rule: int) -> int:
    """NO, YES, or ASKED where the verifier must decide.

    The code of a rule: the number of variables, of patterns, the flags, the number of constants and these; then for
    each pattern its subject, property and object, how long its expressions are, and each of them, its length first.
    """
    code = rules.code
    head = rules.code_at[rule]
    variables, patterns, flags = code[head], code[head + 1], code[head + 2]
    if patterns == 0:
        return ASKED if flags & ASK else YES
    injective = flags & INJECTIVE != 0
    epoch = work.count[EPOCH]
    for n in range(variables):
        work.bound[n] = -1
    answer = NO
    steps = 0
    depth = 0
    doubts = 0  # bits: the patterns on the path whose expressions are not sure to hold
    work.place[0] = head + 4 + code[head + 3]
    work.cursor[0] = -2
    while depth >= 0:
        at = work.place[depth]
        s, p, o = code[at], code[at + 1], code[at + 2]
        cursor = work.cursor[depth]
        if cursor == -2:
            work.trail[depth] = 0
            if p >= 0:
                cursor = work.head[p] if work.head_stamp[p] == epoch else -1
            else:
                cursor = work.count[SPREAD] - 1
        else:
            if work.trail[depth] & _BOUND_S:
                work.bound[-1 - s] = -1
            if work.trail[depth] & _BOUND_O:
                work.bound[-1 - o] = -1
            work.trail[depth] = 0
            doubts &= ~(1 << depth)
            cursor = work.next[cursor] if p >= 0 else cursor - 1
        s_term, o_term = _node(work, s), _node(work, o)
        if (s >= 0 and s_term < 0) or (o >= 0 and o_term < 0):
            cursor = -1
        found = False
        while cursor >= 0:
            steps += 1
            if (
                (s_term < 0 or work.s[cursor] == s_term)
                and (o_term < 0 or work.o[cursor] == o_term)
                and (not injective or work.arc[cursor])
            ):
                trail = 0
                fits = True
                if s_term < 0:
                    if injective and not _fresh(work, code, head, variables, work.s[cursor]):
                        fits = False
                    else:
                        work.bound[-1 - s] = work.s[cursor]
                        trail = _BOUND_S
                if fits and o_term < 0:
                    if s == o:
                        fits = work.s[cursor] == work.o[cursor]
                    elif injective and not _fresh(work, code, head, variables, work.o[cursor]):
                        fits = False
                    else:
                        work.bound[-1 - o] = work.o[cursor]
                        trail |= _BOUND_O
                work.trail[depth] = trail
                expression = at + 4
                stop = expression + code[at + 3]
                while fits and expression < stop:
                    size = code[expression]
                    value = value_of(data, names, rules, work, expression + 1, expression + 1 + size)
                    if value == FALSE or value == ERROR:
                        fits = False
                    elif value == UNSURE:
                        doubts |= 1 << depth
                    expression += 1 + size
                if fits:
                    found = True
                    break
                if trail & _BOUND_S:
                    work.bound[-1 - s] = -1
                if trail & _BOUND_O:
                    work.bound[-1 - o] = -1
                work.trail[depth] = 0
                doubts &= ~(1 << depth)
            cursor = work.next[cursor] if p >= 0 else cursor - 1
        if steps > STEPS:
            return ASKED
        if not found:
            depth -= 1
            continue
        work.cursor[depth] = cursor
        if depth + 1 == patterns:
            if doubts == 0 and flags & ASK == 0:
                return YES
            answer = ASKED
            if flags & ASK:
                return ASKED
            continue
        depth += 1
        work.place[depth] = at + 4 + code[at + 3]
        work.cursor[depth] = -2
    return answer
