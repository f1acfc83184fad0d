"""Kernels whose code cannot be kept, and who is told that one is being compiled."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pytest
from numba import config
from numba.core import caching

from tidings.index.arrays import Longs
from tidings.index.kernels import jit

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="the compiler is off")


def _first(numbers: Longs) -> Any:
    return numbers[0] + 1


def _second(numbers: Longs) -> Any:
    return numbers[1] + 1


def _full(*_: object) -> NoReturn:
    raise OSError("no space left on the device")


NUMBERS = np.array([4, 5], np.int64)


def test_without_a_folder_to_keep_code_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert jit.kernel(_first)(NUMBERS) == 5


@pytest.mark.parametrize("what", ["_save_index", "_save_data"])
def test_on_a_full_disk(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    made: Any = jit.kernel(_second)
    monkeypatch.setattr(caching.IndexDataCacheFile, what, _full)
    monkeypatch.setattr(caching.IndexDataCacheFile, "load", lambda *_: None)
    assert made(NUMBERS) == 6


def test_it_is_told_what_is_compiled_and_only_that(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(caching.IndexDataCacheFile, "load", lambda *_: None)
        with jit.telling(told.append):
            made = jit.kernel(_first)
            assert made(NUMBERS) == made(NUMBERS) == 5
    assert told == ["_first"]
    with jit.telling(told.append):
        assert jit.kernel(_first)(NUMBERS) == 5
    assert told == ["_first"], "the second time it is there"
    jit.kernel(_second)(NUMBERS)
    assert told == ["_first"], "nobody listens any more"
