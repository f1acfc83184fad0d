"""Turtle and TriG are bounded before the parser sees them."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.rdf.helpers import good, refused

from tidings.errors import EventError
from tidings.rdf.formats import Format
from tidings.rdf.guard import Reader, turtle
from tidings.rdf.limits import Limits
from tidings.rdf.seen import Numbering
from tidings.rdf.sources import Document

DOCUMENT = Document("test", Format.TTL, None, io.BytesIO)


def scanned(data: bytes, size: int, limits: Limits | None = None, labels: Numbering | None = None) -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(turtle(parts, DOCUMENT, limits or Limits(), Numbering() if labels is None else labels))


def nested(depth: int) -> bytes:
    return b"<e:s> <e:p> " + b"[ <e:p> " * depth + b"1" + b" ]" * depth + b" ."


def test_depth() -> None:
    assert len(good(nested(100), format="ttl")) == 1
    error = refused(nested(101), format="ttl")
    assert "100 deep" in error.reason
    assert (error.line, error.column) == (1, 13 + 8 * 100)


@pytest.mark.parametrize("text", ['"{}"', "'{}'", '"""{}"""', "'''{}'''", "<e:{}>", "<e:o> # {}\n"])
def test_brackets_in_strings_iris_and_comments_do_not_count(text: str) -> None:
    data = f"<e:s> <e:p> {text.format('(' * 200)} .".encode()
    assert len(good(data, format="ttl")) == 1


@pytest.mark.parametrize(
    "text",
    [
        '"a\\"("',
        '"""a"b""c\n("""',
        "'''a'b''c\n('''",
        "'a\\'('",
        '""',
        "''",
        '"\\\\"',
        '""""a"""',
    ],
)
def test_quotes_within_quotes(text: str) -> None:
    data = f"<e:s> <e:p> {text} , [ <e:p> {text} ] .".encode()
    assert len(good(data, format="ttl")) == 1


TOKENS = ['"a(b"', "'a)b'", '"""x\ny"z"""', "'''x'\ny'''", "<e:a(>", "# c(\n", "[", "]", "(", ")", "{", "}", " ", "\n"]
TOKENS += ["ex:a\\(b", '""', "''", "_:ab", '"\\""', "1 ", "ex:_:x"]


@given(st.lists(st.sampled_from(TOKENS), max_size=30), st.integers(1, 12))
def test_chunks_make_no_difference(tokens: list[str], size: int) -> None:
    data = " ".join(tokens).encode() + b" "
    assert scanned(data, size) == data
    assert scanned(data, 10_000) == data


@given(st.integers(1, 40))
def test_labels_that_look_generated_are_noted(size: int) -> None:
    label = "a1234567890123456789012345678901"
    labels = Numbering()
    data = f'_:{label} <e:p> "_:b{label[1:]}" , _:short .'.encode()
    scanned(data, size, labels=labels)
    assert label in labels
    assert f"b{label[1:]}" not in labels
    assert len(labels) == 1


@pytest.mark.parametrize("size", [7, 100, 100_000])
@pytest.mark.parametrize("text", ['"{}"', '"""{}"""', "<e:{}>", "# {}\n"])
def test_a_term_that_is_too_large(text: str, size: int) -> None:
    data = b"<e:s> <e:p> 1 .\n" + f"<e:s> <e:p> {text.format('x' * 5000)} .".encode()
    assert scanned(data, size, Limits(max_term=6000)) == data
    if size < 5000:
        with pytest.raises(EventError, match="test:2:13: a term of more than 1000 bytes"):
            scanned(data, size, Limits(max_term=1000))


def test_a_term_that_is_too_large_is_refused_whatever_the_chunks() -> None:
    error = refused(b'<e:s> <e:p> "' + b"x" * 5000 + b'" .', format="ttl", limits=Limits(max_term=1000))
    assert "a term of more than 1000 bytes" in error.reason


@pytest.mark.parametrize("text", ['"open', "'open", '"""open', "'''open\n", "<e:open", '"line\nline"', "<e:a\nb>"])
def test_what_is_not_closed(text: str) -> None:
    error = refused(f"<e:s> <e:p> 1 .\n<e:s> <e:p> {text}".encode(), format="ttl")
    assert "is not closed" in error.reason
    assert (error.line, error.column) == (2, 13)


def test_document_size() -> None:
    data = b"<e:s> <e:p> 1 .\n" * 1000
    assert len(good(data, format="ttl", limits=Limits(max_document=16_000))) == 1
    error = refused(data, format="ttl", limits=Limits(max_document=15_999))
    assert "a document of more than" in error.reason


def test_reader_gives_what_it_was_given() -> None:
    reader = Reader([b"abc", b"", b"de", b"fgh"])
    assert [reader.read(2) for _ in range(5)] == [b"ab", b"c", b"de", b"fg", b"h"]
    assert reader.read(2) == b""
    assert Reader([b"abc", b"de"]).read() == b"abcde"
