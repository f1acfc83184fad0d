"""`tidings subscribe`: leave subscriptions with a server."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import click

from tidings.cli.client import Patience, client_options
from tidings.cli.terminal import Command, Terminal
from tidings.cli.times import age, moment
from tidings.errors import ClientError, SubscriptionError
from tidings.lang.files import read_subscriptions

if TYPE_CHECKING:
    from tidings.broker.client import Client

_EXAMPLE = """
tidings subscribe cheap.rq
tidings subscribe subscriptions.ndjson --label team=books --ttl 30d
tidings subscribe cheap.rq --webhook https://shop.example/told --payload event
"""


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("subscriptions", metavar="SUBSCRIPTIONS")
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
    subscriptions: str,
    payload: str | None,
    format: str | None,
    webhook: str | None,
    labels: tuple[str, ...],
    ttl: timedelta | None,
    since: datetime | None,
) -> int:
    """Leave all subscriptions of a file or folder with a server, and print what stands, one JSON object a line.

    The same again changes nothing. One that is refused costs the others nothing.
    """
    given = {
        "payload": payload,
        "format": format,
        "webhook": webhook,
        "labels": dict(_pair(each) for each in labels) or None,
        "ttl": None if ttl is None else ttl.total_seconds(),
        "since": None if since is None else since.isoformat(),
    }
    options = {name: value for name, value in given.items() if value is not None}
    rejected: list[str] = []

    def report(error: SubscriptionError) -> None:
        rejected.append(str(error))
        terminal.error(str(error))

    patience = Patience(terminal)
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


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"'{text}' should be NAME=TEXT.", param_hint="--label")
    return name, value
