"""A tidy tree: parents in the middle of their children, subtrees as close together as their outlines allow.

Reingold and Tilford's way, with nodes of different breadth: each subtree is laid out on its own, and pushed to the side
of its elder sisters until they overlap at no level.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeAlias

Outline: TypeAlias = list[tuple[float, float]]
"""How far a subtree reaches to both sides of its root, level by level."""


def tidy(children: Sequence[Sequence[int]], breadths: Sequence[float], gap: float) -> list[float]:
    """The centre of every node along its level; node 0 is the root, and children come after their parents."""
    offsets = [0.0] * len(children)
    outlines: dict[int, Outline] = {}
    for node in reversed(range(len(children))):
        below: Outline = []
        for child in children[node]:
            outline = outlines.pop(child)
            offsets[child] = max((a[1] + gap - b[0] for a, b in zip(below, outline, strict=False)), default=0.0)
            below = _beside(below, outline, offsets[child])
        if children[node]:
            middle = (offsets[children[node][0]] + offsets[children[node][-1]]) / 2
            for child in children[node]:
                offsets[child] -= middle
            below = [(left - middle, right - middle) for left, right in below]
        outlines[node] = [(-breadths[node] / 2, breadths[node] / 2), *below]
    centres = [-min(left for left, _ in outlines[0])] * len(children)
    for node, inner in enumerate(children):
        for child in inner:
            centres[child] = centres[node] + offsets[child]
    return centres


def _beside(elder: Outline, younger: Outline, offset: float) -> Outline:
    moved = [(left + offset, right + offset) for left, right in younger]
    return [(a[0], b[1]) if a and b else a or b or (0.0, 0.0) for a, b in zip_longest(elder, moved)]
