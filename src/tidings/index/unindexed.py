"""Which subscriptions no index helps with."""

from __future__ import annotations

from tidings.index.filing import filing
from tidings.index.rules import rules_of
from tidings.lang.pattern import Query
from tidings.rdf.terms import Term


def unindexed(query: Query, universal: frozenset[Term]) -> bool:
    """Whether nothing can be said about an event that matches, so that every event has to be tried."""
    return any(filing(rule.condition, lambda atom: 1.0).under is None for rule in rules_of(query, universal))
