"""What an event is called where its document gives it no name, and whether two events are the same."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b, sha256

from tidings.errors import EventError
from tidings.rdf.canonical import WorkLimit, canonical
from tidings.rdf.event import Event
from tidings.rdf.limits import DEFAULT_LIMITS
from tidings.rdf.terms import HOME, Term, Triple, parse_triple

PREFIX = "urn:tidings:sha256:"
_HOME = Term("<urn:tidings:home>")
_QUICK = 10_000


def event_id(triples: Iterable[Triple], max_steps: int = DEFAULT_LIMITS.max_canonical_steps) -> str:
    """The id of an event without a name; an `EventError` where finding it takes too long."""
    return id_of(Event.of("", triples).body, max_steps)


def id_of(
    body: str, max_steps: int = DEFAULT_LIMITS.max_canonical_steps, triples: Iterable[Triple] | None = None
) -> str:
    """The same, from the body of the event; where its triples are at hand too, they need not be parsed."""
    try:
        return PREFIX + sha256(_canonical(body, max_steps, triples).encode()).hexdigest()
    except WorkLimit:
        reason = "the event has no name, and its blank nodes are too much alike to make one from its content"
        raise EventError(reason, hint="give it a name: put its triples into a graph of their own") from None


def fingerprint(body: str) -> bytes:
    """Equal for the same triples, whatever the blank nodes are called.

    Where that is too much work to find out it is equal for the same labels alone.
    """
    try:
        text = _canonical(body, _QUICK)
    except WorkLimit:
        text = body
    return blake2b(text.encode(), digest_size=8).digest()


def _canonical(body: str, max_steps: int, triples: Iterable[Triple] | None = None) -> str:
    # One character is found many times as fast as two.
    if "_" not in body or "_:" not in body:
        return body
    if triples is None:
        triples = (parse_triple(line) for line in body.split("\n") if line)
    return canonical(((_HOME if s == HOME else s, p, _HOME if o == HOME else o) for s, p, o in triples), max_steps)
