"""`tidings compile`: subscriptions to an index that opens at once."""

from __future__ import annotations

import re
import time
from pathlib import Path

import click

from tidings.cli.options import OntologyFiles, ontology_options
from tidings.cli.run import MANIFEST, Run, Stop, is_snapshot, take_subscriptions
from tidings.cli.terminal import Command, Terminal, printable
from tidings.errors import UsageError

_EXAMPLE = """
tidings compile subscriptions/ --ontology auction.ttl -o index
tidings match index 'feed/*.nq.gz'
"""
# What a writer that was killed may have left behind.
_REMAINS = re.compile(r"data-[0-9a-f]+\.bin|writer\.lock|manifest\.json(\.new)?")


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("subscriptions", metavar="SUBSCRIPTIONS")
@ontology_options
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="INDEX",
    required=True,
    help="The folder to write; a compiled index that is there is replaced.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first subscription that is rejected, and write nothing.")
@click.pass_obj
def command(
    terminal: Terminal, subscriptions: str, ontology_files: OntologyFiles, output: Path, fail_fast: bool
) -> int:
    """Compile the SUBSCRIPTIONS, with their ontology, into the folder INDEX, which match opens in their place.

    The folder is written in one step: whatever happens meanwhile, there is the index from before or the new one.

    The exit code is 0 when all went well, 1 when some subscriptions were rejected and the rest compiled, 2 when nothing
    could be.
    """
    if is_snapshot(subscriptions):
        raise UsageError(f"{subscriptions} is compiled already; name the subscriptions themselves")
    _check_folder(output)
    from tidings.match.fast import Fast

    run = Run(terminal, fail_fast)
    started = time.perf_counter()
    core = Fast(ontology_files.load())
    try:
        take_subscriptions(core, subscriptions, run)
    except Stop:
        terminal.warning("stopped at the first reject, as --fail-fast asks; nothing was written")
        return 1
    with terminal.progress("writing"):
        core.save(output)
    if not terminal.quiet:
        size = sum(file.stat().st_size for file in output.iterdir())
        took = time.perf_counter() - started
        noun = "subscription" if len(core) == 1 else "subscriptions"
        said = f"{len(core):,} {noun} in {output}: {size / 1e6:,.1f} MB, {took:.1f} s"
        click.echo(printable(said), err=True)
    _tell_unindexed(core.stats()["unindexed"], terminal)
    return 1 if run.rejected else 0


def _check_folder(folder: Path) -> None:
    """Something else that is there is not for us to write into."""
    if folder.is_dir() and not (folder / MANIFEST).exists():
        others = [file.name for file in folder.iterdir() if not _REMAINS.fullmatch(file.name)]
        if others:
            raise UsageError(f"{folder} is no compiled index, and has other files in it: {others[0]}")


def _tell_unindexed(rules: float, terminal: Terminal) -> None:
    if rules:
        terminal.warning(f"{rules:,} rules have to be tried on every event; tidings check names the subscriptions")
