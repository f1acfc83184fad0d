"""An update is told apart from a repeat."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.ingest.feeds.reading import atom, events, rss

from tidings.errors import EventError
from tidings.ingest.feeds.items import Items, subject_of
from tidings.rdf.event import Event


def feed(*items: str) -> list[Event]:
    """Items as `guid title`."""
    written = (item.split(" ") for item in items)
    return events(
        rss("".join(f"<item><guid>urn:x:{guid}</guid><title>{title}</title></item>" for guid, title in written))
    )


def test_new_updated_repeated() -> None:
    changes, state = Items().changes(feed("1 a", "2 b"))
    assert (len(changes.new), len(changes.updated), len(changes.repeated)) == (2, 0, 0)
    again, state = Items(state.data).changes(feed("3 c", "1 a", "2 x"))
    assert list(again.new) == feed("3 c")
    assert list(again.updated) == feed("2 x")
    assert list(again.repeated) == feed("1 a")
    nothing, state = state.changes(feed("3 c", "1 a", "2 x"))
    assert not nothing.any


def test_one_item_twice_in_a_document_does_not_change_at_every_look() -> None:
    changes, state = Items().changes(feed("1 a", "1 b", "1 a"))
    assert (len(changes.new), len(changes.updated), len(changes.repeated)) == (1, 1, 1)
    assert not state.changes(feed("1 a", "1 b", "1 a"))[0].any


def test_what_goes_back_to_what_it_was_is_no_news() -> None:
    state = Items()
    for title, any in (("a", True), ("b", True), ("a", False)):
        changes, state = state.changes(feed(f"1 {title}"))
        assert changes.any is any


def test_a_deletion_is_an_update() -> None:
    _, state = Items().changes(feed("1 a"))
    changes, _ = state.changes(events(atom('<at:deleted-entry ref="urn:x:1" when="2021-01-01T00:00:00Z"/>')))
    assert len(changes.updated) == 1


def test_the_home_vertex_is_its_item() -> None:
    (event,) = events(rss("<item><guid>urn:x:1</guid><title>T</title></item>"), home=True)
    assert subject_of(event) == "<urn:x:1>"


def test_other_events_are_refused() -> None:
    with pytest.raises(EventError, match="not about an item"):
        subject_of(Event("urn:x", '<urn:a> <urn:b> "<http://purl.org/rss/1.0/item> ." .\n'))


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=12), max_size=8), st.integers(1, 20))
def test_state_is_bounded_and_forgets_what_has_not_come_for_longest(
    documents: list[list[tuple[int, int]]], keep: int
) -> None:
    type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://purl.org/rss/1.0/item>"
    state = Items()
    last: list[tuple[int, int]] = []
    for document in documents:
        found = [Event(f"urn:e:{s}:{v}", f"<urn:s:{s}> {type} .\n") for s, v in document]
        changes, state = state.changes(found, keep)
        assert sorted((*changes.new, *changes.updated, *changes.repeated), key=repr) == sorted(found, key=repr)
        assert len(state) <= keep
        last = list(dict.fromkeys(document))
    kept = [Event(f"urn:e:{s}:{v}", f"<urn:s:{s}> {type} .\n") for s, v in last[:keep]]
    assert list(state.changes(kept, keep)[0].repeated) == kept
