"""What the reader takes at most, so that hostile or broken input costs a message and not the process."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Limits:
    """All sizes are in bytes (of text, UTF-8 or near it) after decompression."""

    max_term: int = 4 * MIB
    """One IRI, blank node label or literal."""

    max_event: int = 64 * MIB
    """The N-Triples text of one event."""

    max_triples: int = 500_000
    """The triples of one event."""

    max_document: int = 512 * MIB
    """A document in a format that is not read line by line (Turtle, TriG, RDF/XML)."""

    max_json: int = 64 * MIB
    """A JSON-LD document: it is held in memory as a whole."""

    max_depth: int = 100
    """Brackets inside brackets, elements inside elements."""

    max_entities: int = 8 * MIB
    """What XML entities may add to a document, beyond a fixed multiple of its own size."""

    max_pending: int = 256 * MIB
    """What waits in memory, in one document, for its subject or its nanopublication to be complete."""

    max_canonical_steps: int = 500_000
    """The work of naming an event that has no name: blank nodes compared, orders of them tried."""

    spill: int = 32 * MIB
    """What grouping keeps in memory before it goes on on disk."""

    @property
    def max_line(self) -> int:
        """A line of N-Triples or N-Quads: it has four terms at most."""
        return 4 * self.max_term


DEFAULT_LIMITS = Limits()


def human(size: int) -> str:
    """A size as in messages: `4 MiB`, `512 KiB`, `100 bytes`."""
    if size >= MIB:
        return f"{size / MIB:.4g} MiB"
    if size >= KIB:
        return f"{size / KIB:.4g} KiB"
    return f"{size} bytes"
