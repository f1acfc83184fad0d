"""Blank node labels: kept where the document gives them, numbered in document order where it does not.

The parser calls a blank node without a label by a random one. Here these become `_:b0`, `_:b1`, …, in the order in
which the triples of the event have them, past the labels that it has already: the same bytes give the same event.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count

from tidings.rdf.guard import GENERATED
from tidings.rdf.seen import Numbering

_GENERATED = re.compile(f"_:{GENERATED}")


def numbered(triples: list[str], given: Numbering) -> list[str]:
    """The triples with the parser's random labels replaced; `given` are labels of the document that look like those."""
    if not any("_:" in triple for triple in triples):
        return triples
    labels = list(dict.fromkeys(label for triple in triples for label in blanks_of(triple)))
    made = [label for label in labels if _GENERATED.fullmatch(label) and label[2:] not in given]
    if not made:
        return triples
    kept = set(labels).difference(made)
    free = (label for number in count() if (label := f"_:b{number}") not in kept)
    names = dict(zip(made, free, strict=False))
    return [relabelled(triple, names) if "_:" in triple else triple for triple in triples]


def blanks_of(triple: str) -> Iterable[str]:
    """The blank nodes of a triple, a line of N-Triples."""
    if "_:" not in triple:
        return ()
    subject, _, rest = triple.split(" ", 2)
    found = [subject] if subject.startswith("_:") else []
    if rest.startswith("_:"):
        found.append(rest[:-3])
    return found


def relabelled(triple: str, names: dict[str, str]) -> str:
    """The triple with its blank nodes renamed where `names` has them."""
    subject, predicate, rest = triple.split(" ", 2)
    if subject.startswith("_:"):
        subject = names.get(subject, subject)
    if rest.startswith("_:"):
        rest = f"{names.get(rest[:-3], rest[:-3])} .\n"
    return f"{subject} {predicate} {rest}"
