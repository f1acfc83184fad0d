"""Theorems and lemmas of the OPS paper on generated subscriptions and events, with the oracle and its rules 1 to 5."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from tests.property import check
from tests.property import model as m
from tests.property.render import text
from tests.property.strategies import ops_cases
from tests.property.strategies_focus import ops_shapes

from tidings.lang import Query, parse
from tidings.lang.pattern import Block, ClassOf, Node, TriplePattern, Var
from tidings.match.base import Failure
from tidings.match.meaning import Meaning
from tidings.match.naive import Naive
from tidings.match.ops import Ops
from tidings.match.ops.ems import EmsArray
from tidings.match.ops.traversal import traverse
from tidings.match.ops.tree import Circle, MatchingTree, TreeNode
from tidings.match.ops.verification import reduced, solutions
from tidings.match.run import Budget
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import HOME, RDF_TYPE, Term, Triple, blank, iri, is_literal

Case = tuple[Query, Ontology, Event]
THING = iri("http://www.w3.org/2002/07/owl#Thing")
CLASSES = [iri("http://e.x/A"), iri("http://e.x/B"), THING]
LINKS = [iri("http://e.x/p"), iri("http://e.x/q")]


def unexpected(failure: Failure) -> None:
    raise AssertionError(failure)


@st.composite
def dense(draw: st.DrawFn) -> Case:
    """Few vertices, many arcs: ways back, several ways to one vertex, arcs that pass before their pattern is there."""
    vertices = [HOME, *(blank(label) for label in "abcd")]
    arcs: list[Triple] = []
    for number in range(draw(st.integers(3, 9))):
        subject = draw(st.sampled_from(vertices[: number + 1]))
        arcs.append((subject, draw(st.sampled_from(LINKS)), draw(st.sampled_from(vertices))))
    types = [(v, RDF_TYPE, cls) for v in vertices for cls in draw(st.sets(st.sampled_from(CLASSES[:2]), max_size=2))]
    ends: list[Node] = [*map(Var, "wxyzwxyz"), vertices[1]]
    reached: list[Node] = [HOME]
    triples: list[TriplePattern] = []
    classes: list[ClassOf] = []
    for _ in range(draw(st.integers(2, 6))):
        s = draw(st.sampled_from(reached))
        o = draw(st.sampled_from(ends))
        triples.append(TriplePattern(s, draw(st.sampled_from(LINKS)), o))
        classes += [ClassOf(end, draw(st.sampled_from([*CLASSES, THING, THING]))) for end in (s, o)]
        reached.append(o)
    query = Query("ops", "SELECT", Block(tuple(triples), classes=tuple(classes), injective=True), distinct=True)
    return query, Ontology.empty(), Event.of("urn:e", [*arcs, *types])


def _rendered(case: tuple[m.OpsSubscription, m.World]) -> Case:
    subscription, world = case
    event = Event.of(world.event_id.value, check.triples(world.event))
    return parse(text(subscription), "ops"), Ontology.of(check.triples(world.ontology)), event


CASES = st.one_of(ops_cases().map(_rendered), ops_shapes().map(_rendered), dense())


def tree(case: Case, *, published: bool = False) -> MatchingTree:
    query, ontology, event = case
    engine = Ops(ontology, keep_trees=True, published=published)
    engine.add("s", query)
    engine.match(event, unexpected)
    return engine.tree("s")


def oracle(case: Case) -> set[frozenset[tuple[str, Term]]]:
    """The solutions."""
    query, ontology, event = case
    engine = Naive(ontology)
    engine.add("s", query)
    return {frozenset(row.items()) for match in engine.match(event, unexpected) for row in match.bindings}


# ------------------------------------------------------------------------------------ rules 1 to 5, taken at their word

Conjunction = frozenset[tuple[str, Term]]


def expression(node: TreeNode) -> set[Conjunction]:
    """The boolean expression as a disjunctive normal form; the empty set is false."""
    if not isinstance(node, Circle):
        return {conjunction for child in node.children.values() for conjunction in expression(child)}
    if not node.children:
        return set(_consistent(frozenset(node.pairs.items())))
    parts = [expression(child) for child in node.children]
    return {c for combination in product(*parts) for c in _consistent(frozenset().union(*combination))}


def _consistent(pairs: Conjunction) -> Iterator[Conjunction]:
    if len(pairs) == len({vertex for vertex, _ in pairs}) == len({image for _, image in pairs}):
        yield pairs


@check.examples(150)
@given(CASES)
def test_the_search_finds_the_disjuncts_of_the_root(case: Case) -> None:
    for published in (False, True):
        found = tree(case, published=published)
        by_search = [frozenset(solution.items()) for solution in solutions(found, Budget(1_000_000))]
        assert len(by_search) == len(set(by_search))
        assert set(by_search) == expression(found.root)


@check.examples(250)
@given(CASES)
def test_theorem_1(case: Case) -> None:
    """The expression of the root is not false exactly where the event matches; its disjuncts are the solutions."""
    found = expression(tree(case).root)
    assert {frozenset((v[1:], x) for v, x in pairs if v[0] == "?") for pairs in found} == oracle(case)


@check.examples(80)
@given(CASES)
def test_theorem_2(case: Case) -> None:
    """Where the root is unchecked, the event does not match."""
    if not tree(case).root.checked:
        assert not oracle(case)


@check.examples(80)
@given(CASES)
def test_what_is_published_is_sound(case: Case) -> None:
    """The paper's own traversal misses solutions and makes none up."""
    found = expression(tree(case, published=True).root)
    assert {frozenset((v[1:], x) for v, x in pairs if v[0] == "?") for pairs in found} <= oracle(case)


@check.examples(80)
@given(CASES)
def test_states_are_what_their_definition_says(case: Case) -> None:
    """The backtracking gives every node the state that its children's states demand."""
    for node in tree(case).nodes():
        if isinstance(node, Circle):
            assert node.unchecked_children == sum(not child.checked for child in node.children)
            assert node.checked == (node.unchecked_children == 0)
        else:
            assert node.checked == any(child.checked for child in node.children.values())


@check.examples(80)
@given(CASES)
def test_lemmas_of_the_reduced_tree(case: Case) -> None:
    found = tree(case)
    for solution in solutions(found, Budget(1_000_000)):
        nodes = reduced(found, solution)
        circles = [node for node in nodes if isinstance(node, Circle)]
        patterns = {node.pattern for node in nodes if not isinstance(node, Circle)}
        assert patterns == set(found.graph.patterns), "lemma 1: every pattern has its rectangle"
        leaves = [circle for circle in circles if not circle.children]
        assert {pair for leaf in leaves for pair in leaf.pairs.items()} == set(solution.items()), "lemmas 2 and 4"
        assert all(circle.pairs.items() <= solution.items() for circle in circles), "lemma 3"
        assert all(node.checked for node in nodes), "lemma 6"


# ------------------------------------------------------------------------------------------------------------- classes


@check.examples(80)
@given(ops_cases().map(_rendered))
def test_typed_statements_lead_to_all_classes(case: Case) -> None:
    """The rows of an arc and those above them are its classes under E*, no more and no less."""
    _, ontology, event = case
    meaning = Meaning(event, ontology)
    ems = EmsArray(ontology)
    reached: dict[Term, set[Term]] = {}
    for subject, object, (subject_class, _, object_class) in traverse(meaning, ems):
        reached.setdefault(subject, set()).update(ems.above(subject_class))
        if not is_literal(object):
            reached.setdefault(object, set()).update(ems.above(object_class))
    for vertex, classes in reached.items():
        assert classes == meaning.classes(vertex)
