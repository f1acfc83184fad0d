"""The figures of a report as SVG: one look for all, readable on a light page and on a dark one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.bench.report import Curve, Figure
from tidings.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which most colour-blind readers can tell apart; markers tell the curves apart without any.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")
_MARKERS = "osD^vPX*"
_PAPER = "#777777"
_PAPER_MARKERS = "xP*1+"


def save(figures: Iterable[Figure], folder: Path) -> list[Path]:
    """Write `NAME.svg` for each; the extra `bench` brings what draws them."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure as Canvas
    except ModuleNotFoundError:
        raise UsageError("plots need matplotlib: pip install 'tidings[bench]'") from None
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    # A fixed salt, and no date: the same figures give the same file.
    with rc_context({"font.size": 11, "svg.hashsalt": "tidings", "font.family": "DejaVu Sans"}):
        for figure in figures:
            canvas = Canvas(figsize=(7.2, 4.4), layout="constrained", facecolor="white")
            _draw(figure, canvas.subplots())
            path = folder / f"{figure.name}.svg"
            canvas.savefig(path, format="svg", metadata={"Date": None})
            written.append(path)
    return written


def _draw(figure: Figure, axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    if figure.bars:
        _bars(figure, axes)
        return
    ours = 0
    for number, curve in enumerate(figure.curves):
        if curve.paper:
            _line(axes, curve, _PAPER, _PAPER_MARKERS[number % len(_PAPER_MARKERS)], "--" if len(curve.xs) > 1 else "")
        else:
            _line(axes, curve, _COLOURS[ours % len(_COLOURS)], _MARKERS[ours % len(_MARKERS)], "-")
            ours += 1
    axes.set(title=figure.title, xlabel=figure.x, ylabel=figure.y)
    if figure.log_x:
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
        if all(x == int(x) for curve in figure.curves for x in curve.xs):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.xaxis.set_major_formatter("{x:,.4g}" if _largest_x(figure) < 1000 else "{x:,.0f}")
    if figure.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.7)
    _finish(axes)


def _bars(figure: Figure, axes: Axes) -> None:
    width = 0.8 / len(figure.curves)
    for number, curve in enumerate(figure.curves):
        places = [x + (number - (len(figure.curves) - 1) / 2) * width for x in curve.xs]
        axes.bar(places, curve.ys, width, color=_COLOURS[number % len(_COLOURS)], label=curve.label)
    axes.set(title=figure.title, xlabel=figure.x, ylabel=figure.y)
    axes.set_xticks(range(len(figure.bars)), figure.bars, rotation=35, ha="right")
    if figure.log_y:
        axes.set_yscale("log")
    axes.grid(True, which="major", axis="y", color="#dddddd", linewidth=0.7)
    _finish(axes)


def _finish(axes: Axes) -> None:
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


def _line(axes: Axes, curve: Curve, colour: str, marker: str, style: str) -> None:
    label = f"{curve.label} (paper)" if curve.paper else curve.label
    axes.plot(
        curve.xs,
        curve.ys,
        linestyle=style or "none",
        color=colour,
        marker=marker,
        markersize=7 if curve.paper else 5,
        linewidth=1.8,
        label=label,
    )


def _largest_x(figure: Figure) -> float:
    return max((x for curve in figure.curves for x in curve.xs), default=0)
