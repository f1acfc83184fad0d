"""R2RML, RML and CSVW: cases with the events they must give, and mappings that must be refused, by what is wrong."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from tests.unit.ingest.rows.cases import expected, names, run
from tests.unit.ingest.rows.helpers import converted, drained, only

from tidings.errors import TidingsError
from tidings.ingest.base import How
from tidings.ingest.rows.rml import json_path
from tidings.ingest.rows.sql import from_sql
from tidings.rdf.limits import Limits

RML = """@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> . @prefix ex: <http://e.x/> .
"""
SOURCE = 'rml:logicalSource [ rml:source "a.csv" ; rml:referenceFormulation ql:CSV ]'


@pytest.mark.parametrize("name", names())
def test_a_case(name: str) -> None:
    assert run(name) == expected(name)


def rml(text: str) -> How:
    return How(mapping=(RML + text).encode())


WRONG = {
    "has no triples map": "ex:a ex:b ex:c .",
    "one subject map": f"ex:m {SOURCE} .",
    "graph maps are not read here": f'ex:m {SOURCE} ; rr:subjectMap [ rr:column "a" ; rr:graph ex:g ] .',
    "'functionValue' of a object map": f"""ex:m {SOURCE} ; rr:subjectMap [ rr:column "a" ] ;
        rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rml:functionValue ex:f ] ] .""",
    "is not read here: CSV and JSONPath are": """ex:m rml:logicalSource [ rml:source "a" ; rml:referenceFormulation
        ql:XPath ] ; rr:subject ex:s .""",
    "the iterator '$.a[*]' is not read": """ex:m rml:logicalSource [ rml:source "a" ; rml:referenceFormulation
        ql:JSONPath ; rml:iterator "$.a[*]" ] ; rr:subject ex:s .""",
    "there is no column 'none'": f"""ex:m {SOURCE} ;
        rr:subjectMap [ rr:template "http://e.x/{{none}}" ; rr:class ex:C ] .""",
    "a subject is no literal": f"""ex:m {SOURCE} ;
        rr:subjectMap [ rr:column "a" ; rr:termType rr:Literal ; rr:class ex:C ] .""",
    "a predicate is an IRI": f"""ex:m {SOURCE} ; rr:subject ex:s ;
        rr:predicateObjectMap [ rr:predicate "p" ; rr:object ex:o ] .""",
    "is no triples map": f"""ex:m {SOURCE} ; rr:subject ex:s ;
        rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:parentTriplesMap ex:other ] ] .""",
    "has a predicate and an object": f"ex:m {SOURCE} ; rr:subject ex:s ; rr:predicateObjectMap [ rr:predicate ex:p ] .",
    "is a blank node": f"ex:m {SOURCE} ; rr:subject [] .",
    "brace": f'ex:m {SOURCE} ; rr:subjectMap [ rr:template "http://e.x/{{a" ; rr:class ex:C ] .',
    "has no column": f'ex:m {SOURCE} ; rr:subjectMap [ rr:template "http://e.x/" ; rr:class ex:C ] .',
    "the term type": f'ex:m {SOURCE} ; rr:subjectMap [ rr:column "a" ; rr:termType ex:T ] .',
    "only literals have": f"""ex:m {SOURCE} ; rr:subject ex:s ; rr:predicateObjectMap [ rr:predicate ex:p ;
        rr:objectMap [ rr:column "a" ; rr:termType rr:IRI ; rr:language "en" ] ] .""",
    "a join condition is needed": f"""ex:m {SOURCE} ; rr:subject ex:s ;
        rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:parentTriplesMap ex:n ] ] .
        ex:n rr:logicalTable [ rr:tableName "t" ] ; rr:subject ex:t .""",
    "needs 'b.csv', too": f"""ex:m {SOURCE} ; rr:subject ex:s ; rr:predicateObjectMap [ rr:predicate ex:p ;
        rr:objectMap [ rr:parentTriplesMap ex:n ; rr:joinCondition [ rr:child "a" ; rr:parent "a" ] ] ] .
        ex:n rml:logicalSource [ rml:source "b.csv" ; rml:referenceFormulation ql:CSV ] ; rr:subject ex:t .""",
    "not turtle at all": "this is not turtle at all",
}


@pytest.mark.parametrize("reason", WRONG)
def test_a_mapping_that_is_refused(reason: str) -> None:
    how = rml(WRONG[reason])
    if "b.csv" in reason:
        how = How(mapping=how.mapping, options={"source": "a.csv"})
    with pytest.raises(
        TidingsError,
        match=None if reason.startswith("not turtle") else reason.replace("$", r"\$").replace("[*]", r"\[\*\]"),
    ):
        converted("csv", b"a\n1\n", how)


def test_a_mapping_of_several_sources_asks_which_one_it_is() -> None:
    other = SOURCE.replace("a.csv", "b.csv")
    text = f"""ex:m {SOURCE} ; rr:subject ex:a ;
        rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rml:reference "a" ] ] .\n"""
    how = rml(text + text.replace("ex:m", "ex:n").replace(SOURCE, other).replace("ex:a ;", "ex:b ;"))
    with pytest.raises(TidingsError, match=r"'a\.csv', 'b\.csv'"):
        converted("csv", b"a\n1\n", how)
    named = How(mapping=how.mapping, options={"source": "b.csv"})
    assert only(converted("csv", b"a\n1\n", named)) == '<http://e.x/b> <http://e.x/p> "1" .\n'


def test_what_is_joined_with_is_bounded() -> None:
    text = f"""ex:m {SOURCE} ; rr:subjectMap [ rr:template "http://e.x/{{a}}" ] ;
        rr:predicateObjectMap [ rr:predicate ex:p ; rr:objectMap [ rr:parentTriplesMap ex:m ;
        rr:joinCondition [ rr:child "a" ; rr:parent "a" ] ] ] ."""
    data = b"a\n" + b"".join(b"%d\n" % number for number in range(1000))
    assert len(converted("csv", data, rml(text))) == 1000
    with pytest.raises(TidingsError, match=r"more than 97[.]66 KiB"):
        converted("csv", data, How(mapping=(RML + text).encode(), limits=Limits(max_pending=100_000)))


def test_mappings_in_other_syntaxes() -> None:
    text = (
        "<http://e.x/m> <http://www.w3.org/ns/r2rml#logicalTable> _:t .\n"
        '_:t <http://www.w3.org/ns/r2rml#tableName> "t" .\n'
        "<http://e.x/m> <http://www.w3.org/ns/r2rml#subject> <http://e.x/s> .\n"
        "<http://e.x/m> <http://www.w3.org/ns/r2rml#predicateObjectMap> _:p .\n"
        "_:p <http://www.w3.org/ns/r2rml#predicate> <http://e.x/p> .\n"
        "_:p <http://www.w3.org/ns/r2rml#object> <http://e.x/o> .\n"
    )
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a)")
    connection.execute("INSERT INTO t VALUES (1)")
    how = How(mapping=text.encode(), mapping_format="ntriples")
    assert only(drained(from_sql(connection, None, how))) == "<http://e.x/s> <http://e.x/p> <http://e.x/o> .\n"
    with pytest.raises(TidingsError, match="no format of a mapping"):
        list(from_sql(connection, None, How(mapping=b"", mapping_format="word")))


def test_classes_and_the_home_vertex_beside_a_mapping() -> None:
    text = f'ex:m {SOURCE} ; rr:subjectMap [ rr:template "http://e.x/{{a}}" ; rr:class ex:C ] .'
    how = How(mapping=(RML + text).encode(), classes=("http://e.x/D",), home=True)
    body = only(converted("csv", b"a\n1\n", how))
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    assert body.splitlines() == [
        '_:H <http://purl.org/dc/terms/identifier> "http://e.x/1"^^<http://www.w3.org/2001/XMLSchema#anyURI> .',
        f"_:H {kind} <http://e.x/C> .",
        f"_:H {kind} <http://e.x/D> .",
    ]
    with pytest.raises(TidingsError, match="leave the key out"):
        converted("csv", b"a\n1\n", How(mapping=how.mapping, key=("a",)))


@pytest.mark.parametrize(
    ("reference", "column"),
    [("a", "a"), ("$.a.b", "a.b"), ("@.a", "a"), ("$['a b']['c']", "a b.c"), ("a[*]", "a"), ('$["x"].y', "x.y")],
)
def test_json_paths(reference: str, column: str) -> None:
    assert json_path(reference) == column


@pytest.mark.parametrize("reference", ["$", "a[0]", "$..a", "$.*", "a[?(@.b)]"])
def test_json_paths_that_are_not_read(reference: str) -> None:
    with pytest.raises(TidingsError, match="names a member"):
        json_path(reference)


def csvw(text: str) -> How:
    context = '"@context": "http://www.w3.org/ns/csvw", "url": "http://e.x/t"'
    return How(mapping=f"{{{context}, {text}}}".encode())


def refused_descriptions() -> Iterator[tuple[str, str]]:
    def column(text: str) -> str:
        return f'"tableSchema": {{"columns": [{{"name": "a", {text}}}]}}'

    yield "'transformations' of a table", '"transformations": []'
    yield "'ordered'", column('"ordered": true, "separator": ";"')
    yield "'minimum' of a datatype", column('"datatype": {"base": "integer", "minimum": 3}')
    yield "'doubleQuote': False", '"dialect": {"doubleQuote": false}'
    yield "'headerRowCount': 2", '"dialect": {"headerRowCount": 2}'
    yield "'primaryKey' names the column 'z'", '"tableSchema": {"columns": [{"name": "a"}], "primaryKey": "z"}'
    yield "has 2 columns, and the table 1", '"tableSchema": {"columns": [{"name": "a"}, {"name": "b"}]}'
    yield "the column 'a' of the table is 'b'", '"tableSchema": {"columns": [{"name": "b"}]}'
    yield "'{a,b}' in the template", column('"aboutUrl": "http://e.x/{a,b}"')
    yield "has 'q', which is no column", column('"aboutUrl": "http://e.x/{q}"')
    yield "'valueUrl' of a column with a 'separator'", column('"valueUrl": "http://e.x/{a}", "separator": ";"')
    yield "'EEE'|'E' in the format", column('"datatype": {"base": "date", "format": "EEE dd"}')
    yield "the pattern '0x' of a number", column('"datatype": {"base": "integer", "format": "0x"}')
    yield "is no pattern", column('"datatype": {"base": "string", "format": "(?=a)"}')
    yield "makes 'http://e.x/ ', which is no absolute IRI", column('"propertyUrl": "http://e.x/ "')
    yield "somewhere else is not read", '"tableSchema": "schema.json"'


@pytest.mark.parametrize(("reason", "text"), list(refused_descriptions()))
def test_a_description_that_is_refused(reason: str, text: str) -> None:
    with pytest.raises(TidingsError) as raised:
        converted("csv", b"a\n1\n", csvw(text))
    assert any(each in str(raised.value) for each in reason.split("|"))


def test_what_is_only_said_about_a_table_is_passed_over() -> None:
    text = (
        '"dc:title": "x", "notes": [], "tableSchema": {"columns": [{"titles": {"en": ["a", "A"]}}], "rowTitles": ["a"]}'
    )
    assert only(converted("csv", b"A\n1\n", csvw(text))) == '_:record <http://e.x/t#a> "1" .\n'


def test_the_key_names_records_of_a_described_table() -> None:
    how = How(mapping=csvw('"dc:title": ""').mapping, key=("a",), base="http://e.x/")
    assert only(converted("csv", b"a\n1\n", how)) == '<http://e.x/1> <http://e.x/t#a> "1" .\n'


def test_a_description_is_of_csv_alone() -> None:
    with pytest.raises(TidingsError, match="mapped by RML"):
        converted("jsonl", b"{}\n", csvw('"dc:title": ""'))
