from __future__ import annotations

import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.ontology import Ontology, hierarchy
from tidings.ontology.hierarchy import Hierarchy
from tidings.rdf.terms import RDF_TYPE, SUBCLASS_OF, Term, blank, iri

SIZE = 9
numbers = st.integers(0, SIZE - 1)
edges = st.lists(st.tuples(numbers, numbers), max_size=18)
downward = edges.map(lambda pairs: [(max(pair), min(pair)) for pair in pairs])
few = st.lists(st.tuples(numbers, numbers), max_size=3)


def name(number: int) -> Term:
    return iri(f"http://e.x/c{number}")


def closure(below: list[tuple[int, int]], same: list[tuple[int, int]]) -> list[list[bool]]:
    """Warshall: the reflexive, transitive closure of `below` with `same` in both directions."""
    pairs = {*below, *same, *((b, a) for a, b in same)}
    found = [[i == j or (i, j) in pairs for j in range(SIZE)] for i in range(SIZE)]
    for k in range(SIZE):
        for i in range(SIZE):
            for j in range(SIZE):
                found[i][j] = found[i][j] or (found[i][k] and found[k][j])
    return found


def named(pairs: list[tuple[int, int]]) -> list[tuple[Term, Term]]:
    return [(name(a), name(b)) for a, b in pairs]


def id_of(h: Hierarchy, number: int) -> int:
    id = h.id_of(name(number))
    assert id is not None
    return id


@settings(max_examples=300, deadline=None)
@given(edges | downward, few, st.sampled_from([0, 2, 1_000_000]))
def test_the_closure_is_warshalls(below: list[tuple[int, int]], same: list[tuple[int, int]], max_ranges: int) -> None:
    expected = closure(below, same)
    h = Hierarchy(map(name, range(SIZE)), named(below), named(same), max_ranges=max_ranges)
    everything = range(SIZE)
    for i in everything:
        assert h.ancestors(name(i)) == {name(j) for j in everything if expected[i][j]}
        assert h.descendants(name(i)) == {name(j) for j in everything if expected[j][i]}
        assert h.equivalents(name(i)) == {name(j) for j in everything if expected[i][j] and expected[j][i]}
        assert name(i) in h.members(id_of(h, i))
        for j in everything:
            a, b = id_of(h, i), id_of(h, j)
            assert h.is_a(name(i), name(j)) == expected[i][j]
            assert h.is_below(a, b) == expected[i][j]
            assert (a == b) == (expected[i][j] and expected[j][i])
            assert (b in h.above(a)) == (a in h.below(b)) == expected[i][j]
            assert h.overlap(a, b) == any(expected[k][i] and expected[k][j] for k in everything)


@settings(deadline=None)
@given(edges, few)
def test_the_integers_depend_on_the_statements_alone(below: list[tuple[int, int]], same: list[tuple[int, int]]) -> None:
    one = Hierarchy(map(name, range(SIZE)), named(below), named(same))
    other = Hierarchy(map(name, reversed(range(SIZE))), named(below[::-1]), named([(b, a) for a, b in same]))
    assert [one.id_of(name(i)) for i in range(SIZE)] == [other.id_of(name(i)) for i in range(SIZE)]


def test_unknown_names_are_related_to_themselves_alone() -> None:
    h = Hierarchy([name(0)])
    assert h.ancestors(name(1)) == h.descendants(name(1)) == h.equivalents(name(1)) == {name(1)}
    assert h.is_a(name(1), name(1))
    assert not h.is_a(name(1), name(0))
    assert h.id_of(name(1)) is None
    assert h.ids_of([name(0), name(1)]) == {0}
    assert name(1) not in h


def test_blank_nodes_carry_the_relation_and_are_no_names() -> None:
    restriction = blank("r")
    h = Hierarchy([name(0), name(1)], [(name(0), restriction), (restriction, name(1))])
    assert h.ancestors(name(0)) == {name(0), name(1)}
    assert h.descendants(name(1)) == {name(0), name(1)}
    assert list(h) == [name(0), name(1)]
    assert len(h) == 2
    assert restriction not in h


def test_the_empty_hierarchy() -> None:
    h = Hierarchy([])
    assert len(h) == 0
    assert list(h.ids) == []


def test_a_chain_of_a_hundred_thousand() -> None:
    size = 100_000
    names = [iri(f"http://e.x/{i:06d}") for i in range(size)]
    h = Hierarchy(names, [(names[i + 1], names[i]) for i in range(size - 1)])
    assert h.is_a(names[-1], names[0])
    assert not h.is_a(names[0], names[-1])
    assert h.is_a(names[70_000], names[30_000])
    assert len(h.ancestors(names[-1])) == len(h.descendants(names[0])) == size


def test_the_cache_is_bounded() -> None:
    original = hierarchy.MAX_CACHED
    names = [iri(f"http://e.x/{i:04d}") for i in range(2_000)]
    h = Hierarchy(names, [(names[i + 1], names[i]) for i in range(1_999)])
    for n in names:
        h.ancestors(n)
    assert h._cached <= original
    assert len(h._above) < 2_000
    assert len(h.ancestors(names[500])) == 501


def test_it_pickles() -> None:
    h = Hierarchy(map(name, range(3)), named([(0, 1), (1, 2)]))
    again = pickle.loads(pickle.dumps(h))
    assert again.ancestors(name(0)) == h.ancestors(name(0))
    assert again.is_a(name(0), name(2))


def test_a_blank_node_is_never_known_by_its_label() -> None:
    """An event's blank node is not the ontology's class expression or instance that has the same label."""
    sub, named = Term("_:b"), Term("<e:C>")
    ontology = Ontology.of(
        [(sub, SUBCLASS_OF, named), (Term("<e:A>"), SUBCLASS_OF, sub), (sub, RDF_TYPE, Term("<e:T>"))]
    )
    assert ontology.superclasses(sub) == {sub}
    assert ontology.types_of(sub) == frozenset()
    assert named in ontology.superclasses(Term("<e:A>"))
