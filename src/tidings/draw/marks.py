"""What an explanation says about the places of an event: which triples, through which steps, under which conditions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tidings.lang.pattern import Node, TriplePattern, Var
from tidings.match.base import Solution
from tidings.match.explain import MARKS, Explanation, Finding, Names, Origin
from tidings.rdf.terms import RDF_TYPE, Term, Triple, is_literal

State: TypeAlias = Literal["plain", "matched", "failed"]


@dataclass(frozen=True, slots=True)
class Note:
    """A line at a place: steps of a hierarchy, or a condition that holds or does not."""

    text: str
    kind: Literal["step", "hit", "bad"]


@dataclass(slots=True)
class Mark:
    """What is to be seen at a triple or a node; the dictionaries are ordered sets."""

    state: State = "plain"
    variables: dict[str, None] = field(default_factory=dict)
    """With their question marks."""
    property_variables: dict[str, None] = field(default_factory=dict)
    notes: dict[Note, None] = field(default_factory=dict)


class Marks:
    """The marks of all triples and nodes that the findings are about, in the order of the findings."""

    def __init__(self, explanation: Explanation, names: Names) -> None:
        self.triples: dict[Triple, Mark] = {}
        self.nodes: dict[Term, Mark] = {}
        self._names = names
        self._values: dict[str, list[Triple]] = {}
        leaves = [leaf for finding in explanation.findings for leaf in _leaves(finding, culprit=False)]
        for finding, culprit in leaves:
            self._triples(finding, "failed" if culprit else "matched")
        for finding, _ in leaves:
            self._conditions(finding)

    def node(self, node: Term) -> Mark:
        return self.nodes.setdefault(node, Mark())

    # --------------------------------------------------------------------------------------------------- what is there

    def _triples(self, finding: Finding, state: State) -> None:
        if not finding.holds:
            return
        for origin in finding.route:
            self._stated(origin, state)
        if finding.origin is not None:
            self._stated(finding.origin, state)
            if finding.asked is not None:
                self._name(finding.asked, finding.bindings, finding.origin)
        elif finding.asked is None:
            for name, term in finding.bindings.items():
                if not is_literal(term) and term in self.nodes:
                    _add_name(self.nodes[term].variables, Var(name))

    def _stated(self, origin: Origin, state: State) -> None:
        subject, property, object = origin.stated
        steps = [Note(line, "step") for line in self._names.steps(origin.steps)]
        match origin.source:
            case "event":
                mark = self.triples.setdefault(origin.stated, Mark())
                self.node(subject).state = state
                if property != RDF_TYPE and not is_literal(object):
                    self.node(object).state = state
            case "ontology":
                mark = self.node(subject)
                steps.insert(0, Note(f"in the ontology: a {self._names.term(object)}", "step"))
            case "datatype":
                # Whoever has this literal, if a pattern led there.
                mark = next((m for t, m in self.triples.items() if t[2] == subject), Mark())
        mark.state = state
        mark.notes.update(dict.fromkeys(steps))

    def _name(self, asked: TriplePattern, bindings: Solution, origin: Origin) -> None:
        """The variables of the pattern, at their places."""
        if origin.source != "event":
            return
        mark = self.triples[origin.stated]
        _add_name(self.node(origin.stated[0]).variables, asked.s)
        _add_name(mark.property_variables, asked.p)
        if isinstance(asked.o, Var):
            if origin.stated[1] == RDF_TYPE or is_literal(origin.stated[2]):
                _add_name(mark.variables, asked.o)
                self._values.setdefault(asked.o.name, []).append(origin.stated)
            else:
                _add_name(self.node(origin.stated[2]).variables, asked.o)

    # ---------------------------------------------------------------------------------------- what was asked about it

    def _conditions(self, finding: Finding) -> None:
        if finding.asked is not None:
            if finding.holds is False:
                self._missing(finding.asked, finding.bindings)
        elif not finding.route and finding.holds is not None:
            for name, term in finding.bindings.items():
                if place := self._place(name, term):
                    first, *more = finding.evidence or (finding.condition,)
                    kind: Literal["hit", "bad"] = "hit" if finding.holds else "bad"
                    said = (f"{MARKS[finding.holds]} {first}", *more)
                    place.notes.update(dict.fromkeys(Note(line, kind) for line in said))
                    place.state = place.state if finding.holds else "failed"
                    return

    def _missing(self, asked: TriplePattern, bindings: Solution) -> None:
        subject = bindings.get(asked.s.name) if isinstance(asked.s, Var) else asked.s
        if subject is None:
            return
        text = f"{MARKS[False]} {self._names.predicate(asked.p)} {self._names.node(asked.o)}"
        if is_literal(subject):
            mark = next((m for t, m in self.triples.items() if t[2] == subject), Mark())
        else:
            mark = self.node(subject)
            _add_name(mark.variables, asked.s)
        mark.notes[Note(text, "bad")] = None
        mark.state = "failed"

    def _place(self, name: str, term: Term) -> Mark | None:
        """Where the value of a variable is to be seen."""
        if stated := self._values.get(name):
            return self.triples[stated[0]]
        return self.nodes.get(term)


def _leaves(finding: Finding, *, culprit: bool) -> Iterable[tuple[Finding, bool]]:
    """The innermost findings that decide, and whether they hold but should not: where a condition fails although
    nothing inside it does, what is inside was to be absent."""
    if not finding.parts:
        yield finding, culprit
        return
    blamed = culprit or (finding.holds is False and next(finding.failures()) is finding)
    for part in finding.parts:
        if finding.holds is False or part.holds:
            yield from _leaves(part, culprit=blamed)


def _add_name(names: dict[str, None], node: Node) -> None:
    if isinstance(node, Var) and not node.hidden:
        names[f"?{node.name}"] = None
