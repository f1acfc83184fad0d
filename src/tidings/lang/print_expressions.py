"""Expressions and paths as text. Parentheses stand where the reader needs them to find the same form, nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable

from tidings.lang.fulltext import print_fulltext
from tidings.lang.pattern import (
    Aggregate,
    Alternative,
    Call,
    Const,
    Constraint,
    Exists,
    Expr,
    FtContains,
    Inverse,
    Link,
    Negated,
    Node,
    Path,
    Pattern,
    Repeat,
    Sequence,
    Var,
)
from tidings.rdf.terms import RDF_TYPE, XSD_BOOLEAN, XSD_DECIMAL, XSD_DOUBLE, XSD_INTEGER, Term, escape

PrintGroup = Callable[[Pattern], str]
"""How the pattern inside an EXISTS is printed, braces included."""

_LEVELS = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5, "!": 6, "u+": 6, "u-": 6}
_LEVELS |= dict.fromkeys(["=", "!=", "<", "<=", ">", ">=", "IN", "NOT IN"], 3)
_PRIMARY = 7

_SHORT = re.compile(
    rf'"(?:([+-]?[0-9]+)"\^\^<{XSD_INTEGER}>|([+-]?[0-9]*\.[0-9]+)"\^\^<{XSD_DECIMAL}>'
    rf'|([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+)"\^\^<{XSD_DOUBLE}>|(true|false)"\^\^<{XSD_BOOLEAN}>)'
)


def print_node(node: Node) -> str:
    """A variable, a term, a blank node, or the wildcard."""
    if not isinstance(node, Var):
        return print_term(node)
    if node.name[0] == "*":
        return "*"
    return node.name if node.hidden else f"?{node.name}"


def print_term(term: Term) -> str:
    """A term in full, but numbers and booleans without quotes where they read back as the same."""
    if term[0] != '"':
        return term
    match = _SHORT.fullmatch(term)
    return match[1] or match[2] or match[3] or match[4] if match else term


# ---------------------------------------------------------------------------------------------------------- expressions


def print_expression(expr: Expr, group: PrintGroup, floor: int = 0) -> str:
    """The text of an expression, in parentheses if it binds less tightly than the level `floor`."""
    match expr:
        case Var():
            return f"?{expr.name}"
        case Const(term=term):
            return print_term(term)
        case Call(op=op, args=args) if op in _LEVELS:
            text = _operation(op, args, group)
            return f"({text})" if _LEVELS[op] < floor else text
        case Call(op=op, args=args):
            return f"{op}({_arguments(args, group)})"
        case Exists(pattern=pattern, negated=negated):
            return f"{'NOT EXISTS' if negated else 'EXISTS'} {group(pattern)}"
        case Aggregate():
            return _aggregate(expr, group)
        case FtContains(var=var, text=ft):
            return f"ftcontains(?{var.name}, {print_fulltext(ft)})"
        case Constraint():
            raise AssertionError("a G-ToPSS constraint in a SPARQL query")


def print_constraint(expr: Expr, group: PrintGroup) -> str:
    """What stands behind FILTER: a call, or an expression in parentheses."""
    bare = isinstance(expr, Exists | FtContains | Aggregate) or (isinstance(expr, Call) and expr.op not in _LEVELS)
    text = print_expression(expr, group)
    return text if bare else f"({text})"


def _operation(op: str, args: tuple[Expr, ...], group: PrintGroup) -> str:
    level = _LEVELS[op]
    if op in ("||", "&&"):
        return f" {op} ".join(print_expression(arg, group, level + 1) for arg in args)
    if op in ("IN", "NOT IN"):
        return f"{print_expression(args[0], group, level + 1)} {op} ({_arguments(args[1:], group)})"
    if level == 6:
        return op[-1] + _operand(args[0], op, group)
    # Comparisons do not chain, arithmetic chains to the left.
    left = print_expression(args[0], group, level + 1 if level == 3 else level)
    return f"{left} {op} {print_expression(args[1], group, level + 1)}"


def _operand(expr: Expr, op: str, group: PrintGroup) -> str:
    """What stands behind a unary sign. A number needs parentheses there, or the sign would become a part of it."""
    text = print_expression(expr, group, _PRIMARY)
    return f"({text})" if isinstance(expr, Const) and op != "!" else text


def _arguments(args: tuple[Expr, ...], group: PrintGroup) -> str:
    return ", ".join(print_expression(arg, group) for arg in args)


def _aggregate(expr: Aggregate, group: PrintGroup) -> str:
    inner = "*" if expr.arg is None else print_expression(expr.arg, group)
    distinct = "DISTINCT " if expr.distinct else ""
    separator = "" if expr.separator is None else f' ; SEPARATOR="{escape(expr.separator)}"'
    return f"{expr.op}({distinct}{inner}{separator})"


# ---------------------------------------------------------------------------------------------------------------- paths


def print_path(path: Path, level: int = 1) -> str:
    """The text of a path, in parentheses if it binds less tightly than `level`."""
    match path:
        case Link(iri=iri):
            return print_property(iri)
        case Alternative(choices=choices):
            own, text = 1, "|".join(print_path(choice, 2) for choice in choices)
        case Sequence(steps=steps):
            own, text = 2, "/".join(print_path(step, 3) for step in steps)
        case Inverse(path=inner):
            own, text = 3, f"^{print_path(inner, 4)}"
        case Repeat(path=inner, least=least, most=most):
            sign = "+" if least else "?" if most else "*"
            own, text = 4, f"{print_path(inner, 5)}{sign}"
        case Negated(forward=forward, inverse=inverse):
            names = [print_property(iri) for iri in forward] + [f"^{print_property(iri)}" for iri in inverse]
            own, text = 5, f"!({'|'.join(names)})"
    return text if own >= level else f"({text})"


def print_property(iri: Term) -> str:
    return "a" if iri == RDF_TYPE else iri
