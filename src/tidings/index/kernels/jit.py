"""How a kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NoReturn, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


# No kernel makes an array, so none need count references to them: in inner loops that costs more than the work itself.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
# Taking a call from Python apart is a third of what compiling a function with many arrays takes.
_FOR_KERNELS_ONLY: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# What kernels are made of, besides the files beside this one.
_CONSTANTS = ("arrays.py", "folding.py", "layout.py")


def _stamp() -> tuple[int, int]:
    """The state of all files that kernels are made of: a kernel has others in it, and is out of date when one of them
    changes.
    """
    here = Path(__file__).parent
    files = [path.stat() for path in (*here.glob("*.py"), *(here.parent / name for name in _CONSTANTS))]
    return max(file.st_mtime_ns for file in files), sum(file.st_size for file in files)


_STAMP = _stamp()
_LISTENERS: list[Callable[[str], None]] = []


def kernel(function: F) -> F:
    """Compile at the first call, keep the code on disk, and let other threads run meanwhile."""
    return _compiled(function, _OPTIONS)


def brief(function: F) -> F:
    """The same for one that takes microseconds: to let others run meanwhile, and wait for one's turn, takes longer."""
    return _compiled(function, {**_OPTIONS, "nogil": False})


def _compiled(function: F, options: dict[str, Any]) -> F:
    made: Any
    try:
        made = njit(cache=True, **options)(function)
    except RuntimeError:
        # There is no folder to keep the code in, so it is compiled at every start.
        made = njit(**options)(function)
    # With the compiler off there is nothing to keep.
    if made is not function:
        _look_after(made)
    return cast(F, made)


@contextmanager
def telling(tell: Callable[[str], None]) -> Iterator[None]:
    """Have it told, by name, which kernels are being compiled: that takes long, and happens once."""
    _LISTENERS.append(tell)
    try:
        yield
    finally:
        _LISTENERS.remove(tell)


def _look_after(made: Any) -> None:
    cache = made._cache
    load, save = cache.load_overload, cache.save_overload

    def loaded(*args: Any) -> Any:
        found = None
        with suppress(OSError, EOFError, UnpicklingError):
            found = load(*args)
        if found is None:
            for tell in _LISTENERS:
                tell(made.__name__)
        return found

    def saved(*args: Any) -> None:
        # What cannot be kept, on a full disk for instance, is still there for this process.
        with suppress(OSError):
            save(*args)

    cache.load_overload, cache.save_overload = loaded, saved
    if hasattr(cache, "_cache_file"):
        # Left alone, numba would look at the kernel's own file only.
        cache._cache_file._source_stamp = _STAMP


def inlined(function: F) -> F:
    """The same for a small function that only other kernels call; LLVM puts it into them."""
    made: Any = njit(**_OPTIONS, **_FOR_KERNELS_ONLY)(function)
    if made is not function:
        made.add_overload = lambda result: made.overloads.__setitem__(tuple(result.signature.args), result)
        made._compile_for_args = _not_from_python
    return cast(F, made)


def _not_from_python(*_: object) -> NoReturn:
    raise TypeError("only a kernel can call this function; use `standalone` to try it out")


def standalone(function: F) -> F:
    """A function that is otherwise put into kernels as a kernel by itself, so that Python can call it."""
    return kernel(getattr(function, "py_func", function))
