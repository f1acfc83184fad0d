"""An event as cards and arcs: a card for every resource, with its classes and values in it, an arc for every link.

Of a large event the part that the explanation is about is kept, and what is around it, as far as it can be read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tidings.draw.lines import Line, Piece, breadth, height, paragraph, piece
from tidings.draw.marks import Mark, Marks, State
from tidings.match.explain import Names
from tidings.rdf.terms import HOME, RDF_TYPE, Term, Triple, iri_text, is_iri, is_literal, parts

MOST_CARDS = 80
_AROUND = 40
"""Cards of an event that has more than `MOST_CARDS`."""
_MOST_ARCS = 200
_MOST_ROWS = 12
_NAME, _PROPERTY, _VALUE, _NOTE = 230.0, 150.0, 210.0, 300.0
_STEP_LINES, _NOTE_LINES = 6, 2
_MARGIN = 10.0
_LONG_IRI = 20
_GROUND = {"plain": "", "matched": "t-tint", "failed": "t-wash"}


@dataclass(frozen=True, slots=True)
class Card:
    node: Term
    state: State
    head: tuple[Line, ...]
    rows: tuple[Line, ...]

    @property
    def size(self) -> tuple[float, float]:
        lines = (*self.head, *self.rows)
        return max(breadth(lines), 30.0) + 2 * _MARGIN, height(lines) + 2 * PADDING + (PADDING if self.rows else 0.0)


PADDING = 5.0


@dataclass(frozen=True, slots=True)
class Link:
    """An arc between two cards, by their places in the list."""

    source: int
    target: int
    state: State
    lines: tuple[Line, ...]
    triple: Triple

    @property
    def size(self) -> tuple[float, float]:
        return breadth(self.lines) + 12.0, height(self.lines) + 3.0


@dataclass(frozen=True, slots=True)
class Scene:
    cards: tuple[Card, ...]
    links: tuple[Link, ...]
    triples: int
    """How many the event has."""
    left_out: int
    """How many of them are not drawn."""


def scene(triples: Sequence[Triple], marks: Marks, names: Names) -> Scene:
    inside, links = _divided(triples, marks)
    chosen = {node: place for place, node in enumerate(_chosen(inside, links, marks))}
    drawn = [t for t in links if t[0] in chosen and t[2] in chosen]
    drawn.sort(key=lambda t: t not in marks.triples)
    del drawn[max(_MOST_ARCS, sum(t in marks.triples for t in drawn)) :]
    missing = dict.fromkeys(chosen, 0)
    for t in set(links) - set(drawn):
        for node in {t[0], t[2]} & chosen.keys():
            missing[node] += 1
    cards, rows = [], 0
    for node in chosen:
        card, shown = _card(node, inside.get(node, []), missing[node], marks, names)
        cards.append(card)
        rows += shown
    arcs = [_link(t, chosen, marks.triples.get(t, Mark()), names) for t in sorted(drawn)]
    return Scene(tuple(cards), tuple(arcs), len(triples), len(triples) - rows - len(drawn))


def _divided(triples: Sequence[Triple], marks: Marks) -> tuple[dict[Term, list[Triple]], list[Triple]]:
    """The triples that are rows of a card, by subject, and those that are arcs.

    What is said of nothing else and has nothing to say is a row too: a card of its own would only take room.
    """
    subjects = {t[0] for t in triples}
    entered: dict[Term, int] = {}
    for t in triples:
        entered[t[2]] = entered.get(t[2], 0) + 1
    inside: dict[Term, list[Triple]] = {subject: [] for subject in sorted(subjects, key=lambda s: (s != HOME, s))}
    links = []
    for t in triples:
        subject, property, object = t
        alone = object not in subjects and object not in marks.nodes and entered[object] == 1
        if property == RDF_TYPE or is_literal(object) or subject == object or alone:
            inside[subject].append(t)
        else:
            links.append(t)
    return inside, links


def _chosen(inside: Iterable[Term], links: Iterable[Triple], marks: Marks) -> list[Term]:
    """The nodes that get a card: those with a mark, those around them, then the others."""
    near: dict[Term, list[Term]] = {node: [] for node in inside}
    for subject, _, object in links:
        near.setdefault(subject, []).append(object)
        near.setdefault(object, []).append(subject)
    marked = [node for node in marks.nodes if node in near]
    most = MOST_CARDS if len(near) <= MOST_CARDS else max(_AROUND, min(MOST_CARDS, len(marked)))
    chosen = list(islice(_outwards(near, marked), most))
    # The order decides what goes left: the home vertex, or else what the subscription names first.
    return sorted(chosen, key=lambda node: node != HOME)


def _outwards(near: dict[Term, list[Term]], starts: Sequence[Term]) -> Iterator[Term]:
    seen = set(starts)
    queue = deque(starts)
    yield from starts
    for start in (None, *near):
        if start is not None and start not in seen:
            seen.add(start)
            queue.append(start)
            yield start
        while queue:
            for node in near[queue.popleft()]:
                if node not in seen:
                    seen.add(node)
                    queue.append(node)
                    yield node


# --------------------------------------------------------------------------------------------------------------- lines


def _card(node: Term, triples: Sequence[Triple], missing: int, marks: Marks, names: Names) -> tuple[Card, int]:
    """The card, and how many triples are in it."""
    mark = marks.nodes.get(node, Mark())
    quiet = mark.state == "plain"
    name = piece(short(node, names), "name", "soft" if quiet else "ink", _NAME, full=_whole(node), keep_end=True)
    classes = [t for t in triples if t[1] == RDF_TYPE]
    values = [t for t in triples if t[1] != RDF_TYPE]
    head = [Line((name, *_variables(mark.variables)))]
    shown = 0
    for t in _kept(classes, marks):
        head += _row(t, marks, names)
        shown += 1
    head += _notes(mark, 8.0)
    rows: list[Line] = []
    for t in _kept(values, marks):
        rows += _row(t, marks, names)
        shown += 1
    if shown < len(triples):
        rows.append(_more(len(triples) - shown, "value"))
    if missing:
        rows.append(_more(missing, "link"))
    return Card(node, mark.state, tuple(head), tuple(rows)), shown


def _kept(triples: Sequence[Triple], marks: Marks) -> list[Triple]:
    """Every row with a mark, and as many others as there is room for."""
    room = _MOST_ROWS
    kept = []
    for t in triples:
        if t in marks.triples:
            kept.append(t)
        elif room:
            room -= 1
            kept.append(t)
    return kept


def _row(triple: Triple, marks: Marks, names: Names) -> Iterator[Line]:
    subject, property, object = triple
    mark = marks.triples.get(triple, Mark())
    ground = _GROUND[mark.state]
    ink = "soft" if mark.state == "plain" else "ink"
    said = "a" if property == RDF_TYPE else short(property, names)
    text = short(object, names)
    if subject == object:
        text = f"↻ {text}"
    elif property != RDF_TYPE and not is_literal(object):
        text = f"→ {text}"
    value = piece(text, "row", ink, _VALUE, full=_whole(object), keep_end=not is_literal(object))
    first = piece(said, "row", "soft", _PROPERTY, full=_whole(property), keep_end=True)
    yield Line((first, *_variables(mark.property_variables), value, *_variables(mark.variables)), ground=ground)
    yield from _notes(mark, 12.0, ground)


def _link(triple: Triple, places: dict[Term, int], mark: Mark, names: Names) -> Link:
    subject, property, object = triple
    ink = "soft" if mark.state == "plain" else "ink"
    first = piece(short(property, names), "row", ink, _PROPERTY, full=_whole(property), keep_end=True)
    lines = [Line((first, *_variables(mark.property_variables))), *_notes(mark, 0.0)]
    return Link(places[subject], places[object], mark.state, tuple(lines), triple)


def _notes(mark: Mark, indent: float, ground: str = "") -> Iterator[Line]:
    for note in mark.notes:
        most = _STEP_LINES if note.kind == "step" else _NOTE_LINES
        yield from paragraph(note.text, "note", note.kind, _NOTE, most, indent=indent, ground=ground)


def _variables(names: Iterable[str]) -> list[Piece]:
    return [piece(name, "row", "var", _PROPERTY) for name in names]


def _more(count: int, what: str) -> Line:
    return Line((Piece(f"… {count:,} more {what}{'' if count == 1 else 's'}", "note", "soft"),))


def short(term: Term, names: Names) -> str:
    """A term for a drawing: of a long IRI without a prefix, the last two segments."""
    text = names.term(term)
    if not is_iri(term) or text != term or len(text) <= _LONG_IRI:
        return text
    segments = iri_text(term).replace("#", "/").rstrip("/").split("/")
    return f"…/{'/'.join(segments[-2:])}" if len(segments) > 4 else text


def _whole(term: Term) -> str:
    """What a reader sees who points at it: the text of a literal, any other term as it is."""
    return parts(term).lexical if is_literal(term) else term
