"""The buckets and chains of iBroker."""

from __future__ import annotations

from tests.unit.match.worlds import PROLOGUE, triples

from tidings.lang import parse
from tidings.match.base import Failure
from tidings.match.ibroker import Ibroker
from tidings.match.rtf.text import Text
from tidings.ontology import Ontology
from tidings.rdf.event import Event


def engine(*queries: str) -> Ibroker:
    made = Ibroker(Ontology.empty())
    for number, query in enumerate(queries):
        made.add(f"q{number}", parse(PROLOGUE + query))
    return made


def unexpected(failure: Failure) -> None:
    raise AssertionError(failure)


def found(made: Ibroker, turtle: str) -> list[str]:
    return [match.subscription for match in made.match(Event.of("urn:e", triples(turtle)), unexpected)]


def test_a_query_is_a_chain_through_buckets() -> None:
    made = engine('SELECT ?x { ?x :type :article . :a :by ?x . ?x :title ?t FILTER ftcontains(?t, "olympic games") }')
    first = made._buckets["<http://e.x/type>"].entries[0]
    second = made._buckets["<http://e.x/by>"].entries[0]
    third = made._buckets["<http://e.x/title>"].entries[0]
    assert first.query.first is first
    assert (first.next_to_match, second.next_to_match, third.next_to_match) == (second, third, None)
    assert (first.subject, first.value) == (None, "<http://e.x/article>")
    assert (second.subject, second.value) == ("<http://e.x/a>", None)
    assert isinstance(third.value, Text)
    assert third.value.words == ("olympic", "games")
    assert third.shared.columns == ("x",)


def test_variables_and_wildcards_have_a_bucket_each() -> None:
    made = engine("ASK { ?s ?p 1 }", "ASK { ?s * 2 }", "ASK { ?s :p * }")
    assert sorted(made._buckets) == ["*", "<http://e.x/p>", "?"]
    assert found(made, ":a :p 1 .") == ["q0", "q2"]
    assert found(made, ":a :q 2 .") == ["q1"]
    assert found(made, "") == []


def test_an_attribute_twice_in_a_query() -> None:
    made = engine("ASK { ?s :p 1 . ?s :p 2 }")
    assert found(made, ":a :p 1, 2 .") == ["q0"]
    assert found(made, ":a :p 1 . :b :p 2 .") == []
    made.remove("q0")
    assert made._buckets == {}


def test_every_entry_of_a_bucket_is_looked_at() -> None:
    made = engine("ASK { ?s :p 1 . ?s :q 1 }", "ASK { ?s :q 1 . ?s :p 1 }", "ASK { ?s :q 2 }", "ASK { ?s :r 2 }")
    assert found(made, ":a :p 1 ; :q 1 .") == ["q0", "q1"]
    figures = made.stats()
    assert (figures["buckets"], figures["buckets_visited"], figures["entries_visited"]) == (3, 2, 5)
    # Three queries begin there, two of them with a value that the event has.
    assert (figures["candidates"], figures["chains_followed"], figures["joins"]) == (2, 2, 2)
    assert (figures["queries"], figures["tuples"], figures["matches"]) == (4, 6, 2)
    assert figures["bytes_held"] > 500


def test_as_published_a_bucket_is_searched_for_what_is_next() -> None:
    made = engine("ASK { ?s :q 2 }", "ASK { ?s :q 3 }", "ASK { ?s :p 1 . ?s :q 1 }")
    for published, visited in ((False, 1 + 3), (True, 1 + 3 + 3)):
        made.published = published
        before = made.stats()["entries_visited"]
        assert found(made, ":a :p 1 ; :q 1 .") == ["q2"]
        assert made.stats()["entries_visited"] - before == visited
