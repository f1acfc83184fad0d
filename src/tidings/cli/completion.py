"""`tidings completion`: the script a shell loads to complete commands, options and file names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from tidings.cli.terminal import Command

_EXAMPLE = """
eval "$(tidings completion bash)"                                          # in ~/.bashrc
eval "$(tidings completion zsh)"                                           # in ~/.zshrc
tidings completion fish > ~/.config/fish/completions/tidings.fish
"""


@click.command(cls=Command, example=_EXAMPLE)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL."""
    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(ctx.find_root().command, {}, "tidings", "_TIDINGS_COMPLETE").source())
