"""RDFa 1.1 of a page, as pyRdfa finds it: no vocabulary is fetched, no RDF that is embedded in other ways is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import rdflib
from pyRdfa import Options, pyRdfa

from tidings.errors import EventError
from tidings.ingest.logs import quiet
from tidings.ingest.trees.naming import is_valid
from tidings.rdf.terms import Term, Triple, iri, literal

_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_NOT_IN_IRI = re.compile(r"[\x00-\x20<>\"{}|\\^`]")
_USES = "http://www.w3.org/ns/rdfa#usesVocabulary"
_lock = Lock()


def triples(dom: Any, base: str, name: str) -> list[Triple]:
    """The triples of a page; an `EventError` where pyRdfa cannot go on."""
    for element in list(dom.getElementsByTagName("base")):
        element.parentNode.removeChild(element)  # it is in `base` already, and pyRdfa does not resolve it
    options = Options(embedded_rdf=False, vocab_expansion=False)
    options.set_host_language("text/html")
    try:
        with _as_written(), quiet("rdflib"):
            graph = pyRdfa(options, base=base, media_type="text/html").graph_from_DOM(dom)
    except Exception as error:  # on odd pages pyRdfa may end in nearly any exception
        raise EventError(f"its RDFa cannot be read: {type(error).__name__}: {error}", source=name) from error
    return list(_terms(graph))


@contextmanager
def _as_written() -> Iterator[None]:
    """rdflib rewrites the text of literals unless it is told not to, which it can be for all of the process only."""
    with _lock:
        before = rdflib.NORMALIZE_LITERALS
        rdflib.NORMALIZE_LITERALS = False
        try:
            yield
        finally:
            rdflib.NORMALIZE_LITERALS = before


def _terms(graph: rdflib.Graph) -> Iterator[Triple]:
    labels: dict[str, Term] = {}
    for triple in graph:
        s, p, o = (_term(node, labels) for node in triple)
        if s is not None and p is not None and o is not None and str(triple[1]) != _USES:
            yield s, p, o


def _term(node: Any, labels: dict[str, Term]) -> Term | None:
    """The node as a term; None for an IRI that is none."""
    if isinstance(node, rdflib.BNode):
        return labels.setdefault(str(node), Term(f"_:r{len(labels)}"))
    if isinstance(node, rdflib.Literal):
        if node.language and _LANGUAGE.fullmatch(node.language):
            return literal(str(node), language=node.language)
        datatype = str(node.datatype) if node.datatype is not None else None
        return literal(str(node), datatype if datatype is None or is_valid(datatype) else None)
    text = _NOT_IN_IRI.sub(lambda m: f"%{ord(m[0]):02X}", str(node))
    return iri(text) if is_valid(text) else None
