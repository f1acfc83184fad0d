"""`tidings serve`: the broker over HTTP."""

from __future__ import annotations

import ipaddress
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidings.cli.options import OntologyFiles, ontology_options
from tidings.cli.run import need_server
from tidings.cli.terminal import Command, Terminal
from tidings.cli.times import age
from tidings.errors import UsageError

if TYPE_CHECKING:
    from tidings.broker.core import Where

_EXAMPLE = """
tidings serve broker/
tidings serve broker/ --ontology auction.ttl --keep 30d
tidings serve --open
"""


_USUAL_RATE = 5_000.0
_RATE = "Requests a second of each token, 0 for any.  [default: 5000; any with --open on this machine alone]"
_EVERY = "How often a feed is asked for, at most."
_STEPS = "What a subscription may take on an event."


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("folder", metavar="[FOLDER]", required=False, type=click.Path(path_type=Path))
@ontology_options
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8420, show_default=True, type=click.IntRange(0, 65535), help="0: any that is free.")
@click.option("--open", "is_open", is_flag=True, help="Let everybody do everything, without a token.")
@click.option("--name", "names", multiple=True, help="With --open, a name that clients may ask for it by.")
@click.option("--keep", callback=age, metavar="AGE", help="How long events are kept: 12h, 30d.  [default: for ever]")
@click.option("--keep-bytes", type=click.IntRange(1), help="What the database may have.  [default: any number]")
@click.option("--backlog", default=100_000, show_default=True, type=click.IntRange(1), help="What may wait for one.")
@click.option("--keep-audit", callback=age, default="365d", show_default=True, metavar="AGE", help="Who did what.")
@click.option("--rate", type=click.FloatRange(0), help=_RATE)
@click.option("--max-complexity", default=1_000, show_default=True, type=click.IntRange(1), help="Score of a query.")
@click.option("--max-steps", default=1_000_000, show_default=True, type=click.IntRange(1), help=_STEPS)
@click.option(
    "--matching",
    type=click.Choice(["embedded", "outside"]),
    default="embedded",
    show_default=True,
    help="Match events here, or leave that to tidings pipeline --broker.",
)
@click.option("--private-webhooks", is_flag=True, help="Let webhooks go to private and loopback addresses.")
@click.option("--private-feeds", is_flag=True, help="Let feeds and their hubs be at private and loopback addresses.")
@click.option("--feeds-every", callback=age, default="5m", show_default=True, metavar="AGE", help=_EVERY)
@click.option("--awake", "is_awake", is_flag=True, help="Keep processors from sleeping: told sooner, for more power.")
@click.option("--public", metavar="URL", help="Where others find this server, hubs of feeds for one.")
@click.pass_obj
def command(
    terminal: Terminal,
    folder: Path | None,
    ontology_files: OntologyFiles,
    host: str,
    port: int,
    is_open: bool,
    names: tuple[str, ...],
    keep: timedelta | None,
    keep_bytes: int | None,
    backlog: int,
    keep_audit: timedelta,
    rate: float | None,
    max_complexity: int,
    max_steps: int,
    matching: Where,
    private_webhooks: bool,
    private_feeds: bool,
    feeds_every: timedelta,
    is_awake: bool,
    public: str | None,
) -> int:
    """Run the broker: clients leave subscriptions, publish events, and are told, over HTTP.

    What it has is in FOLDER, and it goes on with that when it is started again; without FOLDER it is in memory.
    Who asks needs a token, which `tidings token FOLDER` makes. An ontology is kept, too: without --ontology it goes on
    with the one it had.
    """
    need_server("tidings serve")
    from tidings.broker.core import Core
    from tidings.broker.feeds.poller import Manner
    from tidings.broker.http.app import application
    from tidings.broker.http.awake import awake
    from tidings.broker.http.server import listening, run
    from tidings.broker.http.service import Bounds
    from tidings.broker.knowledge import Knowledge
    from tidings.broker.matching import Effort, warm_up
    from tidings.broker.retention import Retention
    from tidings.delivery.addresses import Endpoint
    from tidings.delivery.fetch import Care
    from tidings.ingest.feeds.schedule import Policy

    if folder is None and not is_open:
        raise UsageError("a broker in memory has no tokens: name a FOLDER, or let everybody in with --open")
    if is_open and not _is_loopback(host):
        terminal.warning(
            f"everybody who can reach {host} may read, publish and delete: --open is for trying things out"
        )
    paths, cycles = ontology_files.paths, ontology_files.cycles
    knowledge = Knowledge.of_files(paths, cycles) if paths else None
    if rate is None and not (is_open and _is_loopback(host)):
        rate = _USUAL_RATE
    bounds = Bounds(complexity=max_complexity, rate=rate or None)
    public_names = () if public is None else (Endpoint.of(public, "this server").host,)
    on = listening(host, port)
    with terminal.progress("opening the broker"):
        keeping = Retention(keep, keep_bytes, backlog, keep_audit)
        core = Core(folder, knowledge, keeping, Effort(max_steps), matching)
        if matching == "embedded":
            warm_up()
    try:
        address = f"http://{host if ':' not in host else f'[{host}]'}:{on.getsockname()[1]}"
        asked_by = (host, *names, *public_names) if is_open else None
        manner = Manner(Policy.every(feeds_every.total_seconds()), Care(private=private_feeds), public=public)
        app = application(core, open=is_open, names=asked_by, private=private_webhooks, bounds=bounds, feeds=manner)
        with awake() if is_awake else nullcontext():
            run(app, on, lambda: click.echo(address))
    finally:
        core.close()
    return 0


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
