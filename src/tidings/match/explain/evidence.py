"""What an event has for a triple pattern or a class: the triple that satisfies it, or what comes nearest."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from tidings.lang.pattern import ClassOf, Node, PathPattern, TriplePattern, Var
from tidings.match.base import Solution
from tidings.match.explain.model import Finding
from tidings.match.explain.probe import Probe
from tidings.match.explain.provenance import Origin, Step, class_steps, origin
from tidings.match.explain.routes import route
from tidings.ontology.datatypes import LITERAL_CLASSES, xsd_ancestors
from tidings.rdf.terms import RDF_TYPE, Term, Triple, iri, iri_text, is_literal, parts

_MOST = 3
_LONGEST_ROUTE = 8
_LONGEST_KEPT = 100


def bound(node: Node, solution: Solution) -> Term | None:
    """The term at a place of a pattern under a solution; None where it is open."""
    return solution.get(node.name) if isinstance(node, Var) else node


# ------------------------------------------------------------------------------------------------------ what is there


def triple_found(probe: Probe, pattern: TriplePattern, solution: Solution) -> Finding:
    condition = probe.names.triple(pattern)
    s, p, o = (bound(node, solution) for node in (pattern.s, pattern.p, pattern.o))
    if s is None or p is None or o is None:
        return Finding(True, condition)
    source = origin((s, p, o), probe.meaning)
    return _derived(probe, condition, source) if source else Finding(True, condition)


def _derived(probe: Probe, condition: str, source: Origin) -> Finding:
    direct = source.source == "event" and not source.steps
    return Finding(True, condition, derivation(probe, source), source, direct=direct)


def derivation(probe: Probe, source: Origin) -> tuple[str, ...]:
    """The stated triple, then the steps up from it."""
    stated = probe.names.triple(source.stated)
    if source.source == "ontology":
        stated += " (in the ontology)"
    return (stated, *probe.names.steps(source.steps))


def class_found(probe: Probe, wanted: ClassOf, solution: Solution) -> Finding:
    names = probe.names
    condition = f"{names.node(wanted.node)} is a {names.term(wanted.cls)}"
    node = bound(wanted.node, solution)
    if node is None:
        return Finding(True, condition)
    if is_literal(node):
        datatype = iri(parts(node).datatype)
        steps = _datatype_steps(probe, datatype, wanted.cls)
        said = f"{names.term(node)} is a {names.term(datatype)}"
        if steps is None:
            every = (f"every literal is a {names.term(wanted.cls)}",) if wanted.cls in LITERAL_CLASSES else ()
            return Finding(True, condition, (said, *every), direct=not every)
        typed = Origin((node, RDF_TYPE, datatype), "datatype", steps)
        return Finding(True, condition, (said, *names.steps(steps)), typed, direct=not steps)
    source = origin((node, RDF_TYPE, wanted.cls), probe.meaning)
    if source is None:
        return Finding(True, condition, ("every resource is one",))
    return _derived(probe, condition, source)


def _datatype_steps(probe: Probe, datatype: Term, cls: Term) -> tuple[Step, ...] | None:
    """From a literal's datatype up to the class asked for: XML Schema's own hierarchy, then the ontology's."""
    chain = [datatype, *map(iri, xsd_ancestors(iri_text(datatype)))]
    for i, lower in enumerate(chain):
        steps = class_steps(lower, cls, probe.meaning)
        if steps is not None:
            derived = [Step(a, "⊑", b) for a, b in pairwise(chain[: i + 1])]
            return (*derived, *steps)
    return None


# -------------------------------------------------------------------------------------------------------- what is not


def triple_missing(probe: Probe, pattern: TriplePattern, solution: Solution) -> Finding:
    """The nearest triples: with another object, else with another property or subject."""
    names = probe.names
    s, p, o = (bound(node, solution) for node in (pattern.s, pattern.p, pattern.o))
    condition = names.triple(pattern)
    if p is None:
        known = [names.term(t) for t in (s, o) if t is not None]
        return Finding(False, condition, (f"no triple has {' and '.join(known)} there",) if known else ())
    if p == RDF_TYPE and o is not None:
        return Finding(False, condition, (_other_classes(probe, s, o),))
    if near := _stated(probe, s, p, None):
        asked = f"{names.term(o)} is asked for, " if o is not None else ""
        asked = asked or ("two times the same is asked for, " if pattern.s == pattern.o else "")
        return Finding(False, condition, tuple(f"{asked}the event has {there}" for there in near))
    if s is None:
        return Finding(False, condition, _other_properties(probe, None, p))
    elsewhere = tuple(f"elsewhere the event has {there}" for there in _stated(probe, None, p, o))
    return Finding(False, condition, (*_other_properties(probe, s, p), *elsewhere))


def _other_properties(probe: Probe, s: Term | None, p: Term) -> tuple[str, ...]:
    """What the subject, or the event, has instead of a property; one above it is worth a word."""
    names = probe.names
    who = "the event" if s is None else names.term(s)
    has = sorted({t[1] for t in probe.meaning.asserted.match(s, None, None)})
    if not has:
        return (f"{who} is the subject of nothing",)
    above = [q for q in has if q != p and probe.ontology.is_subproperty(p, q)]
    if above:
        return (f"{who} has {names.several(above)}, which is above {names.term(p)}, not below it",)
    return (f"{who} has no {names.predicate(p)}; it has {names.several(has)}",)


def _other_classes(probe: Probe, s: Term | None, cls: Term) -> str:
    """What the subject, or anything in the event, is instead; a class above is worth a word."""
    names, ontology = probe.names, probe.ontology
    stated = {t[2] for t in probe.meaning.asserted.match(s, RDF_TYPE, None)}
    there = sorted(stated | (ontology.types_of(s) if s is not None else set()))
    who = "the event" if s is None else names.term(s)
    if not there:
        return f"{who} has no class"
    above = [c for c in there if ontology.is_subclass(cls, c)]
    wanted = names.term(cls)
    if s is None:
        said = f"the classes in the event are {names.several(there)}, none of them below {wanted}"
    else:
        said = f"{who} is a {names.several(there)}, not below {wanted}"
    return f"{said}; {names.several(above)} is above it" if above else said


def class_missing(probe: Probe, wanted: ClassOf, solution: Solution) -> Finding:
    names = probe.names
    condition = f"{names.node(wanted.node)} is a {names.term(wanted.cls)}"
    node = bound(wanted.node, solution)
    if node is None:
        return Finding(None, condition)
    if is_literal(node):
        datatype = names.term(iri(parts(node).datatype))
        return Finding(False, condition, (f"{names.term(node)} is a {datatype}, not below {names.term(wanted.cls)}",))
    return Finding(False, condition, (_other_classes(probe, node, wanted.cls),))


def path_found(probe: Probe, pattern: PathPattern, solution: Solution) -> Finding:
    names = probe.names
    start, end = bound(pattern.s, solution), bound(pattern.o, solution)
    if start is None or end is None:
        return Finding(True, path_condition(probe, pattern))
    way = route(probe.meaning, pattern.path, start, end)
    if not way:
        said: tuple[str, ...] = (f"leads from {names.term(start)} to {names.term(end)}",)
    else:
        said = tuple(map(names.triple, way[:_LONGEST_ROUTE]))
        said += (f"… and {len(way) - _LONGEST_ROUTE} more",) if len(way) > _LONGEST_ROUTE else ()
    origins = (origin(triple, probe.meaning) for triple in (way or ())[:_LONGEST_KEPT])
    return Finding(True, path_condition(probe, pattern), said, route=tuple(source for source in origins if source))


def path_missing(probe: Probe, pattern: PathPattern, solution: Solution, reached: Iterable[Term]) -> Finding:
    names = probe.names
    condition = path_condition(probe, pattern)
    start = bound(pattern.s, solution)
    ends = sorted(reached)
    if start is None:
        return Finding(False, condition, ("no such path in the event",))
    if ends:
        return Finding(False, condition, (f"from {names.term(start)} it leads only to {names.several(ends)}",))
    return Finding(False, condition, (f"from {names.term(start)} it leads nowhere",))


def path_condition(probe: Probe, pattern: PathPattern) -> str:
    names = probe.names
    return f"{names.node(pattern.s)} {names.path(pattern.path)} {names.node(pattern.o)}"


def _stated(probe: Probe, s: Term | None, p: Term | None, o: Term | None) -> list[str]:
    """Some triples of the meaning at these places, as the event states them."""
    found: dict[Triple, None] = {}
    for triple in sorted(probe.meaning.match(s, p, o)):
        source = origin(triple, probe.meaning)
        found[source.stated if source else triple] = None
        if len(found) == _MOST:
            break
    return [probe.names.triple(triple) for triple in found]
