"""Subscriptions as RTF and iBroker take them: triple patterns that join, wildcards, and full text on objects."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.property import model as m
from tests.property.brute_rdf import Knowledge
from tests.property.strategies import CANONICAL, RESOURCES, worlds
from tests.property.strategies_focus import LINKS, dense_events
from tests.property.strategies_sparql import FULL, TEXTS, Composer, fulltexts

Case = tuple[m.Select, m.World]

literals = st.one_of(st.sampled_from(TEXTS), st.sampled_from(TEXTS), st.sampled_from(CANONICAL))


class Conjunctive(Composer):
    def triples(self, most: int) -> list[tuple[m.Place, m.Place, m.Place]]:
        """Statements of E*, mostly, with variables that are mostly the same for the same term."""
        label = self.fresh("b")
        found = []
        for _ in range(self.draw(st.integers(1, most))):
            s, p, o = self.draw(st.sampled_from(self.star)) if not self.chance(8) else self._made_up()
            found.append((self._node(s, label), self._verb(p), self._node(o, label)))
        return found

    def query(self) -> m.Select:
        triples = self.triples(3 if len(self.star) < 14 else 2)
        elements: list[m.Element] = [m.Bgp(tuple(triples))]
        objects = [o for _, _, o in triples if isinstance(o, m.V)]
        for var in self.draw(st.lists(st.sampled_from(objects), max_size=2)) if objects else ():
            elements += [m.Filter(("ft", var, self.draw(fulltexts())))]
        names = sorted({n for t in triples for n in t if isinstance(n, m.V)})
        columns = tuple((n, None) for n in names[:2]) if names and self.chance(2) else None
        form = "ASK" if self.chance(6) else "SELECT"
        return m.Select(m.Group(tuple(elements)), columns, distinct=columns is not None and self.chance(2), form=form)


@st.composite
def rtf_cases(draw: st.DrawFn) -> Case:
    """Everything at once, under an ontology."""
    world = draw(worlds(literals, most=6))
    return Conjunctive(draw, world, FULL, sorted(Knowledge(world).star, key=repr)).query(), world


# --------------------------------------------------------------------------------------------------------------- texts

_TOKENS = ["the", "Olympic", "games", "in", "Rio", "2016", "東"]


@st.composite
def _part(draw: st.DrawFn, tokens: list[str]) -> m.FtTree:
    """A word, a phrase or a proximity that the text has, or nearly."""
    first = draw(st.integers(0, len(tokens) - 1))
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return ("phrase", draw(st.sampled_from(_TOKENS)))
    if kind < 3 or first == len(tokens) - 1:
        return ("phrase", " ".join(tokens[first : first + draw(st.integers(1, 3))]))
    second = draw(st.integers(first + 1, len(tokens) - 1))
    least = max(0, second - first - 1 - draw(st.integers(-1, 1)))
    left: m.FtTree = ("phrase", tokens[first])
    if draw(st.booleans()):
        left = ("or", left, ("phrase", draw(st.sampled_from(_TOKENS))))
    return ("near", left, least, least + draw(st.integers(0, 2)), ("phrase", tokens[second]))


@st.composite
def _fitting(draw: st.DrawFn, tokens: list[str], depth: int = 2) -> m.FtTree:
    """An expression that the text satisfies about as often as not."""
    kind = draw(st.integers(0, 5)) if depth else 0
    if kind < 2:
        return draw(_part(tokens))
    if kind == 2:
        return ("not", ("and", draw(_fitting(tokens, depth - 1)), ("phrase", draw(st.sampled_from(_TOKENS)))))
    return ("and" if kind < 5 else "or", draw(_fitting(tokens, depth - 1)), draw(_fitting(tokens, depth - 1)))


@st.composite
def text_cases(draw: st.DrawFn) -> Case:
    """Some texts on some resources; one or two patterns over them, each with text to look for."""
    texts = draw(st.lists(st.lists(st.sampled_from(_TOKENS), min_size=1, max_size=6), min_size=1, max_size=4))
    resource = st.sampled_from(RESOURCES[:2])
    event = [(draw(resource), draw(st.sampled_from(LINKS)), m.Lit(" ".join(tokens))) for tokens in texts]
    event += draw(st.lists(st.tuples(resource, st.sampled_from(LINKS), resource), max_size=1))
    elements: list[m.Element] = []
    triples = []
    for number in range(draw(st.sampled_from([1, 1, 2]))):
        about = draw(st.integers(0, len(texts) - 1))
        s, p, _ = event[about]
        subject = draw(st.sampled_from([m.V("x"), m.V("x"), m.V(f"x{number}"), m.Star(2 * number), s]))
        verb = draw(st.sampled_from([p, p, m.V("p"), m.Star(2 * number + 1)]))
        target = m.V(draw(st.sampled_from([f"t{number}", f"t{number}", "t"])))
        triples.append((subject, verb, target))
        elements.append(m.Filter(("ft", target, draw(_fitting(texts[about])))))
    return m.Select(m.Group((m.Bgp(tuple(triples)), *elements))), m.World((), tuple(dict.fromkeys(event)))


# --------------------------------------------------------------------------------------------------------------- joins


@st.composite
def join_cases(draw: st.DrawFn) -> Case:
    """Nothing but variables on a small dense graph, now and then a loop: what matters is the join."""
    world = m.World((), draw(dense_events(7)))
    node = st.sampled_from([m.V(n) for n in "wxyz"])
    verb = st.one_of(st.sampled_from(LINKS), st.sampled_from(LINKS), node)
    triples = draw(st.lists(st.tuples(node, verb, node), min_size=2, max_size=4))
    return m.Select(m.Group((m.Bgp(tuple(triples)),))), world


@st.composite
def rtf_histories(draw: st.DrawFn) -> tuple[m.World, list[m.Select], list[int]]:
    """Subscriptions on one world, and the order in which they come and, named again, go."""
    cases = [draw(st.one_of(rtf_cases(), text_cases(), text_cases())) for _ in range(draw(st.integers(2, 5)))]
    event = dict.fromkeys(statement for _, world in cases for statement in world.event)
    order = draw(st.lists(st.integers(0, len(cases) - 1), min_size=4, max_size=16))
    return m.World(cases[0][1].ontology, tuple(event)), [query for query, _ in cases], order
