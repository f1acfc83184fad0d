"""`tidings demo`: a small auction and bibliography world, as a stream on Spark; or what matches in it, and why."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path

import click
from rich.console import Console, Group
from rich.text import Text
from rich.tree import Tree

from tidings.cli.demo_world import World, explained, load_world, matches_of, near_miss, purpose, short_name
from tidings.cli.run import need_spark
from tidings.cli.terminal import Command, Terminal
from tidings.errors import UsageError
from tidings.lang.files import Subscription
from tidings.match.explain import Explanation, Finding, finding_lines, reason
from tidings.rdf.event import Event

_EXAMPLE = """
tidings demo
tidings demo --reasons
tidings demo text-near-matching-then-trees -v
tidings demo --write world && tidings match world/subscriptions world/events --ontology world/ontologies/auction.ttl
"""
_WITH_CONDITION = ("MINUS", "OPTIONAL", "FILTER NOT", "FILTER EXISTS", "HAVING")
_WIDTH = 120


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("names", metavar="[SUBSCRIPTION]...", nargs=-1)
@click.option(
    "--write",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write the world's files to a new folder, to play with, instead of showing what matches.",
)
@click.option("--reasons", is_flag=True, help="Show what matches and why, without Spark, instead of streaming.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    default=Path("tidings-demo"),
    show_default=True,
    help="Where the stream's tables and its report go; what a demo left there is replaced.",
)
@click.pass_obj
def command(terminal: Terminal, names: tuple[str, ...], write: Path | None, reasons: bool, output: Path) -> int:
    """Run a small world of auctions and publications through the pipeline, on Spark: documents come one by one, while a
    subscription is added and another cancelled. It ends with a table of what matched, and a report to look at.

    With --reasons, or for the subscriptions that are named: the events that match, and why; and one event for each that
    does not match, and why not. With -v, every reason in full.
    """
    with resources.as_file(resources.files("tidings") / "demo") as folder:
        if write is not None:
            return _write(folder, write)
        world = load_world(folder)
        if not names and not reasons:
            need_spark("tidings demo (without --reasons)")
            from tidings.cli.demo_stream import stream

            return stream(folder, world, output, terminal, _console())
    known = {subscription.id for subscription in world.subscriptions}
    for name in names:
        if name not in known:
            raise UsageError(f"the demo has no subscription '{name}'; tidings demo --reasons shows all of them")
    _show(world, names, terminal.verbose)
    return 0


def _show(world: World, names: tuple[str, ...], verbose: bool) -> None:
    console = _console()
    found = matches_of(world)
    for subscription in world.subscriptions:
        if not names or subscription.id in names:
            console.print(_tree(world, subscription, found[subscription.id], verbose, console.width))
            console.print()
    if not names:
        _summary(console, world, found)


def _console() -> Console:
    return Console(highlight=False, width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDTH)


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
        explanation = explained(world, subscription, event)
        mark, style = ("✓", "green") if explanation.matches else ("✗", "red")
        label = Text.assemble((f"{mark} ", style), (short_name(event), "bold"))
        if verbose:
            tree.add(label).add(Text("\n".join(finding_lines(explanation.findings, width - 8))))
        else:
            tree.add(label + Text(f"  {_because(explanation)}"))
    return tree


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


def _summary(console: Console, world: World, found: dict[str, list[Event]]) -> None:
    dialects = Counter(subscription.dialect for subscription in world.subscriptions)
    said = ", ".join(f"{count} in {dialect}" for dialect, count in dialects.items())
    matches = sum(map(len, found.values()))
    console.print(f"{len(world.events)} events, {len(world.subscriptions)} subscriptions ({said}), {matches} matches.")
    console.print("Try: tidings demo --write world, then tidings match, check and explain on its files.", style="dim")
