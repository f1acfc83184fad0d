"""XMP and the rest of what PDF files and images say of themselves."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import pytest
from tests.unit.ingest.support import converted, events, given, problem

from tidings.rdf.strict import flaw

pytest.importorskip("pypdf")
Image = pytest.importorskip("PIL.Image")

XMP = b"""<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about=""><dc:title><rdf:Alt><rdf:li xml:lang="x-default">Sunset</rdf:li></rdf:Alt></dc:title>
<dc:rights>mine</dc:rights></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""
ADDRESS = "http://e.x/doc"
RIGHTS = f'<{ADDRESS}> <http://purl.org/dc/elements/1.1/rights> "mine" .'
XSD = "http://www.w3.org/2001/XMLSchema#"


def picture(kind: str, packet: bytes = XMP) -> bytes:
    from PIL import TiffImagePlugin
    from PIL.PngImagePlugin import PngInfo

    options: dict[str, Any] = {"xmp": packet}
    if kind == "PNG":
        text = PngInfo()
        text.add_itxt("XML:com.adobe.xmp", packet.decode(), zip=True)
        options = {"pnginfo": text}
    if kind == "TIFF":
        tags = TiffImagePlugin.ImageFileDirectory_v2()
        tags[700] = packet
        tags.tagtype[700] = 1
        options = {"tiffinfo": tags}
    out = io.BytesIO()
    Image.new("RGB", (4, 3)).save(out, kind, **options)
    return out.getvalue()


def portable(packet: bytes | None = XMP, **information: str) -> bytes:
    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(10, 10)
    writer.add_metadata({f"/{name}": text for name, text in information.items()})
    if packet is not None:
        writer.xmp_metadata = packet
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def body(data: bytes, format: str, **how: Any) -> str:
    [event] = events(given(data, address=ADDRESS), format, **how)
    return event.body


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [("JPEG", "image/jpeg"), ("PNG", "image/png"), ("TIFF", "image/tiff"), ("WEBP", "image/webp")],
)
def test_images(kind: str, media_type: str) -> None:
    text = body(picture(kind), "image")
    assert RIGHTS in text
    assert '"Sunset"@x-default' in text
    assert f'<{ADDRESS}> <http://purl.org/dc/terms/format> "{media_type}" .' in text
    assert f'<{ADDRESS}> <http://www.w3.org/2003/12/exif/ns#width> "4"^^<{XSD}integer> .' in text
    assert "<http://xmlns.com/foaf/0.1/Image>" in text


def test_pdf() -> None:
    text = body(portable(Title="T", Author="Me", CreationDate="D:20200102030405+01'00'", Keywords=" "), "pdf")
    assert RIGHTS in text
    for part in (
        f'<{ADDRESS}> <http://purl.org/dc/terms/title> "T" .',
        f'<{ADDRESS}> <http://purl.org/dc/terms/creator> "Me" .',
        f'<{ADDRESS}> <http://purl.org/dc/terms/created> "2020-01-02T03:04:05+01:00"^^<{XSD}dateTime> .',
        f'<{ADDRESS}> <http://schema.org/numberOfPages> "1"^^<{XSD}integer> .',
        f'<{ADDRESS}> <http://purl.org/dc/terms/format> "application/pdf" .',
    ):
        assert part in text
    assert "Keywords" not in text


def test_a_document_without_an_address_is_called_by_its_bytes() -> None:
    data = picture("PNG")
    [one] = events(data, "image", base="urn:tidings:data:")
    assert "<urn:tidings:document:sha256:" in one.body
    assert [one] == events(data, "image", base="urn:tidings:data:")


def test_events_are_well_formed_with_home() -> None:
    [event] = events(picture("JPEG"), "image", home=True)
    assert flaw(event.triples()) is None


def test_names_that_old_writers_made_up_are_the_document() -> None:
    packet = XMP.replace(b'rdf:about=""', b'rdf:about="uuid:faf5bdd5-ba3d-11da-ad31-d33d75182f1b"')
    assert RIGHTS in body(picture("JPEG", packet), "image")


@pytest.mark.parametrize(
    ("packet", "said"),
    [
        (XMP.replace(b"</dc:rights>", b""), "XMP that is not well-formed: mismatched tag"),
        (b"<a/>", "an XMP packet without rdf:RDF"),
        (b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + XMP[XMP.index(b"<x:") :], "has no document type"),
        (XMP.replace(b"rdf:about", b'rdf:ID="a" rdf:about'), "the XMP packet: "),
    ],
)
def test_a_packet_that_cannot_be_read_costs_itself(packet: bytes, said: str) -> None:
    [event], [error] = converted(given(picture("JPEG", packet), address=ADDRESS), "image")
    assert "rights" not in event.body
    assert said in str(error)


@pytest.mark.parametrize(
    ("data", "format", "said"),
    [
        (b"", "pdf", "is no PDF that can be read"),
        (b"%PDF-1.7 nonsense", "pdf", "is no PDF that can be read"),
        (b"", "image", "is no JPEG, PNG, TIFF or WebP image"),
        (b"GIF89a nonsense", "image", "is no JPEG, PNG, TIFF or WebP image"),
    ],
)
def test_what_is_none(data: bytes, format: str, said: str) -> None:
    assert said in problem(data, format)


# --------------------------------------------------------------------------------------------------------------- bombs


def test_a_stream_of_a_pdf_does_not_grow_without_bound() -> None:
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, NameObject

    stream = DecodedStreamObject()
    stream.set_data(b" " * (40 << 20))
    writer = PdfWriter()
    writer.add_blank_page(10, 10)
    writer.root_object[NameObject("/Metadata")] = writer._add_object(stream.flate_encode())
    out = io.BytesIO()
    writer.write(out)
    assert len(out.getvalue()) < 100_000
    [event], [error] = converted(out.getvalue(), "pdf")
    assert "numberOfPages" in event.body
    assert "its XMP packet cannot be read: Limit reached while decompressing" in str(error)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, *more: bytes) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(b"\x00" * 100))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(more) + pixels + chunk(b"IEND", b"")


def test_an_image_of_too_many_pixels_is_refused() -> None:
    assert "is no image that can be read" in problem(png(100_000, 100_000), "image")


def test_a_packet_of_a_png_does_not_grow_without_bound() -> None:
    text = b"XML:com.adobe.xmp\x00\x01\x00\x00\x00" + zlib.compress(b"<" * (40 << 20), 9)
    found, errors = converted(png(4, 3, chunk(b"iTXt", text)), "image")
    assert all("rights" not in event.body for event in found)
    assert len(found) + len(errors) >= 1


def test_entities_in_a_packet_do_not_explode() -> None:
    declared = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    packet = f'<!DOCTYPE x [<!ENTITY e0 "x">{declared}]><x>&e11;</x>'.encode()
    _, [error] = converted(picture("JPEG", packet), "image")
    assert "has no document type" in str(error)
