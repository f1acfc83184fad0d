"""`tidings feeds`: the feeds that a server reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from tidings.cli.client import Patience, client_options
from tidings.cli.terminal import Command, Terminal
from tidings.errors import ClientError

if TYPE_CHECKING:
    from tidings.broker.client import Client

_REFUSED = (None, 401, 403, 429, 503)
"""What would be the same for all others."""


@click.group(
    epilog="""\b
Examples:
  tidings feeds add https://news.example/rss --class http://example.org/News
  tidings feeds list
  tidings feeds poll 4fe2c1a09b7d3e58
  tidings feeds remove 4fe2c1a09b7d3e58
"""
)
def command() -> None:
    """See to the feeds that a server reads: RSS, Atom and JSON Feed, each item an event.

    It needs a token with `feeds`. Each takes --quiet and --verbose.
    """


@command.command(cls=Command, example="tidings feeds add https://news.example/rss https://blog.example/atom.xml")
@click.argument("urls", metavar="URL...", nargs=-1, required=True)
@click.option("--class", "classes", metavar="IRI", multiple=True, help="What its items are, besides items.")
@click.option("--home", is_flag=True, help="Let an item be the home vertex of its event.")
@click.option("--charset", help="How it is encoded, where its server says it wrongly.")
@client_options
@click.pass_obj
def add(
    terminal: Terminal,
    client: Client,
    urls: tuple[str, ...],
    classes: tuple[str, ...],
    home: bool,
    charset: str | None,
) -> int:
    """Have feeds read from now on, and print each, one JSON object a line. The same again changes nothing."""
    given = {"classes": list(classes) or None, "home": home or None, "charset": charset}
    options = {name: value for name, value in given.items() if value is not None}
    return _each(terminal, urls, lambda url: client.add_feed(url, **options))


@command.command("list", cls=Command, example="tidings feeds list | jq -r 'select(.problem) | .url'")
@client_options
@click.pass_obj
def several(terminal: Terminal, client: Client) -> int:
    """Print the feeds that are read, and how they do, one JSON object a line."""
    for feed in client.feeds():
        click.echo(json.dumps(feed, ensure_ascii=False))
    return 0


@command.command(cls=Command, example="tidings feeds remove 4fe2c1a09b7d3e58")
@click.argument("feeds", metavar="ID|URL...", nargs=-1, required=True)
@client_options
@click.pass_obj
def remove(terminal: Terminal, client: Client, feeds: tuple[str, ...]) -> int:
    """Have feeds read no more. Their events stay."""
    return _each(terminal, _ids(client, feeds), client.remove_feed)


@command.command(cls=Command, example="tidings feeds poll https://news.example/rss")
@click.argument("feeds", metavar="ID|URL...", nargs=-1, required=True)
@client_options
@click.pass_obj
def poll(terminal: Terminal, client: Client, feeds: tuple[str, ...]) -> int:
    """Have feeds asked for now, and print how each does then, one JSON object a line."""
    return _each(terminal, _ids(client, feeds), client.poll_feed)


def _ids(client: Client, given: Iterable[str]) -> list[str]:
    """Of feeds that may be named by their addresses, too."""
    if not any("://" in each for each in given):
        return list(given)
    known = {feed["url"]: feed["id"] for feed in client.feeds()}
    return [known.get(each, each) for each in given]


def _each(terminal: Terminal, those: Iterable[str], do: Callable[[str], dict[str, Any] | None]) -> int:
    """One that is refused costs the others nothing."""
    patience, code = Patience(terminal), 0
    for each in those:
        try:
            answer = patience.ask(partial(do, each))
        except ClientError as error:
            if error.status in _REFUSED:
                raise
            terminal.error(f"{each}: {error}")
            code = 1
        else:
            if answer is not None:
                click.echo(json.dumps(answer, ensure_ascii=False))
    return code
