"""The command line: one file a command, loaded when it is called."""

from __future__ import annotations

from tidings.cli.app import app

__all__ = ["app", "main"]


def main() -> None:
    app.main(prog_name="tidings")
