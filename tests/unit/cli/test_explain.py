"""`tidings explain`: which subscription, which event, and the answer as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result

Tidings = Callable[..., Result]


def explain(tidings: Tidings, world: Path, subscription: str, event: str, *options: str) -> Result:
    files = (world / "subscriptions" / subscription, world / "events.trig", "--ontology", world / "ontology.ttl")
    return tidings("explain", *files, "--event", f"http://e.x/{event}", *options)


def test_why(tidings: Tidings, world: Path) -> None:
    result = explain(tidings, world, "computer.rq", "one")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "computer matches <http://e.x/one>, with 1 solution\n\n"
        "  ?x = :feather\n\n"
        "  ✓ ?x a :Computer  :feather a :Notebook\n"
        "                    :Notebook ⊑ :Computer\n"
    )


def test_why_not(tidings: Tidings, world: Path) -> None:
    result = explain(tidings, world, "cheap.rq", "two")
    assert result.exit_code == 0
    assert result.stdout == (
        "cheap does not match <http://e.x/two>\n"
        "  because FILTER(?p < 400): 450 is not < 400\n\n"
        "  ✓ ?x :price ?p      :granite :startingPrice 450\n"
        "                      :startingPrice ⊑ :price\n"
        "  ✗ FILTER(?p < 400)  450 is not < 400\n"
    )


def test_json(tidings: Tidings, world: Path) -> None:
    answer = json.loads(explain(tidings, world, "cheap.rq", "two", "--json").stdout)
    assert (answer["subscription"], answer["event"], answer["matches"]) == ("cheap", "http://e.x/two", False)
    assert [finding["holds"] for finding in answer["findings"]] == [True, False]
    assert answer["findings"][0]["origin"]["stated"][1] == "<http://e.x/startingPrice>"


@pytest.mark.parametrize("named", ["subscriptions#cheap", "subscriptions --id cheap"])
def test_one_of_many_subscriptions(named: str, tidings: Tidings, world: Path) -> None:
    first, *options = named.split()
    result = tidings("explain", world / first, world / "events.trig", "--event", "http://e.x/three", *options)
    assert result.stdout.startswith("cheap matches <http://e.x/three>")


@pytest.mark.parametrize(
    ("subscription", "options", "says"),
    [
        ("subscriptions", ("--event", "http://e.x/one"), "5 subscriptions"),
        ("subscriptions#none", ("--event", "http://e.x/one"), "'none'"),
        ("subscriptions/cheap.rq", (), "several events"),
        ("subscriptions/cheap.rq", ("--event", "http://e.x/four"), "http://e.x/four"),
        ("subscriptions/cheap.rq", ("--event", "http://e.x/one", "--matcher", "psychic"), "psychic"),
        ("absent.rq", ("--event", "http://e.x/one"), "absent.rq"),
    ],
)
def test_wrong_usage(subscription: str, options: tuple[str, ...], says: str, tidings: Tidings, world: Path) -> None:
    result = tidings("explain", world / subscription, world / "events.trig", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr


def test_what_cannot_be_read_is_told_with_its_place(tidings: Tidings, world: Path) -> None:
    (world / "broken.rq").write_text("SELECT * { ?s ?p }")
    (world / "broken.ttl").write_text("<a")
    assert "broken.rq:1:18" in tidings("explain", world / "broken.rq", world / "events.trig").stderr
    assert "broken.ttl" in tidings("explain", world / "subscriptions" / "cheap.rq", world / "broken.ttl").stderr


def test_another_matcher_is_asked_too(tidings: Tidings, world: Path) -> None:
    result = explain(tidings, world, "cheap.rq", "two", "--matcher", "naive", "-v")
    assert (result.exit_code, "'naive' agrees" in result.stderr) == (0, True)


def test_an_evaluation_that_fails_is_told(tidings: Tidings, world: Path) -> None:
    result = explain(tidings, world, "cheap.rq", "two", "--budget", "1")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "budget" in result.stderr


def test_an_event_may_be_named_with_its_angle_brackets(tidings: Tidings, world: Path) -> None:
    files = (world / "subscriptions" / "cheap.rq", world / "events.trig")
    result = tidings("explain", *files, "--event", "<http://e.x/three>")
    assert result.stdout.startswith("cheap matches <http://e.x/three>")


# ------------------------------------------------------------------------------------------------------------ drawings


def test_a_drawing_of_the_event(tidings: Tidings, world: Path, tmp_path: Path) -> None:
    file = tmp_path / "drawn.svg"
    result = explain(tidings, world, "computer.rq", "one", "--svg", str(file))
    assert (result.exit_code, result.stdout.splitlines()[0]) == (
        0,
        "computer matches <http://e.x/one>, with 1 solution",
    )
    assert result.stderr == f"the drawing is in {file}\n"
    root = ElementTree.fromstring(file.read_bytes())
    assert root.tag.endswith("}svg")
    assert ":Notebook ⊑ :Computer" in "".join(root.itertext())


def test_a_drawing_is_not_told_of_where_nothing_but_errors_is(tidings: Tidings, world: Path, tmp_path: Path) -> None:
    result = explain(tidings, world, "cheap.rq", "two", "--svg", str(tmp_path / "drawn.svg"), "--json", "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout)["matches"] is False
    assert "does not match" in (tmp_path / "drawn.svg").read_text("utf-8")


@pytest.mark.parametrize(("event", "verdict"), [("urn:e", "✓ path matches"), ("urn:f", "✗ path does not match")])
def test_a_drawing_of_the_matching_tree(
    event: str, verdict: str, tidings: Tidings, world: Path, tmp_path: Path
) -> None:
    (world / "path.ops").write_text("PREFIX : <http://e.x/> (_:H, ?a, (:T, p, :T)) (?a, ?b, (:T, p, :T))")
    (world / "path.trig").write_text(
        "PREFIX : <http://e.x/> <urn:e> { _:H a :T ; :p _:a . _:a a :T ; :p _:b . _:b a :T . } <urn:f> { :x :p :y . }"
    )
    file = tmp_path / "tree.svg"
    options = ("--event", event, "--matcher", "ops", "--svg", file)
    result = tidings("explain", world / "path.ops", world / "path.trig", *options)
    assert result.exit_code == 0, result.stderr
    assert verdict in file.read_text("utf-8")


def test_a_matching_tree_of_what_ops_does_not_take(tidings: Tidings, world: Path, tmp_path: Path) -> None:
    result = explain(tidings, world, "cheap.rq", "two", "--matcher", "ops", "--svg", str(tmp_path / "tree.svg"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the matcher 'ops' does not support the dialect 'sparql'" in result.stderr
    assert not (tmp_path / "tree.svg").exists()


def test_a_drawing_that_cannot_be_written(tidings: Tidings, world: Path, tmp_path: Path) -> None:
    result = explain(tidings, world, "cheap.rq", "two", "--svg", str(tmp_path / "absent" / "drawn.svg"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "cannot write" in result.stderr
    assert "absent" in result.stderr
    assert explain(tidings, world, "cheap.rq", "two", "--svg", str(tmp_path)).exit_code == 2
