"""Bad input in a stream: it goes on, and each thing that was wrong is told with its reason."""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql import SparkSession

from tidings.spark import read_document_stream, subscriptions
from tidings.spark.pipeline import Pipeline, Sinks

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
TRIPLES = 1_000_000
DEEP = "(" * 5_000 + "1" + ")" * 5_000


def write_large(path: Path) -> None:
    """One event of so many triples: some 85 MB."""
    with path.open("w") as file:
        for number in range(TRIPLES):
            file.write(
                f"<http://x/thing/{number:07}> <http://x/property> <http://x/value/{number:07}> <http://x/large> .\n"
            )


def test_the_stream_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    queries, inbox = tmp_path / "subscriptions", tmp_path / "in"
    queries.mkdir()
    inbox.mkdir()
    (queries / "good.rq").write_text("ASK { ?x a <http://x/A> }")
    (queries / "broken.rq").write_text("SELECT ?x WHERE { ?x a")
    (queries / "deep.rq").write_text(f"ASK {{ ?x a <http://x/A> FILTER({DEEP} = 1) }}")
    # All walks of six steps: more than anybody may spend.
    walk = " . ".join(f"?a{n} <http://x/p> ?a{n + 1}" for n in range(6))
    (queries / "poison.rq").write_text(f"ASK {{ {walk} FILTER(STRLEN(CONCAT(STR(?a0), STR(?a6))) = 7) }}")

    (inbox / "1-good.nq").write_text(f"<http://x/s> <{TYPE}> <http://x/A> <http://x/one> .\n")
    (inbox / "2-broken.ttl").write_text("<http://x/s> a <http://x/A> ;\n  <http://x/p> .\n")
    # A line that is none may have belonged to the event after it.
    lost, sound = (f"<http://x/s> <{TYPE}> <http://x/A> <http://x/{name}> .\n" for name in ("lost", "two"))
    (inbox / "3-lines.nq").write_text(f"oops\n{lost}{sound}")
    (inbox / "4-bomb.rdf").write_text(
        '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><rdf:RDF xmlns:rdf="http://www.w3.org/1999/'
        '02/22-rdf-syntax-ns#"><rdf:Description rdf:about="http://x/s"><x xmlns="http://x/">&b;</x></rdf:Description>'
    )
    (inbox / "5-context.jsonld").write_text(json.dumps({"@context": "http://192.0.2.1/context", "@id": "http://x/s"}))
    write_large(inbox / "6-large.nq")
    chain = "".join(
        f"<http://x/n{a}> <http://x/p> <http://x/n{b}> <http://x/chain> .\n" for a in range(25) for b in range(25)
    )
    (inbox / "7-poison.nq").write_text(f"<http://x/s> <{TYPE}> <http://x/A> <http://x/chain> .\n{chain}")
    (inbox / "8-good.nq").write_text(f"<http://x/s> <{TYPE}> <http://x/A> <http://x/three> .\n")

    sinks = Sinks(*(str(tmp_path / name) for name in ("archive", "notifications", "rejected", "figures")))
    those = subscriptions(queries, folder=tmp_path / "kept")
    pipeline = Pipeline(spark, those, sinks, str(tmp_path / "checkpoint"))
    pipeline.start(read_document_stream(spark, inbox, max_files=1), {"availableNow": True})
    assert pipeline.wait(500)

    found = spark.read.parquet(sinks.notifications).collect()
    told = {(row.subscription, row.event) for row in found}
    assert {("good", "http://x/one"), ("good", "http://x/two"), ("good", "http://x/three")} <= told
    assert ("good", "http://x/chain") in told, "an event is matched by the others"
    rejected = spark.read.parquet(sinks.rejected).collect()
    sources = {Path(row.source).name: row.reason for row in rejected if row.kind in ("document", "subscription")}
    assert set(sources) >= {
        "broken.rq",
        "deep.rq",
        "2-broken.ttl",
        "3-lines.nq",
        "4-bomb.rdf",
        "5-context.jsonld",
        "6-large.nq",
    }
    assert all(row.reason for row in rejected)
    evaluations = {(row.subscription, row.event): row.reason for row in rejected if row.kind == "evaluation"}
    assert "budget" in evaluations["poison", "http://x/chain"] or "steps" in evaluations["poison", "http://x/chain"]
