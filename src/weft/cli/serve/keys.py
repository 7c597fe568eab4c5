"""Command `weft keys …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.cli.options import Session, common_options, verb
from weft.cli.output import print_json, print_table
from weft.cli.terminal import one_line, say

if TYPE_CHECKING:
    from weft.records import Access


@click.group()
@common_options
def keys() -> None:
    """Create, list and revoke API keys."""


@verb()
@click.argument("name", default="")
@click.option("--for", "namespaces", multiple=True, metavar="NAMESPACE", help="Namespace (repeatable).")
@click.option("--write", "access", flag_value="write", help="Allow reading and writing (default: reading only).")
@click.option("--admin", "access", flag_value="admin", help="Also allow managing keys of its namespaces over HTTP.")
def create(session: Session, name: str, namespaces: tuple[str, ...], access: Access | None) -> None:
    """
    Create a key and print it. It cannot be shown again.

    Without --for the key is valid for the current namespace. Once a key exists, `weft serve` and `weft mcp --http`
    require one from every client.
    """
    from weft.context.serialise import key_to_dict
    from weft.engine.api_keys import Keyring

    with session.open(must_exist=False) as engine:
        bound = namespaces or (engine.settings.store.namespace,)
        key, text = Keyring(engine.database).create(name, namespaces=bound, access=access or "read")
    if session.as_json:
        print_json({**key_to_dict(key), "key": text})
        return
    say(text)
    if session.verbosity >= 0:
        say(f"{key.access} {', '.join(key.namespaces)}; revoke with: weft keys revoke {key.id}", err=True)


@verb("list")
def list_keys(session: Session) -> None:
    """List keys, including revoked ones. The secrets are not stored."""
    from weft.context.serialise import key_to_dict
    from weft.engine.api_keys import Keyring

    with session.open(notes_namespace=False) as engine:
        found = [key_to_dict(key) for key in Keyring(engine.database).all()]
    if session.as_json:
        print_json(found)
    else:
        rows = [(k["id"], k["name"], k["access"], ", ".join(k["namespaces"]), k["revoked"] or "") for k in found]
        print_table(("id", "name", "access", "namespaces", "revoked"), rows)


@verb()
@click.argument("id")
@click.option("--forget", is_flag=True, help="Also delete the record of the key.")
def revoke(session: Session, id: str, forget: bool) -> None:
    """Revoke the key ID. Running servers refuse it at once."""
    from weft.context.serialise import key_to_dict
    from weft.engine.api_keys import Keyring

    with session.open(notes_namespace=False) as engine:
        ring = Keyring(engine.database)
        key = ring.revoke(id)
        if forget:
            ring.forget(id)
    if session.as_json:
        print_json(key_to_dict(key))
    elif session.verbosity >= 0:
        say(one_line(f"revoked {key.id} {key.name}".rstrip()), err=True)


for command in (create, list_keys, revoke):
    keys.add_command(command)
