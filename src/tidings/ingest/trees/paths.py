"""Paths in trees: which parts of a document are records, and what a reference in a record stands for.

JSON: a part of JSONPath (`$.items[*]`, `$['odd name'][0]`, `$.*`) or a JSON Pointer with `*` for any member
(`/items/*`). XML: a part of XPath (`/catalog/item`, `//item`, `/catalog/*`); a name without a namespace stands for that
local name in any, `{http://…}item` for one alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from tidings.errors import UsageError


class Any(Enum):
    """Every member of an object, or of an array."""

    ANY = "*"


ANY = Any.ANY
Step: TypeAlias = str | int | Any
"""A name, a place in an array (from 0), or any. A number in a JSON Pointer is a name that may be a place."""

SEPARATOR = "\x0c"
"""Between the namespace and the local name of an XML name: a character that no XML document can have."""
_JSON_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]'"*\s]+) | \.(?P<star>\*)
      | \[\s*(?: (?P<any>\*) | (?P<index>\d{1,9})
            | '(?P<single>(?:[^'\\]|\\.)*)' | "(?P<double>(?:[^"\\]|\\.)*)" )\s*\]""",
    re.VERBOSE,
)
_XML_STEP = re.compile(r"(//?)(\*|(?:\{[^{}]*\})?[^/{}\[\]@()*:\s]+)")


def json_path(text: str) -> tuple[Step, ...]:
    """The steps of a JSONPath or JSON Pointer; a `UsageError` where it is none that is understood."""
    if text.startswith("/"):
        return tuple(ANY if part == "*" else part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/"))
    rest = text.removeprefix("$")
    if rest and rest[0] not in ".[":
        rest = f".{rest}"
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        found = _JSON_STEP.match(rest, at)
        if found is None:
            raise UsageError(f"the path '{text}' is not understood; write for instance $.items[*] or /items/*")
        at = found.end()
        if found["star"] or found["any"]:
            steps.append(ANY)
        elif found["index"]:
            steps.append(int(found["index"]))
        else:
            quoted = found["single"] if found["single"] is not None else found["double"]
            steps.append(found["name"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
    return tuple(steps)


def takes_name(step: Step, name: str) -> bool:
    return step is ANY or step == name


def takes_place(step: Step, place: int) -> bool:
    return step is ANY or step == place or (isinstance(step, str) and step == str(place))


@dataclass(frozen=True, slots=True)
class XmlStep:
    """`deep`: at any depth below what comes before. `name` is `*`, a local name, or `{namespace}local`."""

    deep: bool
    name: str

    def takes(self, name: str) -> bool:
        """Whether the element of this name, as expat has it, is meant."""
        if self.name == "*":
            return True
        namespace, _, local = name.rpartition(SEPARATOR)
        return self.name == (f"{{{namespace}}}{local}" if self.name[0] == "{" else local)


def xml_path(text: str) -> tuple[XmlStep, ...]:
    """The steps of a simple XPath from the root; a `UsageError` where it is none that is understood."""
    path = text if text.startswith("/") else f"/{text}"
    steps: list[XmlStep] = []
    at = 0
    while at < len(path):
        found = _XML_STEP.match(path, at)
        if found is None:
            hint = "write for instance /catalog/item or //item; a namespace is written {http://…}item"
            raise UsageError(f"the path '{text}' is not understood; {hint}")
        steps.append(XmlStep(found[1] == "//", found[2]))
        at = found.end()
    return tuple(steps)


def selects(steps: Sequence[XmlStep], names: Sequence[str]) -> bool:
    """Whether the element reached by `names`, from the root on, is what the path leads to."""
    if not steps:
        return not names
    if len(names) < len(steps) or not steps[-1].takes(names[-1]):
        return False
    if not steps[-1].deep:
        return selects(steps[:-1], names[:-1])
    return any(selects(steps[:-1], names[:end]) for end in range(len(names)))
