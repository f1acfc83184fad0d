"""JSON-LD: no context is fetched, local ones take the place of remote ones; size, depth and JSON errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.rdf.helpers import good, ids, read, refused

from tidings.rdf.limits import Limits

URL = "https://e.x/context"
CONTEXT = b'{"@context": {"name": "e:name", "knows": {"@id": "e:knows", "@type": "@id"}}}'


def body(document: Any, **options: Any) -> str:
    return good(json.dumps(document).encode(), format="jsonld", **options)[0].body


def test_a_remote_context_is_named_with_what_to_do() -> None:
    error = refused(json.dumps({"@context": URL, "@id": "e:a", "name": "x"}).encode(), format="jsonld")
    assert URL in error.reason
    assert f"--context {URL}=FILE" in str(error.hint)


@pytest.mark.parametrize("context", [URL, [URL], f"{URL}/", [{"x": "e:x"}, URL], {"@import": URL}])
def test_a_local_one_takes_its_place(context: object) -> None:
    document = {"@context": context, "@id": "e:a", "name": "x", "knows": "e:b"}
    expected = '<e:a> <e:knows> <e:b> .\n<e:a> <e:name> "x" .\n'
    assert body(document, contexts={URL: CONTEXT}) == expected


def test_local_contexts_may_be_files(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonld"
    path.write_bytes(CONTEXT)
    document = {"@context": URL, "@id": "e:a", "name": "x"}
    assert body(document, contexts={URL: path}) == body(document, contexts={URL: str(path)})
    error = refused(json.dumps(document).encode(), format="jsonld", contexts={URL: tmp_path / "none"})
    assert "cannot be read" in error.reason


def test_contexts_inside_the_document_and_inside_terms() -> None:
    document = {
        "@context": {"p": {"@id": "e:p", "@context": URL}},
        "@id": "e:a",
        "p": {"name": "x"},
        "e:q": [{"@context": URL, "@id": "e:b", "name": "y"}],
    }
    text = body(document, contexts={URL: CONTEXT})
    assert text.count("<e:name>") == 2


def test_a_context_may_lead_to_others_relative_to_itself() -> None:
    contexts = {
        "https://e.x/a/one": b'{"@context": ["two", {"more": "e:more"}]}',
        "https://e.x/a/two": b'{"@context": {"@import": "../three", "name": "e:nom"}}',
        "https://e.x/three": b'{"@context": {"name": "e:name", "age": "e:age"}}',
    }
    document = {"@context": "https://e.x/a/one", "@id": "e:a", "name": "x", "age": "7", "more": "z"}
    assert body(document, contexts=contexts) == '<e:a> <e:age> "7" .\n<e:a> <e:more> "z" .\n<e:a> <e:nom> "x" .\n'


def test_the_base_of_a_remote_context_does_not_count() -> None:
    contexts = {URL: b'{"@context": {"@base": "http://wrong/", "knows": {"@id": "e:knows", "@type": "@id"}}}'}
    document = {"@context": URL, "@id": "e:a", "knows": "b"}
    assert "<http://right/b>" in body(document, contexts=contexts, base="http://right/x")


def test_relative_addresses_are_resolved_against_the_document(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonld"
    path.write_bytes(b'{"@context": "context.jsonld", "@id": "e:a", "name": "x"}')
    (tmp_path / "context.jsonld").write_bytes(CONTEXT)
    assert (tmp_path / "context.jsonld").as_uri() in refused(path).reason
    assert len(good(path, contexts={(tmp_path / "context.jsonld").as_uri(): CONTEXT})) == 1
    assert len(good(path, contexts={"context.jsonld": CONTEXT})) == 1


def test_contexts_that_cannot_be_used() -> None:
    document = json.dumps({"@context": URL, "@id": "e:a", "name": "x"}).encode()
    for context, says in [
        (b'{"@context": "context"}', "includes itself"),
        (b"[]", "no @context"),
        (b"{", "well-formed"),
        (b'{"@context": {"@import": 3}}', "@import"),
        (b'{"@context": {"@import": "other"}}', "https://e.x/other"),
    ]:
        assert says in refused(document, format="jsonld", contexts={URL: context}).reason


def test_json_literals_are_left_alone() -> None:
    value = {"@context": URL, "a": 1}
    document = {"@context": {"j": {"@id": "e:j", "@type": "@json"}}, "@id": "e:a", "j": value}
    assert "JSON" in body(document)
    assert "JSON" in body({"@id": "e:a", "e:j": {"@type": "@json", "@value": value}})


def test_numbers_survive_where_a_context_is_written_in() -> None:
    values = [10**30, 1.5, -0.1, 1e100, 5.0, True]
    with_it = {"@context": URL, "@id": "e:a", "e:p": values}
    without = {"@id": "e:a", "e:p": values}
    assert body(with_it, contexts={URL: CONTEXT}) == body(without)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("{\n 'a': 1}", 2, 2), ('{"@id": "e:a",\n "e:p": }', 2, 9), ('{"@id": "e:a"', 1, 14), ("[1, 2] x", 1, 8)],
)
def test_json_errors_have_their_place(text: str, line: int, column: int) -> None:
    error = refused(text.encode(), format="jsonld")
    assert (error.line, error.column) == (line, column)
    assert error.source_line is not None


def test_json_that_means_two_things() -> None:
    assert '"e:p"' in refused(b'{"@id": "e:a", "e:p": 1, "e:p": 2}', format="jsonld").reason
    assert "NaN" in refused(b'{"@id": "e:a", "e:p": NaN}', format="jsonld").reason


def test_json_that_is_not_utf8() -> None:
    error = refused('{"@id": "e:a",\n"e:p": "é"}'.encode("latin-1"), format="jsonld")
    assert (error.reason, error.line) == ("the text is not UTF-8", 2)


def test_depth_and_size() -> None:
    def nested(depth: int) -> bytes:
        return b'{"@id":"e:a","e:p":' * depth + b'"[{"' + b"}" * depth

    assert len(good(nested(100), format="jsonld")) == 1
    error = refused(nested(101), format="jsonld")
    assert "100 deep" in error.reason
    assert (error.line, error.column) == (1, 19 * 100 + 1)
    assert "deep" in refused(b"[" * 100_000, format="jsonld").reason
    assert "deep" in refused(nested(3000), format="jsonld", limits=Limits(max_depth=10_000)).reason
    error = refused(b'{"@id": "e:a", "e:p": "' + b"x" * 1000 + b'"}', format="jsonld", limits=Limits(max_term=900))
    assert (error.reason, error.column) == ("a term of more than 900 bytes, the limit for one term", 23)
    assert "more than 10 bytes" in refused(nested(1), format="jsonld", limits=Limits(max_json=10)).reason


def test_graphs() -> None:
    document = [
        {"@id": "e:g", "@graph": [{"@id": "e:a", "e:p": 1}]},
        {"@graph": [{"@id": "e:a", "e:p": 2}]},
        {"@id": "_:x", "@graph": [{"@id": "e:a", "e:p": 3}]},
        {"@id": "e:a", "e:p": 4},
    ]
    events, errors = read(json.dumps(document).encode(), format="jsonld")
    assert ids(events) == ["e:g", "*", "*", "*"]
    assert not errors


def test_directions_are_dropped_as_json_ld_1_1_says() -> None:
    document = {"@id": "e:a", "e:p": {"@value": "x", "@language": "AR", "@direction": "rtl"}}
    assert body(document) == '<e:a> <e:p> "x"@ar .\n'


def test_contexts_written_in_are_bounded() -> None:
    document = [{"@context": URL, "@id": f"e:{number}", "name": "x"} for number in range(100)]
    data = json.dumps(document).encode()
    assert len(good(data, format="jsonld", contexts={URL: CONTEXT})) == 1
    error = refused(data, format="jsonld", contexts={URL: CONTEXT}, limits=Limits(max_json=len(data)))
    assert "local contexts" in error.reason


def test_a_number_of_thousands_of_digits_costs_its_document_only() -> None:
    error = refused(b'{"@id": "e:a", "e:n": ' + b"9" * 5000 + b"}", format="jsonld")
    assert "5,000 digits" in error.reason
    assert "datatype" in str(error.hint)
    assert '"1.0E30"' in body({"@id": "e:a", "e:n": 10**30})
