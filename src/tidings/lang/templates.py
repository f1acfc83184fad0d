"""Templates: a subscription with parameters, read once, made into as many subscriptions as there are values for it.

    Template("SELECT ?paper { ?paper dc:creator $author ; :venue $venue }", {"author": "iri", "venue": "iri"})

What an instance means is one rule: it is the text with each value written where its parameter stands. It is not made
by writing and reading that text. While the template is read, the parser meets a mark in place of each parameter, an IRI
or a string that nobody else can have, so the grammar itself says where which kind may stand; the form that comes out is
filled with terms from then on. A value is a term before it comes near a form or a text, and stays that one term.

What the parser would say about a value (a regular expression, words to look for, rdf:type in `ops`) is said of it here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from secrets import token_hex
from typing import Any, TypeAlias

from tidings.errors import ParameterError, SubscriptionError, UsageError
from tidings.lang import check_text
from tidings.lang.expressions import REGEXES, ExpressionParser, regex_problem
from tidings.lang.filling import Fill, filler
from tidings.lang.forms import walk
from tidings.lang.fulltext import phrase
from tidings.lang.gtopss import GtopssParser
from tidings.lang.ops import OpsParser
from tidings.lang.parameters import Parameter, as_json, checked_note, term_of, wanted
from tidings.lang.pattern import Call, Dialect, FtPhrase, Query, TriplePattern
from tidings.lang.print_expressions import print_term
from tidings.lang.sparql import SparqlParser
from tidings.rdf.terms import RDF_TYPE, Term, iri_text, is_iri, literal, parts

MAX_PARAMETERS = 100
NAME = "[A-Za-z0-9_]{1,100}"
_PARSERS: Mapping[str, Callable[[str, str | None], SparqlParser | OpsParser | GtopssParser]] = {
    "sparql": SparqlParser,
    "ops": OpsParser,
    "gtopss": GtopssParser,
}
_APART = " \t\r\n(){}[],;"
"""Signs that no value can be taken together with."""

_Fill: TypeAlias = Fill[Sequence[Term], Sequence[str]]
"""Makes a part of a form from the terms of the parameters, in order, and the texts of those that are strings."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A subscription made of a template: its form, its text, and the values that were given, as JSON has them.

    `terms` are those of the parameters, in order, `words` how many the texts have that are looked for.
    """

    query: Query
    text: str
    dialect: Dialect
    values: Mapping[str, object]
    terms: tuple[Term, ...]
    words: tuple[int, ...]


class Template:
    """`parameters` are kinds by name, or objects with `kind`, `default` and `description`.

    >>> template = Template("SELECT ?x { ?x <http://e.x/by> $author }", {"author": "iri"})
    >>> template.instance({"author": "http://e.x/ada"}).text
    'SELECT ?x { ?x <http://e.x/by> <http://e.x/ada> }'
    """

    def __init__(
        self,
        query: str,
        parameters: Mapping[str, object],
        dialect: Dialect = "sparql",
        *,
        description: str | None = None,
        source: str | None = None,
    ) -> None:
        """A `SubscriptionError` says what is wrong with the text, and where; a `UsageError` what with the rest."""
        self.query = query
        self.dialect = dialect
        self.description = checked_note(description, "the template")
        self.parameters = _declared(parameters)
        self._names = list(self.parameters)
        if dialect not in _PARSERS:
            raise UsageError(f"unknown dialect {dialect!r}: there are sparql, ops and gtopss")
        check_text(query, dialect, source)
        reading = _Reading(self, source)
        self.form = reading.form
        """With marks in place of values: what it may cost can be told from it."""
        self._fill, self._no_type, self._looked_for = reading.fill, reading.no_type, sorted(reading.looked_for)
        self._pieces, self._order = reading.pieces, reading.order

    @staticmethod
    def of(given: Mapping[str, object], source: str | None = None) -> Template:
        """From its description in JSON."""
        members = dict(given)
        query, parameters = members.pop("query", None), members.pop("parameters", {})
        dialect, note = members.pop("dialect", "sparql"), members.pop("description", None)
        if members:
            known = "query, dialect, parameters and description"
            raise UsageError(f"there is no member {next(iter(members))!r:.100} of a template; there are {known}")
        if not isinstance(query, str):
            raise UsageError("'query' should be there, and be a string")
        if not isinstance(parameters, Mapping):
            raise UsageError("'parameters' should be an object: a kind for each name")
        if dialect not in list(_PARSERS):
            raise UsageError(f"'dialect' is one of {', '.join(_PARSERS)}")
        kind: Dialect = "ops" if dialect == "ops" else "gtopss" if dialect == "gtopss" else "sparql"
        return Template(query, parameters, kind, description=checked_note(note, "the template"), source=source)

    def told(self) -> dict[str, object]:
        """Its description, from which it can be made again."""
        told: dict[str, object] = {"query": self.query, "dialect": self.dialect}
        if self.description is not None:
            told["description"] = self.description
        return {**told, "parameters": {name: each.told() for name, each in self.parameters.items()}}

    def to_json(self) -> str:
        return json.dumps(self.told(), ensure_ascii=False)

    def instance(self, values: Mapping[str, object]) -> Instance:
        """The subscription with these values. A `ParameterError` names the parameter that is wrong."""
        given, terms, texts = self._terms(values)
        for place in self._no_type:
            if terms[place] == RDF_TYPE:
                raise _wrong(self._names[place], "rdf:type cannot be the property of a statement pattern")
        form = self._fill(terms, texts)
        assert isinstance(form, Query)
        printed = [print_term(term) for term in terms]
        pieces = self._pieces.copy()
        pieces[1::2] = [printed[place] for place in self._order]
        text = "".join(pieces)
        check_text(text, self.dialect)
        counts = tuple([len(phrase(texts[place]).words) for place in self._looked_for])
        return Instance(form, text, self.dialect, given, tuple(terms), counts)

    def _terms(self, values: Mapping[str, object]) -> tuple[dict[str, object], list[Term], list[str]]:
        given: dict[str, object] = {}
        terms: list[Term] = []
        texts: list[str] = []
        found = 0
        for name, parameter in self.parameters.items():
            value = parameter.default
            if name in values:
                value = given[name] = as_json(values[name])
                found += 1
            elif value is None:
                raise ParameterError(f"parameter '{name}' is missing: expected {wanted(parameter.kind)}")
            terms.append(term_of(name, parameter.kind, value))
            texts.append(value if isinstance(value, str) else "")
        if found < len(values):
            self._unknown(values)
        return given, terms, texts

    def _unknown(self, values: Mapping[str, object]) -> None:
        name = next(name for name in values if name not in self.parameters)
        known = ", ".join(self._names) or "none"
        raise ParameterError(f"there is no parameter {name!r:.120}; there are {known}")


def _declared(given: Mapping[str, object]) -> dict[str, Parameter]:
    if len(given) > MAX_PARAMETERS:
        raise UsageError(f"there are {len(given)} parameters, a template may have {MAX_PARAMETERS}")
    for name in given:
        if not isinstance(name, str) or not re.fullmatch(NAME, name):
            raise UsageError(f"{name!r:.120} cannot name a parameter: a name is of letters of English, digits and _")
    return {name: Parameter.of(name, each) for name, each in given.items()}


def _wrong(name: str, problem: str) -> ParameterError:
    return ParameterError(f"parameter '{name}': {problem}")


class _Reading:
    """A template while it is read."""

    def __init__(self, template: Template, source: str | None) -> None:
        self._template = template
        self._source = source
        self._names = list(template.parameters)
        self._kinds = [parameter.kind for parameter in template.parameters.values()]
        self._mark = f"t{token_hex(8)}"
        self._in_text = re.compile(rf'<urn:{self._mark}:(\d+)>|"?{self._mark}(\d+)"?')
        self.looked_for: set[int] = set()
        """The parameters that stand in `ftcontains`."""
        parser = self._marked(as_literals=False)
        self.form = self._read(parser)
        self.no_type = {
            self._names.index(name)
            for node in walk(self.form)
            if isinstance(node, TriplePattern) and template.dialect == "ops"
            for name in self._inside(node.p)
        }
        self.fill: _Fill = filler(self.form, partial(self._leaf, parser), self._above) or (lambda *_: self.form)
        if "term" in self._kinds:
            self._check_terms(parser)

    # -------------------------------------------------------------------------------------------------------- reading

    def _marked(self, *, as_literals: bool) -> ExpressionParser:
        """The parser of the text, with marks for parameters. Those that may be any term are `as_literals`, or IRIs."""
        text = self._template.query
        parser = _PARSERS[self._template.dialect](text, self._source)
        starts = parser.starts()
        self.order: list[int] = []
        self.pieces: list[str] = []
        self._places: dict[int, int] = {}
        end = 0
        for i, kind in enumerate(parser.kinds):
            if kind != "var":
                continue
            token = parser.texts[i]
            if token[1:] not in self._template.parameters:
                if token[0] == "$":
                    hint = f"declare it, or write ?{token[1:]} for a variable"
                    reason = f"there is no parameter '{token[1:]}'"
                    raise ParameterError(reason, span=parser.span(i), source=self._source, hint=hint)
                continue
            number = self._names.index(token[1:])
            is_name = self._kinds[number] == "iri" or (self._kinds[number] == "term" and not as_literals)
            parser.kinds[i] = "iri" if is_name else "string"
            parser.texts[i] = f"<urn:{self._mark}:{number}>" if is_name else f'"{self._mark}{number}"'
            self._places.setdefault(number, i)
            self.order.append(number)
            self.pieces += [_before(text[end : starts[i]]), ""]
            end = starts[i] + len(token)
        self.pieces.append(text[end:])
        self.pieces[2::2] = map(_behind, self.pieces[2::2])
        for number, name in enumerate(self._names):
            if number not in self._places:
                reason = f"the parameter '{name}' does not occur in the query"
                raise ParameterError(reason, source=self._source, hint=f"write ${name} where it stands")
        return parser

    def _read(self, parser: Any) -> Query:
        try:
            form = parser.query()
        except SubscriptionError as error:
            named = [int(one or other) for one, other in self._in_text.findall(error.reason)]
            reason = self._in_text.sub(lambda m: f"${self._names[int(m[1] or m[2])]}", error.reason)
            if not named:
                raise
            raise ParameterError(reason, span=error.span, source=error.source, hint=self._hint(named[0])) from None
        assert isinstance(form, Query)
        return form

    def _hint(self, number: int) -> str:
        name, kind = self._names[number], self._kinds[number]
        return (
            f"the parameter {name} stands for a value ({kind}), and is no variable: it can stand where such a value "
            f"can; to have it told, write (${name} AS ?other)"
        )

    def _inside(self, part: object) -> list[str]:
        """The parameters in a part of a form."""
        found = [match for node in walk(part) if isinstance(node, str) for match in self._in_text.findall(node)]
        return [self._names[int(one or other)] for one, other in found]

    def _check_terms(self, parser: ExpressionParser) -> None:
        """Where any term may stand, a literal can stand where an IRI can, and it makes no other difference."""
        other = self._read(self._marked(as_literals=True))
        marks = [Term(f'"{self._mark}{number}"') for number in range(len(self._names))]
        marks = [
            Term(f"<urn:{self._mark}:{number}>") if self._kinds[number] == "iri" else mark
            for number, mark in enumerate(marks)
        ]
        if self.fill(marks, [f"{self._mark}{number}" for number in range(len(marks))]) != other:
            number = self._kinds.index("term")
            raise self._misplaced(parser, number, "an IRI and a literal do not mean the same here; use another kind")

    # -------------------------------------------------------------------------------------------------------- filling

    def _leaf(self, parser: ExpressionParser, node: object) -> _Fill | None:
        if isinstance(node, FtPhrase):
            found = re.fullmatch(rf"{self._mark}(\d+)", node.text)
            return self._words(parser, int(found[1])) if found else None
        if not isinstance(node, str) or self._mark not in node:
            return None
        term = Term(node)
        if is_iri(term):
            return partial(_place, int(node[:-1].rpartition(":")[2]))
        if node[0] == '"':
            return self._literal(parser, term)
        [name, *_] = self._inside(node)
        raise self._misplaced(parser, self._names.index(name), "a text is needed here that is known beforehand")

    def _words(self, parser: ExpressionParser, number: int) -> _Fill:
        name = self._names[number]
        if self._kinds[number] not in ("words", "string"):
            raise self._misplaced(parser, number, "what is looked for is of the kind words or string")

        self.looked_for.add(number)

        def fill(terms: Sequence[Term], texts: Sequence[str]) -> object:
            found = phrase(texts[number])
            if not found.words:
                raise _wrong(name, f"expected {wanted('words')}, found none")
            return found

        return fill

    def _literal(self, parser: ExpressionParser, term: Term) -> _Fill:
        """A literal that is a parameter, or whose text or datatype is one."""
        lexical, datatype, language = parts(term)
        found = re.fullmatch(rf"{self._mark}(\d+)", lexical)
        number = None if found is None else int(found[1])
        its_type = re.fullmatch(rf"urn:{self._mark}:(\d+)", datatype)
        if number is not None:
            if self._kinds[number] == "words":
                raise self._misplaced(parser, number, "the kind words is for ftcontains; use string")
            if term[-1] == '"':
                return partial(_place, number)
            if self._kinds[number] != "string":
                raise self._misplaced(parser, number, "only a string can have a language or a datatype behind it")

        def fill(terms: Sequence[Term], texts: Sequence[str]) -> object:
            text = lexical if number is None else texts[number]
            type = datatype if its_type is None else iri_text(terms[int(its_type[1])])
            return literal(text, None if language else type, language)

        return fill

    def _above(self, node: object, fill: _Fill) -> _Fill:
        """A regular expression with a parameter is looked at when that is known."""
        if not isinstance(node, Call) or node.op not in REGEXES:
            return fill
        names = self._inside(node.args[1:2] + node.args[REGEXES[node.op] :])
        if not names:
            return fill

        def checked(terms: Sequence[Term], texts: Sequence[str]) -> object:
            call = fill(terms, texts)
            assert isinstance(call, Call)
            problem = regex_problem(call.op, call.args)
            if problem is not None:
                raise _wrong(names[0], problem)
            return call

        return checked

    def _misplaced(self, parser: ExpressionParser, number: int, why: str) -> ParameterError:
        reason = f"the parameter {self._names[number]} ({self._kinds[number]}) cannot stand here"
        return ParameterError(reason, span=parser.span(self._places[number]), source=self._source, hint=why)


def _place(number: int, terms: Sequence[Term], texts: Sequence[str]) -> object:
    return terms[number]


def _before(text: str) -> str:
    """What stands before a value: it must not be taken together with that."""
    return text if not text or text[-1] in _APART or text.endswith("^^") else f"{text} "


def _behind(text: str) -> str:
    return text if not text or text[0] in _APART or text[0] in "@^" else f" {text}"
