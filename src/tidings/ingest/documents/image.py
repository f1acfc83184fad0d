"""Images to events: the XMP packet of a JPEG, PNG, TIFF or WebP file, and how large the picture is.

Pillow reads the headers and no pixel. Of `How` it uses `base`, `classes` and `home`. A PNG that has its packet behind
the pixels, and the part of a packet that a JPEG has beyond 64 KiB, are not looked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pyarrow as pa
from PIL import Image, UnidentifiedImageError

from tidings.errors import EventError
from tidings.ingest.base import How, Input, Report
from tidings.ingest.documents.about import Document, described, event, opened
from tidings.ingest.documents.xmp import triples as xmp_triples
from tidings.ingest.logs import quiet
from tidings.rdf.limits import MIB, human
from tidings.rdf.terms import XSD_INTEGER, Triple, iri, literal

_FORMATS = ("JPEG", "PNG", "TIFF", "WEBP")
_EXIF = "http://www.w3.org/2003/12/exif/ns#"
_LARGEST_PACKET = 16 * MIB


def convert(input: Input, how: How, report: Report) -> Iterator[pa.RecordBatch]:
    try:
        with opened(input, how, how.limits.max_document) as document:
            triples, packet = _headers(document)
            try:
                triples += _packet(packet, document, how)
            except EventError as error:
                report(error)
            yield from event(document, triples, how)
    except EventError as error:
        report(error)


def _headers(document: Document) -> tuple[list[Triple], object]:
    """What the headers say, and the packet."""
    try:
        with warnings.catch_warnings(), quiet("PIL"):
            warnings.simplefilter("ignore")
            with Image.open(document.file, formats=_FORMATS) as image:
                media_type = Image.MIME[image.format or ""]
                (width, height), packet = image.size, image.info.get("xmp")
    except UnidentifiedImageError:
        raise EventError("is no JPEG, PNG, TIFF or WebP image", source=document.name) from None
    except Exception as error:  # on a broken or hostile file Pillow may end in nearly any exception
        raise EventError(f"is no image that can be read: {error}", source=document.name) from error
    triples = described(document, media_type, "Image")
    for name, number in (("width", width), ("height", height)):
        triples.append((document.subject, iri(_EXIF + name), literal(str(number), XSD_INTEGER)))
    return triples, packet


def _packet(packet: object, document: Document, how: How) -> list[Triple]:
    if isinstance(packet, str):
        packet = packet.encode()
    if not isinstance(packet, bytes) or not packet:
        return []
    if len(packet) > _LARGEST_PACKET:
        raise EventError(f"an XMP packet of more than {human(_LARGEST_PACKET)}", source=document.name)
    return xmp_triples(packet, document, how.limits)
