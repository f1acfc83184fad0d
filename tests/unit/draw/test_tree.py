"""The matching tree: circles and rectangles, checked and unchecked, chosen and ruled out, and the way back up."""

from __future__ import annotations

import pytest
from tests.unit.draw.worlds import HEADER, PREFIXES, elements, event, ontology, random_world, texts, titles

from tidings.draw import tree_svg
from tidings.draw.tree import MOST_NODES
from tidings.draw.verdicts import Conflict, Verdicts
from tidings.lang import parse
from tidings.match.explain import Names
from tidings.match.ops import Ops
from tidings.match.ops.tree import Circle, MatchingTree, Rectangle
from tidings.rdf.event import Event

FIGURE_4 = """
(_:H, ?1, (H, p1, A))  (_:H, ?3, (H, p2, C))  (?1, ?2, (A, p3, B))
(?1, ?4, (A, p4, C))   (?2, ?4, (B, p5, C))   (?3, ?4, (C, p6, C))
"""
FIGURE_5 = """
_:H a :H ; :p1 _:a ; :p2 _:c . _:a a :A ; :p3 _:b ; :p4 _:c, _:d .
_:b a :B ; :p5 _:d . _:c a :C ; :p6 _:d . _:d a :C .
"""


def grown(subscription: str, over: Event | str) -> tuple[Ops, MatchingTree]:
    ops = Ops(ontology(), keep_trees=True)
    ops.add("wanted", parse(HEADER + subscription, "ops"))
    ops.match(event(over) if isinstance(over, str) else over, lambda failure: None)
    return ops, ops.tree("wanted")


def drawn(subscription: str, over: Event | str) -> str:
    ops, tree = grown(subscription, over)
    return tree_svg(tree, "http://e.x/event", Names(ontology(), PREFIXES), ops.ems)


def shapes(svg: str, *classes: str) -> int:
    """Without the samples in the legend, which have both kinds of corners and come last."""
    return len([e for e in elements(svg, "rect", *classes) if e.get("height") != "14"])


def test_the_figures_of_the_paper() -> None:
    svg = drawn(FIGURE_4, FIGURE_5)
    assert texts(svg, "f-title", "hit") == ["✓ wanted matches"]
    assert "event <http://e.x/event>, matching tree of 8 circles and 6 rectangles" in texts(svg)
    assert (shapes(svg, "filled"), shapes(svg, "hollow")) == (14, 0)
    assert shapes(svg, "filled", "s-hit") == 13
    assert {"(_:H, ?1)", "(_:b, ?4)", "?1 ↔ _:a", "(:H, :p1, :A) EMS(5)"} <= set(texts(svg))
    assert texts(svg, "bad").count("✗ rule 4: ?4 ↔ _:d") == 1
    assert any("?1=_:a" in text for text in texts(svg, "f-sub"))


def test_the_back_tracking_is_numbered() -> None:
    """All but the branch to ?4 ↔ _:d below (_:a, ?4): that rectangle was checked already."""
    svg = drawn(FIGURE_4, FIGURE_5)
    assert len(elements(svg, "path", "s-step", "dash")) == 12 + 1
    assert sorted(texts(svg, "f-small", "step")) == sorted("1" * 2 + "3" * 4 + "4" * 6)


def test_what_stays_unchecked() -> None:
    svg = drawn(FIGURE_4, FIGURE_5.replace(":p5 _:d", ":other _:d"))
    assert "the root stays unchecked (SBPV)" in texts(svg)
    assert shapes(svg, "hollow", "dash") > 0
    assert "✗ no statement matches" in texts(svg, "bad")
    assert not [text for text in texts(svg, "bad") if "rule" in text]
    assert shapes(svg, "s-hit") == 0


def test_what_passes_the_states_but_contradicts() -> None:
    svg = drawn(FIGURE_4, FIGURE_5.replace(":p4 _:c, _:d", ":p4 _:c"))
    assert any("contradiction (BEBV)" in text for text in texts(svg))
    assert [text for text in texts(svg, "bad") if text.startswith("✗ rule 4")]
    assert shapes(svg, "hollow") == 0


def test_a_subscription_that_nothing_met() -> None:
    svg = drawn(FIGURE_4, "_:H :other _:a .")
    assert shapes(svg, "hollow") == 3


def test_a_filter_is_in_its_rectangle() -> None:
    svg = drawn("(_:H, ?p, (:T, price, xsd:integer), ?p < 400)", "_:H a :T ; :price 390 .")
    assert "?p < 400" in texts(svg, "soft")


@pytest.mark.parametrize("seed", range(3))
def test_ten_vertices_on_fifty_arcs(seed: int) -> None:
    svg = drawn(*random_world(seed))
    assert "✓ wanted matches" in texts(svg)
    assert not any("not drawn" in text for text in texts(svg))


def test_a_large_tree_is_drawn_in_part() -> None:
    over = "_:H " + " , ".join(f":p _:n{i}" if not i else f"_:n{i}" for i in range(300)) + " ."
    over += "".join(f" _:n{i} :p _:m{i}, _:k{i} ." for i in range(300))
    thing = "(owl:Thing, p, owl:Thing)"
    svg = drawn(f"(_:H, ?a, {thing}) (?a, ?b, {thing}) (?a, ?c, {thing})", over)
    assert shapes(svg, "filled") <= MOST_NODES
    assert "… 292 more" in texts(svg)
    assert any("are not drawn" in text for text in texts(svg))
    assert len(svg) < 200_000


def test_nodes_do_not_overlap_whichever_way_the_tree_grows() -> None:
    thing = "(owl:Thing, p, owl:Thing)"
    for width in (2, 9):
        over = "_:H :p " + ", ".join(f"_:n{i}" for i in range(width)) + " ."
        over += "".join(f" _:n{i} :p _:m{i}, _:k{i} ." for i in range(width))
        svg = drawn(f"(_:H, ?a, {thing}) (?a, ?b, {thing}) (?a, ?c, {thing})", over)
        found = [
            tuple(float(e.get(name, "")) for name in ("x", "y", "width", "height"))
            for e in elements(svg, "rect")
            if e.get("class") != "page"
        ]
        for i, (x, y, w, h) in enumerate(found):
            for x2, y2, w2, h2 in found[:i]:
                assert x >= x2 + w2 or x2 >= x + w or y >= y2 + h2 or y2 >= y + h


def test_it_is_the_same_every_time_and_dark_where_wanted() -> None:
    svg = drawn(FIGURE_4, FIGURE_5)
    assert svg == drawn(FIGURE_4, FIGURE_5)
    assert "@media (prefers-color-scheme:dark)" in svg
    assert titles(svg)[0] == "✓ wanted matches"


def test_why_a_circle_is_false() -> None:
    _, tree = grown(FIGURE_4, FIGURE_5)
    verdicts = Verdicts(tree)
    false = [node for node in tree.nodes() if isinstance(node, Circle) and verdicts.is_false(node)]
    assert [repr(circle) for circle in false] == ["(_:H=_:H, ?1=_:a, ?4=_:c)"]
    found = verdicts.conflict(false[0])
    assert found is not None
    assert (found.rule, found.vertex, found.image) == (4, "?4", "_:d")
    assert isinstance(found, Conflict)


def test_a_vertex_that_two_would_need() -> None:
    thing = "(owl:Thing, p, owl:Thing)"
    _, tree = grown(f"(_:H, ?a, {thing}) (_:H, ?b, {thing})", "_:H :p _:x .")
    verdicts = Verdicts(tree)
    circles = [n for n in tree.nodes() if isinstance(n, Circle) and n.parent is not None]
    assert tree.matched is False
    assert {conflict.rule for c in circles if (conflict := verdicts.conflict(c))} == {5}


def test_states_that_wait_are_told_too() -> None:
    """Figure 7: the last rectangle tells its circle, which still waits for another child."""
    _, tree = grown(
        "(_:H, ?d, (owl:Thing, b, owl:Thing)) (?d, ?g, (owl:Thing, e, owl:Thing)) (?d, ?f, (owl:Thing, f, owl:Thing))",
        "_:H :b _:d . _:d :e _:g .",
    )
    assert [type(node) for node in Verdicts(tree).upwards] == [Circle, Rectangle]
