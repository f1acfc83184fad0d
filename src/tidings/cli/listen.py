"""`tidings listen`: what a subscription is told, as it comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from tidings.cli.client import Patience, client_options
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

    When the connection breaks, it is made again, and goes on where it was. It ends with the subscription.
    """
    # So that a server that is not there, or a subscription that is none, is told of at once.
    client.subscription(subscription)
    patience = Patience(terminal)
    for notification in islice(client.listen(subscription, after, _said(terminal)), count):
        click.echo(json.dumps(notification, ensure_ascii=False))
        if ack:
            patience.ask(partial(client.ack, subscription, notification["cursor"]))
    return 0


def _said(terminal: Terminal) -> Callable[[str, dict[str, Any]], None]:
    def said(kind: str, data: dict[str, Any]) -> None:
        match kind:
            case "paused":
                terminal.warning(f"the subscription is paused: {data.get('reason')}")
            case "missed":
                terminal.warning(f"notifications up to {data.get('upto')} are gone, and were not acknowledged")
            case "lost":
                terminal.detail(f"{data['detail']}; trying again in {data['again']:g} s")
            case _:
                terminal.detail(f"the subscription is {kind}")

    return said
