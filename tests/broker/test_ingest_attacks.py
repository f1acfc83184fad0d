"""What somebody would try with documents that are no RDF, over HTTP: each is refused with a reason, or stays data.

Redirects of feeds, slow servers and private addresses are in `test_feeds_attacks`; the converters have lists of their
own beside their tests.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tidings.broker.core import Core
from tidings.broker.http.app import application
from tidings.broker.retention import Retention

MIB = 1 << 20
SECRET = "the secret of this machine"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    core = Core(tmp_path / "broker", None, Retention())
    with TestClient(application(core, open=True)) as made:
        yield made
    core.close()


def publish(client: TestClient, kind: str, body: bytes, query: str = "", **headers: str) -> tuple[int, str]:
    """The status, and all that was told, events included."""
    answer = client.post(f"/v1/events{query}", content=body, headers={"content-type": kind, **headers})
    told = answer.text
    if answer.status_code == 202:
        for event in answer.json()["events"][:100]:
            told += client.get(f"/v1/events/{event['id']}", headers={"accept": "application/n-triples"}).text
    return answer.status_code, told


def rss(title: str, before: str = "") -> bytes:
    channel = f"<channel><title>t</title><item><title>{title}</title><link>http://e.x/1</link></item></channel>"
    return f'<?xml version="1.0"?>{before}<rss version="2.0">{channel}</rss>'.encode()


def bomb(levels: int = 9) -> str:
    entities = ['<!ENTITY a0 "ha">', *(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, levels))]
    return f"<!DOCTYPE rss [{''.join(entities)}]>"


@pytest.mark.parametrize("query", ["", "?as=xml"])
def test_a_file_of_this_machine_as_an_entity(client: TestClient, tmp_path: Path, query: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    body = rss("&x;", f'<!DOCTYPE rss [<!ENTITY x SYSTEM "{secret.as_uri()}">]>')
    _, told = publish(client, "application/xml" if query else "application/rss+xml", body, query)
    assert SECRET not in told


@pytest.mark.parametrize("query", ["", "?as=xml"])
def test_entities_that_grow(client: TestClient, query: str) -> None:
    kind = "application/xml" if query else "application/rss+xml"
    _, told = publish(client, kind, rss("&a8;", bomb()), query)
    assert len(told) < MIB


@pytest.mark.parametrize("kind", ["text/csv", "application/rss+xml", "application/x-ndjson", "text/html"])
def test_a_packed_bomb(client: TestClient, kind: str) -> None:
    packed = gzip.compress(b"0" * (200 * MIB), 9)
    status, told = publish(client, kind, packed, **{"content-encoding": "gzip"})
    assert status == 413, told[:500]


def test_a_pdf_that_unpacks_to_a_hundred_times_itself(client: TestClient) -> None:
    data = zlib.compress(b"<?xpacket begin=''?>" + b" " * (300 * MIB), 9)
    body = b"%PDF-1.5\n1 0 obj<</Type/Catalog/Pages 2 0 R/Metadata 3 0 R>>endobj\n"
    body += b"2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
    body += b"3 0 obj<</Type/Metadata/Subtype/XML/Filter/FlateDecode/Length %d>>stream\n%b\nendstream endobj\n" % (
        len(data),
        data,
    )
    body += b"trailer<</Root 1 0 R>>\n%%EOF\n"
    status, told = publish(client, "application/pdf", body)
    assert status in (202, 422)
    assert len(told) < MIB


def test_a_row_of_ten_megabytes_costs_itself(client: TestClient) -> None:
    body = b"id,text\n1,a\n2," + b"x" * (10 * MIB) + b"\n3,b\n"
    status, told = publish(client, "text/csv", body, "?key=id")
    assert status == 202
    assert len(told) < MIB
    assert "urn:tidings:data:1" in told
    assert "urn:tidings:data:3" in told
    assert "urn:tidings:data:2>" not in told


def test_a_quote_that_nobody_closes(client: TestClient) -> None:
    status, told = publish(client, "text/csv", b'id,text\n1,"' + b"x,y\n" * 100_000)
    assert status in (202, 422)
    assert "problems" in told or status == 422


def test_a_script_in_a_title_stays_text(client: TestClient) -> None:
    status, told = publish(client, "application/rss+xml", rss("&lt;script&gt;alert(1)&lt;/script&gt;"))
    assert status == 202
    assert '"<script>alert(1)</script>"' in told
    page = client.get("/v1/events")
    assert page.headers["content-type"] == "application/json"
    assert page.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("kind", "query", "body"),
    [
        ("application/json", "?as=json", b"[" * 100_000),
        ("application/json", "?as=json", b'{"a":' * 100_000),
        ("application/xml", "?as=xml", b"<a>" * 100_000),
        ("text/html", "", b"<div>" * 100_000),
        ("application/x-ndjson", "", b'{"a":' * 100_000 + b"\n"),
        ("application/feed+json", "", b'{"items":' * 100_000),
        ("image/png", "", b"\x89PNG\r\n\x1a\n" + b"\xff" * 1000),
        ("image/jpeg", "", b"\xff\xd8\xff\xe1\xff\xff" + b"http://ns.adobe.com/xap/1.0/\0" + b"<" * 70_000),
        ("application/vnd.apache.parquet", "", b"PAR1" + b"\xff" * 100 + b"PAR1"),
        ("text/csv", "?base=javascript:x", b"id\n1\n"),
        ("text/csv", "?record=$..[?(@.a)]", b"id\n1\n"),
        ("text/csv", "?key=nothing", b"id\n1\n"),
        ("text/html", "", b'<script type="application/ld+json">{"@context": "http://127.0.0.1:1/x"}</script>'),
    ],
)
def test_depth_and_rubbish(client: TestClient, kind: str, query: str, body: bytes) -> None:
    status, told = publish(client, kind, body, query)
    assert status in (202, 422), told[:500]
    assert len(told) < MIB


# ------------------------------------------------------------------------------------------------------------- mappings

PREFIXES = """@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix ql: <http://semweb.mmlab.be/ns/ql#> . @prefix csvw: <http://www.w3.org/ns/csvw#> . @prefix : <http://e.x/> .
"""
OWN = ':m rml:logicalSource [ rml:source "a" ; rml:referenceFormulation ql:CSV ] ; rr:subject :s'
JOIN = """rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ rr:parentTriplesMap :n ;
    rr:joinCondition [ rr:child "id" ; rr:parent "id" ] ] ]"""
OTHER = ':n rml:logicalSource [ rml:source %s ; rml:referenceFormulation ql:%s ] ; rr:subjectMap [ rml:reference "id" ]'


def sources(secret: Path) -> dict[str, str]:
    """Mappings that would have something else read, if anybody did."""
    file, address = f'"{secret}"', '"http://127.0.0.1:1/x"'
    return {
        **{
            f"{kind} {of}": f"{PREFIXES}{OWN} ; {JOIN} . {OTHER % (of, kind)} ."
            for kind in ("CSV", "JSONPath", "XPath")
            for of in (file, address, f"[ rml:path {file} ]", f"[ csvw:url <{secret.as_uri()}> ]")
        },
        "a table": f'{PREFIXES}{OWN} ; {JOIN} . :n rr:logicalTable [ rr:tableName "t" ] ; rr:subject :t .',
        "a query": f"""{PREFIXES}:m rr:logicalTable [ rr:sqlQuery "SELECT readfile('{secret}')" ] ; rr:subject :t .""",
    }


@pytest.mark.parametrize("place", range(14))
def test_a_mapping_that_names_another_source(client: TestClient, tmp_path: Path, place: int) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"id\n{SECRET}\n")
    name, text = list(sources(secret).items())[place]
    answer = client.put("/v1/mappings/m", content=text, headers={"content-type": "text/turtle"})
    assert answer.status_code == 422, (name, answer.text)
    # And if it were there all the same, nobody would read it.
    client.app.state.service.mappings.put("", "m", "text/turtle", text.encode()).result()  # type: ignore[attr-defined]
    for kind, query, body in (
        ("text/csv", "?mapping=m", f"id\n{secret}\n".encode()),
        ("application/json", "?as=json&mapping=m", b'{"id": 1}'),
        ("application/xml", "?as=xml&mapping=m", b"<id>1</id>"),
    ):
        status, told = publish(client, kind, body, query)
        assert status in (202, 422), told
        assert SECRET not in told


def test_a_mapping_of_a_file_is_of_what_was_sent(client: TestClient, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"id\n{SECRET}\n")
    text = f"""{PREFIXES}:m rml:logicalSource [ rml:source "{secret}" ; rml:referenceFormulation ql:CSV ] ;
        rr:subject :s ; rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ rml:reference "id" ] ] ."""
    assert client.put("/v1/mappings/m", content=text, headers={"content-type": "text/turtle"}).status_code == 201
    status, told = publish(client, "text/csv", b"id\nmine\n", "?mapping=m")
    assert (status, SECRET in told, '"mine"' in told) == (202, False, True)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("application/csvm+json", '{"tableSchema": "%s"}'),
        ("application/csvm+json", '{"@context": "%s"}'),
        ("application/csvm+json", '{"dialect": "%s"}'),
        ("application/ld+json", '"%s"'),
        ("application/ld+json", '{"@context": ["%s"]}'),
        ("application/ld+json", '{"@context": {"@version": 1.1, "@import": "%s"}}'),
        ("application/ld+json", '{"@context": {"a": {"@id": "http://e.x/a", "@context": "%s"}}}'),
    ],
)
def test_a_description_that_is_elsewhere(client: TestClient, tmp_path: Path, kind: str, text: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"@context": {"@vocab": "http://secret/"}}')
    for where in (secret.as_uri(), str(secret), "http://127.0.0.1:1/x"):
        answer = client.put("/v1/mappings/m", content=text % where, headers={"content-type": kind})
        assert answer.status_code in (201, 422), answer.text
        if answer.status_code == 201:
            asked = "?as=json&mapping=m" if "ld" in kind else "?mapping=m"
            _, told = publish(client, "application/json" if "ld" in kind else "text/csv", b'{"a": {"b": 1}}', asked)
            assert "http://secret/" not in told


def test_a_language_that_would_be_triples(client: TestClient) -> None:
    forged = 'en . <http://e.x/forged> <http://e.x/p> \\"x\\"@en'
    text = f"""{PREFIXES}{OWN} ; rr:predicateObjectMap [ rr:predicate :p ;
        rr:objectMap [ rml:reference "id" ; rr:language "{forged}" ] ] ."""
    assert client.put("/v1/mappings/m", content=text, headers={"content-type": "text/turtle"}).status_code == 422
