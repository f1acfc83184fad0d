"""Everything that the OpenAPI document says can be asked, and much that it says cannot be: schemathesis, with all of
its checks. What a query or a document in RDF looks like, no schema can say; so what is generated of these are sound
ones.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from schemathesis.generation.case import Case
from tests.broker.samples import BODIES, DATA, DOCUMENTS, ENVELOPES, EVENTS, LINES, MAPPINGS, QUERIES, TEMPLATES, X
from tests.broker.threaded import Threaded

from tidings.broker.http.openapi import DOCUMENT
from tidings.broker.http.schemas import CURSOR, KEY, PLACE, START, TAGS
from tidings.broker.http.subscriptions import DIALECTS
from tidings.broker.http.taking import MEDIA_TYPES
from tidings.rdf.formats import Format

SOAK = bool(os.environ.get("TIDINGS_SOAK"))
EXAMPLES = 500 if SOAK else 8
HISTORIES = 200 if SOAK else 6

CONFIG = schemathesis.Config.from_dict(
    {
        "generation": {"max-examples": EXAMPLES, "deterministic": not SOAK, "with-security-parameters": False},
        # A query that was given for one language is none in another.
        "phases": {
            "coverage": {"extra-data-sources": {"responses": False}},
            "fuzzing": {"extra-data-sources": {"responses": False}},
            "stateful": {"inference": {"algorithms": ["location-headers"]}},
        },
        "checks": {
            # What is well-formed may still not be there any more, not be as it was, or come from another stream; and
            # values may not go with their template, of which a schema says nothing.
            "positive_data_acceptance": {"expected-statuses": ["2xx", "304", "404", "409", "410", "412", "422", "502"]},
            "negative_data_rejection": {"expected-statuses": ["400", "401", "404", "405", "406", "415", "422"]},
        },
    }
)


ASCII = st.characters(codec="ascii")


def _document(format: Format) -> st.SearchStrategy[str]:
    """Of its format, and another event each time."""
    if format in (Format.NT, Format.NQ, Format.TTL, Format.TRIG):
        return st.integers(0, 1 << 20).map(lambda n: DOCUMENTS[format] + f"<{X}s{n}> <{X}p> <{X}o> .\n")
    return st.just(DOCUMENTS[format])


def _register() -> None:
    visible = st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="/")
    schemathesis.openapi.format(
        "subscription-id", st.text(visible, min_size=1, max_size=20).filter(lambda id: id[0] != ".")
    )
    # Nobody is at these addresses, and nobody is asked: they are private.
    schemathesis.openapi.format("webhook", st.integers(1, 60_000).map(lambda port: f"http://10.1.2.3:{port}/hook"))
    schemathesis.openapi.format("feed-url", st.integers(1, 60_000).map(lambda port: f"http://10.1.2.3:{port}/feed"))
    schemathesis.openapi.format("class-iri", st.integers(1, 100).map(lambda number: f"{X}Class{number}"))
    schemathesis.openapi.format("topic", st.sampled_from([f"{X}v1/subscriptions/s/feed", "no address", ""]))
    schemathesis.openapi.format("hub-secret", st.text(ASCII, max_size=50))
    schemathesis.openapi.format("seconds", st.integers(1, 10**9).map(str))
    schemathesis.openapi.format("feed-key", st.from_regex(KEY["pattern"], fullmatch=True, alphabet=ASCII))
    for format in Format:
        documents = _document(format)
        schemathesis.openapi.format(format.value, documents)
        # A mapping in RDF is RDF like any other.
        both = documents | st.sampled_from(MAPPINGS.get(format.media_type, [DOCUMENTS[format]]))
        schemathesis.openapi.media_type(format.media_type, both.map(str.encode))
        schemathesis.openapi.format(f"one-event-in-{format.value}", st.just(EVENTS[format]))
        schemathesis.openapi.format(f"ontology-{format.value}", st.just(DOCUMENTS[format]))
    for dialect, queries in QUERIES.items():
        schemathesis.openapi.format(dialect, st.sampled_from(queries))
    for kind, dialect in DIALECTS.items():
        schemathesis.openapi.media_type(kind, st.sampled_from(QUERIES[dialect]).map(str.encode))
    for dialect, texts in TEMPLATES.items():
        schemathesis.openapi.format(f"template-in-{dialect}", st.sampled_from(texts))
    lines = st.sampled_from(LINES)
    schemathesis.openapi.format("instances-in-lines", lines)
    schemathesis.openapi.media_type("application/x-ndjson", lines.map(str.encode))
    for kind in set(MEDIA_TYPES) - {"application/x-ndjson"}:
        schemathesis.openapi.media_type(kind, st.sampled_from(DATA.get(kind, ["no such document"])).map(str.encode))
    for kind, texts in MAPPINGS.items():
        schemathesis.openapi.format(f"mapping-in-{kind}", st.sampled_from(texts))
    described = st.sampled_from(MAPPINGS["application/csvm+json"])
    schemathesis.openapi.media_type("application/csvm+json", described.map(str.encode))
    envelopes = st.sampled_from(ENVELOPES)
    schemathesis.openapi.format("cloudevent", envelopes)
    schemathesis.openapi.media_type("application/cloudevents+json", envelopes.map(str.encode))
    schemathesis.openapi.format("cursor", st.from_regex(CURSOR["pattern"], fullmatch=True, alphabet=ASCII))
    schemathesis.openapi.format("start", st.from_regex(START["pattern"], fullmatch=True, alphabet=ASCII))
    schemathesis.openapi.format("place", st.from_regex(PLACE["pattern"], fullmatch=True, alphabet=ASCII))
    schemathesis.openapi.format("entity-tags", st.from_regex(TAGS["pattern"], fullmatch=True, alphabet=ASCII))
    moments = st.datetimes().map(lambda moment: moment.isoformat(timespec="milliseconds") + "Z")
    schemathesis.openapi.format("date-time", moments)


_register()
schema = schemathesis.openapi.from_dict(DOCUMENT, config=CONFIG)


@pytest.fixture(scope="module")
def server() -> Iterator[Threaded]:
    with Threaded() as made:
        yield made


@schema.parametrize()
@settings(suppress_health_check=list(HealthCheck), deadline=None)
def test_each_operation(case: Case, server: Threaded) -> None:
    _no_nanopublications(case)
    case.call_and_validate(base_url=server.url, headers=_admin(server), timeout=30)


def test_operations_that_follow_one_another() -> None:
    """Each history with a broker of its own: what is answered is to depend on nothing else."""

    class Machine(schema.as_state_machine()):  # type: ignore[misc]
        def setup(self) -> None:
            self.server = Threaded()

        def teardown(self) -> None:
            self.server.__exit__()

        def before_call(self, case: Case) -> None:
            _no_nanopublications(case)

        def get_call_kwargs(self, case: Case) -> dict[str, object]:
            return {"base_url": self.server.url, "headers": _admin(self.server), "timeout": 30}

    Machine.run(
        settings=settings(
            max_examples=HISTORIES,
            stateful_step_count=10,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
    )


def _no_nanopublications(case: Case) -> None:
    """Documents are not made of them unless they are."""
    if (case.query or {}).get("events-by") == "nanopub":
        case.query["events-by"] = "subject"


_ADMIN: dict[str, dict[str, str]] = {}


def _admin(server: Threaded) -> dict[str, str]:
    """Under the name that schemathesis looks for."""
    if server.url not in _ADMIN:
        _ADMIN[server.url] = {"Authorization": server.token("a", "admin")["authorization"]}
    return _ADMIN[server.url]


def test_the_samples_are_sound(server: Threaded) -> None:
    import httpx2

    for kind, body in BODIES:
        answer = httpx2.post(f"{server.url}/v1/events", content=body, headers={**_admin(server), "content-type": kind})
        assert answer.status_code in (202, 409), answer.text
    for kind, dialect in DIALECTS.items():
        for query in QUERIES[dialect]:
            headers = {**_admin(server), "content-type": kind}
            answer = httpx2.put(f"{server.url}/v1/subscriptions/s", content=query, headers=headers)
            assert answer.status_code in (200, 201), answer.text
