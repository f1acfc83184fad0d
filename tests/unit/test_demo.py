"""The demo: every subscription finds what it should and misses what it should, and the command shows it."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

import tidings
from tidings.cli import app
from tidings.cli.demo_world import World, load_world, matches_of, near_miss, purpose, short_name
from tidings.lang.check import check
from tidings.match.explain import declared_prefixes, explain

FOLDER = Path(tidings.__file__).parent / "demo"
EXPECTED: dict[str, list[str]] = json.loads(Path(__file__).with_name("demo_expected.json").read_text())


@cache
def world() -> World:
    return load_world(FOLDER)


@cache
def found() -> dict[str, list[str]]:
    return {id: [short_name(event) for event in events] for id, events in matches_of(world()).items()}


def test_the_world_is_large_enough_and_varied() -> None:
    assert len(world().events) >= 30
    assert len(world().subscriptions) >= 20
    assert {s.dialect for s in world().subscriptions} == {"sparql", "ops", "gtopss"}
    assert {p.suffix for p in (FOLDER / "events").iterdir()} == {".trig", ".ttl", ".jsonld", ".rdf", ".nq", ".nt"}
    assert len({short_name(event) for event in world().events}) == len(world().events)


@pytest.mark.parametrize("id", EXPECTED)
def test_every_subscription_matches_what_is_expected(id: str) -> None:
    assert found()[id] == EXPECTED[id]
    assert 1 <= len(found()[id]) < len(world().events)


def test_every_subscription_is_expected() -> None:
    assert set(found()) == set(EXPECTED)


@pytest.mark.parametrize("id", EXPECTED)
def test_every_subscription_has_a_purpose_and_a_near_miss(id: str) -> None:
    subscription = next(s for s in world().subscriptions if s.id == id)
    assert len(purpose(subscription)) > 20
    assert short_name(near_miss(world(), subscription)) not in EXPECTED[id]


@pytest.mark.parametrize("id", EXPECTED)
def test_every_explanation_agrees_with_the_verdict_and_has_a_reason(id: str) -> None:
    subscription = next(s for s in world().subscriptions if s.id == id)
    prefixes = declared_prefixes(subscription.text, subscription.dialect)
    for event in world().events:
        explanation = explain(subscription.query, event, world().ontology, prefixes=prefixes)
        assert explanation.matches == (short_name(event) in EXPECTED[id])
        assert (explanation.missing is None) == explanation.matches
        assert explanation.findings


def test_the_demo_has_no_problems() -> None:
    assert [p for p in check(world().subscriptions, world().ontology) if p.severity != "info"] == []


def test_the_command_shows_every_match_with_a_reason() -> None:
    result = CliRunner().invoke(app, ["demo", "--reasons"], env={"COLUMNS": "200"})
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("── ✓ ") == sum(map(len, EXPECTED.values()))
    assert result.stdout.count("── ✗ ") == len(EXPECTED)
    assert "── ✓ offer-01  item:feather a auc:NotebookPC · auc:NotebookPC ⊑ auc:Computer\n" in result.stdout
    assert f"{len(world().events)} events, {len(EXPECTED)} subscriptions" in result.stdout


def test_one_subscription_in_full() -> None:
    result = CliRunner().invoke(app, ["demo", "value-filter-under-400-dollars", "-v"])
    assert result.exit_code == 0
    assert "✗ FILTER(?amount < 400)" in result.stdout
    assert CliRunner().invoke(app, ["demo", "no-such-subscription"]).exit_code == 2


def test_the_world_can_be_written_out_and_used(tmp_path: Path) -> None:
    target = tmp_path / "world"
    assert CliRunner().invoke(app, ["demo", "--write", str(target)]).exit_code == 0
    ontologies = [arg for path in sorted((target / "ontologies").iterdir()) for arg in ("--ontology", str(path))]
    args = ["match", str(target / "subscriptions"), str(target / "events"), *ontologies]
    result = CliRunner().invoke(app, args)
    assert len(result.stdout.splitlines()) == sum(map(len, EXPECTED.values()))
    assert CliRunner().invoke(app, ["demo", "--write", str(target)]).exit_code == 2


def test_offers_are_well_formed_ops_events() -> None:
    events = list(tidings.read_events([FOLDER / "events" / "offers.trig"], strict=True, report=_refuse))
    assert len(events) == 10


def _refuse(error: tidings.EventError) -> None:
    raise error


def test_the_demo_is_the_same_every_time() -> None:
    command = [sys.executable, "-c", "from tidings.cli import main; main()", "demo", "--reasons"]
    outputs = {
        subprocess.run(command, capture_output=True, check=True, env={"PYTHONHASHSEED": seed, "PATH": ""}).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
