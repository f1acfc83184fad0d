"""RDF/XML: entities that cannot explode, encodings, depth, and a place for every error."""

from __future__ import annotations

import pytest
from tests.unit.rdf.helpers import RDF_NS, good, refused

from tidings.rdf.limits import Limits


def document(text: str, head: str = "") -> str:
    return f'{head}<rdf:RDF {RDF_NS} xmlns:e="e:"><rdf:Description rdf:about="e:s">{text}</rdf:Description></rdf:RDF>'


def doctype(*declarations: str) -> str:
    return f"<?xml version='1.0'?>\n<!DOCTYPE rdf:RDF [\n{''.join(declarations)}\n]>\n"


def entity(name: str, value: str) -> str:
    return f'<!ENTITY {name} "{value}">'


def body(text: str, head: str = "") -> str:
    return good(document(text, head).encode(), format="rdf")[0].body


OWL = "http://www.w3.org/2002/07/owl#"


def test_ordinary_entities_work() -> None:
    head = doctype(f"<!ENTITY owl '{OWL}'>", entity("e", "e:"), "<!-- ]> -->", "<!ELEMENT x (#PCDATA)>")
    text = '<e:p rdf:resource="&owl;Class"/><e:p>&e;x &owl;</e:p>'
    assert body(text, head) == f'<e:s> <e:p> "e:x {OWL}" .\n<e:s> <e:p> <{OWL}Class> .\n'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a&#38;#60;b", "a<b"),
        ("a&#38;#38;b", "a&b"),
        ("a&#62;b", "a>b"),
        ("a'b", "a'b"),
        ("&#xe9;", "é"),
        ("&#38;quot;", '\\"'),
    ],
)
def test_characters_in_entities(value: str, text: str) -> None:
    assert body("<e:p>&x;</e:p>", doctype(entity("x", value))) == f'<e:s> <e:p> "{text}" .\n'


def test_entities_within_entities() -> None:
    head = doctype(entity("b", "[&a;]"), entity("a", "x"), entity("c", "&b;&b;"))
    assert body("<e:p>&c;</e:p>", head) == '<e:s> <e:p> "[x][x]" .\n'


def test_the_first_declaration_counts() -> None:
    assert body("<e:p>&a;</e:p>", doctype(entity("a", "1"), entity("a", "2"))) == '<e:s> <e:p> "1" .\n'


def test_a_declaration_of_a_predefined_entity_changes_nothing() -> None:
    assert body("<e:p>&lt;</e:p>", doctype(entity("lt", "&#38;#60;"))) == '<e:s> <e:p> "<" .\n'


def test_a_document_type_with_an_external_subset_is_not_fetched() -> None:
    head = '<!DOCTYPE rdf:RDF PUBLIC "-//x" "http://e.x/x.dtd">'
    assert body("<e:p>1</e:p>", head) == '<e:s> <e:p> "1" .\n'


def laughs(levels: int = 9) -> str:
    nested = "".join(entity(f"l{i}", f"&l{i - 1};" * 10) for i in range(1, levels + 1))
    return doctype(entity("l0", "lol"), nested)


CHAIN = doctype(*(entity(f"c{i}", f"&c{i + 1};") for i in range(5000)), entity("c5000", "x"))


@pytest.mark.parametrize(
    ("head", "text", "says"),
    [
        (laughs(), "<e:p>&l9;</e:p>", "grows to more than"),
        (doctype(entity("a", "&b;"), entity("b", "&a;")), "<e:p>&a;</e:p>", "refers to itself"),
        (doctype(entity("a", "x" * 5000)), "<e:p>&a;</e:p>", "larger than 4 KiB"),
        (CHAIN, "<e:p>&c0;</e:p>", "through too many others"),
        (doctype('<!ENTITY a SYSTEM "file:///etc/passwd">'), "<e:p>&a;</e:p>", "external entity &a;"),
        (doctype('<!ENTITY % a "b">'), "<e:p/>", "parameter entity %a;"),
        (doctype(entity("a", "<e:p>1</e:p>")), "&a;", "holds markup"),
        (doctype(entity("a", "x" * 4000)), "<e:p>&a;</e:p>" * 30_000, "too large"),
        (doctype(entity("a", "x" * 4000)), f"<e:p>{'&a;' * 30_000}</e:p>", "term of more than"),
        (doctype(entity("a", "&undeclared;")), "<e:p>&a;</e:p>", "&undeclared;"),
        ("", "<e:p>&a;</e:p>", "undefined entity"),
    ],
    ids=lambda value: value if len(value) < 30 else "",
)
def test_entities_that_are_refused(head: str, text: str, says: str) -> None:
    error = refused(document(text, head).encode(), format="rdf")
    assert says in error.reason
    assert error.line is not None


def test_depth() -> None:
    def nested(depth: int) -> bytes:
        return document("<e:p><rdf:Description>" * depth + "</rdf:Description></e:p>" * depth).encode()

    assert len(good(nested(49), format="rdf")) == 1
    assert "100 deep" in refused(nested(50), format="rdf").reason


def test_a_term_that_is_too_large() -> None:
    limits = Limits(max_term=1000)
    for text in (f"<e:p>{'x' * 1001}</e:p>", f'<e:p rdf:resource="e:{"x" * 1000}"/>', f'<e:p e:q="{"x" * 1001}"/>'):
        error = refused(document(text).encode(), format="rdf", limits=limits)
        assert "term of more than 1000 bytes" in error.reason


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16", "windows-1252", "us-ascii", "utf-8"])
def test_declared_encodings(encoding: str) -> None:
    text = "é" if encoding != "us-ascii" else "e"
    data = document(f"<e:p>{text}</e:p>", f'<?xml version="1.0" encoding="{encoding}"?>\n').encode(encoding)
    assert good(data, format="rdf")[0].body == f'<e:s> <e:p> "{text}" .\n'


def test_encodings_that_are_none_or_not_kept() -> None:
    head = '<?xml version="1.0" encoding="{}"?>'
    assert "not known" in refused(document("", head.format("rot13")).encode(), format="rdf").reason
    assert "not known" in refused(document("", head.format("zip")).encode(), format="rdf").reason
    wrong = document("<e:p>é</e:p>", head.format("us-ascii")).encode("latin-1")
    assert "as it declares" in refused(wrong, format="rdf").reason
    assert refused(document("<e:p>é</e:p>").encode("latin-1"), format="rdf").reason == "the text is not UTF-8"


def test_every_error_has_a_line() -> None:
    for bad in ('<e:p rdf:resource="x y"/>', "<rdf:li/><rdf:RDF/>", "\n\n\ntext", '<e:p rdf:ID="x y"/>', "<x/>"):
        error = refused(document(f"\n<e:p>1</e:p>\n{bad}").encode(), format="rdf", base="http://e.x/")
        assert error.line in (3, 6)


def test_rdf_1_2_is_refused() -> None:
    for text in ('<e:p rdf:parseType="Triple"/>', '<e:p rdf:annotation="e:a">1</e:p>'):
        assert "RDF 1.2" in refused(document(text).encode(), format="rdf").reason
