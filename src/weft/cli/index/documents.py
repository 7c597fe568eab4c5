"""Commands `weft get`, `weft list`, `weft delete`."""

from __future__ import annotations

import click

from weft.cli.confirmation import require_consent
from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_table
from weft.cli.terminal import one_line, say
from weft.text.plurals import counted


@verb(takes_several=True)
@click.argument("name")
def get(session: Session, name: str) -> None:
    """
    Print a document or a chunk.

    NAME is the source or the id of a document, the id of a chunk, or a citation such as notes/a.md:3-9.
    """
    from weft.context.serialise import chunk_to_dict, document_to_dict
    from weft.engine.paths import typed_source
    from weft.records import UNIT_MARKS

    with session.open() as engine:
        document, chunks = engine.get(typed_source(name, store=engine.reader, base=engine.base))
    if session.as_json:
        print_json({**document_to_dict(document), "chunks": [chunk_to_dict(chunk) for chunk in chunks]})
        return
    say(f"{one_line(document.title)}\n{one_line(document.source)}  {document.id}")
    for key, value in document.metadata.items():
        say(one_line(f"{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}"))
    for chunk in chunks:
        mark = UNIT_MARKS[document.unit]
        heading = one_line(" › ".join(chunk.heading))
        say(f"\n[{mark}{chunk.start_line}-{chunk.end_line}] {heading}  {chunk.id}\n{chunk.text}")


@verb("list")
@click.option("--in", "prefix", default="", metavar="PATH", help="Only sources that begin with PATH.")
@click.option("--limit", type=click.IntRange(1), help="Maximum number of documents.")
def list_documents(session: Session, prefix: str, limit: int | None) -> None:
    """List documents by source."""
    from itertools import islice

    from weft.context.serialise import document_to_dict
    from weft.engine.paths import typed_source
    from weft.records import Filter

    with session.open() as engine:
        source = typed_source(prefix, store=engine.store, base=engine.base)
        found = list(islice(engine.documents(Filter(source_prefix=source)), limit))
    if session.as_json:
        print_json([document_to_dict(document) for document in found])
    else:
        print_table(("source", "title", "chunks", "id"), [(d.source, d.title, d.chunk_count, d.id) for d in found])


@verb()
@click.argument("names", nargs=-1, required=True)
@click.option("-y", "--yes", is_flag=True, help="Delete without confirmation.")
def delete(session: Session, names: tuple[str, ...], yes: bool) -> None:
    """
    Delete documents and all data derived from them.

    NAMES are sources or ids of documents. The source of a folder or file selects every document in it. Asks for
    confirmation before deleting more than one document.
    """
    from weft.engine.paths import get_named, typed_source

    with session.open() as engine:
        names = tuple(typed_source(name, store=engine.store, base=engine.base) for name in names)
        count = len(set(get_named(names, store=engine.store)))
        if count > 1 and not yes:
            require_consent(f"delete {counted(count, 'document')}: {', '.join(map(repr, names))}?")
        count = engine.delete(*names)
    if session.as_json:
        print_json({"deleted": count})
    elif session.verbosity >= 0:
        say(f"deleted {counted(count, 'document')}", err=True)
