"""Drawings to look into: what is in an SVG file, and small worlds to draw."""

from __future__ import annotations

from random import Random
from xml.etree import ElementTree

from tidings.draw import event_svg
from tidings.lang import parse
from tidings.lang.pattern import Dialect
from tidings.match.explain import Explanation, Names, explain
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import read_triples
from tidings.rdf.terms import RDF_TYPE, Term, iri

SVG = "{http://www.w3.org/2000/svg}"
PREFIXES = {
    "": "http://e.x/",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
HEADER = "".join(f"PREFIX {prefix}: <{namespace}>\n" for prefix, namespace in PREFIXES.items())
ONTOLOGY = """
:Notebook rdfs:subClassOf :PC . :PC rdfs:subClassOf :Computer .
:cellPhone rdfs:subPropertyOf :telephone . :Oslo a :City . :City rdfs:subClassOf :Place .
"""


def event(turtle: str) -> Event:
    return Event.of("http://e.x/event", read_triples((HEADER + turtle).encode(), format="ttl"))


def ontology(turtle: str = ONTOLOGY) -> Ontology:
    return Ontology.of(read_triples((HEADER + turtle).encode(), format="ttl"))


def explained(text: str, over: Event, dialect: Dialect = "sparql") -> Explanation:
    return explain(parse(HEADER + text, dialect), over, ontology(), prefixes=PREFIXES)


def drawn(text: str, over: Event | str, dialect: Dialect = "sparql") -> str:
    published = event(over) if isinstance(over, str) else over
    return event_svg(explained(text, published, dialect), published, "wanted", Names(ontology(), PREFIXES))


def elements(svg: str, tag: str, *classes: str) -> list[ElementTree.Element]:
    found = ElementTree.fromstring(svg.encode()).iter(f"{SVG}{tag}")
    return [element for element in found if set(classes) <= set(element.get("class", "").split())]


def texts(svg: str, *classes: str) -> list[str]:
    """What is to be read, without what is only seen by pointing at it."""
    return ["".join([e.text or "", *((child.tail or "") for child in e)]) for e in elements(svg, "text", *classes)]


def titles(svg: str) -> list[str]:
    return [element.text or "" for element in elements(svg, "title")]


def random_world(seed: int, nodes: int = 50, arcs: int = 55) -> tuple[str, Event]:
    """The size that drawings are made for: a connected event, and a subscription of 10 vertices that matches it."""
    random = Random(seed)
    names = ["_:H", *(f"_:b{i}" for i in range(1, nodes))]
    graph = {(names[random.randrange(max(0, i - 12), i)], f"p{i % 7}", names[i]) for i in range(1, nodes)}
    while len(graph) < arcs:
        a, b = random.sample(names, 2)
        graph.add((a, f"p{random.randrange(7)}", b))
    reached, wanted = ["_:H"], []
    while len(reached) < 10:
        more = [arc for arc in sorted(graph) if arc[0] in reached and arc[2] not in reached]
        wanted.append(random.choice(more))
        reached.append(wanted[-1][2])
    called = {name: f"?v{i}" if i else "_:H" for i, name in enumerate(reached)}
    text = "".join(f"({called[s]}, {called[o]}, (T, {p}, T))\n" for s, p, o in wanted)
    triples = [(Term(s), iri(f"http://e.x/{p}"), Term(o)) for s, p, o in sorted(graph)]
    typed = [(Term(name), RDF_TYPE, iri("http://e.x/T")) for name in names]
    return text, Event.of("urn:random", [*triples, *typed])
