"""The RDF formats: by name, by file extension, by media type."""

from __future__ import annotations

from enum import Enum
from pathlib import PurePath

import pyoxigraph as ox

from tidings.errors import UsageError


class Format(Enum):
    NT = "nt"
    NQ = "nq"
    TTL = "ttl"
    TRIG = "trig"
    RDF = "rdf"
    JSONLD = "jsonld"

    @property
    def oxigraph(self) -> ox.RdfFormat:
        return _OXIGRAPH[self]

    @property
    def media_type(self) -> str:
        return self.oxigraph.media_type

    @property
    def by_line(self) -> bool:
        """Every line stands for itself, so a broken one does not cost the others."""
        return self in (Format.NT, Format.NQ)

    @property
    def has_graphs(self) -> bool:
        return self in (Format.NQ, Format.TRIG, Format.JSONLD)

    @staticmethod
    def of(name: str | Format) -> Format:
        """The format of that name; the usual names of other tools are understood."""
        if isinstance(name, Format):
            return name
        key = name.lower().lstrip(".").replace("-", "").replace("_", "").replace("/", "")
        if key not in _NAMES:
            known = ", ".join(f.value for f in Format)
            raise UsageError(f"'{name}' is no RDF format; the formats are {known}")
        return _NAMES[key]

    @staticmethod
    def of_path(path: str | PurePath) -> Format | None:
        """By extension, below `.gz` or `.zst`; None where the extension is unknown."""
        suffixes = [s.lower() for s in PurePath(path).suffixes]
        while suffixes and suffixes[-1] in COMPRESSED:
            suffixes.pop()
        return _EXTENSIONS.get(suffixes[-1]) if suffixes else None

    @staticmethod
    def of_media_type(media_type: str) -> Format | None:
        """By media type, parameters ignored."""
        return _MEDIA_TYPES.get(media_type.partition(";")[0].strip().lower())


COMPRESSED = (".gz", ".zst")

_OXIGRAPH = {
    Format.NT: ox.RdfFormat.N_TRIPLES,
    Format.NQ: ox.RdfFormat.N_QUADS,
    Format.TTL: ox.RdfFormat.TURTLE,
    Format.TRIG: ox.RdfFormat.TRIG,
    Format.RDF: ox.RdfFormat.RDF_XML,
    Format.JSONLD: ox.RdfFormat.JSON_LD,
}

_NAMES = {f.value: f for f in Format} | {
    "ntriples": Format.NT,
    "nquads": Format.NQ,
    "turtle": Format.TTL,
    "rdfxml": Format.RDF,
    "xml": Format.RDF,
    "json": Format.JSONLD,
}

_EXTENSIONS = {
    ".nt": Format.NT,
    ".nq": Format.NQ,
    ".ttl": Format.TTL,
    ".trig": Format.TRIG,
    ".rdf": Format.RDF,
    ".owl": Format.RDF,
    ".xml": Format.RDF,
    ".jsonld": Format.JSONLD,
    ".json": Format.JSONLD,
}

EXTENSIONS = tuple(_EXTENSIONS)

_MEDIA_TYPES = {
    "application/n-triples": Format.NT,
    "application/n-quads": Format.NQ,
    "text/turtle": Format.TTL,
    "application/x-turtle": Format.TTL,
    "application/trig": Format.TRIG,
    "application/rdf+xml": Format.RDF,
    "application/xml": Format.RDF,
    "text/xml": Format.RDF,
    "application/ld+json": Format.JSONLD,
    "application/json": Format.JSONLD,
}
