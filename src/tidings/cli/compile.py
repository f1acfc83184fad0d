"""`tidings compile`: subscriptions to an index that opens at once."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import cast

import click

from tidings.cli.options import OntologyFiles, ontology_options
from tidings.cli.run import Run, Stop, is_snapshot, take_subscriptions
from tidings.cli.shards import Shards, ShardsOnSpark, sampled, shards_option
from tidings.cli.terminal import Command, Terminal, printable
from tidings.errors import UsageError
from tidings.match.base import Engine

_EXAMPLE = """
tidings compile subscriptions/ --ontology auction.ttl -o index
tidings compile subscriptions.parquet --shards 8 --sample 'feed/*.nq.gz' -o index
tidings match index 'feed/*.nq.gz'
"""
# What a writer that was killed may have left behind.
_REMAINS = re.compile(r"data-[0-9a-f]+\.bin|writer\.lock|(manifest|shards)\.json(\.new)?|made-[0-9a-f]+")


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
@shards_option
@click.option(
    "--sample",
    metavar="EVENTS",
    multiple=True,
    help="Events like those to come, so that shards get the same load.  [repeatable]",
)
@click.option(
    "--engine",
    type=click.Choice(["embedded", "spark"]),
    default="embedded",
    show_default=True,
    help="Where it runs. Spark takes Parquet and NDJSON, and --shards, and more of them than fit here.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first subscription that is rejected, and write nothing.")
@click.pass_obj
def command(
    terminal: Terminal,
    subscriptions: str,
    ontology_files: OntologyFiles,
    output: Path,
    shards: int | None,
    sample: tuple[str, ...],
    engine: str,
    fail_fast: bool,
) -> int:
    """Compile the SUBSCRIPTIONS, with their ontology, into the folder INDEX, which match opens in their place.

    The folder is written in one step: whatever happens meanwhile, there is the index from before or the new one.

    The exit code is 0 when all went well, 1 when some subscriptions were rejected and the rest compiled, 2 when nothing
    could be.
    """
    if is_snapshot(subscriptions):
        raise UsageError(f"{subscriptions} is compiled already; name the subscriptions themselves")
    if sample and shards is None:
        raise UsageError("--sample is for --shards")
    _check_folder(output)
    from tidings.match.fast import Fast
    from tidings.match.fast.sharded import remove_sharded

    run = Run(terminal, fail_fast)
    started = time.perf_counter()
    ontology = ontology_files.load()
    bodies = sampled(sample) if sample else []
    core: Fast | Shards | ShardsOnSpark
    if engine == "spark":
        core = ShardsOnSpark(shards, ontology, bodies)
    else:
        core = Fast(ontology) if shards is None else Shards(shards, ontology, bodies)
    try:
        if isinstance(core, ShardsOnSpark):
            core.compile(subscriptions, output, run)
        else:
            take_subscriptions(cast(Engine, core), subscriptions, run)
    except Stop:
        terminal.warning("stopped at the first reject, as --fail-fast asks; nothing was written")
        return 1
    with terminal.progress("writing"):
        if not isinstance(core, ShardsOnSpark):
            core.save(output)
        if shards is None:
            remove_sharded(output)
    if not terminal.quiet:
        size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
        took = time.perf_counter() - started
        noun = "subscription" if len(core) == 1 else "subscriptions"
        said = f"{len(core):,} {noun} in {output}: {size / 1e6:,.1f} MB, {took:.1f} s"
        click.echo(printable(said), err=True)
    _tell_unindexed(core.stats()["unindexed"], terminal)
    return 1 if run.rejected else 0


def _check_folder(folder: Path) -> None:
    """Something else that is there is not for us to write into."""
    if folder.is_dir() and not is_snapshot(str(folder)):
        others = [file.name for file in folder.iterdir() if not _REMAINS.fullmatch(file.name)]
        if others:
            raise UsageError(f"{folder} is no compiled index, and has other files in it: {others[0]}")


def _tell_unindexed(rules: float, terminal: Terminal) -> None:
    if rules:
        terminal.warning(f"{rules:,} rules have to be tried on every event; tidings check names the subscriptions")
