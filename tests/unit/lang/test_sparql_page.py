"""What docs/sparql.md shows is so."""

from __future__ import annotations

import re

import pytest
from tests.support import ROOT

from tidings.errors import SubscriptionError
from tidings.lang import parse, to_text
from tidings.lang.expressions import CASTS
from tidings.lang.lexer import MAX_LENGTH

PAGE = (ROOT / "docs" / "sparql.md").read_text(encoding="utf-8")


def test_every_query_on_the_page_is_read() -> None:
    queries = re.findall(r"```sparql\n(.*?)```", PAGE, re.DOTALL)
    assert len(queries) == 3
    for text in queries:
        query = parse(text)
        assert parse(to_text(query)) == query


def test_every_wildcard_on_the_page_is_read() -> None:
    rows = re.findall(r"^\| `(\?s [^`]*\.)` \|", PAGE, re.MULTILINE)
    assert len(rows) == 5
    for row in rows:
        parse(f"PREFIX ex: <http://example.org/> ASK {{ {row} }}")


def test_the_python_on_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "sparql.md", "exec"), {})
    assert capsys.readouterr().out.startswith("ASK\nWHERE {")


def test_the_error_on_the_page_is_the_one() -> None:
    text = "PREFIX ex: <http://example.org/>\nASK {\n  ?s exx:price ?p .\n}"
    with pytest.raises(SubscriptionError) as caught:
        parse(text, source="offers.rq")
    assert str(caught.value) in PAGE


def test_the_casts_and_the_bound_on_the_page() -> None:
    [row] = re.findall(r"^\| functions named.*$", PAGE, re.MULTILINE)
    assert set(re.findall(r"xsd:(\w+)", row)) == {cast.rpartition("#")[2][:-1] for cast in CASTS}
    assert f"{MAX_LENGTH:,}" in PAGE
