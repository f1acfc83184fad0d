"""Charts of a pipeline run, batch by batch: events a second, seconds by stage, and the lag.

Each is one SVG document in the style of the other drawings. Where there are many batches, neighbours share a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import floor, isfinite, log10
from typing import NamedTuple

from tidings.draw.panel import Sample, draw_legend
from tidings.draw.svg import Box, Canvas, number, text_width

STAGES = ("subscriptions", "read", "archive", "match", "rejects")
REST = "the rest"
WIDE, NARROW = 960.0, 380.0
_PITCH = 8.0
"""The least width of a column, with the gap beside it."""
_HEIGHT = 210.0
_LANES, _LANE = 22.0, 15.0
_BAR = 52.0
_APART = 5.0
"""A lag longer than so many of the longest batches would leave nothing to see of the stages."""
_STEPS = (1, 2, 5, 10)
_UNITS = ((1.0, 0.001, "milliseconds"), (180.0, 1.0, "seconds"), (10_800.0, 60.0, "minutes"))
_FEW_MARKS = 16
# Name: light, dark. Each stands out from the page and from its neighbours in a stack.
_FILLS = {
    "subscriptions": ("#8a68b5", "#b899df"),
    "read": ("#2e8b84", "#62bcb3"),
    "archive": ("#b67d27", "#dcae62"),
    "match": ("#2473c4", "#62a9f0"),
    "rejects": ("#c24f47", "#ec857c"),
    "rest": ("#8c96a2", "#66717d"),
}
_CLASSES = {name: f"c-{name}" for name in STAGES} | {REST: "c-rest"}
_INKS = ("#1b222b", "#eef2f6")
_STYLE = (
    ".over{fill-opacity:0}.hair{stroke-width:1;stroke-dasharray:2 3}"
    + "".join(f".c-{name}{{fill:{colours[0]}}}" for name, colours in _FILLS.items())
    + f".s-ink{{stroke:{_INKS[0]};fill:none}}@media (prefers-color-scheme:dark){{"
    + "".join(f".c-{name}{{fill:{colours[1]}}}" for name, colours in _FILLS.items())
    + f".s-ink{{stroke:{_INKS[1]};fill:none}}}}"
)


class BatchFigures(NamedTuple):
    """What one batch of the pipeline did."""

    batch: int
    started: datetime
    """In UTC."""
    events: int
    candidates: int
    matches: int
    rejects: int
    subscriptions: int
    """Those that stood while it was matched."""
    taken: int
    """Subscriptions added or replaced with this batch."""
    cancelled: int
    lag: float | None
    """Seconds from when the newest document came to when its notifications were in the table."""
    seconds: Mapping[str, float]
    """By stage, and `total`."""


class Column(NamedTuple):
    """One batch of a chart, or several neighbours together."""

    first: int
    last: int
    batches: int
    events: int
    seconds: float
    """Of all its batches together."""
    stages: Mapping[str, float]
    """The mean of its batches."""
    lag: float | None
    """The longest of its batches."""
    taken: int
    cancelled: int

    @property
    def rate(self) -> float:
        return self.events / self.seconds if self.seconds else 0.0

    @property
    def name(self) -> str:
        return f"batch {self.first:,}" if self.batches == 1 else f"batches {self.first:,} to {self.last:,}"


# ------------------------------------------------------------------------------------------------------------- figures


def total_seconds(batch: BatchFigures) -> float:
    """As measured, or else the sum of its stages."""
    measured = batch.seconds.get("total")
    return _sound(measured) if measured is not None else sum(map(_sound, batch.seconds.values()))


def sound_lag(batch: BatchFigures) -> float | None:
    return None if batch.lag is None or not isfinite(batch.lag) else max(batch.lag, 0.0)


def _by_stage(batch: BatchFigures) -> dict[str, float]:
    stages = {stage: _sound(batch.seconds.get(stage, 0.0)) for stage in STAGES}
    total = total_seconds(batch)
    rest = total - sum(stages.values())
    return stages | {REST: rest if rest > total / 200 else 0.0}


def _sound(seconds: float) -> float:
    return max(seconds, 0.0) if isfinite(seconds) else 0.0


def joined(batches: Sequence[BatchFigures], w: float = WIDE) -> list[Column]:
    """The columns of a chart of this width: a round number of neighbours in each."""
    least = max(1, -(-len(batches) // int(w / _PITCH)))
    size = next(step * 10**power for power in range(20) for step in _STEPS if step * 10**power >= least)
    return [_column(batches[i : i + size]) for i in range(0, len(batches), size)]


def _column(batches: Sequence[BatchFigures]) -> Column:
    parts = [_by_stage(batch) for batch in batches]
    lags = [lag for lag in map(sound_lag, batches) if lag is not None]
    return Column(
        first=batches[0].batch,
        last=batches[-1].batch,
        batches=len(batches),
        events=sum(batch.events for batch in batches),
        seconds=sum(map(total_seconds, batches)),
        stages={stage: sum(part[stage] for part in parts) / len(parts) for stage in (*STAGES, REST)},
        lag=max(lags, default=None),
        taken=sum(batch.taken for batch in batches),
        cancelled=sum(batch.cancelled for batch in batches),
    )


def amount(value: float) -> str:
    """A number to be read at a glance, in three or more digits."""
    if value >= 1e15:
        return f"{value:.2e}"
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{value / size:,.4g} {word}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def rate(value: float) -> str:
    """Like `amount`, but numbers of one size have the same decimals."""
    if value < 100:
        return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return amount(value)


def duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms" if seconds else "0 s"
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 48 * 3_600:
        return f"{whole // 3_600} h {whole % 3_600 // 60} min"
    return f"{whole // 86_400:,} days {whole % 86_400 // 3_600} h"


# -------------------------------------------------------------------------------------------------------------- charts


def throughput_chart(columns: Sequence[Column], w: float = WIDE) -> str:
    """Events a second, as bars."""
    best = max(columns, key=lambda column: column.rate)
    events, seconds = sum(column.events for column in columns), sum(column.seconds for column in columns)
    about = (
        f"{events:,} events in {duration(seconds)}, {rate(events / seconds if seconds else 0.0)} a second;"
        f" most in {best.name}, {rate(best.rate)} a second."
    )
    plot = _Plot(
        columns,
        "events a second",
        stacks=[[("c-match", column.rate)] for column in columns],
        labels=[rate(column.rate) if column.rate else "" for column in columns],
        notes=[
            f"{column.events:,} events in {duration(column.seconds)}: {rate(column.rate)} a second"
            for column in columns
        ],
    )
    return _drawn(plot, w, "Events a second, by batch", about)


def latency_chart(columns: Sequence[Column], w: float = WIDE, *, lag: bool = True) -> str:
    """Time by stage, one upon the other, with the lag as a line."""
    lags = [column.lag if lag else None for column in columns]
    batches = sum(column.batches for column in columns)
    spent = {stage: sum(column.stages[stage] * column.batches for column in columns) for stage in (*STAGES, REST)}
    whole = sum(spent.values())
    parts = {stage: f"{stage} {100 * seconds / whole:.0f} %" for stage, seconds in spent.items() if seconds}
    divisor, unit = _unit(max([_height(column) for column in columns] + [value for value in lags if value is not None]))
    legend = [Sample("box", _CLASSES[stage], said) for stage, said in parts.items()]
    about = f"A batch took {duration(whole / batches)} in the mean: {', '.join(parts.values()) or 'nothing'}."
    if any(value is not None for value in lags):
        legend.append(Sample("line", "s-ink line", "lag"))
        about += f" {_about_lag(columns)}"
    plot = _Plot(
        columns,
        unit,
        stacks=[[(_CLASSES[stage], column.stages[stage] / divisor) for stage in spent] for column in columns],
        line=[None if value is None else value / divisor for value in lags],
        notes=[_stages_note(column) for column in columns],
        legend=legend,
    )
    return _drawn(plot, w, "Time by stage, by batch", about)


def lag_chart(columns: Sequence[Column], w: float = WIDE) -> str:
    """The lag alone, as a line."""
    divisor, unit = _unit(max(column.lag or 0.0 for column in columns))
    plot = _Plot(
        columns,
        unit,
        stacks=[[] for _ in columns],
        line=[None if column.lag is None else column.lag / divisor for column in columns],
        notes=["no lag" if column.lag is None else f"lag {duration(column.lag)}" for column in columns],
        legend=[Sample("line", "s-ink line", "lag")],
    )
    return _drawn(plot, w, "Lag, by batch", _about_lag(columns))


def lag_apart(columns: Sequence[Column]) -> bool:
    """Whether the lag is too long to be drawn with the stages."""
    longest = max((column.lag or 0.0 for column in columns), default=0.0)
    return longest > _APART * max(map(_height, columns), default=0.0)


def _about_lag(columns: Sequence[Column]) -> str:
    known = [column for column in columns if column.lag is not None]
    if not known:
        return "No lag was measured."
    worst = max(known, key=lambda column: column.lag or 0.0)
    return f"The longest lag was {duration(worst.lag or 0.0)}, in {worst.name}."


def _height(column: Column) -> float:
    return sum(column.stages.values())


def _stages_note(column: Column) -> str:
    parts = [f"{stage} {duration(seconds)}" for stage, seconds in column.stages.items() if seconds]
    mean = "" if column.batches == 1 else " in the mean"
    lag = "" if column.lag is None else f"; lag {duration(column.lag)}"
    return f"{duration(_height(column))}{mean} ({', '.join(parts)}){lag}" if parts else f"0 s{lag}"


def _unit(seconds: float) -> tuple[float, str]:
    """What a time axis that reaches so far counts in: its seconds, and its name."""
    return next(((size, name) for most, size, name in _UNITS if 0 < seconds < most), (3_600.0, "hours"))


# ------------------------------------------------------------------------------------------------------------- drawing


@dataclass(frozen=True, slots=True)
class _Plot:
    columns: Sequence[Column]
    axis: str
    """What the heights count."""
    stacks: Sequence[Sequence[tuple[str, float]]]
    """For every column, classes and heights from below."""
    notes: Sequence[str]
    """For every column, what a reader sees who points at it."""
    labels: Sequence[str] = ()
    line: Sequence[float | None] = ()
    legend: Sequence[Sample] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where the columns go: the room of the plot, and the height of its scale."""

    box: Box
    count: int
    top: float

    @property
    def pitch(self) -> float:
        return self.box.w / self.count

    @property
    def bottom(self) -> float:
        return self.box.y + self.box.h

    def x(self, place: int) -> float:
        return self.box.x + (place + 0.5) * self.pitch

    def y(self, value: float) -> float:
        return self.bottom - self.box.h * value / self.top


def _drawn(plot: _Plot, w: float, title: str, about: str) -> str:
    columns = plot.columns
    heights = [sum(height for _, height in stack) for stack in plot.stacks]
    scale = _ticks(max([*heights, *(value for value in plot.line if value is not None)], default=0.0))
    left = max(text_width(said, "note") for said in ("batch", *map(amount, scale))) + 9
    lanes = [
        (sign, [getattr(column, sign) for column in columns])
        for sign in ("taken", "cancelled")
        if any(getattr(column, sign) for column in columns)
    ]
    pitch = (w - left) / len(columns)
    labels = plot.labels if _fits(plot.labels, pitch) else ()
    top = _LANES + 2 + _LANE * len(lanes) + (14 if labels else 4)
    frame = _Frame(Box(left, top, w - left, _HEIGHT), len(columns), scale[-1])
    canvas = Canvas()
    canvas.text(0, 12, plot.axis, "note", "soft")
    _draw_scale(canvas, scale, frame)
    _draw_marks(canvas, lanes, frame)
    _draw_bars(canvas, plot.stacks, labels, frame)
    _draw_line(canvas, plot.line, frame)
    _draw_names(canvas, columns, frame)
    for i, column in enumerate(columns):
        over = Box(frame.x(i) - pitch / 2, 20, pitch, frame.bottom - 20)
        canvas.box(over, "over", radius=0, title=f"{column.name}: {plot.notes[i]}{_changes(column)}")
    legend = [*plot.legend, *(_MARKS[sign] for sign, _ in lanes)]
    y = frame.bottom + 28
    h = y + draw_legend(canvas, legend, 0, y + 6, w) + 8 if legend else y
    return canvas.document(w, h, title, about).replace("<defs>", f"<style>{_STYLE}</style>\n<defs>", 1)


_MARKS = {
    "taken": Sample("▲", "step", "subscriptions added or replaced"),
    "cancelled": Sample("▽", "step", "subscriptions cancelled"),
}


def _changes(column: Column) -> str:
    added = f"; {column.taken:,} subscriptions added or replaced" if column.taken else ""
    return added + (f"; {column.cancelled:,} subscriptions cancelled" if column.cancelled else "")


def _ticks(most: float) -> list[float]:
    """From 0 to `most` or a little more, in about four round steps."""
    if most <= 0:
        return [0.0, 1.0]
    raw = most / 4
    magnitude = 10.0 ** floor(log10(raw))
    step = next(size * magnitude for size in _STEPS if size * magnitude >= raw * 0.999)
    count = max(1, int(most / step - 1e-9) + 1)
    return [i * step for i in range(count + 1)]


def _fits(texts: Iterable[str], pitch: float) -> bool:
    return all(text_width(text, "note") + 6 <= pitch for text in texts)


def _draw_scale(canvas: Canvas, scale: Sequence[float], frame: _Frame) -> None:
    for tick in scale:
        y = frame.y(tick)
        canvas.text(frame.box.x - 8, y + 4, amount(tick), "note", "soft", anchor="end")
        kind = "s-rim hair" if tick else "s-faint thin"
        canvas.path(f"M{number(frame.box.x)} {number(y)}h{number(frame.box.w)}", kind)


def _draw_marks(canvas: Canvas, lanes: Sequence[tuple[str, Sequence[int]]], frame: _Frame) -> None:
    """A triangle over every column that subscriptions came or went with, with their number where there is room."""
    marked = [i for i in range(frame.count) if any(counts[i] for _, counts in lanes)]
    for i in marked if len(marked) <= _FEW_MARKS else ():
        canvas.path(f"M{number(frame.x(i))} {number(_LANES)}V{number(frame.bottom)}", "s-step hair")
    named = all(text_width(f"{count:,}", "small") + 26 <= frame.pitch for _, counts in lanes for count in counts)
    for lane, (sign, counts) in enumerate(lanes):
        y = _LANES + _LANE * lane
        for i, count in enumerate(counts):
            if count:
                _draw_mark(canvas, sign, f"{count:,}" if named else "", frame.x(i), y)


def _draw_mark(canvas: Canvas, sign: str, text: str, x: float, y: float) -> None:
    if sign == "taken":
        canvas.path(f"M{number(x)} {number(y)}l-4.5 9h9z", "step")
    else:
        canvas.path(f"M{number(x)} {number(y + 9)}l-4.5 -8h9z", "s-step hollow line")
    if text:
        canvas.text(x + 8, y + 9, text, "small", "soft halo")


def _draw_bars(
    canvas: Canvas, stacks: Sequence[Sequence[tuple[str, float]]], labels: Sequence[str], frame: _Frame
) -> None:
    w = min(frame.pitch * 0.72, _BAR)
    for i, stack in enumerate(stacks):
        below, x = 0.0, frame.x(i) - w / 2
        for classes, height in stack:
            if height:
                y = frame.y(below + height)
                canvas.box(Box(x, y, w, frame.y(below) - y), classes, radius=0)
            below += height
        if labels:
            canvas.text(frame.x(i), frame.y(below) - 5, labels[i], "note", "ink halo", anchor="middle")


def _draw_line(canvas: Canvas, values: Sequence[float | None], frame: _Frame) -> None:
    """A line through the values that are known, broken where one is not."""
    way, on = "", False
    for i, value in enumerate(values):
        if value is not None:
            way += f"{'L' if on else 'M'}{number(frame.x(i))} {number(frame.y(value))}"
        on = value is not None
    if way:
        canvas.path(way, "s-ink line")
    r = min(3.5, frame.pitch / 5)
    for i, value in enumerate(values):
        if value is not None:
            dot = Box(frame.x(i) - r, frame.y(value) - r, 2 * r, 2 * r)
            canvas.box(dot, "hollow s-ink line", radius=r)


def _draw_names(canvas: Canvas, columns: Sequence[Column], frame: _Frame) -> None:
    """The numbers of the batches below, as many as there is room for."""
    texts = [f"{column.first:,}" for column in columns]
    widest = max(text_width(text, "note") for text in texts) + 12
    every = next(size * 10**power for power in range(20) for size in _STEPS if size * 10**power * frame.pitch >= widest)
    for i in range(0, len(texts), every):
        canvas.text(frame.x(i), frame.bottom + 16, texts[i], "note", "soft", anchor="middle")
    canvas.text(0, frame.bottom + 16, "batch", "note", "soft")
