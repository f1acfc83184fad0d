"""Subscriptions compiled by the plan of their shape, against the same ones compiled each by itself: the same arrays."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.property import check
from tests.property import model as m
from tests.property.render import dialect, text
from tests.property.strategies import gtopss_cases, ops_cases
from tests.property.strategies_focus import (
    aggregate_cases,
    algebra_cases,
    filter_cases,
    join_cases,
    ops_shapes,
    path_cases,
)
from tests.property.strategies_rtf import rtf_cases, text_cases
from tests.property.strategies_sparql import sparql_cases
from tests.support import data_dir

from tidings.errors import SubscriptionError
from tidings.index.plans import Plan, Plans
from tidings.index.store import Store
from tidings.lang import Query, parse
from tidings.lang.forms import parts_of, walk
from tidings.lang.pattern import Call, Dialect, FtPhrase
from tidings.ontology import Ontology
from tidings.ontology.vocabulary import THINGS
from tidings.rdf.terms import RDF_TYPE, SUBCLASS_OF, Term, iri

Case = tuple[m.Subscription, m.World]

# What a name may become: another one, one with a meaning of its own, or the same as another.
OTHERS = [iri(f"http://other.example/{n}") for n in range(8)]
SPECIAL = [RDF_TYPE, SUBCLASS_OF, *THINGS, *(iri(m.RDFS + name) for name in ("Literal", "Class")), iri(m.XSD + "date")]
WORDS = [f"w{n}" for n in range(8)]
LITERALS = [Term('"x"'), Term('""'), Term('"x"@en'), Term(f'"3"^^<{m.XSD}integer>'), Term(f'"no"^^<{m.XSD}integer>')]


class _EachAlone(Plans):
    """No plan is used twice."""

    def of(self, query: Query) -> tuple[Plan, list[str]]:
        return self.alone(query), []


def sisters(query: Query, dice: random.Random) -> Iterator[Query]:
    """The subscription, then others that are like it but for their names, more and more freely."""
    names = sorted({node for node in walk(query) if isinstance(node, str) and node[0] in '<"' and len(node) > 2})
    words = sorted({word for node in walk(query) if isinstance(node, FtPhrase) for word in node.words})
    yield query
    for odd in (0.0, 0.0, 0.3, 0.6):
        others, other_words = dice.sample(OTHERS, len(OTHERS)), dice.sample(WORDS, len(WORDS))
        mapping = {
            name: dice.choice([*SPECIAL, *OTHERS, *LITERALS, *map(Term, names)])
            if dice.random() < odd
            else _like(name, others, dice)
            for name in names
        }
        for word in words:
            mapping[word] = dice.choice(WORDS) if dice.random() < odd or not other_words else other_words.pop()
        yield cast(Query, _renamed(query, mapping))


def _like(name: str, others: list[Term], dice: random.Random) -> str:
    """Another name of the same kind; no IRI twice, as long as there are any."""
    if name[0] == "<":
        return others.pop() if others and Term(name) not in SPECIAL else name
    text, datatype = name[1 : name.rindex('"')], name[name.rindex('"') :]
    return f'"{dice.choice((text, "7", "8", "7.5", "so", "0"))}{datatype}'


def _renamed(node: Any, names: dict[str, str]) -> Any:
    """A term becomes a literal only where the form has one: nowhere else can it stand."""
    if isinstance(node, str):
        new = names.get(node, node)
        return new if (new[:1] == '"') == (node[:1] == '"') else node
    if isinstance(node, FtPhrase):
        return FtPhrase(node.text, tuple(names.get(word, word) for word in node.words))
    parts = parts_of(node)
    if not parts:
        return node
    made = [_renamed(part, names) for part in parts]
    if isinstance(node, Call):
        made[0] = node.op
    return tuple(made) if isinstance(node, tuple) else type(node)(*made)


def same(queries: Sequence[Query], ontology: Ontology) -> int:
    """Asserts that plans make no difference; how many subscriptions had one from an earlier one."""
    universal = ontology.resource_classes
    plans = Plans(universal)
    planned, each_alone = Store(ontology, plans=plans), Store(ontology, plans=_EachAlone(universal))
    reused = 0
    for number, query in enumerate(queries):
        reused += bool(plans.of(query)[1])
        planned.add(number, query)
        each_alone.add(number, query)
    ours, theirs = (dict(_arrays("", store.freeze())) for store in (planned, each_alone))
    for name, values in ours.items():
        assert np.array_equal(values, theirs[name]), f"{name}: {values.tolist()} instead of {theirs[name].tolist()}"
    return reused


def _arrays(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, tuple):
        for field, part in zip(getattr(value, "_fields", "01"), value, strict=True):
            yield from _arrays(f"{name}.{field}", part)
    else:
        yield name, value


def _check(case: Case, seed: int) -> None:
    subscription, world = case
    query = parse(text(subscription), cast(Dialect, dialect(subscription)))
    same(list(sisters(query, random.Random(seed))), Ontology.of(check.triples(world.ontology)))


SEEDS = st.integers(0, 2**32)


@check.examples(120)
@given(sparql_cases(), SEEDS)
def test_everything_together(case: Case, seed: int) -> None:
    _check(case, seed)


@check.examples(90)
@given(st.one_of(algebra_cases, join_cases, path_cases, aggregate_cases), SEEDS)
def test_algebra(case: Case, seed: int) -> None:
    _check(case, seed)


@check.examples(120)
@given(filter_cases, SEEDS)
def test_filters(case: Case, seed: int) -> None:
    _check(case, seed)


@check.examples(90)
@given(st.one_of(rtf_cases(), text_cases()), SEEDS)
def test_texts(case: Case, seed: int) -> None:
    _check(case, seed)


@check.examples(120)
@given(st.one_of(ops_cases(), ops_shapes(), gtopss_cases()), SEEDS)
def test_graphs(case: Case, seed: int) -> None:
    _check(case, seed)


def test_real_questions() -> None:
    path = data_dir("dbpedia-sparql-questions", "qald-9", "qald-9-train-en.json.gz")
    queries = []
    for entry in json.loads(gzip.decompress(path.read_bytes())):
        try:
            queries.append(parse(entry["sparql"], "sparql"))
        except SubscriptionError:
            continue
    dice = random.Random(1)
    assert len(queries) > 300
    assert same([sister for query in queries for sister in sisters(query, dice)], Ontology.empty()) > 500
