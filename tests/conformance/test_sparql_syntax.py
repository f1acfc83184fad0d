"""What is SPARQL 1.1 and what is not: the W3C suites, the QALD-9 and LUBM queries, and pyoxigraph's opinion."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

import pyoxigraph as ox
import pytest
from tests.conformance.rdf_suites import archive
from tests.support import data_dir

from tidings.errors import SubscriptionError
from tidings.lang import parse, to_text
from tidings.lang.pattern import Query
from tidings.lang.shapes import Shapes

_MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
_QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
_BASE = "http://www.w3.org/suite/"
_KINDS = {
    "PositiveSyntaxTest": True,
    "PositiveSyntaxTest11": True,
    "NegativeSyntaxTest": False,
    "NegativeSyntaxTest11": False,
    "QueryEvaluationTest": True,
}
_REFUSED = ("is not available in subscriptions", "unknown function")
"""What messages say about queries that are SPARQL, but no subscriptions."""


class Case(NamedTuple):
    name: str
    text: str
    valid: bool

    @property
    def base(self) -> str:
        return _BASE + self.name


@cache
def suite(file: str) -> tuple[Case, ...]:
    """The query tests of one archive, by its manifests."""
    files = archive(data_dir("w3c-tests", file))
    found: dict[str, Case] = {}
    for path, data in files.items():
        if PurePosixPath(path).name == "manifest.ttl":
            folder = f"{_BASE}{PurePosixPath(path).parent}/"
            for query, valid in _manifest(data, folder):
                name = query.removeprefix(_BASE)
                found[name] = Case(name, files[name].decode(), valid)
    return tuple(found[name] for name in sorted(found))


def _manifest(data: bytes, folder: str) -> list[tuple[str, bool]]:
    store = ox.Store()
    store.load(data, format=ox.RdfFormat.TURTLE, base_iri=folder)
    rows = store.query(
        f"""SELECT ?kind ?query {{ ?test a ?kind ; <{_MF}action> ?action . OPTIONAL {{ ?action <{_QT}query> ?inner }}
            BIND(COALESCE(?inner, ?action) AS ?query) }}"""
    )
    found = [(row["kind"].value.removeprefix(_MF), row["query"].value) for row in rows]
    return [(query, _KINDS[kind]) for kind, query in found if kind in _KINDS]


@cache
def qald() -> tuple[Case, ...]:
    found = []
    for part in ("train", "test"):
        rows = json.loads(
            gzip.decompress(data_dir("dbpedia-sparql-questions", "qald-9", f"qald-9-{part}-en.json.gz").read_bytes())
        )
        found += [Case(f"{part}-{row['id']}", row["sparql"], True) for row in rows]
    return tuple(found)


def read(case: Case) -> Query | SubscriptionError:
    try:
        return parse(case.text, base=case.base)
    except SubscriptionError as error:
        return error


def oxigraph_reads(text: str, base: str | None = None) -> bool:
    try:
        ox.Store().query(text, base_iri=base)
    except SyntaxError:
        return False
    except (RuntimeError, OSError, ValueError):  # it was read, and failed later
        return True
    return True


_SUITES = pytest.mark.parametrize(("file", "count"), [("sparql10.tar.zst", 473), ("sparql11-part.tar.zst", 239)])


@_SUITES
def test_w3c_suites(file: str, count: int) -> None:
    """Every test of a query; what a subscription may not do is refused by name, not as bad syntax."""
    wrong = []
    for case in suite(file):
        found = read(case)
        refused = isinstance(found, SubscriptionError) and any(reason in found.reason for reason in _REFUSED)
        if (isinstance(found, Query) or refused) != case.valid:
            wrong.append((case.name, str(found)))
    assert wrong == []
    assert len(suite(file)) == count


@_SUITES
def test_errors_have_places(file: str, count: int) -> None:
    errors = [error for error in map(read, suite(file)) if isinstance(error, SubscriptionError)]
    assert errors
    for error in errors:
        assert error.line is not None
        assert error.column is not None
        assert error.source_line is not None


@_SUITES
def test_forms_print_and_read_back(file: str, count: int) -> None:
    for case in suite(file):
        query = read(case)
        if isinstance(query, Query):
            assert parse(to_text(query)) == query, case.name


_OXIGRAPH_DIFFERS = {
    "sparql/sparql10/expr-builtin/case-insensitive-booleans.rq": "it reads only true and false in small letters",
    "sparql/sparql10/syntax-sparql3/syn-bad-26.rq": "it reads <?a&&?b> as comparisons, the suite as an error",
}


@_SUITES
def test_pyoxigraph_agrees_on_the_suites(file: str, count: int) -> None:
    for case in suite(file):
        found = read(case)
        refused = isinstance(found, SubscriptionError) and any(reason in found.reason for reason in _REFUSED)
        agrees = (isinstance(found, Query) or refused) == oxigraph_reads(case.text, case.base)
        assert agrees == (case.name not in _OXIGRAPH_DIFFERS), case.name


# -------------------------------------------------------------------------------------------------------- real queries

_QALD_DIFFERS = {
    "train-369": "res:T._E._Lawrence: pyoxigraph takes one dot in a local name, the grammar any number",
}


def test_qald_queries() -> None:
    """37 of the 558 are rejected, with their place; pyoxigraph agrees but for one that it cannot read."""
    assert len(qald()) == 558
    rejected = {}
    for case in qald():
        found = parse_alone(case.text)
        if isinstance(found, SubscriptionError):
            rejected[case.name] = found
            assert found.column is not None
        else:
            assert parse(to_text(found)) == found
        assert isinstance(found, Query) == (oxigraph_reads(case.text) != (case.name in _QALD_DIFFERS)), case.name
    assert len(rejected) == 37
    reasons = {name: error.reason for name, error in rejected.items()}
    assert sum("unknown prefix" in reason for reason in reasons.values()) == 19
    assert sum("is not grouped" in reason for reason in reasons.values()) == 7


def parse_alone(text: str) -> Query | SubscriptionError:
    try:
        return parse(text)
    except SubscriptionError as error:
        return error


def test_lubm_queries() -> None:
    files = sorted(data_dir("lubm", "queries").glob("*.rq"))
    assert len(files) == 14
    for file in files:
        query = parse(file.read_text(encoding="utf-8"), source=file.name)
        assert parse(to_text(query)) == query


def test_the_short_way_gives_the_same() -> None:
    """All real queries through one `Shapes`, twice: templates of one must never answer for another."""
    short = Shapes()
    cases = [*suite("sparql10.tar.zst"), *suite("sparql11-part.tar.zst"), *qald()]
    for case in [*cases, *cases, *cases]:
        try:
            found: Query | str = short.parse(case.text, base=case.base)
        except SubscriptionError as error:
            found = str(error)
        expected = read(case)
        assert found == (expected if isinstance(expected, Query) else str(expected)), case.name
