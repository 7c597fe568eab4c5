"""Output shared by all verbs: JSON, tables, console markup, whole files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli.terminal import current_terminal, one_line, say, write_data

if TYPE_CHECKING:
    from rich.console import Console

NEW_FILE_MODE = 0o666
"""Mode of a new output file; the umask of the user applies."""


def console(*, err: bool = False) -> Console:
    """Return a console for stdout or stderr. In a pipe it is plain and does not wrap."""
    from rich.console import Console

    terminal = current_terminal()
    if terminal is not None:
        return Console(
            file=terminal.err if err else terminal.out,
            highlight=False,
            emoji=False,
            force_terminal=terminal.width is not None,
            no_color=True if terminal.width is None else None,
            width=terminal.width or 1_000_000,
            _environ=terminal.environment,
        )
    made = Console(highlight=False, emoji=False, stderr=err)
    plain = Console(highlight=False, emoji=False, stderr=err, no_color=True, width=1_000_000)
    return made if made.is_terminal else plain


def escape(value: object) -> str:
    """Return a value as one line of text, escaped for console markup."""
    from rich import markup

    return markup.escape(one_line(value))


def print_json(value: Any) -> None:
    """Print a value as indented JSON; non-ASCII characters are not escaped."""
    write_data(json.dumps(value, ensure_ascii=False, indent=2), nl=True)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under headings: a table on a terminal, tab-separated in a pipe."""
    out = console()
    if not out.is_terminal:
        for row in [columns, *rows]:
            say("\t".join(map(one_line, row)))
        return
    from rich.table import Table

    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        table.add_row(*map(escape, row))
    out.print(table)


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file atomically. Raise `InputError` if it cannot be written."""
    import shutil

    from weft.errors import InputError
    from weft.system.temporary_files import temporary_file

    target = path.resolve()
    try:
        if target.exists() and not target.is_file():  # a pipe or a device is written to, not replaced
            target.write_bytes(data)
            return
        with temporary_file(target, mode=NEW_FILE_MODE) as partial:
            partial.write_bytes(data)
            if target.exists():
                shutil.copymode(target, partial)
            partial.replace(target)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"cannot write {str(path)!r}: {reason}",
            hint=f"create the folder {str(path.parent)!r} and make it writable, or pass another path",
        ) from error
