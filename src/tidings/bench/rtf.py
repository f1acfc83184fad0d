"""The experiments of the RTF paper (section 4, figures 5 to 7): time to filter a publication, throughput, memory and
time to insert, as queries become more, and with text in none, half or all of them. `workloads.rtf_paper` says how
queries and publications are made.

Each index is filtered through twice: as published (RTF scans its query table, iBroker its buckets, nothing is joined)
and as repaired, which is how the matchers work otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from tidings.bench.measure import Measured, fill, measure, refuse
from tidings.bench.report import Curve, Figure, Report, Row, Table
from tidings.bench.rtf_claims import (
    PAPER_FIRST_MEGABYTES,
    PAPER_KILOBYTES_A_SECOND,
    PAPER_MEGABYTES,
    PAPER_MILLISECONDS,
    PAPER_QUERIES,
    PAPER_STEP,
    Found,
    Step,
    claims,
)
from tidings.bench.settings import Settings
from tidings.bench.workloads.rtf_paper import TERMS, TUPLES, Corpus, corpus, publications, queries
from tidings.lang.fulltext import words
from tidings.lang.pattern import Query
from tidings.lang.shapes import Shapes
from tidings.match.ibroker import Ibroker
from tidings.match.rtf.matcher import Rtfm, Rtfs
from tidings.match.rtf.tuples import conjunctions
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import is_literal, parts

RTF = ("rtfs", "rtfm")
ALL = (*RTF, "ibroker")
TextShare: TypeAlias = float
"""FT of the paper: the part of the queries that has texts."""
_MIXED = 0.5
COMPARED: dict[TextShare, tuple[str, ...]] = {_MIXED: ALL, 0.0: RTF, 1.0: RTF}
"""As in the paper, which leaves iBroker out where text is varied."""

_MATCHERS = {"rtfs": Rtfs, "rtfm": Rtfm, "ibroker": Ibroker}
_GROUPS = 10
_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class Sizes:
    """`queries` there are, after each step of inserting; then `publications` are filtered, `more` for throughput."""

    queries: tuple[int, ...]
    publications: int
    more: int


FULL = Sizes(tuple(range(20_000, 100_001, 20_000)), publications=20, more=100)
QUICK = Sizes(tuple(range(1_000, 5_001, 1_000)), publications=10, more=50)


def run(settings: Settings) -> Report:
    return at_sizes(QUICK if settings.quick else FULL, corpus(), settings)


def at_sizes(sizes: Sizes, source: Corpus, settings: Settings) -> Report:
    settings.tell("making publications")
    events = publications(sizes.publications, seed=settings.seed, source=source)
    more = publications(sizes.more, seed=settings.seed + 1, source=source)
    found = _measured(sizes, source, events, more, settings)
    workload: Row = {
        "corpus": source.origin,
        "classes": len(source.classes),
        "properties": len({name for choice in source.properties.values() for name in choice.items}),
        "tuples a query": f"2 to {TUPLES}",
        "words a text": f"1 to {TERMS}",
        "publications": sizes.publications,
        "triples each": round(sum(len(event.triples()) for event in events) / len(events), 1),
        "words each": round(sum(map(_words, events)) / len(events), 1),
        "seed": settings.seed,
    }
    question = "how long does a publication take to filter, and what do the indexes cost, as queries become more?"
    return Report("rtf", question, workload, _tables(found), tuple(_figures(found)), tuple(claims(found)))


def _measured(
    sizes: Sizes, source: Corpus, events: Sequence[Event], more: Sequence[Event], settings: Settings
) -> Found:
    steps: list[Step] = []
    throughput: dict[str, list[float]] = {}
    step_1 = 0.0
    for ft, matchers in COMPARED.items():
        settings.tell(f"making {sizes.queries[-1]:,} queries, text in {ft:.0%}")
        forms = _forms(queries(sizes.queries[-1], seed=settings.seed, ft=ft, source=source))
        if ft == _MIXED:
            step_1 = _step_1(forms[: sizes.queries[0]])
        engines: list[Rtfm | Ibroker] = [_MATCHERS[name](Ontology.empty()) for name in matchers]
        for before, size in pairwise((0, *sizes.queries)):
            settings.tell(f"{', '.join(matchers)}, text in {ft:.0%}: {size:,} queries")
            steps += _steps(engines, ft, forms[before:size], events)
        if ft == _MIXED:
            for engine in engines:
                settings.tell(f"{engine.name}: throughput")
                throughput[engine.name] = _throughput_of(engine, more)
    return Found(tuple(steps), len(more), _kilobytes(more), throughput, step_1)


def _steps(
    engines: Sequence[Rtfm | Ibroker], ft: TextShare, forms: Sequence[tuple[str, Query]], events: Sequence[Event]
) -> Iterator[Step]:
    """The engines take turns, so that what else the machine does meets them alike."""
    seconds = [fill(engine, forms) for engine in engines]
    for engine, taken in zip(engines, seconds, strict=True):
        repaired, published = (_filtered(engine, events, published) for published in (False, True))
        yield Step(ft, engine.name, len(engine), len(forms), taken, repaired, published)


def _filtered(engine: Rtfm | Ibroker, events: Sequence[Event], published: bool) -> Measured:
    engine.published = published
    return measure(engine, events, rounds=_ROUNDS)


def _forms(texts: Iterable[str]) -> list[tuple[str, Query]]:
    parse = Shapes().parse
    return [(f"q{number}", parse(text)) for number, text in enumerate(texts)]


def _step_1(forms: Sequence[tuple[str, Query]]) -> float:
    """Microseconds a query, in the fastest round: it becomes tuples, which is the same for all matchers."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        for _, query in forms:
            conjunctions("rtfm", query)
        times.append(time.process_time() - begun)
    return min(times) / len(forms) * 1e6


def _throughput_of(engine: Rtfm | Ibroker, events: Sequence[Event]) -> list[float]:
    """Mean milliseconds a publication, for each of as many groups."""
    share = len(events) // _GROUPS
    times = []
    for start in range(0, share * _GROUPS, share):
        begun = time.process_time()
        for event in events[start : start + share]:
            engine.match(event, refuse)
        times.append((time.process_time() - begun) / share * 1000)
    return times


def _kilobytes(events: Sequence[Event]) -> float:
    """A publication, as N-Triples."""
    return sum(len(event.body.encode()) for event in events) / len(events) / 1000


def _words(event: Event) -> int:
    return sum(len(words(parts(o).lexical)) for _, _, o in event.triples() if is_literal(o))


# --------------------------------------------------------------------------------------------------------------- tables

_FILTERING = """Means for one publication, the faster of two times; 'as published' is without the repairs. Visited are
trie nodes, or entries in buckets; marked are tuples; rows are those of the query table. A publication speaks of one
thing, so that the join which the published algorithms lack finds nothing to object to. As published, RTF looks at every
row of its query table; and iBroker at every query, since all begin with a class. The paper filters 5,000 publications,
ten times."""

_HOLDING = """MB are those of all objects of the index, strings that are shared being counted once. Counted without the
language: a reference, identifier or number takes 8 bytes, a string one for each character and is kept wherever the
paper's structures have it: once a node in a trie, once an entry in a bucket."""


def _tables(found: Found) -> tuple[Table, ...]:
    return (
        Table(
            "Filtering (figures 5a and 7a)",
            tuple(map(_filtering, found.steps)),
            f"{_line(_FILTERING)} {_agreed(found)}",
        ),
        Table("Inserting and holding (figures 6 and 7b)", tuple(map(_holding, found.steps)), _line(_HOLDING)),
        Table(
            "Throughput as published (figure 5b)",
            tuple(_throughput(found)),
            f"At {found.largest:,} queries, text in 50%; a publication has {found.kilobytes:.2f} KB as N-Triples, "
            "in the paper 0.63 KB.",
        ),
    )


def _line(text: str) -> str:
    return text.replace("\n", " ")


def _agreed(found: Found) -> str:
    matches: dict[tuple[float, int], set[float]] = {}
    for step in found.steps:
        matches.setdefault((step.ft, step.queries), set()).update((step.repaired.matches, step.published.matches))
    same = all(len(counts) == 1 for counts in matches.values())
    return f"All matchers, both ways, {'found the same' if same else 'did NOT find the same'}."


def _filtering(step: Step) -> Row:
    published, repaired = step.published, step.repaired
    return {
        "text": f"{step.ft:.0%}",
        "matcher": step.matcher,
        "queries": step.queries,
        "ms": repaired.milliseconds,
        "ms as published": published.milliseconds,
        "matches": repaired.matches,
        "matches as published": published.matches,
        "visited": repaired.counted[step.visits],
        "visited as published": published.counted[step.visits],
        "marked": repaired.counted.get("tuples_matched"),
        "rows": repaired.counted.get("rows_scanned"),
        "rows as published": published.counted.get("rows_scanned"),
    }


def _holding(step: Step) -> Row:
    held = step.repaired.held
    return {
        "text": f"{step.ft:.0%}",
        "matcher": step.matcher,
        "queries": step.queries,
        "seconds to insert the last": step.seconds,
        "µs each": step.microseconds,
        "MB": step.megabytes,
        "MB in the paper": _paper_megabytes(step),
        "MB without the language": step.counted_megabytes,
        "trie nodes": held.get("trie_nodes"),
        "entries": None if "trie_nodes" in held else held["tuples"],
        "references": held["references_held"],
        "characters": held["characters_held"],
    }


def _paper_megabytes(step: Step) -> int | None:
    if step.queries == PAPER_STEP and step.ft == _MIXED:
        return PAPER_FIRST_MEGABYTES[step.matcher]
    return PAPER_MEGABYTES.get((step.ft, step.matcher)) if step.queries == PAPER_QUERIES else None


def _throughput(found: Found) -> Iterator[Row]:
    for name, groups in found.throughput.items():
        rates = [1000 / milliseconds for milliseconds in groups]
        mean = 1000 * len(groups) / sum(groups)
        yield {
            "matcher": name,
            "publications a second": mean,
            "slowest tenth": min(rates),
            "fastest tenth": max(rates),
            "KB a second": mean * found.kilobytes,
            "KB a second in the paper": PAPER_KILOBYTES_A_SECOND[name],
        }


# -------------------------------------------------------------------------------------------------------------- figures


def _figures(found: Found) -> Iterator[Figure]:
    half = [found.runs(_MIXED, name) for name in ALL]
    x = "continuous queries"
    yield Figure(
        "rtf-5a-filtering",
        "Filtering a publication, text in 50% of the queries (fig. 5a)",
        x,
        "milliseconds",
        (
            *_curves(half, lambda step: step.published.milliseconds, "{}, as published"),
            *_curves(half, lambda step: step.repaired.milliseconds, "{}"),
            *_paper_milliseconds(found),
        ),
        log_y=True,
    )
    yield _throughput_figure(found)
    yield Figure(
        "rtf-6a-memory",
        "Memory, text in 50% of the queries (fig. 6a)",
        x,
        "MB",
        (
            *_curves(half, lambda step: step.megabytes, "{}"),
            *_paper_megabytes_drawn(found),
        ),
    )
    yield Figure(
        "rtf-6a-counted",
        "Memory, counted without the language, text in 50% (fig. 6a)",
        x,
        "MB at 8 bytes a reference, 1 a character",
        _curves(half, lambda step: step.counted_megabytes, "{}"),
    )
    yield Figure(
        "rtf-6b-insertion",
        "Inserting queries, text in 50% of them (fig. 6b)",
        x,
        f"seconds for {half[0][0].inserted:,} more",
        _curves(half, lambda step: step.seconds, "{}"),
    )
    varied = [found.runs(ft, name) for ft in sorted(COMPARED) for name in RTF]
    yield Figure(
        "rtf-7a-filtering",
        "Filtering as published, with more or less text (fig. 7a)",
        x,
        "milliseconds",
        _curves(varied, lambda step: step.published.milliseconds, "{}, {:.0%}"),
    )
    yield Figure(
        "rtf-7a-filtering-repaired",
        "Filtering as repaired, with more or less text (fig. 7a)",
        x,
        "milliseconds",
        _curves(varied, lambda step: step.repaired.milliseconds, "{}, {:.0%}"),
    )
    yield Figure(
        "rtf-7b-insertion",
        "Inserting, with more or less text (fig. 7b)",
        x,
        f"seconds for {half[0][0].inserted:,} more",
        _curves(varied, lambda step: step.seconds, "{}, {:.0%}"),
    )


def _curves(runs: Iterable[Sequence[Step]], y: Callable[[Step], float], label: str) -> tuple[Curve, ...]:
    return tuple(
        Curve(
            label.format(run[0].matcher, run[0].ft),
            tuple(float(step.queries) for step in run),
            tuple(map(y, run)),
        )
        for run in runs
    )


def _throughput_figure(found: Found) -> Figure:
    curves = []
    for name, groups in found.throughput.items():
        share = found.publications / len(groups)
        xs = tuple(share * number for number in range(1, len(groups) + 1))
        curves.append(Curve(name, xs, tuple(found.kilobytes * 1000 / milliseconds for milliseconds in groups)))
    if found.largest >= PAPER_QUERIES:
        for name, label in (("rtfs", "rtfs and rtfm"), ("ibroker", "ibroker")):
            rate = PAPER_KILOBYTES_A_SECOND[name]
            curves.append(Curve(f"{label}, {rate:g}", (xs[0], xs[-1]), (rate, rate), paper=True))
    title = f"Throughput as published, {found.largest:,} queries (fig. 5b)"
    return Figure("rtf-5b-throughput", title, "publications", "KB a second", tuple(curves), log_y=True)


def _paper_milliseconds(found: Found) -> Iterator[Curve]:
    """Where our own sizes go as far. RTFs and RTFm are 2.5% apart, which nobody can see."""
    if found.largest >= PAPER_QUERIES:
        for name, label in (("rtfs", "rtfs and rtfm"), ("ibroker", "ibroker")):
            figure = PAPER_MILLISECONDS[name]
            yield Curve(f"{label}, {figure:,.0f}", (float(PAPER_QUERIES),), (figure,), paper=True)


def _paper_megabytes_drawn(found: Found) -> Iterator[Curve]:
    if found.largest >= PAPER_QUERIES:
        for name in ALL:
            first, last = PAPER_FIRST_MEGABYTES[name], PAPER_MEGABYTES[_MIXED, name]
            xs = float(PAPER_STEP), float(PAPER_QUERIES)
            yield Curve(f"{name}, {first} to {last}", xs, (float(first), float(last)), paper=True)
