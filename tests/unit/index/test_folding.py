"""The tables of characters, when several threads need new pages at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tidings.index.folding import PAGE, Folder, Folding
from tidings.lang.fulltext import words


@pytest.fixture
def eager() -> Iterator[None]:
    """Have threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def folded(tables: Folding, char: str) -> str | None:
    entry = tables.entry[tables.page[ord(char) // PAGE] * PAGE + ord(char) % PAGE]
    return None if entry < 0 else "".join(map(chr, tables.code[tables.first[entry] : tables.first[entry + 1]]))


@pytest.mark.usefixtures("eager")
def test_threads_may_learn_at_once() -> None:
    folder, alone = Folder(), Folder()
    texts = [chr(page * PAGE + 65) for page in range(1, 17)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(folder.learn, texts))
    for text in texts:
        alone.learn(text)
    chars = [chr(code) for code in range(17 * PAGE)]
    assert [folded(folder.tables, char) for char in chars] == [folded(alone.tables, char) for char in chars]
    assert folded(folder.tables, "É") == "é"
    assert words("É") == ("é",)
