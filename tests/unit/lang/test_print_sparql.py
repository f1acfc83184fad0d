"""Printing: what every form looks like, and that it reads back as itself."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from tests.unit.lang.query_texts import queries

from tidings.lang import parse, to_text
from tidings.lang.sparql import parse_sparql


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(queries())
def test_every_form_prints_and_reads_back(text: str) -> None:
    query = parse_sparql(text)
    printed = to_text(query)
    assert parse_sparql(printed) == query
    assert to_text(parse_sparql(printed)) == printed


def test_the_text_is_made_to_be_read() -> None:
    query = parse(
        """PREFIX ex: <http://e.x/>
        SELECT DISTINCT ?s (COUNT(*) AS ?n) {
          ?s a ex:Notebook ; ex:price ?p ; ex:screen/ex:size 15.4 ; ex:part* * .
          OPTIONAL { ?s ex:text ?t FILTER ftcontains(?t, "light" ftAND "thin" ftNEAR[0,2] "case") }
          { ?s ex:a 1 } UNION { ?s ex:b true } UNION {}
          FILTER (?p < 400 && !(?p = 0 || EXISTS { ?s ex:sold _:b }))
          VALUES ?s { ex:x UNDEF }
        }
        GROUP BY ?s HAVING (COUNT(*) > 1) ORDER BY DESC(?n) LIMIT 10"""
    )
    assert (
        to_text(query)
        == """\
SELECT DISTINCT ?s (COUNT(*) AS ?n)
WHERE {
  ?s a <http://e.x/Notebook> .
  ?s <http://e.x/price> ?p .
  ?s <http://e.x/screen> _:0 .
  _:0 <http://e.x/size> 15.4 .
  ?s <http://e.x/part>* * .
  OPTIONAL {
    ?s <http://e.x/text> ?t .
    FILTER ftcontains(?t, "light" ftAND "thin" ftNEAR[0,2] "case")
  }
  {
    ?s <http://e.x/a> 1 .
  } UNION {
    ?s <http://e.x/b> true .
  } UNION {}
  VALUES (?s) {
    (<http://e.x/x>)
    (UNDEF)
  }
  FILTER (?p < 400 && !(?p = 0 || EXISTS { ?s <http://e.x/sold> _:1 . }))
}
GROUP BY ?s
HAVING (COUNT(*) > 1)
ORDER BY DESC(?n)
LIMIT 10
"""
    )
    assert parse(to_text(query)) == query


def test_construct() -> None:
    query = parse("CONSTRUCT { _:a ?p ?o } WHERE { ?s ?p ?o } OFFSET 1 VALUES ?p { <http://e.x/p> }")
    assert (
        to_text(query)
        == """\
CONSTRUCT {
  _:0 ?p ?o .
}
WHERE {
  ?s ?p ?o .
}
OFFSET 1
VALUES (?p) {
  (<http://e.x/p>)
}
"""
    )


def test_numbers_stay_as_they_were_written() -> None:
    text = "ASK\nWHERE {\n  ?s ?p 007 .\n  ?s ?p -1.50 .\n  ?s ?p +.5e0 .\n  ?s ?p true .\n}\n"
    assert to_text(parse(text)) == text
    odd = 'ASK\nWHERE {\n  ?s ?p "x"^^<http://www.w3.org/2001/XMLSchema#integer> .\n}\n'
    assert to_text(parse(odd)) == odd
