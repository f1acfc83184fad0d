"""From the bytes of many events to the subscriptions that match each of them."""

from __future__ import annotations

import numpy as np

from tidings.index.arrays import Bytes, Ints, Longs
from tidings.index.folding import Folding
from tidings.index.kernels.event import (
    AHEAD,
    CANDIDATES,
    CHOSEN,
    DONE,
    EPOCH,
    FETCHED,
    HITS,
    LISTED,
    UNKNOWN,
    VISITED,
    OddTexts,
    Work,
    clear,
    has,
    may_have,
    spread,
)
from tidings.index.kernels.jit import inlined, kernel
from tidings.index.kernels.join import ASKED, NO, YES, decide
from tidings.index.kernels.lists import find_classes, make_lists
from tidings.index.kernels.scan import READ, forget, read_event
from tidings.index.layout import CLASSES, MORE, REFILED, SHARED, Filed, Index, Rules

# The places of `done`: events, bytes, answers; and what ended the call.
EVENTS, AT, ANSWERS, STATUS = 0, 1, 2, 3
# What ended a call: the end of the data, no more room for answers, or an event that wants another table or more room.
FINISHED, NO_ROOM = 0, 4


# Numbers in a line of memory, and the most of a rule's code that is fetched ahead.
_LINE, _MOST_FETCHED = 16, 256


@inlined
def _needed(rules: Rules, work: Work, rule: int) -> bool:
    for at in range(rules.needs_first[rule], rules.needs_first[rule + 1]):
        if not has(work.seen, rules.needs[at]):
            return False
    return True


@inlined
def _fetch_rows(filed: Filed, work: Work, first: int, last: int) -> None:
    """Have the rows of these hits close by. They are far away, but what nothing waits for comes at once."""
    came = np.int64(0)
    rows = filed.first.size - 1
    for hit in range(first, last):
        atom = work.hits[hit]
        work.code_at[hit - first] = filed.first[atom] if atom < rows else 0
        work.code_end[hit - first] = filed.first[atom + 1] if atom < rows else 0
    for n in range(last - first):
        at, end = work.code_at[n], work.code_end[n]
        if at < end:
            came ^= filed.rule[at]
        for place in range(at, min(end, at + _MOST_FETCHED), _LINE):
            came ^= filed.second[place]
    work.count[FETCHED] = came


@inlined
def _met(filed: Filed, work: Work) -> None:
    """The rules filed under the atoms that hold, as far as one look at a second atom tells."""
    count = work.count
    chosen = 0
    visited = 0
    rows = filed.first.size - 1
    for hit in range(count[HITS]):
        if hit % AHEAD == 0:
            _fetch_rows(filed, work, hit, min(hit + AHEAD, count[HITS]))
        atom = work.hits[hit]
        if atom < rows:
            at, last = work.code_at[hit % AHEAD], work.code_end[hit % AHEAD]
            visited += last - at
            # They are sorted: first those that need no second one.
            while at < last and filed.second[at] < 0:
                work.chosen[chosen] = filed.rule[at]
                chosen += 1
                at += 1
            while at < last:
                second = filed.second[at]
                if may_have(work.near, second) and has(work.seen, second):
                    work.chosen[chosen] = filed.rule[at]
                    chosen += 1
                at += 1
        link = filed.head[atom] if atom < filed.head.size else -1
        while link >= 0:
            visited += 1
            second = filed.chain_second[link]
            if second < 0 or has(work.seen, second):
                work.chosen[chosen] = filed.chain_rule[link]
                chosen += 1
            link = filed.next[link]
    count[VISITED] += visited
    count[CHOSEN] = chosen


@inlined
def _fetch_rules(rules: Rules, work: Work, first: int, last: int) -> None:
    """Have what is known of these rules close by, as `_fetch_rows` does."""
    unknown = work.count[UNKNOWN]
    came = np.int64(0)
    before = np.int64(-1)
    for n in range(first, last):
        rule = np.int64(work.chosen[n])
        # What is next to the one before comes with it.
        if rule != before + 1:
            came ^= rules.subscription[rule] ^ rules.alive[rule] ^ rules.how[rule]
        before = rule
    for n in range(first, last):
        rule = work.chosen[n]
        how = rules.how[rule]
        if how & MORE:
            came ^= rules.needs[rules.needs_first[rule]]
        work.code_at[n - first] = rules.code_at[rule] if how & unknown else -1
        if how & unknown:
            work.code_end[n - first] = rules.code_at[rule + 1] if rule + 1 < rules.code_at.size else 0
    for n in range(last - first):
        at = work.code_at[n]
        if at >= 0:
            for place in range(at, min(work.code_end[n], at + _MOST_FETCHED), _LINE):
                came ^= rules.code[place]
    work.count[FETCHED] = came


@inlined
def _decide_all(data: Bytes, index: Index, work: Work, event: int, out: Ints, n: int) -> int:
    """Note the answers: (event, subscription, YES or ASKED)."""
    rules, count = index.rules, work.count
    epoch, unknown = count[EPOCH], count[UNKNOWN]
    met = count[CHOSEN]
    candidates = 0
    for number in range(met + rules.always.size):
        if number % AHEAD == 0:
            _fetch_rules(rules, work, number, min(number + AHEAD, met))
        always = number >= met
        rule = rules.always[number - met] if always else work.chosen[number]
        if not rules.alive[rule]:
            continue
        how = rules.how[rule]
        if how == 0 and not always:
            # Its atom says it all, and it is met once: most of what there is to do, where many match.
            candidates += 1
            if 3 * n + 2 < out.size:
                out[3 * n] = event
                out[3 * n + 1] = rules.subscription[rule]
                out[3 * n + 2] = YES
            n += 1
            continue
        if how & REFILED:
            if work.rule_stamp[rule] == epoch:
                continue
            work.rule_stamp[rule] = epoch
        if (how & MORE or always) and not _needed(rules, work, rule):
            continue
        candidates += 1
        subscription = rules.subscription[rule]
        if how & SHARED and work.subscription_stamp[subscription] == epoch:
            continue
        answer = YES
        if how & unknown or always:
            if count[LISTED] != epoch:
                make_lists(index.names, work)
            answer = decide(data, index.names, rules, work, rule)
        if answer == NO:
            continue
        if how & SHARED and answer != ASKED:
            work.subscription_stamp[subscription] = epoch
        if 3 * n + 2 < out.size:
            out[3 * n] = event
            out[3 * n + 1] = subscription
            out[3 * n + 2] = answer
        n += 1
    count[CANDIDATES] += candidates
    return n


@kernel
def match_lines(
    data: Bytes,
    stops: Longs,
    trusted: bool,
    quads: bool,
    index: Index,
    folds: Folding,
    odd: OddTexts,
    work: Work,
    string: Bytes,
    done: Longs,
    out: Ints,
    begins: Longs,
) -> None:
    """Match one event after the other, from `done[AT]` on: of quads, up to `stops[0]`, an event being a graph; else an
    event ends at each of `stops`. `begins` gets where each event begins. Stops early where an event needs something.
    """
    while True:
        event, at, n = done[EVENTS], done[AT], done[ANSWERS]
        stop = stops[0] if quads else stops[min(event, stops.size - 1)]
        if (quads and at >= stop) or (not quads and event >= stops.size) or event >= begins.size:
            done[STATUS] = FINISHED
            return
        status, next, terms, size = read_event(
            data, at, stop, trusted, quads, index.names.terms, work.terms, work.triples, string
        )
        if status == READ:
            status = spread(data, index.names, folds, odd, index.atoms, work, terms, size)
            if status == DONE:
                if index.names.wanted[CLASSES]:
                    find_classes(data, index.names, index.atoms, work)
                _met(index.filed, work)
                n = _decide_all(data, index, work, event, out, n)
                if 3 * n > out.size:
                    status = NO_ROOM
            clear(work)
        forget(work.terms, terms)
        if status != DONE:
            done[STATUS] = status
            return
        begins[event] = at
        done[EVENTS] = event + 1
        done[AT] = next
        done[ANSWERS] = n
