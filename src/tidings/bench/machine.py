"""What the machine did meanwhile: of a virtual one, others on the same hardware may take a part."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_STOLEN = 7
_KINDS = 8
"""What Linux counts of a processor's time, guests aside, and where among these is what was somebody else's."""


@dataclass(frozen=True, slots=True)
class Times:
    """In ticks since the start; none where the system does not tell."""

    stolen: int = 0
    all: int = 0

    def stolen_since(self, before: Times) -> float:
        """The share of all processors' time that was somebody else's."""
        return (self.stolen - before.stolen) / max(1, self.all - before.all)


def times() -> Times:
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1 : 1 + _KINDS]
    except OSError:
        return Times()
    counts = [int(field) for field in fields]
    return Times(counts[_STOLEN], sum(counts)) if len(counts) == _KINDS else Times()
