"""A file that is read in ranges gives what it gives when it is read as a whole."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tidings.errors import EventError
from tidings.rdf.event import Event
from tidings.rdf.formats import Format
from tidings.rdf.limits import DEFAULT_LIMITS, Limits
from tidings.rdf.read import Report, read_events
from tidings.rdf.sources import Document, compression
from tidings.spark.splits import events_in_range, events_outside, ranges

Found = tuple[list[tuple[str, str]], list[tuple[int | None, int | None, str]]]


def document(data: bytes) -> Document:
    return Document("big.nq", Format.NQ, None, lambda: io.BytesIO(data))


def found(read: Callable[[Report], Iterator[Event]]) -> Found:
    problems: list[EventError] = []
    events = sorted((event.id, event.body) for event in read(problems.append))
    told = [(each.line, each.column, f"{each.reason}|{each.hint}|{each.source}") for each in problems]
    return events, sorted(told, key=str)


def whole(data: bytes, limits: Limits = DEFAULT_LIMITS, strict: bool = False) -> Found:
    return found(lambda report: read_events(document(data), report=report, limits=limits, strict=strict))


def split(data: bytes, longest: int, limits: Limits = DEFAULT_LIMITS, strict: bool = False) -> Found:
    def read(report: Report) -> Iterator[Event]:
        source, size = document(data), len(data)
        yield from events_outside(source, report=report, limits=limits, strict=strict)
        for start, stop in ranges(size, longest):
            yield from events_in_range(source, start, stop, size, report=report, limits=limits, strict=strict)

    return found(read)


def by_range(data: bytes, longest: int) -> list[set[str]]:
    """The ids that each range gives."""
    source, size = document(data), len(data)
    return [
        {event.id for event in events_in_range(source, start, stop, size, report=lambda _: None)}
        for start, stop in ranges(size, longest)
    ]


def quads(graph: int, count: int = 3, end: str = "\n") -> bytes:
    return "".join(f'<http://x/s> <http://x/p> "{graph} {n}" <http://x/g{graph}> .{end}' for n in range(count)).encode()


# ------------------------------------------------------------------------------------------------------- whatever comes

GOOD = [
    b"<http://x/s> <http://x/p> <http://x/o> GRAPH .",
    b'<http://x/s> <http://x/p> "text" GRAPH .',
    b'_:b <http://x/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>  GRAPH.',
    '<http://x/s> <http://x/p> "größer\\n \\" <http://x/g1> ."@de GRAPH .'.encode(),
    b"<http://x/s>\t<http://x/p>\t_:c GRAPH . # <http://x/other> .",
    '<http://x/ä> <http://x/p> "ü" GRAPH .'.encode(),
    b'<http://x/s> <http://x/p> "\\u0041" GRAPH . ',
]
BAD = [
    b'<http://x/s> <http://x/p> "open GRAPH .',
    b'<http://x/s> <http://x/p> "\\q" GRAPH .',
    b"<http://x/s> <relative> <http://x/o> GRAPH .",
    b"<relative> <http://x/p> <http://x/o> GRAPH .",
    b'<http://x/s> <http://x/p> "\xff" GRAPH .',
    b'<http://x/s> <http://x/p> "x"@en--ltr GRAPH .',
    b'<http://x/s> <http://x/p> "no dot" GRAPH',
    b'<http://x/s> <http://x/p> <http://x/o> GRAPH . <http://x/s> <http://x/p> "x" .',
]
ODD = [
    b"",
    b"  ",
    b"# a comment",
    b"# a comment <http://x/other> .",
    b"# not text: \xff <http://x/other> .",
    b"nonsense",
    b"\xef\xbb\xbf",
    b"\x1f\x8b",
    b"\x1f\x8b\x08 GRAPH .",
    b"<http://x/s> <http://x/p> <relative> .",
    b'<http://x/s> <http://x/p> "\\q" .',
    b"\r",
]
NAMES = [b"<http://x/g%d>", b"<http://x/g%d>", b"<http://x/g%d>", b"", b"_:g%d", "<http://x/gä%d>".encode()]


@st.composite
def stretches(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """Lines of one graph, most of them good, with some others among them; and the name of the graph, to be numbered."""
    good, bad, odd = st.sampled_from(GOOD), st.sampled_from(BAD), st.sampled_from(ODD)
    outside = good.map(lambda line: line.replace(b"GRAPH", b""))
    lines = draw(st.lists(st.one_of(good, good, good, good, good, bad, outside, odd), min_size=1, max_size=5))
    ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n"])
    return draw(st.sampled_from(NAMES)), [line + draw(ends) for line in lines]


def file_of(parts: list[tuple[bytes, list[bytes]]], graphs: int, head: bytes, cut: bool) -> bytes:
    """A file in which the graphs of so many parts have names of their own, before names come again."""
    data = head
    for number, (name, lines) in enumerate(parts):
        graph = name.replace(b"%d", b"%d" % (number % graphs))
        data += b"".join(lines).replace(b"GRAPH", graph)
    return data[:-1] if cut else data


heads = st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"nonsense\n"])


@settings(max_examples=300, deadline=None)
@given(st.lists(stretches(), max_size=12), st.integers(1, 400), heads, st.booleans(), st.booleans())
def test_ranges_give_what_the_whole_gives(
    parts: list[tuple[bytes, list[bytes]]], longest: int, head: bytes, cut: bool, strict: bool
) -> None:
    data = file_of(parts, 100, head, cut)
    assume(not compression(data[:4]))
    (events, problems), one = split(data, longest, strict=strict), whole(data, strict=strict)
    # What has no name may come twice, if it is the same twice.
    assert (sorted(set(events)), problems) == one
    named = [event for event in events if event[0].startswith("http:")]
    assert len(named) == len(set(named))


@settings(max_examples=300, deadline=None)
@given(st.lists(stretches(), max_size=12), st.integers(1, 400))
def test_where_graphs_come_apart_no_event_is_lost(parts: list[tuple[bytes, list[bytes]]], longest: int) -> None:
    data = file_of(parts, 3, b"", False)
    assume(not compression(data[:4]))
    one, many = whole(data)[0], split(data, longest)[0]
    assert set(one) <= set(many)
    outside = found(lambda report: events_outside(document(data), report=report))[0]
    assert set(outside) <= set(one)


# -------------------------------------------------------------------------------------------------- one thing at a time


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_boundary(end: str) -> None:
    """At the start of a line, inside of one, inside a character: wherever the ranges meet."""
    text = '<http://x/s> <http://x/p> "ü€😀" <http://x/last> .'
    data = b"".join(quads(number, 2, end) for number in range(4)) + text.encode()
    one = whole(data)
    assert len(one[0]) == 5
    for longest in range(1, len(data) + 2):
        assert split(data, longest) == one


def test_ranges_share_the_work() -> None:
    data = b"".join(quads(number) for number in range(100))
    shares = by_range(data, len(data) // 4)
    assert sorted(map(len, shares))[0] > 15
    assert len(set.union(*shares)) == sum(map(len, shares)) == 100


def test_what_is_outside_any_graph_is_one_event_and_stops_no_cut() -> None:
    outside = b"".join(
        b'<http://x/s> <http://x/p> "out %d" .\n# a comment\n\n' % number + quads(number, 1) for number in range(50)
    )
    assert split(outside, 400) == whole(outside)
    assert sum(1 for share in by_range(outside, 400) if share) > 5


def test_a_graph_that_is_longer_than_many_ranges() -> None:
    data = quads(1, 2) + quads(2, 200) + quads(3, 2)
    assert split(data, 50) == whole(data)
    assert sum(1 for share in by_range(data, 50) if share) <= 3


def test_an_empty_file() -> None:
    assert ranges(0, 10) == [(0, 0)]
    assert split(b"", 10) == whole(b"") == ([], [])


def test_lines_are_counted_from_the_start_of_the_file() -> None:
    data = b"".join(quads(number) for number in range(50)) + b"oops\n" + quads(50)
    _, problems = split(data, 100)
    assert [line for line, _, _ in problems] == [151]
    assert problems == whole(data)[1]


@pytest.mark.parametrize(("length", "longest"), [(200_000, 100), (2_000_000, 5_000), (2_000_000, 300_000)])
def test_a_very_long_line_and_a_large_event(length: int, longest: int) -> None:
    limits = Limits(max_term=100_000, max_event=150_000)
    long = b'<http://x/s> <http://x/p> "%b" <http://x/g1> .\n' % (b"x" * length)
    large = b"".join(
        b'<http://x/s> <http://x/p> "%d %b" <http://x/g2> .\n' % (number, b"y" * 90_000) for number in range(3)
    )
    outside = large.replace(b"<http://x/g2>", b"")
    data = quads(0) + long + quads(1) + quads(3) + large + quads(4) + outside + quads(5)
    one = whole(data, limits)
    assert len(one[1]) == 3
    assert split(data, longest, limits) == one


def test_a_graph_that_comes_apart_comes_twice() -> None:
    data = quads(1) + b"".join(quads(number) for number in range(2, 20)) + quads(1, 4)
    events, problems = split(data, 400)
    assert ([id for id, _ in events].count("http://x/g1"), problems) == (2, [])


def test_a_file_that_is_gone_is_a_problem_of_every_range() -> None:
    def gone() -> io.BytesIO:
        raise FileNotFoundError(2, "No such file or directory")

    source = Document("big.nq", Format.NQ, None, gone)
    problems: list[EventError] = []
    for start, stop in ranges(100, 50):
        assert list(events_in_range(source, start, stop, 100, report=problems.append)) == []
    assert list(events_outside(source, report=problems.append)) == []
    assert {str(each) for each in problems} == {"big.nq: cannot be opened: No such file or directory"}
    assert len(problems) == 3
