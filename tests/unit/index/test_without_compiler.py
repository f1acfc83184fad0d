"""The kernels without the compiler: the same tests pass, with few examples each."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.support import ROOT

FOLDER = "tests/unit/index"


@pytest.mark.parametrize(
    "module",
    [
        "test_words",
        "test_scan",
        "test_dictionary",
        "test_numbers",
        "test_kernel_fulltext",
        "test_decided",
        "test_scanner",
    ],
)
def test_kernels_run_as_plain_python(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{FOLDER}/{module}.py"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
