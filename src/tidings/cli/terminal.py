"""What a person sees: messages, and a progress line, on stderr. Machine output on stdout is not touched here."""

from __future__ import annotations

import os
import re
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

import click

from tidings.errors import TidingsError

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

PIPE_CLOSED = 141
_PATIENCE = 2.0
_BETWEEN_UPDATES = 0.1
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
        click.echo(f"{styled(label, colour)}: {printable(message)}", err=True)

    def progress(self, what: str) -> Progress:
        return Progress(what, shown=not self.quiet and sys.stderr.isatty())


class Progress:
    """A line with counts for what takes over two seconds, on a terminal; elsewhere nothing."""

    def __init__(self, what: str, shown: bool) -> None:
        self._what = what
        self._shown = shown
        self._next = time.monotonic() + _PATIENCE
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def update(self, **counts: int) -> None:
        """Tell how far it is; cheap enough for every event."""
        if not self._shown or time.monotonic() < self._next:
            return
        bar = self._bar or self._start()
        assert self._task is not None
        bar.update(self._task, counts="  ".join(f"{value:,} {name}" for name, value in counts.items()))
        self._next = time.monotonic() + _BETWEEN_UPDATES

    def clear(self) -> None:
        """Make way for a line of output where both go to one terminal; the next update brings it back."""
        if self._bar and sys.stdout.isatty():
            self._bar.stop()
            self._bar = None

    def _start(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (SpinnerColumn(), TextColumn(self._what), BarColumn(20), TextColumn("{task.fields[counts]}"))
        self._bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._what, total=None, counts="")
        self._bar.start()
        return self._bar


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
            # Keep the interpreter from flushing into the closed pipe, and complaining, on its way out.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return PIPE_CLOSED
        except Exception as error:
            terminal.fault(error)
            return 2
