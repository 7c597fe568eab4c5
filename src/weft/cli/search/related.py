"""Command `weft related`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.cli.errors import NO_MATCH
from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.terminal import one_line, say

if TYPE_CHECKING:
    from weft.records import RelatedDocument


@verb(takes_several=True)
@click.argument("name")
@click.option(
    "-n", "--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="Maximum number of documents."
)
def related(session: Session, name: str, limit: int) -> int:
    """
    List the documents related to a document, a chunk or an entity.

    NAME is the source or the id of a document, the citation or the id of a chunk, or the name of an entity. Each line
    has the reasons: the cosine of the nearest chunk, stated relations and shared names. Exits with 3 if there is none.
    """
    from weft.context.serialise import related_to_dict
    from weft.engine.paths import typed_source

    with session.open() as engine:
        found = engine.related(typed_source(name, store=engine.reader, base=engine.base), limit=limit)
        citations = [engine.cite(item.chunk.id) for item in found]
    if session.as_json:
        print_json([related_to_dict(item, citation) for item, citation in zip(found, citations, strict=True)])
    elif found:
        for rank, (item, citation) in enumerate(zip(found, citations, strict=True), 1):
            say(one_line(f"{rank}. {citation}  {item.document.title}"))
            say(one_line(f"   {_reasons(item)}"))
    elif session.verbosity >= 0:
        say("no related documents", err=True)
    return 0 if found else NO_MATCH


def _reasons(item: RelatedDocument) -> str:
    near = [] if item.cosine is None else [f"cosine {item.cosine:.2f}"]
    stated = [f"{step.source} —{step.type}→ {step.target}" for step in item.relations]
    shared = [f"shares {', '.join(item.shared)}"] if item.shared else []
    return "; ".join([*near, *stated, *shared])
