"""A difference as a case file: what `tests/cases` has, with the history that it takes in front."""

from __future__ import annotations

from pathlib import Path

from tests.soak.history import BUDGET, NOW, Difference, History

from tidings.lang import parse
from tidings.match.base import Failure, Match
from tidings.match.naive import Naive
from tidings.ontology import Ontology
from tidings.rdf.terms import format_triple


def write(folder: Path, name: str, history: History, difference: Difference, how: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(text(history, difference, how), encoding="utf-8")
    return path


def text(history: History, difference: Difference, how: str) -> str:
    """Expected is what the oracle says under the last ontology of the history."""
    lines = [f"# found by {how}", *(f"# {line}" for line in difference.about.splitlines())]
    lines += [f"# weak = {history.weak:#x}, merge_at = {history.merge_at}"]
    lines += [f"# {' '.join(step)}" for step in history.steps]
    for number, triples in enumerate(history.ontologies[:-1]):
        lines += [f"# ontology {number}: {format_triple(t).rstrip()}" for t in triples]
    lines += ['about = "fast and the oracle differ"', ""]
    lines += ["ontology = '''", *(format_triple(t).rstrip() for t in history.ontologies[-1]), "'''", "events = '''"]
    for event in history.events:
        lines += [f"<{event.id}> {{", event.body.rstrip(), "}"]
    lines += ["'''"]
    answers = _answers(history)
    for id, (dialect, source) in history.subscriptions.items():
        lines += ["", f"[subscriptions.{id}]", f'dialect = "{dialect}"', f"text = '''\n{source}'''"]
        if answers[id]:
            lines += [f"[subscriptions.{id}.expect]"]
            lines += [f'"{match.event}" = [{", ".join(map(_row, match.bindings))}]' for match in answers[id]]
    return "\n".join(lines) + "\n"


def _answers(history: History) -> dict[str, list[Match]]:
    failures: list[Failure] = []
    found: dict[str, list[Match]] = {id: [] for id in history.subscriptions}
    oracle = Naive(Ontology.of(history.ontologies[-1]), budget=BUDGET, now=NOW)
    for id, (dialect, source) in history.subscriptions.items():
        oracle.add(id, parse(source, dialect))
    for event in history.events:
        for match in oracle.match(event, failures.append):
            found[match.subscription].append(match)
    return found


def _row(row: dict[str, str]) -> str:
    return "{ " + ", ".join(f"{name} = '''{value}'''" for name, value in row.items()) + " }"
