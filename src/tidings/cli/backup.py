"""`tidings backup`: what a broker has, into another folder, while it runs."""

from __future__ import annotations

from pathlib import Path

import click

from tidings.broker.database import FILE, Database
from tidings.cli.terminal import Command, Terminal
from tidings.errors import UsageError

_EXAMPLE = """
tidings backup broker/ backups/monday/
tidings serve backups/monday/
"""


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.argument("target", metavar="TARGET", type=click.Path(path_type=Path))
@click.pass_obj
def command(terminal: Terminal, folder: Path, target: Path) -> int:
    """Write all that the broker in FOLDER has at this moment into the folder TARGET, from which a broker can go on.

    The broker may be running; whoever publishes or listens does not notice. To restore a backup, end the server, and
    start it with TARGET, or with FOLDER when its files have been moved away and those of TARGET copied there.
    """
    if not (folder / FILE).is_file():
        raise UsageError(f"there is no broker in '{folder}'")
    database = Database(folder, alone=False)
    try:
        with terminal.progress("writing the backup"):
            database.backup(target)
    finally:
        database.close()
    return 0
