"""Compiled code is kept, and thrown away when any file of the index changes."""

from __future__ import annotations

import pytest
from numba import config

from tidings.index.kernels import jit
from tidings.index.kernels.dictionary import find_all
from tidings.index.kernels.match import match_lines


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="the compiler is off")
def test_every_kernel_has_the_stamp_of_all_files() -> None:
    stamps = {kernel._cache._cache_file._source_stamp for kernel in (find_all, match_lines)}
    assert stamps == {jit._STAMP}
    assert jit._stamp() == jit._STAMP
