"""What a person sees: messages, and a progress line, on stderr. Machine output on stdout is not touched here."""

from __future__ import annotations

import os
import re
import sys
import time
import traceback
from threading import Lock, Timer
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from tidings.errors import TidingsError

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
        self._progress = Progress(what, shown=not self.quiet and sys.stderr.isatty())
        return self._progress


class Progress:
    """A line with counts for what takes over two seconds, on a terminal; elsewhere nothing."""

    def __init__(self, what: str, shown: bool) -> None:
        self._what = what
        self._shown = shown
        self._counts = ""
        self._next = time.monotonic() + _PATIENCE
        self._bar: Bar | None = None
        self._lock = Lock()
        # The first count may be long in coming: the line does not wait for it.
        self._timer = Timer(_PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if self._shown:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._shown = False
        self.clear()

    def update(self, **counts: int) -> None:
        """Tell how far it is; cheap enough for every event."""
        if self._shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + _BETWEEN_UPDATES
            self._counts = "  ".join(f"{value:,} {name}" for name, value in counts.items())
            self._show()

    def clear(self) -> None:
        """Make way for a line of text on the same terminal; the next update brings it back."""
        with self._lock:
            if self._bar:
                self._bar.stop()
                self._bar = None

    def _show(self) -> None:
        with self._lock:
            if self._shown and self._bar is None:
                self._bar = _bar(self._what)
                self._bar.start()
            if self._bar:
                self._bar.update(TaskID(0), counts=self._counts)


def _bar(what: str) -> Bar:
    columns = (
        SpinnerColumn(),
        TextColumn(what),
        BarColumn(20),
        TextColumn("{task.fields[counts]}"),
        TimeElapsedColumn(),
    )
    # Left alone, rich would send what is written to stdout to its own console, which is stderr.
    bar = Bar(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)
    bar.add_task(what, total=None, counts="")
    return bar


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
