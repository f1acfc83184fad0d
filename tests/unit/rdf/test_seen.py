"""Events that have been seen, and what a second one of the same id is."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.rdf.helpers import bodies, good, ids, read

from tidings.rdf.seen import Numbering, SeenEvents


@given(st.lists(st.text(max_size=3), max_size=300))
def test_numbers_are_those_of_a_dictionary(keys: list[str]) -> None:
    numbering = Numbering()
    known: dict[str, int] = {}
    for key in keys:
        assert (key in numbering) == (key in known)
        new = key not in known
        assert numbering.number(key) == (known.setdefault(key, len(known)), new)
    assert len(numbering) == len(known)


def test_a_few_bytes_a_key() -> None:
    tracemalloc.start()
    seen = SeenEvents()
    for number in range(30_000):
        seen.add(f"http://e.x/a/long/name/for/an/event/{number}", b"12345678")
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(seen) == 30_000
    assert size < 50 * 30_000


def test_verdicts() -> None:
    seen = SeenEvents()
    assert seen.add("a", b"1") == ("new", False)
    assert seen.add("a", b"1") == ("same", True)
    assert seen.add("a", b"2", since=1) == ("other", False)
    assert seen.add("b", b"2", since=1) == ("new", False)
    assert seen.add("b", b"3", since=1) == ("other", True)


FIRST = b"<e:s> <e:p> 1 , _:x . _:x <e:q> _:y ."


def trig(text: bytes) -> bytes:
    return b"<e:g> { " + text + b" }"


def test_the_same_again_is_the_same_event() -> None:
    again = b"_:k <e:q> [] . <e:s> <e:p> _:k . <e:s> <e:p> 1 ."
    assert ids(good(trig(FIRST), trig(again), trig(FIRST), format="trig")) == ["e:g"]


def test_the_same_id_with_other_triples_is_refused() -> None:
    other = b"<e:s> <e:p> 1 , _:x . _:x <e:q> _:x ."
    events, errors = read(trig(FIRST), trig(other), format="trig")
    assert ids(events) == ["e:g"]
    assert ["with other triples" in error.reason for error in errors] == [True]


def test_in_a_stream_too() -> None:
    block = b"<e:s> <e:p> _:x <e:g> .\n_:x <e:p> <e:o> <e:g> .\n"
    other = b"<e:s> <e:p> <e:o> <e:h> .\n"
    assert ids(good(block + other + block.replace(b"_:x", b"_:y"), format="nq")) == ["e:g", "e:h"]


def test_home_is_not_any_blank_node() -> None:
    events, errors = read(trig(b"_:H <e:p> _:x ."), trig(b"_:x <e:p> _:H ."), format="trig")
    assert len(events) == len(errors) == 1


def test_events_seen_before_the_run() -> None:
    seen = SeenEvents()
    assert ids(good(trig(FIRST), format="trig", seen=seen)) == ["e:g"]
    assert ids(good(trig(FIRST), b"<e:h> { <e:s> <e:p> 1 }", format="trig", seen=seen)) == ["e:h"]


def test_documents_with_the_same_content_are_one_event() -> None:
    events = good(FIRST, FIRST.replace(b"_:x", b"_:z"), b"<e:s> <e:p> 2 .", format="ttl")
    assert ids(events) == ["*", "*"]
    assert len(bodies(events)) == 2


def test_symmetric_named_events_are_compared_by_their_labels() -> None:
    """Finding out whether two cliques are the same takes too long, so the same text counts as the same alone."""
    nodes = [b"_:n%d" % i for i in range(9)]
    clique = b" ".join(b"%b <e:p> %b ." % (a, b) for a in nodes for b in nodes if a != b)
    assert ids(good(trig(clique), trig(clique), format="trig")) == ["e:g"]
