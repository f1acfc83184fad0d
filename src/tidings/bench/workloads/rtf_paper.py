"""The experiments of the RTF paper (section 4): continuous queries, and the publications they are filtered against.

As the paper has it: 529 classes and 2,333 properties, those of DBpedia's ontology in 2013; at most 4 tuples a query, at
most 3 words a text, each drawn from the multiset of the words of the corpus, all of them wanted; the share FT of the
queries has texts, and those have one wherever one can be; publications of real text.

The paper leaves out how tuples are chosen, and how much matches. Here a query asks for a class and for 1 to 3
properties that things of that class can have, and a publication has its classes, all those above them, 4 to 10 such
properties, and a piece of one abstract as the value of each. Properties are chosen by Zipf's law, as some are on every
page and most on hardly any: so that a handful of queries match, and some of them by their text.

Without the public data sets a tree of classes, properties and Zipf text of the same sizes are made up.
"""

from __future__ import annotations

import gzip
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import pyoxigraph as ox

from tidings.bench.workloads.rtf import CLASSES, PROPERTIES, generated
from tidings.lang.fulltext import words
from tidings.rdf.event import Event
from tidings.rdf.terms import RDF_TYPE, Triple, iri, literal

TUPLES = 4
TERMS = 3
MEAN_WORDS = 53

_DBO = "http://dbpedia.org/ontology/"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_DESCRIPTION = "http://stardog.com/tutorial/description"
_PROPERTY_KINDS = (f"{_OWL}ObjectProperty", f"{_OWL}DatatypeProperty")
_PROPERTIES_OF_A_PUBLICATION = (4, 10)
_TEXTS = 2_000


@dataclass(frozen=True, slots=True)
class Choice:
    """What is drawn from, with how often all up to each one are drawn."""

    items: tuple[str, ...]
    cumulative: tuple[float, ...]

    @staticmethod
    def of(weights: Mapping[str, float]) -> Choice:
        return Choice(tuple(weights), tuple(accumulate(weights.values())))

    @staticmethod
    def zipf(items: Iterable[str]) -> Choice:
        return Choice.of({item: 1 / rank for rank, item in enumerate(items, 1)})

    def draw(self, dice: random.Random) -> str:
        return dice.choices(self.items, cum_weights=self.cumulative)[0]

    def some(self, dice: random.Random, count: int) -> list[str]:
        """So many different ones, or all."""
        found: dict[str, None] = {}
        while len(found) < min(count, len(self.items)):
            found[self.draw(dice)] = None
        return list(found)


@dataclass(frozen=True, slots=True)
class Corpus:
    """`above` leads from a class to itself and those above it, `properties` to those that its things can have."""

    origin: str
    above: Mapping[str, tuple[str, ...]]
    properties: Mapping[str, Choice]
    words: Choice
    texts: tuple[str, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.above)


# --------------------------------------------------------------------------------------------------------------- corpus


def corpus() -> Corpus:
    """DBpedia's, where the folder `TIDINGS_DATA`, or else `../shared/data`, has it; elsewhere a made-up one."""
    data = Path(os.environ.get("TIDINGS_DATA") or "../shared/data")
    ontology = data / "dbpedia-ontology" / "dbpedia-ontology-2013-07-02.core.nt.gz"
    abstracts = data / "dbpedia-music" / "music.ttl.gz"
    return real(ontology, abstracts) if ontology.exists() and abstracts.exists() else made_up()


def real(ontology: Path, abstracts: Path) -> Corpus:
    classes, properties = set(), set()
    parents: defaultdict[str, set[str]] = defaultdict(set)
    domains: dict[str, str] = {}
    for s, p, o in _statements(ontology, ox.RdfFormat.N_TRIPLES):
        if not s.startswith(_DBO):
            continue
        if p == f"{_RDFS}subClassOf" and o.startswith(_DBO):
            parents[s].add(o)
        elif p == f"{_RDFS}domain":
            domains[s] = o
        elif o == f"{_OWL}Class":
            classes.add(s)
        elif o in _PROPERTY_KINDS:
            properties.add(s)
    texts = tuple(o for _, p, o in _statements(abstracts, ox.RdfFormat.TURTLE) if p == _DESCRIPTION)
    above = {cls: _upwards(cls, parents) for cls in sorted(classes)}
    counts = Counter(word for text in texts for word in words(text))
    return _corpus("DBpedia's ontology of 2013, music abstracts", above, sorted(properties), domains, counts, texts)


def made_up(seed: int = 1) -> Corpus:
    """A tree of classes four wide, of which the upper ones have most of the properties."""
    dice = random.Random(seed)
    classes = [f"{_DBO}Class{n}" for n in range(CLASSES)]
    parents = {cls: {classes[(n - 1) // 4]} if n else set() for n, cls in enumerate(classes)}
    properties = [f"{_DBO}property{n}" for n in range(PROPERTIES)]
    domains = {property: dice.choice(classes[: CLASSES // 2]) for n, property in enumerate(properties) if n % 7}
    names = generated(seed)
    lengths = [max(10, round(dice.expovariate(1 / MEAN_WORDS))) for _ in range(_TEXTS)]
    texts = tuple(" ".join(dice.choices(names.words, cum_weights=names.cumulative, k=length)) for length in lengths)
    counts = Counter(word for text in texts for word in text.split())
    above = {cls: _upwards(cls, parents) for cls in classes}
    return _corpus("made-up names, Zipf text", above, properties, domains, counts, texts)


def _statements(file: Path, form: ox.RdfFormat) -> Iterator[tuple[str, str, str]]:
    for quad in ox.parse(gzip.decompress(file.read_bytes()), format=form):
        yield getattr(quad.subject, "value", ""), quad.predicate.value, getattr(quad.object, "value", "")


def _upwards(cls: str, parents: Mapping[str, set[str]]) -> tuple[str, ...]:
    found = {cls: None}
    todo = [cls]
    while todo:
        new = [parent for parent in sorted(parents.get(todo.pop(), ())) if parent not in found]
        found.update(dict.fromkeys(new))
        todo += new
    return tuple(found)


def _corpus(
    origin: str,
    above: Mapping[str, tuple[str, ...]],
    properties: list[str],
    domains: Mapping[str, str],
    counts: Mapping[str, int],
    texts: tuple[str, ...],
) -> Corpus:
    """Which properties are the frequent ones is left to chance, the same chance always.

    A property without a domain, or with one that is none of the classes, is everybody's.
    """
    random.Random(1).shuffle(properties)
    inside = {property: domain for property, domain in domains.items() if domain in above}
    applicable = {
        cls: Choice.zipf(property for property in properties if inside.get(property, cls) in uppers)
        for cls, uppers in above.items()
    }
    return Corpus(origin, above, applicable, Choice.of(dict(counts)), texts)


# -------------------------------------------------------------------------------------------- queries and publications


def queries(count: int, *, seed: int, ft: float, source: Corpus) -> Iterator[str]:
    """`count` continuous queries, of which the share `ft` has texts."""
    dice = random.Random(f"queries {seed}")
    classes = source.classes
    for _ in range(count):
        cls = dice.choice(classes)
        asked = source.properties[cls].some(dice, dice.randint(1, TUPLES - 1))
        lines = [f"  ?publication a <{cls}> ."]
        lines += [f"  ?publication <{property}> ?o{n} ." for n, property in enumerate(asked)]
        texts = [_text(dice, source.words) for _ in asked]
        if dice.random() < ft:
            lines += [f"  FILTER ftcontains(?o{n}, {text})" for n, text in enumerate(texts)]
        yield "SELECT ?publication WHERE {\n" + "\n".join(lines) + "\n}\n"


def _text(dice: random.Random, words: Choice) -> str:
    return " ftAND ".join(f'"{words.draw(dice)}"' for _ in range(dice.randint(1, TERMS)))


def publications(count: int, *, seed: int, source: Corpus) -> list[Event]:
    dice = random.Random(f"publications {seed}")
    return [_publication(f"urn:publication:{n}", dice, source) for n in range(count)]


def _publication(id: str, dice: random.Random, source: Corpus) -> Event:
    cls = dice.choice(source.classes)
    pieces = dice.choice(source.texts).split()
    count = min(dice.randint(*_PROPERTIES_OF_A_PUBLICATION), len(pieces))
    properties = source.properties[cls].some(dice, count)
    cuts = [0, *sorted(dice.sample(range(1, len(pieces)), len(properties) - 1)), len(pieces)]
    values = [literal(" ".join(pieces[first:last])) for first, last in pairwise(cuts)]
    subject = iri(id)
    triples: list[Triple] = [(subject, RDF_TYPE, iri(upper)) for upper in source.above[cls]]
    triples += [(subject, iri(property), value) for property, value in zip(properties, values, strict=True)]
    return Event.of(id, triples)
