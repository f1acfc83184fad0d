"""Which shard a subscription lives in: planned once, from a sample, and the same for whoever asks.

A subscription goes where its *home* is, the most common of the atoms it is filed under: so those that the same events
concern are together, and an event is sent to few shards. The load of an atom is how many subscriptions are at home
there, times how often events have it. Homes of much load are placed one by one, on the shard that has least; one that
would be too much for a shard is spread over several, where the id of a subscription decides. All other homes are where
a hash says. What has to be tried on every event goes by its id, to as few shards as will do: these get every event.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil

from tidings.errors import UsageError
from tidings.index.atoms import Atom, Kind
from tidings.index.routing import Under
from tidings.index.usage import FixedUsage

MOST_SHARDS = 1024
_LIGHT = 100
"""A home with less than a hundredth of a shard's load goes by its hash."""

_PIECES = 2
"""No piece of what is spread is more than half of a shard's share."""

_FEWEST = 10
"""A piece is of so many subscriptions at least: for fewer, sending an event there costs more than it saves."""

_OF_LOAD = 0.75
"""What counts is the load, and for the rest the mere number, which is what takes memory."""


@dataclass(frozen=True, slots=True)
class Placing:
    """`heavy` has the shards of homes of much load, `always` those of what has to be tried on every event."""

    shards: int
    usage: FixedUsage
    heavy: Mapping[Atom, tuple[int, ...]]
    always: tuple[int, ...]

    def shard(self, id: str, under: Under) -> int:
        """Where the subscription of this id lives, which is filed so."""
        if under is None:
            return self.always[_hash(id) % len(self.always)]
        if not under:
            # It never matches.
            return _hash(id) % self.shards
        home = self.home(under)
        several = self.heavy.get(home)
        if several is None:
            return _hash(f"{home.kind:d} {home.first} {home.second}") % self.shards
        return several[_hash(id) % len(several)]

    def home(self, under: Sequence[Atom]) -> Atom:
        return _home(under, self.usage)

    def to_bytes(self) -> bytes:
        subscriptions, asked = self.usage.often()
        heavy = [[atom.kind, atom.first, atom.second, list(shards)] for atom, shards in self.heavy.items()]
        fields = {
            "shards": self.shards,
            "always": list(self.always),
            "counted": subscriptions,
            "asked": asked,
            "heavy": heavy,
        }
        return json.dumps(fields, ensure_ascii=False).encode()

    @staticmethod
    def of_bytes(data: bytes) -> Placing:
        fields = json.loads(data)
        heavy = {Atom(Kind(kind), first, second): tuple(shards) for kind, first, second, shards in fields["heavy"]}
        usage = FixedUsage(fields["counted"], fields["asked"])
        return Placing(fields["shards"], usage, heavy, tuple(fields["always"]))


def checked_shards(shards: int) -> int:
    if not 1 <= shards <= MOST_SHARDS:
        raise UsageError(f"shards {shards}? It is a number from 1 to {MOST_SHARDS:,}")
    return shards


def planned(
    shards: int, sample: Iterable[Under], usage: FixedUsage, often: Callable[[Atom], float], total: int | None = None
) -> Placing:
    """From a sample of what subscriptions are filed under, how often an atom holds, and how many they all are."""
    load: defaultdict[Atom, float] = defaultdict(float)
    count: Counter[Atom] = Counter()
    size = always = 0
    for under in sample:
        size += 1
        if under is None:
            always += 1
        elif under:
            home = _home(under, usage)
            count[home] += 1
            load[home] += sum(min(1.0, often(atom)) for atom in under)
    scale = (total or size) / max(1, size)
    loads = max(always + sum(load.values()), 1e-9)

    def weight(load: float, count: int) -> float:
        return _OF_LOAD * load / loads + (1 - _OF_LOAD) * count / max(1, size)

    def pieces(wanted: float, count: int) -> int:
        return max(1, min(shards, ceil(wanted), ceil(count * scale / _FEWEST)))

    share = [0.0] * shards
    weight_of_all = weight(always, always)
    several = tuple(range(pieces(shards * weight_of_all, always)))
    for shard in several:
        share[shard] += weight_of_all / len(several)
    weights = {home: weight(load[home], count[home]) for home in count}
    heavy: dict[Atom, tuple[int, ...]] = {}
    for home in sorted(weights, key=lambda home: (-weights[home], home.kind, home.first, home.second)):
        if weights[home] * shards * _LIGHT < 1:
            break
        number = pieces(_PIECES * shards * weights[home], count[home])
        chosen = sorted(range(shards), key=lambda shard: (share[shard], shard))[:number]
        for shard in chosen:
            share[shard] += weights[home] / number
        heavy[home] = tuple(chosen)
    return Placing(shards, usage, heavy, several)


def _home(under: Sequence[Atom], usage: FixedUsage) -> Atom:
    """It does not depend on the order."""
    if len(under) == 1:
        return under[0]
    return max(under, key=lambda atom: (usage.cost(atom), atom.kind, atom.first, atom.second))


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
