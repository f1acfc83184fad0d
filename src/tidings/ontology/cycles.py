"""Cycles of sub-class or sub-property statements, found and told."""

from __future__ import annotations

from collections.abc import Callable

from tidings.errors import OntologyError
from tidings.ontology.axioms import Axioms
from tidings.ontology.graph import adjacency, cycles
from tidings.ontology.hierarchy import Pair
from tidings.rdf.terms import Term, is_blank

_MOST_CYCLES = 5
_MOST_NAMES = 12
_HINT = (
    "remove one of the statements, or have the members of a cycle read as equivalent: "
    'cycles="equivalence" in Python, --cycles equivalence on the command line'
)


def refuse_cycles(axioms: Axioms, label: Callable[[Term], str]) -> None:
    """Raise an `OntologyError` that prints the cycles of sub-class and sub-property statements, if there are any.

    A cycle counts only where such statements alone make it: where an equivalence is part of it, it is meant.
    """
    found = [("class", cycle) for cycle in find_cycles(axioms.subclasses)]
    found += [("property", cycle) for cycle in find_cycles(axioms.subproperties)]
    if not found:
        return
    lines = [f"a cycle of sub-{kind} statements: {_chain(cycle, label)}" for kind, cycle in found[:_MOST_CYCLES]]
    if len(found) > _MOST_CYCLES:
        lines.append(f"… and {len(found) - _MOST_CYCLES} more cycles")
    raise OntologyError("\n".join([*lines, f"  hint: {_HINT}"]))


def find_cycles(pairs: tuple[Pair, ...]) -> list[list[Term]]:
    """A shortest cycle from each tangle of the (lower, upper) pairs, upwards from its least name."""
    nodes = sorted({term for pair in pairs for term in pair})
    index = {term: i for i, term in enumerate(nodes)}
    graph = adjacency(len(nodes), ((index[a], index[b]) for a, b in pairs))
    return [[nodes[i] for i in cycle] for cycle in cycles(graph)]


def _chain(cycle: list[Term], label: Callable[[Term], str]) -> str:
    names = ["[unnamed]" if is_blank(term) else label(term) for term in (*cycle, cycle[0])]
    if len(names) > _MOST_NAMES:
        half = _MOST_NAMES // 2
        names = [*names[:half], f"… {len(names) - 2 * half} more …", *names[-half:]]
    return " ⊑ ".join(names)
