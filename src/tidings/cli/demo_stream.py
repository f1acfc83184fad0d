"""The demo as a stream: documents come one by one, subscriptions come and go, and a report is left behind."""

from __future__ import annotations

import os
import shutil
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
from rich.console import Console
from rich.table import Table

from tidings.cli.demo_world import PREFIXES, World, explained, purpose, short_name
from tidings.cli.run import telling_of_kernels
from tidings.cli.terminal import Terminal
from tidings.draw.event import event_svg
from tidings.draw.report import BatchFigures, Reject, Report, TopSubscription, render
from tidings.errors import UsageError
from tidings.match.explain import Names, declared_prefixes, finding_lines
from tidings.rdf.event import Event

if TYPE_CHECKING:
    from tidings.spark.figures import Figures
    from tidings.spark.pipeline import Pipeline

ADDED, ADDED_BEFORE = "property-hierarchy-cell-phone-is-contact-information", "offers.trig"
CANCELLED, CANCELLED_BEFORE = "class-hierarchy-notebook-is-a-computer", "papers.trig"
_EXPLAINED = "class-hierarchy-notebook-is-a-computer", "offer-01"
_BROKEN = "half-a-listing.ttl", "@prefix auc: <http://example.org/auction#> .\n[] a auc:NotebookPC ; auc:price"
_PATIENCE = 900.0
"""The first batch of all may have to wait for the matcher to be compiled."""
_LOOK = 0.02
_MARK = ".tidings-demo"
_ABOUT = (
    "Documents of a small world of auctions and publications came one by one into a folder. One of them is broken. "
    f"Before {ADDED_BEFORE} came, the subscription {ADDED} was added; before {CANCELLED_BEFORE}, {CANCELLED} was "
    "cancelled. Every notification is in the table once."
)


class Folders:
    """What is where, in the folder of the demo."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.events = root / "in"
        self.subscriptions = root / "subscriptions"
        self.notifications = root / "notifications"
        self.checkpoint = root / "checkpoint"
        self.rejected = root / "rejected"
        self.report = root / "report.html"

    def prepare(self, world: Path) -> None:
        if self.root.exists() and any(self.root.iterdir()) and not (self.root / _MARK).exists():
            raise UsageError(f"{self.root} is not empty, and no demo left it: name another folder with --output")
        shutil.rmtree(self.root, ignore_errors=True)
        self.events.mkdir(parents=True)
        (self.root / _MARK).touch()
        shutil.copytree(world / "subscriptions", self.subscriptions)


def stream(folder: Path, world: World, output: Path, terminal: Terminal, console: Console) -> int:
    """Run it, print what matched, and write the report."""
    folders = Folders(output)
    folders.prepare(folder)
    late = _set_aside(folders)
    told: list[Figures] = []
    console.print("Documents come one by one, and Spark streams them. The first run compiles the matcher: a minute.")
    console.print()
    with terminal.progress("starting Spark"):
        from tidings.spark.assembly import Places, assemble
        from tidings.spark.sessions import facts, session

        spark = session("tidings demo", master="local[2]")
        places = Places(
            str(folders.events),
            str(folders.subscriptions),
            str(folders.notifications),
            str(folders.checkpoint),
            rejected=str(folders.rejected),
        )
        pipeline, read = assemble(spark, places, world.ontology, {}, max_files=1, listener=told.append)
    with terminal.progress("streaming") as progress, telling_of_kernels(progress):
        pipeline.start(read)
        for number, (name, text) in enumerate(_documents(folder / "events"), 1):
            if name == ADDED_BEFORE:
                late.rename(folders.subscriptions / late.name)
            if name == CANCELLED_BEFORE:
                (folders.subscriptions / f"{CANCELLED}.rq").unlink()
            _put(folders, name, text)
            _wait_for(number, told, pipeline)
            progress.update(batches=len(told), matches=sum(figures.matches for figures in told))
        pipeline.stop()
    _print(console, world, folders, told)
    folders.report.write_text(render(_report(world, folders, told, facts(spark))), "utf-8")
    console.print(f"The report: {folders.report}. Why each of them matches: tidings demo --reasons.", style="dim")
    return 0


def _set_aside(folders: Folders) -> Path:
    """The subscription that comes later."""
    (path,) = folders.subscriptions.glob(f"{ADDED}.*")
    return path.rename(folders.root / path.name)


def _documents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The documents of the world, and one that is broken, in the order in which they come."""
    name, text = _BROKEN
    found = {path.name: path.read_bytes() for path in folder.iterdir()} | {name: text.encode()}
    yield from sorted(found.items())


def _put(folders: Folders, name: str, text: bytes) -> None:
    """A document is written beside the folder, so that nobody reads half of it."""
    beside = folders.root / name
    beside.write_bytes(text)
    os.replace(beside, folders.events / name)


def _wait_for(batches: int, told: list[Figures], pipeline: Pipeline) -> None:
    end = time.monotonic() + _PATIENCE
    while len(told) < batches:
        if pipeline.wait(_LOOK) or time.monotonic() > end:
            raise UsageError(f"the stream has been still for {_PATIENCE:.0f} seconds; is the machine very busy?")


# ------------------------------------------------------------------------------------------------------ what came of it


def _matches(world: World, folders: Folders) -> dict[str, list[Event]]:
    """The events that every subscription was told of, in the order of the world."""
    events = {event.id: place for place, event in enumerate(world.events)}
    found: defaultdict[str, list[int]] = defaultdict(list)
    for row in ds.dataset(folders.notifications, format="parquet").to_table().to_pylist():
        found[row["subscription"]].append(events[row["event"]])
    return {id: [world.events[place] for place in sorted(places)] for id, places in found.items()}


def _print(console: Console, world: World, folders: Folders, told: list[Figures]) -> None:
    found = _matches(world, folders)
    table = Table(title="What matched", title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("subscription", no_wrap=True)
    table.add_column("matches", justify="right")
    table.add_column("events", overflow="fold")
    for subscription in world.subscriptions:
        events = found.get(subscription.id, [])
        table.add_row(subscription.id + _fate(subscription.id), str(len(events)), ", ".join(map(short_name, events)))
    console.print(table)
    console.print()
    events, matches, rejects = (sum(getattr(each, name) for each in told) for name in ("events", "matches", "rejects"))
    console.print(
        f"{len(told)} batches on Spark: {events} events, {matches} matches, {rejects} rejected, "
        f"{len(world.subscriptions)} subscriptions; in the middle of it all one was added and one cancelled."
    )
    for row in _rejects(folders):
        console.print(f"Rejected: {row.source}:{row.line}: {row.reason}", style="yellow")


def _fate(id: str) -> str:
    return {ADDED: " (added later)", CANCELLED: " (cancelled)"}.get(id, "")


def _rejects(folders: Folders) -> list[Reject]:
    if not folders.rejected.exists():
        return []
    rows = ds.dataset(folders.rejected, format="parquet").to_table().to_pylist()
    return [Reject(Path(row["source"] or "").name, row["line"], row["reason"]) for row in rows]


def _report(world: World, folders: Folders, told: list[Figures], facts: Mapping[str, str]) -> Report:
    found = sorted(_matches(world, folders).items(), key=lambda pair: (-len(pair[1]), pair[0]))
    about = {subscription.id: purpose(subscription) for subscription in world.subscriptions}
    top = [TopSubscription(id, about[id], len(events), [short_name(e) for e in events]) for id, events in found]
    heading, drawing, reasons = _one_explained(world)
    return Report(
        title="Demo: auctions and publications",
        about=_ABOUT,
        batches=[_figures(each) for each in told],
        top=top,
        rejects=_rejects(folders),
        explained=heading,
        drawing=drawing,
        reasons=reasons,
        facts=facts,
    )


def _figures(each: Figures) -> BatchFigures:
    return BatchFigures(
        batch=each.batch,
        started=datetime.fromisoformat(each.started),
        events=each.events,
        candidates=each.candidates,
        matches=each.matches,
        rejects=each.rejects,
        subscriptions=each.subscriptions,
        taken=each.put,
        cancelled=each.cancelled,
        lag=each.lag,
        seconds=each.seconds,
    )


def _one_explained(world: World) -> tuple[str, str, list[str]]:
    """A match as a drawing, and its reasons."""
    id, name = _EXPLAINED
    subscription = next(each for each in world.subscriptions if each.id == id)
    event = next(each for each in world.events if short_name(each) == name)
    explanation = explained(world, subscription, event)
    names = Names(world.ontology, PREFIXES | declared_prefixes(subscription.text, subscription.dialect))
    reasons = list(finding_lines(explanation.findings, 100))
    return f"{id} on {name}", event_svg(explanation, event, id, names), reasons
