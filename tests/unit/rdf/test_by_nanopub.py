"""Events by nanopublication: four graphs, in any order, one event."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.rdf.helpers import good, ids, read

from tidings.rdf.limits import Limits

NP = "http://www.nanopub.org/nschema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def graphs(name: str) -> dict[str, list[str]]:
    """The quads of a nanopublication by part."""

    def quads(part: str, *triples: str) -> list[str]:
        return [f"{triple} <e:{name}/{part}> .\n" for triple in triples]

    this = f"<e:{name}>"
    return {
        "head": quads(
            "head",
            f"{this} {TYPE} <{NP}Nanopublication>",
            f"{this} <{NP}hasAssertion> <e:{name}/a>",
            f"{this} <{NP}hasProvenance> <e:{name}/p>",
            f"{this} <{NP}hasPublicationInfo> <e:{name}/i>",
        ),
        "a": quads("a", f'<e:x> <e:p> "{name}"', "<e:x> <e:p> _:b"),
        "p": quads("p", f"<e:{name}/a> <e:from> <e:source>"),
        "i": quads("i", f"{this} <e:by> <e:author>", "_:b <e:q> <e:c>"),
    }


def document(*parts: list[str]) -> bytes:
    return "".join(line for part in parts for line in part).encode()


@pytest.mark.parametrize("order", list(permutations(["head", "a", "p", "i"])))
def test_the_parts_in_any_order(order: tuple[str, ...]) -> None:
    parts = graphs("n")
    events = good(document(*(parts[name] for name in order)), format="nq", by="nanopub")
    assert ids(events) == ["e:n"]
    assert events[0].body.count("\n") == 9


@given(st.permutations([(name, part) for name in ("m", "n") for part in ("head", "a", "p", "i")]))
def test_several_mixed(order: list[tuple[str, str]]) -> None:
    parts = {name: graphs(name) for name in ("m", "n")}
    events = good(document(*(parts[name][part] for name, part in order)), format="nq", by="nanopub")
    assert sorted(ids(events)) == ["e:m", "e:n"]
    assert [event.body.count("\n") for event in events] == [9, 9]


def test_each_is_given_out_when_it_is_complete() -> None:
    from tidings.rdf.read import read_events

    parts = [graphs(str(number)) for number in range(2000)]
    data = document(*(graph for part in parts for graph in part.values()))
    limits = Limits(max_pending=5000)
    assert sum(1 for _ in read_events(data, format="nq", by="nanopub", limits=limits, report=pytest.fail)) == 2000


def test_what_waits_is_bounded() -> None:
    heads = document(*(graphs(str(number))["head"] for number in range(100)))
    events, errors = read(heads, format="nq", by="nanopub", limits=Limits(max_pending=5000))
    assert not events
    assert "wait" in errors[0].reason


def test_a_graph_of_no_nanopublication() -> None:
    extra = ["<e:s> <e:p> <e:o> <e:other> .\n", "<e:s> <e:p> <e:o> .\n"]
    events, errors = read(document(*graphs("n").values(), extra), format="nq", by="nanopub")
    assert ids(events) == ["e:n"]
    assert ["<e:other> belongs to no" in errors[0].reason, "outside any graph" in errors[1].reason] == [True, True]
    assert [error.line for error in errors] == [10, 11]


def test_a_part_that_is_missing() -> None:
    parts = graphs("n")
    del parts["p"]
    events, errors = read(document(*parts.values(), *graphs("m").values()), format="nq", by="nanopub")
    assert ids(events) == ["e:m"]
    assert ["<e:n> lacks its graph <e:n/p>" in error.reason for error in errors] == [True]


def test_a_graph_that_goes_on_too_late() -> None:
    late = ["<e:x> <e:p> <e:late> <e:n/a> .\n", "<e:x> <e:p> <e:later> <e:n/a> .\n"]
    data = document(*graphs("n").values(), *graphs("m").values(), late)
    events, errors = read(data, format="nq", by="nanopub")
    assert ids(events) == ["e:n", "e:m"]
    assert ["--group" in str(error.hint) for error in errors] == [True]
    events = good(data, format="nq", by="nanopub", group=True)
    assert [event.body.count("\n") for event in events] == [11, 9]


def test_a_broken_line_costs_its_nanopublication() -> None:
    parts = graphs("n")
    parts["a"].insert(1, '<e:x> <e:p> "open <e:n/a> .\n')
    events, errors = read(document(*graphs("m").values(), *parts.values()), format="nq", by="nanopub")
    assert ids(events) == ["e:m"]
    assert len(errors) == 1


def test_trig_with_graphs_that_come_apart() -> None:
    parts = graphs("n")
    blocks = [f"{{ {line.rsplit(' ', 2)[0]} }}" for part in parts.values() for line in part]
    names = [line.rsplit(" ", 2)[1] for part in parts.values() for line in part]
    text = "\n".join(f"{name} {block}" for name, block in sorted(zip(names, blocks, strict=True), key=lambda b: b[1]))
    events = good(text.encode(), format="trig", by="nanopub")
    assert ids(events) == ["e:n"]
    assert events[0].body.count("\n") == 9


def test_a_broken_line_in_the_head_does_not_blame_the_other_graphs() -> None:
    parts = graphs("n")
    parts["head"].insert(2, '<e:n> <e:p> "open <e:n/head> .\n')
    events, errors = read(document(*parts.values(), *graphs("m").values()), format="nq", by="nanopub")
    assert ids(events) == ["e:m"]
    assert len(errors) == 1


def test_triples_outside_any_graph_do_not_end_one() -> None:
    parts = graphs("n")
    parts["i"].insert(1, "<e:s> <e:p> <e:o> .\n")
    events, errors = read(document(*parts.values()), format="nq", by="nanopub")
    assert events[0].body.count("\n") == 9
    assert len(errors) == 1


def test_a_graph_that_two_nanopublications_claim() -> None:
    other = [line.replace("<e:m/a>", "<e:n/a>") for line in graphs("m")["head"]]
    events, errors = read(document(*graphs("n").values(), other, graphs("m")["p"]), format="nq", by="nanopub")
    assert ids(events) == ["e:n"]
    assert ["<e:m> lacks its graph <e:n/a>" in error.reason for error in errors] == [True]
