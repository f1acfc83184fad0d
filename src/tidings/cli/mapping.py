"""`tidings mapping`: how data that is no RDF becomes events, kept by a server."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidings.cli.client import Patience, server_options
from tidings.cli.terminal import Command, Terminal
from tidings.errors import UsageError
from tidings.ingest.kept import CONTEXT, CSVM, TURTLE

if TYPE_CHECKING:
    from tidings.broker.client import Client

_EXAMPLE = """
tidings mapping shops.ttl
tidings mapping shops-metadata.json --id shops --kind csvw
tidings mapping --list
tidings mapping --show shops
tidings mapping --remove shops
"""
_KINDS = {"rml": TURTLE, "csvw": CSVM, "context": CONTEXT}
_SUFFIXES = {".ttl": TURTLE, ".jsonld": CONTEXT}


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--id", metavar="ID", help="What it is called.  [default: as the file, without its ending]")
@click.option("--kind", type=click.Choice(list(_KINDS)), help="What FILE is.  [default: .ttl rml, .jsonld context]")
@click.option("--list", "listed", is_flag=True, help="List the mappings that the server has.")
@click.option("--show", metavar="ID", help="Print one as it was left.")
@click.option("--remove", metavar="ID", help="Remove one; events that were made with it stay.")
@server_options
@click.pass_obj
def command(
    terminal: Terminal,
    connect: Callable[[], Client],
    file: Path | None,
    id: str | None,
    kind: str | None,
    listed: bool,
    show: str | None,
    remove: str | None,
) -> int:
    """Leave a mapping with a server, and print what is kept of it.

    FILE is RML in Turtle, a CSVW description, or a JSON-LD context. Who publishes data names it: `?mapping=ID`.
    """
    if sum((file is not None, listed, show is not None, remove is not None)) != 1:
        raise UsageError("one of FILE, --list, --show and --remove says what to do")
    if file is None and (id or kind):
        raise UsageError("--id and --kind go with FILE")
    patience = Patience(terminal)
    with connect() as client:
        if file is not None:
            left = partial(client.mapping, id or file.stem, _read(file), _kind_of(file, kind))
            click.echo(json.dumps(patience.ask(left), ensure_ascii=False))
        elif show is not None:
            click.echo(patience.ask(partial(client.mapping_text, show)), nl=False)
        elif remove is not None:
            patience.ask(partial(client.remove_mapping, remove))
        else:
            for each in patience.ask(client.mappings).values():
                click.echo(json.dumps(each, ensure_ascii=False))
    return 0


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: it cannot be read: {error.strerror}") from error


def _kind_of(file: Path, kind: str | None) -> str:
    found = _SUFFIXES.get(file.suffix.lower()) if kind is None else _KINDS[kind]
    if found is None:
        raise UsageError(f"{file}: say what it is, with --kind: {', '.join(_KINDS)}")
    return found
