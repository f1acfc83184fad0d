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
from tidings.draw import event_svg, tree_svg
from tidings.errors import EventError, SubscriptionError, UsageError
from tidings.lang.files import Subscription, read_subscriptions
from tidings.match.explain import MARKS, Names, declared_prefixes, explain, explanation_text
from tidings.match.ops import Ops
from tidings.match.registry import names
from tidings.match.run import DEFAULT_BUDGET
from tidings.match.workings import Workings, workings, workings_text
from tidings.ontology import Ontology
from tidings.rdf.event import Event

_EXAMPLE = """
tidings explain cheap.rq offer.ttl --ontology auction.ttl
tidings explain subscriptions.ndjson#cheap offers.trig --event http://example.org/event/offer-02
tidings explain cheap.ops offer.ttl --matcher ops --svg tree.svg
"""
_LISTED = 10


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("subscription", metavar="SUBSCRIPTION")
@click.argument("event", metavar="EVENT")
@click.option("--id", "id_", metavar="ID", help="Which subscription of the file; also FILE#ID.")
@click.option("--event", "event_id", metavar="ID", help="Which event of the file.")
@ontology_options
@click.option("--matcher", metavar="NAME", help="Also ask this matcher, and tell how it comes to its answer.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="STEPS",
    default=DEFAULT_BUDGET,
    show_default=True,
    help="What each question about the subscription may cost.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also draw it: the event graph with what was matched; with --matcher ops, the matching tree.",
)
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
    svg: Path | None,
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
    shortened = Names(ontology, known)
    told = None
    if matcher is not None:
        told = workings(matcher, chosen.id, chosen.query, published, ontology, shortened, budget=budget)
    if svg is not None:
        if matcher == Ops.name:
            drawing = _tree(chosen, published, ontology, shortened, budget)
        else:
            drawing = event_svg(explanation, published, chosen.id, shortened)
        _write(svg, drawing, terminal)
    if as_json:
        how = {} if told is None else {"workings": asdict(told)}
        click.echo(json.dumps({"subscription": chosen.id, **asdict(explanation), **how}, ensure_ascii=False))
    else:
        width = get_terminal_size((120, 25)).columns
        text = explanation_text(explanation, chosen.id, shortened, width)
        if told is not None and told.sections:
            text += "\n\n" + workings_text(told, width)
        click.echo(_coloured(printable(text)))
    return 0 if told is None else _second_opinion(terminal, told, explanation.matches)


def _tree(chosen: Subscription, event: Event, ontology: Ontology, shortened: Names, budget: int) -> str:
    """The matching tree as a drawing; a failure on the way is written into it."""
    matcher = Ops(ontology, budget=budget, keep_trees=True)
    matcher.add(chosen.id, chosen.query)
    matcher.match(event, lambda failure: None)
    return tree_svg(matcher.tree(chosen.id), event.id, shortened, matcher.ems)


def _write(path: Path, drawing: str, terminal: Terminal) -> None:
    try:
        path.write_text(drawing, "utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    if not terminal.quiet:
        click.echo(printable(f"the drawing is in {path}"), err=True)


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


def _second_opinion(terminal: Terminal, told: Workings, matches: bool) -> int:
    if told.failure is not None:
        terminal.error(f"the matcher '{told.matcher}' failed: {told.failure}")
        return 1
    if told.matches != matches:
        found = "a match" if told.matches else "no match"
        terminal.error(f"the matcher '{told.matcher}' disagrees: it finds {found}; this is a fault in it")
        return 1
    terminal.detail(f"the matcher '{told.matcher}' agrees")
    return 0
