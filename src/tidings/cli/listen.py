"""`tidings listen`: what a subscription is told, as it comes."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING

import click

from tidings.cli.client import client_options
from tidings.cli.terminal import Command, Terminal

if TYPE_CHECKING:
    from tidings.broker.client import Client

_EXAMPLE = """
tidings listen cheap
tidings listen cheap --ack | jq -r .event
tidings listen cheap --count 1 --after 12-345
"""


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("subscription", metavar="ID")
@click.option("--after", metavar="CURSOR", help="Begin behind this one.  [default: behind what was acknowledged]")
@click.option("--ack", is_flag=True, help="Acknowledge each one when it has been printed.")
@click.option("--count", type=click.IntRange(1), help="End after so many.  [default: never]")
@client_options
@click.pass_obj
def command(
    terminal: Terminal, client: Client, subscription: str, after: str | None, ack: bool, count: int | None
) -> int:
    """Print the notifications of a subscription, those there are and those that come, one JSON object a line.

    When the connection breaks, it is made again, and goes on where it was.
    """
    for notification in islice(client.listen(subscription, after), count):
        click.echo(json.dumps(notification, ensure_ascii=False))
        if ack:
            client.ack(subscription, notification["cursor"])
    return 0
