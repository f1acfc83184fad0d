"""The figures of the OPS paper, derived by hand from its text: array, traversal, matching tree, backtracking."""

from __future__ import annotations

from tests.unit.match.worlds import PROLOGUE, short, triples

from tidings.lang import parse
from tidings.match.base import Failure
from tidings.match.meaning import Meaning
from tidings.match.ops import Ops
from tidings.match.ops.traversal import traverse
from tidings.match.ops.tree import Circle, MatchingTree, Rectangle, TreeNode
from tidings.match.ops.verification import reduced
from tidings.ontology import Ontology
from tidings.rdf.event import Event

FIGURE_4 = """
(_:H, ?1, (H, p1, A))  (_:H, ?3, (H, p2, C))  (?1, ?2, (A, p3, B))
(?1, ?4, (A, p4, C))   (?2, ?4, (B, p5, C))   (?3, ?4, (C, p6, C))
"""
FIGURE_5 = """
_:H a :H ; :p1 _:a ; :p2 _:c .
_:a a :A ; :p3 _:b ; :p4 _:c, _:d .
_:b a :B ; :p5 _:d .
_:c a :C ; :p6 _:d .
_:d a :C .
"""


def unexpected(failure: Failure) -> None:
    raise AssertionError(failure)


def event(turtle: str) -> Event:
    return Event.of("urn:e", triples(turtle))


def engine(subscription: str, *, published: bool = False) -> Ops:
    made = Ops(Ontology.empty(), keep_trees=True, published=published)
    made.add("s", parse(PROLOGUE + subscription, "ops"))
    return made


def tree(subscription: str, turtle: str, *, published: bool = False) -> MatchingTree:
    made = engine(subscription, published=published)
    made.match(event(turtle), unexpected)
    return made.tree("s")


def drawn(ops: Ops, node: TreeNode, depth: int = 0) -> list[str]:
    """The tree as text: circles with their vertex pairs, rectangles with EMS(i), checked or unchecked."""
    state = "c" if node.checked else "u"
    if isinstance(node, Circle):
        pairs = " ".join(f"{vertex}={image}" for vertex, image in node.pairs.items())
        lines = [f"{'  ' * depth}({pairs}) {state}{node.unchecked_children}"]
        children: list[TreeNode] = list(node.children)
    else:
        meta = f"EMS({ops.ems.number(node.pattern.row.meta)})"
        lines = [f"{'  ' * depth}[{node.subject} {node.object or node.pattern.object} {meta}] {state}"]
        children = list(node.children.values())
    for child in children:
        lines += drawn(ops, child, depth + 1)
    return lines


# --------------------------------------------------------------------------------------------------- figures 4, 5 and 6


def test_the_initial_state_of_the_array() -> None:
    """Figure 4: the rows in alphabetical order, and waiting in them the patterns that start at the home vertex."""
    rows = engine(FIGURE_4).ems.rows
    assert [tuple(map(short, row.meta)) for row in rows] == [
        ("A", "p3", "B"),
        ("A", "p4", "C"),
        ("B", "p5", "C"),
        ("C", "p6", "C"),
        ("H", "p1", "A"),
        ("H", "p2", "C"),
    ]
    waiting = [[p.object for initial in row.initial.values() for p in initial.observers] for row in rows]
    assert waiting == [[], [], [], [], ["?1"], ["?3"]]


def test_the_traversal() -> None:
    """Figure 5: the typed statements of the event in the order of its breadth-first tree."""
    ems = engine(FIGURE_4).ems
    statements = traverse(Meaning(event(FIGURE_5), Ontology.empty()), ems)
    assert [(s.subject, s.object, ems.number(s.meta)) for s in statements] == [
        ("_:H", "_:a", 5),
        ("_:H", "_:c", 6),
        ("_:a", "_:b", 1),
        ("_:a", "_:c", 2),
        ("_:a", "_:d", 2),
        ("_:c", "_:d", 4),
        ("_:b", "_:d", 3),
    ]


def test_the_matching_tree() -> None:
    """Figure 6, which the text describes: every partial mapping solution, the wrong ?4=_:c among them."""
    for published in (False, True):
        made = engine(FIGURE_4, published=published)
        found = made.match(event(FIGURE_5), unexpected)
        assert drawn(made, made.tree("s").root) == [
            "(_:H=_:H) c0",
            "  [_:H ?1 EMS(5)] c",
            "    (_:H=_:H ?1=_:a) c0",
            "      [_:a ?2 EMS(1)] c",
            "        (_:H=_:H ?1=_:a ?2=_:b) c0",
            "          [_:b ?4 EMS(3)] c",
            "            (_:H=_:H ?1=_:a ?2=_:b ?4=_:d) c0",
            "      [_:a ?4 EMS(2)] c",
            "        (_:H=_:H ?1=_:a ?4=_:c) c0",
            "        (_:H=_:H ?1=_:a ?4=_:d) c0",
            "  [_:H ?3 EMS(6)] c",
            "    (_:H=_:H ?3=_:c) c0",
            "      [_:c ?4 EMS(4)] c",
            "        (_:H=_:H ?3=_:c ?4=_:d) c0",
        ]
        assert [match.bindings for match in found] == [({"1": "_:a", "2": "_:b", "3": "_:c", "4": "_:d"},)]


def test_the_reduced_tree_leaves_out_what_contradicts() -> None:
    made = engine(FIGURE_4)
    made.match(event(FIGURE_5), unexpected)
    found = made.tree("s")
    assert found.solution == {"_:H": "_:H", "?1": "_:a", "?2": "_:b", "?3": "_:c", "?4": "_:d"}
    kept = reduced(found, found.solution)
    left_out = [node for node in found.nodes() if node not in kept]
    assert [repr(node) for node in left_out] == ["(_:H=_:H, ?1=_:a, ?4=_:c)"]


def test_a_passed_state_check_is_no_match_yet() -> None:
    """Without a p4 d all nodes are checked, but ?4 would be c on one way and d on the others."""
    found = tree(FIGURE_4, FIGURE_5.replace(":p4 _:c, _:d", ":p4 _:c"))
    assert all(node.checked for node in found.nodes())
    assert found.matched is False


# ------------------------------------------------------------------------------------------------------------- figure 7


def test_the_backtracking() -> None:
    """Figure 7: circle I has nothing left to derive; I, H, G and E are checked, and D waits for one child less."""
    subscription = """
    (_:H, ?d, (owl:Thing, b, owl:Thing))
    (?d, ?g, (owl:Thing, e, owl:Thing))  (?d, ?f, (owl:Thing, f, owl:Thing))
    (?g, ?i, (owl:Thing, h, owl:Thing))
    """
    found = tree(subscription, "_:H :b _:d . _:d :e _:g . _:g :h _:i .")
    (rectangle_b,) = found.root.children
    d = rectangle_b.children[triples("_:d :p 1 .")[0][0]]
    e, f = d.children
    (g,) = e.children.values()
    (h,) = g.children
    (i,) = h.children.values()
    assert found.backtracks == [[i, h, g, e]]
    assert [node.checked for node in (i, h, g, e, d, f, rectangle_b, found.root)] == [True] * 4 + [False] * 4
    assert (d.unchecked_children, found.root.unchecked_children) == (1, 1)
    assert found.matched is None


# ------------------------------------------------------------------------------------------------- cycles and conflicts


def test_a_vertex_on_the_path_derives_nothing() -> None:
    """The path rule: _:H ?1 ?2 ?1 ends there, with ?1 replaced by what it is known to be."""
    made = engine(
        "(_:H, ?1, (owl:Thing, p, owl:Thing)) (?1, ?2, (owl:Thing, p, owl:Thing)) (?2, ?1, (owl:Thing, p, owl:Thing))"
    )
    found = made.match(event("_:H :p _:a . _:a :p _:b . _:b :p _:a ."), unexpected)
    assert drawn(made, made.tree("s").root) == [
        "(_:H=_:H) c0",
        "  [_:H ?1 EMS(1)] c",
        "    (_:H=_:H ?1=_:a) c0",
        "      [_:a ?2 EMS(1)] c",
        "        (_:H=_:H ?1=_:a ?2=_:b) c0",
        "          [_:b _:a EMS(1)] c",
        "            (_:H=_:H ?1=_:a ?2=_:b) c0",
    ]
    assert len(found) == 1


def test_a_contradiction_on_the_path() -> None:
    """?2 back at _:H is false by rule 5: the paper finds out at the end, we do not put it into the tree."""
    subscription = "(_:H, ?1, (owl:Thing, p, owl:Thing)) (?1, ?2, (owl:Thing, p, owl:Thing))"
    turtle = "_:H :p _:a . _:a :p _:H ."
    ours, theirs = tree(subscription, turtle), tree(subscription, turtle, published=True)
    assert (ours.circles, theirs.circles) == (2, 3)
    assert (ours.root.checked, theirs.root.checked) == (False, True)
    assert (ours.matched, theirs.matched) == (None, False)


def test_the_tree_of_a_subscription_that_nothing_met() -> None:
    found = tree(FIGURE_4, "_:H :other _:a .")
    assert [type(node) for node in found.nodes()] == [Circle, Rectangle, Rectangle]
    assert not any(node.checked for node in found.nodes())
