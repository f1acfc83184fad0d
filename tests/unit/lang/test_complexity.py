"""What a subscription may cost, from its form."""

from __future__ import annotations

import pytest

from tidings.lang import parse
from tidings.lang.complexity import complexity, of_text

P = "<http://x/p>"


def costs(text: str) -> dict[str, int]:
    """Without that of its length."""
    found = dict(complexity(parse(text), text).costs)
    assert found.pop("the length of its text", 0) == len(text) // 100
    return found


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (f"?s {P} ?o", {"patterns": 1}),
        (f"?s {P} ?o ; {P} 1 . ?o {P} ?z", {"patterns": 3}),
        (f"?s {P} ?o FILTER(?o < 400)", {"patterns": 1, "expressions": 1}),
        (f"?s {P} ?o FILTER(regex(?o, 'a'))", {"patterns": 1, "regular expressions": 10}),
        (f"?s {P}* ?o", {"paths": 3, "paths of any length": 20}),
        (f"{{ ?s {P} 1 }} UNION {{ ?s {P} 2 }}", {"patterns": 2, "alternatives": 6}),
        (f"?s {P} ?o . ?t {P} ?u", {"patterns": 2, "patterns that nothing links": 50}),
        (f"?s {P} ?o . ?t {P} ?u FILTER(?o < ?u)", {"patterns": 2, "expressions": 1}),
        (f"{{ ?s {P} ?o }} {{ ?t {P} ?u }}", {"patterns": 2, "patterns that nothing links": 50}),
        (f"<http://x/a> {P} ?o . <http://x/a> {P} ?u", {"patterns": 2}),
        (f"?s {P} ?o OPTIONAL {{ ?s {P} ?u }}", {"patterns": 2, "OPTIONAL": 5}),
        (f"?s {P} ?o FILTER NOT EXISTS {{ ?s {P} 1 }}", {"patterns": 2, "EXISTS": 10}),
        (f"?s {P} ?o MINUS {{ ?s {P} 1 }}", {"patterns": 2, "MINUS": 10}),
        (f"?s {P} ?o {{ SELECT ?s {{ ?s {P} 1 }} }}", {"patterns": 2, "sub-selects": 10}),
        (f'?s {P} ?o FILTER ftcontains(?o, "as good" ftAND "new")', {"patterns": 1, "words": 3}),
        (f"VALUES ?o {{ {'1 ' * 35} }} ?s {P} ?o", {"patterns": 1, "VALUES": 4}),
        (f"?s {P} ?o FILTER(?o IN ({', '.join('1' * 29)}))", {"patterns": 1, "expressions": 4}),
    ],
)
def test_everything_that_makes_work_counts(where: str, expected: dict[str, int]) -> None:
    assert costs(f"ASK {{ {where} }}") == expected


def test_other_dialects_count_too() -> None:
    text = "(_:H, ?x, (<http://x/A>, <http://x/p>, <http://x/B>))"
    assert complexity(parse(text, "ops"), text).costs == {"patterns": 3}


def test_aggregates_and_order() -> None:
    text = f"SELECT ?s (COUNT(?o) AS ?n) {{ ?s {P} ?o }} GROUP BY ?s ORDER BY ?n"
    assert costs(text) == {"patterns": 1, "aggregates": 5, "groups and order": 4}


def test_what_no_index_helps_with_costs_more() -> None:
    text = "ASK { ?s ?p ?o }"
    form = parse(text)
    assert complexity(form, text, tried_on_all=True).score == complexity(form, text).score + 100


def test_what_costs_most_is_named() -> None:
    text = f"ASK {{ ?s {P}* ?o . ?t {P} ?u }}"
    assert complexity(parse(text), text).most(2) == "patterns that nothing links (50), paths of any length (20)"


HOSTILE = {
    "triples": "ASK { " + f"?s {P} ?o . " * 5_000 + "}",
    "separate": "ASK { " + " ".join(f"?a{n} {P} ?b{n} ." for n in range(4_000)) + "}",
    "choices": "ASK { " + " UNION ".join(f"{{ ?s {P} {n} }}" for n in range(4_000)) + "}",
    "one chain": "ASK { " + " ".join(f"?a{n} {P} ?a{n + 1} ." for n in range(4_000)) + "}",
    "values": "ASK { VALUES ?o { " + "1 " * 50_000 + f"}} ?s {P} ?o }}",
    "exists": "ASK { " + f"?s {P} ?o FILTER NOT EXISTS {{ " * 30 + f"?s {P} 1" + "}" * 30 + "}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(name: str) -> None:
    text = HOSTILE[name]
    form = parse(text)
    whole, some = complexity(form, text), complexity(form, text, enough=50)
    assert whole.score >= some.score > 50


def test_what_is_enough_is_not_counted_to_its_end() -> None:
    text = HOSTILE["choices"]
    form = parse(text)
    assert complexity(form, text, enough=10).costs.get("patterns") is None
    assert complexity(form, text).costs["patterns"] == 4_000


def test_the_length_of_a_text_counts_before_it_is_read() -> None:
    assert of_text("x" * 250_000).score == 2_500
