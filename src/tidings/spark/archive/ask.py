"""One-time queries: the solutions of a subscription over the events of the archive, each by itself.

What the query names is looked up first, so that only events are read which may have a solution; the matcher decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from tidings.lang.pattern import Query
from tidings.match.fast import Fast
from tidings.match.fast.times import Times
from tidings.match.run import DEFAULT_BUDGET
from tidings.ontology import Ontology
from tidings.spark.archive.find import Finder
from tidings.spark.archive.wanted import cheapest, events_named
from tidings.spark.stage import matched
from tidings.spark.workers import Opened

THE_QUERY = "query"
_COLUMNS = ["event", "published", "accepted", "body", "source"]


def answers(
    finder: Finder, query: Query, ontology: Ontology, *, bindings: bool = True, budget: int = DEFAULT_BUDGET
) -> Iterator[pa.RecordBatch]:
    """What `schema.HITS` says, of one subscription."""
    engine = Fast(ontology, budget=budget)
    engine.add(THE_QUERY, query)
    events = (batch for table in candidates(finder, query, ontology) for batch in table.select(_COLUMNS).to_batches())
    yield from matched(Opened(engine, Times()), events, bindings=bindings)


def candidates(finder: Finder, query: Query, ontology: Ontology) -> Iterable[pa.Table]:
    """The events that have to be looked at."""
    named = events_named(query)
    if named is not None:
        return finder.by_id(named)
    wanted = cheapest(query, ontology, finder.cost)
    if wanted is None or finder.cost(wanted) > finder.cost_of_all():
        return finder.all_events()
    return finder.events(wanted)
