"""Second and third opinions: the brute-force check itself, and with it every matcher, against pyoxigraph and rdflib.

They are asked about E*, materialised by brute force, and only what survives them: pyoxigraph's store rewrites literals
and cuts numbers at 64 bits, so it sees small canonical ones; rdflib keeps terms and compares numbers of any size.
"""

from __future__ import annotations

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st
from tests.property import brute_sparql, check
from tests.property import model as m
from tests.property.brute_rdf import Knowledge
from tests.property.render import nt, text
from tests.property.rows import computed, same_rows
from tests.property.strategies import NUMBERS, OPERATORS, PROPERTIES, worlds
from tests.property.strategies_sparql import PORTABLE, sparql_cases

# ----------------------------------------------------------------------------------------------------------- pyoxigraph


def _store(world: m.World) -> ox.Store:
    lines = [f"{nt(s)} {nt(p)} {nt(o)}" for s, p, o in Knowledge(world).star]
    document = "".join(f"{line} .\n{line} {nt(world.event_id)} .\n" for line in lines)
    store = ox.Store()
    store.extend(ox.parse(document, format=ox.RdfFormat.N_QUADS))
    return store


@check.examples(250)
@given(sparql_cases(PORTABLE))
def test_pyoxigraph_agrees(case: tuple[m.Select, m.World]) -> None:
    query, world = case
    expected = brute_sparql.answer(query, world)
    found = _store(world).query(text(query))
    match found:
        case ox.QueryBoolean():
            assert bool(found) == (expected is not None)
        case ox.QueryTriples():
            made = {f"{t.subject} {t.predicate} {t.object}" for t in found}
            wanted = expected.triples if expected else None
            assert made == {f"{nt(s)} {nt(p)} {nt(o)}" for s, p, o in wanted or ()}
        case ox.QuerySolutions():
            rows = [{v.value: str(row[v]) for v in found.variables if row[v] is not None} for row in found]
            if expected is not None:
                assert same_rows(expected.rows, rows, computed(query), query.limit), (rows, expected.rows)
            else:
                # Over no solutions a bare aggregate is SPARQL's one row, and for a subscription no match.
                assert not rows or brute_sparql.implicit_group(query)
    check.agree(query, world, expected)


# --------------------------------------------------------------------------------------------------------------- rdflib


@pytest.fixture(autouse=True)
def _keep_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)


def _comparison(var: str) -> st.SearchStrategy[m.Expression]:
    return st.tuples(st.sampled_from(OPERATORS), st.just(m.V(var)), st.sampled_from(NUMBERS))


@st.composite
def _number_queries(draw: st.DrawFn) -> tuple[m.Select, m.World]:
    world = draw(worlds(st.sampled_from(NUMBERS), most=6))
    first, second = (m.Bgp(((m.V("x"), draw(st.sampled_from(PROPERTIES)), m.V(v)),)) for v in ("y", "z"))
    inner = m.Group((second, m.Filter((draw(st.sampled_from(OPERATORS)), m.V("z"), m.V("y")))))
    more = draw(st.sampled_from([m.Optional(inner), m.Filter(("not exists", inner)), m.Minus(m.Group((second,)))]))
    only_numbers = m.Filter(("isLiteral", m.V("y")))
    return m.Select(m.Group((first, only_numbers, m.Filter(draw(_comparison("y"))), more))), world


@check.examples(50)
@given(_number_queries())
def test_rdflib_agrees_on_numbers(case: tuple[m.Select, m.World]) -> None:
    query, world = case
    expected = brute_sparql.answer(query, world)
    graph = rdflib.Graph()
    graph.parse(data="".join(f"{nt(s)} {nt(p)} {nt(o)} .\n" for s, p, o in Knowledge(world).star), format="nt")
    found = graph.query(text(query))
    names = [str(v) for v in found.vars or ()]
    rows = [{n: _plain(t) for n, t in zip(names, row, strict=True) if t is not None} for row in found]
    wanted = [{n: _plain(t) for n, t in row.items()} for row in expected.rows] if expected else []
    assert sorted(map(sorted, (row.items() for row in rows))) == sorted(map(sorted, (row.items() for row in wanted)))
    check.agree(query, world, expected)


def _plain(term: object) -> str:
    """Terms of either kind as text; rdflib renames blank nodes on reading."""
    if isinstance(term, rdflib.BNode | m.Blank):
        return "_:"
    return term.n3() if isinstance(term, rdflib.Literal | rdflib.URIRef) else nt(term)
