"""Command `weft timeline`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.cli.errors import NO_MATCH
from weft.cli.memory.facts import to_time
from weft.cli.options import Session, verb
from weft.cli.output import console, escape, print_json
from weft.cli.terminal import say

if TYPE_CHECKING:
    from datetime import datetime

    from weft.records import Timeline


@verb(takes_several=True)
@click.argument("when", nargs=-1)
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Maximum entries.")
@click.option("--in", "prefix", default="", metavar="PATH", help="Only documents whose source begins with PATH.")
@click.option("--project", default="", metavar="FOLDER", help="Only conversations of this project.")
@click.option("--after", metavar="TIME", callback=to_time, help="Only conversations at this time or later.")
@click.option("--before", metavar="TIME", callback=to_time, help="Only conversations before this time.")
def timeline(
    session: Session,
    when: tuple[str, ...],
    limit: int,
    prefix: str,
    project: str,
    after: datetime | None,
    before: datetime | None,
) -> int:
    """
    Print what was said in a period, by day, newest first.

    WHEN is a time such as "last week", "since Monday" or 2026-03-01; without it, the latest two weeks with
    conversations are printed. Exits with 3 if nothing was said.
    """
    from weft.context.serialise import timeline_to_dict
    from weft.engine.paths import typed_source
    from weft.load.conversations.projects import PROJECT, find_project
    from weft.records import Filter

    with session.open() as engine:
        where = Filter(
            source_prefix=typed_source(prefix, store=engine.reader, base=engine.base),
            metadata=((PROJECT, find_project(project)),) if project else (),
            after=after,
            before=before,
        )
        found = engine.memory.timeline(" ".join(when), where=where, limit=limit)
    if session.as_json:
        print_json(timeline_to_dict(found))
    else:
        _print(session, found)
    return 0 if found.days else NO_MATCH


def _print(session: Session, found: Timeline) -> None:
    out = console()
    for number, day in enumerate(found.days):
        out.print(f"{'' if number == 0 else chr(10)}[bold]{day.day:%Y-%m-%d %A}[/]")
        for entry in day.entries:
            out.print(f"  [dim]{entry.time:%H:%M}[/]  {escape(entry.text)}")
            out.print(f"         [dim]{escape(entry.title)}[/]  [cyan]{escape(entry.citation)}[/]")
    if not found.days:
        say("no match")
    elif found.is_truncated and session.verbosity >= 0:
        say("further exchanges are left out: raise --limit, or name a shorter time", err=True)
