"""`tidings explain`: why a subscription matches an event, or why not."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from shutil import get_terminal_size

import click

from tidings.cli.options import OntologyFiles, Reading, ontology_options, reading_options
from tidings.cli.terminal import Command, Terminal, printable, styled
from tidings.errors import EventError, SubscriptionError, UsageError
from tidings.lang.files import Subscription, read_subscriptions
from tidings.match.base import Failure
from tidings.match.explain import MARKS, Names, declared_prefixes, explain, explanation_text
from tidings.match.registry import create, names
from tidings.match.run import DEFAULT_BUDGET
from tidings.ontology import Ontology
from tidings.rdf.event import Event

_EXAMPLE = """
tidings explain cheap.rq offer.ttl --ontology auction.ttl
tidings explain subscriptions.ndjson#cheap offers.trig --event http://example.org/event/offer-02
"""
_LISTED = 10


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("subscription", metavar="SUBSCRIPTION")
@click.argument("event", metavar="EVENT")
@click.option("--id", "id_", metavar="ID", help="Which subscription of the file; also FILE#ID.")
@click.option("--event", "event_id", metavar="ID", help="Which event of the file.")
@ontology_options
@click.option("--matcher", metavar="NAME", help="Also ask this matcher, and say so if it does not agree.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="STEPS",
    default=DEFAULT_BUDGET,
    show_default=True,
    help="What each question about the subscription may cost.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
@reading_options
@click.pass_obj
def command(
    terminal: Terminal,
    subscription: str,
    event: str,
    id_: str | None,
    event_id: str | None,
    ontology_files: OntologyFiles,
    reading: Reading,
    matcher: str | None,
    budget: int,
    as_json: bool,
) -> int:
    """Tell why SUBSCRIPTION matches EVENT: which triple satisfies which pattern, through which step of a hierarchy; or
    why it does not: the first thing missing, shown on what comes nearest.

    SUBSCRIPTION is a file with one, or with many and --id, or FILE#ID. EVENT is a file with one event, or with many
    and --event.
    """
    if matcher is not None and matcher not in names():
        raise UsageError(f"there is no matcher '{matcher}'; the matchers are {', '.join(names())}")
    ontology = ontology_files.load(reading)
    chosen = _subscription(subscription, id_)
    published = _event(event, event_id, reading)
    known = declared_prefixes(chosen.text, chosen.dialect)
    explanation = explain(chosen.query, published, ontology, prefixes=known, budget=budget)
    if as_json:
        click.echo(json.dumps({"subscription": chosen.id, **asdict(explanation)}, ensure_ascii=False))
    else:
        text = explanation_text(explanation, chosen.id, Names(ontology, known), get_terminal_size((120, 25)).columns)
        click.echo(_coloured(printable(text)))
    if matcher is not None:
        return _second_opinion(terminal, matcher, chosen, published, ontology, explanation.matches)
    return 0


def _coloured(text: str) -> str:
    for holds, colour in ((True, "green"), (False, "red")):
        text = text.replace(MARKS[holds], styled(MARKS[holds], colour))
    return text


def _subscription(path: str, id: str | None) -> Subscription:
    """The one subscription that is meant."""
    if id is None and "#" in path and not Path(path).exists():
        path, _, id = path.rpartition("#")
    errors: list[SubscriptionError] = []
    found = {s.id: s for s in read_subscriptions(path, report=errors.append)}
    if id is not None and id in found:
        return found[id]
    if id is None and len(found) == 1:
        return next(iter(found.values()))
    if broken := [error for error in errors if id is None or error.id in (id, None)]:
        raise broken[0]
    if id is not None:
        raise UsageError(f"{path} has no subscription '{id}'; it has {_listed(found)}")
    raise UsageError(f"{path} has {len(found)} subscriptions; choose one with --id: {_listed(found)}")


def _event(path: str, id: str | None, reading: Reading) -> Event:
    """The one event that is meant; its id may be copied from a message, with the angle brackets."""
    if id is not None and id.startswith("<") and id.endswith(">"):
        id = id[1:-1]
    errors: list[EventError] = []
    found: dict[str, Event] = {}
    for event in reading.events([path], errors.append):
        if event.id == id:
            return event
        if len(found) <= _LISTED:
            found[event.id] = event
        elif id is None:
            break
    if id is None and len(found) == 1:
        return next(iter(found.values()))
    if errors:
        raise errors[0]
    if id is not None:
        raise UsageError(f"{path} has no event <{id}>; it has {_listed(found)}")
    if not found:
        raise UsageError(f"{path} has no event")
    raise UsageError(f"{path} has several events; choose one with --event: {_listed(found)}")


def _listed(ids: dict[str, Subscription] | dict[str, Event]) -> str:
    return ", ".join(islice(ids, _LISTED)) + (", …" if len(ids) > _LISTED else "")


def _second_opinion(
    terminal: Terminal, matcher: str, chosen: Subscription, event: Event, ontology: Ontology, matches: bool
) -> int:
    engine = create(matcher, ontology)
    engine.add(chosen.id, chosen.query)
    failures: list[Failure] = []
    answer = bool(engine.match(event, failures.append))
    if failures:
        terminal.error(f"the matcher '{matcher}' failed: {failures[0].reason}")
        return 1
    if answer != matches:
        found = "a match" if answer else "no match"
        terminal.error(f"the matcher '{matcher}' disagrees: it finds {found}; this is a fault in it")
        return 1
    terminal.detail(f"the matcher '{matcher}' agrees")
    return 0
