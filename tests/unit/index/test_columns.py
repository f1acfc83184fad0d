"""Numbers to columns of text, and the names of events to numbers."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from tidings.index import columns
from tidings.index.columns import EventNames, TextPool, Texts, column

WORDS = ["", "a", "é" * 3, "seven77", "eight888", "ninenine9", "x" * 100]


def _texts(low: int, words: list[str]) -> Texts:
    return TextPool().texts(low, words)


@pytest.mark.parametrize("largest", [100, 150, 2**31 - 1])
def test_a_column_has_the_text_of_each_number(monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    monkeypatch.setattr(columns, "_LARGEST", largest)
    dice = random.Random(1)
    parts = [_texts(0, WORDS), _texts(7, []), _texts(7, WORDS[::-1])]
    every = WORDS + WORDS[::-1]
    for size in (0, 1, 50):
        numbers = np.array([dice.randrange(len(every)) for _ in range(size)], np.int32)
        made = column(parts, numbers)
        made.validate(full=True)
        assert made.type == pa.string()
        assert made.to_pylist() == [every[number] for number in numbers]
        assert all(len("".join(chunk.to_pylist()).encode()) <= largest for chunk in made.chunks)


def test_a_pool_grows_with_its_list() -> None:
    pool, listed = TextPool(), []
    for word in WORDS:
        listed.append(word)
        texts = pool.texts(3, listed)
        assert (texts.low, texts.high) == (3, 3 + len(listed))
        assert column([texts], np.arange(3, texts.high, dtype=np.int32)).to_pylist() == listed


def test_names_are_numbered_as_they_come() -> None:
    names = EventNames()
    known: dict[str, int] = {}
    dice = random.Random(2)
    for _ in range(30):
        drawn = [f"e:{dice.randrange(200)}{'é' * dice.randrange(3)}" for _ in range(dice.randrange(1, 20))]
        skipped = np.array([dice.random() < 0.2 for _ in drawn], np.uint8)
        lines = [f"<e:s> <e:p> <e:o> <{name}> .\n".encode() for name in drawn]
        data = np.frombuffer(b"".join(lines), np.uint8)
        numbers, new = names.take(data, np.cumsum([len(line) for line in lines]), skipped, data.size)
        for name, skip, number, fresh in zip(drawn, skipped, numbers.tolist(), new.tolist(), strict=True):
            if skip:
                assert (number, fresh) == (-1, 0)
            else:
                assert fresh == (name not in known)
                assert number == known.setdefault(name, len(known))
    assert len(names) == len(known) > 100
    assert [names.name(number) for number in range(len(names))] == list(known)
    assert names.number("e:0" if "e:0" in known else next(iter(known)))[1] is False
    assert names.number("e:absent") == (len(known), True)
