"""What a soak is about: ontologies, events and subscriptions, made up or from public data sets that are here."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from tests.soak.university import department
from tests.support import ROOT

from tidings.errors import SubscriptionError
from tidings.lang import parse
from tidings.lang.pattern import Query
from tidings.rdf.event import Event
from tidings.rdf.read import read_events, read_triples
from tidings.rdf.terms import OWL, RDFS, Triple, iri

DATA = Path(os.environ.get("TIDINGS_DATA") or ROOT.parent / "shared" / "data")
ENOUGH = 400
_HIERARCHIES = {
    *(iri(f"{RDFS}{name}") for name in ("subClassOf", "subPropertyOf")),
    *(iri(f"{OWL}{name}") for name in ("equivalentClass", "equivalentProperty")),
}


@dataclass(frozen=True)
class Theme:
    """Where histories take their events, subscriptions and ontology from."""

    name: str
    events: Sequence[Event]
    queries: Sequence[Query]
    ontology: Sequence[Triple]


def _events(path: Path, by: str) -> Iterator[Event]:
    return read_events([path], by=by, report=lambda error: None)


def _ontology(path: Path) -> list[Triple]:
    """The statements that E* follows from: hierarchies and synonyms."""
    return [triple for triple in read_triples(path) if triple[1] in _HIERARCHIES]


@cache
def _questions() -> tuple[Query, ...]:
    """QALD-9's queries, those that are SPARQL."""
    found = []
    for part in ("train", "test"):
        path = DATA / "dbpedia-sparql-questions" / "qald-9" / f"qald-9-{part}-en.json.gz"
        for entry in json.loads(gzip.decompress(path.read_bytes())):
            try:
                found.append(parse(entry["sparql"]))
            except SubscriptionError:
                continue
    return tuple(found)


@cache
def _lubm() -> tuple[Query, ...]:
    return tuple(parse(path.read_text()) for path in sorted((DATA / "lubm" / "queries").glob("*.rq")))


def _dbpedia() -> Theme:
    sample = DATA / "dbpedia-2015-10-sample" / "dbpedia-2015-10-sample.nt.gz"
    ontology = DATA / "dbpedia-ontology" / "dbpedia-ontology-2015-04-10.nt.gz"
    return Theme("dbpedia", list(_events(sample, "subject")), _questions(), _ontology(ontology))


def _music() -> Theme:
    folder = DATA / "dbpedia-music"
    events = list(islice(_events(folder / "music.ttl.gz", "subject"), ENOUGH))
    return Theme("music", events, _questions(), _ontology(folder / "music_schema.ttl"))


def _nanopubs() -> Theme:
    paths = sorted((DATA / "wikipathways-nanopubs").glob("*.trig.zst"))
    return Theme("nanopubs", list(islice(_events(paths[0], "nanopub"), ENOUGH)), _questions(), [])


def _university() -> Theme:
    dice = random.Random(14)
    events = [department(f"http://www.Department{n}.edu/", dice) for n in range(ENOUGH)]
    return Theme("university", events, _lubm(), _ontology(DATA / "lubm" / "univ-bench.ttl"))


_THEMES: dict[str, tuple[Callable[[], Theme], tuple[str, ...]]] = {
    "dbpedia": (_dbpedia, ("dbpedia-2015-10-sample", "dbpedia-ontology", "dbpedia-sparql-questions")),
    "music": (_music, ("dbpedia-music", "dbpedia-sparql-questions")),
    "nanopubs": (_nanopubs, ("wikipathways-nanopubs", "dbpedia-sparql-questions")),
    "university": (_university, ("lubm",)),
}


@cache
def theme(name: str) -> Theme:
    return _THEMES[name][0]()


def present() -> list[str]:
    return [name for name, (_, folders) in _THEMES.items() if all((DATA / folder).is_dir() for folder in folders)]


def absent() -> list[str]:
    """The themes whose data sets are not here."""
    return [name for name in _THEMES if name not in present()]
