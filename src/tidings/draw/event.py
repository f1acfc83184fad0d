"""The event graph, with what the subscription matched in it highlighted: `event_svg`."""

from __future__ import annotations

from tidings.draw.cards import PADDING, Card, Link, Scene, scene
from tidings.draw.layered import Arc, Layout
from tidings.draw.lines import Line, draw_lines, height, paragraph, piece
from tidings.draw.marks import Marks
from tidings.draw.packed import packed
from tidings.draw.panel import COLUMN, Panel, Sample, conditions, draw_legend, panel, title_room
from tidings.draw.svg import Box, Canvas, number
from tidings.match.explain import Explanation, Names, explanation_text, headline, reason
from tidings.rdf.event import Event

_MARGIN = 24.0
_APART = 34.0
_SHAPE = 16 / 9
_MARKER = {"plain": "faint", "matched": "hit", "failed": "bad"}
_STROKE = {"plain": "s-faint thin", "matched": "s-hit thick", "failed": "s-bad thick"}
_LEGEND = (
    Sample("box", "matched thick", "matched"),
    Sample("box", "plain thin", "not asked for"),
    Sample("?x", "var", "variable"),
    Sample("⊑ ≡", "step", "hierarchy: below, equivalent"),
    Sample("✓", "hit", "holds"),
    Sample("✗", "bad", "fails or is missing"),
)


def event_svg(explanation: Explanation, event: Event, subscription: str, names: Names) -> str:
    """The event as a graph, for an explanation of `subscription` on it, as the text of an SVG file."""
    drawn = scene(event.triples(), Marks(explanation, names), names)
    graph = packed([card.size for card in drawn.cards], [Arc(a.source, a.target, a.size) for a in drawn.links])
    blocks = conditions(explanation.findings)
    beside = graph.width < _SHAPE * graph.height
    listed = panel(blocks, 1 if beside else min(4, max(1, int(graph.width // (COLUMN + 20)))))
    least = title_room(_verdict(explanation, subscription))
    w = max(graph.width + (_APART + listed.w if beside else 0.0), listed.w, least)
    title = _title(explanation, subscription, drawn, w)
    canvas = Canvas()
    draw_lines(canvas, title, Box(_MARGIN, _MARGIN - 6, w, 0))
    top = _MARGIN + height(title) + 10
    _draw_graph(canvas, drawn, graph.moved(_MARGIN, top))
    bottom = _draw_panel(canvas, listed, graph, top, beside=beside)
    bottom += draw_legend(canvas, _LEGEND, _MARGIN, bottom, w)
    about = explanation_text(explanation, subscription, names)
    return canvas.document(w + 2 * _MARGIN, bottom + 14, headline(explanation, subscription), about)


def graph_svg(event: Event, names: Names) -> str:
    """The event as a graph, and nothing said of it."""
    drawn = scene(event.triples(), Marks(Explanation(event.id, True, 0), names), names)
    graph = packed([card.size for card in drawn.cards], [Arc(a.source, a.target, a.size) for a in drawn.links])
    verdict = f"event of {drawn.triples:,} triples"
    w = max(graph.width, title_room(verdict))
    title = [Line((piece(verdict, "title", "ink", w),)), *paragraph(f"<{event.id}>", "sub", "soft", w, 2)]
    if drawn.left_out:
        title += paragraph(f"{drawn.left_out:,} of them are not drawn.", "sub", "soft", w, 2)
    canvas = Canvas()
    draw_lines(canvas, title, Box(_MARGIN, _MARGIN - 6, w, 0))
    top = _MARGIN + height(title) + 10
    _draw_graph(canvas, drawn, graph.moved(_MARGIN, top))
    return canvas.document(w + 2 * _MARGIN, top + graph.height + _MARGIN, verdict, f"event <{event.id}>")


def _title(explanation: Explanation, subscription: str, drawn: Scene, room: float) -> list[Line]:
    verdict = _verdict(explanation, subscription)
    if explanation.matches:
        colour = "hit"
        many = f"{explanation.solutions:,} solutions; the first is drawn"
        count = "1 solution" if explanation.solutions == 1 else many
        said = f"event <{explanation.event}>, {count}"
    else:
        colour = "bad"
        said = f"event <{explanation.event}>; drawn is what comes nearest"
    lines = [Line((piece(verdict, "title", colour, room),)), *paragraph(said, "sub", "soft", room, 2)]
    if not explanation.matches:
        lines += paragraph(f"because {reason(explanation)}", "sub", "ink", room, 2)
    if drawn.left_out:
        rest = f"The event has {drawn.triples:,} triples; {drawn.left_out:,} of them are not drawn."
        lines += paragraph(rest, "sub", "soft", room, 2)
    return lines


def _verdict(explanation: Explanation, subscription: str) -> str:
    return f"✓ {subscription} matches" if explanation.matches else f"✗ {subscription} does not match"


def _draw_panel(canvas: Canvas, listed: Panel, graph: Layout, top: float, *, beside: bool) -> float:
    """The conditions, on the right or below; returns where the next thing may begin."""
    if beside:
        listed.draw(canvas, _MARGIN + graph.width + _APART, top)
        return top + max(graph.height, listed.h) + 18
    listed.draw(canvas, _MARGIN, top + graph.height + 22)
    return top + graph.height + listed.h + 36


# --------------------------------------------------------------------------------------------------------------- graph


def _draw_graph(canvas: Canvas, drawn: Scene, graph: Layout) -> None:
    """What matters is painted last: a highlighted arc is not crossed by a pale one."""
    links = list(zip(drawn.links, graph.labels, graph.routes, strict=True))
    links.sort(key=lambda part: part[0].state != "plain")
    for link, _, route in links:
        for i, stroke in enumerate(route):
            arrow = f"to-{_MARKER[link.state]}" if i == len(route) - 1 else ""
            canvas.path(stroke.path(), _STROKE[link.state], arrow=arrow)
    for link, box, _ in links:
        _draw_label(canvas, link, box)
    for card, box in zip(drawn.cards, graph.cards, strict=True):
        _draw_card(canvas, card, box)


def _draw_label(canvas: Canvas, link: Link, box: Box) -> None:
    ground = {"plain": "t-pale", "matched": "t-tint", "failed": "t-wash"}[link.state]
    canvas.box(box, ground, radius=5)
    draw_lines(canvas, link.lines, Box(box.x, box.y + 0.5, box.w, box.h), margin=6)


def _draw_card(canvas: Canvas, card: Card, box: Box) -> None:
    canvas.box(box, f"{card.state} {'thin' if card.state == 'plain' else 'thick'}")
    inner = Box(box.x + 1.5, box.y + PADDING, box.w - 3, box.h)
    draw_lines(canvas, card.head, inner, margin=8.5)
    if card.rows:
        line = box.y + PADDING + height(card.head) + PADDING / 2
        canvas.path(f"M{number(box.x)} {number(line)}h{number(box.w)}", "s-rim thin")
        draw_lines(canvas, card.rows, Box(inner.x, line + PADDING / 2, inner.w, box.h), margin=8.5)
