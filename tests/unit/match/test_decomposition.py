"""The decomposition matcher: what its network shares, how it is cut and pruned, its counters, its budget."""

from __future__ import annotations

import random

import pytest
from tests.unit.match.worlds import EX, PROLOGUE, triples

from tidings.errors import UnsupportedError
from tidings.lang import parse
from tidings.lang.pattern import Block, Call, ClassOf, Const, Query, TriplePattern, Var
from tidings.match.base import Failure, Match
from tidings.match.decomposition import Decomposition
from tidings.match.naive import Naive
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import HOME, RDF_TYPE, Term, blank, iri

CHAIN = "(_:H, ?a, (:C, :p, :C)) (?a, ?b, (:C, :p, :C)) (?b, ?c, (:C, :p, :C))"
DIAMOND = "(_:H, ?a, (:C, :p, :D)) (_:H, ?b, (:C, :p, :D)) (?a, ?c, (:D, :p, :E)) (?b, ?c, (:D, :p, :E))"


def query(text: str) -> Query:
    return parse(PROLOGUE + text, "ops")


def engine(*texts: str, ontology: str = "", budget: int = 100_000, published: bool = False) -> Decomposition:
    made = Decomposition(Ontology.of(triples(ontology)), budget=budget, published=published)
    for number, text in enumerate(texts):
        made.add(f"q{number}", query(text))
    return made


def event(turtle: str) -> Event:
    return Event.of("urn:e", triples(turtle), source="file.ttl")


def unexpected(failure: Failure) -> None:
    raise AssertionError(failure)


def matched(made: Decomposition, turtle: str) -> list[str]:
    return [match.subscription for match in made.match(event(turtle), unexpected)]


def nodes(made: Decomposition) -> tuple[float, float]:
    """Vertex nodes, and nodes put together of others."""
    stats = made.stats()
    return stats["vertex_nodes"], stats["network_nodes"] - stats["vertex_nodes"]


# ------------------------------------------------------------------------------------------------------------ network


def test_down_to_single_vertices() -> None:
    """A pattern of n vertices is put together in n - 1 steps; equal parts are one node."""
    assert nodes(engine("(_:H, ?a, (:C, :p, :D))")) == (2, 1)
    assert nodes(engine("(_:H, ?a, (:C, :p, :D)) (?a, ?b, (:D, :p, :E)) (?b, ?c, (:E, :p, :F))")) == (4, 3)
    assert nodes(engine(CHAIN)) == (2, 3)


def test_equal_labels_are_one_vertex() -> None:
    """Classes and conditions as sets, whatever the variable is called; a constant or a loop makes another vertex."""
    text = "(_:H, ?a, (:C, :p, :D), ?a > 1) (_:H, ?a, (:C, :q, :E))"
    assert nodes(engine(text, "(_:H, ?z, (:C, :q, :E), ?z > 1) (_:H, ?z, (:C, :p, :D))"))[0] == 2
    assert nodes(engine(text, "(_:H, ?a, (:C, :p, :D), ?a > 2) (_:H, ?a, (:C, :q, :E))"))[0] == 3
    assert nodes(engine(text, "(_:H, ?a, (:C, :p, :D), ?a > 1) (?a, ?a, (:E, :q, :E))"))[0] == 3
    assert nodes(engine("(_:H, ?a, (:C, :p, :D))", "(_:H, :a, (:C, :p, :D))"))[0] == 3


def test_the_same_pattern_in_other_words_is_one_node() -> None:
    turned = "(?x, ?z, (:D, :p, :E)) (?y, ?z, (:D, :p, :E)) (_:H, ?x, (:C, :p, :D)) (_:H, ?y, (:C, :p, :D))"
    made = engine(DIAMOND, turned)
    assert nodes(made) == nodes(engine(DIAMOND))
    found = made.match(event("_:H a :C ; :p :a, :b . :a a :D ; :p :c . :b a :D ; :p :c . :c a :E ."), unexpected)
    assert found == [Match("urn:e", "q0", "file.ttl"), Match("urn:e", "q1", "file.ttl")]
    a, b, c = (Term(f"<{EX}{name}>") for name in "abc")
    assert found[0].bindings == ({"a": a, "b": b, "c": c}, {"a": b, "b": a, "c": c})
    assert found[1].bindings == ({"x": a, "z": c, "y": b}, {"x": b, "z": c, "y": a})


def test_the_largest_known_part_is_split_off() -> None:
    """The diamond with one more vertex needs that vertex and one node."""
    alone = nodes(engine(DIAMOND))
    assert nodes(engine(DIAMOND, DIAMOND + "(?c, ?d, (:E, :q, :F))")) == (alone[0] + 1, alone[1] + 1)
    # A further arc inside the known part makes it another part.
    assert nodes(engine(DIAMOND, DIAMOND + "(?a, ?b, (:D, :q, :D))"))[1] > alone[1]


def test_a_search_cut_short_costs_sharing_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.match.decomposition.network._MOST_PAIRS", 0)
    made = engine(CHAIN, DIAMOND, DIAMOND + "(?c, ?d, (:E, :q, :F))")
    diamond = "_:H a :C ; :p :a, :b . :a a :D ; :p :c . :b a :D ; :p :c . :c a :E ."
    assert matched(made, diamond) == ["q1"]
    assert matched(made, diamond + ":c :q :d . :d a :F .") == ["q1", "q2"]


def test_removal_leaves_what_others_need() -> None:
    made = engine(DIAMOND, CHAIN)
    before = nodes(engine(DIAMOND))
    made.remove("q1")
    assert nodes(made) == before
    made.remove("q0")
    assert nodes(made) == (0, 0)
    assert len(made) == 0
    with pytest.raises(KeyError):
        made.remove("q0")
    assert matched(made, "_:H a :C ; :p :a .") == []


def test_add_replaces() -> None:
    made = engine("(_:H, ?a, (:C, :p, :D))")
    made.add("q0", query("(_:H, ?a, (:C, :q, :D))"))
    assert len(made) == 1
    assert matched(made, "_:H a :C ; :p :a . :a a :D .") == []
    assert matched(made, "_:H a :C ; :q :a . :a a :D .") == ["q0"]


# ----------------------------------------------------------------------------------------------------------- assembly


def test_injective_across_parts() -> None:
    made = engine(CHAIN)
    assert matched(made, "_:H a :C ; :p :a . :a a :C ; :p :b . :b a :C ; :p :a .") == []
    assert matched(made, "_:H a :C ; :p :a . :a a :C ; :p :b . :b a :C ; :p :d . :d a :C .") == ["q0"]


def test_counters() -> None:
    made = engine(CHAIN, "(_:H, ?a, (:C, :p, :F))")
    made.match(event("_:H a :C ; :p :a . :a a :C ; :p :b . :b a :C ; :p :d . :d a :C ."), unexpected)
    stats = made.stats()
    # H is of class C too: it is tried as H and as any C. Nothing is of class F.
    assert stats["vertex_tests"] == 1 + 4
    assert stats["joins"] == 3
    assert (stats["candidates"], stats["matches"], stats["failures"]) == (1, 1, 0)
    # H; four C; (H, a); the pairs of C; the whole.
    assert stats["instances"] == 1 + 4 + 1 + 3 + 1
    assert stats["bytes_held"] > 0


def test_published_tries_every_pair() -> None:
    fan = (
        "_:H a :C ; :p " + ", ".join(f":n{i}" for i in range(20)) + " . " + " ".join(f":n{i} a :D ." for i in range(20))
    )
    repaired, published = (engine(DIAMOND, "(_:H, ?a, (:C, :p, :D))", published=flag) for flag in (False, True))
    assert matched(repaired, fan) == matched(published, fan) == ["q1"]
    unconnected = fan + " :x :q :y . " + " ".join(f":m{i} a :D ; :q :x ." for i in range(20))
    assert matched(repaired, unconnected) == matched(published, unconnected) == ["q1"]
    assert repaired.stats()["pairs"] < published.stats()["pairs"]


def test_published_keeps_a_rest_that_falls_apart() -> None:
    """Whatever half of a star is split off first, the half without its centre has the product of its vertices."""
    star = " ".join(f"(_:H, ?{n}, (:C, :p, :D))" for n in range(7))
    world = " ".join(f":n{n} a :D ; :p _:H ." for n in range(7)) + " _:H a :C ."
    repaired, published = (engine(star, published=flag) for flag in (False, True))
    assert matched(repaired, world) == matched(published, world) == []
    # H and seven D; only the plain network has parts of several D.
    assert repaired.stats()["instances"] == 1 + 7
    assert published.stats()["instances"] >= 1 + 7 + 7 * 6


def test_a_node_over_the_budget_fails_its_subscriptions() -> None:
    clique = "_:H a :C . " + " ".join(f":n{i} a :C ; :p :n{j} ." for i in range(12) for j in range(12) if i != j)
    wide = "(_:H, ?a, (:C, :q, :C)) (?a, ?b, (:C, :p, :C)) (?b, ?c, (:C, :p, :C)) (?c, ?d, (:C, :p, :C))"
    made = engine(wide, "(_:H, ?a, (:C, :q, :C))", "(_:H, ?a, (:C, :q, :F)) (?a, ?b, (:F, :p, :C))", budget=8_000)
    failures: list[Failure] = []
    found = made.match(event(clique + " _:H :q :n1 ."), failures.append)
    assert [match.subscription for match in found] == ["q1"]
    assert [(failure.event, failure.subscription) for failure in failures] == [("urn:e", "q0")]
    assert "budget of 8000 steps" in failures[0].reason
    assert made.stats()["failures"] == 1
    # Another event starts with nothing spent.
    assert matched(made, "_:H a :C ; :q :n1 . :n1 a :C .") == ["q1"]


def test_a_part_without_instances_decides() -> None:
    """Whatever a costly part would give, nothing is of the class that the other part asks for."""
    clique = "_:H a :C . " + " ".join(f":n{i} a :C ; :p :n{j} ." for i in range(12) for j in range(12) if i != j)
    wide = "(?a, ?b, (:C, :p, :C)) (?b, ?c, (:C, :p, :C)) (?c, ?d, (:C, :p, :C))"
    made = engine(f"(_:H, ?a, (:Nothing, :q, :C)) {wide}", budget=8_000)
    assert matched(made, clique + " _:H :q :n1 .") == []


def test_refusals() -> None:
    made = engine("(_:H, ?a, (:C, :p, :D))")
    a, p = Var("a"), iri(f"{EX}p")
    arc, classes = TriplePattern(HOME, p, a), (ClassOf(HOME, p), ClassOf(a, p))

    def form(*triples: TriplePattern, filters: tuple[Call, ...] = (), classes: tuple[ClassOf, ...] = classes) -> Query:
        return Query("ops", "SELECT", Block(triples, filters=filters, classes=classes, injective=True))

    two = Call("=", (a, Var("b")))
    none = Call("=", (Const(p), Const(p)))
    cases = [
        (parse("ASK {}"), "sparql dialect"),
        (form(), "statement patterns"),
        (form(TriplePattern(HOME, Var("p"), a)), "variable as a property"),
        (form(arc, classes=classes[:1]), "without a class"),
        (form(arc, classes=(*classes, ClassOf(Var("b"), p))), "no vertex"),
        (query(" ".join(f"(_:H, ?v{i}, (:C, :p, :D))" for i in range(2_000))), "more than 2000 vertices"),
        (form(arc, filters=(two,)), "not on one vertex"),
        (form(arc, filters=(none,)), "not on one vertex"),
    ]
    for refused, construct in cases:
        with pytest.raises(UnsupportedError, match=construct):
            made.add("q0", refused)
    assert matched(made, "_:H a :C ; :p :a . :a a :D .") == ["q0"]


# ------------------------------------------------------------------------------------------- workload of the OPS paper

Graph = tuple[list[Term], list[tuple[int, Term, int]]]
"""The class of each vertex, and arcs; the first vertex is home."""


def random_graph(draw: random.Random, vertices: int, arcs: int) -> Graph:
    """All vertices are reached from the first; each class has two properties."""
    kinds = [draw.randrange(3) for _ in range(vertices)]
    made = {(draw.randrange(i), i) for i in range(1, vertices)}
    while len(made) < arcs:
        a, b = draw.sample(range(vertices), 2)
        made.add((a, b))
    named = [(a, iri(f"{EX}p{kinds[a] + draw.randrange(2)}"), b) for a, b in sorted(made)]
    return [iri(f"{EX}C{kind}") for kind in kinds], named


def part_of(draw: random.Random, whole: Graph, most: int) -> Graph:
    """A walk through a graph from its first vertex."""
    classes, arcs = whole
    numbers = {0: 0}
    taken: dict[tuple[int, Term, int], None] = {}
    for _ in range(most):
        a, p, b = draw.choice([arc for arc in arcs if arc[0] in numbers])
        numbers.setdefault(b, len(numbers))
        taken[numbers[a], p, numbers[b]] = None
    return [classes[vertex] for vertex in numbers], list(taken)


def as_event(number: int, whole: Graph) -> Event:
    classes, arcs = whole
    names = [HOME, *(blank(f"b{i}") for i in range(1, len(classes)))]
    typed = [(names[i], RDF_TYPE, cls) for i, cls in enumerate(classes)]
    return Event.of(f"urn:e{number}", [*typed, *((names[a], p, names[b]) for a, p, b in arcs)])


def as_query(whole: Graph) -> Query:
    classes, arcs = whole
    places = [HOME, *(Var(f"v{i}") for i in range(1, len(classes)))]
    patterns = tuple(TriplePattern(places[a], p, places[b]) for a, p, b in arcs)
    asked = tuple(ClassOf(places[i], classes[i]) for a, _, b in arcs for i in (a, b))
    return Query("ops", "SELECT", Block(patterns, classes=asked, injective=True), distinct=True)


@pytest.mark.parametrize(("published", "vertices", "arcs"), [(False, 6, 9), (True, 4, 4)])
def test_generated_patterns_of_many_vertices(published: bool, vertices: int, arcs: int) -> None:
    """As in the paper's experiments, somewhat smaller; half of the subscriptions are parts of events."""
    draw = random.Random(4)
    graphs = [random_graph(draw, 20, 24) for _ in range(6)]
    oracle, made = Naive(Ontology.empty()), Decomposition(Ontology.empty(), published=published)
    for number in range(60):
        drawn = part_of(draw, draw.choice(graphs), arcs) if number % 2 else random_graph(draw, vertices, arcs - 1)
        form = as_query(drawn)
        oracle.add(f"s{number}", form)
        made.add(f"s{number}", form)
    total = 0
    for number, whole in enumerate(graphs):
        expected, found = (each.match(as_event(number, whole), unexpected) for each in (oracle, made))
        assert found == expected
        assert [match.bindings for match in found] == [match.bindings for match in expected]
        total += len(found)
    assert total >= 30
