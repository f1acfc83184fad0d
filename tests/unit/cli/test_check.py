"""`tidings check`: problems as text and as JSON, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Tidings = Callable[..., Result]


def test_nothing_to_say(tidings: Tidings, world: Path) -> None:
    result = tidings("check", world / "subscriptions" / "cheap.rq", "--ontology", world / "ontology.ttl")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "1 subscription, no problems\n")


def test_problems_come_file_by_file_with_their_place(tidings: Tidings, world: Path) -> None:
    (world / "subscriptions" / "b-broken.rq").write_text("SELECT * { ?s ?p }")
    (world / "subscriptions" / "a-typo.rq").write_text("PREFIX : <http://e.x/> SELECT * { ?s :pirce ?p }")
    result = tidings("check", world / "subscriptions", "--ontology", world / "ontology.ttl")
    lines = [line for line in result.stdout.splitlines() if not line.startswith("  ")]
    assert result.exit_code == 1
    files = [Path(line.split(":")[0]).name for line in lines]
    assert files == sorted(files)
    assert "warning: unknown property :pirce, did you mean :price?" in lines[files.index("a-typo.rq")]
    assert "b-broken.rq:1:18: error: " in lines[files.index("b-broken.rq")]
    assert "1 error" in result.stderr


def test_json_is_one_object_a_line(tidings: Tidings, world: Path) -> None:
    (world / "subscriptions.ndjson").write_text(
        '{"id": "a", "query": "SELECT * { ?s ?p }"}\n{"id": "b", "query": "SELECT * { ?s ?p ?o }"}\n'
    )
    result = tidings("check", world / "subscriptions.ndjson", "--json")
    problems = [json.loads(line) for line in result.stdout.splitlines()]
    assert (result.exit_code, result.stderr) == (1, "")
    assert [(p["subscription"], p["severity"], p["code"], p["row"]) for p in problems] == [
        ("a", "error", "syntax", 1),
        ("b", "warning", "matches-everything", 2),
    ]
    assert (problems[0]["line"], problems[0]["column"]) == (1, 18)


def test_a_subscription_that_no_index_helps_with_is_named(tidings: Tidings, world: Path) -> None:
    (world / "any.rq").write_text("SELECT * { ?s ?p ?o FILTER(strlen(str(?o)) > 3) }")
    result = tidings("check", world / "any.rq")
    assert result.exit_code == 0
    assert "info: every event has to be tried" in result.stdout
    assert "[unindexed]" in result.stdout


def test_what_the_strategy_does_not_take_is_an_error(tidings: Tidings, world: Path) -> None:
    (world / "parts.ndjson").write_text(
        '{"id": "a", "query": "SELECT * { ?s <http://e.x/p> ?o OPTIONAL { ?s <http://e.x/q> ?v } }"}\n'
        '{"id": "b", "query": "SELECT * { ?s <http://e.x/p> ?o }"}\n'
    )
    assert tidings("check", world / "parts.ndjson", "-q").exit_code == 0
    result = tidings("check", world / "parts.ndjson", "--strategy", "chained", "--json")
    errors = [json.loads(line) for line in result.stdout.splitlines() if '"error"' in line]
    assert result.exit_code == 1
    assert [(p["subscription"], p["code"], p["message"], p["row"]) for p in errors] == [
        ("a", "not-chained", "the strategy chained does not take OPTIONAL", 1)
    ]


def test_warnings_are_no_failure(tidings: Tidings, world: Path) -> None:
    (world / "all.rq").write_text("SELECT * { ?s ?p ?o }")
    assert tidings("check", world / "all.rq", "-q").exit_code == 0


def test_nothing_to_check_is_wrong_usage(tidings: Tidings, world: Path) -> None:
    (world / "empty.ndjson").write_text("")
    assert tidings("check", world / "empty.ndjson").exit_code == 2
    assert tidings("check", world / "absent").exit_code == 2


def test_an_unusable_ontology_ends_the_run(tidings: Tidings, world: Path) -> None:
    (world / "cycle.ttl").write_text(
        "@prefix : <http://e.x/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> ."
        ":A r:subClassOf :B . :B r:subClassOf :A ."
    )
    args = ("check", world / "subscriptions", "--ontology", world / "cycle.ttl")
    result = tidings(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "cycle" in result.stderr
    assert tidings(*args, "--cycles", "equivalence").exit_code == 0
