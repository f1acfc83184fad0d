"""The trie forests of RTF, and what RTF and iBroker have in common."""

from __future__ import annotations

import pytest
from tests.unit.match.worlds import PROLOGUE, triples

from tidings.errors import UnsupportedError
from tidings.lang import parse
from tidings.lang.pattern import Block, FtContains, FtExpr, FtNot, FtPhrase, Query, TriplePattern, Var
from tidings.match.base import Failure
from tidings.match.registry import create
from tidings.match.rtf.joining import Table, joins
from tidings.match.rtf.matcher import Rtfm, Rtfs
from tidings.match.rtf.text import alternatives
from tidings.match.rtf.tries import TrieNode, insert_words
from tidings.match.run import Budget
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import Term

MATCHERS = ("rtfm", "rtfs", "ibroker")
FIGURE_1 = """SELECT ?publication { ?publication a :article . ?publication :title ?title . ?publication :body ?body
  FILTER ftcontains(?title, "olympic" ftAND "games")
  FILTER ftcontains(?body, "olympic" ftAND "games" ftNEAR[0,2] "rio") }"""
# Shares a whole tuple with figure 1, and of another one the structure and the word "olympic".
OTHER = """SELECT ?p { ?p a :article . ?p :date ?d . ?p :author ?a . ?p :body ?b
  FILTER ftcontains(?b, "olympic" ftAND "torch") }"""


def event(turtle: str) -> Event:
    return Event.of("urn:e", triples(turtle))


def matched(name: str, turtle: str, *queries: str, **options: object) -> list[str]:
    """The numbers of the queries that match."""
    engine = create(name, Ontology.empty(), **options)
    for number, query in enumerate(queries):
        engine.add(str(number), parse(PROLOGUE + query))
    failures: list[Failure] = []
    found = [match.subscription for match in engine.match(event(turtle), failures.append)]
    assert not failures
    return found


def drawn(node: TrieNode) -> dict[str, object]:
    """A trie as nested dictionaries; of terms the local name."""
    return {key.rpartition("/")[2].rstrip(">"): drawn(child) for key, child in node.children.items()}


# --------------------------------------------------------------------------------------------------------------- tries


def test_the_words_of_rtfm_stand_below_the_structure() -> None:
    engine = Rtfm(Ontology.empty())
    engine.add("q", parse(PROLOGUE + FIGURE_1))
    engine.add("v", parse(PROLOGUE + OTHER))
    assert drawn(engine._forest) == {
        "?": {
            "22-rdf-syntax-ns#type": {"article": {}},
            "title": {"?": {"olympic": {"games": {}}}},
            "body": {"?": {"olympic": {"games": {"rio": {}}, "torch": {}}}},
            "date": {"?": {}},
            "author": {"?": {}},
        }
    }
    shared = engine._forest.children["?"].children["<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"]
    assert [t.query.subscription for t in shared.children["<http://e.x/article>"].tids] == ["q", "v"]
    figures = engine.stats()
    assert (figures["tries"], figures["trie_nodes"], figures["tuples"], figures["queries"]) == (1, 17, 7, 2)


def test_the_words_of_rtfs_are_one_forest() -> None:
    engine = Rtfs(Ontology.empty())
    engine.add("q", parse(PROLOGUE + FIGURE_1))
    engine.add("v", parse(PROLOGUE + OTHER))
    assert drawn(engine._forest) == {
        "?": {
            "22-rdf-syntax-ns#type": {"article": {}},
            "title": {"?": {"FT": {}}},
            "body": {"?": {"FT": {}}},
            "date": {"?": {}},
            "author": {"?": {}},
        }
    }
    assert drawn(engine._words) == {"olympic": {"games": {"rio": {}}, "torch": {}}}


def test_many_structures_with_the_same_words_take_less_room_in_rtfs() -> None:
    engines = Rtfm(Ontology.empty()), Rtfs(Ontology.empty())
    for engine in engines:
        for number in range(50):
            text = f'SELECT ?s {{ ?s :p{number} ?t FILTER ftcontains(?t, "olympic" ftAND "games" ftAND "rio") }}'
            engine.add(str(number), parse(PROLOGUE + text))
    several, single = (engine.stats() for engine in engines)
    assert (several["trie_nodes"], single["trie_nodes"]) == (1 + 50 * 5, 1 + 50 * 3 + 3)
    assert single["bytes_held"] < several["bytes_held"]


def test_insertion_is_greedy() -> None:
    """A word that is there already goes first; so the order of insertion shapes the trie."""
    root = TrieNode()
    first = insert_words(root, ["games", "olympic"])
    assert insert_words(root, ["rio", "olympic", "games"]).parent is first
    assert drawn(root) == {"games": {"olympic": {"rio": {}}}}
    other = TrieNode()
    insert_words(other, ["rio", "olympic", "games"])
    insert_words(other, ["games", "olympic"])
    assert drawn(other) == {"rio": {"olympic": {"games": {}}}, "games": {"olympic": {}}}


def test_places_of_one_kind_are_one_node() -> None:
    engine = Rtfm(Ontology.empty())
    for number, pattern in enumerate(["?a :p ?b", "?x :p _:n", "* :p *", "[] ?p :o"]):
        engine.add(str(number), parse(f"{PROLOGUE} ASK {{ {pattern} }}"))
    assert drawn(engine._forest) == {"?": {"p": {"?": {}}, "?": {"o": {}}}, "*": {"p": {"*": {}}}}


def test_removal_cuts_what_nobody_needs() -> None:
    for engine in (Rtfm(Ontology.empty()), Rtfs(Ontology.empty())):
        engine.add("q", parse(PROLOGUE + FIGURE_1))
        before = [drawn(forest) for forest in engine._forests()]
        engine.add("v", parse(PROLOGUE + OTHER))
        engine.remove("v")
        assert [drawn(forest) for forest in engine._forests()] == before
        engine.remove("q")
        assert engine.stats()["trie_nodes"] == 0
        with pytest.raises(KeyError):
            engine.remove("q")


# ----------------------------------------------------------------------------------------------------------- splitting


def test_disjunctions_become_queries_with_one_recipient() -> None:
    text = """SELECT ?s { ?s a :c . ?s :t ?t
      FILTER ftcontains(?t, "a" ftAND ("b" ftOR "c d") ftAND ftNOT ("x" ftAND "y")) }"""
    for name in MATCHERS:
        engine = create(name, Ontology.empty())
        engine.add("q", parse(PROLOGUE + text))
        assert (engine.stats()["queries"], engine.stats()["tuples"], len(engine)) == (4, 8, 1)
        matches = engine.match(event(':s a :c ; :t "c d a b" .'), lambda failure: None)
        assert [match.subscription for match in matches] == ["q"]
        assert matches[0].bindings == ({"s": "<http://e.x/s>"},)


def test_the_same_alternative_twice_is_one() -> None:
    twice = Var("t"), FtPhrase("a", ("a",))
    assert len(alternatives([twice, twice], 4)) == 1


@pytest.mark.parametrize("name", MATCHERS)
def test_too_many_alternatives_are_refused(name: str) -> None:
    def query(count: int) -> str:
        choices = " ftAND ".join(f'("a{n}" ftOR "b{n}")' for n in range(count))
        return f"{PROLOGUE} ASK {{ ?s :t ?t FILTER ftcontains(?t, {choices}) }}"

    engine = create(name, Ontology.empty())
    engine.add("q", parse(query(8)))
    with pytest.raises(UnsupportedError, match="disjunctions that split into more than 256 queries"):
        engine.add("q", parse(query(60)))
    near = " ftNEAR[0,1] ".join(f'("a{n}" ftOR "b{n}")' for n in range(60))
    for text in (near, f"ftNOT ({near})"):
        with pytest.raises(UnsupportedError, match="disjunctions"):
            engine.add("q", parse(f"{PROLOGUE} ASK {{ ?s :t ?t FILTER ftcontains(?t, {text}) }}"))
    assert engine.stats()["queries"] == 256


@pytest.mark.parametrize("name", MATCHERS)
def test_long_texts(name: str) -> None:
    words = [f"w{n}" for n in range(3000)]
    near = " ftNEAR[0,0] ".join(f'"{word}"' for word in words[:100])
    every = " ftAND ".join(f'"{word}"' for word in reversed(words))
    query = f"""ASK {{ ?s :t ?t FILTER ftcontains(?t, {near}) FILTER ftcontains(?t, {every})
      FILTER ftcontains(?t, "{" ".join(words)}") }}"""
    assert matched(name, f':s :t "{" ".join(words)}" .', query) == ["0"]
    assert matched(name, f':s :t "{" ".join(words[1:] + words[:1])}" .', query) == []


@pytest.mark.parametrize("name", MATCHERS)
def test_a_form_too_deep_for_the_parser_is_refused(name: str) -> None:
    text: FtExpr = FtPhrase("a", ("a",))
    for _ in range(5000):
        text = FtNot(text)
    block = Block((TriplePattern(Var("s"), Var("p"), Var("o")),), filters=(FtContains(Var("o"), text),))
    with pytest.raises(UnsupportedError, match="nested this deeply"):
        create(name, Ontology.empty()).add("q", Query("sparql", "ASK", block))


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("name", MATCHERS)
@pytest.mark.parametrize(
    ("query", "construct"),
    [
        ("SELECT * { ?s :p ?o OPTIONAL { ?s :q ?r } }", "OPTIONAL"),
        ("SELECT * { { ?s :p ?o } UNION { ?s :q ?o } }", "UNION"),
        ("SELECT * { ?s :p ?o MINUS { ?s :q ?o } }", "MINUS"),
        ("SELECT * { ?s :p ?o BIND (1 AS ?x) }", "BIND"),
        ("SELECT * { GRAPH ?g { ?s :p ?o } }", "GRAPH"),
        ("SELECT * { ?s :p ?o VALUES ?o { 1 } }", "VALUES"),
        ("SELECT * { ?s :p ?o } VALUES ?o { 1 }", "VALUES"),
        ("SELECT * { ?s :p ?o { SELECT ?s { ?s :q ?r } } }", "sub-selects"),
        ("SELECT * { ?s :p ?o { ?s :q ?r } }", "groups inside groups"),
        ("SELECT * { ?s :p+ ?o }", "property paths"),
        ("SELECT * { ?s :p ?o FILTER (?o > 1) }", "> in FILTER"),
        ('SELECT * { ?s :p ?o FILTER regex(?o, "x") }', "REGEX in FILTER"),
        ('SELECT * { ?s :p ?o FILTER (!ftcontains(?o, "x")) }', "! in FILTER"),
        ('SELECT * { ?s :p ?o FILTER (ftcontains(?o, "x") || ftcontains(?o, "y")) }', "|| in FILTER"),
        ("SELECT * { ?s :p ?o FILTER NOT EXISTS { ?s :q ?o } }", "NOT EXISTS in FILTER"),
        ('SELECT * { ?s :p ?o FILTER ftcontains(?s, "x") }', "ftcontains on ?s, which is not the object"),
        ('SELECT * { ?s :p ?o FILTER ftcontains(?z, "x") }', "ftcontains on ?z, which is not the object"),
        ("SELECT ?s (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY ?s", "GROUP BY"),
        ("SELECT (COUNT(*) AS ?n) { ?s :p ?o }", "the aggregate COUNT in SELECT"),
        ("SELECT (STR(?o) AS ?n) { ?s :p ?o }", "STR in SELECT"),
        ("ASK { ?s :p ?o } HAVING (COUNT(*) > 1)", "HAVING"),
        ("SELECT * { ?s :p ?o } ORDER BY STR(?o)", "STR in ORDER BY"),
        ("SELECT * { ?s :p ?o } LIMIT 0", "LIMIT 0"),
        ("SELECT * { ?s :p ?o } OFFSET 1", "OFFSET"),
        ("SELECT * {}", "a query without triple patterns"),
        ("CONSTRUCT { ?s :q ?o } WHERE { ?s :p ?o }", "CONSTRUCT"),
    ],
)
def test_the_rest_is_refused_by_name(name: str, query: str, construct: str) -> None:
    engine = create(name, Ontology.empty())
    with pytest.raises(UnsupportedError) as refusal:
        engine.add("q", parse(PROLOGUE + query))
    assert refusal.value.construct.startswith(construct)
    assert refusal.value.matcher == name
    assert len(engine) == 0


@pytest.mark.parametrize("name", MATCHERS)
def test_other_dialects_are_refused(name: str) -> None:
    query = parse(PROLOGUE + "(?x, :p, ?y, {}, {})", "gtopss")
    with pytest.raises(UnsupportedError, match="the dialect 'gtopss'"):
        create(name, Ontology.empty()).add("q", query)


@pytest.mark.parametrize("name", MATCHERS)
def test_what_only_shapes_the_answer_is_taken(name: str) -> None:
    engine = create(name, Ontology.empty())
    engine.add("q", parse(PROLOGUE + "SELECT DISTINCT ?o { ?s :p ?o } ORDER BY DESC(?o) LIMIT 2"))
    engine.add(
        "both", parse(PROLOGUE + 'ASK { ?s :p ?o . ?s :t ?t FILTER (ftcontains(?t, "a") && ftcontains(?t, "b")) }')
    )
    both, rows = engine.match(event(':a :p 1, 2, 3 ; :t "a b" . :b :p 3 .'), lambda failure: None)
    assert both.bindings == ({},)
    assert [row["o"][:3] for row in rows.bindings] == ['"3"', '"2"']


# ----------------------------------------------------------------------------------------------- as published, repaired

TWO_ARTICLES = ':m a :article ; :title "Olympic games" . :n a :article ; :body "olympic games in Rio" .'


@pytest.mark.parametrize("name", MATCHERS)
@pytest.mark.parametrize(
    ("query", "turtle"),
    [
        (FIGURE_1, TWO_ARTICLES),
        ("ASK { ?x :p ?x }", ":a :p :b ."),
        ("ASK { ?x ?x ?y }", ":a :p :b ."),
        ("ASK { ?x :p ?y . ?y :q ?z . ?z :r ?x }", ":a :p :b . :b :q :c . :c :r :d ."),
        ("ASK { ?s ?p 1 . ?p :q 2 }", ":a :p 1 . :b :q 2 ."),
    ],
)
def test_only_the_published_algorithm_does_not_join(name: str, query: str, turtle: str) -> None:
    assert matched(name, turtle, query) == []
    assert matched(name, turtle, query, published=True) == ["0"]


@pytest.mark.parametrize("name", MATCHERS)
def test_a_match_that_only_the_published_algorithm_sees_has_no_bindings(name: str) -> None:
    engine = create(name, Ontology.empty(), published=True)
    engine.add("q", parse(PROLOGUE + FIGURE_1))
    (match,) = engine.match(event(TWO_ARTICLES), lambda failure: None)
    assert match.bindings == ()


@pytest.mark.parametrize("name", ["rtfm", "rtfs"])
def test_published_pseudocode_never_resets(name: str) -> None:
    """After the first query of the table that is not satisfied, none is."""
    queries = "ASK { ?s :p 1 }", "ASK { ?s :p 2 }", "ASK { ?s :p ?v }"
    assert matched(name, ":a :p 1 .", *queries) == ["0", "2"]
    assert matched(name, ":a :p 1 .", *queries, published=True) == ["0"]
    assert matched(name, ":a :p 1 .", *queries, published=True, resets=True) == ["0", "2"]


def test_words_and_structure_come_from_one_triple() -> None:
    """In RTFs the words may be heard, and the structure seen, in different triples."""
    query = 'ASK { ?s :body ?t FILTER ftcontains(?t, "rio") }'
    for name in MATCHERS:
        for published in (False, True):
            assert matched(name, ':s :title "Rio" ; :body "Tokyo" .', query, published=published) == []
            assert matched(name, ':s :title "Tokyo" ; :body "Rio" .', query, published=published) == ["0"]


@pytest.mark.parametrize("name", MATCHERS)
def test_unwanted_words_need_a_literal(name: str) -> None:
    query = 'ASK { ?s :t ?t FILTER ftcontains(?t, ftNOT "rio") }'
    assert matched(name, ":s :t :rio .", query) == []
    assert matched(name, ':s :t "tokyo" .', query) == ["0"]
    assert matched(name, ':s :t "rio" .', query) == []


# ------------------------------------------------------------------------------------------------------------- budgets


@pytest.mark.parametrize("name", MATCHERS)
def test_a_join_over_budget_is_a_failure_of_its_own(name: str) -> None:
    engine = create(name, Ontology.empty(), budget=2000)
    cycle = "?a :p ?b . ?b :p ?c . ?c :p ?d . ?d :p ?e . ?e :p ?a"
    engine.add("hard", parse(f"{PROLOGUE} ASK {{ {cycle} . ?a :p ?c . ?b :p ?d }}"))
    engine.add("easy", parse(PROLOGUE + "ASK { ?s :p :b0 }"))
    bipartite = " ".join(f":a{i} :p :b{j} . :b{j} :p :a{i} ." for i in range(9) for j in range(9))
    failures: list[Failure] = []
    assert [m.subscription for m in engine.match(event(bipartite), failures.append)] == ["easy"]
    assert [f.subscription for f in failures] == ["hard"]
    assert "budget of 2000 steps" in failures[0].reason
    assert engine.stats()["failures"] == 1
    assert create("naive", Ontology.empty()).match(event(bipartite), failures.append) == []


@pytest.mark.parametrize("name", MATCHERS)
def test_one_alternative_that_matches_is_enough(name: str) -> None:
    """The first alternative exceeds the budget, the second decides the subscription."""
    engine = create(name, Ontology.empty(), budget=1500)
    engine.add("q", parse(PROLOGUE + 'ASK { ?s :t ?t FILTER ftcontains(?t, "b" ftOR "a" ftNEAR[5000,5000] "a") }'))
    failures: list[Failure] = []
    assert len(engine.match(event(f':s :t "{"a " * 2000} b" .'), failures.append)) == 1
    assert engine.match(event(f':s :t "{"a " * 2000}" .'), failures.append) == []
    assert [f.subscription for f in failures] == ["q"]


def test_a_join_does_not_go_the_same_way_twice() -> None:
    """A long path through a dense graph that ends nowhere: with repeats there would be 20 to the 12 ways."""
    nodes = [Term(f"_:n{n}") for n in range(20)]
    edges = {(a, b) for a in nodes for b in nodes}
    tables = [Table((f"v{n}", f"v{n + 1}"), edges) for n in range(12)]
    nowhere = Table(("v12", "w"), {(Term("_:x"), Term("_:y"))})
    more = Table(("w", "v0"), {(Term("_:y"), Term("_:n1"))})
    assert joins(tables, Budget(100_000))
    assert not joins([*tables, nowhere, more], Budget(1_000_000))


def test_unconnected_tables_join() -> None:
    one, two = Term("_:1"), Term("_:2")
    fits = [Table(("x",), {(one,)}), Table(("x",), {(one,), (two,)}), Table(("y",), {(two,)}), Table(("y",), {(two,)})]
    assert joins([*fits, Table((), {()})], Budget(1000))
    assert not joins([*fits, Table(("y",), {(one,)})], Budget(1000))


# ------------------------------------------------------------------------------------------------------------ counters


@pytest.mark.parametrize("name", ["rtfm", "rtfs"])
def test_counters(name: str) -> None:
    engine = create(name, Ontology.empty())
    engine.add("q", parse(PROLOGUE + FIGURE_1))
    engine.add("v", parse(PROLOGUE + OTHER))
    engine.match(event(':m a :article ; :title "Olympic games" ; :body "olympic games in Rio" .'), lambda failure: None)
    figures = engine.stats()
    # ? type article; ? title ? olympic games; ? body ? olympic games rio; in RTFs FT twice, and the words once a text.
    assert figures["nodes_visited"] == {"rtfm": 3 + 5 + 6, "rtfs": 3 + 4 + 4 + 2 + 3}[name]
    assert figures["tuples_matched"] == 4
    assert (figures["events"], figures["candidates"], figures["joins"], figures["matches"]) == (1, 1, 1, 1)
    assert figures["positions_checked"] > 0
    assert figures["bytes_held"] > 1000
