"""A subscription to its rules: the ways in which it can match, each a conjunction for a kernel and a condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidings.index.atoms import Condition
from tidings.index.conditions import necessary
from tidings.index.reduction import reduced
from tidings.lang.pattern import Block, Extend, Filter, Graph, Join, LeftJoin, Minus, Pattern, Query, Union, core
from tidings.rdf.terms import Term


@dataclass(frozen=True, slots=True)
class Rule:
    """The subscription matches where the block has a solution; with `ask`, only where the verifier agrees. Wherever
    it matches by this rule, the condition holds.
    """

    block: Block
    ask: bool
    condition: Condition


def rules_of(query: Query, universal: frozenset[Term]) -> Iterator[Rule]:
    """The rules of a subscription, of which one at least applies wherever it matches."""
    block = reduced(query)
    if block is not None:
        yield Rule(block, False, necessary(query, universal))
    elif isinstance(query.where, Union) and _plain(query):
        for choice in query.where.choices:
            yield from rules_of(replace(query, where=choice), universal)
    else:
        yield Rule(mandatory(query.where), True, necessary(query, universal))


def _plain(query: Query) -> bool:
    """Whether there is a match exactly where the pattern has a solution."""
    return core(replace(query, where=Block())) is not None


def mandatory(pattern: Pattern) -> Block:
    """A conjunction that has a solution wherever the pattern has one."""
    blocks = list(_mandatory(pattern))
    if len(blocks) == 1:
        return blocks[0]
    return Block(
        triples=tuple(triple for block in blocks for triple in block.triples),
        filters=tuple(expr for block in blocks for expr in block.filters),
    )


def _mandatory(pattern: Pattern) -> Iterator[Block]:
    match pattern:
        case Block():
            yield pattern
        case Join(parts=parts):
            for part in parts:
                yield from _mandatory(part)
        case LeftJoin(left=inner) | Minus(left=inner) | Filter(pattern=inner) | Extend(pattern=inner):
            yield from _mandatory(inner)
        case Graph(pattern=inner):
            yield from _mandatory(inner)
