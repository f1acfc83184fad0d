"""What a subscription is apart from its names: two of the same shape are compiled in the same way.

A shape has all that the compilation may look at: every part of the form, the names of variables, which terms and words
are equal, and as they are those that mean something by themselves. What is left out is which IRI it is, which literal
of its datatype in a triple, which words a text is asked for. In doubt a term is as it is: the worst that can come of
it is one more shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidings.lang.forms import parts_of
from tidings.lang.pattern import Aggregate, Block, Call, Const, Constraint, FtAnd, FtContains, FtPhrase, Query, Var
from tidings.ontology.datatypes import DATATYPES, LITERAL_CLASSES
from tidings.ontology.vocabulary import THINGS
from tidings.rdf.terms import HOME, RDF_TYPE, SUBCLASS_OF, Term

SPECIAL = frozenset((RDF_TYPE, SUBCLASS_OF, HOME, *THINGS, *DATATYPES, *LITERAL_CLASSES))
"""Terms with a meaning of their own."""

# Operators that ask nothing of an IRI or a string but whether it is the same.
_SAME = frozenset(("=", "!=", "IN", "NOT IN", "SAMETERM"))
_LITERAL = object()
_AS_IT_IS = object()
# No term and no word has this character.
_MARK = "\0"


class Shape:
    """The shape of a subscription is its `key`. `terms` and `words` have a number for each, counted in the order of
    the form; these numbers are in the key.

    In a key, each part is a class, a length, or else something that says what it is: a variable is a text, an IRI a
    number. So no two shapes have the same key.
    """

    __slots__ = ("_fixed", "_special", "key", "terms", "words")

    def __init__(self, query: Query, special: frozenset[Term]) -> None:
        self._special = special
        self._fixed: list[Term] = []
        self.key: list[object] = []
        self.terms: dict[str, int] = {}
        self.words: dict[str, int] = {}
        self._query(query)

    def names(self) -> list[str]:
        """The terms, then the words."""
        return [*self.terms, *self.words]

    @property
    def size(self) -> int:
        """How much there is to remember."""
        return len(self.key) + sum(map(len, self._fixed))

    # ------------------------------------------------------------------------------------------------------- reading

    def _part(self, part: Any) -> None:
        """Any part of a form. A text is a term, where its node does not know better."""
        kind = type(part)
        read = _READ.get(kind)
        if read is not None:
            read(self, part)
        elif kind is tuple:
            self.key.append(len(part))
            for inner in part:
                self._part(inner)
        elif part is None or kind in (int, bool):
            self.key.append(part)
        else:
            self.key.append(kind)
            for inner in parts_of(part):
                self._part(inner)

    def _query(self, query: Query) -> None:
        self.key += (Query, query.dialect, query.form, query.distinct, query.reduced, query.limit, query.offset)
        if query.projection is None:
            self.key.append(None)
        else:
            self.key.append(len(query.projection))
            for column in query.projection:
                self.key.append(column.var.name)
                self._part(column.expr)
        self._part(query.where)
        rest = query.group, query.having, query.order, query.values, query.template
        self._part(None if rest == (None, (), (), None, ()) else rest)

    def _block(self, block: Block) -> None:
        key, terms, special = self.key, self.terms, self._special
        key += (Block, block.injective, len(block.triples))
        for triple in block.triples:
            for node in (triple.s, triple.p, triple.o):
                if isinstance(node, Var):
                    key.append(node.name)
                elif node[0] == "<" and node not in special:
                    key.append(terms.setdefault(node, len(terms)))
                else:
                    self._term(node)
        self._part(block.filters)
        rest = block.classes, block.paths
        self._part(None if rest == ((), ()) else rest)

    def _variable(self, var: Var) -> None:
        self.key.append(var.name)

    def _term(self, term: Term) -> None:
        if term[0] == '"':
            datatype = term[term.rindex('"') + 1 :]
            self.key += (_LITERAL, self.terms.setdefault(term, len(self.terms)), datatype)
        elif term[0] == "<" and term not in self._special:
            self.key.append(self.terms.setdefault(term, len(self.terms)))
        else:
            self._as_it_is(term)

    def _as_it_is(self, term: Term) -> None:
        self.key += (_AS_IT_IS, self.terms.setdefault(term, len(self.terms)), term)
        self._fixed.append(term)

    def _call(self, call: Call) -> None:
        self.key += (Call, call.op, len(call.args))
        for arg in call.args:
            if type(arg) is Const and call.op in _SAME and (arg.term[0] == "<" or arg.term[-1] == '"'):
                self.key.append(Const)
                self._term(arg.term)
            else:
                self._part(arg)

    def _constant(self, const: Const) -> None:
        self.key.append(Const)
        self._as_it_is(const.term)

    def _aggregate(self, aggregate: Aggregate) -> None:
        self.key += (Aggregate, aggregate.op, aggregate.distinct, aggregate.separator)
        self._part(aggregate.arg)

    def _constraint(self, constraint: Constraint) -> None:
        self.key += (Constraint, constraint.var.name, constraint.op)
        if constraint.value[0] == "<":
            self._term(constraint.value)
        else:
            self._as_it_is(constraint.value)

    def _contains(self, contains: FtContains) -> None:
        self.key += (FtContains, contains.var.name)
        self._part(contains.text)

    def _phrase(self, phrase: FtPhrase) -> None:
        key, words = self.key, self.words
        key.append(len(phrase.words))
        for word in phrase.words:
            key.append(words.setdefault(word, len(words)))

    def _all(self, text: FtAnd) -> None:
        self.key += (FtAnd, len(text.items))
        for item in text.items:
            self._part(item)

    # ------------------------------------------------------------------------------------------------------- marking

    def marks(self) -> list[str]:
        """For each of the names one that nobody else has, where the shape does not have it as it is."""
        fixed = frozenset(self._fixed)
        terms = [term if term in fixed else _marked(Term(term), number) for term, number in self.terms.items()]
        return [*terms, *(f"{_MARK}{number}" for number in self.words.values())]

    def marked(self, query: Query) -> Query:
        """The subscription with the marks in place of its names."""
        marks = self.marks()
        terms = dict(zip(self.terms, marks, strict=False))
        words = dict(zip(self.words, marks[len(terms) :], strict=True))
        made = _renamed(query, terms, words)
        assert isinstance(made, Query)
        return made


_READ: dict[type, Callable[[Shape, Any], None]] = {
    Query: Shape._query,
    Block: Shape._block,
    Var: Shape._variable,
    str: Shape._term,
    Call: Shape._call,
    Const: Shape._constant,
    Aggregate: Shape._aggregate,
    Constraint: Shape._constraint,
    FtContains: Shape._contains,
    FtPhrase: Shape._phrase,
    FtAnd: Shape._all,
}


def _marked(term: Term, number: int) -> str:
    return f"<{_MARK}{number}>" if term[0] == "<" else f'"{_MARK}{number}{term[term.rindex(chr(34)) :]}'


def _renamed(part: object, terms: dict[str, str], words: dict[str, str]) -> object:
    match part:
        case str():
            return terms.get(part, part)
        case Var() | None | bool() | int():
            return part
        case FtPhrase():
            return FtPhrase(part.text, tuple(words[word] for word in part.words))
    parts = [_renamed(inner, terms, words) for inner in parts_of(part)]
    if isinstance(part, Call):
        parts[0] = part.op
    return tuple(parts) if isinstance(part, tuple) else type(part)(*parts)
