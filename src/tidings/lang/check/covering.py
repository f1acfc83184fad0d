"""Which conjunctive subscriptions are covered by another one, without comparing all pairs.

Each is filed under the two rarest features it requires, and compared only with those filed under features that it
provides itself. The work is bounded, for each one and in all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tidings.lang.check.features import Features
from tidings.lang.check.mapping import Core, Covering
from tidings.ontology import Ontology

MAX_SIZE = 100
"""How many triples and filters a core may have to be compared."""
MAX_CANDIDATES = 200
"""How many of those filed in one place a core is held against."""
MAX_PAIR_STEPS = 500
"""How many steps the search for one mapping may take."""
MAX_STEPS = 8_000_000
"""How many steps all searches may take together: about half a minute."""


class Cover(NamedTuple):
    """`narrow` is covered by `broad`; `same` if the other way round, too."""

    narrow: Core
    broad: Core
    same: bool


class Coverings:
    """The search through a set of cores. `unfinished` counts those that could not be held against all others."""

    def __init__(self, cores: Sequence[Core], ontology: Ontology, *, max_steps: int = MAX_STEPS) -> None:
        self._cores = [core for core in cores if core.size <= MAX_SIZE]
        self.unfinished = len(cores) - len(self._cores)
        self._max_steps = max_steps
        self._covering = Covering(ontology, MAX_PAIR_STEPS)
        self._features = Features(self._cores, ontology)
        self._filed: dict[int, dict[int, list[Core]]] = {}
        counts = Counter(feature for required in self._features.required.values() for feature in required)
        # The broad ones first: one cover is enough, and they are the likeliest.
        for core in sorted(self._cores, key=lambda core: core.size):
            rarest = sorted(self._features.required[core], key=lambda feature: (counts[feature], feature))
            first, second = [*rarest, _NONE, _NONE][:2]
            self._filed.setdefault(first, {}).setdefault(second, []).append(core)

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
        provided = self._features.provided(core, facts) | {_NONE}
        required = self._features.required
        cut = False
        candidates: list[Core] = []
        for filed in self._places(provided):
            cut = cut or len(filed) > MAX_CANDIDATES
            candidates += [broad for broad in filed[:MAX_CANDIDATES] if required[broad] <= provided]
        for broad in sorted(candidates, key=lambda broad: (broad.size, broad.order)):
            if broad is not core and self._covering.covers(broad, core, facts):
                same = self._covering.covers(core, broad, self._covering.facts(broad))
                # Of two that cover each other, the later one is the one too many.
                if not same or broad.order < core.order:
                    return Cover(core, broad, same)
        self.unfinished += cut
        return None

    def _places(self, provided: set[int]) -> Iterator[list[Core]]:
        for first in self._filed.keys() & provided:
            filed = self._filed[first]
            for second in filed.keys() & provided:
                yield filed[second]


_NONE = -1
"""Stands for the feature of a core that requires none, or only one."""
