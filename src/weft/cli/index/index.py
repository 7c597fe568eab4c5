"""`weft index`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from weft.cli.index.estimate import asking_options, asking_overrides, require_consent
from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_receipt
from weft.cli.progress import CountBar
from weft.cli.terminal import say
from weft.context.serialise import receipt_to_dict
from weft.engine.worker_pool import MAX_WORKERS
from weft.errors import InputError
from weft.index.run import Step
from weft.load.watch import check_watching
from weft.records import Receipt

if TYPE_CHECKING:
    from weft.engine.engine import Engine

UNNAMED = "stdin:text"
"""What a text from standard input is called that was given no name: the next one replaces it."""


@verb()
@click.argument("paths", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--prune", is_flag=True, help="Delete documents below PATHS whose file is gone; one that is left out is not."
)
@click.option("--watch", is_flag=True, help="Stay and index again whenever a file changes.")
@click.option(
    "--workers",
    type=click.IntRange(0, MAX_WORKERS),
    default=1,
    metavar="N",
    help="Processes that share the work; 0 leaves it to `weft worker` elsewhere (default: 1).",
)
@click.option("--graph/--no-graph", default=None, help="Whether to read entities and relations out of the documents.")
@asking_options
@click.option("-y", "--yes", is_flag=True, help="Ask the language model whatever it costs, within the bounds.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing.")
@click.option("--include", multiple=True, metavar="GLOB", help="Only files that match, e.g. '*.md'.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out files and folders that match.")
@click.option("--hidden/--no-hidden", default=None, help="Read files whose name begins with a dot.")
@click.option("--gitignore/--no-gitignore", default=None, help="Respect .gitignore (default) or not.")
@click.option("--citations/--no-citations", default=None, help="Load citations.jsonl beside a BEIR corpus (default).")
@click.option("--source", metavar="NAME", help="With '-': what to call the text (default: stdin:text).")
@click.option("--title", default="", help="With '-': its title.")
def index(
    session: Session,
    paths: tuple[str, ...],
    prune: bool,
    watch: bool,
    workers: int,
    graph: bool | None,
    model: str | None,
    max_cost: float | None,
    max_tokens: int | None,
    max_minutes: float | None,
    yes: bool,
    dry_run: bool,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    hidden: bool | None,
    gitignore: bool | None,
    citations: bool | None,
    source: str | None,
    title: str,
) -> None:
    """
    Index files and folders, or standard input with '-'.

    Unchanged documents cost nothing, a changed one embeds only its changed chunks. A document is
    written wholly or not at all: interrupt when you like, and run it again to go on.
    """
    if "-" in paths and (len(paths) > 1 or prune or watch or dry_run):
        raise click.UsageError("'-' stands alone: index standard input and paths in two runs")
    if watch:
        check_watching()
    overrides = {
        **asking_overrides(session, graph, model, max_cost=max_cost, max_tokens=max_tokens, max_minutes=max_minutes),
        "load__include": include or None,
        "load__exclude": exclude or None,
        "load__hidden": hidden,
        "load__respect_gitignore": gitignore,
        "load__citations": citations,
    }
    with session.open(must_exist=False, **overrides) as engine:
        if dry_run:
            _report(session, engine.preview(*paths, prune=prune), is_dry=True)
            return
        if paths == ("-",):
            receipt = _index_stdin(engine, source=source, title=title)
            _report(session, receipt)
            if receipt.changed and source is None and session.verbosity >= 0:
                hint = "--source NAME keeps each under its own name"
                say(f"it replaces the text that was indexed from standard input before; {hint}", err=True)
            return
        if not yes:
            require_consent(engine, *paths)
        _report(session, _index_paths(session, engine, paths, prune=prune, workers=workers))
        if watch:
            say("watching; Ctrl-C ends", err=True)
            engine.watch(*paths, on_receipt=lambda receipt: _report(session, receipt))


def _index_paths(session: Session, engine: Engine, paths: tuple[str, ...], *, prune: bool, workers: int) -> Receipt:
    if workers == 0 and session.verbosity >= 0:
        say("documents are indexed by `weft worker`, wherever one runs on this store; Ctrl-C ends", err=True)
    total = engine.count(*paths)
    with CountBar("indexing", total=total, unit="chunks", quiet=session.verbosity < 0) as bar:

        def on_step(step: Step) -> None:
            bar.advance(step.outcome != "skipped", extra=step.chunks)

        return engine.index(*paths, prune=prune, workers=workers, on_step=on_step)


def _index_stdin(engine: Engine, *, source: str | None, title: str) -> Receipt:
    text = sys.stdin.buffer.read(engine.settings.load.max_file_bytes + 1)
    if len(text) > engine.settings.load.max_file_bytes:
        raise InputError("standard input is larger than load.max_file_bytes", hint="save it to files")
    return engine.add_bytes(text, source=source or UNNAMED, title=title)


def _report(session: Session, receipt: Receipt, *, is_dry: bool = False) -> None:
    if session.as_json:
        print_json(receipt_to_dict(receipt))
    elif session.verbosity >= 0:
        print_receipt(receipt, is_dry=is_dry)
