"""RDFC-1.0 against pyoxigraph's, and what happens where it would take for ever."""

from __future__ import annotations

from itertools import permutations

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.rdf.canonical import WorkLimit, canonical
from tidings.rdf.terms import Term, Triple, literal, to_oxigraph

BLANKS = [Term(f"_:n{i}") for i in range(6)]
GROUND = [Term("<e:x>"), Term('"l\\"i\\nt"@en'), literal("\u0001\u00e9 _:n0")]
PREDICATES = [Term("<e:p>"), Term("<e:q>")]


def theirs(triples: set[Triple]) -> str:
    dataset = ox.Dataset(ox.Quad(*map(to_oxigraph, triple)) for triple in triples)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return "".join(sorted(f"{quad.triple} .\n" for quad in dataset))


graphs = st.sets(
    st.tuples(st.sampled_from(BLANKS + GROUND[:1]), st.sampled_from(PREDICATES), st.sampled_from(BLANKS + GROUND)),
    max_size=10,
)


@given(graphs)
def test_random_graphs(triples: set[Triple]) -> None:
    assert canonical(triples, 10_000_000) == theirs(triples)


@given(graphs, st.permutations(BLANKS))
def test_labels_make_no_difference(triples: set[Triple], names: list[Term]) -> None:
    renamed = dict(zip(BLANKS, names, strict=True))
    other = {(renamed.get(s, s), p, renamed.get(o, o)) for s, p, o in triples}
    assert canonical(other, 10_000_000) == canonical(triples, 10_000_000)


def ring(size: int, start: int = 0) -> set[Triple]:
    nodes = [Term(f"_:r{start}_{i}") for i in range(size)]
    return {(a, PREDICATES[0], b) for a, b in zip(nodes, nodes[1:] + nodes[:1], strict=True)}


def clique(size: int) -> set[Triple]:
    return {(Term(f"_:k{a}"), PREDICATES[0], Term(f"_:k{b}")) for a, b in permutations(range(size), 2)}


def both_ways(triples: set[Triple]) -> set[Triple]:
    return triples | {(o, p, s) for s, p, o in triples}


SYMMETRIC = {
    "ring": ring(6),
    "two rings": ring(3) | ring(3, 1),
    "ring both ways": both_ways(ring(5)),
    "clique": clique(5),
    "clique and ring": clique(4) | ring(4),
    "star": {(Term("_:c"), PREDICATES[0], Term(f"_:s{i}")) for i in range(5)},
    "bipartite": {(Term(f"_:u{i}"), PREDICATES[0], Term(f"_:v{j}")) for i in range(3) for j in range(3)},
    "list": {(Term(f"_:l{i}"), PREDICATES[0], Term(f"_:l{i + 1}")) for i in range(20)},
    "self": {(Term("_:a"), PREDICATES[0], Term("_:a")), (Term("_:b"), PREDICATES[0], Term("_:b"))},
}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_graphs(name: str) -> None:
    assert canonical(SYMMETRIC[name], 10_000_000) == theirs(SYMMETRIC[name])


def test_without_blank_nodes_it_is_the_sorted_lines() -> None:
    triples: set[Triple] = {(Term("<e:b>"), PREDICATES[0], GROUND[1]), (Term("<e:a>"), PREDICATES[0], GROUND[0])}
    assert canonical(triples, 0) == theirs(triples)


@pytest.mark.parametrize("size", [8, 12, 40])
def test_a_clique_ends_in_its_limit(size: int) -> None:
    with pytest.raises(WorkLimit):
        canonical(clique(size), 100_000)


def test_a_long_list_of_equal_things_is_no_problem_for_the_stack() -> None:
    triples = {(Term(f"_:l{i}"), PREDICATES[0], Term(f"_:l{i + 1}")) for i in range(3000)}
    with pytest.raises(WorkLimit):
        canonical(triples, 200_000)


def test_many_blank_nodes_that_differ_are_little_work() -> None:
    triples: set[Triple] = {(Term(f"_:n{i}"), PREDICATES[0], literal(str(i))) for i in range(5000)}
    assert canonical(triples, 100).count("\n") == 5000
