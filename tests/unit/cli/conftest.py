"""The command line inside the test process, and a small world of files for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from click.testing import CliRunner, Result

from tidings.cli import app

Tidings: TypeAlias = Callable[..., Result]

ONTOLOGY = """
@prefix : <http://e.x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Notebook rdfs:subClassOf :Computer . :startingPrice rdfs:subPropertyOf :price .
"""
EVENTS = """
@prefix : <http://e.x/> .
:two { :granite a :Notebook ; :startingPrice 450 . }
:one { :feather a :Notebook ; :startingPrice 390 . }
:three { :tome a :Book ; :price 12 ; :title "Grüße, 大海"@de . }
"""
SUBSCRIPTIONS = {
    "cheap.rq": "PREFIX : <http://e.x/> SELECT ?x ?p WHERE { ?x :price ?p FILTER(?p < 400) }",
    "computer.rq": "PREFIX : <http://e.x/> SELECT ?x WHERE { ?x a :Computer }",
    "Titled.rq": "PREFIX : <http://e.x/> CONSTRUCT { ?x :named ?t } WHERE { ?x :title ?t }",
    "asked.rq": "PREFIX : <http://e.x/> ASK { ?x a :Book }",
    "above.gtopss": "PREFIX : <http://e.x/> (?x, price, ?p, {}, {?p > 400})",
}


@pytest.fixture
def tidings() -> Tidings:
    def run(*args: str | Path, input: bytes | None = None) -> Result:
        return CliRunner(env={"COLUMNS": "120"}).invoke(
            app, [str(arg) for arg in args], input=input, prog_name="tidings"
        )

    return run


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A folder with `subscriptions/`, `events.trig` and `ontology.ttl`."""
    (tmp_path / "subscriptions").mkdir()
    for name, text in SUBSCRIPTIONS.items():
        (tmp_path / "subscriptions" / name).write_text(text, "utf-8")
    (tmp_path / "events.trig").write_text(EVENTS, "utf-8")
    (tmp_path / "ontology.ttl").write_text(ONTOLOGY, "utf-8")
    return tmp_path
