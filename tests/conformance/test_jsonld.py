"""The W3C's JSON-LD 1.1 suite, the part from JSON-LD to RDF, each document read as events.

Contexts that a test keeps in files of their own are given as local ones, as a user would.
"""

from __future__ import annotations

import json
from typing import Any

import pyoxigraph as ox
import pytest
from tests.conformance.rdf_suites import archive, graphs_of_events, graphs_of_quads, read
from tests.support import data_dir

try:
    _FILES = archive(data_dir("w3c-tests", "json-ld-api-toRdf-fromRdf.tar.zst"))
except pytest.skip.Exception as absent:
    pytest.skip(str(absent), allow_module_level=True)

_MANIFEST = json.loads(_FILES["tests/toRdf-manifest.jsonld"])
_TESTS: list[dict[str, Any]] = _MANIFEST["sequence"]
_BASE: str = _MANIFEST["baseIri"]
_CONTEXTS = {f"{_BASE}{name.removeprefix('tests/')}": data for name, data in _FILES.items() if "/toRdf/" in name}

_DOTS = "the parser takes a base IRI as it is written and does not remove dot segments from it"
_ITSELF = "a context that includes itself cannot be written into the document in place of its address"
DEVIATIONS = {
    "t0122": _DOTS,
    "t0123": _DOTS,
    "te062": "the parser keeps dot segments after an authority of their own (//example.org/../x)",
    "te091": _DOTS,
    "tc013": "the parser does not apply a type-scoped context to the values of a type map",
    "te126": _ITSELF,
    "te127": _ITSELF,
    "te128": _ITSELF,
    "tli12": "an @base that is no IRI is an error here; the test ignores it",
}


def _unsupported(test: dict[str, Any]) -> str | None:
    """Why a test asks for something that is not offered, by the options it sets."""
    option = test.get("option", {})
    if "json-ld-1.0" in (option.get("specVersion"), option.get("processingMode")):
        return "JSON-LD 1.0 alone; documents are read as JSON-LD 1.1"
    if option.get("produceGeneralizedRdf"):
        return "generalised RDF: a blank node as predicate is no RDF 1.1"
    if "rdfDirection" in option:
        return "base directions as datatypes or compound literals are an option that is not offered"
    if "expandContext" in option:
        return "a context from outside the document is an option that is not offered"
    if f"tests/{test['input']}" not in _FILES:
        return "the input of this test is not in the archive"
    return None


def test_all_tests_are_there() -> None:
    assert len(_TESTS) == 467


def test_every_deviation_is_a_test() -> None:
    assert set(DEVIATIONS) <= {test["@id"].removeprefix("#") for test in _TESTS}


@pytest.mark.parametrize("test", _TESTS, ids=lambda test: test["@id"].removeprefix("#"))
def test_jsonld(test: dict[str, Any]) -> None:
    if reason := DEVIATIONS.get(test["@id"].removeprefix("#")) or _unsupported(test):
        pytest.skip(reason)
    base = test.get("option", {}).get("base", _BASE + test["input"])
    events, errors = read(_FILES[f"tests/{test['input']}"], "jsonld", base, _CONTEXTS)
    if "jld:NegativeEvaluationTest" in test["@type"]:
        assert errors
        assert not events
        return
    assert not errors
    if "expect" in test:
        expected = ox.parse(_FILES[f"tests/{test['expect']}"], ox.RdfFormat.N_QUADS)
        assert graphs_of_events(events) == graphs_of_quads(expected)
