"""`weft import` and `weft export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from weft.admin.exchange_facts import import_facts
from weft.admin.exchange_graphs import export_graph, import_graph, remove_import
from weft.cli.memory.fact_files import report_import
from weft.cli.options import Session, verb
from weft.cli.output import print_json, write_whole
from weft.cli.progress import CountBar
from weft.cli.terminal import hand_over, one_line, say
from weft.context.serialise import import_to_dict
from weft.errors import InputError
from weft.exchange.read import GraphForm, find_form
from weft.exchange.write import WriteForm, write_graph
from weft.load.folder import source_of
from weft.records import GivenGraph, ImportReceipt

if TYPE_CHECKING:
    from weft.engine.engine import Engine

ENDINGS: dict[str, WriteForm] = {
    ".jsonl": "triples",
    ".csv": "triples-csv",
    ".json": "lightrag",
    ".graphml": "graphml",
}
SHOWN = 10
"""Lines about what was skipped that are printed; --json has them all."""


@verb("import")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--format", "form", type=click.Choice(get_args(GraphForm)), help="What FILE is (default: recognised).")
@click.option("--name", default="", metavar="NAME", help="What to call the import (default: the path of FILE).")
@click.option("--remove", is_flag=True, help="Take the import back, with all that it brought.")
@click.option(
    "--as",
    "kind",
    type=click.Choice(["facts", "documents"]),
    help="What a memory file becomes (default: facts); other forms become documents.",
)
def import_file(
    session: Session, file: Path | None, form: GraphForm | None, name: str, remove: bool, kind: str | None
) -> None:
    """
    Add a graph that someone else built: triples, OpenIE, a memory file, LightRAG, GraphML.

    A memory file becomes facts, as with `weft fact import`. Of the other forms this holds:

    What it says of documents that are indexed goes to their chunks; the rest becomes documents of its own, which
    are embedded. The same file again changes nothing, a changed one replaces what it said before. It is in the
    graph whether or not indexing builds one.
    """
    if file is None and not (remove and name):
        raise click.UsageError("say which FILE; only --remove can do with a --name alone")
    with session.open(must_exist=remove) as engine:
        if remove:
            _report(session, remove_import(engine, name or source_of(file or Path(), base=engine.base)), removed=True)
            return
        assert file is not None
        if kind == "facts" or (kind is None and (form or find_form(file)) == "memory"):
            if form not in (None, "memory"):
                raise click.UsageError(f"{form} cannot become facts, only memory can")
            if name:
                raise click.UsageError("facts are not called by a --name; say --as documents")
            report_import(session, file, import_facts(engine, file, form="memory"))
            return
        with CountBar("importing", total=None, unit="documents", quiet=session.verbosity < 0) as bar:

            def on_step(done: int, total: int) -> None:
                bar.expect(total)
                bar.advance(1, extra=1)

            receipt = import_graph(engine, file, form=form, name=name, on_step=on_step)
    _report(session, receipt)


@verb("export")
@click.argument("file", default="-", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option(
    "--format", "form", type=click.Choice(get_args(WriteForm)), help="What to write (default: by the ending)."
)
@click.option("--derived", is_flag=True, help="Also relations that only follow from names standing together.")
@click.option("--facts", is_flag=True, help="Also facts that hold and lead to an entity, as relations.")
def export_file(session: Session, file: Path, form: WriteForm | None, derived: bool, facts: bool) -> None:
    """
    Write the graph to FILE, or to standard output.

    The ending of FILE says the form: .jsonl triples, .csv triples-csv, .json lightrag, .graphml graphml; standard
    output gets triples. A file that is there is replaced when the new one is whole.
    """
    form = form or _choose_form(file)
    with session.open() as engine:
        graph = _export(session, engine, form=form, derived=derived, facts=facts)
    data = write_graph(graph, form=form).encode("utf-8")
    if file == Path("-"):
        hand_over(data)
        return
    write_whole(file, data)
    if session.as_json:
        counts = {"entities": len(graph.entities), "relations": len(graph.relations), "passages": len(graph.passages)}
        print_json({"file": str(file), "format": form, **counts, "bytes": len(data)})
    elif session.verbosity >= 0:
        what = f"{len(graph.entities):,} entities, {len(graph.relations):,} relations"
        say(f"wrote {file}: {what} as {form} ({len(data):,} bytes)", err=True)


def _choose_form(file: Path) -> WriteForm:
    if file == Path("-"):
        return "triples"
    form = ENDINGS.get(file.suffix.lower())
    if form is None:
        known = ", ".join(ENDINGS)
        raise click.UsageError(f"the ending of {str(file)!r} says no form: give --format, or one of {known}")
    return form


def _export(session: Session, engine: Engine, *, form: WriteForm, derived: bool, facts: bool) -> GivenGraph:
    total = engine.store.graph.count()[0]
    if not total and not (facts and engine.store.facts.count()[0]):
        hint = "weft index PATH builds one, weft import FILE brings one"
        raise InputError(f"namespace {engine.store.namespace!r} has no graph", hint=hint)
    with CountBar("exporting", total=total, unit="entities", quiet=session.verbosity < 0) as bar:
        # no other form has a place for texts
        return export_graph(
            engine,
            derived=derived,
            passages=form == "lightrag",
            facts=facts,
            on_step=lambda count: bar.advance(count, extra=count),
        )


def _report(session: Session, receipt: ImportReceipt, *, removed: bool = False) -> None:
    if session.as_json:
        print_json(import_to_dict(receipt))
        return
    if session.verbosity < 0:
        return
    if removed:
        said = f"and what it said of {receipt.annotated:,} chunks"
        say(f"removed {receipt.name}: {receipt.pruned:,} documents {said}", err=True)
        return
    for line in _list_done(receipt):
        say(one_line(line), err=True)


def _list_done(receipt: ImportReceipt) -> list[str]:
    """Return what an import did, in words."""
    documents = receipt.added + receipt.changed + receipt.unchanged
    lines = [
        f"imported {receipt.name} ({receipt.form}): {receipt.entities:,} entities, {receipt.relations:,} relations "
        f"in {receipt.seconds:.1f} s",
        f"made {documents:,} documents ({receipt.added:,} new, {receipt.changed:,} changed, "
        f"{receipt.unchanged:,} unchanged, {receipt.pruned:,} deleted), says something of {receipt.annotated:,} chunks "
        "of others",
        f"embedded {receipt.embedded:,} texts, {receipt.cached:,} from the cache",
    ]
    if receipt.not_found:
        lines.append(f"did not find {receipt.not_found:,} passages that it names: index them first, then import again")
    lines += [f"skipped {line}" for line in receipt.skipped[:SHOWN]]
    if len(receipt.skipped) > SHOWN:
        lines.append(f"skipped {len(receipt.skipped) - SHOWN:,} more (--json lists them)")
    return lines
