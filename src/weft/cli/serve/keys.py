"""`weft keys …`."""

from __future__ import annotations

import click

from weft.cli.options import Session, common_options, verb
from weft.cli.output import print_json, print_table
from weft.cli.terminal import one_line, say
from weft.context.serialise import key_to_dict
from weft.engine.api_keys import Keyring


@click.group()
@common_options
def keys() -> None:
    """Make, list and revoke keys for doors that others can reach."""


@verb()
@click.argument("name", default="")
@click.option("--for", "namespaces", multiple=True, metavar="NAMESPACE", help="What it opens; repeatable.")
@click.option("--write", is_flag=True, help="It may also write (default: it may only read).")
def create(session: Session, name: str, namespaces: tuple[str, ...], write: bool) -> None:
    """
    Make a key, called NAME, and print it: it cannot be shown again.

    Without --for it opens the namespace in force. From the first key on, `weft serve` asks everybody for one.
    """
    with session.open(must_exist=False) as engine:
        bound = namespaces or (engine.settings.store.namespace,)
        key, text = Keyring(engine.database).create(name, namespaces=bound, access="write" if write else "read")
    if session.as_json:
        print_json({**key_to_dict(key), "key": text})
        return
    say(text)
    if session.verbosity >= 0:
        say(f"{key.access} {', '.join(key.namespaces)}; revoke it with: weft keys revoke {key.id}", err=True)


@verb("list")
def list_keys(session: Session) -> None:
    """List keys, revoked ones too; what opens is not known any more."""
    with session.open() as engine:
        found = [key_to_dict(key) for key in Keyring(engine.database).all()]
    if session.as_json:
        print_json(found)
    else:
        rows = [(k["id"], k["name"], k["access"], ", ".join(k["namespaces"]), k["revoked"] or "") for k in found]
        print_table(("id", "name", "access", "namespaces", "revoked"), rows)


@verb()
@click.argument("id")
@click.option("--forget", is_flag=True, help="Remove it from the list too. Without any key, loopback is open again.")
def revoke(session: Session, id: str, forget: bool) -> None:
    """Let the key ID open nothing from now on; servers under way notice at once."""
    with session.open() as engine:
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
