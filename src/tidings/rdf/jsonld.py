"""JSON-LD before the parser sees it: bounded, and with no remote context left in it.

Contexts are never fetched. One that the user gives a local copy of is written into the document in place of its
address; any other is an error that names it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeAlias
from urllib.parse import urljoin

from tidings.errors import EventError, Span
from tidings.rdf.guard import GENERATED
from tidings.rdf.limits import Limits, human
from tidings.rdf.messages import CONVERT, NOT_UTF8
from tidings.rdf.quads import too_large
from tidings.rdf.seen import Numbering
from tidings.rdf.sources import Document

Contexts: TypeAlias = Mapping[str, os.PathLike[str] | str | bytes]
"""Local copies of remote contexts: the address, and a file's path or its bytes."""

# Python converts no more than 4,300 digits, and JSON-LD makes a double of anything above 10^21 anyway.
_MAX_DIGITS = 1000
_TOKEN = re.compile(rb"""[^"\[\]{}]*+(?:([\[{])|([\]}])|"((?:[^"\\]++|\\.)*+)"?)""", re.DOTALL)
_LABEL = re.compile(rb'"_:(%s)"' % GENERATED.encode())


def prepared(document: Document, limits: Limits, contexts: Contexts, labels: Numbering) -> bytes:
    """The document ready for the parser; labels that look like the parser's own are noted in `labels`."""
    with document.open() as stream:
        data = stream.read(limits.max_json + 1)
    if len(data) > limits.max_json:
        hint = "split it, or use N-Quads, which is read as a stream"
        raise EventError(f"a JSON-LD document of more than {human(limits.max_json)}", source=document.name, hint=hint)
    data = data.removeprefix(b"\xef\xbb\xbf")
    _check_size(data, document, limits)
    for label in _LABEL.finditer(data):
        labels.number(label[1].decode())
    try:
        tree = _loaded(data, document.name)
        inlined = _Inliner(document, contexts, limits)
        inlined_tree = inlined.document(tree, document.base or "")
    except RecursionError as error:
        raise EventError("nested too deeply", source=document.name) from error
    return json.dumps(inlined_tree, ensure_ascii=False).encode() if inlined.used else data


def _check_size(data: bytes, document: Document, limits: Limits) -> None:
    depth = 0
    for token in _TOKEN.finditer(data):
        if token[1]:
            depth += 1
            if depth > limits.max_depth:
                raise _error(data, token.start(1), f"nested more than {limits.max_depth} deep", document)
        elif token[2]:
            depth -= 1
        elif token.end(3) - token.start(3) > limits.max_term:
            raise _error(data, token.start(3) - 1, too_large(limits), document)


def _error(data: bytes, at: int, reason: str, document: Document) -> EventError:
    before = data[:at].decode("utf-8", "replace")
    start = before.rfind("\n") + 1
    return EventError(reason, span=Span(before.count("\n") + 1, len(before) - start + 1), source=document.name)


def _loaded(data: bytes, name: str) -> Any:
    """The JSON tree; a key that is twice in one object is an error, since one of the two values would be lost."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise EventError(f'the key "{twice}" is there twice in one object', source=name)
        return result

    def constant(text: str) -> NoReturn:
        raise EventError(f"{text} is no JSON number", source=name)

    def integer(digits: str) -> int:
        if len(digits) > _MAX_DIGITS:
            hint = "write it as a string, with its datatype"
            raise EventError(f"a JSON number of {len(digits):,} digits", source=name, hint=hint)
        return int(digits)

    try:
        text = data.decode("utf-8")
        return json.loads(text, object_pairs_hook=unique, parse_constant=constant, parse_int=integer)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise EventError(NOT_UTF8, span=Span(line), source=name, hint=CONVERT) from error
    except json.JSONDecodeError as error:
        reason = f"JSON that is not well-formed: {error.msg[0].lower()}{error.msg[1:]}"
        raise EventError(reason, span=Span.at(text, error.pos), source=name) from error


class _Inliner:
    """Puts local contexts in the place of the addresses of remote ones, wherever a context may stand."""

    def __init__(self, document: Document, contexts: Contexts, limits: Limits) -> None:
        self._document = document
        self._room = limits.max_json
        self._contexts = {key.rstrip("/"): value for key, value in contexts.items()}
        self._loaded: dict[str, tuple[Any, int]] = {}
        self._json_terms: set[str] = set()
        self.used = False

    def document(self, tree: Any, base: str) -> Any:
        if isinstance(tree, list):
            return [self.document(item, base) for item in tree]
        if not isinstance(tree, dict) or tree.get("@type") == "@json":
            return tree
        context = {"@context": self._context(tree["@context"], base, ())} if "@context" in tree else {}
        rest = {
            key: value if key in self._json_terms else self.document(value, base)
            for key, value in tree.items()
            if key != "@context"
        }
        return context | rest

    def _context(self, context: Any, base: str, within: tuple[str, ...]) -> Any:
        """A context with every address in it replaced. `within` are the addresses that led here."""
        if isinstance(context, str):
            return self._remote(context, base, within)
        if isinstance(context, list):
            flat: list[Any] = []
            for item in context:
                inner = self._context(item, base, within)
                flat += inner if isinstance(inner, list) else [inner]
            return flat
        if not isinstance(context, dict):
            return context
        # The base of a remote context is not that of the document that uses it (JSON-LD 1.1 API, 5.7).
        self._json_terms |= {k for k, v in context.items() if isinstance(v, dict) and v.get("@type") == "@json"}
        result = {
            key: self._definition(value, base, within)
            for key, value in context.items()
            if key != "@import" and not (key == "@base" and within)
        }
        if "@import" in context:
            imported = self._remote(context["@import"], base, within)
            if not isinstance(imported, dict) or "@import" in imported:
                raise self._refused(f"the imported context {context['@import']!r} is not one single context")
            result = imported | result
        return result

    def _definition(self, definition: Any, base: str, within: tuple[str, ...]) -> Any:
        if isinstance(definition, dict) and "@context" in definition:
            return definition | {"@context": self._context(definition["@context"], base, within)}
        return definition

    def _remote(self, address: Any, base: str, within: tuple[str, ...]) -> Any:
        if not isinstance(address, str):
            raise self._refused("@import is not the address of a context")
        url = urljoin(base, address)
        if url in within:
            raise self._refused(f"the context {url} includes itself")
        local = self._contexts.get(url.rstrip("/"), self._contexts.get(address.rstrip("/")))
        if local is None:
            hint = f"give a local copy of it: --context {url}=FILE, in Python contexts={{{url!r}: path}}"
            raise self._refused(f"the remote context {url} is not fetched", hint)
        if url not in self._loaded:
            self._loaded[url] = self._read(url, local)
        self.used = True
        context, size = self._loaded[url]
        self._room -= size
        if self._room < 0:
            raise self._refused("the local contexts make the document too large")
        return self._context(context, url, (*within, url))

    def _read(self, url: str, local: os.PathLike[str] | str | bytes) -> tuple[Any, int]:
        """The context, and the size of its text."""
        try:
            data = local if isinstance(local, bytes) else Path(local).read_bytes()
        except OSError as error:
            raise self._refused(f"the local copy of the context {url} cannot be read: {error.strerror}") from error
        tree = _loaded(data, f"context {url}")
        if not isinstance(tree, dict) or "@context" not in tree:
            raise self._refused(f"the local copy of {url} is no context: it has no @context")
        return tree["@context"], len(data)

    def _refused(self, reason: str, hint: str | None = None) -> EventError:
        return EventError(reason, source=self._document.name, hint=hint)
