"""How a benchmark is to be run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _nothing(what: str) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Settings:
    """`quick` is for trying things out: smaller sizes, the same tables. `tell` hears what is being measured."""

    quick: bool = False
    seed: int = 1
    tell: Callable[[str], None] = _nothing
