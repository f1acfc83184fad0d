"""Arrays that grow at their ends."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

T = TypeVar("T", bound=np.generic)


class Growing(Generic[T]):
    """An array with room behind its end. `array` holds the room too; it is replaced, not moved, when it is used up, so
    that who has the old one keeps what was there.
    """

    def __init__(self, dtype: type[T], fill: int = 0, room: int = 64) -> None:
        self._fill = fill
        self.size = 0
        self.array: NDArray[T] = self._room(room, np.dtype(dtype))

    @property
    def filled(self) -> NDArray[T]:
        return self.array[: self.size]

    def extend(self, values: ArrayLike) -> None:
        new = np.asarray(values, self.array.dtype)
        self.reserve(self.size + new.size)
        self.array[self.size : self.size + new.size] = new
        self.size += new.size

    def adopt(self, values: NDArray[T]) -> None:
        """Take these for its own elements: a copy, with room behind it."""
        self.array = self._room(values.size + max(64, values.size // 8), self.array.dtype)
        self.array[: values.size] = values
        self.size = values.size

    def append(self, value: Any) -> None:
        self.reserve(self.size + 1)
        self.array[self.size] = value
        self.size += 1

    def reach(self, size: int) -> None:
        """Have at least this many elements; new ones are the filler."""
        if size > self.size:
            self.reserve(size)
            self.size = size

    def reserve(self, room: int) -> None:
        if room > self.array.size:
            larger = self._room(max(room, 2 * self.array.size), self.array.dtype)
            larger[: self.size] = self.array[: self.size]
            self.array = larger

    def _room(self, size: int, dtype: np.dtype[T]) -> NDArray[T]:
        """Zeros take no memory before they are written."""
        return np.full(size, self._fill, dtype) if self._fill else np.zeros(size, dtype)
