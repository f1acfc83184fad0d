"""Hypothesis strategies for SPARQL texts: every construct, in any combination the grammar allows."""

from __future__ import annotations

from hypothesis import strategies as st

PROLOGUE = "PREFIX : <http://e.x/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"

Texts = st.SearchStrategy[str]

variables = st.sampled_from(["?x", "?y", "?z", "$x"])
iris = st.sampled_from([":a", ":b", "<http://e.x/c>", "xsd:int", ":a.b.c", r":d\-e"])
strings = st.sampled_from(['"w"', "'two words'", '"""long "one\n"""', r'"e\u0041\"\\"', '""', '"東京"', '"\t"'])
literals = st.one_of(
    strings,
    st.builds("{}@{}".format, strings, st.sampled_from(["en", "de-AT"])),
    st.builds("{}^^{}".format, strings, iris),
    st.sampled_from(["0", "-5", "+1.50", ".5", "1e6", "-1.E+2", "true", "False"]),
)
terms = iris | literals


def _one_of(*texts: str) -> Texts:
    return st.sampled_from(texts)


def _joined(separator: str, items: Texts, least: int = 1, most: int = 3) -> Texts:
    return st.lists(items, min_size=least, max_size=most).map(separator.join)


def _format(pattern: str, **parts: Texts) -> Texts:
    return st.builds(pattern.format, **parts)


def _full_text() -> Texts:
    string = _one_of('"w"', "'Two words'", '"ß"', '"東京"', r'"a\"b"')
    near = _format("{a} ftNEAR[{d}] {b}", a=string, d=_one_of("0,0", "1,3"), b=string)
    either = _format("({a} ftOR {b}) ftNEAR[0,2] {c}", a=string, b=near, c=string)
    return st.recursive(
        string | near | either,
        lambda inner: st.one_of(
            _format("({a})", a=_joined(" ftAND ", inner, 2)),
            _format("({a})", a=_joined(" ftOR ", inner, 2)),
            _format("ftNOT ({a})", a=inner),
        ),
        max_leaves=4,
    )


def _expressions(pattern: Texts) -> Texts:
    leaf = variables | terms | _format("ftcontains({v}, {e})", v=variables, e=_full_text())
    leaf |= _format("{n} {g}", n=_one_of("EXISTS", "NOT EXISTS"), g=pattern)

    def larger(inner: Texts) -> Texts:
        return st.one_of(
            _format("({a} {op} {b})", a=inner, op=_one_of("||", "&&", "=", "<", ">=", "+", "-", "*", "/"), b=inner),
            _format("{op}({a})", op=_one_of("!", "-", "+ ", "STR", "STRLEN", "isIRI", "xsd:integer"), a=inner),
            _format("({a} {op} ({b}))", a=inner, op=_one_of("IN", "NOT IN"), b=_joined(", ", inner, 0)),
            _format("IF({a}, {b}, {c})", a=inner, b=inner, c=inner),
            _format("{f}({a})", f=_one_of("CONCAT", "COALESCE"), a=_joined(", ", inner, 0)),
            _format("REGEX({a}, {p})", a=inner, p=_one_of('"^a"', "?y", '"b", "i"')),
            _format("({a})", a=_joined(" || ", inner, 3)),
        )

    return st.recursive(leaf, larger, max_leaves=5)


def _paths() -> Texts:
    step = iris | _one_of("a", "^:a", "!:a", "!(:a|^:b)")
    return st.recursive(
        step,
        lambda inner: st.one_of(
            _format("({a}){m}", a=inner, m=_one_of("?", "*", "+", "")),
            _format("({a})", a=_joined("/", inner, 2)),
            _format("({a})", a=_joined("|", inner, 2)),
            _format("^({a})", a=inner),
        ),
        max_leaves=4,
    )


def _triples() -> Texts:
    verbs = st.one_of(variables, iris, st.just("a"), st.just("*"), _paths())
    node = st.one_of(variables, terms, _one_of("[]", "()", "*"))
    node |= _format("[ {v} {o} ]", v=verbs, o=variables | terms | st.just("*")) | _format("({a})", a=_joined(" ", node))
    objects = _joined(" , ", node, 1, 2)
    rest = _joined(" ; ", _format("{v} {o}", v=verbs, o=objects), 1, 2)
    return _format("{s} {r} .", s=node, r=rest)


def _groups() -> Texts:
    flat = _joined(" ", _triples(), 0, 3).map(lambda inner: f"{{ {inner} }}")

    def larger(group: Texts) -> Texts:
        element = st.one_of(
            _triples(),
            _format("FILTER({e})", e=_expressions(flat)),
            _format("{k} {g}", k=_one_of("OPTIONAL", "MINUS", "GRAPH ?g", "GRAPH :g", ""), g=group),
            _joined(" UNION ", group, 2),
            _format("VALUES (?x ?v) {{ ({a} UNDEF) ({b} {a}) }}", a=terms, b=terms),
            _format("{{ SELECT {c} {g} LIMIT 3 }}", c=_one_of("*", "?x", "DISTINCT ?y"), g=group),
        )
        bind = _format(" BIND({e} AS ?new)", e=_expressions(flat))
        return st.builds(lambda e, b: f"{{ {e}{b} }}", _joined(" ", element, 0, 3), st.just("") | bind)

    return st.recursive(flat, larger, max_leaves=4)


groups = _groups()


def _queries() -> Texts:
    order = _format(" ORDER BY {k} LIMIT 5", k=_one_of("?x", "DESC(?y)", "(?x + 1) ASC(?y)", "STR(?x)"))
    plain = _format("SELECT {c} {g}{o}", c=_one_of("*", "?x ?y", "DISTINCT ?x", "REDUCED *"), g=groups, o=order | st.just(""))
    computed = _format("SELECT ?x ({e} AS ?column) {g}", e=_expressions(groups), g=groups)
    grouped = _format(
        "SELECT ?x ({f} AS ?n) WHERE {g} GROUP BY ?x {k} HAVING ({f} > 1){o}",
        f=_one_of("COUNT(*)", "SUM(DISTINCT ?y)", 'GROUP_CONCAT(?y ; SEPARATOR=", ")', "MAX(?y) + 1"),
        g=groups,
        k=_one_of("", "?y", "(STR(?z) AS ?k)", "(?y + ?z)", "STRLEN(?y)"),
        o=order | st.just(""),
    )
    ask = _format("ASK {g}{v}", g=groups, v=_one_of("", " VALUES ?x { 1 UNDEF }", " OFFSET 2"))
    template = _joined(" ", _format("{s} {p} {o} .", s=variables | st.just("_:b"), p=variables | iris, o=variables | terms))
    construct = _format("CONSTRUCT {{ {t} }} WHERE {g}", t=template, g=groups)
    return st.one_of(plain, computed, grouped, ask, construct).map(lambda text: PROLOGUE + text)


queries = _queries()
