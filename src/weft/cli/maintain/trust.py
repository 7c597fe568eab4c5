"""Command `weft trust`."""

from __future__ import annotations

from pathlib import Path

import click

from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.terminal import say


@verb()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option("--revoke", is_flag=True, help="Stop trusting the file.")
@click.option("--list", "is_list", is_flag=True, help="List trusted files.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
def trust(session: Session, file: Path | None, revoke: bool, is_list: bool, yes: bool) -> None:
    """
    Apply all settings of a project file.

    Without trust, only harmless settings apply. FILE is the nearest weft.toml by default. Trust ends when the file
    changes.
    """
    from weft.config import trust as trusted

    if is_list:
        _print_list(session, trusted.read_trusted())
        return
    path = _find(file)
    if revoke:
        found = trusted.revoke(path)
        say(f"{'no longer trusted' if found else 'not trusted'}: {path}")
        return
    restricted = _restricted(path)
    for key, value in restricted.items():
        say(f"  {key} = {value!r}")
    if restricted and not yes:
        from weft.cli.confirmation import require_consent

        require_consent(f"trust {path} with these settings?", done="changed", does="trusts the file")
    trusted.trust(path)
    say(f"trusted: {path}" + ("" if restricted else " (no setting in it needs trust)"))


def _find(file: Path | None) -> Path:
    from weft.config.read import find_project_file
    from weft.errors import InputError

    path = file or find_project_file(Path.cwd())
    if path is None:
        raise InputError("no weft.toml here or in a folder above", hint="pass the file: weft trust FILE")
    return path.resolve()


def _restricted(path: Path) -> dict[str, object]:
    """Return the settings of a file that need trust. Passwords in addresses are not shown."""
    from weft.config import shown
    from weft.config.read import read_values
    from weft.config.trust import is_restricted

    found = {key: value for key, value in read_values(path).items() if is_restricted(key, value, folder=path.parent)}
    return {key: shown(value) if isinstance(value, str) else value for key, value in found.items()}


def _print_list(session: Session, known: dict[str, str]) -> None:
    from weft.config.trust import is_trusted

    states = {path: Path(path).is_file() and is_trusted(Path(path)) for path in known}
    if session.as_json:
        print_json([{"file": path, "unchanged": state} for path, state in states.items()])
    for path, state in {} if session.as_json else states.items():
        say(f"{path}" + ("" if state else "  (changed or deleted since, not trusted)"))
