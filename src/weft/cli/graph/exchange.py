"""Commands `weft import` and `weft export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from weft.cli.options import Session, verb
from weft.cli.output import print_json, write_whole
from weft.cli.progress import CountBar
from weft.cli.terminal import one_line, say, write_data
from weft.exchange.file_formats import GraphForm, WriteForm
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.engine.engine import Engine
    from weft.records import GivenGraph, ImportReceipt

SUFFIXES: dict[str, WriteForm] = {
    ".jsonl": "triples",
    ".csv": "triples-csv",
    ".json": "lightrag",
    ".graphml": "graphml",
}
MAX_LISTED_SKIPS = 10
"""Maximum number of skipped records printed; --json lists all."""


@verb("import")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--format", "form", type=click.Choice(get_args(GraphForm)), help="Format of FILE (default: detected).")
@click.option("--name", default="", metavar="NAME", help="Name of the import (default: path of FILE).")
@click.option("--remove", is_flag=True, help="Remove the import and everything it added.")
@click.option(
    "--as",
    "kind",
    type=click.Choice(["facts", "documents"]),
    help="Import a memory file as facts (default) or documents.",
)
def import_file(
    session: Session, file: Path | None, form: GraphForm | None, name: str, remove: bool, kind: str | None
) -> None:
    """
    Import a graph or a memory file.

    Formats: triples, OpenIE, LightRAG, GraphML, and the memory file of an MCP memory server. A memory file becomes
    facts, as with `weft fact import`; the other formats always become a graph.

    Data about indexed documents is added to their chunks. Other data becomes new documents, which are embedded.
    Importing the same file again changes nothing; a changed file replaces its earlier import. The graph is imported
    even if `graph.extractor` is `none`.
    """
    if file is None and not (remove and name):
        raise click.UsageError("FILE is missing: pass FILE, or --remove with --name")
    if remove:
        _remove(session, file, name)
        return
    assert file is not None
    with session.open(must_exist=False) as engine:
        if _becomes_facts(file, form=form, name=name, kind=kind):
            from weft.admin.exchange_facts import import_facts
            from weft.cli.memory.fact_files import report_import

            report_import(session, file, import_facts(engine, file, form="memory"))
            return
        receipt = _import(session, engine, file, form=form, name=name)
    _report(session, receipt)


@verb("export")
@click.argument("file", default="-", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option(
    "--format", "form", type=click.Choice(get_args(WriteForm)), help="Format of FILE (default: by its suffix)."
)
@click.option("--derived", is_flag=True, help="Include relations derived from co-occurring names.")
@click.option("--facts", is_flag=True, help="Include valid facts that link two entities, as relations.")
def export_file(session: Session, file: Path, form: WriteForm | None, derived: bool, facts: bool) -> None:
    """
    Export the graph to a file or standard output.

    The suffix of FILE selects the format: .jsonl triples, .csv triples-csv, .json lightrag, .graphml graphml.
    Standard output gets triples. An existing file is replaced atomically.
    """
    from weft.exchange.write import write_graph

    form = form or _choose_form(file)
    with session.open() as engine:
        graph = _export(session, engine, form=form, derived=derived, facts=facts)
    data = write_graph(graph, form=form).encode("utf-8")
    if file == Path("-"):
        write_data(data)
        return
    write_whole(file, data)
    if session.as_json:
        counts = {"entities": len(graph.entities), "relations": len(graph.relations), "passages": len(graph.passages)}
        print_json({"file": str(file), "format": form, **counts, "bytes": len(data)})
    elif session.verbosity >= 0:
        counted = f"{len(graph.entities):,} entities, {len(graph.relations):,} relations"
        say(f"wrote {file}: {counted} as {form} ({len(data):,} bytes)", err=True)


def _becomes_facts(file: Path, *, form: GraphForm | None, name: str, kind: str | None) -> bool:
    """Return True if a file is imported as facts. Raise `click.UsageError` for options that facts do not support."""
    from weft.exchange.read import find_form

    if kind != "facts" and (kind is not None or (form or find_form(file)) != "memory"):
        return False
    if form not in (None, "memory"):
        raise click.UsageError(f"--as facts requires --format memory, got {form}")
    if name:
        raise click.UsageError("--name requires --as documents: add --as documents, or omit --name")
    return True


def _remove(session: Session, file: Path | None, name: str) -> None:
    from weft.admin.exchange_graphs import remove_import
    from weft.load.folder import source_of

    with session.open() as engine:
        receipt = remove_import(engine, name or source_of(file or Path(), base=engine.base))
    _report(session, receipt, removed=True)


def _import(session: Session, engine: Engine, file: Path, *, form: GraphForm | None, name: str) -> ImportReceipt:
    from weft.admin.exchange_graphs import import_graph

    with CountBar("importing", total=None, unit="documents", quiet=session.verbosity < 0) as bar:

        def on_step(done: int, total: int) -> None:
            bar.expect(total)
            bar.advance(1, extra=1)

        return import_graph(engine, file, form=form, name=name, on_step=on_step)


def _choose_form(file: Path) -> WriteForm:
    if file == Path("-"):
        return "triples"
    form = SUFFIXES.get(file.suffix.lower())
    if form is None:
        known = ", ".join(SUFFIXES)
        raise click.UsageError(f"unknown suffix of {str(file)!r}: pass --format, or use one of {known}")
    return form


def _export(session: Session, engine: Engine, *, form: WriteForm, derived: bool, facts: bool) -> GivenGraph:
    from weft.admin.exchange_graphs import export_graph

    total = engine.store.graph.count()[0]
    if not total and not (facts and engine.store.facts.count()[0]):
        hint = "build one with weft index PATH, or import one with weft import FILE"
        say(f"note: namespace {engine.store.namespace!r} has no graph; {hint}", err=True)
    with CountBar("exporting", total=total, unit="entities", quiet=session.verbosity < 0) as bar:
        return export_graph(
            engine,
            derived=derived,
            passages=form == "lightrag",  # the only format with texts
            facts=facts,
            on_step=lambda count: bar.advance(count, extra=count),
        )


def _report(session: Session, receipt: ImportReceipt, *, removed: bool = False) -> None:
    from weft.context.serialise import import_to_dict

    if session.as_json:
        print_json(import_to_dict(receipt))
        return
    if session.verbosity < 0:
        return
    if removed:
        counts = f"{counted(receipt.pruned, 'document')}, annotations of {counted(receipt.annotated, 'chunk')}"
        say(f"removed {receipt.name}: {counts}", err=True)
        return
    for line in _receipt_lines(receipt):
        say(one_line(line), err=True)


def _receipt_lines(receipt: ImportReceipt) -> list[str]:
    """Return the receipt of an import as lines of text."""
    documents = receipt.added + receipt.changed + receipt.unchanged
    lines = [
        f"imported {receipt.name} ({receipt.form}): {counted(receipt.entities, 'entity')}, "
        f"{counted(receipt.relations, 'relation')} in {receipt.seconds:.1f} s",
        f"wrote {counted(documents, 'document')} ({receipt.added:,} new, {receipt.changed:,} changed, "
        f"{receipt.unchanged:,} unchanged, {receipt.pruned:,} deleted), "
        f"annotated {counted(receipt.annotated, 'other chunk')}",
        f"embedded {counted(receipt.embedded, 'text')}, {receipt.cached:,} from the cache",
    ]
    if receipt.not_found:
        lines.append(
            counted(receipt.not_found, "passage was", "passages were") + " not found: index them, then import again"
        )
    lines += [f"skipped {line}" for line in receipt.skipped[:MAX_LISTED_SKIPS]]
    if len(receipt.skipped) > MAX_LISTED_SKIPS:
        lines.append(f"skipped {len(receipt.skipped) - MAX_LISTED_SKIPS:,} more (--json lists them)")
    return lines
