"""The W3C's RDF 1.1 test suites, each document read as events: bytes in, events out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pyoxigraph as ox
import pytest
from tests.conformance.rdf_suites import archive, graphs_of_events, graphs_of_quads, read
from tests.support import data_dir

try:
    _FILES = archive(data_dir("w3c-tests", "rdf11.tar.zst"))
except pytest.skip.Exception as absent:
    pytest.skip(str(absent), allow_module_level=True)

_ROOT = "rdf/rdf11/"
_BASE = "https://w3c.github.io/rdf-tests/rdf/rdf11/"
_FORMATS = {"rdf-n-triples": "nt", "rdf-n-quads": "nq", "rdf-turtle": "ttl", "rdf-trig": "trig", "rdf-xml": "rdf"}
_SIZES = {"rdf-n-triples": 70, "rdf-n-quads": 87, "rdf-turtle": 313, "rdf-trig": 356, "rdf-xml": 166}
_TESTS = """
    PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
    SELECT ?kind ?name ?action ?result WHERE {
        ?test a ?kind ; mf:name ?name ; mf:action ?action OPTIONAL { ?test mf:result ?result }
    } ORDER BY ?name
"""

_CANON = (
    "the parser keeps an XML literal as it is written, which is a valid one in RDF 1.1; the test wants canonical XML"
)
DEVIATIONS = {
    "rdf-xml/xml-canon-test001": _CANON,
    "rdf-xml/xml-canon-test002": _CANON,
}


@dataclass(frozen=True)
class Case:
    suite: str
    name: str
    kind: str
    action: str
    result: str | None

    def __str__(self) -> str:
        return f"{self.suite}/{self.name}"


@cache
def _cases() -> list[Case]:
    return [case for suite in _FORMATS for case in _suite(suite)]


def _suite(suite: str) -> list[Case]:
    base = f"{_BASE}{suite}/"
    store = ox.Store()
    store.load(_FILES[f"{_ROOT}{suite}/manifest.ttl"], ox.RdfFormat.TURTLE, base_iri=f"{base}manifest.ttl")
    found = []
    for row in store.query(_TESTS):
        kind = row["kind"].value.partition("#")[2]
        result = row["result"].value.removeprefix(_BASE) if row["result"] else None
        found.append(Case(suite, row["name"].value, kind, row["action"].value.removeprefix(_BASE), result))
    return found


def test_all_tests_are_there() -> None:
    assert {suite: len(_suite(suite)) for suite in _FORMATS} == _SIZES


def test_every_deviation_is_a_test() -> None:
    assert set(DEVIATIONS) <= {str(case) for case in _cases()}


@pytest.mark.parametrize("case", _cases(), ids=str)
def test_rdf(case: Case) -> None:
    if reason := DEVIATIONS.get(str(case)):
        pytest.skip(reason)
    events, errors = read(_FILES[_ROOT + case.action], _FORMATS[case.suite], f"{_BASE}{case.action}")
    if "Negative" in case.kind:
        assert errors
        assert not events
        return
    assert not errors
    if case.result is not None:
        format = ox.RdfFormat.N_QUADS if case.result.endswith(".nq") else ox.RdfFormat.N_TRIPLES
        assert graphs_of_events(events) == graphs_of_quads(ox.parse(_FILES[_ROOT + case.result], format))
