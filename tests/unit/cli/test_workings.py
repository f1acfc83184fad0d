"""`tidings explain --matcher`: how a matcher comes to its answer, after the explanation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from tests.support import ROOT

from tidings.match import naive, registry

Tidings = Callable[..., Result]


def explain(tidings: Tidings, world: Path, subscription: str, event: str, *options: str) -> Result:
    files = (world / "subscriptions" / subscription, world / "events.trig", "--ontology", world / "ontology.ttl")
    return tidings("explain", *files, "--event", f"http://e.x/{event}", *options)


def test_the_workings_follow_the_explanation(tidings: Tidings, world: Path) -> None:
    plain = explain(tidings, world, "above.gtopss", "two")
    result = explain(tidings, world, "above.gtopss", "two", "--matcher", "gtopss", "-v")
    assert (result.exit_code, result.stderr) == (0, "tidings: the matcher 'gtopss' agrees\n")
    assert result.stdout.startswith(plain.stdout)
    assert result.stdout.removeprefix(plain.stdout).startswith(
        "\nHow the matcher 'gtopss' comes to its answer: a match\n\nG_M: 1 edge of this subscription\n"
    )
    assert "  :granite  450\n" in result.stdout


def test_a_matcher_without_workings_of_its_own_adds_nothing(tidings: Tidings, world: Path) -> None:
    plain = explain(tidings, world, "cheap.rq", "two")
    assert explain(tidings, world, "cheap.rq", "two", "--matcher", "naive").stdout == plain.stdout


def test_json(tidings: Tidings, world: Path) -> None:
    answer = json.loads(explain(tidings, world, "computer.rq", "one", "--json", "--matcher", "rtfm").stdout)
    assert answer["matches"] is True
    told = answer["workings"]
    assert (told["matcher"], told["matches"], told["failure"]) == ("rtfm", True, None)
    assert told["sections"][0] == {
        "title": "Query table QT",
        "notes": [],
        "table": {
            "columns": ["query", "tuple", "(S, P, O)", "{F}"],
            "rows": [["q1", "t1", "(?x, rdf:type, :Computer)", "–"]],
            "more": 0,
        },
        "outcome": "",
    }
    assert "workings" not in json.loads(explain(tidings, world, "computer.rq", "one", "--json").stdout)


@pytest.mark.parametrize(("matcher", "construct"), [("gtopss", "sparql dialect"), ("rtfm", "< in FILTER")])
def test_what_a_matcher_does_not_support_is_named(matcher: str, construct: str, tidings: Tidings, world: Path) -> None:
    result = explain(tidings, world, "cheap.rq", "two", "--matcher", matcher)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"'{matcher}'" in result.stderr
    assert construct in result.stderr


def test_a_failure_is_told(tidings: Tidings, tmp_path: Path) -> None:
    """A matching tree costs more steps than the verifier takes."""
    thing = "<http://www.w3.org/2002/07/owl#Thing>"
    (tmp_path / "all.ops").write_text(f"(_:H, ?x, ({thing}, <e:p>, {thing}))")
    (tmp_path / "many.ttl").write_text("".join(f"_:H <e:p> <e:{n}> .\n" for n in range(100)))
    result = tidings("explain", tmp_path / "all.ops", tmp_path / "many.ttl", "--matcher", "ops", "--budget", "4800")
    assert result.exit_code == 1
    assert result.stderr == (
        "error: the matcher 'ops' failed: the evaluation needs more than the budget of 4800 steps\n"
    )
    assert "given up: the evaluation needs more than the budget of 4800 steps" in result.stdout


def test_a_matcher_that_disagrees_is_at_fault(tidings: Tidings, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naive.Naive, "match", lambda *_: [])
    result = explain(tidings, world, "computer.rq", "one", "--matcher", "naive")
    assert result.exit_code == 1
    assert "the matcher 'naive' disagrees: it finds no match; this is a fault in it" in result.stderr


def test_nothing_in_it_steers_the_terminal(tidings: Tidings, tmp_path: Path) -> None:
    (tmp_path / "all.rq").write_text('SELECT * { ?x <e:p> ?t FILTER ftcontains(?t, "red") }')
    (tmp_path / "event.ttl").write_text('<e:s> <e:p> "\\u001B[31mred\\t\\r\\u009B" .')
    for matcher in ("rtfm", "rtfs", "ibroker"):
        result = tidings("explain", tmp_path / "all.rq", tmp_path / "event.ttl", "--matcher", matcher)
        assert result.exit_code == 0
        assert not {"\x1b", "\r", "\x9b"} & set(result.stdout)
        assert r"\u001b" in result.stdout


def test_the_samples_of_the_matchers_page_are_what_the_command_prints(tidings: Tidings, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "matchers.md").read_text("utf-8").partition("## Seeing them at work")[2]
    shape = r"\*\*`(\w+)`\.\*\*.*?\n\n`(\S+)`, `(\S+)`, `(\S+)`:\n\n```\n(.*?)\n```"
    samples = re.findall(shape, page, re.DOTALL)
    assert {sample[0] for sample in samples} == set(registry.names()) - {"naive", "rtfs"}
    world = tmp_path / "world"
    tidings("demo", "--write", world)
    ontologies = [f"--ontology={path}" for path in sorted((world / "ontologies").iterdir())]
    for matcher, subscription, document, event, sample in samples:
        files = (world / "subscriptions" / subscription, world / "events" / document)
        result = tidings(
            "explain", *files, f"--event=http://example.org/event/{event}", f"--matcher={matcher}", *ontologies
        )
        for part in sample.split("\n\n"):
            assert part in result.stdout, f"{matcher}\n{result.stdout}"
