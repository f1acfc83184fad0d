"""What goes to the workers, and comes out there."""

from __future__ import annotations

import pickle

from tidings.ontology import Ontology
from tidings.rdf.limits import Limits
from tidings.rdf.terms import SUBCLASS_OF, iri
from tidings.spark.reading import Reading


def test_how_to_read_is_the_same_elsewhere() -> None:
    plain = Reading("nq", "subject", True, True, Limits(max_triples=7), {})
    assert pickle.loads(pickle.dumps(plain)) == plain


def test_an_ontology_is_made_once_in_a_worker() -> None:
    ontology = Ontology.of([(iri("http://e/B"), SUBCLASS_OF, iri("http://e/A"))])
    sent = pickle.dumps(Reading(validate=ontology))
    first, second = pickle.loads(sent), pickle.loads(sent)
    assert first.validate is second.validate
    assert first.validate.is_subclass(iri("http://e/B"), iri("http://e/A"))
