"""`tidings ingest`: its output, its exit codes, and that other commands read what it writes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest
from click.testing import Result

Tidings = Callable[..., Result]
ITEMS = '{"items": [{"id": 1, "name": "Tome", "tags": ["a"]},\n{"id": 2, "name": "<script>alert(1)</script>"}]}'
SHAPES = """@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <http://e.x/> .
:S a sh:NodeShape ; sh:targetClass :Item ; sh:property [ sh:path :tags ; sh:minCount 1 ; sh:message "no tags" ] ."""
OPTIONS = ("--as", "json", "--record", "$.items[*]", "--base", "http://e.x/", "--class", "http://e.x/Item")


@pytest.fixture
def items(tmp_path: Path) -> Path:
    path = tmp_path / "items.json"
    path.write_text(ITEMS, "utf-8")
    return path


def test_it_writes_quads_in_a_graph_for_each_event(tidings: Tidings, items: Path) -> None:
    result = tidings("ingest", items, *OPTIONS, "--key", "id")
    assert (result.exit_code, result.stderr) == (0, "")
    quads = list(ox.parse(result.stdout.encode(), format=ox.RdfFormat.N_QUADS))
    assert len({quad.graph_name for quad in quads}) == 2
    assert "<http://e.x/1>" in {str(quad.subject) for quad in quads}


def test_what_it_writes_can_be_matched(tidings: Tidings, items: Path, tmp_path: Path) -> None:
    query = tmp_path / "script.rq"
    query.write_text(
        'PREFIX : <http://e.x/> SELECT ?x WHERE { ?x a :Item ; :name ?n FILTER(CONTAINS(?n, "<script>")) }'
    )
    written = tidings("ingest", items, *OPTIONS).stdout.encode()
    result = tidings("match", query, "-", "--matcher", "naive", "--bindings", input=written)
    [line] = map(json.loads, result.stdout.splitlines())
    assert line["bindings"] == [{"x": {"type": "uri", "value": "http://e.x/#record=2"}}]


def test_standard_input_compressed_files_and_output(tidings: Tidings, items: Path, tmp_path: Path) -> None:
    expected = tidings("ingest", items, *OPTIONS).stdout
    assert tidings("ingest", "-", *OPTIONS, input=ITEMS.encode()).stdout == expected
    packed, out = tmp_path / "items.json.gz", tmp_path / "out.nq"
    packed.write_bytes(gzip.compress(ITEMS.encode()))
    assert tidings("ingest", packed, *OPTIONS, "-o", out).stdout == ""
    assert out.read_text("utf-8") == expected


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["items.json"], 2, "by its name this is RDF"),
        (["items.json", "--as", "jsn"], 2, "'jsn' is no format"),
        (["none.html"], 2, "no such file or folder"),
        (["items.json", "--as", "json", "--base", "no iri"], 2, "is no absolute IRI"),
        (["items.json", "--as", "json", "--record", "$..x"], 2, "is not understood"),
        (
            ["items.json", "--as", "json", "--record", "/items/*", "--key", "tags[*]"],
            1,
            "items.json:2: the record has no",
        ),
        (["items.json", "--as", "json", "--validate"], 2, "--validate needs"),
        (["items.json", "--as", "json", "--ontology", "items.json"], 2, "--ontology is for --validate"),
        (["items.json", "--as", "json", "--set", "x"], 2, "should be NAME=VALUE"),
        (["items.json", "--as", "json", "--context", "none"], 2, "should be FILE or URL=FILE"),
        (["items.json", "--as", "xml"], 2, "items.json:1:1: XML that is not well-formed"),
        (["."], 2, "no file that can be taken in"),
        (["items.json", "--as", "json", "--max-depth", "2"], 2, "nested more than 2 deep"),
    ],
)
def test_what_is_wrong_is_named(
    tidings: Tidings, items: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, said: str
) -> None:
    monkeypatch.chdir(items.parent)
    result = tidings("ingest", *arguments)
    assert result.exit_code == code, result.output
    assert said in result.stderr


def test_it_stops_at_the_first_reject(tidings: Tidings, items: Path) -> None:
    result = tidings("ingest", "none.html", items, *OPTIONS, "--fail-fast")
    assert (result.exit_code, result.stdout) == (1, "")


@pytest.mark.parametrize(("arguments", "count"), [(["--preview", "1"], 1), (["--preview"], 2), (["--preview=1"], 1)])
def test_a_preview_is_turtle(tidings: Tidings, items: Path, arguments: list[str], count: int) -> None:
    result = tidings("ingest", *arguments, items, *OPTIONS)
    assert result.exit_code == 0, result.output
    assert result.stdout.count("# event <") == count
    assert list(ox.parse(result.stdout.encode(), format=ox.RdfFormat.TURTLE))


def test_a_picture_has_no_script_of_the_data_in_it(tidings: Tidings, items: Path, tmp_path: Path) -> None:
    picture = tmp_path / "event.svg"
    result = tidings("ingest", items, *OPTIONS[:2], "--record", "/items/1", "--svg", picture)
    assert (result.exit_code, result.stdout) == (0, "")
    text = picture.read_text("utf-8")
    assert text.startswith("<svg")
    assert "alert(1)" in text
    assert "<script" not in text


def test_validation_tells_what_is_missing(tidings: Tidings, items: Path, tmp_path: Path) -> None:
    ontology = tmp_path / "o.ttl"
    ontology.write_text("@prefix : <http://e.x/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . :Item a owl:Class .")
    result = tidings("ingest", items, *OPTIONS, "--ontology", ontology, "--validate")
    assert result.exit_code == 2
    assert "the property <http://e.x/name> is not declared" in result.stderr
    assert tidings("ingest", items, *OPTIONS, "--home", "--validate").exit_code == 0


def test_shapes(tidings: Tidings, items: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyshacl")
    shapes = tmp_path / "shapes.ttl"
    shapes.write_text(SHAPES)
    result = tidings("ingest", items, *OPTIONS, "--shapes", shapes)
    assert result.exit_code == 1
    assert "<http://e.x/#record=2> <http://e.x/tags>: no tags" in result.stderr
    assert "Tome" in result.stdout


def test_a_context_and_local_copies(tidings: Tidings, items: Path, tmp_path: Path) -> None:
    context, copy = tmp_path / "c.json", tmp_path / "copy.json"
    context.write_text('["http://127.0.0.1:1/c", {"id": null}]')
    copy.write_text('{"@context": {"@vocab": "http://schema.org/"}}')
    given = [*OPTIONS, "--context", context]
    assert "is not fetched" in tidings("ingest", items, *given).stderr
    assert (
        "<http://schema.org/name>"
        in tidings("ingest", items, *given, "--context", f"http://127.0.0.1:1/c={copy}").stdout
    )


def test_a_suggestion_is_turtle(tidings: Tidings, items: Path, tmp_path: Path) -> None:
    result = tidings("ingest", items, "--suggest", "--base", "http://e.x/")
    assert result.exit_code == 0, result.output
    assert list(ox.parse(result.stdout.encode(), format=ox.RdfFormat.TURTLE))
    assert 'rml:iterator "$.items[*]"' in result.stdout
    folder = tmp_path / "made"
    assert tidings("ingest", items, "--suggest", "-o", folder).exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["items.ontology.ttl", "items.rml.ttl"]
    assert tidings("ingest", tmp_path / "none.json", "--suggest").exit_code == 2


@pytest.mark.parametrize("kind", ["json", "xml"])
def test_a_suggestion_taken_up(tidings: Tidings, tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"offers.{kind}"
    file.write_text(
        '{"offers": [{"id": "a", "price": 5}, {"id": "b", "tags": ["x", "y"]}]}'
        if kind == "json"
        else '<offers><offer id="a"><price>5</price></offer><offer id="b"><tags>x</tags><tags>y</tags></offer></offers>'
    )
    folder = tmp_path / "made"
    assert tidings("ingest", file, "--as", kind, "--suggest", "-o", folder, "--base", "http://e.x/").exit_code == 0
    mapping = folder / "offers.rml.ttl"
    result = tidings("ingest", file, "--as", kind, "--mapping", mapping)
    assert result.exit_code == 0, result.output
    lines = [line.rpartition(" <")[0] for line in result.stdout.splitlines()]
    assert '<http://e.x/a> <http://e.x/price> "5"^^<http://www.w3.org/2001/XMLSchema#integer>' in lines
    assert sum(" <http://e.x/tags> " in line for line in lines) == 2
    assert sum(line.endswith(" <http://e.x/Offer>") for line in lines) == 2
    wrong = tidings("ingest", file, "--as", kind, "--mapping", mapping, "--record", "/none")
    assert (wrong.exit_code, "is not what the mapping iterates over" in wrong.stderr) == (2, True)
