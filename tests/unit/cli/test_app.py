"""The group: help, version, completion, and what becomes of errors nobody foresaw."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import Result

from tidings.cli import match
from tidings.cli.app import COMMANDS

Tidings = Callable[..., Result]


def test_version(tidings: Tidings) -> None:
    assert tidings("--version").stdout == f"tidings {version('tidings')}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, tidings: Tidings) -> None:
    result = tidings(name, "--help")
    assert result.exit_code == 0
    assert f"tidings {name}" in result.stdout.partition("Examples:")[2]
    assert "--quiet" in result.stdout
    assert "--verbose" in result.stdout


def test_help_lists_every_command_and_loads_none() -> None:
    script = "import sys; from tidings.cli import main\ntry: main()\nfinally: print('pyarrow' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", script, "--help"], capture_output=True, text=True, check=True)
    assert all(f"\n  {name} " in result.stdout for name in COMMANDS)
    assert result.stdout.splitlines()[-1] == "False"


def test_an_unknown_command_is_wrong_usage(tidings: Tidings) -> None:
    assert tidings("mach").exit_code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, tidings: Tidings) -> None:
    result = tidings("completion", shell)
    assert result.exit_code == 0
    assert "_TIDINGS_COMPLETE" in result.stdout


def test_completion_completes(monkeypatch: pytest.MonkeyPatch, tidings: Tidings) -> None:
    for name, value in {"_TIDINGS_COMPLETE": "bash_complete", "COMP_WORDS": "tidings mat", "COMP_CWORD": "1"}.items():
        monkeypatch.setenv(name, value)
    assert tidings().stdout == "plain,match\n"


def test_a_fault_is_one_line_and_a_traceback_only_on_request(
    monkeypatch: pytest.MonkeyPatch, tidings: Tidings, world: Path
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the roof fell in")

    monkeypatch.setattr(match, "take_subscriptions", broken)
    args = ("match", world / "subscriptions", world / "events.trig")
    result = tidings(*args)
    assert result.exit_code == 2
    fault = "this is a fault in tidings, not in your input: RuntimeError: the roof fell in"
    assert result.stderr == f"error: {fault} (-v shows where)\n"
    assert "Traceback" in tidings(*args, "-v").stderr


def test_an_interrupt_ends_quietly(monkeypatch: pytest.MonkeyPatch, tidings: Tidings, world: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(match, "take_subscriptions", interrupted)
    result = tidings("match", world / "subscriptions", world / "events.trig")
    assert (result.exit_code, result.stdout, result.stderr.strip()) == (130, "", "")
