"""Documents in the envelopes of CloudEvents, and beside what headers say."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.errors import EventError
from tidings.rdf.cloudevents import STRUCTURED, moment_of, unpacked
from tidings.rdf.formats import Format

QUAD = '<http://e/s> <http://e/p> "ä" <http://e/g> .\n'
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def envelope(**members: Any) -> bytes:
    known = {"specversion": "1.0", "id": "1", "source": "/tests", "type": "test"}
    return json.dumps(known | members).encode()


def test_beside_a_document_stand_its_type_and_its_time() -> None:
    found = unpacked(QUAD.encode(), "application/n-quads; charset=utf-8", "2024-05-01T12:00:00Z")
    assert found == (QUAD.encode(), Format.NQ, NOON)
    assert unpacked(b"", "text/turtle") == (b"", Format.TTL, None)
    assert unpacked(b"", "text/html", format=Format.TRIG).format is Format.TRIG, "what is given counts"
    assert unpacked(b"", None, format=Format.TRIG).format is Format.TRIG


def test_an_envelope_has_text_bytes_or_json() -> None:
    text = envelope(datacontenttype="application/n-quads", time="2024-05-01T14:00:00+02:00", data=QUAD)
    assert unpacked(text, STRUCTURED) == (QUAD.encode(), Format.NQ, NOON)
    packed = envelope(datacontenttype="application/n-quads", data_base64=b64encode(QUAD.encode()).decode())
    assert unpacked(packed, f"{STRUCTURED}; charset=UTF-8") == (QUAD.encode(), Format.NQ, None)
    plain = envelope(data={"@id": "http://e/x"})
    assert unpacked(plain, STRUCTURED).format is Format.JSONLD
    assert unpacked(text, STRUCTURED, format=Format.TRIG).format is Format.TRIG
    late = unpacked(text, STRUCTURED, "2030-01-01T00:00:00Z")
    assert late.time == NOON, "an envelope says its own time"


def test_json_stays_as_it_was_written() -> None:
    data = '{ "http://e/p" : [1.50, 1e2,  12345678901234567890.123456789],"s":"a\\"}, b\\u00e4" }'
    before = '\ufeff{"data": 1, "a:b" : "{\\"data\\":2}" ,\n "data" : '
    value = f'{before}{data}\t, "datacontenttype":"application/ld+json"}}'
    assert unpacked(value.encode(), STRUCTURED).data == data.encode()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.just("data"), inner, max_size=3),
        max_leaves=8,
    ),
    st.dictionaries(st.text(max_size=3), st.text() | st.lists(st.integers()), max_size=3),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_data_are_found_wherever_they_stand(data: Any, others: dict[str, Any], indent: int | None, plain: bool) -> None:
    graph = {"@graph": data}
    before, after = dict(list(others.items())[:1]), dict(list(others.items())[1:])
    value = json.dumps({**before, "data": graph, **after}, indent=indent, ensure_ascii=plain).encode(
        "utf-8", "surrogatepass"
    )
    found = unpacked(value, STRUCTURED, format=Format.JSONLD)
    assert json.loads(found.data) == graph
    assert found.data in value, "and are as they were written"


@pytest.mark.parametrize(
    ("value", "kind", "reason"),
    [
        (b"", None, "nothing says of which RDF format"),
        (b"", "text/html", "'text/html' is of no RDF format"),
        (b"[]", "application/cloudevents-batch+json", "can be read"),
        (b"", "application/cloudevents+avro", "can be read"),
        (b"{", STRUCTURED, "not JSON"),
        (b"\xff", STRUCTURED, "not UTF-8: byte 0xFF"),
        (b"[" * 100_000, STRUCTURED, "not JSON"),
        (b"[]", STRUCTURED, "one JSON object"),
        (envelope(), STRUCTURED, "no data"),
        (envelope(data=None), STRUCTURED, "no data"),
        (envelope(data=1, datacontenttype="text/turtle"), STRUCTURED, "should be a string, since its format is ttl"),
        (envelope(data=1, datacontenttype=2), STRUCTURED, "'datacontenttype' of the envelope should be a string"),
        (envelope(data="", data_base64=""), STRUCTURED, "both"),
        (envelope(data_base64="?"), STRUCTURED, "not base64"),
        (envelope(data_base64="ä"), STRUCTURED, "not base64"),
        (envelope(data="\ud800"), STRUCTURED, "half a character"),
        (envelope(data="", time="noon"), STRUCTURED, "not a date and time such as 2024-05-01T12:00:00Z: 'noon'"),
        (envelope(data="", time=12), STRUCTURED, "'time' of the envelope should be a string"),
    ],
)
def test_what_is_none_is_refused(value: bytes, kind: str | None, reason: str) -> None:
    with pytest.raises(EventError, match=reason):
        unpacked(value, kind)


def test_moments() -> None:
    assert moment_of("2024-05-01t12:00:00z") == NOON
    assert moment_of("2024-05-01T12:00:00") == NOON
    assert moment_of("2024-05-01T12:00:00.123456789Z") == NOON.replace(microsecond=123456)
    for text in ("", "2024-05-01T12:00:60Z", "0001-01-01T00:00:00+14:00", "10000-01-01T00:00:00Z"):
        with pytest.raises(EventError, match="not a date and time"):
            moment_of(text)
