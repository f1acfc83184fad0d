"""Expressions: operators by precedence, built-ins with their number of arguments, casts, aggregates, `ftcontains`."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from tidings.lang.fulltext import parse_fulltext
from tidings.lang.pattern import Aggregate, Call, Const, Exists, Expr, FtContains, Pattern, Var
from tidings.lang.terms import LITERALS, NUMBERS, TermParser
from tidings.rdf.regex import compile_regex
from tidings.rdf.terms import iri, is_iri, is_literal, parts
from tidings.rdf.values import CASTS as DATATYPES

_LEVELS = {"||": 1, "&&": 2, "*": 5, "/": 5}
_LEVELS |= dict.fromkeys(["=", "!=", "<", "<=", ">", ">=", "IN", "NOT"], 3)
_LEVELS |= dict.fromkeys(["+", "-", *NUMBERS], 4)

_MANY = 1 << 20
_ARITIES: dict[str, tuple[int, int]] = {
    "BNODE": (0, 1),
    "BOUND": (1, 1),
    "COALESCE": (0, _MANY),
    "CONCAT": (0, _MANY),
    "IF": (3, 3),
    "IRI": (1, 2),
    "NOW": (0, 0),
    "REGEX": (2, 3),
    "REPLACE": (3, 4),
    "SUBSTR": (2, 3),
    "URI": (1, 2),
}
_ONE = """STR LANG DATATYPE ABS CEIL FLOOR ROUND STRLEN UCASE LCASE ENCODE_FOR_URI YEAR MONTH DAY HOURS MINUTES
    SECONDS TIMEZONE TZ MD5 SHA1 SHA256 SHA384 SHA512 ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC"""
_TWO = "LANGMATCHES CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER STRLANG STRDT SAMETERM"
_ARITIES |= dict.fromkeys(_ONE.split(), (1, 1)) | dict.fromkeys(_TWO.split(), (2, 2))
REGEXES = {"REGEX": 2, "REPLACE": 3}
"""The built-ins that take a regular expression, as their second argument, and where its flags stand."""
_SAME = {"URI": "IRI", "ISURI": "ISIRI"}
AGGREGATES = frozenset(["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"])
_REFUSED = frozenset(["RAND", "UUID", "STRUUID"])
CASTS = frozenset(map(iri, DATATYPES))
"""The functions named by an IRI: the casts of SPARQL 1.1, 17.5, and those to the other datatypes that have values."""

BUILT_INS = frozenset(_ARITIES) | {"EXISTS", "NOT", "FTCONTAINS"}
CALLS = BUILT_INS | AGGREGATES | _REFUSED | {"iri", "pname"}
"""The kinds of token a call begins with."""


class ExpressionParser(TermParser):
    """Expressions over terms; what stands in EXISTS is for a parser of patterns to say (`exists_pattern`)."""

    def __init__(self, text: str, source: str | None = None, base: str | None = None) -> None:
        super().__init__(text, source, base)
        self.no_aggregate: str | None = None
        """Where aggregates are not allowed: what to call the place."""
        self.aggregated = False
        """Whether an aggregate has been read since this was last reset."""

    def exists_pattern(self) -> Pattern:
        raise self.error("EXISTS has no place here", at=self.i - 1)

    def var(self) -> Var:
        return Var(self.expect("var")[1:])

    # ------------------------------------------------------------------------------------------------------- operators

    def expression(self, floor: int = 1) -> Expr:
        """An expression whose operators bind at least as tightly as the level `floor`."""
        left = self._unary()
        while True:
            kind = self.kinds[self.i]
            level = _LEVELS.get(kind, 0)
            if level < floor or (kind in NUMBERS and self.texts[self.i][0] not in "+-"):
                return left
            if level < 3:
                items = [left]
                while self.take(kind):
                    items.append(self.expression(level + 1))
                left = Call(kind, tuple(items))
            elif level == 3:
                left = self._comparison(left, kind)
                if _LEVELS.get(self.kinds[self.i]) == 3:
                    raise self.error("comparisons do not chain", hint="join them with && or add parentheses")
            else:
                left = Call(self._arithmetic_sign(kind), (left, self.expression(level + 1)))

    def _comparison(self, left: Expr, kind: str) -> Expr:
        self.i += 1
        if kind == "NOT":
            self.expect("IN")
            kind = "NOT IN"
        if kind in ("IN", "NOT IN"):
            return Call(kind, (left, *self.arguments()))
        return Call(kind, (left, self.expression(4)))

    def _arithmetic_sign(self, kind: str) -> str:
        """The sign, stepped over. In `?x-5` the tokens are `?x` and `-5`: the number loses its sign here."""
        if kind not in NUMBERS:
            return self.next()
        text = self.texts[self.i]
        self.texts[self.i] = text[1:]
        return text[0]

    def _unary(self) -> Expr:
        kind = self.kinds[self.i]
        if kind == "!":
            self.i += 1
            return Call("!", (self.primary(),))
        if kind == "+" or kind == "-":
            self.i += 1
            return Call(f"u{kind}", (self.primary(),))
        return self.primary()

    def primary(self) -> Expr:
        kind = self.kinds[self.i]
        if kind == "var":
            return Var(self.next()[1:])
        if kind in LITERALS:
            return Const(self.literal())
        if kind == "(":
            return self.bracketed()
        if kind == "iri" or kind == "pname":
            return self._function() if self.kinds[self.i + 1] == "(" else Const(self.iri())
        return self.built_in()

    def bracketed(self) -> Expr:
        self.expect("(")
        self.enter()
        inner = self.expression()
        if self.kinds[self.i] != ")":
            raise self.unexpected(")", "an operator")
        self.i += 1
        self.leave()
        return inner

    def arguments(self, places: list[int] | None = None) -> list[Expr]:
        """`( )` or `(a, b, …)`; `places` gets where each begins."""
        self.expect("(")
        self.enter()
        found: list[Expr] = []
        places = [] if places is None else places
        if self.kinds[self.i] != ")":
            places.append(self.i)
            found.append(self.expression())
            while self.take(","):
                places.append(self.i)
                found.append(self.expression())
        if self.kinds[self.i] != ")":
            raise self.unexpected(",", ")")
        self.i += 1
        self.leave()
        return found

    # ------------------------------------------------------------------------------------------------------- functions

    def constraint(self) -> Expr:
        """What FILTER and HAVING take: a bracketed expression or a call."""
        kind = self.kinds[self.i]
        if kind == "(":
            return self.bracketed()
        if kind == "iri" or kind == "pname":
            return self._function()
        if kind == "var" or kind in LITERALS or kind == "!":
            raise self.unexpected("(", "a function call", hint="put the condition in parentheses")
        return self.built_in()

    def _function(self) -> Expr:
        start = self.i
        op = self.iri()
        if self.kinds[self.i] != "(":
            raise self.unexpected("(")
        if op not in CASTS:
            known = ", ".join(sorted(f"xsd:{c.rpartition('#')[2][:-1]}" for c in CASTS))
            raise self.error(f"unknown function {op}", at=start, hint=f"the functions named by IRIs are {known}")
        args = self.arguments()
        if len(args) != 1:
            raise self.error(f"{op} takes one argument, here are {len(args)}", at=start)
        return Call(op, tuple(args))

    def built_in(self) -> Expr:
        """A call of a built-in, an aggregate, `ftcontains`, `EXISTS` or `NOT EXISTS`."""
        start = self.i
        name = self.kinds[start]
        if name in _ARITIES:
            self.i += 1
            return self._counted_call(name, start)
        if name == "FTCONTAINS":
            return self._ftcontains()
        if name == "EXISTS" or name == "NOT":
            self.i += 1
            if name == "NOT":
                self.expect("EXISTS")
            return Exists(self.exists_pattern(), name == "NOT")
        if name in AGGREGATES:
            self.i += 1
            return self._aggregate(name, start)
        if name in _REFUSED:
            why = "the same event must always give the same answer"
            raise self.error(f"{name} is not available in subscriptions", hint=why)
        if name.isupper() and self.kinds[start + 1] == "(":
            near = difflib.get_close_matches(name, [*BUILT_INS, *AGGREGATES], 1)
            hint = f"did you mean {near[0]}?" if near else None
            raise self.error(f"unknown function '{self.texts[start]}'", hint=hint)
        sign = "a second sign needs parentheses" if name in ("!", "+", "-") else None
        raise self.unexpected("an expression", hint=sign)

    def _counted_call(self, name: str, start: int) -> Expr:
        if name == "BOUND":
            self.expect("(")
            var = self.var()
            self.expect(")")
            return Call(name, (var,))
        places: list[int] = []
        args = self.arguments(places)
        least, most = _ARITIES[name]
        if not least <= len(args) <= most:
            wanted = str(least) if least == most else f"{least} or {most}"
            raise self.error(f"{name} takes {wanted} arguments, here are {len(args)}", at=start)
        if name in REGEXES and (problem := regex_problem(name, args)) is not None:
            raise self.error(problem, at=places[1])
        if name == "IRI" or name == "URI":
            self._add_base(args, places)
        return Call(_SAME.get(name, name), tuple(args))

    def _add_base(self, args: list[Expr], places: list[int]) -> None:
        """A form has no BASE, so the call keeps it: as a second argument, which may also be written out."""
        if len(args) == 1 and self.base is not None:
            args.append(Const(iri(self.base)))
        elif len(args) == 2 and not (isinstance(args[1], Const) and is_iri(args[1].term)):
            raise self.error("the base must be an IRI", at=places[1])

    def _ftcontains(self) -> FtContains:
        self.i += 1
        self.expect("(")
        var = self.var()
        self.expect(",")
        text = parse_fulltext(self)
        if self.kinds[self.i] != ")":
            raise self.unexpected("FTAND", "FTOR", "FTNEAR", ")")
        self.i += 1
        return FtContains(var, text)

    def _aggregate(self, name: str, start: int) -> Aggregate:
        if self.no_aggregate is not None:
            raise self.error(f"{name} is an aggregate and has no place {self.no_aggregate}", at=start)
        self.aggregated = True
        self.expect("(")
        self.enter()
        distinct = self.take("DISTINCT")
        arg: Expr | None = None
        if not (name == "COUNT" and self.take("*")):
            self.no_aggregate = "inside another aggregate"
            arg = self.expression()
            self.no_aggregate = None
        separator = self._separator() if name == "GROUP_CONCAT" else None
        if self.kinds[self.i] != ")":
            hint = "AS goes outside the aggregate: (COUNT(?x) AS ?n)" if self.kinds[self.i] == "AS" else None
            raise self.unexpected(")", hint=hint)
        self.i += 1
        self.leave()
        return Aggregate(name, distinct, arg, separator)

    def _separator(self) -> str | None:
        if not self.take(";"):
            return None
        self.expect("SEPARATOR")
        self.expect("=")
        return self.string()


def regex_problem(op: str, args: Sequence[Expr]) -> str | None:
    """What is wrong with the pattern of a REGEX or REPLACE: one that is written out must compile now, not on every
    event.
    """
    flags_at = REGEXES[op]
    pattern, flags = args[1], args[flags_at] if len(args) > flags_at else None
    if not isinstance(pattern, Const) or not is_literal(pattern.term):
        return None
    if flags is not None and not (isinstance(flags, Const) and is_literal(flags.term)):
        return None
    try:
        compile_regex(parts(pattern.term).lexical, parts(flags.term).lexical if flags else "")
    except ValueError as error:
        return str(error)
    return None
