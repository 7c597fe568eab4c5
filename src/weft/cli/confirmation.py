"""Asking before something is deleted or merged."""

from __future__ import annotations

import click

from weft.cli.terminal import say
from weft.errors import ConfigError


def require_consent(question: str, *, done: str = "deleted", does: str = "deletes") -> None:
    """
    Ask on the terminal, and go on only after a yes.

    A no ends the command. Where nobody can answer, because standard input is at its end, a `ConfigError` names `--yes`.
    """
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort as error:
        if not isinstance(error.__context__, EOFError):
            raise
        say("", err=True)
        hint = f"--yes {does} without asking"
        raise ConfigError(f"nothing was {done}, because nobody said yes", hint=hint) from None
    if not agreed:
        say(f"nothing was {done}", err=True)
        raise click.exceptions.Exit(1)
