"""From the trees of `model` to text: N-Triples for terms, and the three dialects for subscriptions."""

from __future__ import annotations

from tests.property import model as m

_PREFIXES = {"": m.EX, "xsd": m.XSD, "rdf": m.RDF, "rdfs": m.RDFS, "owl": m.OWL, "daml": m.DAML}
_HEADER = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in _PREFIXES.items())
_ESCAPES = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\"}


def quoted(text: str) -> str:
    """A quoted string with the escapes of canonical N-Triples."""
    out = []
    for char in text:
        if char in _ESCAPES:
            out.append(_ESCAPES[char])
        elif ord(char) < 0x20 or char in "\x7f\ufffe\uffff":
            out.append(f"\\u{ord(char):04X}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def nt(term: m.RdfTerm) -> str:
    """A term as canonical N-Triples."""
    match term:
        case m.Iri(value):
            return f"<{value}>"
        case m.Blank(label):
            return f"_:{label}"
        case m.Lit(lexical, _, language) if language:
            return f"{quoted(lexical)}@{language.lower()}"
        case m.Lit(lexical, datatype):
            return quoted(lexical) if datatype == m.XSD + "string" else f"{quoted(lexical)}^^<{datatype}>"


# ------------------------------------------------------------------------------------------------------------- dialects


def text(subscription: m.Subscription) -> str:
    match subscription:
        case m.Select():
            return _HEADER + _select(subscription, top=True)
        case m.OpsSubscription(arcs):
            return _HEADER + "\n".join(_arc(arc) for arc in arcs)
        case m.GtopssSubscription(edges):
            return _HEADER + "\n".join(_edge(edge) for edge in edges)


def dialect(subscription: m.Subscription) -> str:
    match subscription:
        case m.Select():
            return "sparql"
        case m.OpsSubscription():
            return "ops"
        case _:
            return "gtopss"


def place(node: object) -> str:
    """A node of a pattern; terms with a short form are written in it, so that the parser sees both."""
    match node:
        case m.V(name):
            return f"?{name}"
        case m.Anon(label):
            return "[]" if label.startswith("anon") else f"_:{label}"
        case m.Star():
            return "*"
        case m.Iri(value):
            for prefix, namespace in _PREFIXES.items():
                local = value.removeprefix(namespace)
                if local != value and local.isalnum():
                    return f"{prefix}:{local}"
            return f"<{value}>"
        case m.Blank(label):
            return f"_:{label}"
        case m.Lit():
            return _literal(node)
    raise TypeError(node)


def _literal(term: m.Lit) -> str:
    lexical, datatype = term.lexical, term.datatype
    if term.language:
        return f"{quoted(lexical)}@{term.language}"
    if datatype == m.XSD + "string":
        return quoted(lexical)
    plain_digits = lexical.isascii() and lexical.isdigit()
    if datatype == m.XSD + "integer" and plain_digits:
        return lexical
    if datatype == m.XSD + "boolean" and lexical in ("true", "false"):
        return lexical
    return f"{quoted(lexical)}^^{place(m.Iri(datatype))}"


def _arc(arc: m.OpsArc) -> str:
    classes = ", ".join(place(x) for x in (arc.subject_class, arc.property, arc.object_class))
    tail = f", {expression(arc.filter)}" if arc.filter is not None else ""
    return f"({place(arc.s)}, {place(arc.o)}, ({classes}){tail})"


def _edge(edge: m.GtopssEdge) -> str:
    def constraints(checks: tuple[m.Check, ...]) -> str:
        return "{" + ", ".join(f"{place(c.var)} {c.op} {place(c.value)}" for c in checks) + "}"

    nodes = ", ".join(place(x) for x in (edge.s, edge.p, edge.o))
    return f"({nodes}, {constraints(edge.on_s)}, {constraints(edge.on_o)})"


# --------------------------------------------------------------------------------------------------------------- SPARQL


def _select(query: m.Select, top: bool = False) -> str:
    body = _group(query.where)
    if query.form == "ASK":
        head = f"ASK {body}"
    elif query.form == "CONSTRUCT":
        triples = " ".join(f"{place(s)} {place(p)} {place(o)} ." for s, p, o in query.template)
        head = f"CONSTRUCT {{ {triples} }} WHERE {body}"
    else:
        columns = "*" if query.columns is None else " ".join(_column(*c) for c in query.columns)
        head = f"SELECT {'DISTINCT ' if query.distinct else ''}{columns} WHERE {body}"
    if query.group_by:
        head += " GROUP BY " + " ".join(place(v) for v in query.group_by)
    if query.having:
        op, agg, value = query.having
        head += f" HAVING ({_aggregate(agg)} {op} {place(value)})"
    if query.limit is not None:
        head += f" LIMIT {query.limit}"
    if query.values:
        head += " " + _inline(query.values)
    return head


def _column(var: m.V, expr: object) -> str:
    if expr is None:
        return place(var)
    inner = _aggregate(expr) if isinstance(expr, m.Agg) else expression(expr)
    return f"({inner} AS {place(var)})"


def _aggregate(agg: m.Agg) -> str:
    return f"{agg.op}({'DISTINCT ' if agg.distinct else ''}{'*' if agg.arg is None else place(agg.arg)})"


def _group(group: m.Group) -> str:
    return "{ " + " ".join(_element(e) for e in group.elements) + " }"


def _element(element: m.Element) -> str:
    match element:
        case m.Bgp(triples):
            return _triples(triples)
        case m.Filter(expr):
            return f"FILTER ({expression(expr)})"
        case m.Optional(group):
            return f"OPTIONAL {_group(group)}"
        case m.Minus(group):
            return f"MINUS {_group(group)}"
        case m.Union(groups):
            return " UNION ".join(_group(g) for g in groups)
        case m.Nested(group):
            return _group(group)
        case m.Bind(expr, var):
            return f"BIND ({expression(expr)} AS {place(var)})"
        case m.Inline():
            return _inline(element)
        case m.InGraph(name, group):
            return f"GRAPH {place(name)} {_group(group)}"
        case m.SubSelect(select):
            return f"{{ {_select(select)} }}"


def _triples(triples: tuple[tuple[m.Place, object, m.Place], ...]) -> str:
    """With `;` and `,` where subjects and properties repeat; a blank node or wildcard repeats nothing."""
    out: list[str] = []
    before: tuple[object, object] | None = None
    for s, p, o in triples:
        repeats = before is not None and s == before[0] and isinstance(s, m.V | m.Iri)
        if repeats and p == before[1] and isinstance(p, m.V | m.Iri):
            out.append(f", {place(o)}")
        elif repeats:
            out.append(f"; {_verb(p)} {place(o)}")
        else:
            out.append(f"{'. ' if out else ''}{place(s)} {_verb(p)} {place(o)}")
        before = (s, p)
    return " ".join(out) + " ."


def _inline(values: m.Inline) -> str:
    rows = " ".join("(" + " ".join("UNDEF" if t is None else place(t) for t in row) + ")" for row in values.rows)
    return f"VALUES ({' '.join(place(v) for v in values.vars)}) {{ {rows} }}"


def _verb(verb: object) -> str:
    if isinstance(verb, tuple):
        return path(verb)
    return "a" if verb == m.TYPE else place(verb)


def path(tree: tuple) -> str:
    match tree:
        case ("iri", iri):
            return place(iri)
        case ("inv", inner):
            return f"^({path(inner)})"
        case ("seq", left, right):
            return f"({path(left)}/{path(right)})"
        case ("alt", left, right):
            return f"({path(left)}|{path(right)})"
        case ("*" | "+" | "?" as mark, inner):
            return f"({path(inner)}){mark}"
        case ("not", forward, inverse):
            return "!(" + "|".join([place(p) for p in forward] + [f"^{place(p)}" for p in inverse]) + ")"
    raise TypeError(tree)


_INFIX = {"||", "&&", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/"}


def expression(expr: object) -> str:
    match expr:
        case m.V() | m.Iri() | m.Lit():
            return place(expr)
        case ("!", inner):
            return f"!({expression(inner)})"
        case ("neg", inner):
            return f"-({expression(inner)})"
        case (op, left, right) if op in _INFIX:
            return f"({expression(left)} {op} {expression(right)})"
        case ("in" | "not in" as op, left, *items):
            return f"({expression(left)} {op.upper()} ({', '.join(expression(i) for i in items)}))"
        case ("exists" | "not exists" as op, group):
            return f"{op.upper()} {_group(group)}"
        case ("ft", var, tree):
            return f"ftcontains({place(var)}, {fulltext(tree)})"
        case (str(name), *args):
            return f"{name}({', '.join(expression(a) for a in args)})"
    raise TypeError(expr)


_LEVEL = {"or": 0, "and": 1, "not": 2, "near": 3, "phrase": 4}


def fulltext(tree: tuple, level: int = 0) -> str:
    """Parentheses only where the grammar's binding strength asks for them, so that it is tested."""
    match tree:
        case ("phrase", words):
            out = quoted(words)
        case ("and", *items):
            out = " ftAND ".join(fulltext(i, 2) for i in items)
        case ("or", *items):
            out = " ftOR ".join(fulltext(i, 1) for i in items)
        case ("not", item):
            out = f"ftNOT {fulltext(item, 2)}"
        case ("near", left, least, most, right):
            out = f"{fulltext(left, 3)} ftNEAR[{least},{most}] {fulltext(right, 4)}"
        case _:
            raise TypeError(tree)
    return f"({out})" if _LEVEL[tree[0]] < level else out
