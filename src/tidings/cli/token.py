"""`tidings token`: who may do what at a broker."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import click

from tidings.broker import audit, tokens
from tidings.broker.audit import COMMAND
from tidings.broker.core import written_time
from tidings.broker.database import FILE, Database
from tidings.broker.tokens import SCOPES, Scope, Token
from tidings.cli.terminal import Command, Terminal
from tidings.cli.times import age
from tidings.errors import UsageError

_EXAMPLE = """
tidings token broker/ --scope subscribe --tenant library
tidings token broker/ --scope publish --label 'the feed reader' --expires 90d
tidings token broker/ --list
tidings token broker/ --revoke 4fe2c1a09b7d3e58
"""


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option("--scope", "scopes", type=click.Choice(SCOPES), multiple=True, help="What it is for; as many as wanted.")
@click.option("--tenant", default="", help="Whose subscriptions it is for.  [default: those of nobody in particular]")
@click.option("--label", default="", help="What it is called in the list.")
@click.option("--expires", callback=age, metavar="AGE", help="After how long it ends: 12h, 30d.  [default: never]")
@click.option("--list", "listed", is_flag=True, help="List the tokens there are, without their secrets.")
@click.option("--revoke", metavar="NAME", help="End a token; a running server takes it for a few seconds more.")
@click.pass_obj
def command(
    terminal: Terminal,
    folder: Path,
    scopes: tuple[Scope, ...],
    tenant: str,
    label: str,
    expires: timedelta | None,
    listed: bool,
    revoke: str | None,
) -> int:
    """Make a token for the broker in FOLDER, and print it: it is shown this once, and kept as a digest alone.

    The broker may be running.
    """
    if sum((bool(scopes), listed, revoke is not None)) != 1:
        raise UsageError("one of --scope, --list and --revoke says what to do")
    if (listed or revoke is not None) and not (folder / FILE).is_file():
        raise UsageError(f"there is no broker in '{folder}'")
    folder.mkdir(parents=True, exist_ok=True)
    database = Database(folder, alone=False)
    now = time.time_ns() // 1_000
    try:
        if listed:
            with database.reading() as reader:
                for token in tokens.all_of(reader):
                    click.echo(json.dumps(_described(token), ensure_ascii=False))
        elif revoke is not None:
            with database.writing() as writer:
                if not tokens.revoke(writer, revoke):
                    raise UsageError(f"there is no token '{revoke}'; --list shows those there are")
                audit.write(writer, now, COMMAND, "revoke token", revoke)
        else:
            until = None if expires is None else now + expires // timedelta(microseconds=1)
            make = partial(tokens.make, tenant=tenant, scopes=frozenset(scopes), label=label, created=now)
            with database.writing() as writer:
                made, text = make(writer, expires=until)
                audit.write(writer, now, replace(COMMAND, tenant=tenant), "make token", made.name)
            click.echo(text)
    finally:
        database.close()
    return 0


def _described(token: Token) -> dict[str, object]:
    return {
        "name": token.name,
        "tenant": token.tenant,
        "scopes": sorted(token.scopes),
        "label": token.label,
        "created": written_time(token.created),
        "expires": None if token.expires is None else written_time(token.expires),
    }
