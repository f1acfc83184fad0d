"""Subscriptions drawn from an event, in all dialects, and the parts that changes are made of."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tests.soak.trees import places, put, valid

from tidings.lang.pattern import (
    Block,
    Call,
    ClassOf,
    Const,
    Constraint,
    Exists,
    Expr,
    FtAnd,
    FtContains,
    FtExpr,
    FtNear,
    FtNot,
    FtOr,
    FtPhrase,
    Node,
    Query,
    TriplePattern,
    Var,
)
from tidings.ontology import Ontology
from tidings.rdf.terms import RDF_TYPE, XSD_INTEGER, Term, Triple, is_blank, is_iri, is_literal, literal, parts

OPERATORS = ["=", "!=", "<", "<=", ">", ">="]
NAMES = [Var(name) for name in ("x", "y", "z", "w", "v")]


@dataclass(frozen=True)
class Kit:
    """What a mutation is made of: dice, an event, its ontology, and other subscriptions to take parts from."""

    dice: random.Random
    triples: Sequence[Triple]
    event: str
    ontology: Ontology
    others: Sequence[Query] = ()

    @cached_property
    def resources(self) -> list[Term]:
        found = dict.fromkeys(t for s, _, o in self.triples for t in (s, o) if is_iri(t))
        return [*found, Term("<http://e.x/nowhere>")]

    @cached_property
    def literals(self) -> list[Term]:
        found = dict.fromkeys(o for _, _, o in self.triples if is_literal(o))
        return [*found, literal("nothing"), literal("5", XSD_INTEGER)]

    @cached_property
    def words(self) -> list[str]:
        texts = [parts(t).lexical for t in self.literals]
        return [word for text in texts for word in re.findall(r"\w+", text)[:200]] or ["nothing"]

    def triple(self) -> Triple:
        return self.dice.choice(self.triples)

    def property(self) -> Term:
        """One of the event's, or of those above it."""
        found = self.triple()[1]
        above = sorted(self.ontology.superproperties(found))
        return self.dice.choice(above) if above and self.dice.random() < 0.4 else found

    def cls(self) -> Term:
        typed = [o for _, p, o in self.triples if p == RDF_TYPE and is_iri(o)] or self.resources
        found = self.dice.choice(typed)
        above = sorted(self.ontology.superclasses(found))
        return self.dice.choice(above) if above and self.dice.random() < 0.5 else found

    def like(self, term: Term, is_property: bool = False) -> Term:
        """Another term of the same kind."""
        if is_property:
            return self.property()
        if is_literal(term):
            return self.value() if self.dice.random() < 0.5 else self.dice.choice(self.literals)
        return self.cls() if self.dice.random() < 0.3 else self.dice.choice(self.resources)

    def value(self) -> Term:
        """A literal near one of the event's: the number next to it, another datatype, another language."""
        found = parts(self.dice.choice(self.literals))
        number = re.fullmatch(r"[+-]?\d{1,15}", found.lexical)
        lexical = str(int(found.lexical) + self.dice.choice([-1, 0, 0, 1])) if number else found.lexical
        if found.language is not None:
            return literal(lexical, language=self.dice.choice([found.language, "en", "de-ch"]))
        if number and self.dice.random() < 0.3:
            return literal(lexical, self.dice.choice([XSD_INTEGER, f"{XSD_INTEGER[:-7]}decimal", found.datatype]))
        return literal(lexical, found.datatype)


# -------------------------------------------------------------------------------------------------------- from an event


def pattern_from(kit: Kit, most: int = 4) -> Block:
    """Triples of the event that hang together, with variables for terms: a block that matches, more often than not."""
    names: dict[Term, Node] = {}
    chosen: list[Triple] = []
    for _ in range(kit.dice.randint(1, most)):
        known = {t for s, _, o in chosen for t in (s, o)}
        near = [t for t in kit.triples if t[0] in known or t[2] in known]
        chosen.append(kit.dice.choice(near if near and kit.dice.random() < 0.85 else kit.triples))
    made = []
    for s, p, o in chosen:
        for term, odds in ((s, 0.8), (o, 0.5)):
            if term not in names:
                hidden = kit.dice.random() < odds or is_blank(term)
                names[term] = Var(f"v{len(names)}") if hidden else term
        verb: Node = p
        if kit.dice.random() < 0.08:
            verb = kit.dice.choice([Var("p"), Var("*0")])
        elif kit.dice.random() < 0.3:
            verb = kit.dice.choice(sorted(kit.ontology.superproperties(p)) or [p])
        target = names[o]
        if p == RDF_TYPE and is_iri(o):
            target = kit.dice.choice([target, *sorted(kit.ontology.superclasses(o))[:20]])
        made.append(TriplePattern(names[s], verb, target))
    filters = tuple(
        condition(kit, [n for n in names.values() if isinstance(n, Var)]) for _ in range(kit.dice.choice([0, 0, 1, 2]))
    )
    return Block(tuple(dict.fromkeys(made)), filters=filters)


def query_from(kit: Kit) -> Query:
    return Query("sparql", "SELECT", pattern_from(kit))


def ops_from(kit: Kit) -> Query | None:
    """A walk from the home vertex, where the event has one."""
    home = Term("_:H")
    names: dict[Term, Node] = {home: home}
    arcs = [t for t in kit.triples if t[1] != RDF_TYPE]
    triples: list[TriplePattern] = []
    classes: list[ClassOf] = []
    filters: list[Expr] = []
    for _ in range(kit.dice.randint(1, 4)):
        near = [t for t in arcs if t[0] in names]
        if not near:
            return None
        s, p, o = kit.dice.choice(near)
        if o not in names:
            names[o] = Var(f"v{len(names)}") if is_blank(o) or kit.dice.random() < 0.7 else o
        triples.append(
            TriplePattern(names[s], kit.dice.choice(sorted(kit.ontology.superproperties(p)) or [p]), names[o])
        )
        classes += [ClassOf(names[n], _class_of(kit, n)) for n in (s, o)]
        if isinstance(names[o], Var) and kit.dice.random() < 0.4:
            filters.append(_comparison(kit, names[o]))
    return Query(
        "ops",
        "SELECT",
        Block(tuple(triples), filters=tuple(filters), classes=tuple(classes), injective=True),
        distinct=True,
    )


def _class_of(kit: Kit, node: Term) -> Term:
    if is_literal(node):
        own = Term(f"<{parts(node).datatype}>")
        return kit.dice.choice([*sorted(kit.ontology.literal_classes(own)), own])
    types = [o for s, p, o in kit.triples if s == node and p == RDF_TYPE and is_iri(o)]
    above = [c for t in types for c in sorted(kit.ontology.superclasses(t))]
    return kit.dice.choice([Term("<http://www.w3.org/2002/07/owl#Thing>"), *types, *above])


def gtopss_from(kit: Kit) -> Query:
    block = pattern_from(kit)
    triples = tuple(t for t in block.triples if not (isinstance(t.p, Var) and t.p.hidden))
    ends = [n for t in triples for n in (t.s, t.o) if isinstance(n, Var)]
    filters = []
    for var in ends:
        if kit.dice.random() < 0.4:
            value = kit.value() if kit.dice.random() < 0.6 else kit.dice.choice([kit.cls(), *kit.resources])
            filters.append(Constraint(var, kit.dice.choice(OPERATORS), value))
    return Query(
        "gtopss",
        "SELECT",
        Block(triples or (TriplePattern(Var("x"), kit.property(), Var("y")),), filters=tuple(filters)),
        distinct=True,
    )


def fitted(kit: Kit, query: Query) -> Query:
    """The same shape with terms of the event in it: patterns laid over its triples, so that they hold together."""
    images: dict[str, Term] = {}
    for place, node in list(places(query)):
        if not isinstance(node, TriplePattern):
            continue
        known = {
            end: images[n.name] for end, n in (("s", node.s), ("o", node.o)) if isinstance(n, Var) and n.name in images
        }
        fitting = [t for t in kit.triples if known.get("s", t[0]) == t[0] and known.get("o", t[2]) == t[2]]
        if not fitting:
            continue
        triple = kit.dice.choice(fitting)
        new = []
        for n, term in zip((node.s, node.p, node.o), triple, strict=True):
            if isinstance(n, Var):
                images[n.name] = term
            new.append(n if isinstance(n, Var) or is_blank(term) else term)
        query = put(query, place, TriplePattern(*new))
    return valid(query) or query


# ---------------------------------------------------------------------------------------------------------- expressions


def condition(kit: Kit, names: Sequence[Var], depth: int = 2) -> Expr:
    dice = kit.dice
    var = dice.choice(names or NAMES)
    leaves: list[Callable[[], Expr]] = [
        lambda: _comparison(kit, var),
        lambda: _comparison(kit, var),
        lambda: FtContains(var, fulltext(kit)),
        lambda: FtContains(var, fulltext(kit)),
        lambda: Call(dice.choice(["ISIRI", "ISLITERAL", "ISBLANK", "ISNUMERIC", "BOUND"]), (var,)),
        lambda: Call(dice.choice(["IN", "NOT IN"]), (var, _const(kit), _const(kit))),
        lambda: Call("REGEX", (Call("STR", (var,)), Const(literal(re.escape(dice.choice(kit.words))[:20])))),
        lambda: Call(
            dice.choice(["CONTAINS", "STRSTARTS"]), (Call("STR", (var,)), Const(literal(dice.choice(kit.words)[:4])))
        ),
        lambda: Call("=", (Call("LANG", (var,)), Const(literal(dice.choice(["en", "", "de"]))))),
        lambda: Call("LANGMATCHES", (Call("LANG", (var,)), Const(literal(dice.choice(["en", "*"]))))),
        lambda: Call(dice.choice(["=", "!="]), (var, dice.choice(names or NAMES))),
        lambda: Call("SAMETERM", (var, dice.choice([*(names or NAMES), _const(kit)]))),
        lambda: Call(
            dice.choice(OPERATORS), (Call("STRLEN", (Call("STR", (var,)),)), Const(literal("12", XSD_INTEGER)))
        ),
    ]
    if not depth or dice.random() < 0.6:
        return dice.choice(leaves)()
    inner = [condition(kit, names, depth - 1) for _ in range(dice.choice([2, 2, 3]))]
    kind = dice.randrange(6)
    if kind == 0:
        return Call("!", (inner[0],))
    if kind == 1:
        return Exists(pattern_from(kit, 2), dice.random() < 0.5)
    if kind == 2:
        return Call("COALESCE", (inner[0], inner[1]))
    return Call("||" if kind < 5 else "&&", tuple(inner))


def _const(kit: Kit) -> Const:
    return Const(kit.dice.choice([kit.value(), kit.dice.choice(kit.literals), kit.dice.choice(kit.resources)]))


def _comparison(kit: Kit, var: Var) -> Expr:
    return Call(kit.dice.choice(OPERATORS), (var, Const(kit.value())))


def fulltext(kit: Kit, depth: int = 2) -> FtExpr:
    dice = kit.dice
    kind = dice.randrange(8) if depth else 0
    if kind < 4:
        return _phrase(kit)
    if kind == 4:
        return FtNot(fulltext(kit, depth - 1))
    if kind == 5:
        least = dice.randint(0, 2)
        return FtNear(_phrase(kit), least, least + dice.randint(0, 5), _phrase(kit))
    return (FtAnd if kind == 6 else FtOr)((fulltext(kit, depth - 1), fulltext(kit, depth - 1)))


def _phrase(kit: Kit) -> FtPhrase:
    """One word of the event, or some in a row; upper case now and then."""
    start = kit.dice.randrange(len(kit.words))
    words = kit.words[start : start + kit.dice.choice([1, 1, 1, 2, 3])]
    text = " ".join(words)
    return FtPhrase(text.upper() if kit.dice.random() < 0.2 else text, ())
