"""JSON to events by the direct mapping: terms, subjects, paths, problems; and back, whatever the value."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from tests.unit.ingest.support import BASE, converted, events, given, problem, triples

from tidings.errors import UsageError
from tidings.ingest.trees import json_records
from tidings.ingest.trees.facade import SEQ
from tidings.ingest.trees.naming import encoded
from tidings.rdf.event import Event
from tidings.rdf.limits import Limits
from tidings.rdf.strict import flaw
from tidings.rdf.terms import RDF, RDF_TYPE, Term, is_blank, parts

XSD = "http://www.w3.org/2001/XMLSchema#"


def body(data: bytes, **how: Any) -> str:
    [event] = events(data, "json", **how)
    return event.body


# ------------------------------------------------------------------------------------------------------------- mapping


def test_a_record_is_a_container() -> None:
    assert body(b'{"name": "Ann", "tags": ["a", {"x": true}], "none": null}', key=("name",)).splitlines() == [
        '<http://e.x/Ann> <http://e.x/name> "Ann" .',
        "<http://e.x/Ann> <http://e.x/tags> _:b0 .",
        f"<http://e.x/Ann> <{RDF}type> <http://sparql.xyz/facade-x/ns/root> .",
        f'_:b0 <{RDF}_1> "a" .',
        f"_:b0 <{RDF}_2> _:b1 .",
        f"_:b0 <{RDF}type> <{RDF}Seq> .",
        f'_:b1 <http://e.x/x> "true"^^<{XSD}boolean> .',
    ]


@pytest.mark.parametrize(
    ("written", "datatype"),
    [
        ("0", "integer"),
        ("-0", "integer"),
        ("123456789012345678901234567890", "integer"),
        ("1.50", "decimal"),
        ("0.000000000000000000001", "decimal"),
        ("1e5", "double"),
        ("1.5E-400", "double"),
    ],
)
def test_numbers_are_as_they_are_written(written: str, datatype: str) -> None:
    assert f'"{written}"^^<{XSD}{datatype}>' in body(f'{{"n": {written}}}'.encode())


def test_an_integer_of_many_digits_is_whole() -> None:
    assert f'"{"7" * 10_000}"' in body(b'{"n": ' + b"7" * 10_000 + b"}")


def test_names_that_are_no_names_are_percent_encoded() -> None:
    text = body('{"a b/c": 1, "Straße": 2, "": 3, "<\\u0000>": 4}'.encode())
    assert all(f"<{BASE}{name}>" in text for name in ("a%20b%2Fc", "Straße", "", "%3C%00%3E"))


def test_keys_make_the_subject() -> None:
    found = events(b'[{"a": "x/y", "b": {"c": 7}}]', "json", key=("a", "b.c"))
    assert found[0].body.startswith("<http://e.x/x%2Fy/7> ")


def test_records_without_a_key_are_numbered() -> None:
    found = events(b'[{"a": 1}, {"a": 1}]', "json")
    assert [event.body[:22] for event in found] == ["<http://e.x/#record=1>", "<http://e.x/#record=2>"]
    assert found[0].id != found[1].id


def test_a_record_without_its_key_costs_no_other() -> None:
    found, [error] = converted(b'[{"a": 1},\n {"b": 1},\n {"a": 2}]', "json", key=("a",))
    assert len(found) == 2
    assert str(error) == "doc:2: the record has no values for 'a', which is its key"


def test_home_and_classes_make_well_formed_events() -> None:
    data = b'{"id": 1, "tags": ["a"], "maker": {"name": "Ann"}}'
    found = triples(data, "json", key=("id",), home=True, classes=("http://e.x/Item",))
    assert flaw(found) is None
    assert (Term("_:H"), RDF_TYPE, Term("<http://e.x/Item>")) in found
    assert (
        Term("_:H"),
        Term("<http://purl.org/dc/terms/identifier>"),
        Term(f'"http://e.x/1"^^<{XSD}anyURI>'),
    ) in found


@pytest.mark.parametrize(
    ("data", "path", "count"),
    [
        (b"[1, 2, 3]", None, 3),
        (b'{"a": 1}', None, 1),
        (b"[[1, 2], [3]]", "$[*][*]", 3),
        (b'{"skip": [[1], {"x": []}], "items": [{}, {}], "more": "x"}', "$.items[*]", 2),
        (b'{"items": [{}, {}]}', "/items/*", 2),
        (b'{"items": [{}, {}]}', "/items/1", 1),
        (b'{"a": {"x": 1}, "b": {"x": 2}, "c": 3}', "$.*.x", 2),
        (b'{"items": []}', "$.items[*]", 0),
        (b'{"items": 7}', "$.items[*]", 0),
        (b"[]", None, 0),
    ],
)
def test_the_path_says_what_is_a_record(data: bytes, path: str | None, count: int) -> None:
    assert len(events(data, "json", record=path)) == count


def test_scalars_are_records_too() -> None:
    assert f'<{RDF}_1> "x" .' in body(b'"x"')


# ------------------------------------------------------------------------------------------------------------ problems


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a": 1', "doc:1: JSON that is not well-formed: expecting ',' delimiter"),
        (b'[{"a": 1},\n{"a": tru}]', "doc:2: JSON that is not well-formed: expecting value"),
        (b"", "doc:1: the document ends where a value is expected"),
        (b"[1] x", "doc:1: the document goes on after its value"),
        (b'{"a": NaN}', "doc:1: NaN is no JSON number"),
        (b'{"a": "\xff"}', "doc:1: the text is not UTF-8"),
        (b"[1,]", "doc:1: a value is expected here"),
        (b"[1 2]", "doc:1: a comma or the end of the array is expected here"),
        (b'{"a": "x', "doc:1: JSON that is not well-formed: unterminated string starting at"),
    ],
)
def test_what_is_no_json_is_told_with_its_line(data: bytes, said: str) -> None:
    errors = converted(data, "json")[1]
    assert [str(error).splitlines()[0] for error in errors] == [said]


def test_what_came_before_a_fault_stays() -> None:
    found, errors = converted(b'[{"a": 1}, {"a": 2}, {"a"', "json")
    assert (len(found), len(errors)) == (2, 1)


def test_json_lines_are_another_format() -> None:
    assert "the format is jsonl" in str(converted(b'{"a": 1}\n{"a": 2}\n', "json")[1][0])


def test_a_key_that_is_there_twice_costs_its_record() -> None:
    found, [error] = converted(b'[{"a": {"x": 1, "x": 2}}, {"a": 3}]', "json")
    assert len(found) == 1
    assert 'the key "x" is there twice' in str(error)


def test_half_a_character_costs_its_record() -> None:
    found, [error] = converted(b'[{"a": "\\ud800"}, {"a": "\\ud83d\\ude00"}]', "json")
    assert '"😀"' in found[0].body
    assert "half a character" in str(error)


@pytest.mark.parametrize("how", [{"base": "no base"}, {"classes": ("x",)}, {"record": "$..x"}, {"mapping": b"{}"}])
def test_wrong_usage(how: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        events(b"{}", "json", **how)


# ------------------------------------------------------------------------------------------------------------- streams


def test_the_same_events_whatever_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [{"n": 10**i, "é": "ü" * i, "t": [True, None, 1.5, "\\", '"', {"x": -1e9}]} for i in range(12)]
    data = json.dumps({"skip": [[{"a": "]"}]] * 5, "items": records}, ensure_ascii=False, indent=1).encode()
    whole = events(data, "json", record="$.items[*]")
    assert len(whole) == 12
    for size in (1, 2, 3, 7, 64, 1000):
        monkeypatch.setattr(json_records, "_CHUNK", size)
        assert events(given(data, size=size), "json", record="$.items[*]") == whole


def test_what_is_skipped_may_be_larger_than_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_records, "_SKIPPED", 100)
    data = json.dumps({"skip": [{"x": ["y" * 50] * 50}] * 20, "items": [1, 2]}).encode()
    assert len(events(data, "json", record="$.items[*]", limits=Limits(max_event=4 * 400))) == 2


def test_what_is_skipped_must_be_json_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (10, 10_000):
        monkeypatch.setattr(json_records, "_SKIPPED", size)
        assert "not well-formed" in problem(
            b'{"skip": [1, 2, [{"x": tru}], 3, 4, 5], "items": [1]}', "json", record="/items/*"
        )


# ----------------------------------------------------------------------------------------------------------- and back

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False).map(str) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def without_nulls(value: Any) -> Any:
    """A member that is null is not there; in an array its place is free, which the last places do not show."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        kept = [without_nulls(inner) for inner in value]
        while kept and kept[-1] is None:
            kept.pop()
        return kept
    return value


def value_of(event: Event, names: dict[str, str]) -> Any:
    """The JSON value that the event was made of; `names` has the members by their IRIs."""
    arcs: dict[Term, list[tuple[Term, Term]]] = {}
    for s, p, o in event.triples():
        arcs.setdefault(s, []).append((p, o))

    def container(node: Term) -> Any:
        own = arcs.get(node, [])
        inner = {p: term(o) for p, o in own if p != RDF_TYPE}
        if (RDF_TYPE, SEQ) not in own:
            return {names[p]: value for p, value in inner.items()}
        places = {int(p[len(RDF) + 2 : -1]): value for p, value in inner.items()}
        return [places.get(at) for at in range(1, max(places, default=0) + 1)]

    def term(node: Term) -> Any:
        if is_blank(node):
            return container(node)
        lexical, datatype, _ = parts(node)
        return json.loads(lexical) if datatype.endswith(("integer", "boolean")) else lexical

    return container(Term("<http://e.x/#record=1>"))


def keys_of(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


@for_all(st.lists(VALUES, max_size=4) | st.dictionaries(st.text(max_size=5), VALUES, max_size=4))
@settings(max_examples=150, deadline=None)
def test_an_event_has_all_that_the_value_has(value: Any) -> None:
    [event] = events(json.dumps(value).encode(), "json", record="$")
    names = {f"<{BASE}{encoded(key)}>": key for key in keys_of(value)}
    assert value_of(event, names) == without_nulls(value)
