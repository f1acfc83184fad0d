"""Ontologies: RDFS, OWL and DAML+OIL read into hierarchies that answer by integer, and meta-statements."""

from tidings.ontology.meta import ExtendedStatement, MetaStatement
from tidings.ontology.model import Ontology

__all__ = ["ExtendedStatement", "MetaStatement", "Ontology"]
