"""`tidings publish`: events to a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from tidings.cli.client import Patience, client_options
from tidings.cli.options import Reading, reading_options
from tidings.cli.terminal import Command, Terminal
from tidings.errors import ClientError, EventError
from tidings.rdf.event import Event, to_nquads

if TYPE_CHECKING:
    from tidings.broker.client import Client

_EXAMPLE = """
tidings publish offer.ttl
tidings publish 'feed/*.nq.gz'
tail -f news.nq | tidings publish -
"""
_MOST_EVENTS, _MOST_BYTES = 500, 1 << 20


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("events", metavar="EVENTS...", nargs=-1, required=True)
@reading_options
@click.option("--one-by-one", is_flag=True, help="Send each event as soon as it is read, and not several together.")
@client_options
@click.pass_obj
def command(terminal: Terminal, client: Client, events: tuple[str, ...], reading: Reading, one_by_one: bool) -> int:
    """Publish events, and print the id of each when it is durable, one JSON object a line.

    EVENTS are files, folders and globs of any RDF format, or `-` for N-Quads on standard input. What cannot be read is
    named, and the rest published.
    """
    rejected: list[str] = []

    def report(error: EventError) -> None:
        rejected.append(str(error))
        terminal.error(str(error))

    patience = Patience(terminal)
    read = reading.events(events, report)
    for several in _together(read, 1 if one_by_one or "-" in events else _MOST_EVENTS):
        try:
            # The same events again are no new ones, so it does not matter whether they had come through.
            answer = patience.ask(partial(client.publish, b"".join(map(to_nquads, several)), "application/n-quads"))
        except ClientError as error:
            if error.status is None or error.status in (401, 403, 429, 503):
                raise
            rejected.append(str(error))
            terminal.error(str(error))
            continue
        for problem in answer.get("problems", ()):
            rejected.append(problem["detail"])
            terminal.error(problem["detail"])
        for event in answer["events"]:
            click.echo(json.dumps(event, ensure_ascii=False))
    return 1 if rejected else 0


def _together(events: Iterator[Event], most: int) -> Iterator[list[Event]]:
    several: list[Event] = []
    size = 0
    for event in events:
        several.append(event)
        size += len(event.body)
        if len(several) >= most or size >= _MOST_BYTES:
            yield several
            several, size = [], 0
    if several:
        yield several
