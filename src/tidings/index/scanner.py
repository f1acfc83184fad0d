"""Events against an index, in batches: the kernels' scratch arrays, and what they leave to others.

An event may need more room than there is, or the words of a text that the tables do not tell: then the kernel stops at
it, and goes on when that is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tidings.index.arrays import Ints, Longs
from tidings.index.folding import Folder
from tidings.index.kernels.dictionary import Dictionary
from tidings.index.kernels.event import AHEAD, EPOCH, NEAR, ODD_TEXT, TOO_MANY, OddTexts, Work
from tidings.index.kernels.join import MOST_INNER, MOST_PATTERNS, MOST_VARIABLES
from tidings.index.kernels.match import ANSWERS, AT, EVENTS, NO_ROOM, STATUS, match_lines
from tidings.index.kernels.scan import ODD, Terms, Triples
from tidings.index.kernels.words import LONGEST, Vocabulary
from tidings.index.layout import Index
from tidings.index.names import Entries, number_of
from tidings.lang.fulltext import words
from tidings.rdf.terms import XSD_STRING, Term, iri, is_literal, parse_triple, parts

PADDING = 64
"""The bytes that must follow the data, since kernels look ahead."""

_STACK = 1024
_LOOK_AHEAD = 4096
_LAST_EPOCH = 1 << 30
"""Scratch arrays that have seen so many events are made anew: their stamps must never come round again."""


@dataclass(frozen=True, slots=True)
class Found:
    """For each answer the number of its event, its subscription, and YES or ASKED; where each event begins; how far
    the data was read, and whether it ended at lines that are not canonical. The answers are there until the scanner
    runs again.
    """

    answers: Ints
    begins: Longs
    at: int
    odd: bool
    candidates: int
    visited: int


def padded(data: bytes) -> np.ndarray:
    return np.frombuffer(data + bytes(PADDING), np.uint8)


class Scanner:
    """What one thread works with. Not for two threads at once."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._string = padded(iri(XSD_STRING).encode())
        self._event_room = 256
        self._work: Work | None = None
        self._odd = _no_odd_texts()
        self._out = np.zeros(3 * 1024, np.int32)

    def run(self, data: np.ndarray, stops: Longs, index: Index, *, trusted: bool, quads: bool, start: int = 0) -> Found:
        """Match the events that end at `stops`; of quads, the graphs up to the one stop."""
        most = len(stops) if not quads else int(stops[0] - start) // 16 + 1
        begins = np.zeros(most, np.int64)
        done = np.zeros(8, np.int64)
        done[AT] = start
        work = self._fitting(index)
        counted = work.count.copy()
        while True:
            match_lines(
                data,
                stops,
                trusted,
                quads,
                index,
                self._folder.tables,
                self._odd,
                work,
                self._string,
                done,
                self._out,
                begins,
            )
            match done[STATUS]:
                case 0 | 1:
                    break
                case x if x == TOO_MANY:
                    self._event_room *= 2
                    self._work = None
                    work = self._fitting(index)
                case x if x == NO_ROOM:
                    self._out = np.concatenate([self._out, np.zeros_like(self._out)])
                case x if x == ODD_TEXT:
                    end = int(stops[0] if quads else stops[done[EVENTS]])
                    self._learn(data, int(done[AT]), end, quads, index.names.words)
        answers = self._out[: 3 * done[ANSWERS]].reshape(-1, 3)
        events = int(done[EVENTS])
        candidates, visited = (work.count[6:8] - counted[6:8]).tolist()
        return Found(answers, begins[:events], int(done[AT]), bool(done[STATUS] == ODD), candidates, visited)

    def _learn(self, data: np.ndarray, start: int, stop: int, quads: bool, known: Vocabulary) -> None:
        """Have the words of the texts of the event at `start` that are not plain."""
        literals: dict[Term, None] = {}
        for line in _event_lines(data, start, stop, quads):
            term = parse_triple(line)[2]
            if is_literal(term) and (len(term) > LONGEST or not term.isascii()):
                literals[term] = None
        before = self._folder.tables
        for literal in literals:
            self._folder.learn(parts(literal).lexical)
        if self._folder.tables is before:
            self._odd = _odd_texts(list(literals), known)

    def _fitting(self, index: Index) -> Work:
        """The scratch arrays, at least as long as the index needs them."""
        old = self._work
        sizes = (
            index.names.text.size,
            index.names.property.size,
            index.atoms.key.size,
            index.rules.subscription.size,
            index.filed.rule.size + index.filed.chain_rule.size,
        )
        if old is not None and (
            old.count[EPOCH] < _LAST_EPOCH
            and old.head.size >= sizes[0]
            and old.local.size >= sizes[1]
            and old.hits.size >= sizes[2]
            and old.rule_stamp.size >= sizes[3]
            and old.chosen.size >= sizes[4]
        ):
            return old
        self._work = _work(self._event_room, *sizes)
        return self._work


def _event_lines(data: np.ndarray, start: int, stop: int, quads: bool) -> Iterator[str]:
    """The triples of the event at `start`, as lines without their graph."""
    graph = None
    while start < stop:
        # An event is mostly short, and the data may be long.
        end = start
        while not (found := data[end : end + _LOOK_AHEAD].tobytes().find(b"\n")) >= 0:
            end += _LOOK_AHEAD
        end += found
        line = data[start:end].tobytes().decode()
        start = end + 1
        if quads:
            line, _, name = line[:-2].rpartition(" ")
            if name != (graph or name):
                return
            graph = name
            line += " ."
        yield line


def _odd_texts(literals: list[Term], known: Vocabulary) -> OddTexts:
    entries = Entries(0xFFFFFFFFFFFFFFFF)
    every = []
    first = [0]
    for literal in literals:
        entries.number(literal)
        every += [number_of(word, known) for word in words(parts(literal).lexical)]
        first.append(len(every))
    return OddTexts(entries.table(), np.array(first, np.int32), np.array(every, np.int32))


def _no_odd_texts() -> OddTexts:
    empty = Dictionary(
        np.zeros(2, np.uint64), np.zeros(1, np.int64), np.zeros(16, np.uint8), np.full(1, 0xFFFFFFFFFFFFFFFF, np.uint64)
    )
    return OddTexts(empty, np.zeros(1, np.int32), np.zeros(0, np.int32))


def _work(room: int, properties: int, terms: int, atoms: int, rules: int, filings: int) -> Work:
    def ints(size: int) -> Ints:
        return np.zeros(size, np.int32)

    slots = 4 * room
    event_terms = Terms(
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.uint8),
        ints(room),
        np.zeros(room, np.uint64),
        np.full(slots, -1, np.int32),
        ints(room),
    )
    spread = 4 * room
    texts = 32 * room
    return Work(
        terms=event_terms,
        triples=Triples(ints(room), ints(room), ints(room)),
        s=ints(spread),
        p=ints(spread),
        o=ints(spread),
        arc=np.zeros(spread, np.uint8),
        next=ints(spread),
        head=ints(properties),
        head_stamp=ints(properties),
        local=ints(terms),
        local_stamp=ints(terms),
        node=np.zeros(room, np.uint8),
        typed=ints(2 * room),
        words_first=ints(room),
        words_last=ints(room),
        words=ints(texts),
        keys=np.zeros(2 * texts, np.uint64),
        places=np.zeros(2 * texts, np.uint64),
        there=np.zeros(2 * texts, np.uint64),
        hits=ints(atoms),
        seen=np.zeros(atoms // 64 + 1, np.uint64),
        near=np.zeros(NEAR, np.uint64),
        chosen=ints(filings),
        rule_stamp=ints(rules),
        subscription_stamp=ints(rules),
        code_at=np.zeros(AHEAD, np.int64),
        code_end=np.zeros(AHEAD, np.int64),
        link=ints(4 * spread),
        list_head=ints(2 * room),
        list_size=ints(2 * room),
        type_head=ints(room),
        property_size=ints(properties),
        marks=np.zeros(2 * properties, np.uint64),
        class_bit=np.zeros(room, np.uint8),
        classes=np.zeros(room, np.uint64),
        taken=np.zeros(room, np.uint8),
        open=np.zeros(MOST_VARIABLES, np.uint64),
        bound=ints(MOST_VARIABLES),
        cursor=ints(MOST_PATTERNS + MOST_INNER),
        trail=ints(MOST_PATTERNS + MOST_INNER),
        place=ints(MOST_PATTERNS + MOST_INNER),
        list=ints(MOST_PATTERNS + MOST_INNER),
        text_stack=np.zeros(_STACK, np.uint8),
        ends=np.zeros(texts + 2, np.uint8),
        stack=np.zeros(_STACK, np.uint8),
        buffer=np.zeros(LONGEST + PADDING, np.uint8),
        count=ints(16),
    )
