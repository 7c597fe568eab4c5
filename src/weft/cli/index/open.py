"""Command `weft open`."""

from __future__ import annotations

from pathlib import Path

import click

from weft.cli.options import Session, check_single, verb
from weft.cli.output import print_json
from weft.cli.terminal import write_data


@verb("open", takes_several=True)
@click.argument("name")
@click.option("--print", "prints", is_flag=True, help="Print the path and the line, and open nothing.")
def open_citation(session: Session, name: str, prints: bool) -> int:
    """
    Open a citation in the editor.

    NAME is a citation such as notes/a.md:3-9, the path of a document with or without a line, or the id of a document
    or chunk. The editor is editor.command, else VISUAL, else EDITOR. Files that are not indexed are refused.
    """
    from weft.admin.editor import editor_command
    from weft.admin.source_files import find_source_file
    from weft.errors import InputError
    from weft.processes.child import run_in_terminal

    check_single(session, options=["store.db"])
    with session.open() as engine:
        place = find_source_file(name, store=engine.reader, base=engine.base)
        settings = engine.settings
    if session.as_json:
        print_json({"path": str(place.path), "line": place.line})
    elif prints:
        write_data(f"{place.path}:{place.line}" if place.line is not None else str(place.path), nl=True)
    if prints or session.as_json:
        return 0
    command = editor_command(settings, place)
    try:
        code = run_in_terminal(command, folder=Path.cwd())
    except OSError as error:
        raise InputError(
            f"cannot start {command[0]!r}: {error.strerror or error}", hint="check editor.command"
        ) from error
    if code:
        raise InputError(f"{command[0]!r} exited with {code}", hint="check editor.command")
    return 0
