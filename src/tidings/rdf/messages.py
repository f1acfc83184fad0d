"""The parsers' syntax errors in our own words, with their place."""

from __future__ import annotations

import re

from tidings.errors import EventError, Span
from tidings.rdf.sources import Document

_PLACE = re.compile(r"^Parser error (?:at|between) .*?: ", re.DOTALL)
_IRI = re.compile(r"^error while parsing IRI '(.*?)': ")
_TEXT = re.compile(r"^Unexpected text event: '\s*")
_SHOWN = 100_000

NOT_UTF8 = "the text is not UTF-8"
CONVERT = "convert the file first, for instance: iconv -f latin1 -t utf-8"

BASE = "declare a base in the document (@base, xml:base), or give one"

# What the parser says, what we say, and what to do about it.
_WORDS: tuple[tuple[str, str, str | None], ...] = (
    ("Invalid UTF-8", NOT_UTF8, CONVERT),
    ("invalid utf-8", NOT_UTF8, CONVERT),
    ("No scheme found in an absolute IRI", "a relative IRI, and no base IRI to resolve it", BASE),
    (
        "No LoadDocumentCallback",
        "a remote context, which is not fetched",
        "give a local copy of it: --context URL=FILE",
    ),
    ("Unexpected end of file", "the document ends in the middle of a statement", None),
    ("Unexpected end", "the document ends too early", None),
    ("must be followed by a dot", "a statement does not end with a dot", None),
    ("A dot is expected at the end of statements", "a statement does not end with a dot", None),
    ("Line jumps are not allowed in string literals", "a quoted string does not end on its line", None),
    ("line jumps are not allowed in the middle", "a statement does not end on its line", None),
    ("Only a single triple or quad can be written in a line", "more than one statement on a line", None),
)


def in_words(message: str) -> tuple[str, str | None]:
    """The reason and a hint, from the parser's message."""
    text = _PLACE.sub("", message)
    for theirs, ours, hint in _WORDS:
        if theirs in text:
            return ours, hint
    text = _IRI.sub(r"the IRI <\1> is not valid: ", text)
    text = _TEXT.sub(r"text where there may be elements only: ", text)
    first = text.splitlines()[0].rstrip(".") if text else "not well-formed"
    return (first[0].lower() + first[1:] if first[1:2].islower() else first), None


def document_error(document: Document, error: SyntaxError) -> EventError:
    """The error that stands for a whole document in a format not read by line."""
    reason, hint = in_words(str(error.msg))
    span = None
    if error.lineno is not None:
        span = Span(error.lineno, error.offset, source_line(document, error.lineno))
    return EventError(reason, span=span, source=document.name, hint=hint)


def source_line(document: Document, line: int) -> str | None:
    """The text of a line, for the message; None where it cannot be had."""
    if document.once:
        return None
    try:
        with document.open() as stream:
            rest = b""
            while chunk := stream.read(1 << 20):
                count = chunk.count(b"\n")
                if count < line - 1:
                    line -= count
                    continue
                rest = chunk + stream.read(_SHOWN)
                break
    except EventError:
        return None
    lines = rest.split(b"\n", line)
    return lines[line - 1][:_SHOWN].decode("utf-8", "replace").rstrip("\r") if len(lines) >= line else None
