"""The datatypes of XML Schema as a hierarchy: what a literal's datatype is derived from.

The tree is that of XSD 1.1, part 2: `xsd:byte` under `short`, `int`, `long`, `integer`, `decimal`, `anyAtomicType`,
`anySimpleType`, `anyType`. Above every datatype, of XML Schema or not, stands `rdfs:Literal` (alias `rdf:Literal`).
"""

from __future__ import annotations

from tidings.rdf.terms import RDF, RDFS, XSD, Term, iri

# Each name is derived from the one before the colon.
_DERIVED = """
anyType: anySimpleType
anySimpleType: anyAtomicType IDREFS NMTOKENS ENTITIES
anyAtomicType: anyURI base64Binary boolean date dateTime decimal double duration float gDay gMonth gMonthDay gYear
anyAtomicType: gYearMonth hexBinary NOTATION precisionDecimal QName string time
dateTime: dateTimeStamp
duration: dayTimeDuration yearMonthDuration
decimal: integer
integer: long nonNegativeInteger nonPositiveInteger
long: int
int: short
short: byte
nonNegativeInteger: positiveInteger unsignedLong
unsignedLong: unsignedInt
unsignedInt: unsignedShort
unsignedShort: unsignedByte
nonPositiveInteger: negativeInteger
string: normalizedString
normalizedString: token
token: language Name NMTOKEN
Name: NCName
NCName: ENTITY ID IDREF
"""


def _table() -> dict[str, tuple[str, ...]]:
    ancestors: dict[str, tuple[str, ...]] = {f"{XSD}anyType": ()}
    for line in _DERIVED.strip().splitlines():
        base, names = line.split(": ")
        for name in names.split():
            ancestors[XSD + name] = (XSD + base, *ancestors[XSD + base])
    return ancestors


_ANCESTORS = _table()
_RDF_NAMES = ("langString", "dirLangString", "HTML", "XMLLiteral", "JSON", "PlainLiteral")

LITERAL_CLASSES = (iri(f"{RDFS}Literal"), iri(f"{RDF}Literal"))
"""The classes of every literal."""

DATATYPES = frozenset(map(iri, (*_ANCESTORS, *(RDF + name for name in _RDF_NAMES))))
"""The datatypes that need no declaration."""

XSD_DERIVATIONS = tuple((iri(name), iri(above[0])) for name, above in _ANCESTORS.items() if above)


def xsd_ancestors(datatype_iri: str) -> tuple[str, ...]:
    """What the datatype is derived from, nearest first, without itself; nothing for one that is not XML Schema's.

    >>> [a.rsplit("#")[1] for a in xsd_ancestors("http://www.w3.org/2001/XMLSchema#int")]
    ['long', 'integer', 'decimal', 'anyAtomicType', 'anySimpleType', 'anyType']
    """
    return _ANCESTORS.get(datatype_iri, ())


def is_datatype(term: Term) -> bool:
    """Whether the term names a datatype that needs no declaration: of XML Schema, of RDF, or the top of them."""
    return term in DATATYPES or term in LITERAL_CLASSES
