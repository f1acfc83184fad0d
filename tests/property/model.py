"""The small language of the property tests: terms, patterns and subscriptions as plain data.

Nothing here comes from the package. The generators make these trees, `render` writes them as text for the package's
parser, and the brute-force checks evaluate them directly, so a slip in the parser shows as well as one in a matcher.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
DAML = "http://www.daml.org/2001/03/daml+oil#"
EX = "http://e.x/"


# ---------------------------------------------------------------------------------------------------------------- terms


@dataclass(frozen=True, order=True)
class Iri:
    value: str


@dataclass(frozen=True, order=True)
class Blank:
    label: str


@dataclass(frozen=True, order=True)
class Lit:
    lexical: str
    datatype: str = XSD + "string"
    language: str = ""


RdfTerm: TypeAlias = Iri | Blank | Lit
Statement: TypeAlias = tuple[RdfTerm, Iri, RdfTerm]

TYPE = Iri(RDF + "type")
SUBCLASS = Iri(RDFS + "subClassOf")
SUBPROPERTY = Iri(RDFS + "subPropertyOf")
EQUIVALENT_CLASS = Iri(OWL + "equivalentClass")
EQUIVALENT_PROPERTY = Iri(OWL + "equivalentProperty")
HOME = Blank("H")


def tagged(lexical: str, language: str) -> Lit:
    return Lit(lexical, RDF + "langString", language)


def boolean(value: bool) -> Lit:
    return Lit("true" if value else "false", XSD + "boolean")


def integer(value: int) -> Lit:
    return Lit(str(value), XSD + "integer")


# ------------------------------------------------------------------------------------------------------------- patterns


@dataclass(frozen=True, order=True)
class V:
    """A variable."""

    name: str


@dataclass(frozen=True, order=True)
class Anon:
    """A blank node of a query: a variable that is never projected. Labels that start with `anon` are written `[]`."""

    label: str


@dataclass(frozen=True)
class Star:
    """The wildcard; every occurrence is an object of its own."""

    number: int


Place: TypeAlias = RdfTerm | V | Anon | Star


# paths: ("iri", Iri) ("inv", p) ("seq", p, q) ("alt", p, q) ("*", p) ("+", p) ("?", p) ("not", (Iri…), (Iri…))
PathTree: TypeAlias = tuple[object, ...]


# expressions: a variable, a term, or ("op", argument, …); EXISTS is ("exists" | "not exists", Group) and
# full text ("ft", V, FtTree)
Expression: TypeAlias = "V | Iri | Lit | tuple[object, ...]"

# full text: ("phrase", str) ("and", …) ("or", …) ("not", x) ("near", left, least, most, right)
FtTree: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class Bgp:
    """Triple patterns and paths in a row: (s, p or path, o)."""

    triples: tuple[tuple[Place, Place | PathTree, Place], ...]


@dataclass(frozen=True)
class Filter:
    expr: Expression


@dataclass(frozen=True)
class Optional:
    group: Group


@dataclass(frozen=True)
class Minus:
    group: Group


@dataclass(frozen=True)
class Union:
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Nested:
    group: Group


@dataclass(frozen=True)
class Bind:
    expr: Expression
    var: V


@dataclass(frozen=True)
class Inline:
    """VALUES; None is UNDEF."""

    vars: tuple[V, ...]
    rows: tuple[tuple[RdfTerm | None, ...], ...]


@dataclass(frozen=True)
class InGraph:
    name: Iri | V
    group: Group


@dataclass(frozen=True)
class SubSelect:
    select: Select


Element: TypeAlias = Bgp | Filter | Optional | Minus | Union | Nested | Bind | Inline | InGraph | SubSelect


@dataclass(frozen=True)
class Group:
    elements: tuple[Element, ...]


@dataclass(frozen=True)
class Agg:
    """An aggregate over one variable; `arg` None is COUNT(*)."""

    op: str
    distinct: bool
    arg: V | None


@dataclass(frozen=True)
class Select:
    """A SPARQL query. `columns` None is `SELECT *`; a column is (variable, None, expression or aggregate)."""

    where: Group
    columns: tuple[tuple[V, Expression | Agg | None], ...] | None = None
    distinct: bool = False
    group_by: tuple[V, ...] | None = None
    having: tuple[str, Agg, Lit] | None = None
    limit: int | None = None
    values: Inline | None = None
    form: str = "SELECT"
    template: tuple[tuple[Place, Place, Place], ...] = ()


# ------------------------------------------------------------------------------------------------------ OPS and G-ToPSS


@dataclass(frozen=True)
class OpsArc:
    """`(subject, object, (subject_class, property, object_class) [, filter])`."""

    s: RdfTerm | V
    o: RdfTerm | V
    subject_class: Iri
    property: Iri
    object_class: Iri
    filter: Expression | None = None


@dataclass(frozen=True)
class OpsSubscription:
    arcs: tuple[OpsArc, ...]


@dataclass(frozen=True)
class Check:
    """A G-ToPSS constraint `?var op value`."""

    var: V
    op: str
    value: Iri | Lit


@dataclass(frozen=True)
class GtopssEdge:
    s: RdfTerm | V
    p: Iri | V
    o: RdfTerm | V
    on_s: tuple[Check, ...] = ()
    on_o: tuple[Check, ...] = ()


@dataclass(frozen=True)
class GtopssSubscription:
    edges: tuple[GtopssEdge, ...]


Subscription: TypeAlias = Select | OpsSubscription | GtopssSubscription


@dataclass(frozen=True)
class World:
    """An ontology and one event, as statements."""

    ontology: tuple[Statement, ...] = ()
    event: tuple[Statement, ...] = ()
    event_id: Iri = field(default=Iri("urn:event:1"))
