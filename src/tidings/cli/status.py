"""`tidings status`: how a server does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from tidings.cli.client import client_options
from tidings.cli.terminal import Command, Terminal

if TYPE_CHECKING:
    from tidings.broker.client import Client


@click.command(cls=Command, example="tidings status --url http://127.0.0.1:8420")
@client_options
@click.pass_obj
def command(terminal: Terminal, client: Client) -> int:
    """Print counts of a server, as one JSON object: events, subscriptions, who listens, bytes, what matching took."""
    click.echo(json.dumps(client.status(), ensure_ascii=False))
    return 0
