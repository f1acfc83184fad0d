"""`tidings demo`: a small auction and bibliography world, what matches in it, and why."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePath

import click
from rich.console import Console, Group
from rich.text import Text
from rich.tree import Tree

from tidings.cli.terminal import Command, Terminal
from tidings.errors import TidingsError, UsageError
from tidings.lang.files import Subscription, read_subscriptions
from tidings.match.explain import Explanation, Finding, declared_prefixes, explain, finding_lines, reason
from tidings.match.naive import Naive
from tidings.ontology import Ontology
from tidings.rdf.event import Event
from tidings.rdf.read import read_events

_EXAMPLE = """
tidings demo
tidings demo text-near-matching-then-trees -v
tidings demo --write world && tidings match world/subscriptions world/events --ontology world/ontologies/auction.ttl
"""
_PREFIXES = {
    "item": "http://example.org/item/",
    "who": "http://example.org/who/",
    "pub": "http://example.org/publication/",
    "ev": "http://example.org/event/",
    "sale": "http://example.org/sale/",
}
_HASHED = "urn:tidings:sha256:"
_WITH_CONDITION = ("MINUS", "OPTIONAL", "FILTER NOT", "FILTER EXISTS", "HAVING")
_WIDTH = 120


@dataclass(frozen=True, slots=True)
class World:
    """The demo's ontology, events and subscriptions."""

    ontology: Ontology
    events: tuple[Event, ...]
    subscriptions: tuple[Subscription, ...]


def load_world(folder: Path) -> World:
    return World(
        Ontology.load(*sorted((folder / "ontologies").iterdir())),
        tuple(read_events([folder / "events"], report=_refuse)),
        tuple(read_subscriptions(folder / "subscriptions", report=_refuse)),
    )


def _refuse(error: TidingsError) -> None:
    raise error


def matches_of(world: World) -> dict[str, list[Event]]:
    """For every subscription, the events that match it."""
    matcher = Naive(world.ontology)
    for subscription in world.subscriptions:
        matcher.add(subscription.id, subscription.query)
    found: dict[str, list[Event]] = {subscription.id: [] for subscription in world.subscriptions}
    for event in world.events:
        for match in matcher.match(event, lambda failure: _refuse(UsageError(failure.reason))):
            found[match.subscription].append(event)
    return found


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("names", metavar="[SUBSCRIPTION]...", nargs=-1)
@click.option(
    "--write",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write the world's files to a new folder, to play with, instead of showing what matches.",
)
@click.pass_obj
def command(terminal: Terminal, names: tuple[str, ...], write: Path | None) -> int:
    """Show a small world of auctions and publications: its subscriptions, each of which demonstrates one thing, the
    events that match them, and the reasons; and one event for each that does not match, and why not.

    With -v, every reason in full.
    """
    with resources.as_file(resources.files("tidings") / "demo") as folder:
        if write is not None:
            return _write(folder, write)
        world = load_world(folder)
    known = {subscription.id for subscription in world.subscriptions}
    for name in names:
        if name not in known:
            raise UsageError(f"the demo has no subscription '{name}'; tidings demo shows all of them")
    console = Console(highlight=False, width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDTH)
    found = matches_of(world)
    for subscription in world.subscriptions:
        if not names or subscription.id in names:
            console.print(_tree(world, subscription, found[subscription.id], terminal.verbose, console.width))
            console.print()
    if not names:
        _summary(console, world, found)
    return 0


def _write(source: Path, target: Path) -> int:
    if target.exists() and any(target.iterdir()):
        raise UsageError(f"{target} is not empty")
    shutil.copytree(source, target, dirs_exist_ok=True)
    click.echo(f"{target}: ontologies, events and subscriptions of the demo")
    return 0


def _tree(world: World, subscription: Subscription, matching: list[Event], verbose: bool, width: int) -> Tree:
    tree = Tree(Text.assemble((subscription.id, "bold"), (f" ({subscription.dialect})", "dim")), guide_style="dim")
    tree.label = Group(tree.label, Text(purpose(subscription)))
    for event in [*matching, near_miss(world, subscription)]:
        explanation = _explained(world, subscription, event)
        mark, style = ("✓", "green") if explanation.matches else ("✗", "red")
        label = Text.assemble((f"{mark} ", style), (short_name(event), "bold"))
        if verbose:
            tree.add(label).add(Text("\n".join(finding_lines(explanation.findings, width - 8))))
        else:
            tree.add(label + Text(f"  {_because(explanation)}"))
    return tree


def purpose(subscription: Subscription) -> str:
    """What it demonstrates: its first line."""
    return subscription.text.partition("\n")[0].removeprefix("# ")


def near_miss(world: World, subscription: Subscription) -> Event:
    """The event that its second line names: one that almost matches."""
    name = subscription.text.split("\n")[1].removeprefix("# Near miss: ")
    return next(event for event in world.events if short_name(event) == name)


def _explained(world: World, subscription: Subscription, event: Event) -> Explanation:
    prefixes = _PREFIXES | declared_prefixes(subscription.text, subscription.dialect)
    return explain(subscription.query, event, world.ontology, prefixes=prefixes)


def _because(explanation: Explanation) -> str:
    """The reason in one line: what took a step or a comparison, or else the plain triples."""
    if not explanation.matches:
        return reason(explanation)
    leaves = [finding for finding in _leaves(explanation.findings) if finding.evidence]
    telling = [finding for finding in leaves if not finding.direct]
    lines = [line for finding in telling or leaves for line in _said(finding)]
    return " · ".join(dict.fromkeys(lines))


def _leaves(findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield from _leaves(finding.parts) if finding.parts else (finding,)


def _said(finding: Finding) -> Iterable[str]:
    """The evidence, with the condition where it says little without."""
    if finding.condition.startswith(_WITH_CONDITION):
        return [f"{finding.condition}: {'; '.join(finding.evidence)}"]
    return finding.evidence


def short_name(event: Event) -> str:
    """The local name of an event, or the name of its file where only its content names it."""
    return PurePath(event.source).name if event.id.startswith(_HASHED) else event.id.rpartition("/")[2]


def _summary(console: Console, world: World, found: dict[str, list[Event]]) -> None:
    dialects = Counter(subscription.dialect for subscription in world.subscriptions)
    said = ", ".join(f"{count} in {dialect}" for dialect, count in dialects.items())
    matches = sum(map(len, found.values()))
    console.print(f"{len(world.events)} events, {len(world.subscriptions)} subscriptions ({said}), {matches} matches.")
    console.print("Try: tidings demo --write world, then tidings match, check and explain on its files.", style="dim")
