"""A pipeline run as one HTML page: its figures, charts and tables, and one match explained.

The page stands alone, like the drawings: no scripts, no fonts, nothing fetched. It is well-formed XML too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from html import escape
from typing import NamedTuple
from xml.etree import ElementTree

from tidings.draw.charts import (
    NARROW,
    WIDE,
    BatchFigures,
    Column,
    amount,
    duration,
    joined,
    lag_apart,
    lag_chart,
    latency_chart,
    rate,
    sound_lag,
    throughput_chart,
    total_seconds,
)
from tidings.draw.svg import DARK, FONTS, LIGHT
from tidings.draw.text import clean

__all__ = ["BatchFigures", "Reject", "Report", "TopSubscription", "render"]

_MOST_BATCHES = 40
_ENDS = 15
"""Of more batches, so many of the first and of the last ones."""
_MOST_REJECTS = 50
_MOST_TOP = 25
_MOST_EVENTS = 8
_MOST_REASONS = 200
_LONGEST_LINE = 2_000
_EXACT = 10**10
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_SVG = "http://www.w3.org/2000/svg"


class TopSubscription(NamedTuple):
    id: str
    purpose: str
    """One line, or nothing."""
    matches: int
    events: Sequence[str]
    """Short names, in order."""


class Reject(NamedTuple):
    source: str
    line: int | None
    reason: str


class Report(NamedTuple):
    title: str
    about: str
    """One paragraph."""
    batches: Sequence[BatchFigures]
    top: Sequence[TopSubscription]
    rejects: Sequence[Reject]
    explained: str
    """Which subscription, and which event."""
    drawing: str
    """An SVG document, or nothing."""
    reasons: Sequence[str]
    """Lines of text: why it matches."""
    facts: Mapping[str, str]


def render(report: Report) -> str:
    """The page, as the text of an HTML file."""
    batches = sorted(report.batches, key=lambda batch: batch.batch)
    page = _Drawings()
    sections = [
        _section("glance", "At a glance", _headline(batches, report)),
        *_charts(batches, page),
        _section("batches", "Batches", _batches(batches)),
        _section("top", "Subscriptions with the most matches", _top(report.top)),
        _section("rejects", "Rejects", _rejects(report.rejects, sum(batch.rejects for batch in batches))),
        _section("why", "A match, explained", _explained(report, page)),
        _section("facts", "How it was run", _facts(report.facts)),
    ]
    body = "\n".join(section for section in sections if section)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        '<meta name="color-scheme" content="light dark"/>\n'
        f"<title>{_text(report.title)}</title>\n<style>{_STYLE}{page.style()}</style>\n</head>\n<body>\n"
        f'<header>\n<p class="kind">Tidings · pipeline report</p>\n<h1 dir="auto">{_text(report.title)}</h1>\n'
        f"{_paragraph(report.about, 'about')}{_paragraph(_span(batches), 'soft')}</header>\n<main>\n{body}\n</main>\n"
        "</body>\n</html>\n"
    )


# ---------------------------------------------------------------------------------------------------------- small parts


def _text(text: str) -> str:
    """Text of others, as it may be in the page."""
    return escape(clean(text))


def _paragraph(text: str, classes: str = "") -> str:
    return f'<p class="{classes}" dir="auto">{_text(text)}</p>\n' if text.strip() else ""


def _section(name: str, heading: str, inside: str) -> str:
    if not inside:
        return ""
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{heading}</h2>\n{inside}</section>'


def _table(label: str, caption: str, head: Sequence[str], rows: Iterable[str], classes: str, foot: str = "") -> str:
    """A table that scrolls by itself where the screen is too narrow for it."""
    heads = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "\n".join(rows)
    return (
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0">\n<table class="{classes}">\n'
        f"<caption>{caption}</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n{foot}</table>\n"
        "</div>\n"
    )


def _row(first: str, cells: Iterable[str]) -> str:
    return f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def _moment(moment: datetime) -> str:
    return (moment if moment.tzinfo is None else moment.astimezone(UTC)).strftime("%Y-%m-%d %H:%M:%S")


def _one_day(batches: Sequence[BatchFigures]) -> bool:
    return len({_moment(batch.started)[:10] for batch in batches}) == 1


def _span(batches: Sequence[BatchFigures]) -> str:
    if not batches:
        return ""
    first, last = _moment(batches[0].started), _moment(batches[-1].started)
    if len(batches) == 1:
        return f"One batch, started {first} UTC."
    return f"First batch started {first}, last batch {last[11:] if _one_day(batches) else last}, UTC."


# -------------------------------------------------------------------------------------------------------------- figures


def _headline(batches: Sequence[BatchFigures], report: Report) -> str:
    events = sum(batch.events for batch in batches)
    seconds = sum(map(total_seconds, batches))
    taken, cancelled = sum(batch.taken for batch in batches), sum(batch.cancelled for batch in batches)
    rejects = max(sum(batch.rejects for batch in batches), len(report.rejects))
    lags = [lag for lag in map(sound_lag, batches) if lag is not None]
    tiles = [
        ("Events", events, f"{rate(events / seconds)} a second" if events and seconds else "none came"),
        ("Matches", sum(batch.matches for batch in batches), _of_candidates(batches)),
        ("Subscriptions", batches[-1].subscriptions if batches else 0, f"{taken:,} added, {cancelled:,} cancelled"),
        ("Rejects", rejects, "could not be read" if rejects else "everything could be read"),
        (
            "Batches",
            len(batches),
            f"{duration(seconds / len(batches))} each, in the mean" if batches else "none has run",
        ),
    ]
    shown = [_tile(name, _exact(count), _inexact(count) + note) for name, count, note in tiles]
    shown.append(
        _tile("Time in batches", duration(seconds), f"longest lag {duration(max(lags))}" if lags else "no lag measured")
    )
    return f'<dl class="tiles">\n{"".join(shown)}</dl>\n'


def _of_candidates(batches: Sequence[BatchFigures]) -> str:
    candidates = sum(batch.candidates for batch in batches)
    return f"of {_counted(candidates, 'candidate')}" if candidates else "no candidates"


def _exact(count: int) -> str:
    return f"{count:,}" if count < _EXACT else amount(count)


def _inexact(count: int) -> str:
    return "" if count < _EXACT else f"{count:,}; "


def _tile(name: str, value: str, note: str) -> str:
    return f'<div><dt>{name}</dt><dd class="value">{value}</dd><dd class="soft">{note}</dd></div>\n'


def _charts(batches: Sequence[BatchFigures], page: _Drawings) -> Iterator[str]:
    if not batches:
        return
    wide, narrow = joined(batches, WIDE), joined(batches, NARROW)
    apart = lag_apart(wide)
    lag_here = any(column.lag is not None for column in wide) and not apart
    charts: list[tuple[str, str, Callable[[Sequence[Column], float], str]]] = []
    if any(column.rate for column in wide):
        charts.append(("throughput", "Throughput", throughput_chart))
    if any(column.seconds for column in wide):
        charts.append(("latency", "Latency", partial(latency_chart, lag=lag_here)))
    if apart:
        charts.append(("lag", "Lag", lag_chart))
    for name, heading, chart in charts:
        inside = ""
        for size, columns, w in (("wide", wide, WIDE), ("narrow", narrow, NARROW)):
            svg = page.put(chart(columns, w), f"{name}-{size}")
            said = _CAPTIONS[name] + (f" {_LAG}" if name == "latency" and lag_here else "")
            said += _how_joined(columns[0].batches, name)
            inside += f'<figure class="{size}"><figcaption>{said}</figcaption>\n{svg}</figure>\n'
        yield _section(name, heading, inside)


_LAG = "The lag is the time from when the newest document came to when its notifications were there."
_CAPTIONS = {
    "throughput": "Events a second of each batch, from its first stage to its last.",
    "latency": "Where the time of a batch goes, stage upon stage.",
    "lag": _LAG,
}


def _how_joined(size: int, name: str) -> str:
    if size == 1:
        return ""
    means = {
        "throughput": "",
        "latency": ": the mean of their stages, the longest of their lags",
        "lag": ": the longest",
    }
    return f" Each column joins {size:,} neighbouring batches{means[name]}."


# --------------------------------------------------------------------------------------------------------------- tables


def _batches(batches: Sequence[BatchFigures]) -> str:
    if not batches:
        return '<p class="none">No batch has run.</p>\n'
    digits = 3 if max(max(total_seconds(batch), sound_lag(batch) or 0.0) for batch in batches) < 100 else 1
    start = 11 if _one_day(batches) else 0
    if len(batches) <= _MOST_BATCHES:
        caption = "Every batch." if len(batches) > 1 else "The one batch."
        rows = [_batch_row(batch, start, digits) for batch in batches]
    else:
        between = len(batches) - 2 * _ENDS
        caption = f"The first {_ENDS} and the last {_ENDS} of {len(batches):,} batches."
        rows = [_batch_row(batch, start, digits) for batch in batches[:_ENDS]]
        rows.append(f'<tr class="gap"><td colspan="{len(_BATCH_HEAD)}">{between:,} batches not shown</td></tr>')
        rows += [_batch_row(batch, start, digits) for batch in batches[-_ENDS:]]
    foot = f"<tfoot>{_total_row(batches, digits)}</tfoot>\n" if len(batches) > 1 else ""
    return _table("Batches", caption, _BATCH_HEAD, rows, "numbers", foot)


_BATCH_HEAD = (
    *("Batch", "Started, UTC", "Events", "Events/s", "Candidates", "Matches", "Rejects"),
    *("Sub&#173;scrip&#173;tions", "Change", "Seconds", "Lag, s"),
)


def _batch_row(batch: BatchFigures, start: int, digits: int) -> str:
    """`start` is where its moment begins to be of interest, `digits` are the decimals of its times."""
    seconds, lag = total_seconds(batch), sound_lag(batch)
    counts = (batch.candidates, batch.matches, batch.rejects, batch.subscriptions)
    cells = [
        _moment(batch.started)[start:],
        f"{batch.events:,}",
        _rate(batch.events, seconds),
        *(f"{count:,}" for count in counts),
        _change(batch.taken, batch.cancelled),
        f"{seconds:,.{digits}f}",
        "–" if lag is None else f"{lag:,.{digits}f}",
    ]
    return _row(f"{batch.batch:,}", cells)


def _total_row(batches: Sequence[BatchFigures], digits: int) -> str:
    events, seconds = sum(batch.events for batch in batches), sum(map(total_seconds, batches))
    cells = [
        "",
        f"{events:,}",
        _rate(events, seconds),
        f"{sum(batch.candidates for batch in batches):,}",
        f"{sum(batch.matches for batch in batches):,}",
        f"{sum(batch.rejects for batch in batches):,}",
        "",
        _change(sum(batch.taken for batch in batches), sum(batch.cancelled for batch in batches)),
        f"{seconds:,.{digits if seconds < 1000 else 0}f}",
        "",
    ]
    return _row("All", cells)


def _rate(events: int, seconds: float) -> str:
    return rate(events / seconds) if seconds else "–"


def _change(taken: int, cancelled: int) -> str:
    return " ".join([f"+{taken:,}"] * bool(taken) + [f"−{cancelled:,}"] * bool(cancelled)) or "–"


def _top(top: Sequence[TopSubscription]) -> str:
    if not top:
        return '<p class="none">No subscription has matched.</p>\n'
    most = max(*(one.matches for one in top), 1)
    items = "".join(_top_item(one, most) for one in top[:_MOST_TOP])
    more = len(top) - _MOST_TOP
    rest = f'<p class="soft">{_counted(more, "more subscription")} not shown.</p>\n' if more > 0 else ""
    return f'<ol class="top">\n{items}</ol>\n{rest}'


def _top_item(one: TopSubscription, most: int) -> str:
    names = ",</span> ".join(f"<span><bdi>{_text(name)}</bdi>" for name in one.events[:_MOST_EVENTS])
    more = len(one.events) - _MOST_EVENTS
    events = f'<p class="events">{names}</span>{f" and {more:,} more" if more > 0 else ""}</p>\n' if names else ""
    share = min(max(one.matches / most, 0), 1) * 100
    return (
        f'<li>\n<div><p class="id"><bdi>{_text(one.id)}</bdi></p>\n{_paragraph(one.purpose, "soft")}</div>\n'
        f'<div><p class="count"><span class="track" aria-hidden="true">'
        f'<span style="width:{share:.1f}%"></span></span><span>{_counted(one.matches, "match", "matches")}</span></p>\n'
        f"{events}</div>\n</li>\n"
    )


def _rejects(rejects: Sequence[Reject], counted: int) -> str:
    count = max(len(rejects), counted)
    if not rejects:
        if not count:
            return '<p class="none">Nothing was rejected.</p>\n'
        return f'<p class="none">{_counted(count, "reject")}, of which no more is known.</p>\n'
    shown = rejects[:_MOST_REJECTS]
    more = count - len(shown)
    caption = "What could not be read, and why."
    if more:
        caption = f"The first {len(shown):,} of {count:,}; {more:,} more {'is' if more == 1 else 'are'} not shown."
    rows = [
        _row(
            f"<bdi>{_text(reject.source)}</bdi>",
            ("–" if reject.line is None else f"{reject.line:,}", f"<bdi>{_text(reject.reason)}</bdi>"),
        )
        for reject in shown
    ]
    return _table("Rejects", caption, ("Source", "Line", "Reason"), rows, "rejects")


# --------------------------------------------------------------------------------------------------------- explanation


def _explained(report: Report, page: _Drawings) -> str:
    if not (report.drawing or report.reasons):
        return ""
    inside = f'<h3 dir="auto">{_text(report.explained)}</h3>\n' if report.explained.strip() else ""
    if report.drawing:
        svg = page.put(report.drawing, "explained")
        inside += f'<figure class="scroll" role="region" aria-label="Drawing" tabindex="0">{svg}</figure>\n'
    shown = report.reasons[:_MOST_REASONS]
    lines = "".join(f'<li dir="auto">{_spaced(line)}</li>\n' for line in shown)
    if more := len(report.reasons) - len(shown):
        lines += f"<li>… {_counted(more, 'more line')}</li>\n"
    if lines:
        inside += '<div class="scroll reasons" role="region" aria-label="Reasons" tabindex="0">\n'
        inside += f"<ul>\n{lines}</ul>\n</div>\n"
    return inside


def _spaced(line: str) -> str:
    """A line with the spaces that put its parts below those of the line above."""
    parts = re.split("( {2,})", line[:_LONGEST_LINE])
    return "".join(part if part.isspace() else _text(part) for part in parts)


def _facts(facts: Mapping[str, str]) -> str:
    items = "".join(
        f'<div><dt dir="auto">{_text(name)}</dt><dd dir="auto">{_text(said)}</dd></div>\n'
        for name, said in facts.items()
    )
    return f'<dl class="facts">\n{items}</dl>\n' if items else ""


class _Drawings:
    """SVG documents as parts of a page: ids that no other part has, and rules that reach no further than they do."""

    def __init__(self) -> None:
        self._rules: dict[str, None] = {}

    def style(self) -> str:
        return "".join(self._rules)

    def put(self, svg: str, name: str) -> str:
        root = ElementTree.fromstring(svg)
        for element in list(root.iter()):
            for child in list(element):
                kind = child.tag.rpartition("}")[2]
                if kind == "style":
                    self._rules[_limited(child.text or "")] = None
                if kind in ("style", "script"):
                    element.remove(child)
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
            for key, value in element.attrib.items():
                element.set(key, _renamed(key, value, name))
        root.set("xmlns", _SVG)
        return f'<div class="drawing">{ElementTree.tostring(root, encoding="unicode")}</div>'


def _renamed(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key in ("aria-labelledby", "aria-describedby"):
        return " ".join(f"{name}-{part}" for part in value.split())
    return re.sub(r"(^|url\()#", rf"\g<1>#{name}-", value)


def _limited(css: str) -> str:
    """The rules of a drawing for drawings alone, its dark colours for the screen alone."""

    def rule(found: re.Match[str]) -> str:
        said = found[1].strip()
        if said.startswith("@"):
            return f"{said.replace('@media (', '@media screen and (')}{{"
        return ",".join(f".drawing {selector.strip()}" for selector in said.split(",")) + "{"

    return re.sub(r"([^{}]+)\{", rule, css.replace("<", ""))


# ---------------------------------------------------------------------------------------------------------------- style


def _colours(colours: Mapping[str, str]) -> str:
    return ":root{" + "".join(f"--{name}:{value};" for name, value in colours.items()) + "}"


_STYLE = (
    f"""
{_colours(LIGHT)}
@media screen and (prefers-color-scheme:dark){{{_colours(DARK)}}}
:root{{color-scheme:light dark;font:15px/1.5 {FONTS};color:var(--ink);background:var(--page)}}
"""
    + """
*{box-sizing:border-box}
body{max-width:1008px;margin:0 auto;padding:40px 24px 64px;overflow-wrap:anywhere}
h1,h2,h3,p,dl,dd,ol,ul,figure{margin:0;padding:0}
h1{font-size:30px;line-height:1.2;letter-spacing:-.01em;margin:2px 0 10px}
h2{font-size:20px;line-height:1.3;margin-bottom:12px}
h3{font-size:15px;margin-bottom:12px}
section{margin-top:44px}
bdi{unicode-bidi:isolate}
.soft,.none,figcaption,caption{color:var(--soft)}
.kind{color:var(--hit);font-size:13px;font-weight:600}
.about{max-width:68ch;margin-bottom:6px}
header .soft,figcaption,caption{font-size:13px}
figcaption{max-width:80ch;margin-bottom:14px}
caption{text-align:start;padding:0 0 8px}
.tiles{display:grid;grid-template-columns:repeat(3,1fr);gap:12px}
.tiles div{padding:14px 16px;background:var(--pale);border:1px solid var(--rim);border-radius:6px}
.tiles dt{font-size:13px;color:var(--soft)}
.value{font-size:27px;line-height:1.25;font-weight:600;font-variant-numeric:tabular-nums}
.tiles .soft{font-size:13px}
.drawing svg{display:block;max-width:100%;height:auto}
.narrow{display:none}
.scroll{overflow-x:auto}
.scroll:focus-visible{outline:2px solid var(--hit);outline-offset:3px}
.scroll .drawing{min-width:min(100%,740px)}
table{border-collapse:separate;border-spacing:0;width:100%;font-size:13px;line-height:18px}
th,td{padding:6px 8px;text-align:start;vertical-align:top;border-bottom:1px solid var(--rim)}
thead th{color:var(--soft);font-weight:600;vertical-align:bottom;border-bottom-color:var(--faint)}
tbody th{font-weight:600}
tfoot th,tfoot td{font-weight:600;border-bottom:0}
tr>:first-child{padding-left:0}
tr>:last-child{padding-right:0}
.numbers{font-variant-numeric:tabular-nums;overflow-wrap:normal}
.numbers th,.numbers td{text-align:end;white-space:nowrap}
.numbers thead th:nth-child(8),.numbers td:nth-child(9){white-space:normal}
.numbers tr>:first-child,.numbers tr>:nth-child(2){text-align:start}
.numbers tr>:first-child{position:sticky;left:0;background:var(--page)}
.numbers .gap td{text-align:start;padding-left:8px;color:var(--soft);background:var(--pale)}
.rejects tr>:first-child{width:34%}
.rejects tbody th{font-weight:400}
.rejects tr>:nth-child(2){width:4.5em;text-align:end;font-variant-numeric:tabular-nums}
.top{list-style:none;font-size:13px;border-top:1px solid var(--rim)}
.top li{display:grid;grid-template-columns:minmax(0,9fr) minmax(0,11fr);gap:4px 24px;padding:10px 0;
border-bottom:1px solid var(--rim)}
.id{font-weight:600}
.count{display:flex;align-items:center;gap:10px;font-variant-numeric:tabular-nums}
.count>:last-child{flex:none;min-width:7em;text-align:end}
.track{flex:1;height:10px;background:var(--pale);border-radius:2px}
.track span{display:block;height:100%;min-width:2px;background:var(--hit);border-radius:2px}
.events{color:var(--soft)}
.events span{display:inline-block;max-width:100%}
figure.scroll,.reasons{border:1px solid var(--rim);border-radius:6px}
.reasons{margin-top:12px;padding:12px 16px;background:var(--pale)}
.reasons ul{list-style:none;font:12px/1.6 ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.reasons li{white-space:pre;overflow-wrap:normal}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(210px,1fr));gap:10px 24px;font-size:13px}
.facts dt{color:var(--soft)}
@media screen and (max-width:719px){
body{padding:24px 16px 48px}
h1{font-size:24px}
section{margin-top:36px}
.tiles{grid-template-columns:repeat(2,minmax(0,1fr));gap:8px}
.tiles div{padding:10px 12px}
.value{font-size:21px}
.wide{display:none}
.narrow{display:block}
.narrow svg{width:100%;max-width:560px}
.scroll .drawing{min-width:740px}
.top li{grid-template-columns:minmax(0,1fr)}
}
@media print{
tfoot{display:table-row-group}
@page{margin:15mm 14mm}
:root{font-size:12px}
body{max-width:none;padding:0 1px}
section{margin-top:24px}
h1{font-size:24px}
h2{font-size:16px}
h3,.about{font-size:12px}
.value{font-size:20px}
.tiles div{padding:8px 12px}
table,.top,.reasons ul,.facts,header .soft,.tiles dt,.tiles .soft,figcaption,caption{font-size:11px}
th,td{padding:2px 5px}
.scroll{overflow:visible}
.reasons li{white-space:pre-wrap;overflow-wrap:anywhere}
.scroll .drawing{min-width:0}
h2,h3,figcaption,caption{break-after:avoid}
figure,tr,.top li,.tiles div{break-inside:avoid}
.track,.track span,.tiles div,.reasons,.gap td{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
"""
)
