from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.ontology.turtle import ex, term, triples

from tidings.ontology import Ontology
from tidings.ontology.names import Labels, Near, _distance, split
from tidings.rdf.terms import blank, iri, literal

AUCTION = [ex(name) for name in ("price", "priceInEuros", "seller", "target", "telephoneNumber", "id")]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("pirce", "price"),
        ("prise", "price"),
        ("prices", "price"),
        ("Price", "price"),
        ("SELLER", "seller"),
        ("telephone_number", "telephoneNumber"),
        ("telephonNumer", "telephoneNumber"),
        ("priceineuro", "priceInEuros"),
        ("ID", "id"),
    ],
)
def test_near_names(wrong: str, right: str) -> None:
    assert Near(AUCTION).find(ex(wrong)) == ex(right)


@pytest.mark.parametrize("wrong", ["x", "colour", "ix", "weight", "", "t"])
def test_nothing_near(wrong: str) -> None:
    assert Near(AUCTION).find(ex(wrong)) is None


def test_only_iris_have_near_names() -> None:
    assert Near(AUCTION).find(literal("price")) is None
    assert Near(AUCTION).find(blank("price")) is None


def test_the_same_namespace_is_preferred_but_the_right_name_elsewhere_is_found() -> None:
    other = iri("http://other.example/price")
    assert Near([other, ex("price")]).find(ex("pricee")) == ex("price")
    assert Near([other, ex("prict")]).find(ex("price")) == ex("prict")
    assert Near([other]).find(ex("price")) == other
    assert Near([iri("https://schema.org/name")]).find(iri("http://schema.org/name")) == iri("https://schema.org/name")


def test_a_known_name_is_not_its_own_near_name() -> None:
    assert Near([ex("price")]).find(ex("price")) is None


def test_kinds_are_apart() -> None:
    o = Ontology.of(triples("ex:Seller a owl:Class . ex:seller a rdf:Property ."))
    assert o.near(ex("Seler"), "class") == ex("Seller")
    assert o.near(ex("Seler"), "property") == ex("seller")


@cache
def plain_distance(a: str, b: str) -> int:
    """Straight from the recurrence."""
    if not a or not b:
        return len(a) + len(b)
    found = min(
        plain_distance(a[:-1], b) + 1,
        plain_distance(a, b[:-1]) + 1,
        plain_distance(a[:-1], b[:-1]) + (a[-1] != b[-1]),
    )
    if len(a) > 1 and len(b) > 1 and a[-1] == b[-2] and a[-2] == b[-1]:
        found = min(found, plain_distance(a[:-2], b[:-2]) + 1)
    return found


words = st.text("abc", max_size=5)


@settings(deadline=None)
@given(words, words, st.integers(0, 4))
def test_the_distance(a: str, b: str, most: int) -> None:
    exact = plain_distance(a, b)
    found = _distance(a, b, most)
    assert found == exact if exact <= most else found > most


@settings(deadline=None)
@given(
    st.lists(st.text("abAB_", min_size=3, max_size=8), min_size=1, max_size=6), st.text("abAB_", min_size=3, max_size=8)
)
def test_what_the_filter_passes_over_is_not_nearest(known: list[str], wrong: str) -> None:
    found = Near([ex(k) for k in known]).find(ex(wrong))
    best = min((plain_distance(key(wrong), key(k)) for k in known if k != wrong), default=99)
    tolerance = sum(len(key(wrong)) >= least for least in (3, 6, 10))
    assert (found is not None) == (best <= tolerance)
    if found is not None:
        assert plain_distance(key(wrong), key(split(found)[1])) == best


def key(name: str) -> str:
    return name.casefold().replace("_", "")


def test_labels() -> None:
    labels = Labels([iri("http://shop.example/auction#price"), iri("http://shop.example/auction#id"), iri("urn:x:y")])
    assert labels.label(iri("http://shop.example/auction#price")) == "auction:price"
    assert labels.label(term("rdfs:label")) == "rdfs:label"
    assert labels.label(iri("http://dbpedia.org/ontology/Person")) == "dbo:Person"
    assert labels.label(ex("A")) == "ex:A"
    assert labels.label(iri("http://elsewhere.example/things/Chair")) == "Chair"
    assert labels.label(iri("http://elsewhere.example/")) == "<http://elsewhere.example/>"
    assert labels.label(literal("x")) == '"x"'
    assert labels.label(blank("b")) == "_:b"


def test_one_prefix_for_one_namespace() -> None:
    labels = Labels([iri("http://a.example/shop#x"), iri("http://a.example/shop#y"), iri("http://b.example/shop#x")])
    assert labels.label(iri("http://a.example/shop#x")) == "shop:x"
    assert labels.label(iri("http://b.example/shop#x")) == "x"
