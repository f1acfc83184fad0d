"""The first look at a log of changes, which is compiled as a whole: what comes last counts, as in every later look."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyspark")

from tidings.rdf.event import Event
from tidings.spark import subscriptions, workers
from tidings.spark.workers import opened

CHANGES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["A", "B", None])), max_size=12)


@given(changes=CHANGES, cut=st.integers(0, 12))
@settings(max_examples=25, deadline=None)
def test_what_comes_last_counts(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, str | None]], cut: int
) -> None:
    root = tmp_path_factory.mktemp("log")
    workers._open.clear()
    log = root / "log"
    log.mkdir()
    (log / "0.ndjson").write_text("\n")
    those = subscriptions(log, folder=root / "kept")
    for number, part in enumerate([changes[:cut], changes[cut:]], 1):
        (log / f"{number}.ndjson").write_text("".join(_row(*change) for change in part) + "\n")
        version = those.take(_refuse).version
    standing = sorted((id, cls) for id, cls in dict(changes).items() if cls is not None)
    engine = opened(version).engine
    found = []
    for cls in "AB":
        body = f"_:x <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/{cls}> .\n"
        found += [(match.subscription, cls) for match in engine.match(Event(f"http://e/{cls}", body), _refuse)]
    assert sorted(found) == standing
    assert len(those) == len(standing)


def _row(id: str, cls: str | None) -> str:
    row = {"id": id, "op": "cancel"} if cls is None else {"id": id, "query": f"ASK {{ ?x a <http://e/{cls}> }}"}
    return json.dumps(row) + "\n"


def _refuse(error: object) -> None:
    raise AssertionError(error)
