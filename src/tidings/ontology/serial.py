"""An ontology as bytes, and back: JSON of its axioms, the same bytes for the same axioms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from tidings.errors import OntologyError
from tidings.ontology.axioms import Axioms
from tidings.ontology.expressions import Signature
from tidings.ontology.hierarchy import Pair
from tidings.ontology.model import Ontology
from tidings.rdf.terms import Term

_NAMES = ("classes", "properties", "datatypes", "loose_datatypes")
_PAIRS = ("subclasses", "subproperties", "same_classes", "same_properties", "described")


def to_bytes(ontology: Ontology) -> bytes:
    axioms = ontology.axioms
    fields: dict[str, Any] = {name: sorted(getattr(axioms, name)) for name in _NAMES}
    fields |= {name: sorted(getattr(axioms, name)) for name in _PAIRS}
    fields["types"] = {name: sorted(of) for name, of in axioms.types.items()}
    fields["signatures"] = sorted((each.property, each.subjects, each.objects) for each in axioms.signatures)
    return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def of_bytes(data: bytes) -> Ontology:
    """OntologyError where the bytes are not what `to_bytes` gives."""
    try:
        fields = json.loads(data)
        signatures = tuple(Signature(Term(p), _terms(s), _terms(o)) for p, s, o in fields["signatures"])
        types = {Term(name): frozenset(_terms(of)) for name, of in fields["types"].items()}
        read: dict[str, Any] = {name: frozenset(_terms(fields[name])) for name in _NAMES}
        read |= {name: tuple(map(_pair, fields[name])) for name in _PAIRS}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise OntologyError(f"these bytes are no ontology: {error}") from error
    return Ontology(Axioms(**read, types=types, signatures=signatures))


def fingerprint(ontology: Ontology) -> str:
    """The same for ontologies that state the same."""
    return hashlib.sha256(to_bytes(ontology)).hexdigest()


def _terms(names: Iterable[str]) -> tuple[Term, ...]:
    return tuple(map(Term, names))


def _pair(names: Iterable[str]) -> Pair:
    lower, upper = names
    return Term(lower), Term(upper)
