"""Trees by mappings in RML."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import pytest
from tests.unit.ingest.support import BASE, converted, events, given

from tidings.errors import EventError, UsageError
from tidings.ingest.base import How, Input
from tidings.ingest.read import read
from tidings.ingest.suggest import suggest
from tidings.rdf.limits import Limits
from tidings.rdf.sources import Stream

OLD = """@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> . @prefix ex: <http://e.x/> .
"""
NEW = """@prefix rr: <http://w3id.org/rml/> . @prefix rml: <http://w3id.org/rml/> . @prefix ql: <http://w3id.org/rml/> .
@prefix ex: <http://e.x/> .
"""
KIND = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
XSD = "http://www.w3.org/2001/XMLSchema#"


def source(iterator: str | None = "$.items[*]", formulation: str = "JSONPath", name: str = "a") -> str:
    path = "" if iterator is None else f' ; rml:iterator "{iterator}"'
    return f'rml:logicalSource [ rml:source "{name}" ; rml:referenceFormulation ql:{formulation}{path} ]'


def said(predicate: str, written: str) -> str:
    return f"rr:predicateObjectMap [ rr:predicate ex:{predicate} ; rr:objectMap [ {written} ] ]"


def rml(*parts: str, prefixes: str = OLD) -> bytes:
    return f"{prefixes}ex:m {' ; '.join(parts)} .\n".encode()


SUBJECT = 'rr:subjectMap [ rr:template "http://e.x/{id}" ; rr:class ex:Item ]'
TAGS = said("tag", 'rml:reference "tags"')
ITEMS = b"""{"n": 1, "items": [
 {"id": 7, "price": 1.50, "tags": ["b", 3, "a", null, true], "in": {"it": 1e3}},
 {"id": 8, "in": {"it": false}, "first name": "x"}
]}"""


@pytest.mark.parametrize("prefixes", [OLD, NEW])
def test_json(prefixes: str) -> None:
    mapping = rml(
        source(),
        SUBJECT,
        TAGS,
        said("price", 'rml:reference "$.price"'),
        said("in", 'rml:reference "in.it"'),
        said("name", 'rml:reference "first name" ; rr:language "en"'),
        prefixes=prefixes,
    )
    first, second = (event.body.splitlines() for event in events(ITEMS, "json", mapping=mapping))
    assert first == [
        f'<http://e.x/7> <http://e.x/in> "1e3"^^<{XSD}double> .',
        f'<http://e.x/7> <http://e.x/price> "1.50"^^<{XSD}decimal> .',
        f'<http://e.x/7> <http://e.x/tag> "3"^^<{XSD}integer> .',
        '<http://e.x/7> <http://e.x/tag> "a" .',
        '<http://e.x/7> <http://e.x/tag> "b" .',
        f'<http://e.x/7> <http://e.x/tag> "true"^^<{XSD}boolean> .',
        f"<http://e.x/7> {KIND} <http://e.x/Item> .",
    ]
    assert second == [
        f'<http://e.x/8> <http://e.x/in> "false"^^<{XSD}boolean> .',
        '<http://e.x/8> <http://e.x/name> "x"@en .',
        f"<http://e.x/8> {KIND} <http://e.x/Item> .",
    ]


@pytest.mark.parametrize("prefixes", [OLD, NEW])
def test_xml(prefixes: str) -> None:
    mapping = rml(
        source("/catalog/item", "XPath"),
        'rr:subjectMap [ rr:template "http://e.x/{@id}" ]',
        said("tag", 'rml:reference "tag"'),
        said("by", 'rml:reference "author/name/text()"'),
        said("code", 'rml:reference "author/@code"'),
        said("empty", 'rml:reference "none"'),
        prefixes=prefixes,
    )
    data = b"""<catalog xmlns="http://n.s/"><item id="1"><tag>x</tag><tag>y</tag><none/></item><other id="3"/>
    <item id="2"><author code="c"><name>A &amp; B</name></author></item></catalog>"""
    assert [event.body for event in events(data, "xml", mapping=mapping)] == [
        '<http://e.x/1> <http://e.x/tag> "x" .\n<http://e.x/1> <http://e.x/tag> "y" .\n',
        '<http://e.x/2> <http://e.x/by> "A & B" .\n<http://e.x/2> <http://e.x/code> "c" .\n',
    ]


def test_the_same_as_lines() -> None:
    rows = [
        {"id": n, "name": f'N"{n}', "tags": ["a", n, 0.5][: n % 4], "home": {"city": "X"} if n % 3 else None}
        for n in range(2_500)
    ]
    parts = (SUBJECT, TAGS, said("name", 'rml:reference "name"'), said("city", 'rr:template "c/{home.city}"'))
    lines = "\n".join(map(json.dumps, rows)).encode()
    wanted = events(lines, "jsonl", mapping=rml(source("$"), *parts))
    found = events(json.dumps({"items": rows}).encode(), "json", mapping=rml(source(), *parts))
    assert [(each.id, each.body) for each in found] == [(each.id, each.body) for each in wanted]


@pytest.mark.parametrize("size", [None, 1, 7])
def test_a_record_that_is_wrong_costs_itself(size: int | None) -> None:
    data = b"""{"items": [ {"id": 1, "tags": "a"},
        {"id": [2, 3], "tags": "a"},
        {"id": 4, "tags": "a", "x": {"y": 1, "y": 2}},
        {"id": 5, "tags": [{"z": 1}]},
        {"id": 6, "tags": "\\ud800"},
        {"id": 7, "tags": "b"} ], oh"""
    found, problems = converted(given(data, size=size), "json", mapping=rml(source(), SUBJECT, TAGS))
    assert [event.triples()[0][0] for event in found] == ["<http://e.x/1>", "<http://e.x/7>"]
    told = sorted((each.span.line if each.span else 0, each.reason) for each in problems)
    assert [line for line, _ in told] == [2, 3, 4, 5, 6]
    wanted = (
        "record 2: 'id' has several values",
        'the key "y"',
        "'tags' is an array of objects",
        "half",
        "the name of",
    )
    assert all(reason.startswith(start) for (_, reason), start in zip(told, wanted, strict=True))


def test_xml_records_that_are_wrong() -> None:
    mapping = rml(source("//item", "XPath"), 'rr:subjectMap [ rr:template "{@id}" ; rr:class ex:I ]')
    large = b"x" * 40_000
    data = b"<a>\n<item id='1'/>\n<item id='2'>%s</item>\n<item id='3'/>\n<item></a>" % large
    found, problems = converted(data, "xml", mapping=mapping, limits=Limits(max_event=100_000))
    assert [event.triples()[0][0] for event in found] == ["<http://e.x/1>", "<http://e.x/3>"]
    assert [each.span.line for each in problems if each.span] == [3, 5]


def test_records_and_iterators() -> None:
    mapping = rml(source(), SUBJECT)
    for record in ("$.items[*]", "/items/*", "$['items'][*]", "items.*"):
        assert len(events(ITEMS, "json", mapping=mapping, record=record)) == 2
    with pytest.raises(
        UsageError, match=r"the record '\$\.n' is not what the mapping iterates over, '\$\.items\[\*\]'"
    ):
        converted(ITEMS, "json", mapping=mapping, record="$.n")
    without = rml(source(None), SUBJECT)
    assert len(events(ITEMS, "json", mapping=without, record="$.items[*]")) == 2
    assert len(events(b'[{"id": 1}, {"id": 2}]', "json", mapping=without)) == 2
    inner = rml(source("$.items[*].tags[*]"), 'rr:subjectMap [ rr:template "t/{$}" ; rr:class ex:T ]')
    assert [e.triples()[0][0] for e in events(b'{"items": [{"tags": ["a", "b"]}]}', "json", mapping=inner)] == [
        "<http://e.x/t/a>",
        "<http://e.x/t/b>",
    ]


def test_joins() -> None:
    data = b"""{"people": [{"id": 1, "of": "x"}, {"id": 2, "of": "y"}, {"id": 3, "of": "none"}],
        "groups": [{"key": "x"}, {"key": "y"}]}"""
    text = f"""ex:m {source("$.people[*]")} ; {SUBJECT} ;
        rr:predicateObjectMap [ rr:predicate ex:of ; rr:objectMap [ rr:parentTriplesMap ex:g ;
            rr:joinCondition [ rr:child "of" ; rr:parent "key" ] ] ] .
        ex:g %s ; rr:subjectMap [ rr:template "http://e.x/g/{{key}}" ] ."""
    itself = (OLD + text % source("$.groups[*]")).encode()
    joined = ["<http://e.x/g/x>", "<http://e.x/g/y>"]

    def objects(**how: Any) -> list[str]:
        found = events(data, "json", **how)
        assert len(found) == 3
        return [o for event in found for _, p, o in event.triples() if p == "<http://e.x/of>"]

    assert objects(mapping=itself, record="$.people[*]") == joined
    with pytest.raises(UsageError, match="say with --record which of them"):
        converted(data, "json", mapping=itself)
    for other, bytes_ in (
        (source("/a/g", "XPath", "b"), b"<a><g><key>x</key></g><g><key>y</key></g></a>"),
        (source(None, "CSV", "b"), b"key\nx\ny\n"),
        (source("$[*]", "JSONPath", "b"), b'[{"key": "x"}, {"key": "y"}]'),
    ):
        mapping = (OLD + text % other).encode()
        assert objects(mapping=mapping, options={"source": "a", "sources": {"b": bytes_}}) == joined
    with pytest.raises(UsageError, match="the mapping needs 'b', too"):
        converted(data, "json", mapping=(OLD + text % source(None, "CSV", "b")).encode())


def test_classes_the_home_vertex_and_blank_nodes() -> None:
    mapping = rml(source(), SUBJECT)
    body = events(ITEMS, "json", mapping=mapping, classes=("http://e.x/D",), home=True)[0].body
    assert body.splitlines() == [
        f'_:H <http://purl.org/dc/terms/identifier> "http://e.x/7"^^<{XSD}anyURI> .',
        f"_:H {KIND} <http://e.x/D> .",
        f"_:H {KIND} <http://e.x/Item> .",
    ]
    blank = rml(source(), 'rr:subjectMap [ rr:template "{id}" ; rr:termType rr:BlankNode ; rr:class ex:C ]')
    first, second = events(ITEMS, "json", mapping=blank)
    assert first.id == second.id


@pytest.mark.parametrize(
    ("kind", "parts", "reason"),
    [
        ("json", [source("$..a"), SUBJECT], "the path '$..a' is not understood"),
        ("json", [source("/a", "XPath"), SUBJECT], "in the mapping they are none"),
        ("json", [source("$", "XQuery"), SUBJECT], "CSV, JSONPath and XPath are"),
        ("json", [source(), SUBJECT, said("a", 'rml:reference "a[?(@.b)]"')], "is not understood"),
        ("xml", [source("/a[1]", "XPath"), SUBJECT], "the path '/a[1]' is not understood"),
        *(
            ("xml", [source("/a", "XPath"), SUBJECT, said("a", f'rml:reference "{each}"')], "is not understood")
            for each in ("../b", "//b", "/b", "b[1]", "x:b", "name()", "@a/b")
        ),
    ],
)
def test_what_is_not_read(kind: str, parts: list[str], reason: str) -> None:
    for data in (b"{}", b"[]") if kind == "json" else (b"<a/>",):
        try:
            _, problems = converted(data, kind, mapping=rml(*parts))
            told = str(problems[0])
        except UsageError as error:
            told = str(error)
        assert reason in told


def test_what_cannot_be_given_together() -> None:
    mapping = rml(source(), SUBJECT)
    for how in ({"context": "{}"}, {"key": ("id",)}, {"mapping": b"{}"}):
        with pytest.raises(UsageError):
            converted(ITEMS, "json", **{"mapping": mapping, **how})


@pytest.mark.parametrize("kind", ["json", "xml"])
def test_a_suggestion_is_a_mapping(kind: str) -> None:
    data = ITEMS if kind == "json" else b"<a><b id='1'><n>x</n></b><b id='2'><n>y</n><n>z</n></b></a>"
    made = suggest(data, kind, name="things", base=BASE)
    found = events(data, kind, mapping=made.mapping.encode())
    assert len(found) == 2
    assert all(f"{KIND} <http://e.x/Thing> ." in event.body for event in found)
    events(data, kind, mapping=made.mapping.encode(), record=made.record)


class _Long(io.RawIOBase):
    """A document of so many records, made while it is read."""

    def __init__(self, count: int) -> None:
        self._parts = self._made(count)

    def _made(self, count: int) -> Iterator[bytes]:
        yield b'{"items": ['
        for number in range(count):
            yield b'%s{"id": %d, "tags": ["%s"]}' % (b"," if number else b"", number, b"x" * 1_000)
        yield b"]}"

    def read(self, size: int = -1) -> bytes:
        return next(self._parts, b"")


def test_memory_is_for_some_records() -> None:
    how = How(base=BASE, mapping=rml(source(), SUBJECT, TAGS))
    problems: list[EventError] = []
    document = Input("doc", Stream("doc", cast(BinaryIO, _Long(40_000))))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read(document, how, format="json", report=problems.append))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (count, problems) == (40_000, [])
    assert peak < 24 << 20
