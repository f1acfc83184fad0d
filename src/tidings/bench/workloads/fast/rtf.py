"""Publications as the RTF paper has them, and as many subscriptions as asked for, of which so many match an event.

A publication is one thing with one class and nine properties, each with a piece of a real abstract: ten triples, about
1.4 kB. Classes and properties occur in publications by Zipf's law, in an order left to chance.

A subscription asks for a class and for one to three properties; in half of them (the paper's FT) every property has a
text of one to three words, all wanted, drawn from the multiset of the words of the abstracts. It draws a class or a
property with the weight that this has in publications **to the power of the skew**: 1 asks for what is published, 0 for
anything there is, below 0 for what is rare. The skew is the one knob, and it is solved for: it is what gives the number
of matches an event that is wanted. The publications do not change with it.

In a world with a hierarchy, publications have leaf classes and leaf properties only, and a subscription asks for an
inner class, for one inner property, and beyond that for any.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tidings.bench.workloads.fast.base import Forms, Workload, data, endless, numbered, zipf
from tidings.bench.workloads.rtf_paper import Choice, Corpus
from tidings.lang.fulltext import phrase, words
from tidings.lang.pattern import (
    Block,
    Call,
    Const,
    Exists,
    Expr,
    Filter,
    FtAnd,
    FtContains,
    FtExpr,
    LeftJoin,
    Pattern,
    Projection,
    Query,
    TriplePattern,
    Var,
)
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import RDF_TYPE, RDFS, SUBCLASS_OF, Term, Triple, iri, literal, parts

PROPERTIES = 9
MOST_ASKED = 3
MOST_WORDS = 3
TEXT = 0.5
"""FT, the share of the subscriptions that have texts."""

_DBO = "<http://dbpedia.org/ontology/"
_SUBPROPERTY_OF = iri(f"{RDFS}subPropertyOf")
_SUBJECT = Var("publication")
_OBJECTS = tuple(Var(f"o{n}") for n in range(MOST_ASKED))
_FURTHER = Var("further")
_PROJECTION = (Projection(_SUBJECT),)
_UPPER = 76
_SAMPLE = 100
_SKEWS = (-1.0, 4.0)
_HALVINGS = 14


@dataclass(frozen=True, slots=True)
class World:
    """What publications are made of, what subscriptions ask for, and how often publications have the latter.

    A subscription has one property of `asked_first`, and any further ones of `asked`.
    """

    origin: str
    ontology: Ontology
    hierarchy: str
    classes: Mapping[Term, float]
    properties: Mapping[Term, float]
    asked_classes: Mapping[Term, float]
    asked_first: Mapping[Term, float]
    asked: Mapping[Term, float]
    words: Mapping[str, float]
    texts: tuple[str, ...]


# --------------------------------------------------------------------------------------------------------------- worlds


def flat(source: Corpus) -> World:
    """The names of the corpus, no ontology: subscriptions ask for what publications have."""
    classes = zipf(_shuffled(map(iri, source.above)))
    properties = zipf(_shuffled(map(iri, _properties(source))))
    return World(
        origin=source.origin,
        ontology=Ontology.empty(),
        hierarchy="off",
        classes=classes,
        properties=properties,
        asked_classes=classes,
        asked_first=properties,
        asked=properties,
        words=_weights(source.words),
        texts=source.texts,
    )


def deep(source: Corpus) -> World:
    """The DBpedia ontology of 2015-04, or a made-up one; words and texts of the corpus."""
    file = data() / "dbpedia-ontology" / "dbpedia-ontology-2015-04-10.core.nt.gz"
    return under(Ontology.load(file), "DBpedia 2015-04", source) if file.exists() else under_a_tree(source)


def under_a_tree(source: Corpus) -> World:
    """The classes of the corpus below each other, and every third property below one of a few, as in DBpedia's."""
    names = _properties(source)
    triples: list[Triple] = [
        (iri(name), _SUBPROPERTY_OF, iri(names[n % _UPPER]))
        for n, name in enumerate(names)
        if n >= _UPPER and n % 3 == 0
    ]
    for cls, above in source.above.items():
        triples += [(iri(cls), SUBCLASS_OF, iri(upper)) for upper in above if upper != cls]
    return under(Ontology.of(triples), "made up", source)


def under(ontology: Ontology, name: str, source: Corpus) -> World:
    leaves, inner_classes = _levels(ontology.classes, ontology.subclasses, ontology.equivalent_classes)
    classes = zipf(_shuffled(leaves))
    leaves, inner_properties = _levels(ontology.properties, ontology.subproperties, ontology.equivalent_properties)
    properties = zipf(_shuffled(leaves))
    inner = _shares(inner_properties, ontology.subproperties, properties)
    return World(
        origin=source.origin,
        ontology=ontology,
        hierarchy=f"{name}, {len(ontology.classes):,} classes, {len(ontology.properties):,} properties",
        classes=classes,
        properties=properties,
        asked_classes=_shares(inner_classes, ontology.subclasses, classes),
        asked_first=inner,
        asked={**properties, **inner},
        words=_weights(source.words),
        texts=source.texts,
    )


_Names = Callable[[Term], frozenset[Term]]


def _levels(names: Iterable[Term], below: _Names, same: _Names) -> tuple[list[Term], list[Term]]:
    """The ontology's own names that have nothing below them, and all names that have."""
    inner = {name for name in names if below(name) - same(name)}
    return [name for name in names if name not in inner and name.startswith(_DBO)], sorted(inner)


def _shares(names: Iterable[Term], below: _Names, weights: Mapping[Term, float]) -> dict[Term, float]:
    """The weight of what is below each name, where there is any."""
    found = {name: sum(weights.get(lower, 0.0) for lower in below(name)) for name in names}
    return {name: weight for name, weight in found.items() if weight}


def _properties(source: Corpus) -> list[str]:
    return sorted({name for choice in source.properties.values() for name in choice.items})


def _shuffled(names: Iterable[Term]) -> list[Term]:
    found = sorted(names)
    random.Random(1).shuffle(found)
    return found


def _weights(choice: Choice) -> dict[str, float]:
    each = (upper - lower for lower, upper in pairwise((0.0, *choice.cumulative)))
    return dict(zip(choice.items, each, strict=True))


# --------------------------------------------------------------------------------------------------------- the workload


def workload(
    name: str,
    world: World,
    count: int,
    matches: float,
    events: Sequence[Event],
    *,
    seed: int,
    evaluated: float = 0.0,
) -> Workload:
    """So many subscriptions, of which so many match one of the events. The share `evaluated` is not conjunctive:
    a third of it has OPTIONAL, a third NOT EXISTS, a third a regular expression."""
    skew = solve(world, matches / count, events)
    drawn = f"names as often as in publications (Zipf), to the power {skew:.2f}; words from the multiset of abstracts"

    def forms() -> Forms:
        return numbered(subscriptions(world, count, skew, seed=seed, evaluated=evaluated))

    return Workload(name, drawn, count, tuple(events), forms, world.ontology, world.hierarchy)


def publications(world: World, count: int, *, seed: int) -> list[Event]:
    dice = random.Random(f"publications {seed}")
    classes, properties = endless(dice, world.classes), endless(dice, world.properties)
    return [
        _publication(f"urn:publication:{n:06}", Term(next(classes)), properties, dice, world.texts)
        for n in range(count)
    ]


def _publication(id: str, cls: Term, names: Iterator[str], dice: random.Random, texts: Sequence[str]) -> Event:
    pieces = dice.choice(texts).split()
    while len(pieces) < PROPERTIES:
        pieces += dice.choice(texts).split()
    properties: dict[str, None] = {}
    while len(properties) < PROPERTIES:
        properties[next(names)] = None
    cuts = [0, *sorted(dice.sample(range(1, len(pieces)), PROPERTIES - 1)), len(pieces)]
    subject = iri(id)
    triples = [
        (subject, Term(property), literal(" ".join(pieces[first:last])))
        for property, (first, last) in zip(properties, pairwise(cuts), strict=True)
    ]
    return Event.of(id, [(subject, RDF_TYPE, cls), *triples])


def subscriptions(world: World, count: int, skew: float, *, seed: int, evaluated: float = 0.0) -> Iterator[Query]:
    dice = random.Random(f"subscriptions {seed}")
    classes = endless(dice, _skewed(world.asked_classes, skew))
    first = endless(dice, _skewed(world.asked_first, skew))
    others = endless(dice, _skewed(world.asked, skew))
    drawn = endless(dice, world.words)
    for _ in range(count):
        asked = {next(first): None}
        size = 1 + int(dice.random() * MOST_ASKED)
        while len(asked) < size:
            asked[next(others)] = None
        triples = [TriplePattern(_SUBJECT, RDF_TYPE, Term(next(classes)))]
        triples += [TriplePattern(_SUBJECT, Term(name), _OBJECTS[n]) for n, name in enumerate(asked)]
        filters: list[Expr] = []
        if dice.random() < TEXT:
            filters += [FtContains(_OBJECTS[n], _text(dice, drawn)) for n in range(size)]
        core = Block(tuple(triples), (), tuple(filters))
        more = bool(evaluated) and dice.random() < evaluated
        where = _beyond(core, dice, next(others), next(drawn)) if more else core
        yield Query("sparql", "SELECT", where, _PROJECTION)


def _text(dice: random.Random, drawn: Iterator[str]) -> FtExpr:
    items = tuple(phrase(next(drawn)) for _ in range(1 + int(dice.random() * MOST_WORDS)))
    return items[0] if len(items) == 1 else FtAnd(items)


def _beyond(core: Block, dice: random.Random, property: str, word: str) -> Pattern:
    """The core with one more condition, which cannot be told from what the event has."""
    further = Block((TriplePattern(_SUBJECT, Term(property), _FURTHER),))
    match dice.randrange(3):
        case 0:
            return Filter(LeftJoin(core, further), (Call("!", (Call("BOUND", (_FURTHER,)),)),))
        case 1:
            return Block(core.triples, (), (*core.filters, Exists(further, negated=True)))
        case _:
            # Not a word of that text, but its letters in a row with one more: no index of words knows.
            regex = Call("REGEX", (Call("STR", (_OBJECTS[0],)), Const(literal(f"{word[:3]}.")), Const(literal("i"))))
            return Block(core.triples, (), (*core.filters, regex))


def _skewed(weights: Mapping[Term, float], skew: float) -> dict[Term, float]:
    return {name: weight**skew for name, weight in weights.items()}


# ------------------------------------------------------------------------------------------------------------- the skew


def solve(world: World, rate: float, events: Sequence[Event]) -> float:
    """The skew at which a subscription matches an event with this probability; the nearest there is."""
    seen = [_seen(world, event) for event in events[:_SAMPLE]]
    low, high = _SKEWS
    for _ in range(_HALVINGS):
        skew = (low + high) / 2
        if _rate(world, skew, seen) < rate:
            low = skew
        else:
            high = skew
    return (low + high) / 2


@dataclass(frozen=True, slots=True)
class _Seen:
    """What an event has of what is asked for: classes, and properties with the probability that a text holds."""

    classes: frozenset[Term]
    properties: Mapping[Term, float]


def _seen(world: World, event: Event) -> _Seen:
    all_words = sum(world.words.values())
    classes: set[Term] = set()
    fails: dict[Term, float] = {}
    for _, property, value in event.triples():
        if property == RDF_TYPE:
            classes |= world.ontology.superclasses(value)
            continue
        hit = sum(world.words.get(word, 0.0) for word in set(words(parts(value).lexical))) / all_words
        holds = sum(hit**n for n in range(1, MOST_WORDS + 1)) / MOST_WORDS
        for upper in world.ontology.superproperties(property):
            fails[upper] = fails.get(upper, 1.0) * (1 - holds)
    return _Seen(frozenset(classes), {name: 1 - fail for name, fail in fails.items()})


def _rate(world: World, skew: float, seen: Sequence[_Seen]) -> float:
    """How probable it is that a subscription matches one of these events."""
    classes, first, others = (
        _skewed(weights, skew) for weights in (world.asked_classes, world.asked_first, world.asked)
    )
    all_classes, all_first, all_others = (sum(weights.values()) for weights in (classes, first, others))
    found = 0.0
    for event in seen:
        of_class = sum(classes.get(cls, 0.0) for cls in event.classes) / all_classes
        starts = {name: first[name] / all_first for name in event.properties if name in first}
        shares = {name: others[name] / all_others for name in event.properties if name in others}
        for texts, part in ((event.properties, TEXT), (dict.fromkeys(event.properties, 1.0), 1 - TEXT)):
            draws = _Draws(shares, texts)
            found += of_class * part * sum(share * texts[name] * draws.after(name) for name, share in starts.items())
    return found / len(seen)


class _Draws:
    """Properties, drawn one after the other, all different: does the event have them, and do their texts hold?"""

    def __init__(self, shares: Mapping[Term, float], texts: Mapping[Term, float]) -> None:
        self._shares = shares
        self._hits = {name: share * texts[name] for name, share in shares.items()}
        self._all = sum(self._hits.values())

    def after(self, first: Term) -> float:
        """The probability after the first, over all sizes that a subscription can have."""
        sizes = range(MOST_ASKED)
        return sum(self._more((first,), more) for more in sizes) / len(sizes)

    def _more(self, drawn: tuple[Term, ...], more: int) -> float:
        if not more:
            return 1.0
        left = 1 - sum(self._shares.get(name, 0.0) for name in drawn)
        if left < 1e-12:
            return 0.0
        if more == 1:
            return (self._all - sum(self._hits.get(name, 0.0) for name in drawn)) / left
        return sum(
            hit / left * self._more((*drawn, name), more - 1) for name, hit in self._hits.items() if name not in drawn
        )
