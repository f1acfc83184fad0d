"""How much room an index takes: the bytes it takes here, and what it keeps, counted as any language would."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from sys import getsizeof


@dataclass(slots=True)
class Size:
    """`held` are the bytes of all objects of the index; a string that several of them refer to takes room once.

    `references` and `characters` leave the language out: every reference, identifier or number that the paper's
    structures keep is one, and a string is kept wherever the paper has one, since elsewhere nobody shares them.
    """

    held: int = 0
    references: int = 0
    characters: int = 0
    _once: set[int] = field(default_factory=set)

    def own(self, *things: object) -> None:
        for thing in things:
            self.held += getsizeof(thing)

    def share(self, *things: object) -> None:
        for thing in things:
            if id(thing) not in self._once:
                self._once.add(id(thing))
                self.held += getsizeof(thing)

    def keep(self, references: int, *strings: str) -> None:
        """So many references, and these strings, to each of which there is one more."""
        self.references += references + len(strings)
        self.characters += sum(map(len, strings))

    def figures(self) -> Mapping[str, int]:
        return {"bytes_held": self.held, "references_held": self.references, "characters_held": self.characters}
