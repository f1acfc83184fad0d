"""A mapping and a small ontology to start from, by what a sample of a document has in it.

The mapping is RML in Turtle: a property for each field, named after it in camelCase below the base, with the datatype
that its values have; the subject by the field that looks like a key; one class. The ontology declares the same names.
Of formats that have a vocabulary of their own (feeds, pages, PDF, images) there is nothing to map, and the ontology
declares what their events have. The same sample gives the same text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from tidings.errors import EventError
from tidings.ingest.base import DATA, How
from tidings.ingest.preview import PREFIXES
from tidings.ingest.read import read
from tidings.ingest.sampled import Field, Sample, sampled
from tidings.ingest.trees.naming import Names, encoded
from tidings.rdf.event import Event
from tidings.rdf.terms import RDF_TYPE, XSD, Term, escape, is_literal, parts

_FORMULATIONS = {"csv": "CSV", "tsv": "CSV", "jsonl": "JSONPath", "json": "JSONPath", "xml": "XPath"}
_WORDS = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LOCAL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RR, _RML, _QL = "http://www.w3.org/ns/r2rml#", "http://semweb.mmlab.be/ns/rml#", "http://semweb.mmlab.be/ns/ql#"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two Turtle documents; the mapping is empty where the format needs none. `record` is the path that was assumed."""

    mapping: str
    ontology: str
    record: str | None = None
    key: str | None = None


def suggest(
    sample: bytes, format: str, *, name: str = "record", base: str = DATA, record: str | None = None
) -> Suggestion:
    """A suggestion by the beginning of a document, which is called `name` (a file's name without what ends it).

    An `EventError` where nothing can be read of it.
    """
    Names(How(base=base))
    if format not in _FORMULATIONS:
        return Suggestion("", _ontology_of(_converted(sample, format), base))
    found = sampled(sample, format, record)
    if not found.fields:
        raise EventError("there is no record with fields in the sample", source=name)
    names = _named(found.fields)
    cls = _class_name(name)
    key = found.key()
    mapping = _mapping(found, names, cls, key, format, name, base)
    return Suggestion(mapping, _ontology(found, names, cls, base), found.path, None if key is None else key.name)


# ---------------------------------------------------------------------------------------------------------------- names


def _named(fields: Iterable[Field]) -> dict[str, str]:
    """A name in camelCase for every field; no two the same."""
    names: dict[str, str] = {}
    for number, each in enumerate(fields, 1):
        words = [word for part in _WORDS.findall(each.name) for word in _HUMP.split(part)]
        camel = "".join(word.lower() if place == 0 else word[0].upper() + word[1:] for place, word in enumerate(words))
        if not camel or camel[0].isdigit():
            camel = f"column{camel or number}"
        taken = names.values()
        while camel in taken:
            camel = f"{camel}{number}"
        names[each.name] = camel
    return names


def _class_name(name: str) -> str:
    """The file's name as that of a class: `order_items` holds each time an `OrderItem`."""
    words = [word for part in _WORDS.findall(name) for word in _HUMP.split(part)]
    if not words or words[0][0].isdigit():
        words = ["Record", *words]
    last = words[-1]
    if len(last) > 3 and last.endswith("ies"):
        last = f"{last[:-3]}y"
    elif len(last) > 3 and last.endswith("s") and not last.endswith(("ss", "us", "is")):
        last = last[:-1]
    return "".join(word[0].upper() + word[1:] for word in [*words[:-1], last])


def _own(local: str, base: str) -> str:
    return f":{local}" if _LOCAL.fullmatch(local) else f"<{base}{encoded(local)}>"


def _datatype(datatype: str) -> str:
    return f"xsd:{datatype.removeprefix(XSD)}" if datatype.startswith(XSD) else f"<{datatype}>"


def _quoted(text: str) -> str:
    return f'"{escape(text)}"'


# -------------------------------------------------------------------------------------------------------------- mapping


def _mapping(
    sample: Sample, names: dict[str, str], cls: str, key: Field | None, format: str, name: str, base: str
) -> str:
    source = [f"rml:source {_quoted(f'{name}.{format}')}", f"rml:referenceFormulation ql:{_FORMULATIONS[format]}"]
    iterator = "$" if format == "jsonl" else sample.path
    if iterator is not None:
        source.append(f"rml:iterator {_quoted(iterator)}")
    lines = [
        _prefixes({"rr": _RR, "rml": _RML, "ql": _QL, "xsd": XSD, "": base}),
        f"<urn:tidings:mapping:{encoded(cls)}> a rr:TriplesMap ;",
        f"    rml:logicalSource [ {' ; '.join(source)} ] ;",
        f"    rr:subjectMap [ {_subject(sample, key, base)} ; rr:class {_own(cls, base)} ]",
    ]
    for each in sample.fields:
        lines[-1] += " ;"
        target = f"[ {_object(each)} ]"
        lines.append(
            f"    rr:predicateObjectMap [ rr:predicate {_own(names[each.name], base)} ; rr:objectMap {target} ]"
        )
    lines[-1] += " ."
    return "\n".join(lines) + "\n"


def _subject(sample: Sample, key: Field | None, base: str) -> str:
    if key is not None:
        return f"rr:template {_quoted(_brace(base) + '{' + _brace(key.name) + '}')}"
    # No field tells records apart: what they say does, and the nodes have no names.
    always = [each for each in sample.fields if each.records == sample.records and not each.several]
    slots = "/".join("{" + _brace(each.name) + "}" for each in (always or sample.fields)[:8])
    return f"rr:template {_quoted(slots)} ; rr:termType rr:BlankNode"


def _brace(text: str) -> str:
    """Text in a template: braces and backslashes stand for themselves."""
    return re.sub(r"([{}\\])", r"\\\1", text)


def _object(each: Field) -> str:
    reference = f"rml:reference {_quoted(each.name)}"
    if each.is_address:
        return f"{reference} ; rr:termType rr:IRI"
    return f"{reference} ; rr:datatype {_datatype(each.datatype)}" if each.datatype else reference


# ------------------------------------------------------------------------------------------------------------- ontology


def _ontology(sample: Sample, names: dict[str, str], cls: str, base: str) -> str:
    lines = [_ontology_head(base), f"{_own(cls, base)} a owl:Class ; rdfs:label {_quoted(_label(cls))} ."]
    for each in sample.fields:
        kind = "owl:ObjectProperty" if each.is_address else "owl:DatatypeProperty"
        said = [f"{_own(names[each.name], base)} a {kind}", f"rdfs:label {_quoted(each.name)}"]
        said.append(f"rdfs:domain {_own(cls, base)}")
        if not each.is_address:
            said.append(f"rdfs:range {_datatype(each.datatype or f'{XSD}string')}")
        lines.append(" ; ".join(said) + " .")
    return "\n".join(lines) + "\n"


def _ontology_head(base: str) -> str:
    return _prefixes({**{name: PREFIXES[name] for name in ("rdf", "rdfs", "owl", "xsd")}, "": base})


def _prefixes(spaces: dict[str, str]) -> str:
    return "".join(f"@prefix {name}: <{space}> .\n" for name, space in spaces.items())


def _label(name: str) -> str:
    return " ".join(_HUMP.split(name)).lower()


def _converted(sample: bytes, format: str) -> list[Event]:
    problems: list[EventError] = []
    events = list(read(sample, How(), format=format, report=problems.append))
    if not events:
        raise problems[0] if problems else EventError("there is nothing in the sample", source="sample")
    return events


def _ontology_of(events: list[Event], base: str) -> str:
    """The classes and properties of events, with the one class of all their subjects, and of their objects."""
    classes: set[Term] = set()
    domains: defaultdict[Term, list[frozenset[Term]]] = defaultdict(list)
    ranges: defaultdict[Term, list[frozenset[Term]]] = defaultdict(list)
    for event in events:
        types: defaultdict[Term, set[Term]] = defaultdict(set)
        for s, p, o in event.triples():
            if p == RDF_TYPE:
                types[s].add(o)
        classes.update(*types.values())
        for s, p, o in event.triples():
            if p != RDF_TYPE:
                domains[p].append(frozenset(types.get(s, ())))
                literal = Term(f"<{parts(o).datatype}>") if is_literal(o) else None
                ranges[p].append(frozenset(types.get(o, ())) if literal is None else frozenset((literal,)))
    lines = [_ontology_head(base), *(f"{cls} a owl:Class ." for cls in sorted(classes))]
    for property in sorted(domains):
        common = sorted(frozenset.intersection(*domains[property]))[:1]
        targets = sorted(frozenset.intersection(*ranges[property]))[:1]
        kinds = {target in classes for target in frozenset.union(*ranges[property])} or {True}
        kind = {frozenset((True,)): "owl:ObjectProperty", frozenset((False,)): "owl:DatatypeProperty"}
        said = [f"{property} a {kind.get(frozenset(kinds), 'rdf:Property')}"]
        said += [f"rdfs:domain {cls}" for cls in common] + [f"rdfs:range {cls}" for cls in targets]
        lines.append(" ; ".join(said) + " .")
    return "\n".join(lines) + "\n"
