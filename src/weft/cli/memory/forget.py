"""Command `weft forget`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from weft.cli.confirmation import require_consent
from weft.cli.memory.facts import to_time
from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_table
from weft.cli.terminal import one_line, say
from weft.errors import InputError
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.admin.forget import Forgettable
    from weft.admin.stored_secrets import StoredSecrets

MAX_LISTED = 20
"""Maximum number of documents and of facts in the preview."""


@verb()
@click.option("--conversation", default="", metavar="ID", help="Conversation with this id or source.")
@click.option("--before", metavar="TIME", callback=to_time, help="Conversations that ended before this time.")
@click.option("--matching", default="", metavar="TEXT", help="Documents and facts that contain this text.")
@click.option("--secrets", is_flag=True, help="Mask secrets in stored documents; delete facts that contain one.")
@click.option("--dry-run", is_flag=True, help="List the documents and facts; delete nothing.")
@click.option("-y", "--yes", is_flag=True, help="Delete without confirmation.")
def forget(
    session: Session,
    conversation: str,
    before: datetime | None,
    matching: str,
    secrets: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """
    Erase conversations, all that contains a text, or secrets.

    Lists the documents and facts, asks for confirmation, deletes them from the store and the model caches, and compacts
    the store. With --secrets, documents stay and only the values of passwords, keys and tokens are replaced.
    """
    if secrets:
        if conversation or before or matching.strip():
            raise InputError(
                "--secrets selects all documents and facts", hint="pass --secrets without other selections"
            )
        _forget_secrets(session, dry_run=dry_run, yes=yes)
        return
    if not (conversation or before or matching.strip()):
        raise InputError("nothing is selected", hint="pass --conversation, --before, --matching or --secrets")
    from weft.admin.forget import Selection, find_forgettable
    from weft.admin.forget import forget as erase

    with session.open() as engine:
        found = find_forgettable(engine, Selection(conversation=conversation, before=before, matching=matching))
        if not session.as_json:
            _print_preview(found)
        if found and not dry_run:
            if not yes:
                require_consent("delete them permanently?")
            erase(engine, found)
    deleted = bool(found) and not dry_run
    if session.as_json:
        sources = [document.source for document in found.documents]
        print_json({"documents": sources, "facts": [fact.id for fact in found.facts], "deleted": deleted})
    elif deleted and session.verbosity >= 0:
        say("deleted; a later import of the same export adds the conversations again", err=True)


def _forget_secrets(session: Session, *, dry_run: bool, yes: bool) -> None:
    from weft.admin.stored_secrets import erase_secrets, find_stored_secrets

    with session.open() as engine:
        found = find_stored_secrets(engine)
        if not session.as_json:
            _print_secrets(found)
        if found and not dry_run:
            if not yes:
                require_consent("erase the secrets permanently?")
            erase_secrets(engine, found)
    erased = bool(found) and not dry_run
    if session.as_json:
        documents, facts = (
            [{"id": i.id, "name": i.name, "kinds": i.kinds} for i in part] for part in (found.documents, found.facts)
        )
        print_json({"documents": documents, "facts": facts, "erased": erased})
    elif erased and session.verbosity >= 0:
        say("erased; rotate these secrets, because copies may exist elsewhere", err=True)


def _print_secrets(found: StoredSecrets) -> None:
    if not found:
        say("no secrets are stored", err=True)
        return
    say(f"{counted(len(found.documents), 'document')}, {counted(len(found.facts), 'fact')}", err=True)
    print_table(
        ("id", "name", "secrets"), [(i.id, i.name, ", ".join(i.kinds)) for i in (*found.documents, *found.facts)]
    )


def _print_preview(found: Forgettable) -> None:
    if not found:
        say("nothing matches", err=True)
        return
    say(f"{counted(len(found.documents), 'document')}, {counted(len(found.facts), 'fact')}", err=True)
    documents = [
        (document.source, document.title, document.metadata.get("start", ""), document.metadata.get("end", ""))
        for document in found.documents[:MAX_LISTED]
    ]
    if documents:
        print_table(("source", "title", "start", "end"), documents)
    for fact in found.facts[:MAX_LISTED]:
        say(one_line(f"{fact.id}  {fact.subject_name} {fact.predicate} {fact.value}"))
    hidden = max(0, len(found.documents) - MAX_LISTED) + max(0, len(found.facts) - MAX_LISTED)
    if hidden:
        say(f"and {hidden:,} more", err=True)
