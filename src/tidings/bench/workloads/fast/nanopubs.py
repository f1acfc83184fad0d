"""Nanopublications as they were published, month by month, and patterns with joins, sampled from their own terms.

A subscription is two to four triples of one nanopublication, each of which shares a node with one before it. The nodes
they share become variables: the joins. So do the names under that of the nanopublication, which no other will ever
have. Of the other terms one stays, which decides how much can match; the rest stay with even chances, unless they are
rarer. Properties stay.

The term that decides is **unique** in the stream, so that the pattern matches where it came from and nowhere else, or
**selective**: some nanopublications have it, but few. How many subscriptions have one of the latter is solved for: it
is what gives the number of matches an event that is wanted.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidings.bench.workloads.fast.base import Forms, Workload, data, numbered
from tidings.errors import EventError
from tidings.lang.pattern import Block, Query, TriplePattern, Var
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import read_events
from tidings.rdf.terms import RDF_TYPE, Term, Triple, iri, literal

SIZES = (2, 4)
UNIQUE = (1, 1)
SELECTIVE = (2, 50)
"""In so many nanopublications such a term occurs, at least and at most."""

_KEPT = 0.5
_TRIES = 10_000
_SAMPLE = 2_000
_MADE_UP = 2_000
_WP = "http://vocabularies.wikipathways.org/wp#"
_NP = "http://www.nanopub.org/nschema#"


def workload(
    name: str, stream: Sequence[Event], origin: str, count: int, matches: float, events: int, *, seed: int
) -> Workload:
    """Subscriptions from the whole stream, and some events of it."""
    sampler = _Sampler(stream)
    dice = random.Random(f"selective {seed}")
    occurs = sum(sampler.part(dice, SELECTIVE).occurs for _ in range(_SAMPLE)) / _SAMPLE
    share = min(1.0, max(0.0, (matches * len(stream) / count - 1) / (occurs - 1)))
    drawn = (
        f"{SIZES[0]} to {SIZES[1]} connected triples of one of {len(stream):,} ({origin}), variables where they join; "
        f"{share:.0%} with a term that {SELECTIVE[0]} to {SELECTIVE[1]} of them have, the others with a unique one"
    )
    some = random.Random(f"events {seed}").sample(list(stream), min(events, len(stream)))

    def forms() -> Forms:
        return numbered(sampler.subscriptions(count, share, seed))

    return Workload(name, drawn, count, tuple(some), forms, Ontology.empty())


def stream(months: int | None = None) -> tuple[list[Event], str]:
    """The nanopublications of all months that are there, or of the last few; made-up ones where there are none."""
    files = sorted((data() / "wikipathways-nanopubs").glob("*.trig.zst"))
    if not files:
        return made_up(_MADE_UP), "made up"
    return list(read_events(files[-months:] if months else files, by="nanopub", report=_raise)), "WikiPathways 2018"


@dataclass(frozen=True, slots=True)
class _Part:
    """Triples with what becomes a variable in them; `occurs` is in how many events its rarest term does."""

    triples: tuple[Triple, ...]
    variables: frozenset[Term]
    occurs: int


class _Sampler:
    def __init__(self, stream: Sequence[Event]) -> None:
        self._events = [(f"<{event.id}", event.triples()) for event in stream]
        self._occurs: Counter[Term] = Counter()
        for _, triples in self._events:
            self._occurs.update({node for s, _, o in triples for node in (s, o)})

    def subscriptions(self, count: int, selective: float, seed: int) -> Iterator[Query]:
        dice = random.Random(f"patterns {seed}")
        for _ in range(count):
            yield _query(self.part(dice, SELECTIVE if dice.random() < selective else UNIQUE))

    def part(self, dice: random.Random, wanted: tuple[int, int]) -> _Part:
        """A part of some nanopublication whose rarest term occurs in so many of them, at least and at most."""
        for _ in range(_TRIES):
            own, triples = dice.choice(self._events)
            start = dice.choice(triples)
            found = self._connected(triples, start, dice)
            times = Counter(node for s, _, o in found for node in {s, o})
            free = {n: self._occurs[n] for n, number in times.items() if number == 1 and not n.startswith(own)}
            deciding = [node for node, occurs in free.items() if wanted[0] <= occurs <= wanted[1]]
            if len(found) >= SIZES[0] and deciding:
                one = dice.choice(deciding)
                kept = {one, *(n for n, occurs in free.items() if occurs >= free[one] and dice.random() < _KEPT)}
                return _Part(found, frozenset(times.keys() - kept), free[one])
        raise ValueError(f"the stream has hardly any terms that {wanted[0]} to {wanted[1]} of its events have")

    def _connected(self, triples: Sequence[Triple], start: Triple, dice: random.Random) -> tuple[Triple, ...]:
        found, nodes = [start], {start[0], start[2]}
        for _ in range(dice.randint(*SIZES) - 1):
            near = [t for t in triples if t not in found and (t[0] in nodes or t[2] in nodes)]
            if not near:
                break
            found.append(dice.choice(near))
            nodes |= {found[-1][0], found[-1][2]}
        return tuple(found)


def _query(part: _Part) -> Query:
    names: dict[Term, Var] = {}
    for node in (node for s, _, o in part.triples for node in (s, o)):
        if node in part.variables:
            names.setdefault(node, Var(f"x{len(names)}"))
    patterns = (TriplePattern(names.get(s, s), p, names.get(o, o)) for s, p, o in part.triples)
    return Query("sparql", "SELECT", Block(tuple(patterns)))


# -------------------------------------------------------------------------------------------------------------- made up


def made_up(count: int, seed: int = 1) -> list[Event]:
    """What stands in for the stream: pathways with titles, interactions between two things, and their provenance."""
    dice = random.Random(seed)
    return [_nanopub(f"http://np.example/{n:06}", dice) for n in range(count)]


def _nanopub(id: str, dice: random.Random) -> Event:
    head, assertion, activity = iri(id), iri(f"{id}#assertion"), iri(f"{id}#activity")
    pathway = int(dice.paretovariate(1)) % 300
    interaction, source, target = iri(f"{id}/i"), *(iri(f"urn:thing:{int(dice.paretovariate(0.5))}") for _ in "st")
    triples: list[Triple] = [
        (head, RDF_TYPE, iri(f"{_NP}Nanopublication")),
        (head, iri(f"{_NP}hasAssertion"), assertion),
        (head, iri("http://www.w3.org/ns/prov#wasGeneratedBy"), activity),
        (head, iri("http://purl.org/dc/terms/created"), literal(f"2018-{dice.randint(4, 10):02}-10")),
        (activity, RDF_TYPE, iri("http://www.w3.org/ns/prov#Activity")),
        (assertion, iri("http://www.w3.org/ns/prov#wasDerivedFrom"), iri(f"urn:pathway:{pathway}")),
        (iri(f"urn:pathway:{pathway}"), iri("http://purl.org/dc/elements/1.1/title"), literal(f"Pathway {pathway}")),
        (interaction, RDF_TYPE, iri(f"{_WP}Interaction")),
        (interaction, iri(f"{_WP}organismName"), literal(dice.choice(("Homo sapiens", "Mus musculus", "Bos taurus")))),
        (interaction, iri(f"{_WP}source"), source),
        (interaction, iri(f"{_WP}target"), target),
        (source, RDF_TYPE, iri(f"{_WP}Metabolite")),
        (target, RDF_TYPE, iri(f"{_WP}{dice.choice(('Protein', 'GeneProduct', 'Metabolite'))}")),
    ]
    return Event.of(id, triples)


def _raise(error: EventError) -> None:
    raise error
