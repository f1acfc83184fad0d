"""R2RML and RML documents: their graph read into triples maps.

The vocabularies are R2RML's, RML's first one and RML's of today; a name means the same in each. What is not read here
is refused by its name, so that nothing of a mapping is silently left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tidings.errors import EventError
from tidings.ingest.rows.text import is_language
from tidings.rdf.limits import Limits
from tidings.rdf.read import read_triples
from tidings.rdf.terms import RDF_TYPE, Term, iri_text, is_iri, is_literal, parts

RR = "http://www.w3.org/ns/r2rml#"
RML = "http://w3id.org/rml/"
RML_OLD = "http://semweb.mmlab.be/ns/rml#"
QL = "http://semweb.mmlab.be/ns/ql#"
_VOCABULARIES = (RR, RML_OLD, RML)
_CSVW_URL = Term("<http://www.w3.org/ns/csvw#url>")
_NO_BASE = "urn:tidings:mapping:"

_TERM = {"constant", "column", "reference", "template", "termType", "datatype", "language", "inverseExpression"}
_TERM |= {"datatypeMap", "languageMap"}
_KNOWN = {
    "triples map": {"logicalTable", "logicalSource", "subject", "subjectMap", "predicateObjectMap", "baseIRI"},
    "logical source": {"source", "referenceFormulation", "iterator", "tableName", "sqlQuery", "sqlVersion", "query"},
    "source": {"path", "root", "encoding", "compression", "null"},
    "subject map": _TERM | {"class", "graph", "graphMap"},
    "predicate-object map": {"predicate", "predicateMap", "object", "objectMap", "graph", "graphMap"},
    "term map": _TERM,
    "object map": _TERM | {"parentTriplesMap", "joinCondition"},
    "join condition": {"child", "parent", "childMap", "parentMap"},
}


@dataclass(frozen=True, slots=True)
class Source:
    """What records come from: `kind` is csv, jsonl, json, xml or sql; `name` a file or table, or with `query` a query.

    `iterator` is the path of a record in a tree; None where the mapping has none.
    """

    kind: str
    name: str
    query: bool = False
    iterator: str | None = None

    @property
    def is_tree(self) -> bool:
        return self.kind in ("json", "xml")

    def beside(self, other: Source) -> bool:
        """Whether both are the same document, of which they may take other records."""
        return (self.kind, self.name, self.query) == (other.kind, other.name, other.query)


@dataclass(frozen=True, slots=True)
class Spec:
    """A term map as it is written: one of constant, reference and template."""

    constant: Term | None = None
    reference: str | None = None
    template: str | None = None
    kind: str | None = None
    datatype: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Ref:
    """An object that is the subject of another triples map; `joins` are pairs of a child's and a parent's reference."""

    parent: Term
    joins: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TriplesMap:
    name: Term
    source: Source
    subject: Spec
    classes: tuple[Term, ...]
    pairs: tuple[tuple[Spec, Spec | Ref], ...]


def read_mapping(data: bytes, format: str, base: str, limits: Limits, *, trees: bool = False) -> dict[Term, TriplesMap]:
    """The triples maps of a document; an `EventError` that says what is wrong with it, or what is not read.

    With `trees`, JSON is documents, of which an iterator says what is a record, and not lines; and there is XML.
    """
    base = base if base.startswith(("http:", "https:", "file:")) else _NO_BASE
    try:
        graph = _Graph(list(read_triples(data, format=format, base=base, limits=limits)))
    except EventError as error:
        raise EventError(error.reason, span=error.span, source="mapping", hint=error.hint) from error
    found = {node: _triples_map(graph, node, trees) for node in graph.triples_maps()}
    if not found:
        hint = "a triples map has rr:logicalTable or rml:logicalSource"
        raise EventError("has no triples map", source="mapping", hint=hint)
    for each in found.values():
        for _, value in each.pairs:
            if isinstance(value, Ref) and value.parent not in found:
                raise _error(f"{value.parent} is no triples map", each.name)
    return found


class _Graph:
    def __init__(self, triples: list[tuple[Term, Term, Term]]) -> None:
        self._of: dict[Term, dict[str, list[Term]]] = {}
        self._csvw: dict[Term, Term] = {}
        self._types: dict[Term, list[Term]] = {}
        for s, p, o in triples:
            name = _local(p)
            if name is not None:
                self._of.setdefault(s, {}).setdefault(name, []).append(o)
            elif p == _CSVW_URL:
                self._csvw[s] = o
            elif p == RDF_TYPE:
                self._types.setdefault(s, []).append(o)

    def triples_maps(self) -> Iterator[Term]:
        yield from sorted(s for s, of in self._of.items() if "logicalTable" in of or "logicalSource" in of)

    def all(self, node: Term, name: str) -> list[Term]:
        return sorted(self._of.get(node, {}).get(name, []))

    def one(self, node: Term, name: str, what: str) -> Term | None:
        found = self.all(node, name)
        if len(found) > 1:
            raise _error(f"the {what} has {len(found)} of '{name}', and may have one", node)
        return found[0] if found else None

    def text(self, node: Term, name: str, what: str) -> str | None:
        found = self.one(node, name, what)
        if found is not None and not is_literal(found):
            raise _error(f"'{name}' of the {what} is a text, and not {found}", node)
        return None if found is None else parts(found).lexical

    def check(self, node: Term, what: str) -> None:
        for name in self._of.get(node, {}):
            if name not in _KNOWN[what]:
                raise _error(f"'{name}' of a {what} is not read here", node)

    def url(self, node: Term) -> Term | None:
        return self._csvw.get(node)

    def types(self, node: Term) -> list[Term]:
        return self._types.get(node, [])


def _local(predicate: Term) -> str | None:
    text = iri_text(predicate)
    return next((text.removeprefix(each) for each in _VOCABULARIES if text.startswith(each)), None)


def _error(reason: str, node: Term) -> EventError:
    return EventError(f"{node}: {reason}", source="mapping")


def _triples_map(graph: _Graph, node: Term, trees: bool) -> TriplesMap:
    graph.check(node, "triples map")
    constant, written = graph.one(node, "subject", "triples map"), graph.one(node, "subjectMap", "triples map")
    if (constant is None) == (written is None):
        raise _error("a triples map has one subject map", node)
    classes: list[Term] = []
    if written is not None:
        graph.check(written, "subject map")
        _no_graph(graph, written)
        classes = graph.all(written, "class")
    subject = Spec(constant) if written is None else _spec(graph, written, "subject map")
    pairs = [pair for each in graph.all(node, "predicateObjectMap") for pair in _pairs(graph, each)]
    return TriplesMap(node, _source(graph, node, trees), subject, tuple(classes), tuple(pairs))


def _source(graph: _Graph, node: Term, trees: bool) -> Source:
    logical = graph.all(node, "logicalTable") + graph.all(node, "logicalSource")
    if len(logical) != 1:
        raise _error("a triples map has one logical source", node)
    (at,) = logical
    graph.check(at, "logical source")
    table = graph.text(at, "tableName", "logical source")
    query = graph.text(at, "sqlQuery", "logical source") or graph.text(at, "query", "logical source")
    if (table is None) != (query is None):
        return Source("sql", table if query is None else query, query is not None)  # type: ignore[arg-type]
    if table is not None:
        raise _error("a logical source has a table or a query, not both", at)
    formulation = graph.one(at, "referenceFormulation", "logical source")
    kinds = _IN_TREES if trees else _IN_ROWS
    kind = kinds.get(iri_text(formulation).rpartition("#" if "#" in formulation else "/")[2]) if formulation else None
    if kind is None:
        *most, last = kinds
        reason = f"the reference formulation {formulation or '(none)'} is not read here"
        raise _error(f"{reason}: {', '.join(most)} and {last} are", at)
    iterator = graph.text(at, "iterator", "logical source")
    if kind in ("json", "xml"):
        return Source(kind, _source_name(graph, at), iterator=iterator)
    if iterator is not None and (kind == "csv" or iterator not in ("$", "$.", "$[*]", "$.[*]")):
        raise _error(f"the iterator '{iterator}' is not read here: every line is one record", at)
    return Source(kind, _source_name(graph, at))


_IN_ROWS = {"CSV": "csv", "JSONPath": "jsonl"}
_IN_TREES = {"CSV": "csv", "JSONPath": "json", "XPath": "xml"}


def _source_name(graph: _Graph, node: Term) -> str:
    source = graph.one(node, "source", "logical source")
    if source is None:
        raise _error("the logical source has no source", node)
    if is_literal(source):
        return parts(source).lexical
    graph.check(source, "source")
    path = graph.one(source, "path", "source") or graph.url(source)
    if path is None:
        kinds = ", ".join(graph.types(source)) or "no type"
        raise _error(f"a source with {kinds} is not read here: it is a file, by name, rml:path or csvw:url", source)
    return parts(path).lexical if is_literal(path) else iri_text(path)


def _no_graph(graph: _Graph, node: Term) -> None:
    for name in ("graph", "graphMap"):
        for found in graph.all(node, name):
            constant = graph.one(found, "constant", "graph map") if name == "graphMap" else found
            if constant not in (f"<{RR}defaultGraph>", f"<{RML}defaultGraph>"):
                raise _error("graph maps are not read here: the triples of a record are one event, in one graph", node)


def _pairs(graph: _Graph, node: Term) -> Iterator[tuple[Spec, Spec | Ref]]:
    graph.check(node, "predicate-object map")
    _no_graph(graph, node)
    predicates = [Spec(each) for each in graph.all(node, "predicate")]
    for each in graph.all(node, "predicateMap"):
        graph.check(each, "term map")
        predicates.append(_spec(graph, each, "predicate map"))
    objects: list[Spec | Ref] = [Spec(each) for each in graph.all(node, "object")]
    for each in graph.all(node, "objectMap"):
        graph.check(each, "object map")
        objects.append(_ref(graph, each) or _spec(graph, each, "object map"))
    if not predicates or not objects:
        raise _error("a predicate-object map has a predicate and an object", node)
    yield from ((predicate, object_) for predicate in predicates for object_ in objects)


def _ref(graph: _Graph, node: Term) -> Ref | None:
    parent = graph.one(node, "parentTriplesMap", "object map")
    if parent is None:
        return None
    joins = []
    for each in graph.all(node, "joinCondition"):
        graph.check(each, "join condition")
        child, of_parent = _join_side(graph, each, "child"), _join_side(graph, each, "parent")
        joins.append((child, of_parent))
    return Ref(parent, tuple(sorted(joins)))


def _join_side(graph: _Graph, node: Term, name: str) -> str:
    found = graph.text(node, name, "join condition")
    if found is None:
        written = graph.one(node, f"{name}Map", "join condition")
        found = None if written is None else graph.text(written, "reference", f"{name} map")
    if found is None:
        raise _error("a join condition has a child and a parent", node)
    return found


def _spec(graph: _Graph, node: Term, what: str) -> Spec:
    constant = graph.one(node, "constant", what)
    reference = graph.text(node, "reference", what) or graph.text(node, "column", what)
    template = graph.text(node, "template", what)
    if sum(each is not None for each in (constant, reference, template)) != 1:
        raise _error(
            f"a {what} has one of constant, {'reference' if reference else 'column, reference'}, template", node
        )
    kind = graph.one(node, "termType", what)
    datatype = graph.one(node, "datatype", what) or _inner_constant(graph, node, "datatypeMap", what)
    language = graph.text(node, "language", what)
    if language is None:
        inner = _inner_constant(graph, node, "languageMap", what)
        language = None if inner is None else parts(inner).lexical
    if language is not None and not is_language(language):
        raise _error(f"{language!r:.100} is no language", node)
    if datatype is not None and not is_iri(datatype):
        raise _error(f"the datatype {datatype} is no IRI", node)
    of = None if kind is None else iri_text(kind).rpartition("#" if "#" in kind else "/")[2]
    if of not in (None, "IRI", "BlankNode", "Literal"):
        raise _error(f"the term type {kind} is not read here", node)
    return Spec(constant, reference, template, of, None if datatype is None else iri_text(datatype), language)


def _inner_constant(graph: _Graph, node: Term, name: str, what: str) -> Term | None:
    inner = graph.one(node, name, what)
    if inner is None:
        return None
    found = graph.one(inner, "constant", name)
    if found is None:
        raise _error(f"'{name}' is not read here but with a constant", node)
    return found
