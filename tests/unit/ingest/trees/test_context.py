"""JSON by a JSON-LD context that the user gives."""

from __future__ import annotations

import pytest
from tests.unit.ingest.support import converted, events

from tidings.errors import UsageError

CONTEXT = '{"@context": {"@vocab": "http://schema.org/", "uri": "@id", "when": {"@type": "http://w3.org/d"}}}'


def test_members_are_what_the_context_says() -> None:
    data = b'[{"uri": "http://e.x/i", "name": "Ann", "when": "x", "knows": {"name": "Bob"}}]'
    [event] = events(data, "json", context=CONTEXT, classes=("http://e.x/Item",))
    assert event.body.splitlines() == [
        "<http://e.x/i> <http://schema.org/knows> _:b0 .",
        '<http://e.x/i> <http://schema.org/name> "Ann" .',
        '<http://e.x/i> <http://schema.org/when> "x"^^<http://w3.org/d> .',
        "<http://e.x/i> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.x/Item> .",
        '_:b0 <http://schema.org/name> "Bob" .',
    ]


def test_records_without_an_id_are_numbered_or_keyed() -> None:
    data = b'[{"name": "Ann"}, {"name": "Ann"}]'
    assert [e.body[:22] for e in events(data, "json", context=CONTEXT)] == [
        "<http://e.x/#record=1>",
        "<http://e.x/#record=2>",
    ]
    keyed = events(data, "json", context=CONTEXT, key=("name",))
    assert keyed[0].body.startswith("<http://e.x/Ann> ")
    assert keyed[0] == keyed[1]


def test_the_root_is_the_home_vertex() -> None:
    [event] = events(b'{"uri": "http://e.x/i", "name": "x"}', "json", context=CONTEXT, home=True)
    assert '_:H <http://purl.org/dc/terms/identifier> "http://e.x/i"' in event.body
    assert '_:H <http://schema.org/name> "x"' in event.body


def test_a_remote_context_is_not_fetched_and_costs_its_record() -> None:
    data = b'[{"@context": "http://127.0.0.1:1/c", "a": 1}, {"a": 2}]'
    found, [error] = converted(data, "json", context=CONTEXT)
    assert len(found) == 1
    assert "the remote context http://127.0.0.1:1/c is not fetched" in str(error)


def test_a_local_copy_stands_for_a_remote_context() -> None:
    copies = {"contexts": {"http://127.0.0.1:1/c": b'{"@context": {"a": "http://e.x/alpha"}}'}}
    [event] = events(b'{"a": 1}', "json", context='"http://127.0.0.1:1/c"', options=copies)
    assert "<http://e.x/alpha>" in event.body


@pytest.mark.parametrize("data", [b"[1]", b'[{"a": 1}]'])
def test_what_has_no_meaning_is_told(data: bytes) -> None:
    found, errors = converted(data, "json", context="{}")
    assert (found, len(errors)) == ([], 1)


def test_a_context_that_is_no_json() -> None:
    with pytest.raises(UsageError, match="the context is not well-formed JSON"):
        events(b"{}", "json", context="{")
