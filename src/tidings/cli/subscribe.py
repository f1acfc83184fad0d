"""`tidings subscribe`: leave subscriptions with a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from tidings.cli.client import Patience, client_options
from tidings.cli.terminal import Command, Terminal
from tidings.cli.times import age, moment
from tidings.errors import ClientError, SubscriptionError, UsageError
from tidings.lang.files import read_instances, read_subscriptions

if TYPE_CHECKING:
    from tidings.broker.client import Client

_AT_ONCE = 5_000
"""Rows that are sent together."""

_EXAMPLE = """
tidings subscribe cheap.rq
tidings subscribe subscriptions.ndjson --label team=books --ttl 30d
tidings subscribe cheap.rq --webhook https://shop.example/told --payload event
tidings subscribe --template papers --id ada --parameter author=http://example.org/ada
tidings subscribe --template papers --instances authors.csv
"""


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("subscriptions", metavar="[SUBSCRIPTIONS]", required=False)
@click.option("--template", metavar="NAME", help="A template that the server has, in place of SUBSCRIPTIONS.")
@click.option("--id", metavar="ID", help="With --template: what the subscription is called.")
@click.option("--parameter", "parameters", metavar="NAME=VALUE", multiple=True, help="With --template: a value.")
@click.option(
    "--instances",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --template: an NDJSON, CSV or Parquet file of ids and values, a subscription a row.",
)
@click.option("--payload", type=click.Choice(["bindings", "event", "construct", "ids"]), help="What is told.")
@click.option("--format", metavar="TYPE", help="The media type of RDF in what is told.")
@click.option("--webhook", metavar="URL", help="Where notifications are sent.")
@click.option("--label", "labels", metavar="NAME=TEXT", multiple=True, help="Something to know it by.")
@click.option("--ttl", callback=age, metavar="AGE", help="After how long it ends: 12h, 30d.")
@click.option("--since", callback=moment, metavar="TIME", help="Look back, on events from this moment on.")
@client_options
@click.pass_obj
def command(
    terminal: Terminal,
    client: Client,
    subscriptions: str | None,
    template: str | None,
    id: str | None,
    parameters: tuple[str, ...],
    instances: Path | None,
    payload: str | None,
    format: str | None,
    webhook: str | None,
    labels: tuple[str, ...],
    ttl: timedelta | None,
    since: datetime | None,
) -> int:
    """Leave all subscriptions of a file or folder with a server, and print what stands, one JSON object a line.

    Or leave one of a template that the server has, with values for its parameters; or many, with a row of values each.
    The same again changes nothing. One that is refused costs the others nothing.
    """
    given = {
        "payload": payload,
        "format": format,
        "webhook": webhook,
        "labels": pairs(labels, "--label") or None,
        "ttl": None if ttl is None else ttl.total_seconds(),
        "since": None if since is None else since.isoformat(),
    }
    options = {name: value for name, value in given.items() if value is not None}
    rejected: list[str] = []

    def report(error: SubscriptionError) -> None:
        rejected.append(str(error))
        terminal.error(str(error))

    patience = Patience(terminal)
    _check_usage(subscriptions, template, id, parameters, instances)
    if template is not None and instances is not None:
        _many(client, patience, report, template, instances, options)
        return 1 if rejected else 0
    if template is not None:
        values: Any = {"template": template, "parameters": pairs(parameters, "--parameter"), **options}
        standing = patience.ask(partial(client.subscribe, id or f"s-{uuid4()}", **values))
        click.echo(json.dumps(standing, ensure_ascii=False))
        return 0
    assert subscriptions is not None
    for each in read_subscriptions(subscriptions, report=report):
        try:
            standing = patience.ask(partial(client.subscribe, each.id, each.text, each.dialect, **options))
            click.echo(json.dumps(standing, ensure_ascii=False))
        except ClientError as error:
            if error.status is None or error.status in (401, 403, 429, 503):
                raise
            rejected.append(each.id)
            terminal.error(f"{each.source}: subscription '{each.id}': {error}")
    return 1 if rejected else 0


def _check_usage(
    subscriptions: str | None, template: str | None, id: str | None, parameters: tuple[str, ...], instances: Path | None
) -> None:
    if (subscriptions is None) == (template is None):
        raise UsageError("name either a file or folder of subscriptions, or a --template")
    if template is None and (id or parameters or instances):
        raise UsageError("--id, --parameter and --instances go with --template")
    if instances is not None and (id or parameters):
        raise UsageError("the ids and values of --instances are in the file; leave --id and --parameter out")


def _many(
    client: Client,
    patience: Patience,
    report: Callable[[SubscriptionError], None],
    template: str,
    file: Path,
    options: dict[str, Any],
) -> None:
    """A row for each; those that the server refuses are told with their place in the file."""
    rows = read_instances(file, report=report)
    while some := list(islice(rows, _AT_ONCE)):
        wanted = [{**options, **row} for _, row in some]
        done = patience.ask(partial(client.subscribe_many, template, wanted))
        for each in done["subscriptions"]:
            click.echo(json.dumps(each, ensure_ascii=False))
        for problem in done["problems"]:
            row, given = some[problem["item"] - 1]
            hint = problem.get("hint")
            report(SubscriptionError(problem["detail"], source=row.source, row=row.number, id=given["id"], hint=hint))


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """NAME=TEXT, each."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"'{text}' should be NAME=TEXT.", param_hint=option)
        found[name] = value
    return found
