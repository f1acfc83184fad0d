"""`tidings template`: subscriptions with parameters, kept by a server, or written out here."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidings.cli.client import Patience, server_options
from tidings.cli.subscribe import pairs
from tidings.cli.terminal import Command, Terminal
from tidings.errors import SubscriptionError, UsageError
from tidings.lang.files import placed, read_instances
from tidings.lang.rows import QUERY_SUFFIXES
from tidings.lang.templates import Template

if TYPE_CHECKING:
    from tidings.broker.client import Client

_EXAMPLE = """
tidings template papers.rq --parameter author=iri --parameter venue=iri
tidings template papers.json
tidings template --list
tidings template --remove papers
tidings template papers.json --write-out authors.csv > subscriptions.ndjson
"""


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--id", metavar="ID", help="What it is called.  [default: as the file, without its ending]")
@click.option("--parameter", "parameters", metavar="NAME=KIND", multiple=True, help="A parameter of a query file.")
@click.option("--list", "listed", is_flag=True, help="List the templates that the server has.")
@click.option("--remove", metavar="ID", help="Remove one; what was made of it stays.")
@click.option(
    "--write-out",
    "rows",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="ROWS",
    help="Without a server: print a subscription for each row of an NDJSON, CSV or Parquet file of ids and values.",
)
@server_options
@click.pass_obj
def command(
    terminal: Terminal,
    connect: Callable[[], Client],
    file: Path | None,
    id: str | None,
    parameters: tuple[str, ...],
    listed: bool,
    remove: str | None,
    rows: Path | None,
) -> int:
    """Leave a template with a server, and print it as it stands.

    FILE is a query, or JSON with `query`, `dialect` and `parameters`. The kinds of parameters are iri, string, words,
    integer, number, boolean, date, dateTime and term.
    """
    if sum((file is not None, listed, remove is not None)) != 1:
        raise UsageError("one of FILE, --list and --remove says what to do")
    if file is None and (id or parameters or rows):
        raise UsageError("--id, --parameter and --write-out go with FILE")
    if file is not None and rows is not None:
        return _write_out(terminal, _read(file, parameters), rows)
    patience = Patience(terminal)
    with connect() as client:
        if file is not None:
            made = _read(file, parameters)
            kinds = {name: each.told() for name, each in made.parameters.items()}
            define = partial(client.template, id or file.stem, made.query, kinds, made.dialect)
            _print(patience.ask(partial(define, description=made.description)))
        elif remove is not None:
            patience.ask(partial(client.remove_template, remove))
        else:
            for each in patience.ask(client.templates).values():
                _print(each)
    return 0


def _read(file: Path, parameters: tuple[str, ...]) -> Template:
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: it cannot be read: {error}") from error
    declared = pairs(parameters, "--parameter")
    if file.suffix.lower() in QUERY_SUFFIXES:
        return Template(text, declared, QUERY_SUFFIXES[file.suffix.lower()], source=str(file))
    if file.suffix.lower() != ".json":
        raise UsageError(f"{file}: its name should end in one of {', '.join((*QUERY_SUFFIXES, '.json'))}")
    if declared:
        raise UsageError(f"{file}: its parameters are in the file; leave --parameter out")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: not JSON: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{file}: it should be a JSON object with 'query' and 'parameters'")
    return Template.of(found, str(file))


def _write_out(terminal: Terminal, template: Template, rows: Path) -> int:
    rejected = 0

    def report(error: SubscriptionError) -> None:
        nonlocal rejected
        rejected += 1
        terminal.error(str(error))

    for row, wanted in read_instances(rows, report=report):
        id, values, options = wanted.pop("id"), wanted.pop("parameters"), wanted
        try:
            instance = template.instance(values)
        except SubscriptionError as error:
            report(placed(error, row))
            continue
        written = {"id": id, "query": instance.text, "dialect": instance.dialect}
        _print({**written, **({"options": options} if options else {})})
    return 1 if rejected else 0


def _print(found: Any) -> None:
    click.echo(json.dumps(found, ensure_ascii=False))
