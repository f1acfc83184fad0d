from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.ontology.graph import adjacency, components, cycles, reach

SIZE = 7
edges = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=16)


def reachable(pairs: list[tuple[int, int]]) -> list[list[bool]]:
    """Warshall, in one or more steps."""
    found = [[(i, j) in pairs for j in range(SIZE)] for i in range(SIZE)]
    for k in range(SIZE):
        for i in range(SIZE):
            for j in range(SIZE):
                found[i][j] = found[i][j] or (found[i][k] and found[k][j])
    return found


def test_adjacency_is_sorted_without_repeats_and_loops() -> None:
    assert adjacency(3, [(0, 2), (0, 1), (0, 2), (1, 1)]) == [[1, 2], [], []]


@settings(deadline=None)
@given(edges)
def test_components_are_the_classes_of_mutual_reachability(pairs: list[tuple[int, int]]) -> None:
    far = reachable(pairs)
    found = components(adjacency(SIZE, pairs))
    assert sorted(node for component in found for node in component) == list(range(SIZE))
    at = {node: i for i, component in enumerate(found) for node in component}
    for i in range(SIZE):
        for j in range(SIZE):
            assert (at[i] == at[j]) == (i == j or (far[i][j] and far[j][i]))
            if far[i][j]:
                assert at[j] <= at[i], "a component comes after those it leads to"


@settings(deadline=None)
@given(edges)
def test_a_cycle_of_every_tangle(pairs: list[tuple[int, int]]) -> None:
    proper = [(a, b) for a, b in pairs if a != b]
    far = reachable(proper)
    tangles = {frozenset(j for j in range(SIZE) if far[i][j] and far[j][i]) for i in range(SIZE) if far[i][i]}
    found = cycles(adjacency(SIZE, pairs))
    assert len(found) == len(tangles)
    for cycle in found:
        assert any(tangle.issuperset(cycle) for tangle in tangles)
        assert len(set(cycle)) == len(cycle)
        assert cycle[0] == min(cycle)
        assert all(step in proper for step in zip(cycle, [*cycle[1:], cycle[0]], strict=True))


def test_the_shortest_cycle_is_told() -> None:
    assert cycles(adjacency(5, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 2)])) == [[2, 3]]


@settings(deadline=None)
@given(edges, st.integers(0, SIZE - 1))
def test_reach(pairs: list[tuple[int, int]], start: int) -> None:
    far = reachable(pairs)
    assert reach(adjacency(SIZE, pairs), start) == {j for j in range(SIZE) if j == start or far[start][j]}


def test_long_chains_do_not_recurse() -> None:
    size = 50_000
    chain = adjacency(size, [(i, i + 1) for i in range(size - 1)])
    assert len(components(chain)) == size
    ring = adjacency(size, [(i, (i + 1) % size) for i in range(size)])
    assert [len(cycle) for cycle in cycles(ring)] == [size]
