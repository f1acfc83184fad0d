"""`tidings`: finds the command, and turns whatever ends it into a message and an exit code.

Exit codes: 0 done, 1 some input was rejected and the rest processed, 2 nothing could be done, 130 interrupted, 141 the
reader of the output went away (what a shell reports for any program whose pipe is closed).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from tidings.cli.terminal import Terminal
from tidings.errors import TidingsError

INTERRUPTED = 130

# The help of every command without importing it: `tidings --help` and completion stay quick.
COMMANDS = {
    "match": "Which subscriptions match which events.",
    "ingest": "Feeds, tables, trees and documents to events.",
    "compile": "Subscriptions to an index that opens at once.",
    "check": "Every problem of every subscription.",
    "explain": "Why a subscription matches an event, or why not.",
    "serve": "The broker: publishers and subscribers meet, over HTTP.",
    "token": "Who may do what at a broker.",
    "backup": "What a broker has, into another folder, while it runs.",
    "template": "Subscriptions with parameters, kept by a server.",
    "mapping": "How data becomes events, kept by a server.",
    "subscribe": "Leave subscriptions with a server.",
    "publish": "Publish events to a server.",
    "listen": "What a subscription is told, as it comes.",
    "feeds": "The feeds that a server reads.",
    "status": "How a server does.",
    "pipeline": "Events as they come to notifications, on Spark.",
    "query": "The solutions of a query over the events of an archive.",
    "replay": "What subscriptions would have matched in an archive.",
    "archive": "Compact an archive, and forget events.",
    "bench": "The papers' workloads, measured here.",
    "demo": "A small world of auctions and publications, as a stream.",
    "completion": "The script that completes commands in a shell.",
}


class Group(click.Group):
    """The commands of `COMMANDS`, each in the module of its name, behind one boundary for errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = import_module(f"tidings.cli.{name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> NoReturn:
        _speak_utf8()
        try:
            result = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
            code = result if isinstance(result, int) else 0
        except click.ClickException as error:
            error.show()
            code = 2
        except TidingsError as error:
            Terminal().error(str(error))
            code = 2
        except (KeyboardInterrupt, click.Abort):
            code = INTERRUPTED
        except Exception as error:
            Terminal().fault(error)
            code = 2
        sys.exit(code)


def _speak_utf8() -> None:
    """UTF-8 whatever the locale; a file name that is no text becomes an escape, which JSON can hold."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Start with: tidings demo",
)
@click.version_option(package_name="tidings", prog_name="tidings", message="%(prog)s %(version)s")
def app() -> None:
    """Publish/subscribe that understands meaning: RDF events, standing graph patterns, ontologies, values and text."""
