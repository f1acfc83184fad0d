"""The event graph: what is highlighted, named, left out, and told of a miss."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import pytest
from tests.unit.draw.worlds import (
    PREFIXES,
    drawn,
    elements,
    event,
    explained,
    ontology,
    random_world,
    texts,
    titles,
)

from tidings.draw.cards import MOST_CARDS, scene
from tidings.draw.layered import Arc
from tidings.draw.marks import Marks
from tidings.draw.packed import packed
from tidings.draw.svg import text_width
from tidings.match.explain import Names
from tidings.rdf.event import Event
from tidings.rdf.terms import Term, iri

OFFER = """
:o1 a :Offer ; :sells :feather . :feather a :Notebook ; :price 390 ; :title "Feather" .
:ada a :Person ; :cellPhone "+47 555" ; :knows :o1 .
"""
COMPUTER = "SELECT * { ?x :sells ?c . ?c a :Computer ; :price ?p . ?y :telephone ?t FILTER(?p < 400) }"


def test_the_file_stands_alone() -> None:
    svg = drawn(COMPUTER, OFFER)
    root = ElementTree.fromstring(svg.encode())
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", "title desc")
    assert titles(svg)[0] == "wanted matches <http://e.x/event>, with 1 solution"
    assert "@media (prefers-color-scheme:dark)" in svg
    assert not any(word in svg for word in ("<script", "href", "@import", "url(http", "@font-face"))


def test_it_is_the_same_every_time() -> None:
    assert drawn(COMPUTER, OFFER) == drawn(COMPUTER, OFFER)


def test_what_is_matched_is_highlighted_and_the_rest_is_pale() -> None:
    svg = drawn(COMPUTER, OFFER)
    assert len(elements(svg, "rect", "matched")) == 3 + 1
    assert len(elements(svg, "path", "s-hit")) == 2
    assert len(elements(svg, "path", "s-faint")) == 2
    assert "✓ wanted matches" in texts(svg, "f-title", "hit")
    assert {"?x", "?c", "?p", "?y", "?t"} <= set(texts(svg, "var"))
    assert '"Feather"' in texts(svg, "soft")
    assert "390" in texts(svg, "ink")


def test_steps_and_conditions_are_told_at_their_place() -> None:
    svg = drawn(COMPUTER, OFFER)
    assert {":cellPhone ⊑ :telephone", ":Notebook ⊑ :PC ⊑ :Computer"} <= set(texts(svg, "step", "f-note"))
    assert "✓ 390 < 400" in texts(svg, "hit")


def test_a_miss_shows_what_is_there_and_what_is_missing() -> None:
    svg = drawn("SELECT * { ?c a :Notebook ; :price ?p ; :weight ?w FILTER(?p < 300) }", OFFER)
    assert "✗ wanted does not match" in texts(svg, "f-title", "bad")
    assert "✗ :weight ?w" in texts(svg, "bad")
    assert "✗ 390 is not < 300" in texts(svg, "bad")
    assert elements(svg, "rect", "failed")
    assert any(text.startswith("because ?c :weight ?w") for text in texts(svg, "f-sub"))
    assert elements(svg, "rect", "t-tint"), "what holds is shown too"


def test_what_should_not_be_there_is_red() -> None:
    svg = drawn("SELECT * { ?s a :Sale FILTER NOT EXISTS { ?s :cancelled ?c } }", ":s a :Sale ; :cancelled true .")
    assert len(elements(svg, "rect", "t-wash")) == 1
    assert len(elements(svg, "rect", "t-tint")) == 1


def test_what_a_negation_did_not_find_is_no_miss() -> None:
    svg = drawn("SELECT * { ?s a :Sale FILTER(!EXISTS { ?s :cancelled ?c }) }", ":s a :Sale ; :price 3 .")
    assert not elements(svg, "rect", "failed")
    assert "✗ :cancelled ?c" not in texts(svg)


def test_a_path_is_highlighted_all_along() -> None:
    svg = drawn("SELECT * { :a :part+ :d }", ":a :part :b . :b :part :c . :c :part :d . :d :part :e . :e :q 1 .")
    assert len(elements(svg, "path", "s-hit")) == 6
    assert len(elements(svg, "path", "s-faint")) == 2


def test_what_the_ontology_states_is_said_to_come_from_there() -> None:
    svg = drawn("SELECT * { ?x :in ?p . ?p a :Place }", ":x :in :Oslo .")
    assert "in the ontology: a :City" in texts(svg, "step")
    assert ":City ⊑ :Place" in texts(svg, "step")


def test_the_datatype_of_an_ops_vertex() -> None:
    svg = drawn("(_:H, ?n, (:T, n, xsd:decimal))", "_:H a :T ; :n 5 .", "ops")
    assert "xsd:integer ⊑ xsd:decimal" in texts(svg, "step")


def test_variables_of_properties_and_classes() -> None:
    svg = drawn("SELECT * { ?s ?p :b . ?s a ?c }", ":a a :T ; :p :b . :b :q 1 .")
    assert {"?s", "?p", "?c"} <= set(texts(svg, "var"))


def test_a_triple_of_a_node_with_itself_is_a_row() -> None:
    svg = drawn("SELECT * { ?s :cites ?s }", ":a :cites :a .")
    assert "↻ :a" in texts(svg, "ink")


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "]]>", "&amp; \\u0001 \\u202E", "'\\\""])
def test_hostile_text_is_only_text(hostile: str) -> None:
    svg = drawn("SELECT * { ?s :t ?t }", f':a :t "{hostile}" ; :u "{hostile}" .')
    assert not elements(svg, "script")
    assert "\x01" not in svg
    assert "\u202e" not in svg


def test_long_text_is_cut_and_there_in_full_for_who_points_at_it() -> None:
    long = "word " * 100
    svg = drawn("SELECT * { ?s :t ?t }", f':a :t "{long}" .')
    [shown] = [text for text in texts(svg, "f-row", "ink") if text.startswith('"word')]
    assert shown.endswith("…")
    assert long in titles(svg)


def test_any_script() -> None:
    svg = drawn("SELECT * { ?s :t ?t }", ':a :t "老人与海"@zh ; :u "الشيخ والبحر"@ar ; :v "🌊" .')
    assert {'"老人与海"@zh', '"الشيخ والبحر"@ar', '"🌊"'} <= set(texts(svg))


def test_many_values_on_one_card() -> None:
    svg = drawn("SELECT * { ?s :v59 ?v }", ":s " + " ; ".join(f":v{i} {i}" for i in range(60)) + " .")
    assert "… 47 more values" in texts(svg, "soft")
    assert ":v59" in texts(svg)
    assert "The event has 60 triples; 47 of them are not drawn." in texts(svg)


def test_a_large_event_is_drawn_around_what_was_matched() -> None:
    star = [(Term("_:hub"), iri("http://e.x/p"), Term(f"_:n{i}")) for i in range(5_000)]
    rest = [(Term(f"_:n{i}"), iri("http://e.x/q"), Term(f"_:m{i}")) for i in range(5_000)]
    over = Event.of("urn:large", [*star, *rest, (Term("_:m4321"), iri("http://e.x/r"), Term("_:hub"))])
    svg = drawn("SELECT * { ?a :q ?b . ?b :r ?c }", over)
    assert len(svg) < 200_000
    assert len(elements(svg, "rect", "plain")) < MOST_CARDS
    assert {"_:n4321", "_:m4321", "_:hub"} <= set(texts(svg, "f-name"))
    assert any(text.startswith("The event has 10,001 triples;") for text in texts(svg))


def test_an_event_without_triples() -> None:
    svg = drawn("SELECT * { ?a :p ?b }", Event.of("urn:none", []))
    assert "?a :p ?b" in texts(svg, "bad")


@pytest.mark.parametrize("seed", range(3))
def test_ten_vertices_on_fifty_arcs(seed: int) -> None:
    """The size that has to be readable: nothing is left out, and no card or label lies on another."""
    text, over = random_world(seed)
    names = Names(ontology(), PREFIXES)
    explanation = explained(text, over, "ops")
    assert explanation.matches
    found = scene(over.triples(), Marks(explanation, names), names)
    assert (len(found.cards), len(found.links), found.left_out) == (50, 55, 0)
    assert sum(card.state == "matched" for card in found.cards) == 10
    assert sum(link.state == "matched" for link in found.links) == 9
    layout = packed([card.size for card in found.cards], [Arc(a.source, a.target, a.size) for a in found.links])
    assert not [1 for a, b in combinations([*layout.cards, *layout.labels], 2) if a.meets(b)]


def test_text_stays_in_its_card() -> None:
    names = Names(ontology(), PREFIXES)
    over = event(f':a a :Notebook ; :title "{"long " * 50}" ; :{"p" * 80} 4 .')
    found = scene(over.triples(), Marks(explained("SELECT * { ?a :title ?t }", over), names), names)
    [card] = found.cards
    for line in (*card.head, *card.rows):
        assert line.indent + sum(text_width(p.text, p.font) for p in line.pieces) <= card.size[0]
