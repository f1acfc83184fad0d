"""The plan of shards, from samples of subscriptions and of events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa

from tidings.index.atoms import Atom
from tidings.index.placing import Placing, planned
from tidings.index.routing import Filer, Under
from tidings.index.usage import FixedUsage, Usage
from tidings.lang.pattern import Query
from tidings.match.fast.router import Filed, Router
from tidings.match.fast.routes import route_bodies
from tidings.ontology import Ontology

SAMPLE = 20_000
"""So many subscriptions tell how the others are."""


def plan_shards(
    shards: int,
    sample: Sequence[Query],
    ontology: Ontology,
    bodies: Sequence[str] = (),
    total: int | None = None,
) -> Placing:
    """A plan from a sample of all `total` subscriptions, and of the bodies of events, where there are some."""
    universal = ontology.resource_classes
    counting = Usage()
    first = Filer(universal, counting)
    for query in sample:
        first.under(query)
    usage = FixedUsage(*counting.often())
    filer = Filer(universal, usage)
    filed = [filer.under(query) for query in sample]
    often = measured(ontology, filed, bodies) if bodies else usage.cost
    return planned(shards, filed, usage, often, total)


def measured(ontology: Ontology, filed: Iterable[Under], bodies: Sequence[str]) -> Callable[[Atom], float]:
    """How often these atoms hold of these events."""
    atoms = list(dict.fromkeys(atom for under in filed for atom in under or ()))
    router = Router.of(ontology, (Filed(number, (atom,), False) for number, atom in enumerate(atoms)))
    column = pa.array(bodies, pa.string())
    counts = Counter(route_bodies(router, 0, column, column).shards.tolist())
    # By Good and Turing: all those that were never seen are, together, as frequent as all those that were seen once.
    once = sum(count == 1 for count in counts.values())
    unseen = min(0.5, (once + 0.5) / max(1, len(atoms) - len(counts)))
    return {atom: (counts[number] or unseen) / len(bodies) for number, atom in enumerate(atoms)}.__getitem__
