"""N-Triples and N-Quads: line by line, and what a broken line costs."""

from __future__ import annotations

import pytest
from tests.unit.rdf.helpers import bodies, good, ids, read, refused

from tidings.rdf.limits import Limits

BROKEN = [
    '<e:s> <e:p> "open {} .',
    "<e:s <e:p> 1 {} .",
    "<e:s> <e:p> <e:a b> {} .",
    '<e:s> <e:p> "x"@en--ltr {} .',
    "<e:s> <e:p> <<( <e:a> <e:b> <e:c> )>> {} .",
    "garbage",
]


def lines(*texts: str) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def quad(object: str, graph: str = "") -> str:
    return f"<e:s> <e:p> {object} {graph} ."


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_line_costs_its_event_and_no_other(broken: str) -> None:
    data = lines(
        quad('"1"', "<e:a>"),
        quad('"2"', "<e:b>"),
        broken.format("<e:b>"),
        quad('"3"', "<e:b>"),
        quad('"4"', "<e:c>"),
        quad('"5"'),
    )
    events, errors = read(data, format="nq")
    assert ids(events) == ["e:a", "e:c", "*"]
    assert [error.line for error in errors] == [3]


def test_a_broken_line_that_names_its_graph_costs_that_one() -> None:
    """The graph before it has ended, the one after has not begun."""
    data = lines(quad('"1"', "<e:a>"), quad('"2', "<e:b>"), quad('"3"', "<e:c>"))
    assert ids(read(data, format="nq")[0]) == ["e:a", "e:c"]
    data = lines(quad('"1"', "<e:a>"), quad('"2', "<e:b>"), quad('"3"', "<e:b>"), quad('"4"', "<e:c>"))
    assert ids(read(data, format="nq")[0]) == ["e:a", "e:c"]


def test_a_broken_line_outside_any_graph_costs_that_event() -> None:
    data = lines(quad('"1"', "<e:a>"), '<e:s> <e p> "2" .', quad('"3"'), quad('"4"', "<e:b>"))
    assert ids(read(data, format="nq")[0]) == ["e:a", "e:b"]


def test_a_line_that_names_nothing_costs_the_open_event() -> None:
    data = lines(quad('"1"', "<e:a>"), "garbage", quad('"2"', "<e:b>"))
    assert ids(read(data, format="nq")[0]) == ["e:b"]


def test_at_the_start_the_next_event_is_the_one() -> None:
    data = lines("garbage", quad('"1"', "<e:a>"), quad('"2"', "<e:b>"), quad('"3"', "<e:a>"))
    assert ids(read(data, format="nq")[0]) == ["e:b"]


def test_one_event_is_told_once_however_many_of_its_lines_are_broken() -> None:
    data = lines(*(quad(f'"{i}', "<e:a>") for i in range(10)), quad('"1"', "<e:b>"))
    events, errors = read(data, format="nq")
    assert ids(events) == ["e:b"]
    assert len(errors) == 1


def test_a_file_of_garbage_is_one_report() -> None:
    assert refused(b"\x00\x01garbage\n" * 1000, format="nq").line == 1


def test_in_a_triples_file_and_by_document_the_document_is_the_event() -> None:
    assert refused(lines(quad('"1"'), "x", quad('"2"')), format="nt").line == 2
    data = lines(quad('"1"', "<e:a>"), "x", quad('"2"', "<e:b>"))
    assert refused(data, format="nq", by="document").line == 2


def test_by_subject_it_costs_the_subject() -> None:
    data = lines("<e:a> <e:p> <e:x> .", '<e:b> <e:p> "open .', "<e:b> <e:p> <e:y> .", "<e:c> <e:p> <e:z> .")
    assert ids(read(data, format="nt", by="subject")[0]) == ["e:a", "e:c"]
    data = lines("x", "<e:b> <e:p> <e:y> .", "x", "<e:c> <e:p> <e:z> .")
    assert ids(read(data, format="nt", by="subject")[0]) == ["e:c"]


def test_an_unterminated_quote_does_not_swallow_the_file() -> None:
    data = lines(quad('"1', "<e:a>"), *(quad(f'"{i}"', f"<e:g{i}>") for i in range(100)))
    events, errors = read(data, format="nq")
    assert len(events) == 100
    assert errors[0].reason == "a quoted string does not end on its line"


def test_the_message_shows_the_place() -> None:
    error = read(lines(quad('"1"', "<e:a>"), "<e:s> <e:p> x <e:a> ."), format="nq")[1][0]
    assert (error.line, error.column) == (2, 13)
    assert error.source_line == "<e:s> <e:p> x <e:a> ."
    assert str(error).startswith("bytes:2:13: ")


def test_bytes_that_are_not_utf8() -> None:
    data = '<e:s> <e:é> "x" <e:a> .\n'.encode() + '<e:s> <e:p> "é" <e:b> .\n<e:s> <e:p> 1 <e:c> .\n'.encode("latin-1")
    events, errors = read(data, format="nq")
    assert ids(events) == ["e:a"]
    assert (errors[0].line, errors[0].column) == (2, 14)
    assert "UTF-8" in errors[0].reason
    assert "iconv" in str(errors[0].hint)


@pytest.mark.parametrize("neighbour", [b"", b"<", b"<e:s> <e:p> oops .\n", b"# remark\n"])
def test_bytes_of_a_comment_that_are_not_utf8_count_whatever_is_next_to_them(neighbour: bytes) -> None:
    events, errors = read(b"<e:s> <e:p> <e:o> .\n<e:s> <e:p> <e:q> . # \xed\n" + neighbour, format="nq")
    assert events == []
    assert [(error.line, error.column) for error in errors] == [(2, 23)]


def test_line_numbers_count_comments_blank_lines_and_both_newlines() -> None:
    data = b'# one\n\n<e:s> <e:p> "1" <e:a> .\r\n  \n<e:s> <e:p> "2" <e:b> . # two\n<e:s> <e:p> "3" <e:a> .\n'
    events, errors = read(data, format="nq")
    assert ids(events) == ["e:a", "e:b"]
    assert errors[0].line == 6


def test_lines_are_lines() -> None:
    """Two statements on a line, or one on two, are broken lines, whatever a lenient parser would make of them."""
    assert refused(b"<e:s> <e:p> <e:o> . <e:s> <e:p> <e:x> .\n", format="nt").line == 1
    assert refused(b"<e:s> <e:p>\n<e:o> .\n", format="nt").line == 1


def test_the_last_line_needs_no_newline() -> None:
    assert ids(good(b"<e:s> <e:p> <e:o> <e:a> .\n<e:s> <e:p> <e:o> <e:b> .", format="nq")) == ["e:a", "e:b"]


def test_a_term_that_is_too_large() -> None:
    limits = Limits(max_term=100)
    data = lines(quad('"1"', "<e:a>"), quad(f'"{"x" * 99}"', "<e:b>"), quad('"3"', "<e:c>"))
    events, errors = read(data, format="nq", limits=limits)
    assert ids(events) == ["e:a", "e:c"]
    assert errors[0].line == 2
    assert "100 bytes" in errors[0].reason
    assert ids(good(lines(quad(f'"{"x" * 98}"', "<e:b>")), format="nq", limits=limits)) == ["e:b"]


def test_a_term_that_grows_by_escaping_is_measured_as_it_is_kept() -> None:
    data = lines(quad(f'"{chr(1) * 50}"', "<e:a>"), quad('"1"', "<e:b>"))
    assert ids(read(data, format="nq", limits=Limits(max_term=200))[0]) == ["e:b"]


def test_a_line_that_is_too_long_is_never_held() -> None:
    limits = Limits(max_term=1000)
    data = lines(quad('"1"', "<e:a>"), quad(f'"{"x" * 5_000_000}"', "<e:b>"), quad('"3"', "<e:c>"))
    events, errors = read(data, format="nq", limits=limits)
    assert ids(events) == ["e:a", "e:c"]
    assert errors[0].line == 2
    assert "line of more than" in errors[0].reason


@pytest.mark.parametrize("limits", [Limits(max_event=5000), Limits(max_triples=900)])
def test_an_event_that_is_too_large_is_told_once(limits: Limits) -> None:
    data = lines(
        *(quad(f'"{i}"', "<e:a>") for i in range(1000)), quad('"1"', "<e:b>"), *(quad(f'"{i}"') for i in range(1000))
    )
    events, errors = read(data, format="nq", limits=limits)
    assert ids(events) == ["e:b"]
    assert ["e:a" in errors[0].reason, "outside any graph" in errors[1].reason] == [True, True]
    assert len(errors) == 2


def test_a_graph_that_comes_apart_is_told_with_its_place_once() -> None:
    graphs = ["a", "b", "a", "c", "a"]
    data = lines(*(quad(f'"{i}"', f"<e:{graph}>") for i, graph in enumerate(graphs)))
    events, errors = read(data, format="nq")
    assert ids(events) == ["e:a", "e:b", "e:c"]
    assert [error.line for error in errors] == [3]
    assert "--group" in str(errors[0].hint)


def test_group_brings_it_together() -> None:
    graphs = ["a", "b", "a", "c", "a"]
    data = lines(*(quad(f'"{i}"', f"<e:{graph}>") for i, graph in enumerate(graphs)), quad('"d"'))
    events = good(data, format="nq", group=True)
    assert ids(events) == ["e:a", "e:b", "e:c", "*"]
    assert bodies(events)["e:a"].count("\n") == 3


def test_a_graph_named_by_a_blank_node_that_comes_apart() -> None:
    data = lines(quad('"1"', "_:g"), quad('"2"', "<e:b>"), quad('"3"', "_:g"))
    events, errors = read(data, format="nq")
    assert ids(events) == ["*", "e:b"]
    assert [error.line for error in errors] == [3]
    assert ids(good(data, format="nq", group=True)) == ["*", "e:b"]


def test_a_broken_line_costs_its_event_when_grouping_too() -> None:
    data = lines("x", quad('"1"', "<e:a>"), quad('"2"', "<e:b>"), quad('"3', "<e:c>"), quad('"4"', "<e:a>"))
    data += lines(quad('"5"', "<e:c>"))
    events, errors = read(data, format="nq", group=True)
    assert ids(events) == ["e:b"]
    assert len(errors) == 2


def test_many_batches_give_what_one_would() -> None:
    data = lines(*(quad(f'"{i}"', f"<e:g{i // 7}>") for i in range(20_000)))
    events = good(data, format="nq")
    assert len(events) == 2858
    assert sum(event.body.count("\n") for event in events) == 20_000
