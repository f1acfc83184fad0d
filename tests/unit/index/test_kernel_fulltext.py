"""Text expressions in the kernel mean what they mean in `match.fulltext`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event as note
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.index.running import COMPILED, examples

from tidings.index.kernels.fulltext import holds
from tidings.index.kernels.jit import standalone
from tidings.index.layout import OP_TEXT, OP_UNSURE
from tidings.index.names import NameTables, number_of
from tidings.index.programs import program
from tidings.lang import parse
from tidings.lang.pattern import Block, FtAnd, FtContains, FtExpr, FtNear, FtNot, FtOr, FtPhrase, TriplePattern, Var
from tidings.match.fulltext import Words, contains
from tidings.ontology import Ontology
from tidings.rdf.terms import iri

_holds = standalone(holds)

VOCABULARY = ("a", "b", "c", "d")
_TRIPLE = TriplePattern(Var("x"), iri("e:p"), Var("t"))
# Where the expression stands in the code of a rule of one pattern and one filter, and where the text expression does.
_FILTER, _TEXT = 9, 12


class Texts:
    """The kernel with its scratch arrays, which it must leave as it found them."""

    def __init__(self, names: NameTables, room: int = 512) -> None:
        self._names = names
        self._stack = np.zeros(1024, np.uint8)
        self._ends = np.zeros(room + 2, np.uint8)

    def holds(self, words: tuple[str, ...], expr: FtExpr, offset: int = 0) -> bool | None:
        """Whether a text of these words satisfies the expression; None where the kernel does not take it."""
        block = Block((_TRIPLE,), filters=(FtContains(Var("t"), expr),))
        code = np.array(program(block, self._names, ask=False, base=0).code, np.int32)
        if code[_FILTER] == OP_UNSURE:
            return None
        assert code[_FILTER] == OP_TEXT
        stop = _FILTER + int(code[_FILTER + 2])
        assert stop == code.size
        # Other texts lie before and behind this one.
        around = [self._names.word(word) for word in VOCABULARY[:2]] * offset
        vocabulary = self._names.tables().words
        numbers = np.array([*around, *(number_of(word, vocabulary) for word in words), *around], np.int32)
        first = len(around)
        found = _holds(numbers, first, first + len(words), code, _TEXT, stop, self._stack, self._ends)
        assert not self._ends.any()
        return bool(found)


TEXTS = Texts(NameTables(Ontology.empty()))


def check(words: tuple[str, ...], expr: FtExpr, offset: int = 0) -> bool | None:
    found = TEXTS.holds(words, expr, offset)
    assert found in (None, contains(Words(words), expr, lambda steps: None)), (words, expr)
    return found


def expression(text: str) -> FtExpr:
    query = parse(f"SELECT * {{ ?x <e:p> ?t FILTER ftcontains(?t, {text}) }}")
    assert isinstance(query.where, Block)
    (found,) = query.where.filters
    assert isinstance(found, FtContains)
    return found.text


@pytest.mark.parametrize(
    ("text", "expr", "answer"),
    [
        ("", '"a"', False),
        ("", 'ftNOT "a"', True),
        ("a", '"a"', True),
        ("b a", '"a"', True),
        ("b", '"a"', False),
        ("a b", '"a b"', True),
        ("b a", '"a b"', False),
        ("a", '"a b"', False),
        ("a a b", '"a b"', True),
        ("a b", '"b a" ftOR "a b"', True),
        ("a b", '"a" ftAND "b" ftAND "c"', False),
        ("a b", '"a" ftAND ftNOT "c"', True),
        ("a b", 'ftNOT ("a" ftAND "b")', False),
        ("a b", '"a" ftNEAR[0,0] "b"', True),
        ("b a", '"a" ftNEAR[0,0] "b"', False),
        ("a c b", '"a" ftNEAR[0,0] "b"', False),
        ("a c b", '"a" ftNEAR[1,1] "b"', True),
        ("a c b", '"a" ftNEAR[2,9] "b"', False),
        ("a a", '"a" ftNEAR[0,0] "a"', True),
        ("a", '"a" ftNEAR[0,5] "a"', False),
        ("a b c d", '"a b" ftNEAR[0,0] "c d"', True),
        ("a b c d", '"a b" ftNEAR[0,0] "b c"', False),
        ("a b c d", '"a" ftNEAR[0,1] "b" ftNEAR[0,0] "d"', False),
        ("a b c d", '"a" ftNEAR[0,1] "b" ftNEAR[1,1] "d"', True),
        ("a b a c b", '"a" ftNEAR[1,1] "b"', True),
        ("a a a a", '"a" ftNEAR[0,0] "a" ftNEAR[0,0] "a" ftNEAR[0,0] "a"', True),
        ("a a a", '"a" ftNEAR[0,0] "a" ftNEAR[0,0] "a" ftNEAR[0,0] "a"', False),
        ("a b", '"a" ftNEAR[0,1000000000] "b"', True),
    ],
)
def test_one_by_one(text: str, expr: str, answer: bool) -> None:
    for offset in (0, 3):
        assert check(tuple(text.split()), expression(expr), offset) is answer


def test_what_it_does_not_take() -> None:
    assert check(("a", "b"), expression('("a" ftOR "c") ftNEAR[0,0] "b"')) is None
    assert check(("a", "b"), expression('"a" ftNEAR[0,0] ("a" ftNEAR[0,0] "b")')) is None
    assert check(("a",), FtNear(phrase("a"), 0, 2**31, phrase("b"))) is None


def phrase(*words: str) -> FtPhrase:
    return FtPhrase(" ".join(words), words)


words = st.lists(st.sampled_from(VOCABULARY), max_size=12).map(tuple)
phrases = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=3).map(lambda found: phrase(*found))


def near(left: st.SearchStrategy[FtExpr]) -> st.SearchStrategy[FtExpr]:
    return st.builds(
        lambda a, least, more, b: FtNear(a, least, least + more, b), left, st.integers(0, 3), st.integers(0, 3), phrases
    )


chains: st.SearchStrategy[FtExpr] = st.one_of(near(phrases), near(near(phrases)), near(near(near(phrases))))
expressions: st.SearchStrategy[FtExpr] = st.recursive(
    st.one_of(phrases, chains),
    lambda inner: st.one_of(
        st.builds(FtNot, inner),
        st.builds(lambda items: FtAnd(tuple(items)), st.lists(inner, min_size=2, max_size=4)),
        st.builds(lambda items: FtOr(tuple(items)), st.lists(inner, min_size=2, max_size=4)),
    ),
    max_leaves=8,
)


@examples(500)
@given(words, expressions, st.integers(0, 2))
def test_any_expression(text: tuple[str, ...], expr: FtExpr, offset: int) -> None:
    found = check(text, expr, offset)
    assert found is not None
    note(f"holds: {found}")


@examples(600)
@given(st.lists(st.sampled_from("ab"), max_size=20).map(tuple), chains)
def test_chains_in_crowded_texts(text: tuple[str, ...], expr: FtExpr) -> None:
    assert check(text, expr) is not None


def test_long_texts_and_long_expressions() -> None:
    text = ("a", "b", "c") * (100 if COMPILED else 10)
    assert check(text, FtOr(tuple(phrase(word, "d") for word in VOCABULARY))) is False
    assert check(text, FtAnd((phrase(*text[: 40 if COMPILED else 20]), FtNot(phrase("d"))))) is True
    deep: FtExpr = phrase("a")
    for _ in range(100):
        deep = FtNot(deep)
    assert check(text, deep) is True
    assert check(text, FtAnd(tuple(phrase("a") for _ in range(60)))) is True
    assert check(text, FtAnd(tuple(phrase("a") for _ in range(400)))) is None
