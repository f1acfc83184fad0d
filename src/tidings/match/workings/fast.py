"""`fast` under watch: its rules, what they need, under what they are filed, and what the kernel said.

What the arrays say of a whole subscription is asked here of its parts: each rule, and each atom, is put into a store as
if it were a subscription of its own, and goes through the same kernels with the same event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tidings.index.atoms import ALWAYS, All, Atom, Condition, Kind
from tidings.index.filing import Filing, filing
from tidings.index.folding import shared_folder
from tidings.index.kernels.join import ASKED, MOST_PATTERNS, MOST_STEPS, MOST_VARIABLES, NO, YES
from tidings.index.rules import Rule, rules_of
from tidings.index.scanner import Scanner, padded
from tidings.index.store import Store
from tidings.index.usage import Usage
from tidings.lang.pattern import (
    Block,
    Call,
    Exists,
    Expr,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    Pattern,
    Query,
    Union,
    Values,
    Var,
)
from tidings.match.base import Failure, Match, Report
from tidings.match.explain.names import Names
from tidings.match.explain.text import MARKS
from tidings.match.fast.engine import Fast
from tidings.match.workings.model import Section, counted, listed, section, table, tree_table
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.terms import RDF_TYPE, Term

_SAID = {YES: "yes", NO: "no", ASKED: "asks the verifier"}
_NOBODY_ASKED = Usage()
"""What the first subscription of an index is filed by."""
_MOST_REASONS = 3


class WatchedFast(Fast):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._asked_for: list[Query] = []
        self._failed: list[Failure] = []

    def add(self, id: str, query: Query) -> None:
        super().add(id, query)
        self._asked_for.append(query)

    def match(self, event: Event, report: Report) -> list[Match]:
        def heard(failure: Failure) -> None:
            self._failed.append(failure)
            report(failure)

        self._event = event
        self._found = super().match(event, heard)
        return self._found

    def sections(self, names: Names) -> Iterator[Section]:
        for query in self._asked_for:
            told = _Told(query, self._event, self.ontology, names)
            failure = self._failed[0].reason if self._failed else None
            yield told.overview(self.stats(), self._verdict(told, failure))
            yield from map(told.rule, told.rules)

    def _verdict(self, told: _Told, failure: str | None) -> str:
        """What came of the candidates."""
        satisfied = [each.name for each in told.rules if each.answer == YES]
        doubtful = [each.name for each in told.rules if each.answer == ASKED]
        if satisfied:
            return f"{listed(satisfied)} {'is' if len(satisfied) == 1 else 'are'} satisfied: a match"
        if failure is not None:
            return f"the verifier, asked about {listed(doubtful)}, has given up: {failure}"
        if doubtful:
            answer = "a solution: a match" if self._found else "no solution: no match"
            return f"the verifier, asked about {listed(doubtful)}, finds {answer}"
        candidates = sum(each.answer is not None for each in told.rules)
        return "no candidate is satisfied: no match" if candidates else "there is no candidate: no match"


class _Watching(Store):
    """Keeps how the rules are filed."""

    def __init__(self, ontology: Ontology) -> None:
        super().__init__(ontology)
        self.filings: list[Filing] = []

    def add_rules(self, subscription: int, rules: Iterable[Rule]) -> None:
        for rule in rules:
            self.filings.append(filing(rule.condition, _NOBODY_ASKED.cost))
            super().add_rules(subscription, [rule])

    def answers(self, event: Event) -> dict[int, int]:
        """What the kernels say of each number that is a candidate; nothing where they say no."""
        data = event.body.encode()
        stops = np.array([len(data)], np.int64)
        scanner = Scanner(shared_folder())
        found = scanner.run(padded(data), stops, self.index(), trusted=True, quads=False)
        return {number: answer for _, number, answer in found.answers.tolist()}


@dataclass(frozen=True, slots=True)
class _Filed:
    """A rule of the part of the subscription that is `query`: how it is filed, and what the kernel said of it, which is
    None where it was no candidate.
    """

    name: str
    query: Query
    rule: Rule
    filing: Filing
    failed: tuple[Atom, ...]
    """Of what is looked at, the first that does not hold: of the atoms it is filed under, all."""
    answer: int | None


class _Told:
    def __init__(self, query: Query, event: Event, ontology: Ontology, names: Names) -> None:
        self._query = query
        self._event = event
        self._ontology = ontology
        self._names = names

    @cached_property
    def _rules(self) -> list[tuple[Query, Rule]]:
        return list(_ways(self._query, self._ontology.resource_classes))

    @cached_property
    def _held(self) -> dict[Atom, bool]:
        """Whether each atom holds of the event."""
        atoms = list(dict.fromkeys(atom for _, rule in self._rules for atom in _atoms(rule.condition)))
        found = self._asked(Rule(Block(), True, atom) for atom in atoms)
        return {atom: answer != NO for atom, answer in zip(atoms, found, strict=True)}

    def _asked(self, rules: Iterable[Rule]) -> list[int]:
        """What becomes of rules, each by itself."""
        store = _Watching(self._ontology)
        for number, rule in enumerate(rules):
            store.add_rules(number, [rule])
        answers = store.answers(self._event)
        return [answers.get(number, NO) for number in range(len(store.filings))]

    @cached_property
    def rules(self) -> list[_Filed]:
        store = _Watching(self._ontology)
        for number, (_, rule) in enumerate(self._rules):
            store.add_rules(number, [rule])
        answers = store.answers(self._event)
        filed = []
        for number, ((query, rule), how) in enumerate(zip(self._rules, store.filings, strict=True)):
            failed = self._first_failed(how)
            answer = answers.get(number, NO) if failed is None else None
            filed.append(_Filed(f"rule {number + 1}", query, rule, how, failed or (), answer))
        return filed

    def _first_failed(self, how: Filing) -> tuple[Atom, ...] | None:
        """In the order of the index: first the filings, then the needs, the rarest first."""
        if how.under is not None and not any(self._held[atom] for atom in how.under):
            return how.under
        return next(((atom,) for atom in how.needs if not self._held[atom]), None)

    # ------------------------------------------------------------------------------------------------------- sections

    def overview(self, stats: Mapping[str, int | float], verdict: str) -> Section:
        def row(each: _Filed) -> tuple[str, ...]:
            said = "–" if each.answer is None else _SAID[each.answer]
            return each.name, self._text(each.rule.block), MARKS[each.answer is not None], said

        return section(
            f"The index has {counted(len(self.rules), 'rule')} of this subscription, one for each way to match",
            f"{counted(int(stats['visited']), 'filing')} visited, {counted(int(stats['candidates']), 'candidate')}",
            table=table(("", "pattern", "candidate", "kernel"), self.rules, row),
            outcome=verdict,
        )

    def rule(self, each: _Filed) -> Section:
        under = frozenset(each.filing.under or ())
        needs = frozenset(each.filing.needs)

        def row(branch: str, condition: Condition) -> tuple[str, ...]:
            role = "filed under" if condition in under else "needed" if condition in needs else ""
            return f"{branch}{self._condition(condition)}", MARKS[self._holds(condition)], role

        return section(
            f"What the event must have for {each.name}",
            "with all that the ontology adds to it" if not self._ontology.is_empty else "",
            table=tree_table(("", "", "in the index"), each.rule.condition, _items, row),
            outcome=self._outcome(each),
        )

    def _outcome(self, each: _Filed) -> str:
        if each.answer is None:
            if not each.failed:
                return "no event can have that: it is filed nowhere"
            if each.failed == each.filing.under:
                return "not a candidate: what it is filed under is missing, so it is not even looked at"
            return f"not a candidate: looked at, and the first thing missing is {self._atom(each.failed[0])}"
        begin = "a candidate" if each.filing.under is not None else "nothing to file it under, so always a candidate"
        if each.answer == ASKED:
            return f"{begin}; the kernel asks the verifier, because of {listed(self._doubts(each), _MOST_REASONS)}"
        return f"{begin}; the kernel finds {'a' if each.answer == YES else 'no'} solution"

    def _holds(self, condition: Condition) -> bool:
        if isinstance(condition, Atom):
            return self._held[condition]
        decide = all if isinstance(condition, All) else any
        return decide(map(self._holds, condition.items))

    # ---------------------------------------------------------------------------------------------------------- texts

    def _text(self, block: Block) -> str:
        names = self._names
        parts = [names.triple(triple) for triple in block.triples]
        parts += [f"{names.node(part.node)} in {names.term(part.cls)}" for part in dict.fromkeys(block.classes)]
        parts += map(self._expression, block.filters)
        return " . ".join(parts) or "–"

    def _expression(self, expr: Expr) -> str:
        return " ".join(self._names.expression(expr).split())

    def _condition(self, condition: Condition) -> str:
        if isinstance(condition, Atom):
            return self._atom(condition)
        if condition.items:
            return "all of these" if isinstance(condition, All) else "one of these"
        return "anything" if isinstance(condition, All) else "what there cannot be"

    def _atom(self, atom: Atom) -> str:
        first, second = Term(atom.first), Term(atom.second)
        match atom.kind:
            case Kind.PROPERTY:
                return f"a triple with the property {self._property(first)}"
            case Kind.OBJECT if first == RDF_TYPE:
                return f"an instance of {self._class(second)}"
            case Kind.OBJECT:
                return f"a triple with the property {self._property(first)} and the object {self._names.term(second)}"
            case Kind.SUBJECT:
                return f"a triple with the subject {self._names.term(first)} and the property {self._property(second)}"
            case Kind.NODE_S:
                return f"a triple with the subject {self._names.term(first)}"
            case Kind.NODE_O:
                return f"a triple with the object {self._names.term(first)}"
            case Kind.WORD:
                return f'the word "{atom.second}" in a value of {self._property(first)}'
            case Kind.ANYWORD:
                return f'the word "{atom.first}" in a literal'
            case Kind.LITERAL:
                return f"a literal of the datatype {self._names.term(first)} or below"
            case Kind.CLASS_O:
                asked = self._property(first), self._class(second)
                return "a triple with the property {} and an object of the class {}".format(*asked)
            case Kind.HOME:
                return f"the home vertex, of the class {self._class(first)}"

    def _property(self, term: Term) -> str:
        return self._or_below(term, self._ontology.subproperties(term))

    def _class(self, term: Term) -> str:
        return self._or_below(term, self._ontology.subclasses(term))

    def _or_below(self, term: Term, below: frozenset[Term]) -> str:
        return f"{self._names.term(term)}{' or below' if below - {term} else ''}"

    # --------------------------------------------------------------------------------------------------------- doubts

    def _doubts(self, each: _Filed) -> list[str]:
        """Why the kernel left a rule to the verifier: it is asked about the parts, one at a time."""
        rule = each.rule
        if rule.ask:
            return list(dict.fromkeys(_beyond(each.query)))
        block = replace(rule.block, filters=(), classes=())
        parts = [block, *(replace(block, filters=(expr,)) for expr in rule.block.filters)]
        bare, *filters = self._asked(Rule(part, False, ALWAYS) for part in parts)
        if bare == ASKED:
            return [_too_much(block)]
        found = [expr for expr, answer in zip(rule.block.filters, filters, strict=True) if answer == ASKED]
        return list(map(self._expression, found)) or ["its filters together"]


def _ways(query: Query, universal: frozenset[Term]) -> Iterator[tuple[Query, Rule]]:
    """The rules of a subscription, each with the part of it that it comes from."""
    rules = list(rules_of(query, universal))
    if len(rules) == 1:
        yield query, rules[0]
    elif isinstance(query.where, Union):
        for choice in query.where.choices:
            yield from _ways(replace(query, where=choice), universal)


def _items(condition: Condition) -> Sequence[Condition]:
    return () if isinstance(condition, Atom) else condition.items


def _atoms(condition: Condition) -> Iterator[Atom]:
    todo = [condition]
    while todo:
        item = todo.pop()
        if isinstance(item, Atom):
            yield item
        else:
            todo += reversed(item.items)


def _too_much(block: Block) -> str:
    """What it is about a conjunction without filters that the kernel does not decide."""
    nodes: list[Node] = [node for triple in block.triples for node in (triple.s, triple.p, triple.o)]
    if not block.triples:
        return "a pattern without triples"
    if len(set(block.triples)) > MOST_PATTERNS:
        return f"more than {MOST_PATTERNS} patterns"
    if len({node for node in nodes if isinstance(node, Var)}) > MOST_VARIABLES:
        return f"more than {MOST_VARIABLES} variables"
    if any(isinstance(triple.p, Var) and nodes.count(triple.p) > 1 for triple in block.triples):
        return "a variable property that stands in several places"
    return f"a search of more than {MOST_STEPS} steps"


def _beyond(query: Query) -> Iterator[str]:
    """What a subscription has that is more than a conjunction."""
    yield from ["GROUP BY"] if query.group is not None else []
    yield from ["HAVING"] if query.having else []
    yield from ["VALUES"] if query.values is not None else []
    yield from ["LIMIT 0"] if query.limit == 0 else []
    yield from ["OFFSET"] if query.offset else []
    todo = [query.where]
    while todo:
        part = todo.pop()
        yield from _named(part)
        todo += reversed(_inside(part))


def _named(part: Pattern) -> Iterator[str]:
    match part:
        case Block(paths=paths, filters=filters):
            yield from ["a property path"] if paths else []
            yield from (name for expr in filters for name in _exists(expr))
        case Filter(filters=filters):
            yield from (name for expr in filters for name in _exists(expr))
            yield "FILTER on more than a conjunction"
        case LeftJoin():
            yield "OPTIONAL"
        case Minus():
            yield "MINUS"
        case Union():
            yield "UNION in a larger pattern"
        case Extend():
            yield "BIND"
        case Graph():
            yield "GRAPH"
        case Values():
            yield "VALUES"
        case Query():
            yield "a sub-select"


def _inside(part: Pattern) -> tuple[Pattern, ...]:
    match part:
        case Join(parts=parts) | Union(choices=parts):
            return parts
        case LeftJoin(left=left, right=right) | Minus(left=left, right=right):
            return left, right
        case Filter(pattern=inner) | Extend(pattern=inner) | Graph(pattern=inner) | Query(where=inner):
            return (inner,)
    return ()


def _exists(expr: Expr) -> Iterator[str]:
    todo = [expr]
    while todo:
        match todo.pop():
            case Exists(negated=negated):
                yield "NOT EXISTS" if negated else "EXISTS"
            case Call(args=args):
                todo += reversed(args)
