"""Publish/subscribe that understands meaning.

>>> import tidings
>>> matcher = tidings.Matcher()
>>> matcher.add("cheap", "SELECT ?pc WHERE { ?pc <http://e.x/price> ?p FILTER(?p < 400) }")
>>> [match.subscription for match in matcher.match(b'<http://e.x/a> <http://e.x/price> 390 .', format="ttl")]
['cheap']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tidings.errors import (
    BrokerError,
    BudgetExceeded,
    CursorError,
    EvaluationError,
    EventError,
    OntologyError,
    ParameterError,
    ParseError,
    SnapshotError,
    SubscriptionError,
    TidingsError,
    UnsupportedError,
    UsageError,
)

if TYPE_CHECKING:
    from tidings.broker.broker import Broker
    from tidings.lang import parse, to_text
    from tidings.lang.templates import Template
    from tidings.match.base import Failure, Match
    from tidings.match.matcher import Matcher
    from tidings.ontology import Ontology
    from tidings.rdf.event import Event
    from tidings.rdf.read import read_events

__version__ = "0.1.0"

__all__ = [
    "Broker",
    "BrokerError",
    "BudgetExceeded",
    "CursorError",
    "EvaluationError",
    "Event",
    "EventError",
    "Failure",
    "Match",
    "Matcher",
    "Ontology",
    "OntologyError",
    "ParameterError",
    "ParseError",
    "SnapshotError",
    "SubscriptionError",
    "Template",
    "TidingsError",
    "UnsupportedError",
    "UsageError",
    "__version__",
    "parse",
    "read_events",
    "to_text",
]

_LAZY = {
    "Broker": "tidings.broker.broker",
    "Event": "tidings.rdf.event",
    "Failure": "tidings.match.base",
    "Match": "tidings.match.base",
    "Matcher": "tidings.match.matcher",
    "Ontology": "tidings.ontology",
    "Template": "tidings.lang.templates",
    "parse": "tidings.lang",
    "read_events": "tidings.rdf.read",
    "to_text": "tidings.lang",
}


def __getattr__(name: str) -> Any:
    """The heavy parts are loaded when they are first used."""
    if name not in _LAZY:
        raise AttributeError(f"module 'tidings' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value
