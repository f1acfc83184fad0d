"""From the bytes of many events to the subscriptions that match each of them."""

from __future__ import annotations

from tidings.index.arrays import Bytes, Ints, Longs
from tidings.index.folding import Folding
from tidings.index.kernels.event import (
    CANDIDATES,
    CHOSEN,
    DONE,
    EPOCH,
    HITS,
    VISITED,
    OddTexts,
    Work,
    clear,
    has,
    spread,
)
from tidings.index.kernels.jit import inlined, kernel
from tidings.index.kernels.join import ASKED, NO, decide
from tidings.index.kernels.scan import READ, forget, read_event
from tidings.index.layout import Index, Rules

# The places of `done`: events, bytes, answers; and what ended the call.
EVENTS, AT, ANSWERS, STATUS = 0, 1, 2, 3
# What ended a call: the end of the data, no more room for answers, or an event that wants another table or more room.
FINISHED, NO_ROOM = 0, 4


@inlined
def _needed(rules: Rules, work: Work, rule: int) -> bool:
    for at in range(rules.needs_first[rule], rules.needs_first[rule + 1]):
        if not has(work.seen, rules.needs[at]):
            return False
    return True


@inlined
def _choose(index: Index, work: Work) -> None:
    """The rules filed under the atoms that hold, all of whose other needs hold as well, each once."""
    filed, rules, count = index.filed, index.rules, work.count
    chosen = 0
    for hit in range(count[HITS]):
        atom = work.hits[hit]
        rows = atom + 1 < filed.first.size
        at = filed.first[atom] if rows else 0
        last = filed.first[atom + 1] if rows else 0
        link = filed.head[atom]
        count[VISITED] += last - at
        while at < last or link >= 0:
            if at < last:
                second, rule = filed.second[at], filed.rule[at]
                at += 1
            else:
                second, rule = filed.chain_second[link], filed.chain_rule[link]
                link = filed.next[link]
                count[VISITED] += 1
            if second >= 0 and not has(work.seen, second):
                continue
            if rules.alive[rule] and work.rule_stamp[rule] != count[EPOCH] and _needed(rules, work, rule):
                work.rule_stamp[rule] = count[EPOCH]
                work.chosen[chosen] = rule
                chosen += 1
    for at in range(rules.always.size):
        rule = rules.always[at]
        if rules.alive[rule]:
            work.chosen[chosen] = rule
            chosen += 1
    count[CHOSEN] = chosen
    count[CANDIDATES] += chosen


@inlined
def _decide_all(data: Bytes, index: Index, work: Work, event: int, out: Ints, n: int) -> int:
    """Note the answers: (event, subscription, YES or ASKED)."""
    epoch = work.count[EPOCH]
    for number in range(work.count[CHOSEN]):
        rule = work.chosen[number]
        subscription = index.rules.subscription[rule]
        if work.subscription_stamp[subscription] == epoch:
            continue
        answer = decide(data, index.names, index.rules, work, rule)
        if answer == NO:
            continue
        if answer != ASKED:
            work.subscription_stamp[subscription] = epoch
        if 3 * n + 2 < out.size:
            out[3 * n] = event
            out[3 * n + 1] = subscription
            out[3 * n + 2] = answer
        n += 1
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
                _choose(index, work)
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
