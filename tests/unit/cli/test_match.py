"""`tidings match`: its lines, their order, bindings, statistics and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Tidings = Callable[..., Result]


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def match(tidings: Tidings, world: Path, *options: str) -> Result:
    return tidings(
        "match", world / "subscriptions", world / "events.trig", "--ontology", world / "ontology.ttl", *options
    )


def test_lines_come_by_event_then_by_subscription(tidings: Tidings, world: Path) -> None:
    result = match(tidings, world)
    assert (result.exit_code, result.stderr) == (0, "")
    assert [(line["event"], line["subscription"]) for line in lines(result)] == [
        ("http://e.x/two", "above"),
        ("http://e.x/two", "computer"),
        ("http://e.x/one", "cheap"),
        ("http://e.x/one", "computer"),
        ("http://e.x/three", "Titled"),
        ("http://e.x/three", "asked"),
        ("http://e.x/three", "cheap"),
    ]


def test_a_line_has_event_subscription_and_source(tidings: Tidings, world: Path) -> None:
    first = match(tidings, world).stdout.splitlines()[0]
    source = json.dumps(str(world / "events.trig"))
    assert first == f'{{"event": "http://e.x/two", "subscription": "above", "source": {source}}}'


def test_bindings_are_terms_as_in_sparql_json(tidings: Tidings, world: Path) -> None:
    found = {line["subscription"]: line for line in lines(match(tidings, world, "--bindings"))[4:]}
    integer = "http://www.w3.org/2001/XMLSchema#integer"
    assert found["cheap"]["bindings"] == [
        {"x": {"type": "uri", "value": "http://e.x/tome"}, "p": {"type": "literal", "value": "12", "datatype": integer}}
    ]
    assert found["asked"]["bindings"] == [{}]
    assert "construct" not in found["asked"]
    assert found["Titled"]["bindings"] == [{}]
    assert found["Titled"]["construct"] == '<http://e.x/tome> <http://e.x/named> "Grüße, 大海"@de .\n'


def test_output_is_utf8_text_not_escapes(tidings: Tidings, world: Path) -> None:
    result = match(tidings, world, "--bindings")
    assert "Grüße, 大海".encode() in result.stdout_bytes


def test_no_match_is_no_error(tidings: Tidings, world: Path) -> None:
    (world / "none.rq").write_text("SELECT * { ?x <http://e.x/absent> ?y }")
    result = tidings("match", world / "none.rq", world / "events.trig")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_without_the_ontology_no_hierarchy(tidings: Tidings, world: Path) -> None:
    result = tidings("match", world / "subscriptions", world / "events.trig")
    assert [(line["event"], line["subscription"]) for line in lines(result)] == [
        ("http://e.x/three", "Titled"),
        ("http://e.x/three", "asked"),
        ("http://e.x/three", "cheap"),
    ]


def test_stats_are_one_json_object_on_stderr(tidings: Tidings, world: Path) -> None:
    (world / "subscriptions" / "broken.rq").write_text("SELECT")
    result = match(tidings, world, "--stats", "--matcher", "naive")
    stats = json.loads(result.stderr.splitlines()[-1])
    assert result.exit_code == 1
    assert {name: stats[name] for name in ("events", "subscriptions", "matches", "candidates", "rejected")} == {
        "events": 3,
        "subscriptions": 5,
        "matches": 7,
        "candidates": 15,
        "rejected": {"subscriptions": 1, "events": 0, "evaluations": 0},
    }
    assert set(stats["seconds"]) == {"ontology", "subscriptions", "events", "match", "total"}
    assert stats["peak_memory"] > 1_000_000


def test_several_sources_keep_their_order(tidings: Tidings, world: Path) -> None:
    (world / "more.nt").write_text("<http://e.x/z> <http://e.x/price> <http://e.x/none> .\n")
    (world / "any.rq").write_text("SELECT * { ?x <http://e.x/price> ?p }")
    result = tidings("match", world / "any.rq", world / "more.nt", world / "events.trig")
    assert [Path(line["source"]).name for line in lines(result)] == ["more.nt", "events.trig"]
    assert lines(result)[0]["event"].startswith("urn:tidings:sha256:")


def test_the_same_event_twice_is_told_once(tidings: Tidings, world: Path) -> None:
    copy = world / "copy.trig"
    copy.write_bytes((world / "events.trig").read_bytes())
    result = tidings("match", world / "subscriptions" / "asked.rq", world / "events.trig", copy)
    assert (result.exit_code, len(lines(result))) == (0, 1)


def test_standard_input_is_nquads(tidings: Tidings, world: Path) -> None:
    quads = b'<http://e.x/a> <http://e.x/price> "5"^^<http://www.w3.org/2001/XMLSchema#integer> <http://e.x/g> .\n'
    result = tidings("match", world / "subscriptions", "-", input=quads)
    assert [(line["event"], line["subscription"], line["source"]) for line in lines(result)] == [
        ("http://e.x/g", "cheap", "stdin")
    ]


def test_events_by_and_format(tidings: Tidings, world: Path) -> None:
    (world / "events.trig").rename(world / "events.data")
    args = ("match", world / "subscriptions" / "asked.rq", world / "events.data", "--format", "trig")
    assert lines(tidings(*args, "--events-by", "document"))[0]["event"].startswith("urn:tidings:sha256:")
    assert lines(tidings(*args, "--events-by", "subject"))[0]["event"] == "http://e.x/tome"


def test_a_local_context_stands_for_a_remote_one(tidings: Tidings, world: Path) -> None:
    (world / "context.json").write_text('{"@context": {"@vocab": "http://e.x/"}}')
    (world / "event.jsonld").write_text('{"@context": "https://e.x/c?a=b", "@type": "Book"}')
    args = ("match", world / "subscriptions" / "asked.rq", world / "event.jsonld")
    assert tidings(*args).exit_code == 2
    result = tidings(*args, "--context", f"https://e.x/c?a=b={world / 'context.json'}")
    assert (result.exit_code, len(lines(result))) == (0, 1)


def test_limits_can_be_set(tidings: Tidings, world: Path) -> None:
    args = ("match", world / "subscriptions", world / "events.trig")
    assert tidings(*args, "--max-term", "4").exit_code == 2
    assert tidings(*args, "--max-term", "4KiB").exit_code == 0


def test_verbose_tells_and_quiet_does_not(tidings: Tidings, world: Path) -> None:
    args = ("match", world / "subscriptions", "-")
    assert "5 subscriptions" in tidings(*args, "-v", input=b"").stderr
    assert "no events" in tidings(*args, input=b"").stderr
    assert tidings(*args, "-q", input=b"").stderr == ""


def test_an_empty_input_is_done_without_a_match(tidings: Tidings, world: Path) -> None:
    result = tidings("match", world / "subscriptions", "-", input=b"")
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize("option", ["--strategy=chained", "--matcher=psychic"])
def test_what_is_not_there_is_wrong_usage(option: str, tidings: Tidings, world: Path) -> None:
    result = match(tidings, world, option)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")


def test_now_is_one_moment_for_the_whole_run(tidings: Tidings, world: Path) -> None:
    (world / "now.rq").write_text("SELECT ?now { ?x ?p ?o BIND(NOW() AS ?now) }")
    result = tidings("match", world / "now.rq", world / "events.trig", "--bindings")
    moments = {row["now"]["value"] for line in lines(result) for row in line["bindings"]}
    assert len(lines(result)) == 3
    assert len(moments) == 1


def test_a_bad_subscription_beside_an_empty_input_is_one_reject(tidings: Tidings, world: Path) -> None:
    (world / "subscriptions" / "bad.rq").write_text("SELECT", "utf-8")
    (world / "empty.nq").write_text("", "utf-8")
    result = tidings("match", world / "subscriptions", world / "empty.nq")
    assert result.exit_code == 1
    assert "no events" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_told_in_one_line(world: Path) -> None:
    command = [sys.executable, "-c", "from tidings.cli import app; app()", "match"]
    command += [str(world / "subscriptions"), str(world / "events.trig")]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["error: cannot go on: No space left on device"]


OFFERS = 'id,price,name\n1,390,Notebook\n2,500,"a large\nPC"\n3\n1,390,Notebook\n'
CHEAP = "SELECT ?s { ?s <http://shop.example/price> ?p FILTER(?p < 400) }"


def test_a_table_is_matched_row_by_row(tidings: Tidings, tmp_path: Path) -> None:
    (tmp_path / "cheap.rq").write_text(CHEAP)
    (tmp_path / "offers.csv").write_text(OFFERS)
    how = ("--as", "csv", "--base", "http://shop.example/", "--key", "id")
    result = tidings("match", tmp_path / "cheap.rq", tmp_path / "offers.csv", *how, "--bindings")
    assert result.exit_code == 1
    assert "offers.csv:5: the record has 1 cell" in result.stderr
    [line] = lines(result)
    assert line["bindings"] == [{"s": {"type": "uri", "value": "http://shop.example/1"}}]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--key", "id"), "say which, with --as"),
        (("--as", "csv", "--events-by", "subject"), "are for RDF"),
        (("--as", "csv", "--base", "nowhere"), "is no absolute IRI"),
        (("--as", "csv", "--key", "nothing"), "nothing"),
    ],
)
def test_how_a_table_is_read_can_be_wrong(
    tidings: Tidings, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    (tmp_path / "cheap.rq").write_text(CHEAP)
    (tmp_path / "offers.csv").write_text(OFFERS)
    result = tidings("match", tmp_path / "cheap.rq", tmp_path / "offers.csv", *options)
    assert result.exit_code == 2
    assert said in result.stderr
