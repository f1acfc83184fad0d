"""Events made from others: fewer statements, other values, other names, two in one."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from tidings.rdf.event import Event
from tidings.rdf.terms import XSD, Term, Triple, blank, is_blank, is_iri, is_literal, literal, parts

_TEXTS = [
    "Straße e\u0301cole",
    "\u6771\u4eac tower",
    "\ufb01ne",
    "a\u0301",
    'q"\\\n\t.',
    "\u1112\u1161\u11ab",
    "\x00",
    "",
    "x" * 300,
]
_KINDS = ["integer", "decimal", "double", "float", "int", "string", "date", "gYear", "boolean", "nonNegativeInteger"]


def mutated(event: Event, others: Sequence[Event], dice: random.Random, most: int) -> Event:
    """At most `most` statements of an event, some of them changed, perhaps with some of another's."""
    triples = event.triples()
    if dice.random() < 0.2:
        triples += dice.choice(others).triples()
    dice.shuffle(triples)
    triples = triples[:most]
    for _ in range(dice.randrange(4)):
        place = dice.randrange(len(triples))
        triples[place] = _changed(triples[place], dice.choice(triples), dice)
    for _ in range(dice.randrange(3)):
        triples = _renamed(triples, dice)
    return Event.of(event.id, [t for t in triples if not is_literal(t[0]) and is_iri(t[1])])


def at_home(event: Event, dice: random.Random) -> Event:
    """One of its subjects becomes the home vertex."""
    triples = event.triples()
    old = dice.choice(triples)[0]
    return Event.of(event.id, _replaced(triples, old, Term("_:H")))


def _changed(triple: Triple, other: Triple, dice: random.Random) -> Triple:
    s, p, o = triple
    match dice.randrange(5):
        case 0:
            return s, p, other[2]
        case 1:
            return s, other[1], o
        case 2:
            return other[0], p, o
    return s, p, _value(o, dice) if is_literal(o) else o


def _value(term: Term, dice: random.Random) -> Term:
    """Another literal near this one: a number one off, the same text with another datatype, words in another order."""
    found = parts(term)
    words = re.findall(r"\w+|\W+", found.lexical)
    match dice.randrange(6):
        case 0:
            return literal(found.lexical, XSD + dice.choice(_KINDS))
        case 1:
            return literal(found.lexical, language=dice.choice(["en", "de-ch", "zh-hant-tw"]))
        case 2:
            return literal(dice.choice(_TEXTS))
        case 3 if found.language is None and re.fullmatch(r"[+-]?\d{1,18}", found.lexical):
            return literal(str(int(found.lexical) + dice.choice([-1, 1, 10**20])), found.datatype)
        case 4:
            dice.shuffle(words)
    text = "".join(words) + dice.choice(["", "", " \u6771", "\u0301", "."])
    return literal(text, found.datatype if found.language is None else None, found.language)


def _renamed(triples: list[Triple], dice: random.Random) -> list[Triple]:
    """One node under another's name, or under that of a blank node."""
    nodes = sorted({t for s, _, o in triples for t in (s, o) if not is_literal(t)})
    new = dice.choice([*nodes, blank(f"n{dice.randrange(3)}")])
    old = dice.choice(nodes)
    return triples if is_blank(old) else _replaced(triples, old, new)


def _replaced(triples: list[Triple], old: Term, new: Term) -> list[Triple]:
    return [(new if s == old else s, p, new if o == old else o) for s, p, o in triples]
