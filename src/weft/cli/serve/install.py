"""Command `weft install`."""

from __future__ import annotations

import shlex
from importlib.util import find_spec

import click

from weft.cli.confirmation import require_consent
from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.terminal import say
from weft.daemon.events import SCOPES
from weft.text.plurals import counted

HOSTS = (
    "claude-code", "claude-desktop", "codex", "cursor", "gemini-cli", "opencode", "vscode", "windsurf", "zed",
)  # fmt: skip


@verb()
@click.argument("host", type=click.Choice(HOSTS))
@click.option("--undo", is_flag=True, help="Remove the entries of Weft.")
@click.option(
    "--scope", type=click.Choice(SCOPES), default=SCOPES[0], show_default=True, help="Where hooks search for a prompt."
)
@click.option("--dry-run", is_flag=True, help="Print the changes; write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Write without confirmation.")
def install(session: Session, host: str, undo: bool, scope: str, dry_run: bool, yes: bool) -> None:
    """
    Register Weft as an MCP server with an agent host.

    Prints the changes to the host's settings and asks for confirmation. The server uses the store and the namespace of
    this command. A skill file tells the agent when to search and what to save. Hosts with hooks also get commands that
    add passages and facts to prompts and index transcripts.
    """
    from weft.admin.hosts.catalog import find_hosts
    from weft.admin.hosts.install import apply_install, apply_undo, is_installed, plan_install, plan_undo
    from weft.config import find_path, shown
    from weft.errors import InputError

    store = session.settings().store
    if shown(store.db) != store.db:
        raise InputError(
            "the settings of a host would contain the password of the store",
            hint="put the password into ~/.pgpass, and leave it out of --db",
        )
    path = find_path(store.db)
    arguments = ["--db", str(path.absolute()) if path else store.db, "--namespace", store.namespace]
    if undo and not is_installed(host):
        raise click.UsageError(f"Weft is not installed in {host}: run `weft install {host}`")
    found = find_hosts()[host]
    changes = plan_undo(host, found) if undo else plan_install(found, arguments=arguments, scope=scope)
    if session.as_json:
        print_json([{"path": str(change.path), "diff": change.diff()} for change in changes])
    else:
        for change in changes:
            say(change.diff())
    if not undo and find_spec("mcp") is None:
        say("note: the MCP server is not installed; run pip install 'weft-search[mcp]'", err=True)
    if dry_run:
        return
    if changes and not yes:
        require_consent(f"write {counted(len(changes), 'file')}?", done="written", does="writes")
    if undo:
        apply_undo(host, changes)
    else:
        apply_install(host, changes, skill=found.skill)
    if session.verbosity >= 0 and not session.as_json:
        done = "restored" if undo else "changed"
        say(f"{done} {counted(len(changes), 'file')}" if changes else "nothing to change", err=True)
        if not undo:
            status = shlex.join(["weft", "hook", "status", *arguments])
            how = f"{status} shows what is captured" if found.hooks else "its list of MCP servers shows weft"
            say(f"next: restart {found.title} and send a prompt; {how}", err=True)
