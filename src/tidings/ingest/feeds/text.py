"""The bytes of a feed as text, before a parser sees them: decoded, and without its document type declaration.

Feeds say wrong things of their encoding, so several are tried, in an order that depends on nothing but the bytes.
The encodings that are taken by name are those of texts: others (`idna`, `unicode_escape` …) do work that text should
not.
"""

from __future__ import annotations

import codecs
import re

from tidings.errors import EventError
from tidings.rdf.limits import Limits, human

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
)
_MARKERS = (
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
    (b"\x4c\x6f\xa7\x94", "cp037"),
)
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.:-]{0,40})["']""")
DECLARATION = re.compile(r"^\s*<\?xml[^>]*?>")
_ENCODINGS = re.compile(
    r"utf-?8|us-ascii|ascii|iso-?8859-?\d{1,2}|latin-?1|(?:windows|cp)-?(?:125\d|874|93[26]|949|950)|mac-?(?:roman|cyrillic)|macintosh"
    r"|koi8-[rut]|tis-620|shift[_-]?jis|iso-2022-(?:jp|kr)|euc-(?:jp|kr)|gb(?:2312|k|18030)|hz(?:-gb-2312)?|big5(?:-?hkscs)?"
)
_WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "windows-932": "cp932",
    "windows-874": "cp874",
    "macintosh": "mac-roman",
}
_LAST = ("utf-8", "windows-1252", "latin-1")

_PROLOG = re.compile(r"(?:\s++|<\?(?:(?!\?>).)*+\?>|<!--(?:(?!-->).)*+-->)*+", re.DOTALL)
_SUBSET = r"""(?:[^\]"'<]++|"[^"]*+"|'[^']*+'|<!--(?:(?!-->).)*+-->|<\?(?:(?!\?>).)*+\?>|<)*+"""
_DOCTYPE = re.compile(rf"""<!DOCTYPE(?:[^\[>"']++|"[^"]*+"|'[^']*+')*+(?:\[({_SUBSET})\]\s*+)?+>""", re.DOTALL)
_ENTITY = re.compile(r"""<!ENTITY\s+(%\s+)?([^\s"'<>&;%]+)\s+(?:"([^"]*+)"|'([^']*+)'|(SYSTEM|PUBLIC)\b)""")
_MARKUP = r"(?:0*(?:37|38|60)|[xX]0*(?:25|26|3[cC]));"
_SIMPLE = re.compile(rf"(?:[^&<%]++|&#(?!{_MARKUP})(?:[0-9]{{1,7}}|[xX][0-9A-Fa-f]{{1,6}});)*+")
_PREDEFINED = frozenset(("lt", "gt", "amp", "quot", "apos"))
_MAX_ENTITY = 1_024
_MAX_ENTITIES = 1_000
_MAX_FACTOR = 4


def decoded(data: bytes, charset: str | None = None) -> str:
    """The text, in the encoding of its mark, of its server, or of its declaration, if one of these is right."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    declared = _DECLARED.match(data[:1_000])
    wide = next((found for marker, found in _MARKERS if data.startswith(marker)), None)
    for name in (charset, wide, declared[1].decode() if declared else None, *_LAST):
        if name and (known := _known(name, wide)):
            try:
                return data.decode(known)
            except (UnicodeDecodeError, LookupError):
                continue
    return data.decode("latin-1")


def _known(name: str, wide: str | None) -> str | None:
    name = name.strip().strip("\"'").lower()
    if name == wide:
        return name
    return _WIDER.get(name, name) if _ENCODINGS.fullmatch(name) else None


def without_doctype(text: str, source: str, limits: Limits) -> tuple[str, dict[str, str]]:
    """The text without declarations in front, and the entities that it declares: characters and plain words only.

    The declaration is put anew in front of it, with these alone and on as many lines: declarations from elsewhere are
    not fetched, and their entities those of HTML or none. An entity that would be fetched, or is made of others, is an
    `EventError`; so is a document that these make too large.
    """
    text = DECLARATION.sub("", text, count=1)
    prolog = _PROLOG.match(text)
    found = _DOCTYPE.match(text, prolog.end() if prolog else 0)
    if found is None:
        return text, {}
    entities = _entities(found[1] or "", source)
    grown = sum(text.count(f"&{name};") * len(value) for name, value in entities.items())
    if grown > _MAX_FACTOR * len(text) + limits.max_entities:
        raise EventError("the XML entities make the document too large", source=source)
    declared = "".join(f'<!ENTITY {name} "{value.replace(chr(34), "&#34;")}">' for name, value in entities.items())
    doctype = f"<!DOCTYPE feed [{declared}]>" if declared else ""
    return text[: found.start()] + doctype + "\n" * found[0].count("\n") + text[found.end() :], entities


def _entities(subset: str, source: str) -> dict[str, str]:
    entities: dict[str, str] = {}
    for parameter, name, double, single, external in _ENTITY.findall(subset):
        value = double or single
        if name in _PREDEFINED or parameter:
            continue
        if external:
            hint = "write its value into the document"
            raise EventError(f"the external entity &{name}; is not read", source=source, hint=hint)
        if len(value) > _MAX_ENTITY:
            raise EventError(f"the entity &{name}; is larger than {human(_MAX_ENTITY)}", source=source)
        if not _SIMPLE.fullmatch(value):
            raise EventError(
                f"the entity &{name}; holds markup or other entities, which is not supported", source=source
            )
        entities.setdefault(name, value)
        if len(entities) > _MAX_ENTITIES:
            raise EventError(f"more than {_MAX_ENTITIES:,} XML entities", source=source)
    return entities
