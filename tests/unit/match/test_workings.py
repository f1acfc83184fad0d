"""What the workings of all matchers have in common: agreement, refusals, failures, bounds, layout."""

from __future__ import annotations

import pytest
from tests.unit.match.told import shown, work

from tidings.errors import UnsupportedError
from tidings.match import registry
from tidings.match.workings import Section, Table, Workings, workings_text
from tidings.match.workings.model import MOST_NODES, MOST_ROWS, MOST_SECTIONS, bounded, drawn, listed, section, table
from tidings.match.workings.text import table_lines

OTHERS = [name for name in registry.names() if name != "naive"]
PUBLISHED = [name for name in OTHERS if name != "fast"]
ONE_ARC = {
    "ops": "(_:H, ?x, (owl:Thing, p, rdfs:Resource))",
    "decomposition": "(_:H, ?x, (owl:Thing, p, rdfs:Resource))",
    "gtopss": "(?h, p, ?x)",
}
# For each family, what grows with the event: the rows of one table, or the nodes of one tree.
MANY = " ".join(f"_:H :p :a{number} ." for number in range(100))


# --------------------------------------------------------------------------------------------------------- the matchers


def test_naive_has_nothing_to_add() -> None:
    found = work("naive", "SELECT ?x { ?x :p 1 }", ":a :p 1 .")
    assert (found.matches, found.failure, found.sections) == (True, None, ())


@pytest.mark.parametrize("matcher", OTHERS)
def test_every_other_matcher_tells_how(matcher: str) -> None:
    for event, answer in (("_:H :p :a .", True), ("_:H :q :a .", False)):
        found = work(matcher, ONE_ARC.get(matcher, "SELECT ?x { ?h :p ?x }"), event)
        assert (found.matcher, found.matches, found.failure) == (matcher, answer, None)
        assert found.sections


@pytest.mark.parametrize("matcher", PUBLISHED)
def test_what_a_matcher_does_not_define_is_named(matcher: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        work(matcher, "SELECT ?x { ?x :p ?y OPTIONAL { ?x :q ?z } }", "", dialect="sparql")
    assert caught.value.matcher == matcher


@pytest.mark.parametrize("matcher", ["gtopss", "rtfm", "ibroker"])
def test_a_join_that_takes_too_long_is_told_as_far_as_it_went(matcher: str) -> None:
    pairs = "SELECT * { ?x :p ?a . ?x :q ?b . ?a :r ?b }"
    subscription = {"gtopss": "(?x, p, ?a) (?x, q, ?b) (?a, r, ?b)"}.get(matcher, pairs)
    event = " ".join(f":x :p :a{n} ; :q :b{n} . :a{n} :r :c{n} ." for n in range(40))
    found = work(matcher, subscription, event, budget=300)
    assert found.failure is not None
    assert "300 steps" in found.failure
    assert not found.matches
    assert found.sections
    assert workings_text(found).startswith(f"How the matcher '{matcher}' comes to its answer: none, the evaluation")


@pytest.mark.parametrize("matcher", ["ops", "decomposition"])
def test_a_graph_that_takes_too_long_is_told_as_far_as_it_went(matcher: str) -> None:
    found = work(matcher, "(_:H, ?x, (owl:Thing, p, owl:Thing))", MANY, budget=300)
    assert found.failure is not None
    assert f"given up: {found.failure}" in workings_text(found)


@pytest.mark.parametrize("matcher", ["rtfm", "rtfs"])
def test_the_paths_told_are_those_walked(matcher: str) -> None:
    """The tries that are drawn add up to as many visits of nodes as the matcher has counted."""
    subscription = 'SELECT * { ?x :p ?t . :a * "k" FILTER ftcontains(?t, "a b c" ftOR "b d") }'
    found = work(matcher, subscription, ':a :p "a b", "k" ; :q "k", 7 . :b :p "d b", :c .')
    tries = [part for part in found.sections if part.title.startswith(("Trie forest", "Forest of words"))]
    visits = [int(row[1].split()[1]) for part in tries if part.table for row in part.table.rows if row[0] != "root"]
    assert tries[0].notes == (f"{sum(visits)} nodes visited",)
    assert sum(visits) > 10


# --------------------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("matcher", PUBLISHED)
def test_long_tables_are_cut(matcher: str) -> None:
    text = workings_text(work(matcher, ONE_ARC.get(matcher, "SELECT ?x { ?h :p ?x }"), MANY))
    assert "… and " in text
    assert " more rows" in text
    assert len(text.splitlines()) < 200


@pytest.mark.parametrize("matcher", ["gtopss", "rtfm", "ibroker", "decomposition", "ops"])
def test_long_subscriptions_are_cut(matcher: str) -> None:
    arcs = [(f"?x{n}" if n else "_:H", f"?x{n + 1}") for n in range(200)]
    subscription = {
        "gtopss": " ".join(f"({s}, p, {o})" for s, o in [("?x", f"k{n}") for n in range(200)]),
        "rtfm": f"SELECT * {{ {' '.join(f'{s} :p {o} .' for s, o in arcs)} }}",
    }
    subscription["ibroker"] = subscription["rtfm"]
    chain = " ".join(f"({s}, {o}, (owl:Thing, p, owl:Thing))" for s, o in arcs)
    event = "_:H :p :x1 . " + " ".join(f":x{n} :p :x{n + 1} . :x :p :k{n} ." for n in range(200))
    found = work(matcher, subscription.get(matcher, chain), event)
    assert found.matches
    assert len(found.sections) <= MOST_SECTIONS + 1
    lines = workings_text(found, 100).splitlines()
    assert len(lines) < 1500
    assert max(map(len, lines)) <= 100


def test_long_names_lose_their_middle() -> None:
    found = work("gtopss", "(?x, p, ?y)", f":a :p <http://e.y/{'a' * 1000}/end> .")
    assert "a/end>" in workings_text(found, 100)
    assert max(map(len, workings_text(found, 100).splitlines())) <= 100
    assert max(len(cell) for part in found.sections if part.table for row in part.table.rows for cell in row) <= 200


def test_sections_are_counted_where_they_are_many() -> None:
    found = bounded(Section(str(number)) for number in range(MOST_SECTIONS + 7))
    assert len(found) == MOST_SECTIONS + 1
    assert found[-1] == Section("… and 7 more steps")


def test_lists_are_cut() -> None:
    assert listed("abcdefghij", 3) == "a, b, c and 7 more"
    assert listed("", 3) == "–"


# --------------------------------------------------------------------------------------------------------------- layout


def test_a_table_as_text() -> None:
    made = Table(("left", ""), (("大海", "✓"), ("e\u0301", "")), 1)
    assert "\n".join(line.rstrip() for line in table_lines(made, 80)) + "\n" == shown("""
        left
        ────  ─
        大海  ✓
        e\u0301
        … and 1 more row
    """)


def test_the_widest_columns_give_way() -> None:
    made = Table(("a", "b"), (("x" * 60, "short"), ("y", "z" * 30)))
    lines = list(table_lines(made, 50))
    assert {len(line) for line in lines} == {50}
    assert "short" in lines[2]
    assert "…" in lines[2]


def test_a_tree_is_drawn_without_recursion() -> None:
    chain = list(drawn(0, lambda number: [number + 1] if number < 5000 else []))
    assert [node for _, node in chain] == list(range(5001))
    assert chain[2][0] == "   └─ "
    assert len(chain[-1][0]) <= 3 * MOST_NODES
    forked = [branch + str(node) for branch, node in drawn(1, lambda n: [2 * n, 2 * n + 1] if n < 4 else [])]
    assert forked == ["1", "├─ 2", "│  ├─ 4", "│  └─ 5", "└─ 3", "   ├─ 6", "   └─ 7"]


def test_notes_wrap_and_empty_parts_are_left_out() -> None:
    made = section("Title", "", "word " * 20, table=table(("a",), [], lambda row: row), outcome="so it is")
    assert made.table is None
    assert workings_text(Workings("m", True, None, (made,)), 40) == (
        "How the matcher 'm' comes to its answer: a match\n\nTitle\n"
        "  word word word word word word word\n    word word word word word word word\n"
        "    word word word word word word\n  so it is"
    )


def test_rows_are_not_made_to_be_thrown_away() -> None:
    made = []

    def row(number: int) -> tuple[str]:
        made.append(number)
        return (str(number),)

    assert table(("n",), range(1000), row).more == 1000 - MOST_ROWS
    assert len(made) == MOST_ROWS
