"""Text that fits, and text that is safe."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from tidings.draw.svg import Canvas
from tidings.draw.text import clean, fit, width, wrapped

ANY = st.text(st.characters())


@given(ANY, st.integers(20, 300))
def test_what_is_cut_fits(text: str, room: int) -> None:
    for keep_end in (False, True):
        short = fit(text, room, 12, keep_end=keep_end)
        assert width(short, 12) <= room
        assert short == text or "…" in short


@given(ANY, st.integers(60, 300), st.integers(1, 4))
def test_what_is_wrapped_fits(text: str, room: int, most: int) -> None:
    lines = wrapped(clean(text), room, 12, most)
    assert 1 <= len(lines) <= most
    assert all(width(line, 12) <= room for line in lines)


def test_which_end_is_kept() -> None:
    assert fit("http://example.org/a/very/long/name", 80, 12, keep_end=True).endswith("name")
    assert fit("a very long text that goes on", 80, 12).startswith("a very")


def test_a_step_stays_with_what_it_leads_to() -> None:
    lines = wrapped("ex:NotebookComputer ⊑ ex:PersonalComputer ⊑ ex:Computer", 190, 11, 4)
    assert len(lines) > 1
    assert not any(line.endswith("⊑") for line in lines)


def test_wide_and_combining_characters() -> None:
    assert width("大海", 10) >= 20
    assert width("e\u0301", 10) == width("e", 10)


@given(ANY)
def test_any_text_can_be_written(text: str) -> None:
    canvas = Canvas()
    canvas.text(0, 0, text, "row", "ink", title=text * 2)
    root = ElementTree.fromstring(canvas.document(10, 10, text, text).encode())
    assert root.get("role") == "img"


def test_what_is_unsafe_is_made_visible() -> None:
    assert clean("a\x01b\u202ec") == "a\\u0001b\\u202ec"
    assert clean("a\n\tb\r\nc") == "a b c"
    assert len(clean("x" * 1_000_000)) < 5_000
