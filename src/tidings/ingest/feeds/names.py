"""The names that feeds get in events: classes and properties, as terms."""

from __future__ import annotations

from tidings.rdf.terms import RDFS, Term, iri

RSS = "http://purl.org/rss/1.0/"
CONTENT = "http://purl.org/rss/1.0/modules/content/"
DC = "http://purl.org/dc/elements/1.1/"
DCTERMS = "http://purl.org/dc/terms/"
ENC = "http://purl.oclc.org/net/rss_2.0/enc#"
FOAF = "http://xmlns.com/foaf/0.1/"
SCHEMA = "http://schema.org/"
AS = "https://www.w3.org/ns/activitystreams#"

ITEM = iri(RSS + "item")
CHANNEL = iri(RSS + "channel")
TITLE = iri(RSS + "title")
LINK = iri(RSS + "link")
DESCRIPTION = iri(RSS + "description")
ENCODED = iri(CONTENT + "encoded")

CREATOR = iri(DC + "creator")
CONTRIBUTOR = iri(DC + "contributor")
SUBJECT = iri(DC + "subject")
LANGUAGE = iri(DC + "language")
RIGHTS = iri(DC + "rights")

CREATOR_NODE = iri(DCTERMS + "creator")
CONTRIBUTOR_NODE = iri(DCTERMS + "contributor")
SUBJECT_NODE = iri(DCTERMS + "subject")
IDENTIFIER = iri(DCTERMS + "identifier")
ISSUED = iri(DCTERMS + "issued")
MODIFIED = iri(DCTERMS + "modified")
CREATED = iri(DCTERMS + "created")
IS_PART_OF = iri(DCTERMS + "isPartOf")
RELATION = iri(DCTERMS + "relation")
REFERENCES = iri(DCTERMS + "references")
HAS_FORMAT = iri(DCTERMS + "hasFormat")
SOURCE = iri(DCTERMS + "source")
LICENSE = iri(DCTERMS + "license")

DOCUMENT = iri(FOAF + "Document")
PICTURE = iri(FOAF + "Image")
AGENT = iri(FOAF + "Agent")
NAME = iri(FOAF + "name")
MBOX = iri(FOAF + "mbox")

COMMENTS = iri(SCHEMA + "discussionUrl")
IMAGE = iri(SCHEMA + "image")

ENCLOSURE = iri(ENC + "enclosure")
ENCLOSURE_CLASS = iri(ENC + "Enclosure")
ENCLOSURE_TYPE = iri(ENC + "type")
ENCLOSURE_LENGTH = iri(ENC + "length")

TOMBSTONE = iri(AS + "Tombstone")
FORMER_TYPE = iri(AS + "formerType")
DELETED = iri(AS + "deleted")

CONCEPT = iri("http://www.w3.org/2004/02/skos/core#Concept")
LABEL = iri(RDFS + "label")

TITLES: tuple[Term, ...] = (
    TITLE,
    iri(DC + "title"),
    iri(DCTERMS + "title"),
    iri(SCHEMA + "name"),
    iri("https://schema.org/name"),
    LABEL,
    iri(AS + "name"),
)
"""Where a title is looked for, the first of them that there is."""
