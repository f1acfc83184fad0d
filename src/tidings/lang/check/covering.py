"""Which conjunctive subscriptions are covered by another one, without comparing all pairs.

A core requires features (a property, a class, a constant, a word) and what follows from a core provides some; a cover
requires nothing that the covered one does not provide. So each is filed under the rarest feature it requires, and a
core is compared only with those filed under what it provides. The work is bounded, for each core and in all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from tidings.lang.check.mapping import Core, Covering
from tidings.ontology import Ontology

MAX_CANDIDATES = 2_000
"""How many others one core is held against."""
MAX_PAIR_STEPS = 500
"""How many steps the search for one mapping may take."""
MAX_STEPS = 4_000_000
"""How many steps all searches may take together: about ten seconds."""


class Cover(NamedTuple):
    """`narrow` is covered by `broad`; `same` if the other way round, too."""

    narrow: Core
    broad: Core
    same: bool


class Coverings:
    """The search through a set of cores. `unfinished` counts those that could not be held against all others."""

    def __init__(self, cores: Sequence[Core], ontology: Ontology, *, max_steps: int = MAX_STEPS) -> None:
        self.unfinished = 0
        self._cores = cores
        self._max_steps = max_steps
        self._covering = Covering(ontology, MAX_PAIR_STEPS)
        self._filed: dict[Hashable, list[Core]] = {}
        counts = Counter(feature for core in cores for feature in core.required)
        # The broad ones first: one cover is enough, and theirs is the likeliest.
        for core in sorted(cores, key=lambda core: core.size):
            rarest = min(core.required, key=lambda f: (counts[f], str(f)), default=None)
            self._filed.setdefault(rarest, []).append(core)

    def __iter__(self) -> Iterator[Cover]:
        """One cover of each core that has one, in the order of the cores."""
        for core in self._cores:
            if self._covering.steps > self._max_steps:
                self.unfinished += 1
                continue
            cover = self._cover_of(core)
            if cover is not None:
                yield cover

    def _cover_of(self, core: Core) -> Cover | None:
        facts = self._covering.facts(core)
        provided = self._covering.provided(core, facts)
        seen = 0
        for broad in self._candidates(provided):
            seen += 1
            if seen > MAX_CANDIDATES:
                self.unfinished += 1
                return None
            if broad is core or not broad.required <= provided:
                continue
            if self._covering.covers(broad, core, facts):
                same = self._covering.covers(core, broad, self._covering.facts(broad))
                # Of two that cover each other, the later one is the one too many.
                if not same or broad.order < core.order:
                    return Cover(core, broad, same)
        return None

    def _candidates(self, provided: set[Hashable]) -> Iterator[Core]:
        for feature in (*provided, None):
            yield from self._filed.get(feature, ())
