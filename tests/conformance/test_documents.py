"""Documents that people made: each gives its events or a report, never an exception, and the same ones every time."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator

import pytest
from tests.conformance.rdf_suites import archive
from tests.support import data_dir

from tidings.errors import EventError
from tidings.rdf.event import Event
from tidings.rdf.jsonld import Contexts
from tidings.rdf.read import EventsBy, read_events

SCHEMA_ORG = b'{"@context": {"@vocab": "http://schema.org/"}}'


def read(
    data: bytes, format: str, by: EventsBy = "graph", contexts: Contexts | None = None
) -> tuple[list[Event], list[EventError]]:
    def once(errors: list[EventError]) -> list[Event]:
        options = {"format": format, "by": by, "contexts": contexts, "base": "http://base.example/document"}
        return list(read_events(data, report=errors.append, **options))

    errors: list[EventError] = []
    events = once(errors)
    assert once([]) == events
    for event in events:
        assert Event.of(event.id, event.triples(), event.source) == event
    assert all(error.reason and error.source for error in errors)
    return events, errors


def totals(documents: Iterator[tuple[list[Event], list[EventError]]]) -> tuple[int, int, int]:
    """How many documents there are, how many events they give, how many were reported."""
    found = list(documents)
    return len(found), sum(len(events) for events, _ in found), sum(bool(errors) for _, errors in found)


def nanopubs(kind: str = "") -> dict[str, bytes]:
    files = archive(data_dir("nanopub-testsuite", "nanopub-testsuite.tar.zst"))
    return {name: data for name, data in files.items() if name.endswith(".trig") and name.startswith(kind)}


def test_nanopublications_by_graph() -> None:
    assert totals(read(data, "trig") for data in nanopubs().values()) == (175, 702, 0)


def test_valid_nanopublications_are_events() -> None:
    for name, data in nanopubs("valid").items():
        events, errors = read(data, "trig", "nanopub")
        assert events, name
        assert not errors, name


def test_invalid_nanopublications_are_reported_where_their_graphs_do_not_belong() -> None:
    documents, _, reported = totals(read(data, "trig", "nanopub") for data in nanopubs("invalid").values())
    assert documents == 17
    assert reported > 0


def test_rss_feeds() -> None:
    files = archive(data_dir("feeds", "rss1.0-rdf.tar.zst"))
    documents, events, reported = totals(read(data, "rdf") for data in files.values())
    assert documents == 137
    assert 0 < events <= documents - reported


def test_sensors() -> None:
    folder = data_dir("sosa-ssn")
    paths = sorted(folder.rglob("*.ttl"))
    by_graph = totals(read(path.read_bytes(), "ttl") for path in paths)
    assert by_graph == (38, 34, 4)
    assert totals(read(path.read_bytes(), "ttl", "subject") for path in paths)[1] > 500


def test_conferences() -> None:
    """One file is no Turtle: an IRI in it has a space."""
    paths = sorted(data_dir("iswc-conference-metadata").glob("*.ttl.gz"))
    found = [read(gzip.decompress(path.read_bytes()), "ttl", "subject") for path in paths]
    assert totals(iter(found)) == (13, 12_635, 1)
    (problem,) = (error for _, errors in found for error in errors)
    assert "invalid IRI" in problem.reason


def test_activity_streams() -> None:
    folder = data_dir("activitystreams2")
    copy = folder / "activitystreams.jsonld"
    contexts = {f"{scheme}://www.w3.org/ns/activitystreams": copy for scheme in ("http", "https")}
    for name in ("test-documents.jsonl", "w3c-activitystreams-test.jsonl"):
        rows = [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
        texts = [row["doc"] if isinstance(row["doc"], str) else json.dumps(row["doc"]) for row in rows]
        documents, events, reported = totals(read(text.encode(), "jsonld", contexts=contexts) for text in texts)
        assert documents > 200
        assert events > 190
        assert reported < 10


def test_schema_org_examples() -> None:
    contexts = {f"{scheme}://schema.org": SCHEMA_ORG for scheme in ("http", "https")}
    lines = gzip.decompress(data_dir("schema-org", "examples.jsonl.gz").read_bytes()).splitlines()
    assert totals(read(line, "jsonld", contexts=contexts) for line in lines) == (460, 456, 4)


def test_a_month_of_nanopublications() -> None:
    path = data_dir("wikipathways-nanopubs", "20180910_new.trig.zst")
    by_graph = list(read_events(path, report=pytest.fail))
    by_nanopub = list(read_events(path, by="nanopub", report=pytest.fail))
    assert len(by_nanopub) == 743
    assert len(by_graph) == 4 * 743
    assert sum(e.body.count("\n") for e in by_nanopub) == sum(e.body.count("\n") for e in by_graph) == 22_704


def test_subjects_of_a_sample_of_dbpedia() -> None:
    events = list(read_events(data_dir("dbpedia-2015-10-sample"), by="subject", report=pytest.fail))
    assert len(events) == 99
    assert sum(event.body.count("\n") for event in events) == 5595
