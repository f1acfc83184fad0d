"""`tidings bench`: the papers' workloads, measured here."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from tidings.bench import BENCHMARKS, run
from tidings.bench.plots import save
from tidings.bench.report import Report, Table, cell, keep, numeric
from tidings.bench.settings import Settings
from tidings.cli.terminal import Command, Terminal

_EXAMPLE = """
tidings bench ops --quick
tidings bench gtopss rtf --output results
"""
_WIDTH = 140
_COLOURS = {True: "green", False: "red", None: "yellow"}


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("names", nargs=-1, metavar="[NAME]...", type=click.Choice(list(BENCHMARKS)))
@click.option("--quick", is_flag=True, help="Small sizes, to try things out: the same tables, no figures to quote.")
@click.option("--seed", default=1, show_default=True, metavar="NUMBER", help="What the workloads are generated from.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep the report (JSON, Markdown) and its plots (SVG) there; else they are only shown.",
)
@click.pass_obj
def command(terminal: Terminal, names: tuple[str, ...], quick: bool, seed: int, output: Path | None) -> int:
    """Run the benchmarks NAME, or all: parsing, and the workloads of the papers whose matchers are here, with what
    each paper claims and what was found.
    """
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
    for name in names or BENCHMARKS:
        with terminal.progress(name) as progress:

            def tell(what: str) -> None:
                progress.tell(what)
                terminal.detail(what)

            report = run(name, Settings(quick, seed, tell))
        show(report, console)
        if output is not None:
            for path in chain(keep(report, output), save(report.figures, output)):
                terminal.detail(f"wrote {path}")
            console.print(f"kept in {output}")
    return 0


def show(report: Report, console: Console) -> None:
    """The report as tables."""
    console.print(Text(f"\n{report.name}: {report.question}", style="bold"))
    console.print(", ".join(f"{key} {value}" for key, value in report.settings.items()))
    for table in report.tables:
        console.print(_grid(table))
        if table.note:
            console.print(Text(table.note, style="dim"))
    if report.claims:
        grid = Grid("from", "claim", "here", "what was found", title="Claims", title_justify="left")
        for claim in report.claims:
            grid.add_row(claim.source, claim.text, Text(claim.verdict, style=_COLOURS[claim.holds]), claim.found)
        console.print(grid)


def _grid(table: Table) -> Grid:
    grid = Grid(title=table.title, title_justify="left")
    for column in table.columns:
        grid.add_column(column, justify="right" if numeric(table, column) else "left")
    for row in table.rows:
        grid.add_row(*(cell(row[column]) for column in table.columns))
    return grid
