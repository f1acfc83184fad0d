"""Explanations, construct by construct: what is said about a match, and what about a miss."""

from __future__ import annotations

import pytest

from tidings.errors import BudgetExceeded
from tidings.lang import parse
from tidings.lang.pattern import Dialect
from tidings.match.explain import Explanation, Finding, Names, declared_prefixes, explain, explanation_text
from tidings.match.explain.provenance import Step, class_steps, origin
from tidings.match.meaning import Meaning
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import read_triples
from tidings.rdf.terms import RDF_TYPE, Term, iri

PREFIXES = {
    "": "http://e.x/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
HEADER = "".join(f"PREFIX {prefix}: <{namespace}>\n" for prefix, namespace in PREFIXES.items())
ONTOLOGY = """
:Notebook rdfs:subClassOf :Computer . :Computer rdfs:subClassOf :Product . :Laptop owl:equivalentClass :Notebook .
:cellPhone rdfs:subPropertyOf :telephone . :telephone rdfs:subPropertyOf :contact .
:isA rdfs:subPropertyOf rdf:type . :Oslo a :City . :City rdfs:subClassOf :Place .
"""


def term(name: str) -> Term:
    return iri(f"http://e.x/{name}")


def event(turtle: str) -> Event:
    return Event.of("http://e.x/event", read_triples((HEADER + turtle).encode(), format="ttl"))


def ontology(turtle: str = ONTOLOGY) -> Ontology:
    return Ontology.of(read_triples((HEADER + turtle).encode(), format="ttl"))


def explained(text: str, turtle: str, dialect: Dialect = "sparql") -> Explanation:
    return explain(parse(HEADER + text, dialect), event(turtle), ontology(), prefixes=PREFIXES)


def where(pattern: str, turtle: str) -> Explanation:
    return explained(f"SELECT * WHERE {{ {pattern} }}", turtle)


def marks(explanation: Explanation) -> list[tuple[str, bool | None]]:
    return [(finding.condition, finding.holds) for finding in explanation.findings]


def only(explanation: Explanation) -> Finding:
    (finding,) = explanation.findings
    return finding


def missing(explanation: Explanation) -> Finding:
    assert not explanation.matches
    assert explanation.missing is not None
    return explanation.missing


# ---------------------------------------------------------------------------------------------------------- provenance


def test_a_stated_triple_is_its_own_origin() -> None:
    meaning = Meaning(event(":a :p :b ."), ontology())
    found = origin((term("a"), term("p"), term("b")), meaning)
    assert found is not None
    assert (found.source, found.steps) == ("event", ())


def test_steps_go_from_name_to_name() -> None:
    meaning = Meaning(event(":a a :Laptop . :b :in :Oslo ."), ontology())
    found = origin((term("a"), RDF_TYPE, term("Product")), meaning)
    assert found is not None
    assert found.stated == (term("a"), RDF_TYPE, term("Laptop"))
    assert found.steps == (
        Step(term("Laptop"), "≡", term("Notebook")),
        Step(term("Notebook"), "⊑", term("Computer")),
        Step(term("Computer"), "⊑", term("Product")),
    )
    place = origin((term("Oslo"), RDF_TYPE, term("Place")), meaning)
    assert place is not None
    assert (place.source, place.stated[2]) == ("ontology", term("City"))


def test_a_property_below_rdf_type_makes_a_class() -> None:
    meaning = Meaning(event(":a :isA :Notebook ."), ontology())
    found = origin((term("a"), RDF_TYPE, term("Computer")), meaning)
    assert found is not None
    assert [step.upper for step in found.steps] == [RDF_TYPE, term("Computer")]


def test_what_is_not_meant_has_no_origin() -> None:
    assert origin((term("a"), term("p"), term("c")), Meaning(event(":a :p :b ."), ontology())) is None


def test_the_events_own_sub_classes_count_for_is_a() -> None:
    meaning = Meaning(event(":Tablet rdfs:subClassOf :Notebook ."), ontology())
    steps = class_steps(term("Tablet"), term("Product"), meaning)
    assert steps is not None
    assert [step.upper for step in steps] == [term("Notebook"), term("Computer"), term("Product")]
    assert class_steps(term("Product"), term("Tablet"), meaning) is None


def test_a_way_through_an_unnamed_class_is_one_step() -> None:
    expression = ":Cat rdfs:subClassOf _:e . _:e rdfs:subClassOf :Animal ."
    meaning = Meaning(event(":tom a :Cat ."), ontology(expression))
    found = origin((term("tom"), RDF_TYPE, term("Animal")), meaning)
    assert found is not None
    assert found.steps == (Step(term("Cat"), "⊑", term("Animal")),)


# ------------------------------------------------------------------------------------------------------------- matches


def test_a_class_through_the_hierarchy() -> None:
    finding = only(where("?x a :Computer", ":a a :Notebook ."))
    assert finding.holds
    assert finding.evidence == (":a a :Notebook", ":Notebook ⊑ :Computer")
    assert finding.origin is not None


def test_a_property_through_the_hierarchy() -> None:
    finding = only(where("?x :contact ?y", ':a :cellPhone "123" .'))
    assert finding.evidence == (':a :cellPhone "123"', ":cellPhone ⊑ :telephone ⊑ :contact")


def test_what_the_ontology_states() -> None:
    explanation = where("?x :in ?y . ?y a :Place", ":a :in :Oslo .")
    assert explanation.findings[1].evidence == (":Oslo a :City (in the ontology)", ":City ⊑ :Place")


def test_filters_show_what_they_compared() -> None:
    explanation = where("?x :price ?p FILTER(?p < 400 && ?p * 2 >= 700)", ":a :price 390 .")
    first, second = explanation.findings[1].parts
    assert first.evidence == ("390 < 400",)
    assert second.evidence == ("?p is 390", "780 >= 700")


def test_text_shows_the_words_found() -> None:
    explanation = where(
        '?x :text ?t FILTER ftcontains(?t, "solid" ftNEAR[0,1] "disk" ftAND ftNOT "slow")',
        ':a :text "It has a Solid, state disk inside, and more" .',
    )
    assert explanation.findings[1].evidence == (
        '"solid" ftNEAR[0,1] "disk" is there: … has a [solid state disk] inside and …',
        '"slow" is not there',
    )


def test_optional_with_and_without() -> None:
    query = "?x :p ?y OPTIONAL { ?x :q ?z }"
    assert where(query, ":a :p 1 ; :q 2 .").findings[1].parts[0].evidence == (":a :q 2",)
    assert where(query, ":a :p 1 .").findings[1].evidence == ("nothing; ?z stays without a value",)


def test_union_names_the_choice() -> None:
    finding = only(where("{ ?x :p ?y } UNION { ?x :q ?y }", ":a :q 2 ."))
    assert finding.condition == "UNION, choice 2 of 2"
    assert finding.parts[0].evidence == (":a :q 2",)


def test_paths_show_the_way() -> None:
    assert only(where(":a :p+ :c", ":a :p :b . :b :p :c .")).evidence == (":a :p :b", ":b :p :c")
    assert only(where(":a ((:p|^:q)/:r)+ :c", ":b :q :a . :b :r :c .")).evidence == (":b :q :a", ":b :r :c")
    assert only(where(":c (^((:p|^:q)/:r))+ :a", ":b :q :a . :b :r :c .")).evidence == (":b :r :c", ":b :q :a")
    assert only(where(":a !(:q) ?x", ":a :p :b .")).evidence == (":a :p :b",)
    assert only(where(":a :p* :a", ":a :q :b .")).evidence == ("leads from :a to :a",)


def test_minus_exists_bind_values_graph_and_sub_selects() -> None:
    assert marks(where("?x :p ?y MINUS { ?x :q ?y }", ":a :p 1 ."))[1] == ("MINUS { ?x :q ?y . }", True)
    exists = where("?x :p ?y FILTER EXISTS { ?x :q ?z }", ":a :p 1 ; :q 2 .").findings[1]
    assert exists.evidence == ("there is :a :q 2",)
    bind = where("?x :p ?y BIND(?y + 1 AS ?z)", ":a :p 1 .").findings[1]
    assert (bind.condition, bind.evidence) == ("BIND(?y + 1 AS ?z)", ("?z is 2",))
    values = where("?x :p ?y VALUES ?y { 1 2 }", ":a :p 1 .").findings[1]
    assert (values.condition, values.evidence) == ("VALUES ?y", ("?y = 1",))
    graph = only(where("GRAPH ?g { ?x :p ?y }", ":a :p 1 ."))
    assert (graph.evidence, graph.parts[0].evidence) == (("the event is <http://e.x/event>",), (":a :p 1",))
    select = only(where("{ SELECT (MAX(?y) AS ?most) { ?x :p ?y } }", ":a :p 1, 2 ."))
    assert (select.condition, select.evidence) == ("a sub-select", ("?most = 2",))


def test_wildcards_and_blank_nodes_have_short_names() -> None:
    explanation = explained("SELECT ?x WHERE { ?x * [ :q ?y ] }", ":a :p :b . :b :q 1 .")
    assert sorted(marks(explanation)) == [("?x * [0]", True), ("[0] :q ?y", True)]
    assert explanation.solution == {"x": term("a")}


def test_having_shows_the_group() -> None:
    query = "SELECT ?x WHERE { ?x :p ?y } GROUP BY ?x HAVING (COUNT(*) > 1)"
    assert explained(query, ":a :p 1, 2 .").findings[-1].evidence == ("?x = :a: COUNT(*) is 2",)
    finding = missing(explained(query, ":a :p 1 . :b :p 2 ."))
    assert finding.evidence == ("?x = :a: COUNT(*) is 1", "?x = :b: COUNT(*) is 1")


def test_ask_and_construct() -> None:
    for text in ("ASK { ?x :p ?y }", "CONSTRUCT { ?x :q ?y } WHERE { ?x :p ?y }"):
        assert only(explained(text, ":a :p 1 .")).evidence == (":a :p 1",)
        assert missing(explained(text, ":a :r 1 .")).condition == "?x :p ?y"


# -------------------------------------------------------------------------------------------------------------- misses


def test_a_class_that_is_not_below() -> None:
    finding = missing(where("?x a :Computer ; :price ?p", ":a a :Book ; :price 1 ."))
    assert finding.evidence == (":a is a :Book, not below :Computer",)
    above = missing(where("?x a :Notebook ; :price ?p", ":a a :Product ; :price 1 ."))
    assert above.evidence == (":a is a :Product, not below :Notebook; :Product is above it",)
    assert missing(where("?x a :Computer ; :price ?p", ":a :price 1 .")).evidence == (":a has no class",)


def test_a_property_that_is_not_there() -> None:
    finding = missing(where("?x a :Book ; :price ?p", ":a a :Book ; :cost 1 ."))
    assert finding.evidence == (":a has no :price; it has :cost, rdf:type",)
    above = missing(where("?x :cellPhone ?p", ':a :contact "1" .'))
    assert above.evidence == ("the event has :contact, which is above :cellPhone, not below it",)


def test_another_value() -> None:
    finding = missing(where("?x :price 400", ":a :price 4.0e2 ."))
    assert finding.evidence == ("400 is asked for, the event has :a :price 4.0e2",)


def test_variables_that_do_not_agree() -> None:
    finding = missing(where("?x :p ?y . ?z :q ?y", ":a :p 1 . :b :q 2 ."))
    assert finding.condition == "?z :q ?y"
    assert "the event has :b :q 2" in finding.evidence[0]
    same = missing(where("?x :p ?x", ":a :p :b ."))
    assert same.evidence == ("two times the same is asked for, the event has :a :p :b",)


def test_a_filter_that_is_false_and_the_values_tried() -> None:
    explanation = where("?x :price ?p FILTER(?p < 400)", ":a :price 450 . :b :price 500 .")
    finding = missing(explanation)
    assert finding.evidence == ("450 is not < 400", "nor with ?p = 500")
    assert marks(explanation) == [("?x :price ?p", True), ("FILTER(?p < 400)", False)]


def test_a_filter_that_is_an_error() -> None:
    assert missing(where("?x :p ?y FILTER(?y < 5)", ":a :p :b .")).evidence == (":b is not < 5",)
    assert missing(where("?x :p ?y FILTER(?z < 5)", ":a :p 1 .")).evidence == ("?z has no value",)
    assert missing(where("?x :p ?y FILTER(STRLEN(?y))", ":a :p :b .")).evidence[-1] == "an error, which is not true"


def test_what_depends_on_something_missing_is_not_reached() -> None:
    explanation = where("?x a :Book ; :price ?p FILTER(?p < 5)", ":a a :Book .")
    assert marks(explanation) == [("?x a :Book", True), ("?x :price ?p", False), ("FILTER(?p < 5)", None)]


def test_text_that_lacks_a_word() -> None:
    finding = missing(where('?x :t ?t FILTER ftcontains(?t, "a" ftNEAR[0,0] "b")', ':a :t "b then a, then b" .'))
    assert finding.evidence == (
        '?t is "b then a, then b"',
        '"a" ftNEAR[0,0] "b" is not there',
        '"a" is there: b then [a] then b',
        '"b" is there: [b] then a …',
    )
    assert missing(where('?x :t ?t FILTER ftcontains(?t, "a")', ":a :t :b .")).evidence == (
        "?t is :b, which is no text",
    )


def test_groups_that_should_not_be_there() -> None:
    turtle = ":a :p 1 ; :q 1 ."
    not_exists = missing(where("?x :p ?y FILTER NOT EXISTS { ?x :q ?z }", turtle))
    assert not_exists.evidence == ("there is :a :q 1",)
    minus = missing(where("?x :p ?y MINUS { ?x :q ?y }", turtle))
    assert minus.evidence == ("takes away ?x = :a, ?y = 1",)


def test_a_group_that_should_be_there() -> None:
    finding = missing(where("?x :p ?y FILTER EXISTS { ?x :q ?z FILTER(?z > ?y) }", ":a :p 1 ; :q 1 ."))
    assert finding.condition in ("FILTER(?z > ?y)", "FILTER EXISTS { ?x :q ?z . FILTER (?z > ?y) }")


def test_every_choice_of_a_union_is_explained() -> None:
    explanation = where("{ ?x :p ?y } UNION { ?x :q ?y }", ":a :r 1 .")
    assert [f.parts[0].condition for f in explanation.findings] == ["?x :p ?y", "?x :q ?y"]


def test_paths_that_lead_elsewhere() -> None:
    assert missing(where(":a :p+ :z", ":a :p :b . :b :p :c .")).evidence == ("from :a it leads only to :b, :c",)
    assert missing(where(":z :p+ :a", ":a :p :b .")).evidence == ("from :z it leads nowhere",)


def test_parts_that_do_not_join() -> None:
    explanation = where("{ ?x :p ?y } { ?x :q ?z } ", ":a :p 1 . :b :q 2 .")
    assert missing(explanation).condition == "?x :q ?z"
    assert "elsewhere the event has :b :q 2" in missing(explanation).evidence


def test_modifiers_that_leave_nothing() -> None:
    turtle = ":a :p 1 ."
    assert missing(explained("SELECT * { ?x :p ?y } LIMIT 0", turtle)).condition == "LIMIT 0"
    assert missing(explained("SELECT * { ?x :p ?y } OFFSET 3", turtle)).evidence == ("there is only 1 solution",)
    assert missing(explained("SELECT * { ?x :p ?y } VALUES ?y { 2 }", turtle)).holds is False
    assert missing(where("GRAPH :other { ?x :p ?y }", turtle)).evidence == ("the event is <http://e.x/event>",)


# ------------------------------------------------------------------------------------------------------- other dialects

OFFER = "_:H a :Offer ; :sells :a . :a a :Notebook ; :price 450 ; :part _:d . _:d a :Disk ."


def ops(text: str, turtle: str = OFFER) -> Explanation:
    return explained(text, turtle, "ops")


def test_ops_classes_of_vertices_and_literals() -> None:
    explanation = ops("(_:H, ?x, (Offer, sells, Computer)) (?x, ?p, (Computer, price, xsd:decimal), ?p < 500)")
    said = {finding.condition: finding.evidence for finding in explanation.findings}
    assert said["?x is a :Computer"] == (":a a :Notebook", ":Notebook ⊑ :Computer")
    assert said["?p is a xsd:decimal"] == ("450 is a xsd:integer", "xsd:integer ⊑ xsd:decimal")
    assert said["FILTER(?p < 500)"] == ("450 < 500",)
    thing = ops("(_:H, ?x, (owl:Thing, sells, rdfs:Resource))").findings[1]
    assert thing.evidence == ("every resource is one",)
    literal = ops("(_:H, ?x, (Offer, sells, Product)) (?x, ?p, (Product, price, rdfs:Literal))").findings[-1]
    assert literal.evidence == ("450 is a xsd:integer", "every literal is a rdfs:Literal")


def test_ops_misses() -> None:
    assert missing(ops("(_:H, ?x, (Offer, sells, Book))")).evidence == (":a is a :Notebook, not below :Book",)
    assert missing(ops("(_:H, ?x, (Offer, sells, Product))", ":a a :Notebook .")).condition == "the home vertex _:H"
    twice = "(_:H, ?x, (Offer, sells, Product)) (?x, ?d, (Product, part, Disk)) (?x, ?e, (Product, part, Disk))"
    assert missing(ops(twice)).evidence == ("?d and ?e must be different vertices, but there is only _:d for both",)
    dated = "(_:H, ?x, (Offer, sells, Product)) (?x, ?p, (Product, price, xsd:date))"
    assert missing(ops(dated)).evidence == ("450 is a xsd:integer, not below xsd:date",)


def test_gtopss_is_a() -> None:
    def gtopss(constraint: str, turtle: str = ":a :about :Laptop .") -> Explanation:
        return explained(f"(?x, about, ?y, {{}}, {{{constraint}}})", turtle, "gtopss")

    below = gtopss("?y < Product").findings[1]
    assert below.evidence == ("?y is :Laptop", ":Laptop ≡ :Notebook ⊑ :Computer ⊑ :Product")
    assert gtopss("?y >= Laptop", ":a :about :Product .").findings[1].evidence[1].startswith(":Laptop ≡ :Notebook ⊑")
    typed = gtopss("?y <= Place", ":a :about :Oslo .").findings[1]
    assert typed.evidence == ("?y is :Oslo", ":Oslo a :City (in the ontology)", ":City ⊑ :Place")
    assert missing(gtopss("?y < Notebook")).evidence[-1] == "< leaves out the class itself and its synonyms"
    assert missing(gtopss("?y = Product")).evidence[-1] == "no statement relates the two directly"
    assert missing(gtopss("?y <= Book")).evidence == ("?y is :Laptop", "nothing relates it to :Book")
    assert "never true of a literal" in missing(gtopss("?y <= Book", ":a :about 1 .")).evidence[1]
    assert missing(gtopss("?y > 5", ":a :about 1 .")).evidence == ("1 is not > 5",)


# ---------------------------------------------------------------------------------------------------- text and failures


def test_text_has_two_columns_and_wraps() -> None:
    explanation = where("?x a :Computer ; :note ?n", f':a a :Notebook ; :note "{"word " * 40}" .')
    text = explanation_text(explanation, "it", Names(ontology(), PREFIXES), width=60)
    assert text.splitlines()[0] == "it matches <http://e.x/event>, with 1 solution"
    assert "  ✓ ?x a :Computer  :a a :Notebook" in text.splitlines()
    assert "                    :Notebook ⊑ :Computer" in text.splitlines()


def test_names_use_the_subscriptions_prefixes_then_the_ontologys() -> None:
    names = Names(Ontology.empty(), {"e": "http://e.x/", "deep": "http://e.x/deep/"})
    assert names.term(term("a")) == "e:a"
    assert names.term(term("deep/a")) == "deep:a"
    assert names.term(term("a/b c")) == "<http://e.x/a/b c>"
    assert names.term(RDF_TYPE) == "rdf:type"
    assert names.term(Term('"5"^^<http://www.w3.org/2001/XMLSchema#byte>')) == '"5"^^xsd:byte'
    assert names.term(Term('"' + "x" * 100 + '"@en')) == '"' + "x" * 60 + '…"@en'


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("PREFIX a: <http://a/> SELECT * { ?s ?p ?o }", "sparql"),
        ("PREFIX a: <http://a/> // comment\n(?s, ?p, ?o, {}, {?o ≤ 5})", "gtopss"),
    ],
)
def test_declared_prefixes(text: str, dialect: Dialect) -> None:
    assert declared_prefixes(text, dialect)["a"] == "http://a/"


def test_an_evaluation_that_fails_raises_as_in_a_matcher() -> None:
    query = parse(HEADER + "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }")
    with pytest.raises(BudgetExceeded):
        explain(query, event(" ".join(f":s :p {i} ." for i in range(50))), ontology(), budget=1000)


def test_a_miss_whose_parts_are_costly_is_still_a_miss() -> None:
    """The query itself fails at once; what is left of it without the impossible part is a large product."""
    turtle = " ".join(f":s{i} :p {i} ." for i in range(60))
    query = parse(HEADER + "SELECT * { ?a :none ?z . ?b :p ?c . ?d :p ?e . ?f :p ?g FILTER(?c + ?e + ?g < 0) }")
    explanation = explain(query, event(turtle), ontology(), budget=5000, prefixes=PREFIXES)
    assert not explanation.matches
    assert explanation.missing is not None
    assert explanation.missing.condition == "?a :none ?z"
