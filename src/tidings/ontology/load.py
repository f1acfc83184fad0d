"""Reading the triples of ontology files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tidings.errors import EventError, OntologyError
from tidings.rdf.limits import Limits
from tidings.rdf.terms import Term, Triple, is_blank


def read(path: str | Path, index: int, limits: Limits, contexts: Mapping[str, Path | bytes] | None) -> Iterator[Triple]:
    """The triples of the file; the blank nodes of files with different `index` are different."""
    from tidings.rdf.read import read_triples

    try:
        for s, p, o in read_triples(path, limits=limits, contexts=contexts):
            yield _apart(s, index), p, _apart(o, index)
    except EventError as error:
        raise OntologyError(f"cannot read the ontology: {error}") from error
    except OSError as error:
        raise OntologyError(f"cannot read the ontology: {path}: {error.strerror or error}") from error


def _apart(term: Term, index: int) -> Term:
    return Term(f"_:{index}.{term[2:]}") if is_blank(term) else term
