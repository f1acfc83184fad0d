"""`tidings compile`, and `tidings match` on what it wrote and on N-Quads."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Tidings = Callable[..., Result]

NQUADS = """\
<http://e.x/feather> <http://e.x/price> "390"^^<http://www.w3.org/2001/XMLSchema#integer> <http://e.x/one> .
<http://e.x/feather> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.x/Notebook> <http://e.x/one> .
<http://e.x/tome> <http://e.x/title> "Gr\\u00fc\\u00dfe" <http://e.x/two> .
<http://e.x/tome>   <http://e.x/title> "more" <http://e.x/two> .  # a comment
nonsense <http://e.x/three> .
<http://e.x/tome> <http://e.x/title> "three" <http://e.x/three> .
<http://e.x/granite> <http://e.x/price> "450"^^<http://www.w3.org/2001/XMLSchema#integer> <http://e.x/four> .
<http://e.x/granite> <http://e.x/price> "451"^^<http://www.w3.org/2001/XMLSchema#integer> <http://e.x/one> .
<http://e.x/granite> <http://e.x/price> "452"^^<http://www.w3.org/2001/XMLSchema#integer> .
"""


def compiled(tidings: Tidings, world: Path, *options: str) -> Result:
    args = ("--ontology", world / "ontology.ttl", "-o", world / "index")
    return tidings("compile", world / "subscriptions", *args, *options)


def test_an_index_matches_as_the_subscriptions_do(tidings: Tidings, world: Path) -> None:
    result = compiled(tidings, world)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"5 subscriptions in {world / 'index'}" in result.stderr
    args = (world / "events.trig", "--bindings")
    expected = tidings("match", world / "subscriptions", *args, "--ontology", world / "ontology.ttl")
    for options in ([], ["--verify"], ["--ontology", world / "ontology.ttl"], ["--matcher", "fast"]):
        found = tidings("match", world / "index", *args, *options)
        assert (found.exit_code, found.stdout, found.stderr) == (0, expected.stdout, "")


def test_an_ontology_that_does_not_fit_is_refused(tidings: Tidings, world: Path) -> None:
    compiled(tidings, world)
    (world / "other.ttl").write_text("<e:a> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <e:b> .")
    result = tidings("match", world / "index", world / "events.trig", "--ontology", world / "other.ttl")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "another ontology" in result.stderr


def test_rejected_subscriptions_are_named_and_left_out(tidings: Tidings, world: Path) -> None:
    (world / "subscriptions" / "broken.rq").write_text("SELECT * { ?s ?p }")
    result = compiled(tidings, world)
    assert result.exit_code == 1
    assert "broken.rq:1:18" in result.stderr
    assert "5 subscriptions in" in result.stderr
    (world / "index" / "manifest.json").unlink()
    assert compiled(tidings, world, "--fail-fast").exit_code == 1
    assert not (world / "index" / "manifest.json").exists()


def test_nothing_to_compile(tidings: Tidings, world: Path) -> None:
    (world / "empty.ndjson").write_text("")
    for source in (world / "empty.ndjson", world / "absent"):
        result = tidings("compile", source, "-o", world / "index")
        assert (result.exit_code, (world / "index").exists()) == (2, False)


def test_a_folder_with_something_else_in_it_is_left_alone(tidings: Tidings, world: Path) -> None:
    (world / "index").mkdir()
    (world / "index" / "thesis.txt").write_text("mine")
    result = compiled(tidings, world)
    assert result.exit_code == 2
    assert "has other files in it: thesis.txt" in result.stderr
    (world / "index" / "thesis.txt").rename(world / "index" / "writer.lock")
    assert compiled(tidings, world).exit_code == 0
    assert compiled(tidings, world).exit_code == 0, "an index is replaced"


def test_wrong_usage_of_an_index(tidings: Tidings, world: Path) -> None:
    compiled(tidings, world)
    for args, said in (
        (["match", world / "index", world / "events.trig", "--matcher", "naive"], "is compiled for the matcher 'fast'"),
        (["match", world / "subscriptions", world / "events.trig", "--verify"], "--verify is for compiled"),
        (["compile", world / "index", "-o", world / "other"], "is compiled already"),
    ):
        result = tidings(*args)
        assert (result.exit_code, result.stdout) == (2, "")
        assert said in result.stderr


def test_a_damaged_index_is_refused(tidings: Tidings, world: Path) -> None:
    compiled(tidings, world)
    [data] = (world / "index").glob("data-*.bin")
    content = bytearray(data.read_bytes())
    content[-1] ^= 1
    data.write_bytes(content)
    result = tidings("match", world / "index", world / "events.trig", "--verify")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "digest mismatch" in result.stderr


# ------------------------------------------------------------------------------------------------------------- the lane


@pytest.fixture
def feed(world: Path) -> Path:
    (world / "feed").mkdir()
    (world / "feed" / "a.nq").write_text(NQUADS, "utf-8")
    (world / "feed" / "b.trig").write_text("<http://e.x/four> { <http://e.x/granite> <http://e.x/price> 450 }")
    (world / "feed" / "c.nq.gz").write_bytes(gzip.compress(NQUADS.encode()))
    (world / "feed" / "d.trig").write_text("<http://e.x/new> { <e:s> <http://e.x/title> 'x' }")
    (world / "feed" / "e.nq").write_text("<e:s> <http://e.x/title> <e:o> <http://e.x/new> .\n<e:s> <e:p>")
    return world / "feed"


OPTIONS: list[list[str]] = [[], ["--stats"], ["--fail-fast"], ["--group"], ["--events-by", "document"], ["--strict"]]


@pytest.mark.parametrize("options", [*OPTIONS, ["--bindings"], ["--max-event", "100"], ["--max-term", "40"]])
def test_the_lane_changes_neither_lines_nor_errors(
    tidings: Tidings, world: Path, feed: Path, options: list[str]
) -> None:
    args = ["match", world / "subscriptions", feed, "--ontology", world / "ontology.ttl", *options]
    fast, naive = tidings(*args), tidings(*args, "--matcher", "naive")
    assert fast.stdout == naive.stdout
    assert fast.exit_code == naive.exit_code
    if options == ["--stats"]:
        counts = [json.loads(result.stderr.splitlines()[-1]) for result in (fast, naive)]
        assert all(counts[0][name] == counts[1][name] for name in ("events", "matches", "subscriptions", "rejected"))
    else:
        assert fast.stderr == naive.stderr


def test_standard_input_goes_the_same_way(tidings: Tidings, world: Path) -> None:
    args = ["match", world / "subscriptions", "-"]
    fast, naive = (tidings(*args, "--matcher", name, input=NQUADS.encode()) for name in ("fast", "naive"))
    assert (fast.stdout, fast.stderr, fast.exit_code) == (naive.stdout, naive.stderr, naive.exit_code)
    assert '"source": "stdin"' in fast.stdout
