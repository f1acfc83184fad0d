"""N-Quads in every spelling but the canonical one: the same events, in bytes that a scanner has to look at twice."""

from __future__ import annotations

import random
from collections.abc import Iterable

from tidings.rdf.event import Event
from tidings.rdf.terms import XSD_STRING, Term, iri, is_iri, is_literal, parts

_SHORT = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\", "'": "\\'"}
_COMMENTS = ["# a comment", '#"<>.', "#", "# <e:s> <e:p> <e:o> <e:g> .", "# \u6771"]


def respelled(events: Iterable[Event], dice: random.Random, *, named: bool = True) -> bytes:
    """The events one after the other: lines in any order and some twice, escapes, spaces, comments, line ends."""
    out: list[str] = []
    for event in events:
        name = (iri(event.id),) if named else ()
        lines = [_line((*triple, *name), dice) for triple in event.triples()]
        lines += [line for line in lines if dice.random() < 0.1]
        dice.shuffle(lines)
        for line in lines:
            if dice.random() < 0.1:
                out.append(dice.choice(["", "  \t", f" {dice.choice(_COMMENTS)}", dice.choice(_COMMENTS)]) + _end(dice))
            out.append(line + _end(dice))
    text = "".join(out)
    return (text.rstrip("\r\n") if dice.random() < 0.5 else text).encode()


def _end(dice: random.Random) -> str:
    return dice.choice(["\n", "\n", "\r\n", "\n\n", "\r\n \n"])


def _line(terms: tuple[Term, ...], dice: random.Random) -> str:
    if dice.random() < 0.2:
        return " ".join(terms) + " ."
    spelled = [_term(term, dice) for term in terms]
    line = dice.choice(["", "", " ", "\t "])
    for term, following in zip(spelled, [*spelled[1:], "."], strict=True):
        line += term + _gap(term, following, dice)
    return line + "." + dice.choice(["", "", " ", f" {dice.choice(_COMMENTS)}", dice.choice(_COMMENTS)])


def _gap(term: str, following: str, dice: random.Random) -> str:
    """White space, or none where the next term cannot be taken for more of this one."""
    closed = term.endswith((">", '"')) or following.startswith(("<", '"'))
    return dice.choice([" ", "  ", "\t", " \t "] + ([""] if closed else []))


def _term(term: Term, dice: random.Random) -> str:
    if is_iri(term):
        return f"<{''.join(_escaped(c, dice, 0.05) for c in term[1:-1])}>"
    if not is_literal(term):
        return term
    found = parts(term)
    quoted = "".join(_character(c, dice) for c in found.lexical)
    if found.language is not None:
        return f'"{quoted}"@{"".join(dice.choice([c, c.upper()]) for c in found.language)}'
    explicit = found.datatype != XSD_STRING or dice.random() < 0.3
    return f'"{quoted}"^^{_term(iri(found.datatype), dice)}' if explicit else f'"{quoted}"'


def _character(char: str, dice: random.Random) -> str:
    if char in '"\\\n\r':
        return dice.choice([_SHORT[char], _numbered(char, dice)])
    if char in _SHORT:
        return dice.choice([_SHORT[char], _numbered(char, dice), char])
    return _escaped(char, dice, 0.1)


def _escaped(char: str, dice: random.Random, odds: float) -> str:
    return _numbered(char, dice) if dice.random() < odds else char


def _numbered(char: str, dice: random.Random) -> str:
    code = ord(char)
    digits = f"{code:08X}" if code > 0xFFFF or dice.random() < 0.3 else f"{code:04X}"
    return ("\\U" if len(digits) == 8 else "\\u") + dice.choice([digits, digits.lower()])
