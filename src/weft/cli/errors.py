"""Error reports of the command line: exit codes by error class, message and hint on stderr."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

import click

from weft.cli.terminal import say
from weft.errors import ConfigError, WeftError

NO_MATCH = 3
"""Exit code for no confident match."""

EXIT_CODES: dict[type[WeftError], int] = {ConfigError: 2}
"""Exit codes by error class; every other error exits with 1."""


def run_reporting(
    command: click.Command, *, arguments: Sequence[str] | None = None, session: object | None = None
) -> int:
    """
    Run a command and return its exit code. Errors of the user print a message, never a traceback.

    `arguments` are by default those of this process; `session` receives the global options.
    """
    output = sys.stdout
    try:
        code = command.main(args=None if arguments is None else list(arguments), standalone_mode=False, obj=session)
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
        say("\ninterrupted; completed work is kept", err=True)
        return 130
    except BrokenPipeError:
        return _discard_output()
    except SystemExit as error:
        # Both libraries turn a broken pipe into an exit with 1: click replaces stdout, rich exits inside the handler.
        if sys.stdout is output and not isinstance(error.__context__, BrokenPipeError):
            raise
        return _discard_output()
    except OSError as error:  # an unreadable path, a full disk
        about = f"{error.filename!r}: " if error.filename is not None else ""
        say(f"{about}{error.strerror or error}", label="error: ", colour="red", err=True)
        return 1


def report(error: WeftError) -> None:
    """Print the message and the hint of an error to stderr."""
    say(str(error), label="error: ", colour="red", err=True)
    if error.hint:
        say(error.hint, label="hint: ", colour="yellow", err=True)


def _discard_output() -> int:
    """Return the exit code after the reader closed the pipe, as `head` does. Later output is discarded."""
    # without this, Python reports the error again when it flushes stdout at exit
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
