"""The little of SVG that the drawings need: shapes and lines of text with classes, and one stylesheet, light and dark.

A file stands alone: no scripts, no fonts, nothing fetched. The colours are written out in both schemes instead of with
CSS variables, which converters other than browsers do not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from tidings.draw.text import clean, fit, width

SIZES = {"title": 17.0, "sub": 12.5, "name": 13.0, "row": 12.0, "note": 11.0, "small": 10.0}
_BOLD = frozenset({"title", "name"})
FONTS = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif'
LIGHT = {
    "page": "#ffffff",
    "card": "#ffffff",
    "pale": "#f5f6f8",
    "rim": "#c3c9d1",
    "faint": "#97a1ad",
    "ink": "#1b222b",
    "soft": "#626c78",
    "hit": "#0a5fb5",
    "tint": "#e1eefb",
    "bad": "#b3261e",
    "wash": "#fdeceb",
    "step": "#6f3fa0",
    "var": "#8a4b00",
}
DARK = {
    "page": "#14181d",
    "card": "#1e242b",
    "pale": "#191e24",
    "rim": "#47515d",
    "faint": "#6d7986",
    "ink": "#eef2f6",
    "soft": "#9aa5b1",
    "hit": "#6cb6ff",
    "tint": "#183350",
    "bad": "#ff8a80",
    "wash": "#45211f",
    "step": "#cda6f5",
    "var": "#f2b866",
}
_TEXT = ("ink", "soft", "faint", "hit", "bad", "step", "var")


def _rules(colours: dict[str, str]) -> str:
    lines = [f".{name}{{fill:{colours[name]}}}" for name in ("page", *_TEXT)]
    lines += [f".t-{name}{{fill:{colours[name]};stroke:none}}" for name in ("tint", "wash", "card", "pale")]
    lines += [f".s-{name}{{stroke:{colours[name]};fill:none}}" for name in ("rim", "faint", "hit", "bad", "step")]
    shapes = {"plain": ("pale", "rim"), "matched": ("card", "hit"), "failed": ("card", "bad")}
    lines += [f".{name}{{fill:{colours[f]};stroke:{colours[s]}}}" for name, (f, s) in shapes.items()]
    lines += [f".halo{{stroke:{colours['page']};stroke-width:4;paint-order:stroke}}"]
    lines += [f".filled{{fill:{colours['tint']}}}.hollow{{fill:{colours['page']}}}"]
    return "".join(lines)


_STYLE = (
    f"svg{{font-family:{FONTS};background:{LIGHT['page']}}}text{{white-space:pre;unicode-bidi:isolate}}"
    + "".join(f".f-{name}{{font-size:{size:g}px}}" for name, size in SIZES.items())
    + "".join(f".f-{name}{{font-weight:600}}" for name in sorted(_BOLD))
    + ".thin{stroke-width:1}.line{stroke-width:1.4}.thick{stroke-width:2.4}.dash{stroke-dasharray:5 3.5}"
    + _rules(LIGHT)
    + f"@media (prefers-color-scheme:dark){{svg{{background:{DARK['page']}}}{_rules(DARK)}}}"
)


@dataclass(frozen=True, slots=True)
class Box:
    x: float
    y: float
    w: float
    h: float

    def moved(self, dx: float, dy: float) -> Box:
        return Box(self.x + dx, self.y + dy, self.w, self.h)

    def meets(self, other: Box) -> bool:
        """Whether the two have more than an edge in common."""
        return (
            self.x < other.x + other.w
            and other.x < self.x + self.w
            and self.y < other.y + other.h
            and other.y < self.y + self.h
        )


def text_width(text: str, font: str) -> float:
    return width(text, SIZES[font], bold=font in _BOLD)


def fitted(text: str, font: str, room: float, *, keep_end: bool = False) -> str:
    return fit(text, room, SIZES[font], bold=font in _BOLD, keep_end=keep_end)


def number(value: float) -> str:
    """Coordinates with one decimal, the same on every machine."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


class Canvas:
    """Collects elements in the order in which they are painted."""

    def __init__(self) -> None:
        self._parts: list[str] = []

    def box(self, box: Box, classes: str, *, radius: float = 6, title: str = "") -> None:
        place = f'x="{number(box.x)}" y="{number(box.y)}" width="{number(box.w)}" height="{number(box.h)}"'
        self._add(f'<rect class="{classes}" {place} rx="{number(radius)}"', "rect", title)

    def path(self, way: str, classes: str, *, arrow: str = "", title: str = "") -> None:
        marker = f' marker-end="url(#{arrow})"' if arrow else ""
        self._add(f'<path class="{classes}" d="{way}"{marker}', "path", title)

    def text(
        self, x: float, y: float, text: str, font: str, colour: str, *, anchor: str = "start", title: str = ""
    ) -> None:
        """One line, its baseline at `y`; `title` is what a reader sees who points at it."""
        placed = "" if anchor == "start" else f' text-anchor="{anchor}"'
        place = f'x="{number(x)}" y="{number(y)}"{placed}'
        inside = f"<title>{_escaped(title)}</title>" if title and clean(title) != clean(text) else ""
        self._parts.append(f'<text class="f-{font} {colour}" {place}>{inside}{_escaped(text)}</text>')

    def _add(self, start: str, tag: str, title: str) -> None:
        end = f"><title>{_escaped(title)}</title></{tag}>" if title else "/>"
        self._parts.append(start + end)

    def document(self, w: float, h: float, title: str, description: str) -> str:
        """The whole file."""
        size = f'width="{number(w)}" height="{number(h)}" viewBox="0 0 {number(w)} {number(h)}"'
        body = "\n".join(self._parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">\n'
            f'<title id="title">{_escaped(title)}</title>\n<desc id="desc">{_escaped(description)}</desc>\n'
            f"<style>{_STYLE}</style>\n<defs>{_ARROWS}</defs>\n"
            f'<rect class="page" width="{number(w)}" height="{number(h)}"/>\n{body}\n</svg>\n'
        )


def _arrow(name: str) -> str:
    shape = f'<path class="{name}" d="M0 0L8 3.5L0 7z"/>'
    place = 'markerWidth="8" markerHeight="7" refX="7.5" refY="3.5" orient="auto" markerUnits="userSpaceOnUse"'
    return f'<marker id="to-{name}" {place}>{shape}</marker>'


_ARROWS = "".join(map(_arrow, ("faint", "hit", "bad", "step")))


def _escaped(text: str) -> str:
    return escape(clean(text))
