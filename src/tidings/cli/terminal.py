"""What a person sees: messages, and a progress line, on stderr. Machine output on stdout is not touched here."""

from __future__ import annotations

import os
import re
import sys
import traceback
from typing import TYPE_CHECKING, Any

import click

from tidings.errors import TidingsError

if TYPE_CHECKING:
    from tidings.cli.progress import Progress

PIPE_CLOSED = 141
_LONGEST_LINE = 400
# A message may quote hostile input: nothing in it may steer the terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """`text` with control characters escaped and long lines cut."""
    escaped = _CONTROL.sub(lambda m: f"\\u{ord(m[0]):04x}", text)
    return "\n".join(line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in escaped.split("\n"))


def styled(text: str, colour: str) -> str:
    """`text` in bold colour, unless the user wants none; `click.echo` takes it out again where no terminal reads."""
    return text if "NO_COLOR" in os.environ else click.style(text, fg=colour, bold=True)


class Terminal:
    """Messages on stderr. `quiet` leaves errors alone; `verbose` adds what the program is doing."""

    def __init__(self, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self._progress: Progress | None = None

    def error(self, message: str) -> None:
        self._say("error", message, "red")

    def warning(self, message: str) -> None:
        if not self.quiet:
            self._say("warning", message, "yellow")

    def detail(self, message: str) -> None:
        if self.verbose and not self.quiet:
            self._say("tidings", message, "cyan")

    def fault(self, error: Exception) -> None:
        """An error that nobody foresaw."""
        if self.verbose:
            traceback.print_exception(error)
        reason = "out of memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"
        hint = "" if self.verbose else " (-v shows where)"
        self.error(f"this is a fault in tidings, not in your input: {reason}{hint}")

    def _say(self, label: str, message: str, colour: str) -> None:
        if self._progress:
            self._progress.clear()
        click.echo(f"{styled(label, colour)}: {printable(message)}", err=True)

    def progress(self, what: str) -> Progress:
        from tidings.cli.progress import Progress

        self._progress = Progress(what, shown=not self.quiet and sys.stderr.isatty())
        return self._progress


class Command(click.Command):
    """A command with `-q` and `-v`, an example in its help, and no traceback for anybody who did not ask for one.

    The callback gets its `Terminal` with `click.pass_obj` and returns the exit code.
    """

    def __init__(self, *args: Any, example: str = "", **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.example = example
        self.params += [
            click.Option(["-q", "--quiet"], is_flag=True, help="Errors only: no warnings, no progress."),
            click.Option(["-v", "--verbose"], is_flag=True, help="Tell what is being done; show tracebacks."),
        ]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for line in self.example.strip().splitlines():
                formatter.write(f"  {line.strip()}\n")

    def invoke(self, ctx: click.Context) -> Any:
        terminal = Terminal(ctx.params.pop("quiet"), ctx.params.pop("verbose"))
        ctx.obj = terminal
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except (TidingsError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            _discard_output()
            return PIPE_CLOSED
        except OSError as error:
            # Reading has messages of its own; what is left is the output, for instance on a full disk.
            terminal.error(f"cannot go on: {error.strerror or error}")
            _discard_output()
            return 2
        except Exception as error:
            terminal.fault(error)
            return 2


def _discard_output() -> None:
    """Keep the interpreter from flushing into a closed pipe or a full disk, and complaining, on its way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
