"""Where subscriptions live among shards, and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from tidings.errors import SnapshotError, UsageError
from tidings.index.atoms import Atom, Kind
from tidings.index.placing import Placing, checked_shards
from tidings.index.routing import Filer, filed_atoms
from tidings.index.usage import FixedUsage
from tidings.lang import parse
from tidings.lang.pattern import Query
from tidings.match.fast import Fast
from tidings.match.fast.keeping import open_kept
from tidings.match.fast.planning import plan_shards
from tidings.match.fast.router import Router
from tidings.match.fast.routes import route_bodies
from tidings.match.fast.sharded import ROUTER, Placer, Sharded, is_sharded, open_sharded, shard_name
from tidings.ontology import Ontology

X = "http://x/"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
NOTHING = Ontology.empty()
SHARDS = 8


def asking(cls: str) -> Query:
    return parse(f"ASK {{ ?x a <{X}{cls}> }}")


def typed(cls: str) -> str:
    return f"<{X}s> <{TYPE}> <{X}{cls}> .\n"


def everybody(hot: int, others: int) -> Iterator[tuple[str, Query]]:
    """Many ask for one class, and many others for one each."""
    yield from ((f"hot{n}", asking("Hot")) for n in range(hot))
    yield from ((f"s{n}", asking(f"C{n}")) for n in range(others))


def test_a_class_that_everybody_asks_for_does_not_sink_its_shard() -> None:
    bodies = [typed("Hot")] * 50 + [typed(f"C{n}") for n in range(50)]
    sharded = Sharded.of(SHARDS, everybody(1_000, 1_000), NOTHING, bodies)
    load = [0] * SHARDS
    for number, engine in enumerate(sharded.engines):
        for id, _ in engine.queries():
            load[number] += 50 if id.startswith("hot") else 1
    assert max(load) < 2 * sum(load) / SHARDS
    assert max(map(len, sharded.engines)) < 2 * len(sharded) / SHARDS


def test_things_that_no_event_of_the_sample_speaks_of_weigh_little() -> None:
    rows = [*everybody(100, 20_000)]
    placing = plan_shards(SHARDS, [query for _, query in rows], NOTHING, [typed("Hot")] * 50 + [typed("C1")] * 50)
    shards = {Placer(placing, NOTHING).place(id, query)[0] for id, query in rows if id.startswith("hot")}
    assert len(shards) == SHARDS


def test_without_events_the_load_is_judged_by_what_is_asked_for() -> None:
    sharded = Sharded.of(SHARDS, everybody(1_000, 1_000), NOTHING)
    hot = [sum(id.startswith("hot") for id, _ in engine.queries()) for engine in sharded.engines]
    assert min(hot) > 0
    assert max(hot) < 2 * sum(hot) / SHARDS


def test_those_that_the_same_events_concern_are_together() -> None:
    rows = [(f"{cls} {n}", asking(f"C{cls}")) for cls in range(200) for n in range(5)]
    sharded = Sharded.of(SHARDS, rows, NOTHING)
    classes = [{id.partition(" ")[0] for id, _ in engine.queries()} for engine in sharded.engines]
    assert sum(map(len, classes)) == len(set().union(*classes)) == 200
    assert max(map(len, classes)) < 2 * 200 / SHARDS
    assert sharded.replication([typed(f"C{n}") for n in range(300)]) == 200 / 300


def test_what_is_tried_on_every_event_is_in_few_shards() -> None:
    always = [(f"a{n}", parse("SELECT * { ?s ?p ?o }")) for n in range(10)]
    sharded = Sharded.of(SHARDS, [*always, *everybody(0, 500)], NOTHING)
    there = [engine for engine in sharded.engines if any(id.startswith("a") for id, _ in engine.queries())]
    assert len(there) == 1
    many = [(f"a{n}", parse("SELECT * { ?s ?p ?o }")) for n in range(1_000)]
    sharded = Sharded.of(SHARDS, [*many, *everybody(0, 500)], NOTHING)
    counts = [sum(id.startswith("a") for id, _ in engine.queries()) for engine in sharded.engines]
    assert max(counts) < 2 * 1_000 / SHARDS


def test_a_plan_is_the_same_for_whoever_has_it() -> None:
    placing = plan_shards(SHARDS, [query for _, query in everybody(500, 500)], NOTHING)
    again = Placing.of_bytes(placing.to_bytes())
    assert (again.shards, again.heavy, again.always) == (placing.shards, placing.heavy, placing.always)
    one, other = Placer(placing, NOTHING), Placer(again, NOTHING)
    for id, query in everybody(100, 100):
        assert one.place(id, query) == other.place(id, query)


def test_a_subscription_does_not_depend_on_those_before_it() -> None:
    usage = FixedUsage(100, {f"<{TYPE}>": 100, f"<{X}C1>": 50})
    both = "ASK { ?x a <http://x/C1>, <http://x/C2> }"
    filer = Filer(NOTHING.resource_classes, usage)
    rare = (Atom(Kind.OBJECT, f"<{TYPE}>", f"<{X}C2>"),)
    for _ in range(200):
        assert filer.under(parse(both)) == rare
    engine = Fast(NOTHING, usage=usage)
    engine.add_many((f"s{n}", parse(both)) for n in range(200))
    assert tuple(filed_atoms(engine.merge().index)) == rare


QUERIES = {
    "property": f"ASK {{ ?s <{X}p> ?o }}",
    "object": f"ASK {{ ?s <{X}p> 1 }}",
    "subject": f"ASK {{ <{X}s> <{X}p> ?o }}",
    "node": f"ASK {{ <{X}s> ?p ?o }}",
    "object of any": f"ASK {{ ?s ?p <{X}o> }}",
    "word": f'ASK {{ ?s <{X}p> ?o FILTER ftcontains(?o, "word") }}',
    "long word": f'ASK {{ ?s <{X}p> ?o FILTER ftcontains(?o, "Donaudampfschifffahrt") }}',
    "any word": 'ASK { ?s ?p ?o FILTER ftcontains(?o, "größe") }',
    "either word": f'ASK {{ ?s <{X}p> ?o FILTER ftcontains(?o, "one" ftOR "other") }}',
    "either": f"ASK {{ {{ ?s <{X}q> 1 }} UNION {{ ?s <{X}r> 2 }} }}",
}


@pytest.mark.parametrize("name", QUERIES)
def test_what_an_index_files_under_is_what_the_filer_says(name: str) -> None:
    usage = FixedUsage(0, {})
    query = parse(QUERIES[name])
    engine = Fast(NOTHING, usage=usage)
    engine.add("s", query)
    assert set(filed_atoms(engine.merge().index)) == set(Filer(NOTHING.resource_classes, usage).under(query) or ())


def test_one_that_is_replaced_moves(tmp_path: Path) -> None:
    sharded = Sharded.of(SHARDS, everybody(0, 100), NOTHING)
    for n in range(100):
        sharded.add(f"s{n}", asking(f"C{n + 1}"))
    assert len(sharded) == 100
    sharded.remove("s5")
    assert len(sharded) == 99
    sharded.save(tmp_path)
    kept = open_sharded(tmp_path)
    assert (kept.shards, kept.subscriptions) == (SHARDS, 99)
    ids = [id for number in range(SHARDS) for id, _ in Fast.open(kept.folder / shard_name(number)).queries()]
    assert sorted(ids) == sorted(f"s{n}" for n in range(100) if n != 5)


def test_bodies_that_no_kernel_reads(tmp_path: Path) -> None:
    sharded = Sharded.of(4, everybody(0, 20), NOTHING)
    sharded.save(tmp_path)
    router = Router.open(open_sharded(tmp_path).folder / ROUTER)
    odd = typed("C3").replace(" ", "  ")
    bodies = [typed("C3"), odd, "no event", typed("C99"), ""]
    found = route_bodies(router, 4, pa.array(list("abcde")), pa.array(bodies))
    by_row = [found.shards[found.rows == row].tolist() for row in range(5)]
    assert len(by_row[0]) == 1
    assert by_row == [by_row[0], by_row[0], [0], [], []]
    assert found.bodies == {1: typed("C3")}


def test_a_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    Sharded.of(2, everybody(0, 10), NOTHING).save(tmp_path)
    before = open_sharded(tmp_path)
    Sharded.of(3, everybody(0, 12), NOTHING).save(tmp_path)
    after = open_sharded(tmp_path)
    assert (before.shards, after.shards, after.subscriptions) == (2, 3, 12)
    assert not before.folder.exists()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == [after.folder.name]


def test_what_is_damaged_is_refused(tmp_path: Path) -> None:
    Sharded.of(2, everybody(0, 10), NOTHING).save(tmp_path)
    other = Ontology.of([])
    assert open_sharded(tmp_path, other).shards == 2
    (tmp_path / "shards.json").write_text("{}")
    assert is_sharded(tmp_path)
    with pytest.raises(SnapshotError, match="compile it again"):
        open_sharded(tmp_path)
    with pytest.raises(SnapshotError, match="which events concern"):
        Router.open(Path(_plain(tmp_path / "plain")))


def _plain(folder: Path) -> Path:
    engine = Fast(NOTHING)
    engine.add("s", asking("C"))
    engine.save(folder)
    assert open_kept(folder).segment.size == 1
    return folder


@pytest.mark.parametrize("number", [0, -1, 100_000])
def test_so_many_shards_there_cannot_be(number: int) -> None:
    with pytest.raises(UsageError, match="from 1 to"):
        checked_shards(number)
