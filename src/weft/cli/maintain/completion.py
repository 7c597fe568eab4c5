"""Command `weft completion`."""

from __future__ import annotations

import click

from weft.cli.options import Session, verb
from weft.cli.terminal import write_data


@verb()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(session: Session, shell: str) -> None:
    """
    Print the completion script of a shell.

    Example: weft completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    from weft.cli.main import weft

    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"unsupported shell {shell!r}: use bash, zsh or fish")
    write_data(kind(weft, {}, "weft", "_WEFT_COMPLETE").source(), nl=True)
