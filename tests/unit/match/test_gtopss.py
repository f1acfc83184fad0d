"""The G-ToPSS matcher: the paper's figures in its structures, its counters, its bugs where they are asked for."""

from __future__ import annotations

import pytest
from tests.unit.match.worlds import EX, PROLOGUE, triples

from tidings.errors import UnsupportedError
from tidings.lang import parse
from tidings.lang.pattern import Block, Constraint, Query, TriplePattern, Var, variables
from tidings.match.base import Failure, Match
from tidings.match.gtopss import Gtopss
from tidings.match.gtopss.graph import MergedGraph, SubscriptionGraph
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term

S1 = '(:paper17, :author, "Arno Jacobsen") (:paper17, :conference, :SIGMOD) (:SIGMOD, :year, ?z, {}, {?z > 2000})'
S2 = """(?y, :author, "Arno Jacobsen", {?y <= :Publication}, {}) (?y, :conference, :SIGMOD)
        (:SIGMOD, :year, ?x, {}, {?x > 1999})"""
PATH = "(:A, :to, ?1) (?1, :to, :B)"


def query(text: str) -> Query:
    return parse(PROLOGUE + text, "gtopss")


def engine(*texts: str, ontology: str = "", published: bool = False, budget: int = 100_000) -> Gtopss:
    made = Gtopss(Ontology.of(triples(ontology)), published=published, budget=budget)
    for number, text in enumerate(texts):
        made.add(f"q{number}", query(text))
    return made


def event(turtle: str, id: str = "urn:e") -> Event:
    return Event.of(id, triples(turtle), source="file.ttl")


def unexpected(failure: Failure) -> None:
    raise AssertionError(failure)


def matched(made: Gtopss, turtle: str) -> list[str]:
    return [match.subscription for match in made.match(event(turtle), unexpected)]


def merged(*texts: str, published: bool = False) -> MergedGraph:
    graph = MergedGraph(published)
    for number, text in enumerate(texts, 1):
        form = query(text)
        assert isinstance(form.where, Block)
        graph.insert(SubscriptionGraph(f"s{number}", form.where, variables(form.where)))
    return graph


def shown(graph: MergedGraph) -> dict[str, list[str]]:
    """The edges of G_M, with local names, and the subscriptions of each."""

    def local(name: str) -> str:
        return name.removeprefix(f"<{EX}").rstrip(">").strip('"')

    return {f"{local(e.v)} {local(e.label)} {local(e.w)}": [s.id for s in e.subs] for e in graph.edges()}


# ---------------------------------------------------------------------------------------------------------------- G_M


def test_figure_5d() -> None:
    """S1 and S2 in one graph. The paper gives ?x the star 1; stars here are numbered in the order of the text."""
    graph = merged(S1, S2)
    assert shown(graph) == {
        "paper17 author Arno Jacobsen": ["s1"],
        "paper17 conference SIGMOD": ["s1"],
        "SIGMOD year *1": ["s1"],
        "*1 author Arno Jacobsen": ["s2"],
        "*1 conference SIGMOD": ["s2"],
        "SIGMOD year *2": ["s2"],
    }
    assert graph.stars == ("*1", "*2")


def test_figure_7() -> None:
    """Two edges between A and B are one entry of the first table and two of the second."""
    graph = merged("(:A, :a, :B) (:A, :b, :B)", "(:A, :a, :B)")
    assert shown(graph) == {"A a B": ["s1", "s2"], "A b B": ["s1"]}
    assert len(graph.t1) == 1


def test_stars_are_shared_and_fall_again() -> None:
    graph = merged("(?x, :p, ?y)", "(?b, :p, ?a)", "(?a, :p, ?b) (?b, :p, ?c)")
    assert shown(graph) == {"*1 p *2": ["s1", "s2", "s3"], "*2 p *3": ["s3"]}
    assert graph.stars == ("*1", "*2", "*3")
    graph.remove("s3")
    assert graph.stars == ("*1", "*2")
    graph.remove("s1")
    graph.remove("s2")
    assert graph.stars == ()
    assert not graph.t1


def test_variables_on_properties_are_labels() -> None:
    """They are numbered behind those on vertices and add no pairs to look up."""
    graph = merged("(?x, ?p, ?y) (?p, :rank, 1)", "(:A, ?p, ?x)")
    assert shown(graph) == {
        "*1 *3 *2": ["s1"],
        '*3 rank 1"^^<http://www.w3.org/2001/XMLSchema#integer': ["s1"],
        "A *2 *1": ["s2"],
    }
    assert graph.stars == ("*1", "*2", "*3")
    assert graph.label_stars == ("*2", "*3")


def test_the_same_edge_twice_is_one() -> None:
    made = engine("(?x, :p, ?y) (?x, :p, ?y, {}, {?y > 1})")
    assert made.stats()["gm_edges"] == 1
    assert matched(made, ":a :p 2 .") == ["q0"]
    assert matched(made, ":a :p 1 .") == []


# ----------------------------------------------------------------------------------------------------------- matching


def test_figure_8() -> None:
    made = engine(PATH)
    (match,) = made.match(event(":A :to :B, :C, :E . :D :to :B . :C :to :B . :E :to :B . :G :to :B ."), unexpected)
    assert match == Match("urn:e", "q0", "file.ttl")
    assert match.bindings == ({"1": f"<{EX}C>"}, {"1": f"<{EX}E>"})
    stats = made.stats()
    assert stats["binding_rows"] == 3 + 5
    assert stats["joins"] == 1


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_probes(k: int) -> None:
    """(v, w), k times (v, *i) and (*i, w), k(k-1) times (*i, *j); as printed all ordered pairs of k+2 vertices."""
    edges = " ".join(f"(:A, :p{i}, ?v{i})" for i in range(k)) or "(:A, :p, :B)"
    for published, expected in ((False, 1 + 2 * k + k * (k - 1)), (True, (k + 2) * (k + 1))):
        made = engine(edges, published=published)
        made.match(event(":X :q :Y . :X :q :Z ."), unexpected)
        assert made.stats()["probes"] == 2 * expected


def test_candidates_have_one_edge_met_joined_ones_all() -> None:
    made = engine("(:a, :p, ?x) (:a, :q, ?x)", "(:a, :p, ?x) (:b, :q, ?x)", "(:c, :p, ?x)")
    assert matched(made, ":a :p 1, 2 ; :q 2 .") == ["q0"]
    stats = made.stats()
    assert (stats["candidates"], stats["joined_subscriptions"], stats["matches"]) == (2, 1, 1)


def test_edges_without_a_common_variable_are_not_multiplied_to_decide() -> None:
    apart = " ".join(f"(?a{i}, :p, ?b{i})" for i in range(6))
    many = " ".join(f":s{i} :p {i} ." for i in range(50))
    failures: list[Failure] = []
    (match,) = engine(apart).match(event(many), failures.append)
    assert not failures
    few = engine("(?a, :p, ?b) (?c, :p, ?d)").match(event(":x :p 1 . :y :p 2 ."), unexpected)
    assert len(few[0].bindings) == 4
    assert match.subscription == "q0"


def test_a_join_over_the_budget_is_a_failure_of_its_own() -> None:
    clique = " ".join(f":n{i} :p :n{j} ." for i in range(20) for j in range(20))
    made = engine("(?a, :p, ?b) (?b, :p, ?c) (?c, :p, ?d)", "(:n1, :p, :n2)", "(:n1, :p, ?x)")
    failures: list[Failure] = []
    found = made.match(event(clique), failures.append)
    assert [match.subscription for match in found] == ["q1", "q2"]
    assert [(failure.event, failure.subscription) for failure in failures] == [("urn:e", "q0")]
    assert "budget of 100000 steps" in failures[0].reason
    assert made.stats()["failures"] == 1
    assert matched(made, ":a :p :b . :b :p :c . :c :p :d .") == ["q0"]


def test_nothing_is_left_where_a_report_raises() -> None:
    clique = " ".join(f":n{i} :p :n{j} ." for i in range(20) for j in range(20))
    made = engine("(?a, :p, ?b) (?b, :p, ?c) (?c, :p, ?d)", "(:n1, :p, :n2) (:n1, :q, :n2)")
    with pytest.raises(AssertionError):
        made.match(event(clique), unexpected)
    assert matched(made, ":n1 :q :n2 .") == []


def test_add_replace_remove() -> None:
    made = engine("(:a, :p, 1)")
    made.add("q0", query("(:a, :p, 2)"))
    assert len(made) == 1
    assert matched(made, ":a :p 1 .") == []
    assert matched(made, ":a :p 2 .") == ["q0"]
    made.remove("q0")
    assert len(made) == 0
    assert matched(made, ":a :p 2 .") == []
    with pytest.raises(KeyError):
        made.remove("q0")


def test_refusals() -> None:
    made = engine("(:a, :p, 1)")
    x = Var("x")
    edge = TriplePattern(x, Term(f"<{EX}p>"), x)
    cases = [
        (parse("ASK {}"), "sparql dialect"),
        (Query("gtopss", "SELECT", Block()), "set of edges"),
        (Query("gtopss", "SELECT", Block((edge,), filters=(x,))), "no constraint"),
        (Query("gtopss", "SELECT", Block((edge,), filters=(Constraint(Var("y"), "=", edge.o),))), r"\?y"),
        (query(" ".join(f"(?v{i}, :p, 1)" for i in range(65))), "more than 64 variables"),
    ]
    for form, construct in cases:
        with pytest.raises(UnsupportedError, match=construct):
            made.add("q0", form)
    assert matched(made, ":a :p 1 .") == ["q0"]


def test_bytes_fall_with_overlap() -> None:
    same = engine(*["(:a, :p, ?x) (:b, :p, ?x)"] * 20).stats()
    apart = engine(*[f"(:a{i}, :p, ?x) (:b{i}, :p, ?x)" for i in range(20)]).stats()
    assert (same["gm_edges"], apart["gm_edges"]) == (2, 40)
    assert same["bytes_matrix"] < apart["bytes_matrix"]
    assert same["bytes_matrix"] < same["bytes_held"]


def test_is_a_climbs_the_taxonomy() -> None:
    chain = " ".join(f":C{i} rdfs:subClassOf :C{i + 1} ." for i in range(10))
    made = engine("(?x, :p, 1, {?x <= :C10}, {})", "(?x, :p, 1, {?x < :C3}, {})", ontology=chain)
    assert matched(made, ":x a :C4 ; :p 1 .") == ["q0"]
    assert made.stats()["taxonomy_steps"] > 6
    assert matched(made, ":C3 :p 1 .") == ["q0"]


# ---------------------------------------------------------------------------------------------------------- published


def both(text: str, *events: str, ontology: str = "") -> tuple[list[bool], list[bool]]:
    """Whether each event of a row matches: repaired, and as published."""
    repaired, published = (engine(text, ontology=ontology, published=flag) for flag in (False, True))
    return [bool(matched(repaired, e)) for e in events], [bool(matched(published, e)) for e in events]


def test_published_agrees_on_the_papers_example() -> None:
    taxonomy = ":SIGMOD rdfs:subClassOf :Publication . :paper17 a :SIGMOD ."
    publication = ':paper17 :author "Arno Jacobsen" ; :conference :SIGMOD . :SIGMOD :year 2001 .'
    for text in (S1, S2):
        assert both(text, publication, ontology=taxonomy) == ([True], [True])


def test_published_never_clears_binding_tables() -> None:
    assert both(PATH, ":A :to :C .", ":C :to :B .") == ([False, False], [False, True])


def test_published_carries_counters_over() -> None:
    made = engine(PATH, published=True)
    assert matched(made, ":A :to :C .") == []
    assert made.stats()["joined_subscriptions"] == 0
    assert matched(made, ":A :to :C .") == []
    assert made.stats()["joined_subscriptions"] == 1


def test_published_counts_edges_of_the_publication() -> None:
    made = [engine(PATH, published=flag) for flag in (False, True)]
    assert [matched(each, ":A :to :C, :D .") for each in made] == [[], []]
    assert [each.stats()["joined_subscriptions"] for each in made] == [0, 1]


def test_published_takes_edges_the_wrong_way_round() -> None:
    assert both("(?x, :to, :A)", ":A :to :B .") == ([False], [True])


def test_published_has_no_loops() -> None:
    assert both("(?x, :to, ?x)", ":A :to :A .") == ([True], [False])
    assert both("(:A, :to, :A)", ":A :to :A .") == ([True], [False])


def test_published_checks_one_constraint() -> None:
    assert both("(?x, :p, ?y, {?x <= :C}, {?y > 5})", ":x :p 1 .", ontology=":x a :C .") == ([False], [True])


def test_published_reads_is_a_equality_as_the_same_label() -> None:
    assert both("(:s, :p, ?x, {}, {?x = :C})", ":s :p :x .", ":s :p :C .", ontology=":x a :C .") == (
        [True, False],
        [False, True],
    )


def test_published_knows_the_event_alone() -> None:
    assert both("(:s, :q, 1)", ":s :p 1 .", ontology=":p rdfs:subPropertyOf :q .") == ([True], [False])


def test_published_tables_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.match.gtopss.graph._MOST_KEPT", 3)
    made = engine("(:s, :p, ?x)", published=True)
    for number in range(6):
        (match,) = made.match(event(f":s :p {number} ."), unexpected)
    assert len(match.bindings) == 4
