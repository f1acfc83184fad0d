"""The workload of the RTF paper (section 4): SPARQL subscriptions over DBpedia's classes and properties, with text.

A subscription is a star of a few triple patterns around one publication, some with a wildcard, some with one step to a
neighbour. A text variable is constrained with the probability `ft` by one to three words, drawn from the multiset of
words of real abstracts. Where the public data sets are absent, names and a Zipf vocabulary of the same sizes stand in.
"""

from __future__ import annotations

import gzip
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import pyoxigraph as ox

from tidings.lang.fulltext import words

CLASSES = 529
PROPERTIES = 2_333
WORDS = 50_000

_DBO = "http://dbpedia.org/ontology/"
_TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_OWL = "http://www.w3.org/2002/07/owl#"
_DESCRIPTION = ox.NamedNode("http://stardog.com/tutorial/description")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What subscriptions are made of. `cumulative` is how often the words up to each one occur, all together."""

    classes: tuple[str, ...]
    properties: tuple[str, ...]
    words: tuple[str, ...]
    cumulative: tuple[int, ...]
    origin: str

    def word(self, dice: random.Random) -> str:
        return dice.choices(self.words, cum_weights=self.cumulative)[0]


def vocabulary() -> Vocabulary:
    """DBpedia's, where the folder `TIDINGS_DATA`, or else `../shared/data`, has it; elsewhere a generated one."""
    data = Path(os.environ.get("TIDINGS_DATA") or "../shared/data")
    ontology = data / "dbpedia-ontology" / "dbpedia-ontology-2015-04-10.core.nt.gz"
    abstracts = data / "dbpedia-music" / "music.ttl.gz"
    return real(ontology, abstracts) if ontology.exists() and abstracts.exists() else generated()


def real(ontology: Path, abstracts: Path) -> Vocabulary:
    """Classes and properties of a DBpedia ontology, words of the abstracts of the music data set."""
    classes, properties = set(), set()
    for quad in ox.parse(gzip.decompress(ontology.read_bytes()), format=ox.RdfFormat.N_TRIPLES):
        name = getattr(quad.subject, "value", "")
        if quad.predicate == _TYPE and name.startswith(_DBO):
            kind = getattr(quad.object, "value", "")
            if kind == f"{_OWL}Class":
                classes.add(name)
            elif kind in (f"{_OWL}ObjectProperty", f"{_OWL}DatatypeProperty"):
                properties.add(name)
    counts: Counter[str] = Counter()
    for quad in ox.parse(gzip.decompress(abstracts.read_bytes()), format=ox.RdfFormat.TURTLE):
        if quad.predicate == _DESCRIPTION:
            counts.update(words(getattr(quad.object, "value", "")))
    dice = random.Random(1)
    some_classes = dice.sample(sorted(classes), min(CLASSES, len(classes)))
    some_properties = dice.sample(sorted(properties), min(PROPERTIES, len(properties)))
    return _vocabulary(some_classes, some_properties, counts, "DBpedia 2015-04, music abstracts")


def generated(seed: int = 1) -> Vocabulary:
    dice = random.Random(seed)
    names: dict[str, None] = {}
    while len(names) < WORDS:
        syllables = [dice.choice("bdfgklmnprstvz") + dice.choice("aeiou") for _ in range(dice.randint(1, 5))]
        names["".join(syllables)] = None
    counts = Counter({word: max(1, 1_000_000 // rank) for rank, word in enumerate(names, 1)})
    classes = [f"{_DBO}Class{n}" for n in range(CLASSES)]
    properties = [f"{_DBO}property{n}" for n in range(PROPERTIES)]
    return _vocabulary(classes, properties, counts, "generated names, Zipf words")


def _vocabulary(classes: list[str], properties: list[str], counts: Counter[str], origin: str) -> Vocabulary:
    ranked = counts.most_common()
    cumulative = tuple(accumulate(count for _, count in ranked))
    return Vocabulary(tuple(classes), tuple(properties), tuple(word for word, _ in ranked), cumulative, origin)


def subscriptions(
    count: int, *, seed: int, ft: float = 0.5, patterns: tuple[int, int] = (2, 5), names: Vocabulary | None = None
) -> Iterator[str]:
    """`count` subscriptions of a few hundred shapes; each text is constrained with the probability `ft`."""
    dice = random.Random(seed)
    names = names or vocabulary()
    for _ in range(count):
        yield _subscription(dice, names, ft, dice.randint(*patterns))


def _subscription(dice: random.Random, names: Vocabulary, ft: float, size: int) -> str:
    kind = "*" if dice.random() < 0.05 else _name(dice.choice(names.classes))
    wildcard = dice.randrange(1, size) if dice.random() < 0.05 else None
    neighbour = dice.randrange(2, size) if size > 2 and dice.random() < 0.2 else None
    terms = dice.randint(1, 3)
    near = terms > 1 and dice.random() < 0.1
    lines = [f"  ?publication a {kind} ."]
    texts = []
    for number in range(1, size):
        subject = f"?o{number - 1}" if number == neighbour else "?publication"
        verb = "*" if number == wildcard else _name(dice.choice(names.properties))
        lines.append(f"  {subject} {verb} ?o{number} .")
        if dice.random() < ft:
            words = [f'"{names.word(dice)}"' for _ in range(terms)]
            texts.append(f"  FILTER ftcontains(?o{number}, {(' ftNEAR[0,5] ' if near else ' ftAND ').join(words)})")
    body = "\n".join(lines + texts)
    return f"PREFIX dbo: <{_DBO}>\nSELECT ?publication WHERE {{\n{body}\n}}\n"


def _name(iri: str) -> str:
    local = iri.removeprefix(_DBO)
    return f"dbo:{local}" if local.isalnum() else f"<{iri}>"
