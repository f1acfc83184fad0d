"""How a kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


# No kernel makes an array, so none need count references to them: in inner loops that costs more than the work itself.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}


def _stamp() -> tuple[int, int]:
    """The state of all files of the index: a kernel has others in it, and is out of date when one of them changes."""
    files = [path.stat() for path in Path(__file__).parent.parent.rglob("*.py")]
    return max(file.st_mtime_ns for file in files), sum(file.st_size for file in files)


_STAMP = _stamp()


def kernel(function: F) -> F:
    """Compile at the first call, keep the code on disk, and let other threads run meanwhile."""
    return _compiled(function)


def inlined(function: F) -> F:
    """The same for a small function that only other kernels call; LLVM puts it into them."""
    return _compiled(function, forceinline=True)


def _compiled(function: F, **further: Any) -> F:
    options = {**_OPTIONS, **further}
    made: Any = njit(**options)(function)
    # Left alone, numba would look at the kernel's own file only. With the compiler off there is nothing to keep.
    if made is not function:
        made._cache._cache_file._source_stamp = _STAMP
    return cast(F, made)
