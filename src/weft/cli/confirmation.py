"""Confirmation before deleting or merging."""

from __future__ import annotations

import click

from weft.cli.terminal import say
from weft.errors import ConfigError


def require_consent(question: str, *, done: str = "deleted", does: str = "deletes") -> None:
    """
    Ask for confirmation on the terminal; return only if the user agrees.

    The command exits with 1 if the user declines. Raises `ConfigError` at the end of standard input; its hint names
    `--yes`.
    """
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort as error:
        if not isinstance(error.__context__, EOFError):
            raise
        say("", err=True)
        hint = f"pass --yes, which {does} without confirmation"
        raise ConfigError(f"nothing was {done}: confirmation is required", hint=hint) from None
    if not agreed:
        say(f"nothing was {done}", err=True)
        raise click.exceptions.Exit(1)
