"""Groups and aggregates."""

from __future__ import annotations

import pytest
from tests.unit.match.worlds import ask, rows

SALES = ':s1 :of :x ; :n 1 . :s2 :of :x ; :n 2.5 . :s3 :of :y ; :n 4 . :s4 :of :y ; :n 4 . :s5 :of :z ; :n "many" .'


def result(aggregate: str, event: str = SALES, pattern: str = "?s :n ?n") -> str | None:
    found = rows(f"SELECT ({aggregate} AS ?v) {{ {pattern} }}", event)
    return found[0].get("v") if found else "no match"


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("COUNT(*)", '"5"^^integer'),
        ("COUNT(?n)", '"5"^^integer'),
        ("COUNT(DISTINCT ?n)", '"4"^^integer'),
        ("COUNT(DISTINCT *)", '"5"^^integer'),
        ("COUNT(?n + 1)", '"4"^^integer'),
        ("SUM(?n)", None),
        ("SUM(IF(ISNUMERIC(?n), ?n, 0))", '"11.5"^^decimal'),
        ("SUM(DISTINCT IF(ISNUMERIC(?n), ?n, 0))", '"7.5"^^decimal'),
        ("AVG(IF(ISNUMERIC(?n), ?n, 0))", '"2.3"^^decimal'),
        ("AVG(?n)", None),
        ("MIN(?n)", '"1"^^integer'),
        ("MAX(?n)", '"many"'),
        ("MAX(?n + 1)", None),
        ("SAMPLE(?n)", '"1"^^integer'),
        ("SAMPLE(?n + 1)", '"2"^^integer'),
        ('GROUP_CONCAT(?n; SEPARATOR="|")', '"1|2.5|4|4|many"'),
        ("GROUP_CONCAT(DISTINCT ?n)", '"1 2.5 4 many"'),
        ("GROUP_CONCAT(?n + 1)", None),
        ("COUNT(*) * 2", '"10"^^integer'),
    ],
)
def test_aggregates(aggregate: str, expected: str | None) -> None:
    assert result(aggregate) == expected


def test_group_by_and_having() -> None:
    query = "SELECT ?o (SUM(?n) AS ?sum) { ?s :of ?o ; :n ?n } GROUP BY ?o"
    assert rows(query, SALES) == [
        {"o": "x", "sum": '"3.5"^^decimal'},
        {"o": "y", "sum": '"8"^^integer'},
        {"o": "z"},
    ]
    assert rows(query + " HAVING (SUM(?n) > 5)", SALES) == [{"o": "y", "sum": '"8"^^integer'}]
    assert rows(query + " ORDER BY DESC(SUM(?n)) LIMIT 1", SALES) == [{"o": "y", "sum": '"8"^^integer'}]
    assert rows(query + " VALUES ?o { :x }", SALES) == [{"o": "x", "sum": '"3.5"^^decimal'}]


def test_a_variable_that_is_not_grouped_is_sampled_in_having_and_order_by() -> None:
    query = "SELECT ?o { ?s :of ?o ; :n ?n } GROUP BY ?o"
    assert rows(query + " HAVING (?n < 4)", SALES) == [{"o": "x"}]
    assert rows(query + " HAVING (BOUND(?n) && ?o = :y)", SALES) == [{"o": "y"}]
    assert rows(query + " ORDER BY DESC(?n)", SALES) == [{"o": "z"}, {"o": "y"}, {"o": "x"}]


def test_group_by_expressions() -> None:
    query = "SELECT ?k (COUNT(*) AS ?c) { ?s :n ?n } GROUP BY (ISNUMERIC(?n) AS ?k) ORDER BY ?k"
    assert rows(query, SALES) == [
        {"k": '"false"^^boolean', "c": '"1"^^integer'},
        {"k": '"true"^^boolean', "c": '"4"^^integer'},
    ]
    unbound = "SELECT ?k (COUNT(*) AS ?c) { ?s :n ?n } GROUP BY (?n + 0 AS ?k) HAVING (!BOUND(?k))"
    assert rows(unbound, SALES) == [{"c": '"1"^^integer'}]


def test_nothing_to_aggregate_is_no_match_at_the_top() -> None:
    assert result("COUNT(*)", pattern="?s :none ?n") == "no match"
    assert ask("ASK { ?s :none ?n } HAVING (COUNT(*) = 0)", SALES) is None
    assert result("SUM(?n)", pattern="?s :none ?n") == "no match"


def test_nothing_to_aggregate_is_one_group_in_a_sub_select() -> None:
    inner = "SELECT (COUNT(*) AS ?c) (SUM(?n) AS ?sum) (AVG(?n) AS ?avg) (MIN(?n) AS ?min) (GROUP_CONCAT(?n) AS ?cat)"
    found = rows(f"SELECT * {{ {{ {inner} {{ ?s :none ?n }} }} }}", SALES)
    zero = '"0"^^integer'
    assert found == [{"c": zero, "sum": zero, "avg": zero, "cat": '""'}]
    assert rows("SELECT * { { SELECT ?n (COUNT(*) AS ?c) { ?s :none ?n } GROUP BY ?n } }", SALES) == []


def test_errors_are_not_the_empty_group() -> None:
    assert result("COUNT(?none)") == '"0"^^integer'
    assert result("MIN(?none)") is None


def test_sub_select_joined_on_its_key() -> None:
    query = "SELECT ?s ?c { ?s :of ?o { SELECT ?o (COUNT(*) AS ?c) { ?t :of ?o } GROUP BY ?o } }"
    assert [row["c"] for row in rows(query, SALES)] == [f'"{n}"^^integer' for n in (2, 2, 2, 2, 1)]
    joined = "SELECT ?s { ?s :n ?c { SELECT (COUNT(*) AS ?c) { ?t :of :x } } }"
    assert rows(joined, ":s1 :of :x ; :n 1 . :s2 :of :x ; :n 2 .") == [{"s": "s2"}]
