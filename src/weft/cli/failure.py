"""Errors at the command line: one table from class to exit code, message and hint on stderr."""

from __future__ import annotations

import io
import os
import sys

import click

from weft.cli.terminal import say
from weft.errors import ConfigError, WeftError

NO_MATCH = 3
"""There is no confident match."""

EXIT_CODES: dict[type[WeftError], int] = {ConfigError: 2}
"""Everything else is 1."""


def run_reporting(command: click.Command) -> int:
    """Run a command and return its exit code; nothing a user can cause shows a traceback."""
    try:
        code = command.main(standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except WeftError as error:
        report(error)
        return next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), 1)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        written = io.StringIO()
        error.show(written)
        say(written.getvalue(), err=True, nl=False)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("\ninterrupted; what was reported as done is kept", err=True)
        return 130
    except BrokenPipeError:
        # whoever read our output has gone, as `head` does; Python would complain again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a path that cannot be looked at, a disk that is full
        about = f"{error.filename!r}: " if error.filename is not None else ""
        say(f"{about}{error.strerror or error}", label="error: ", colour="red", err=True)
        return 1


def report(error: WeftError) -> None:
    """Print what is wrong and what to do about it."""
    say(str(error), label="error: ", colour="red", err=True)
    if error.hint:
        say(error.hint, label="hint: ", colour="yellow", err=True)
