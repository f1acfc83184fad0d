"""Words alone: one to three of them, drawn uniformly from the vocabulary of real abstracts, all in one literal of
whatever property. Events are whole entities of the music data set."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tidings.bench.workloads.fast.base import Forms, Workload, data, endless, numbered
from tidings.bench.workloads.rtf_paper import Corpus
from tidings.errors import EventError
from tidings.lang.fulltext import phrase, words
from tidings.lang.pattern import Block, FtAnd, FtContains, Projection, Query, TriplePattern, Var
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import read_events
from tidings.rdf.terms import RDF_TYPE, Term, iri, literal, parts

MOST_WORDS = 3

_NAMES = "http://stardog.com/tutorial/"
_DESCRIPTION = iri(f"{_NAMES}description")
_TRIPLE = TriplePattern(Var("s"), Var("p"), Var("text"))
_PROJECTION = (Projection(Var("s")),)


def workload(name: str, source: Corpus, count: int, events: int, *, seed: int) -> Workload:
    file = data() / "dbpedia-music" / "music.ttl.gz"
    entities = list(read_events([file], by="subject", report=_raise)) if file.exists() else _made_up(source)
    texts = (parts(o).lexical for event in entities for _, p, o in event.triples() if p == _DESCRIPTION)
    vocabulary = sorted({word for text in texts for word in words(text)})
    dice = random.Random(f"entities {seed}")
    some = dice.sample(entities, min(events, len(entities)))
    origin = "music abstracts" if file.exists() else "made-up abstracts"
    drawn = f"1 to {MOST_WORDS} words, uniformly from the {len(vocabulary):,} of {origin}; any property"

    def forms() -> Forms:
        return numbered(subscriptions(vocabulary, count, seed=seed))

    return Workload(name, drawn, count, tuple(some), forms, Ontology.empty())


def subscriptions(vocabulary: list[str], count: int, *, seed: int) -> Iterator[Query]:
    dice = random.Random(f"words {seed}")
    drawn = endless(dice, dict.fromkeys(vocabulary, 1.0))
    for _ in range(count):
        items = tuple(phrase(next(drawn)) for _ in range(1 + int(dice.random() * MOST_WORDS)))
        text = FtContains(Var("text"), items[0] if len(items) == 1 else FtAnd(items))
        yield Query("sparql", "SELECT", Block((_TRIPLE,), (), (text,)), _PROJECTION)


def _made_up(source: Corpus) -> list[Event]:
    """Entities with the texts of the corpus."""
    return [Event.of(f"{_NAMES}{n}", _entity(iri(f"{_NAMES}{n}"), n, text)) for n, text in enumerate(source.texts)]


def _entity(subject: Term, number: int, text: str) -> list[tuple[Term, Term, Term]]:
    return [
        (subject, RDF_TYPE, iri(f"{_NAMES}Song")),
        (subject, _DESCRIPTION, literal(text)),
        (subject, iri(f"{_NAMES}name"), literal(" ".join(text.split()[:3]))),
        (subject, iri(f"{_NAMES}writer"), iri(f"{_NAMES}writer{number % 500}")),
    ]


def _raise(error: EventError) -> None:
    raise error
