"""`fast` in use: generated subscriptions come and go between merges, snapshots and changes of ontology, and generated
events are put to it in every way, from objects and from bytes. At every question it says what the oracle says.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.property import check
from tests.property import strategies_focus as focus
from tests.property import strategies_rtf as rtf
from tests.property.strategies import gtopss_cases, ops_cases
from tests.property.strategies_sparql import sparql_cases
from tests.soak import case_writer
from tests.soak.composing import from_cases
from tests.soak.generated import Case
from tests.soak.history import replay

seeds = st.integers(0, 2**32 - 1)
sparql = st.one_of(
    sparql_cases(), focus.algebra_cases, focus.join_cases, focus.path_cases, focus.aggregate_cases, focus.filter_cases
)
conjunctive = st.one_of(rtf.rtf_cases(), rtf.text_cases(), rtf.join_cases())
others = st.one_of(ops_cases(), focus.ops_shapes(), gtopss_cases())


def _agree(cases: list[Case], seed: int) -> None:
    history = from_cases(cases, random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        difference = replay(history, Path(folder))
    assert difference is None, case_writer.text(history, difference, "this test")


@check.examples(40)
@given(st.lists(conjunctive, min_size=4, max_size=12), seeds)
def test_what_kernels_decide(cases: list[Case], seed: int) -> None:
    _agree(cases, seed)


@check.examples(40)
@given(st.lists(others, min_size=4, max_size=12), seeds)
def test_other_dialects(cases: list[Case], seed: int) -> None:
    _agree(cases, seed)


@check.examples(40)
@given(st.lists(sparql, min_size=4, max_size=8), seeds)
def test_all_of_sparql(cases: list[Case], seed: int) -> None:
    _agree(cases, seed)


@check.examples(30)
@given(st.lists(st.one_of(conjunctive, others, sparql), min_size=6, max_size=12), seeds)
def test_everything_at_once(cases: list[Case], seed: int) -> None:
    _agree(cases, seed)
