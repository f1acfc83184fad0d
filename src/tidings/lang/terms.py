"""Terms in subscription text: prefixes, IRIs and their resolution, literals. The same in all three dialects."""

from __future__ import annotations

import difflib
import re

import pyoxigraph as ox

from tidings.lang.lexer import MAX_WRITTEN, Tokens
from tidings.rdf.terms import (
    DAML,
    OWL,
    RDF,
    RDFS,
    XSD,
    XSD_BOOLEAN,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_INTEGER,
    Term,
    escape,
    iri_text,
    literal,
)

NUMBERS = {"integer": XSD_INTEGER, "decimal": XSD_DECIMAL, "double": XSD_DOUBLE}
LITERALS = frozenset(["string", "TRUE", "FALSE", *NUMBERS])
"""The kinds of token a literal begins with."""
_NAMES = ("iri", "pname", "var", "blank")
MAX_DIGITS = 18
"""Of a number that counts something: a limit, an offset, a distance."""

_WELL_KNOWN = {
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "xsd": XSD,
    "daml": DAML,
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "dbr": "http://dbpedia.org/resource/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dct": "http://purl.org/dc/terms/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "schema": "https://schema.org/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
}
_CODE_POINT = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_UNESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", "\\": "\\", '"': '"', "'": "'"}
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


class TermParser(Tokens):
    """The terms of a text, under the prefixes and the base IRI it declares."""

    def __init__(self, text: str, source: str | None = None, base: str | None = None) -> None:
        super().__init__(text, source)
        self.prefixes: dict[str, str] = {}
        self.base = base
        self._known: dict[str, Term] = {}

    # -------------------------------------------------------------------------------------------------------- prologue

    def prologue(self) -> None:
        """`PREFIX` and `BASE` declarations, as many as there are; a prefix may be declared again."""
        while (kind := self.kinds[self.i]) in ("PREFIX", "BASE"):
            self.i += 1
            if kind == "PREFIX":
                name = self.expect("pname")
                if not name.endswith(":") or name.count(":") > 1:
                    raise self.error(f"expected a prefix such as 'ex:', found '{name}'", at=self.i - 1)
                self.prefixes[name[:-1]] = self._declared()
            else:
                self.base = self._declared()
            self._known.clear()

    def check_written(self) -> None:
        """Whoever writes the subscription out needs its names again and again, prefixes in full: that is bounded."""
        self.prologue()
        declared = max(map(len, (self.base or "", *self.prefixes.values())))
        if (declared + max(map(len, self.texts))) * len(self.texts) <= MAX_WRITTEN:
            return
        names = [len(text) for text, kind in zip(self.texts, self.kinds, strict=True) if kind in _NAMES]
        longest = declared + max(names, default=0)
        if longest * len(self.texts) > MAX_WRITTEN:
            reason = f"names of up to {longest} characters in a text of {len(self.texts)} words and signs are too much"
            raise self.error(reason, at=0, hint="shorten the names, or make several subscriptions of it")

    def _declared(self) -> str:
        if self.kinds[self.i] != "iri":
            raise self.unexpected("an IRI in angle brackets")
        return iri_text(self.iri())

    # ------------------------------------------------------------------------------------------------------------ IRIs

    def iri(self) -> Term:
        """An IRI, in angle brackets or as a prefixed name."""
        text = self.texts[self.i]
        term = self._known.get(text)
        if term is None:
            kind = self.kinds[self.i]
            if kind == "pname":
                term = self._expanded(text)
            elif kind == "iri":
                term = self._resolved(text[1:-1])
            else:
                raise self.unexpected("iri")
            self._known[text] = term
        self.i += 1
        return term

    def _expanded(self, text: str) -> Term:
        prefix, _, local = text.partition(":")
        namespace = self.prefixes.get(prefix)
        if namespace is None:
            raise self.error(f"unknown prefix '{prefix}:'", hint=self._prefix_hint(prefix))
        if "\\" not in local:
            return Term(f"<{namespace}{local}>")
        full = namespace + _LOCAL_ESCAPE.sub(r"\1", local)
        return self._checked(full)

    def _prefix_hint(self, prefix: str) -> str:
        known = _WELL_KNOWN.get(prefix)
        near = difflib.get_close_matches(prefix, list(self.prefixes), 1)
        if known is None and near:
            return f"did you mean '{near[0]}:'?"
        return f"declare it first: PREFIX {prefix}: <{known or 'http://…'}>"

    def _resolved(self, text: str) -> Term:
        if "\\" in text:
            text = _CODE_POINT.sub(lambda m: chr(self._code_point(m)), text)
        if is_absolute(text):
            return Term(f"<{text}>")
        if _split(text)[0] is not None:
            return self._checked(text)
        if self.base is None:
            raise self.error(f"the IRI <{text}> is relative", hint="give a BASE, or write the IRI in full")
        return self._checked(resolve(self.base, text))

    def _checked(self, full: str) -> Term:
        if not is_absolute(full):
            raise self.error(f"<{full}> is not a valid IRI")
        return Term(f"<{full}>")

    # -------------------------------------------------------------------------------------------------------- literals

    def literal(self) -> Term:
        """A string with its language or datatype, a number, `true` or `false`."""
        kind = self.kinds[self.i]
        if kind == "string":
            return self._text_literal()
        if kind in NUMBERS:
            return Term(f'"{self.next()}"^^<{NUMBERS[kind]}>')
        if kind == "TRUE" or kind == "FALSE":
            self.i += 1
            return literal(kind.lower(), XSD_BOOLEAN)
        raise self.unexpected("a literal")

    def _text_literal(self) -> Term:
        lexical = self.string()
        kind = self.kinds[self.i]
        if kind == "lang":
            return literal(lexical, language=self.next()[1:])
        if kind == "^^":
            self.i += 1
            return literal(lexical, iri_text(self.iri()))
        return Term(f'"{escape(lexical)}"')

    def natural(self) -> int:
        """An integer without a sign."""
        text = self.texts[self.i]
        if self.kinds[self.i] != "integer" or not text.isdigit():
            raise self.unexpected("a natural number")
        if len(text) > MAX_DIGITS:
            raise self.error(f"a number of {len(text)} digits is too large here")
        self.i += 1
        return int(text)

    def string(self) -> str:
        """What stands between the quotes, unescaped."""
        text = self.expect("string")
        width = 3 if text[:3] in ('"""', "'''") else 1
        inner = text[width:-width]
        if "\\" not in inner:
            return inner
        self.i -= 1
        inner = _ESCAPED.sub(lambda m: self._unescaped(m, width), inner)
        self.i += 1
        return inner

    def _unescaped(self, match: re.Match[str], width: int) -> str:
        if match[3] is None:
            return chr(self._code_point(match, width))
        char = _UNESCAPES.get(match[3])
        if char is None:
            known = r"\t \b \n \r \f \" \' \\ \uXXXX \UXXXXXXXX"
            inside = width + match.start()
            raise self.error(f"unknown escape '\\{match[3]}'", inside=inside, hint=f"there are {known}")
        return char

    def _code_point(self, match: re.Match[str], width: int = 1) -> int:
        code = int(match[1] or match[2], 16)
        if 0xD800 <= code < 0xE000 or code > 0x10FFFF:
            raise self.error(f"'{match[0]}' is not a Unicode character", inside=width + match.start())
        return code


def is_absolute(text: str) -> bool:
    """Is this a valid absolute IRI?"""
    try:
        ox.NamedNode(text)
    except ValueError:
        return False
    return True


def resolve(base: str, reference: str) -> str:
    """A relative reference against a base IRI (RFC 3986, 5.2)."""
    scheme, authority, path, query, _ = _split(base)
    _, r_authority, r_path, r_query, fragment = _split(reference)
    if r_authority is not None:
        authority, path, query = r_authority, _without_dots(r_path), r_query
    elif r_path:
        if not r_path.startswith("/"):
            folder = "/" if authority is not None and not path else path[: path.rfind("/") + 1]
            r_path = folder + r_path
        path, query = _without_dots(r_path), r_query
    elif r_query is not None:
        query = r_query
    full = f"{scheme}:" if authority is None else f"{scheme}://{authority}"
    full += path
    full += "" if query is None else f"?{query}"
    return full if fragment is None else f"{full}#{fragment}"


def _split(text: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    match = _PARTS.fullmatch(text)
    assert match is not None, "every text splits"
    return match[1], match[2], match[3], match[4], match[5]


def _without_dots(path: str) -> str:
    done: list[str] = []
    steps = path.split("/")
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        if step == "..":
            if len(done) > 1 or (done and done[0]):
                done.pop()
            if last:
                done.append("")
        elif step != ".":
            done.append(step)
        elif last:
            done.append("")
    return "/".join(done)
