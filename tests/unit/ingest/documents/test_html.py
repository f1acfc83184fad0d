"""What HTML pages say in JSON-LD, microdata and RDFa, in one event about the page."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from typing import Any

import pytest
from tests.support import data_dir
from tests.unit.ingest.support import converted, events, given, problem

from tidings.rdf.limits import Limits
from tidings.rdf.strict import flaw

pytest.importorskip("html5lib")
pytest.importorskip("pyRdfa")

PAGE = "http://e.x/page"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
XSD = "http://www.w3.org/2001/XMLSchema#"


def said(html: str, *, address: str | None = PAGE, **how: Any) -> str:
    [event] = events(given(html.encode(), address=address), "html", **how)
    return event.body


def test_the_page_itself() -> None:
    html = "<!doctype html><html lang=en><title>A &amp; <b>B</b>\n C</title>"
    assert said(html).splitlines() == [
        f'<{PAGE}> <http://purl.org/dc/terms/extent> "{len(html)}"^^<{XSD}integer> .',
        f'<{PAGE}> <http://purl.org/dc/terms/format> "text/html" .',
        f'<{PAGE}> <http://purl.org/dc/terms/language> "en" .',
        f'<{PAGE}> <http://purl.org/dc/terms/title> "A & <b>B</b> C" .',
        f"<{PAGE}> {TYPE} <http://xmlns.com/foaf/0.1/Document> .",
    ]


def test_json_ld_with_the_context_of_schema_org_needs_no_network() -> None:
    for address in ("https://schema.org", "http://schema.org/", "https://schema.org/docs/jsonldcontext.json"):
        body = said(
            f"""<script type="application/ld+json">{{"@context": "{address}", "@type": "Event", "name": "Talk",
            "location": {{"@type": "Place", "name": "Mannheim"}}}}</script>"""
        )
        assert f"{TYPE} <http://schema.org/Event> ." in body
        assert '<http://schema.org/name> "Mannheim" .' in body
        assert body.count("<http://xmlns.com/foaf/0.1/topic>") == 1


def test_a_local_copy_goes_before_the_rule() -> None:
    copies = {"contexts": {"https://schema.org/": b'{"@context": {"name": "http://other.org/name"}}'}}
    html = '<script type="application/ld+json">{"@context": "https://schema.org", "name": "x"}</script>'
    assert "<http://other.org/name>" in said(html, options=copies)


def test_a_script_that_cannot_be_read_costs_itself() -> None:
    html = """<title>T</title><script type="application/ld+json">{"@context": "http://127.0.0.1:1/c", "a": 1}</script>
    <script type="application/ld+json">{"x": </script>
    <script type="application/ld+json">{"@context": "https://schema.org", "name": "x"}</script>"""
    [event], errors = converted(given(html.encode(), address=PAGE), "html")
    assert '<http://schema.org/name> "x"' in event.body
    assert [str(error).splitlines()[0] for error in errors] == [
        "doc: JSON-LD script 1: the remote context http://127.0.0.1:1/c is not fetched",
        "doc: JSON-LD script 2, line 1: JSON that is not well-formed: expecting value",
    ]


def test_blank_nodes_of_scripts_stay_apart() -> None:
    script = '<script type="application/ld+json">{"@id": "_:x", "http://e.x/p": "%s"}</script>'
    assert said(script % "a" + script % "b").count("<http://xmlns.com/foaf/0.1/topic>") == 2


MICRODATA = """<div itemscope itemtype="http://schema.org/Book http://schema.org/Thing" itemid="b1" itemref="extra">
<span itemprop="name http://e.x/label" lang="de">Wälzer</span>
<time itemprop="datePublished" datetime="2020-01-02">then</time>
<div itemprop="author" itemscope><b itemprop="name">Ann</b></div>
<a itemprop="url" href="foo">z</a><img itemprop="image" src="i.png"><meta itemprop="isbn" content="1-2">
<data itemprop="pages" value="12">twelve</data><data itemprop="weight" value="1.5">x</data>
<data itemprop="code" value="c">x</data>
</div><p id="extra"><i itemprop="genre">old</i></p>"""


def test_microdata() -> None:
    body = said(f"<base href='/x/'>{MICRODATA}")
    book = "<http://e.x/x/b1>"
    for part in (
        f"{book} {TYPE} <http://schema.org/Book> .",
        f"{book} {TYPE} <http://schema.org/Thing> .",
        f'{book} <http://schema.org/name> "Wälzer"@de .',
        f'{book} <http://e.x/label> "Wälzer"@de .',
        f'{book} <http://schema.org/datePublished> "2020-01-02"^^<{XSD}date> .',
        f"{book} <http://schema.org/url> <http://e.x/x/foo> .",
        f"{book} <http://schema.org/image> <http://e.x/x/i.png> .",
        f'{book} <http://schema.org/isbn> "1-2" .',
        f'{book} <http://schema.org/pages> "12"^^<{XSD}integer> .',
        f'{book} <http://schema.org/weight> "1.5"^^<{XSD}double> .',
        f'{book} <http://schema.org/code> "c" .',
        f'{book} <http://schema.org/genre> "old" .',
        f"<{PAGE}> <http://xmlns.com/foaf/0.1/topic> {book} .",
        '_:c14n0 <http://schema.org/name> "Ann" .',
    ):
        assert part in body


def test_references_between_items_may_go_in_circles() -> None:
    html = '<div id=a itemscope itemref=b><p id=b itemprop=q itemscope itemref="a b"><i itemprop=n>x</i></p></div>'
    assert '<http://e.x/page#n> "x"' in said(html)


@pytest.mark.parametrize(
    ("written", "datatype"),
    [
        ("12:30:00", "time"),
        ("2020-01-02T12:30:00Z", "dateTime"),
        ("2020-01", "gYearMonth"),
        ("2020", "gYear"),
        ("PT1H30M", "duration"),
    ],
)
def test_times_of_microdata(written: str, datatype: str) -> None:
    body = said(f"<div itemscope itemtype='http://e.x/T'><time itemprop=t datetime='{written}'>x</time></div>")
    assert f'"{written}"^^<{XSD}{datatype}>' in body


def test_rdfa() -> None:
    body = said(
        """<html prefix="ex: http://e.x/ns#"><base href="/x/"><meta property="og:title" content="OG">
        <div vocab="http://schema.org/" typeof="Person" resource="#me">
        <b property="name" lang="en">Bob</b><b property="age" datatype="xsd:integer">042</b>
        <a rel="ex:home" href="h">x</a></div>"""
    )
    me = "<http://e.x/x/#me>"
    for part in (
        f'<{PAGE}> <http://ogp.me/ns#title> "OG" .',
        f"{me} {TYPE} <http://schema.org/Person> .",
        f'{me} <http://schema.org/name> "Bob"@en .',
        f'{me} <http://schema.org/age> "042"^^<{XSD}integer> .',
        f"{me} <http://e.x/ns#home> <http://e.x/x/h> .",
    ):
        assert part in body


def test_a_page_without_an_address_is_called_by_its_bytes() -> None:
    html = f"<title>T</title>{MICRODATA}"
    own = f"urn:tidings:document:sha256:{sha256(html.encode()).hexdigest()}"
    body = said(html, address=None, base="urn:tidings:data:")
    assert f'<{own}> <http://purl.org/dc/terms/title> "T"' in body
    assert f"<{own}/b1> <http://schema.org/url> <{own}/foo> ." in body
    assert "document.invalid" not in body
    based = said(html, address=None)
    assert f"<http://e.x/sha256:{own.rpartition(':')[2]}>" in based
    assert "<http://e.x/b1> <http://schema.org/url> <http://e.x/foo> ." in based


def test_things_that_refer_to_each_other_are_reached() -> None:
    item = '<p itemscope itemtype="http://e.x/T" itemid="#%s"><a itemprop=to href="#%s">x</a></p>'
    body = said(item % ("a", "b") + item % ("b", "a"))
    assert body.count("<http://xmlns.com/foaf/0.1/topic>") == 1


def test_the_examples_of_schema_org() -> None:
    """Every snippet is a page; a seventh of them here."""
    with gzip.open(data_dir("schema-org", "schemaorg-30.0-all-examples.txt.gz"), "rt", encoding="utf-8") as file:
        parts = re.split(r"^(TYPES:.*|PRE-MARKUP:|MICRODATA:|RDFA:|JSON:|STRUCTURE:)\s*$", file.read(), flags=re.M)
    found: Counter[str] = Counter()
    for head, text in list(zip(parts[1::2], parts[2::2], strict=True))[::7]:
        if head in ("MICRODATA:", "RDFA:", "JSON:"):
            [event], errors = converted(given(text.encode(), address=PAGE), "html")
            found[head] += "schema.org/" in event.body
            assert all(error.reason.startswith("JSON-LD script") for error in errors)
    assert min(found[head] for head in ("MICRODATA:", "RDFA:", "JSON:")) > 10


def test_home_and_classes() -> None:
    html = '<div itemscope itemtype="http://e.x/T"><i itemprop=n>x</i></div>'
    [event] = events(given(html.encode(), address=PAGE), "html", home=True, classes=("http://e.x/Page",))
    assert flaw(event.triples()) is None
    assert f"_:H {TYPE} <http://e.x/Page> ." in event.body


def test_bytes_that_are_no_utf8_are_read_as_browsers_do() -> None:
    [event] = events("<title>é</title>".encode("latin-1"), "html")
    assert '"é"' in event.body


def test_nesting_is_bounded() -> None:
    deep = b"<div><p>" * 50_000
    assert "elements nested more than 100 deep" in problem(deep, "html")
    assert len(events(b"<div>" * 50, "html")) == 1


def test_size_is_bounded() -> None:
    assert "a document of more than 1000 bytes" in problem(b"x" * 2000, "html", limits=Limits(max_document=1000))


def test_the_same_bytes_give_the_same_text_in_every_process() -> None:
    code = """
import sys
from tidings.ingest.base import How
from tidings.ingest.read import read
for event in read(sys.stdin.buffer, How(), format="html", report=print): print(event.id, event.body)
"""
    part = "<i property=b typeof=C><i property=d>%d</i></i>"
    html = f"{MICRODATA}<div vocab='http://e.x/' typeof=A>{part % 1}{part % 2}</div>"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=html.encode(),
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert b"e.x/A" in outputs.pop()
