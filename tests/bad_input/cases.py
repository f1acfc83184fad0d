"""Kinds of bad input, each laid beside the same good subscription and the same good event."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

import pyarrow as pa

Files: TypeAlias = Mapping[str, str | bytes]

PRICE = "<http://e.x/price>"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
GOOD_QUERY = f"SELECT ?s WHERE {{ ?s {PRICE} ?p FILTER(?p < 400) }}"
GOOD_EVENT = f'<http://e.x/a> {PRICE} "390"^^{INTEGER} <http://e.x/good> .\n'
GOOD_MATCH = ("http://e.x/good", "good")
XML_HEAD = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.x/">'
    '<rdf:Description rdf:about="http://e.x/x"><e:title>'
)
XML_TAIL = "</e:title></rdf:Description></rdf:RDF>"


@dataclass(frozen=True)
class Case:
    """Files to lay beside the good ones, and what the run says: parts of its one message, in any order."""

    name: str
    says: tuple[str, ...]
    subscriptions: Files = field(default_factory=dict)
    events: Files = field(default_factory=dict)
    ontology: Files = field(default_factory=dict)
    options: tuple[str, ...] = ()
    code: int = 1
    also: tuple[tuple[str, str], ...] = ()
    """What matches besides the good event and the good subscription."""


def quad(subject: str, object: str, graph: str) -> str:
    return f"<http://e.x/{subject}> {PRICE} {object} <http://e.x/{graph}> .\n"


def query(where: str) -> str:
    return f"SELECT * WHERE {{ {where} }}"


def _clique(size: int) -> str:
    """Every blank node linked to every other: as symmetric as a graph can be."""
    pairs = [p for a, b in combinations(range(size), 2) for p in ((a, b), (b, a))]
    return "".join(f"_:n{a} <http://e.x/knows> _:n{b} .\n" for a, b in pairs)


def _billion_laughs() -> str:
    levels = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    return f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY l0 "ha">{levels}]>{XML_HEAD}&l9;{XML_TAIL}'


def _external_entity() -> str:
    declaration = '<!ENTITY secret SYSTEM "file:///etc/passwd">'
    return f'<?xml version="1.0"?><!DOCTYPE r [{declaration}]>{XML_HEAD}&secret;{XML_TAIL}'


def _deep_json() -> str:
    return '{"@id":"http://e.x/x","http://e.x/p":' * 20_000 + "1" + "}" * 20_000


def _deep_turtle() -> str:
    return f"<http://e.x/x> {PRICE} " + "[ <http://e.x/p> " * 20_000 + "1" + " ]" * 20_000 + " ."


def _zstd(data: bytes) -> bytes:
    compressed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return compressed


_MANY = "".join(quad(f"m{i * 7919 % 10_007}", f'"{i}"^^{INTEGER}', "many") for i in range(2000, 3000)).encode()
_PRODUCT = " ".join(f"?s{i} {PRICE} ?o{i} ." for i in range(8)) + " FILTER(?o0 + ?o7 < 0)"
_HUNDRED = "".join(quad(f"h{i}", f'"{1000 + i}"^^{INTEGER}', "hundred") for i in range(100))
_CYCLE = "".join(f"<http://e.x/{a}> {SUBCLASS} <http://e.x/{b}> .\n" for a, b in ("AB", "BC", "CA"))
_BOMB = "(a|aa)+" * 3 + "$"

EVENTS = [
    Case("truncated gzip", ("bad.nq.gz", "gzip"), events={"bad.nq.gz": gzip.compress(_MANY)[:-200]}),
    Case("truncated zstd", ("bad.nq.zst", "zstd"), events={"bad.nq.zst": _zstd(_MANY)[:-200]}),
    Case("gzip in name only", ("bad.nq.gz", "gzip"), events={"bad.nq.gz": quad("x", "<http://e.x/y>", "b")}),
    Case("Latin-1 N-Quads", ("bad.nq:1", "UTF-8"), events={"bad.nq": quad("x", '"Zürich"', "b").encode("latin-1")}),
    Case("Latin-1 Turtle", ("bad.ttl", "UTF-8"), events={"bad.ttl": f'<e:x> {PRICE} "Zürich" .'.encode("latin-1")}),
    Case("billion laughs", ("bad.rdf", "entit"), events={"bad.rdf": _billion_laughs()}),
    Case("external entity", ("bad.rdf",), events={"bad.rdf": _external_entity()}),
    Case("10 MB literal", ("bad.nq:1", "4 MiB"), events={"bad.nq": quad("x", f'"{"a" * 10_000_000}"', "b")}),
    Case("10 MB literal, Turtle", ("bad.ttl", "4 MiB"), events={"bad.ttl": f'<e:x> {PRICE} "{"a" * 10_000_000}" .'}),
    Case("deep JSON-LD", ("bad.jsonld", "deep"), events={"bad.jsonld": _deep_json()}),
    Case("deep Turtle", ("bad.ttl", "deep"), events={"bad.ttl": _deep_turtle()}),
    Case("unterminated quote", ("bad.nq:1",), events={"bad.nq": f'<http://e.x/x> {PRICE} "open <http://e.x/b> .\n'}),
    Case("clique of 12 blank nodes", ("bad.nt", "name"), events={"bad.nt": _clique(12)}),
    Case(
        "remote JSON-LD context",
        ("bad.jsonld", "https://e.x/context", "--context"),
        events={"bad.jsonld": '{"@context": "https://e.x/context", "@id": "http://e.x/x", "name": "x"}'},
    ),
    Case("NUL bytes", ("bad.nq:1",), events={"bad.nq": b"\x00" * 100 + b"\n"}),
    Case("bad IRI", ("bad.nq:1", "IRI"), events={"bad.nq": f"<http://e.x/a b> {PRICE} <http://e.x/x> <e:b> .\n"}),
    Case("relative IRI", ("bad.nq:1", "IRI"), events={"bad.nq": f"<x> {PRICE} <http://e.x/x> <http://e.x/b> .\n"}),
    Case("same id, other triples", ("http://e.x/good",), events={"z.nq": quad("z", "<http://e.x/other>", "good")}),
    Case("RDF 1.2 triple term", ("bad.ttl:1",), events={"bad.ttl": f"<e:x> {PRICE} <<( <e:a> {PRICE} 1 )>> ."}),
    Case("unknown prefix in Turtle", ("bad.ttl:1", "ex:"), events={"bad.ttl": "ex:a ex:b ex:c ."}),
    Case("cut-off TriG", ("bad.trig:1",), events={"bad.trig": "<http://e.x/g> { <http://e.x/s> <http://e.x/p> "}),
    Case("JSON cut off", ("bad.jsonld",), events={"bad.jsonld": '{"@id": "http://e.x/x", "http://e.x/p": [1, '}),
    Case("XML not well-formed", ("bad.rdf",), events={"bad.rdf": f"{XML_HEAD}<open>{XML_TAIL}"}),
    Case("not OPS, in strict mode", ("http://e.x/good", "_:H"), options=("--strict",), code=2),
    Case("empty file", (), events={"empty.nq": "", "empty.ttl": ""}, code=0),
]

SUBSCRIPTIONS = [
    Case("SERVICE", ("bad.rq:1", "SERVICE"), {"bad.rq": query("SERVICE <http://e.x/sparql> { ?s ?p ?o }")}),
    Case("FROM", ("bad.rq:1", "FROM"), {"bad.rq": "SELECT * FROM <http://e.x/g> { ?s ?p ?o }"}),
    Case("RAND", ("bad.rq:1", "RAND"), {"bad.rq": query("?s ?p ?o FILTER(RAND() < 1)")}),
    Case("update", ("bad.rq:1:1",), {"bad.rq": "DELETE WHERE { ?s ?p ?o }"}),
    Case("unknown prefix", ("bad.rq:1", "ex:"), {"bad.rq": query("?s ex:price ?p")}),
    Case(
        "10,000 parentheses",
        ("bad.rq:1", "deep"),
        {"bad.rq": query(f"?s {PRICE} ?p FILTER({'(' * 10_000}?p{')' * 10_000} > 1)")},
    ),
    Case("10,000 braces", ("bad.rq:1", "deep"), {"bad.rq": f"SELECT * {'{' * 10_000} ?s ?p ?o {'}' * 10_000}"}),
    Case("10,000 signs", ("bad.rq:1",), {"bad.rq": query(f"?s ?p ?o FILTER({'-' * 10_000}?o > 0)")}),
    Case(
        "regex with a back-reference",
        ("bad.rq:1", "back-reference"),
        {"bad.rq": query('?s ?p ?o FILTER REGEX(?o, "(.)\\\\1")')},
    ),
    Case("not UTF-8", ("bad.rq:1", "UTF-8"), {"bad.rq": "SELECT * { ?s ?p 'Zürich' }".encode("latin-1")}),
    Case("empty query", ("bad.rq",), {"bad.rq": ""}),
    Case("NUL in a query", ("bad.rq:1:15",), {"bad.rq": "SELECT * { ?s \x00 ?o }"}),
    Case("rdf:type in ops", ("bad.ops:2", "rdf:type"), {"bad.ops": "PREFIX : <e:>\n(_:H, ?x, (A, rdf:type, B))"}),
    Case("ops without _:H", ("bad.ops:1:1", "_:H"), {"bad.ops": "PREFIX : <e:>\n(?a, ?x, (A, p, B))"}),
    Case("gtopss that is SPARQL", ("bad.gtopss:1",), {"bad.gtopss": "SELECT * { ?s ?p ?o }"}),
    Case("same id twice", ("x.rq", "'x'"), {"x.gtopss": "(?s, <http://e.x/p>, ?o)", "x.rq": query("?s ?p 1")}),
    Case(
        "budget exceeded",
        ("'greedy'", "http://e.x/hundred", "budget"),
        {"greedy.rq": query(_PRODUCT)},
        {"hundred.nq": _HUNDRED},
        options=("--budget", "100000"),
    ),
    Case(
        "regex bomb",
        (),
        {"bomb.rq": query(f'?s {PRICE} ?p FILTER(!REGEX(CONCAT(STR(?p), "{"a" * 5000}!"), "{_BOMB}"))')},
        code=0,
        also=(("http://e.x/good", "bomb"),),
    ),
    Case(
        "a prefix that makes gigabytes of names",
        ("bad.rq:1", "too much"),
        {"bad.rq": f"PREFIX e: <http://{'x' * 400_000}> " + query(";".join(f"e:{n} 1" for n in range(50_000)))},
    ),
    Case(
        "a variable for thousands of properties",
        ("bad.rq:1", "too much"),
        {"bad.rq": query(f"?{'x' * 400_000} " + ";".join(f"<p:{n}> 1" for n in range(50_000)))},
    ),
    Case("1 MB query", (), {"long.rq": query(f'?s {PRICE} "{"a" * 1_000_000}"')}, code=0),
]

ONTOLOGIES = [
    Case("cycle", ("A", "B", "C"), ontology={"o.nt": _CYCLE}, code=2),
    Case("syntax error", ("o.ttl:1",), ontology={"o.ttl": "@prefix : <http://e.x/> : a"}, code=2),
    Case("deep nesting", ("o.ttl", "deep"), ontology={"o.ttl": _deep_turtle()}, code=2),
    Case("cycle as equivalence", (), ontology={"o.nt": _CYCLE}, options=("--cycles", "equivalence"), code=0),
]

ROWS = [
    {"id": "good", "query": GOOD_QUERY},
    {"id": "bad", "query": "SELECT * { ?s ?p }"},
    {"id": 7.5, "query": GOOD_QUERY},
    {"query": GOOD_QUERY},
    {"id": "dialect", "query": GOOD_QUERY, "dialect": "sql"},
]
NDJSON = "\n".join([*map(json.dumps, ROWS), '{"id": "cut', "[1, 2]", ""])
CSV = f'id,query\ngood,"{GOOD_QUERY}"\nbad,SELECT\nshort\n'
