"""Terms: an RDF term is its canonical N-Triples text.

`<http://e.x/a>`, `"text"`, `"text"@en`, `"5"^^<http://www.w3.org/2001/XMLSchema#integer>`, `_:b`. Two terms are the
same exactly when their texts are, which is what term equality means (values are another matter: `rdf.values`).
So a term hashes, compares and sorts as a string, an event's triples are lines of text, and the bytes a kernel scans
are the same ones a reader sees.

Canonical means: the escapes of canonical N-Triples and no others, `^^xsd:string` left out, language tags in lower case.
"""

from __future__ import annotations

import re
from functools import lru_cache
from json.encoder import encode_basestring
from typing import NamedTuple, NewType, TypeAlias

import pyoxigraph as ox

Term = NewType("Term", str)
Triple: TypeAlias = tuple[Term, Term, Term]

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
DAML = "http://www.daml.org/2001/03/daml+oil#"

RDF_TYPE = Term(f"<{RDF}type>")
SUBCLASS_OF = Term(f"<{RDFS}subClassOf>")
HOME = Term("_:H")

XSD_STRING = f"{XSD}string"
XSD_BOOLEAN = f"{XSD}boolean"
XSD_INTEGER = f"{XSD}integer"
XSD_DECIMAL = f"{XSD}decimal"
XSD_FLOAT = f"{XSD}float"
XSD_DOUBLE = f"{XSD}double"
XSD_DATETIME = f"{XSD}dateTime"
RDF_LANGSTRING = f"{RDF}langString"


class Parts(NamedTuple):
    """What a literal is made of. `datatype` is always there: xsd:string or rdf:langString where not written."""

    lexical: str
    datatype: str
    language: str | None


_ESCAPES = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\"}
_NEEDS_ESCAPE = re.compile(r'[\x00-\x1f"\\\x7f\ufffe\uffff]')
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_UNESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
# IRIs may hold any white space but the ASCII one, so a space, and only a space, ends a term.
_LINE = re.compile(r'([^ ]+) ([^ ]+) ("[^"\\]*+(?:\\.[^"\\]*+)*+"[^ ]*|[^ ]+) \.\n?', re.DOTALL)


# Longer literals are taken apart again rather than kept.
_SHORT = 256


def iri(text: str) -> Term:
    """The IRI `text`, which must be a valid absolute IRI without brackets."""
    return Term(f"<{text}>")


def blank(label: str) -> Term:
    return Term(f"_:{label}")


def literal(lexical: str, datatype: str | None = None, language: str | None = None) -> Term:
    """A literal; without datatype and language a plain string."""
    quoted = f'"{escape(lexical)}"'
    if language is not None:
        return Term(f"{quoted}@{language.lower()}")
    if datatype is None or datatype == XSD_STRING:
        return Term(quoted)
    return Term(f"{quoted}^^<{datatype}>")


def is_iri(term: Term) -> bool:
    return term[0] == "<"


def is_blank(term: Term) -> bool:
    return term[0] == "_"


def is_literal(term: Term) -> bool:
    return term[0] == '"'


def iri_text(term: Term) -> str:
    """The IRI without its brackets."""
    return term[1:-1]


def parts(term: Term) -> Parts:
    """The lexical form, datatype and language of a literal."""
    return _short_parts(term) if len(term) <= _SHORT else _parts(term)


def _parts(term: Term) -> Parts:
    end = term.rindex('"')
    lexical = unescape(term[1:end])
    rest = term[end + 1 :]
    if not rest:
        return Parts(lexical, XSD_STRING, None)
    if rest[0] == "@":
        return Parts(lexical, RDF_LANGSTRING, rest[1:])
    return Parts(lexical, rest[3:-1], None)


_short_parts = lru_cache(maxsize=65_536)(_parts)


def escape(text: str) -> str:
    """The inside of a quoted literal, canonically escaped."""
    if not _NEEDS_ESCAPE.search(text):
        return text
    # JSON escapes the same, many times as fast, but for what is rare: other control characters, and these three.
    quoted = encode_basestring(text)
    if "\\u" in quoted or "\x7f" in quoted or "\ufffe" in quoted or "\uffff" in quoted:
        return _NEEDS_ESCAPE.sub(lambda m: _ESCAPES.get(m[0]) or f"\\u{ord(m[0]):04X}", text)
    return quoted[1:-1]


def unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPED.sub(_unescape_one, text)


def _unescape_one(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _UNESCAPES.get(match[3], match[3])


def parse_triple(line: str) -> Triple:
    """The triple on one line of canonical N-Triples, as the package itself writes it."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"not a line of canonical N-Triples: {line!r}")
    return Term(match[1]), Term(match[2]), Term(match[3])


def split_triple(line: str) -> Triple:
    """The same, in a fraction of the time, of a line with its newline that is surely one."""
    subject, predicate, rest = line.split(" ", 2)
    return Term(subject), Term(predicate), Term(rest[:-3])


def format_triple(triple: Triple) -> str:
    """One line of canonical N-Triples, with its newline."""
    return f"{triple[0]} {triple[1]} {triple[2]} .\n"


def to_oxigraph(term: Term) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    if is_iri(term):
        return ox.NamedNode(iri_text(term))
    if is_blank(term):
        return ox.BlankNode(term[2:])
    lexical, datatype, language = parts(term)
    if language is not None:
        return ox.Literal(lexical, language=language)
    return ox.Literal(lexical, datatype=ox.NamedNode(datatype))


def to_json(term: Term) -> dict[str, str]:
    """The term as in the SPARQL 1.1 JSON results format."""
    if is_iri(term):
        return {"type": "uri", "value": iri_text(term)}
    if is_blank(term):
        return {"type": "bnode", "value": term[2:]}
    lexical, datatype, language = parts(term)
    result = {"type": "literal", "value": lexical}
    if language is not None:
        result["xml:lang"] = language
    elif datatype != XSD_STRING:
        result["datatype"] = datatype
    return result
