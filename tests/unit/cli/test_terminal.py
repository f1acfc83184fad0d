"""Messages and progress: safe to print, and silent where nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import StringIO
from threading import Event

import pytest

from tidings.cli import progress as progress_module
from tidings.cli.run import telling_of_compiling
from tidings.cli.terminal import Terminal, printable
from tidings.index.kernels import jit
from tidings.match.registry import create
from tidings.ontology import Ontology


class Screen(StringIO):
    def isatty(self) -> bool:
        return True


def test_control_characters_are_escaped_and_long_lines_cut() -> None:
    assert printable("a\x1b[2Jb\x00\u202e\tc\nd") == "a\\u001b[2Jb\\u0000\\u202e\tc\nd"
    assert len(printable("x" * 5000)) == 401


def test_quiet_keeps_errors_only(capsys: pytest.CaptureFixture[str]) -> None:
    quiet = Terminal(quiet=True, verbose=True)
    quiet.warning("w")
    quiet.detail("d")
    quiet.error("e")
    assert capsys.readouterr().err == "error: e\n"


def test_no_progress_where_nobody_looks(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "_PATIENCE", -1.0)
    with Terminal().progress("matching") as progress:
        progress.update(events=1)
    assert capsys.readouterr().err == ""


def test_no_progress_for_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with Terminal().progress("matching") as progress:
        progress.update(events=1)
    assert screen.getvalue() == ""


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, output = Screen(), StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(progress_module, "_PATIENCE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with Terminal().progress("matching") as progress:
        progress.update(events=1234, matches=5)
        sys.stdout.write("a line of output\n")
    assert "1,234 events  5 matches" in screen.getvalue()
    assert output.getvalue() == "a line of output\n"


def test_the_line_says_when_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress_module, "_PATIENCE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    listeners: list[Callable[[str], None]] = []
    monkeypatch.setattr(jit, "_LISTENERS", listeners)
    core = create("fast", Ontology.empty())
    with Terminal().progress("matching") as progress, telling_of_compiling(core, progress):
        [tell] = listeners
        tell("match_lines")
    assert "compiling the matcher, this once: match_lines" in screen.getvalue()
    assert not listeners
    with Terminal().progress("matching") as progress, telling_of_compiling(create("naive", Ontology.empty()), progress):
        assert not listeners


def test_the_line_does_not_wait_for_the_first_count(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, shown = Screen(), Event()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress_module, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress_module.Progress, "_show", lambda self: shown.set())
    with Terminal().progress("matching"):
        assert shown.wait(10)


def test_a_message_clears_the_line_first(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress_module, "_PATIENCE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    terminal = Terminal()
    with terminal.progress("matching") as progress:
        progress.update(events=1)
        terminal.error("broken")
        assert screen.getvalue().split("\n")[-2].endswith(": broken")
