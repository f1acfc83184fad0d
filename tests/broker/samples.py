"""Sound documents and subscriptions of every kind, to be sent as they are, and with something wrong in them."""

from __future__ import annotations

import json
from base64 import b64encode

from tidings.rdf.cloudevents import STRUCTURED
from tidings.rdf.formats import Format

X = "http://x/"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"

NTRIPLES = f"""<{X}pc> <{X}price> "390"^^<{_XSD}integer> .
<{X}pc> <{X}says> "As good as \\u00e9 new\\n"@en-GB .
_:b <{X}of> <{X}pc> . # and so on
"""
NQUADS = "".join(
    f'<{X}pc{n}> <{X}price> "{n}"^^<{_XSD}integer> <{X}g{n}> .\n_:b{n} <{X}of> <{X}pc{n}> <{X}g{n}> .\n'
    for n in range(3)
)
TURTLE = f"""@prefix : <{X}> . @prefix xsd: <{_XSD}> .
:offer a :Selling ; :price 390.00, 4e2, true ; :says '''As "good"
as new''' ; :target [ a :Notebook ; :parts ( :a "b" 3 ) ] .
"""
TRIG = f"""PREFIX : <{X}>
:one {{ :pc :price 390 ; :near _:b . _:b :name "Rio"@pt . }}
GRAPH :two {{ :pc :price 900 }}
{{ :three :about :two }}
"""
RDFXML = f"""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE rdf:RDF [ <!ENTITY x "{X}"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="{X}" xml:base="{X}">
  <x:Selling rdf:about="&x;offer"><x:price rdf:datatype="{_XSD}integer">390</x:price>
    <x:target rdf:parseType="Resource"><x:says xml:lang="en">&lt;As new&gt;</x:says></x:target></x:Selling>
</rdf:RDF>
"""
JSONLD = json.dumps(
    {
        "@context": {"x": X, "says": {"@id": "x:says", "@language": "en"}},
        "@id": "x:offer",
        "@type": "x:Selling",
        "says": ["As new", {"@value": "neu", "@language": "de"}],
        "x:target": {"@list": [{"@id": "x:a"}, 3, True, None, 1.5]},
        "x:graph": {"@graph": [{"@id": "x:inner", "x:price": 390}]},
    }
)

DOCUMENTS: dict[Format, str] = {
    Format.NT: NTRIPLES,
    Format.NQ: NQUADS,
    Format.TTL: TURTLE,
    Format.TRIG: TRIG,
    Format.RDF: RDFXML,
    Format.JSONLD: JSONLD,
}

EVENTS: dict[Format, str] = {
    **DOCUMENTS,
    Format.NQ: NQUADS.partition("_:")[0],
    Format.TRIG: f"<{X}g> {{ <{X}pc> <{X}price> 390 }}",
    Format.JSONLD: json.dumps({"@id": f"{X}pc", f"{X}price": 390}),
}
"""One event of each."""

_ENVELOPE = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "time": "2026-05-01T12:00:00Z"}
ENVELOPES = (
    json.dumps({**_ENVELOPE, "datacontenttype": "text/turtle", "data": TURTLE}),
    json.dumps({**_ENVELOPE, "datacontenttype": "application/ld+json; charset=utf-8", "data": json.loads(JSONLD)}),
    json.dumps(
        {**_ENVELOPE, "datacontenttype": "application/n-quads", "data_base64": b64encode(NQUADS.encode()).decode()}
    ),
)

BODIES: list[tuple[str, bytes]] = [
    *((format.media_type, text.encode()) for format, text in DOCUMENTS.items()),
    *((STRUCTURED, text.encode()) for text in ENVELOPES),
]
"""What can be published, with its media type."""

ONTOLOGY = f"""@prefix : <{X}> . @prefix rdfs: <{_RDFS}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Notebook rdfs:subClassOf :Computer . :Computer owl:equivalentClass :PC . :cellPhone rdfs:subPropertyOf :phone .
:price rdfs:domain :Selling ; rdfs:range <{_XSD}decimal> . :Rio a :City .
"""

TEMPLATES: dict[str, tuple[str, ...]] = {
    "sparql": (
        f"SELECT ?pc {{ ?pc <{X}price> ?p ; <{X}by> $who FILTER(?p < $most) FILTER ftcontains(?p, $words) }}",
        f"ASK {{ ?pc <{X}price> ?who }}",
    ),
    "ops": (f"PREFIX : <{X}> (_:H, $who, (Selling, target, Computer))",),
    "gtopss": (f"PREFIX : <{X}> (?x, :price, ?y, {{}}, {{?y < $most}})",),
}
"""With the parameters of the first; those that are not declared are none."""

LINES = ('{"id": "a", "parameters": {}}\n{"id": "b", "parameters": {"who": "http://x/y"}}\n', '{"id": "c"}')

QUERIES: dict[str, tuple[str, ...]] = {
    "sparql": (
        f"""PREFIX : <{X}> SELECT ?pc (COUNT(*) AS ?n) WHERE {{ ?pc :price ?p ; :says|^:of* ?ad .
            OPTIONAL {{ ?pc :near ?x FILTER regex(?ad, "^(a|b)+$", "i") }}
            FILTER(?p < 400.00 && NOT EXISTS {{ ?pc a :Old }})
            FILTER ftcontains(?ad, "as" ftNEAR[0,1] "new" ftOR ftNOT "old") }} GROUP BY ?pc HAVING (?n > 0)
            ORDER BY DESC(?n) LIMIT 10""",
        f"ASK {{ * <{X}price> ?p MINUS {{ ?p a * }} }}",
        f"""CONSTRUCT {{ ?s <{X}is> "cheap"@en }}
            WHERE {{ {{ ?s <{X}price> 1 }} UNION {{ VALUES ?s {{ <{X}a> UNDEF }} }} }}""",
    ),
    "ops": (
        f"""PREFIX : <{X}>
            (_:H, ?1, (Selling, target, Computer)) AND
            (?1, ?2, (Computer, price, xsd:decimal), ?2 < 400.00 || !(?2 = 7))""",
    ),
    "gtopss": (f"PREFIX : <{X}> (?x, :price, ?y, {{?x <= :Computer, ?x != :PC}}, {{?y >= 1, ?y < 400}})",),
}

DATA = {
    "text/csv": ["id,price\n1,390\n2,500\n", "id;price\n1;1,5\n", ""],
    "text/tab-separated-values": ["id\tprice\n1\t390\n"],
    "application/rss+xml": ['<rss version="2.0"><channel><item><title>t</title></item></channel></rss>', "<rss>"],
    "application/atom+xml": ['<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>urn:a</id></entry></feed>'],
    "application/feed+json": ['{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1"}]}', "{}"],
    "text/html": ['<p itemscope itemtype="http://schema.org/Offer"><b itemprop="price">1</b></p>', "<"],
}
"""Of data that is no RDF, sound and not."""

_RML = """@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> . @prefix : <http://x/> .
:m rml:logicalSource [ rml:source "offers" ; rml:referenceFormulation ql:FORM ] ;
    rr:subjectMap [ rr:template "http://x/{id}" ; rr:class :Offer ] ;
    rr:predicateObjectMap [ rr:predicate :price ; rr:objectMap [ rml:reference "price" ] ] .
"""
MAPPINGS = {
    "text/turtle": [
        _RML.replace("ql:FORM", "ql:CSV"),
        _RML.replace("ql:FORM", 'ql:JSONPath ; rml:iterator "$.offers[*]"'),
        _RML.replace("ql:FORM", 'ql:XPath ; rml:iterator "/offers/offer"').replace("{id}", "{@id}"),
    ],
    "application/csvm+json": [
        json.dumps(
            {
                "@context": "http://www.w3.org/ns/csvw",
                "url": "offers.csv",
                "tableSchema": {
                    "aboutUrl": f"{X}{{id}}",
                    "columns": [{"name": "id"}, {"name": "price", "datatype": "decimal", "propertyUrl": f"{X}price"}],
                },
            }
        )
    ],
    "application/ld+json": [json.dumps({"@context": {"@vocab": X, "id": "@id", "@base": X}})],
}
"""Of offers, by the media type."""
