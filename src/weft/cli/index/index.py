"""Command `weft index`."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weft.cli.index.estimate import check_cost, llm_options, llm_overrides
from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.progress import CountBar
from weft.cli.terminal import say
from weft.errors import InputError, WeftError
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.engine.engine import Engine
    from weft.index.progress import EmbeddingProgress, Step
    from weft.records import Receipt

MAX_WORKERS = 64
STDIN_SOURCE = "stdin:text"
"""Default source of a text from standard input. A later text with this source replaces the earlier one."""


@verb()
@click.argument("paths", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("--git", "is_git", is_flag=True, help="Index the commits of Git repositories, not their files.")
@click.option("--fetch", is_flag=True, help="Download the web page at PATHS, one address (https://…).")
@click.option("--prune", is_flag=True, help="Delete documents whose files no longer exist. Excluded files are kept.")
@click.option("--watch", is_flag=True, help="Keep running and index files when they change.")
@click.option(
    "--workers",
    type=click.IntRange(0, MAX_WORKERS),
    default=1,
    metavar="N",
    help="Processes; 0 queues the work for `weft worker` (default: 1).",
)
@click.option(
    "--graph/--no-graph", default=None, help="Extract a graph, or skip extraction (default: graph.extractor)."
)
@llm_options
@click.option("-y", "--yes", is_flag=True, help="Accept the cost of the language model, up to the limits.")
@click.option("--dry-run", is_flag=True, help="Print the work and its cost; write and send nothing.")
@click.option("--include", multiple=True, metavar="GLOB", help="Only files that match, e.g. '*.md' (repeatable).")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Skip files and folders that match (repeatable).")
@click.option("--hidden/--no-hidden", default=None, help="Include hidden files (default: skip them).")
@click.option("--gitignore/--no-gitignore", default=None, help="Skip files that .gitignore excludes (default).")
@click.option("--citations/--no-citations", default=None, help="Load citations.jsonl of a BEIR corpus (default).")
@click.option("--source", metavar="NAME", help="With '-': source of the text (default: stdin:text).")
@click.option("--title", default="", help="With '-': title of the text.")
def index(
    session: Session,
    paths: tuple[str, ...],
    is_git: bool,
    fetch: bool,
    prune: bool,
    watch: bool,
    workers: int,
    yes: bool,
    dry_run: bool,
    source: str | None,
    title: str,
    **options: Any,
) -> None:
    """
    Index files, folders or standard input.

    '-' reads standard input. With --fetch, the web page at an address is downloaded once, from public hosts only.
    Unchanged documents are skipped; of a changed document only the changed chunks are embedded. Each document is one
    transaction: an interrupted run resumes on the next call.
    """
    _check_options(paths, is_git=is_git, fetch=fetch, prune=prune, watch=watch, dry_run=dry_run, workers=workers)
    if not fetch:
        _check_inputs(session, paths, watch=watch, prune=prune)
    with session.open(must_exist=False, **_overrides(session, **options)) as engine:
        if dry_run:
            _report(session, engine.preview(*paths, prune=prune), is_dry=True)
            return
        if paths == ("-",):
            _index_stdin(session, engine, source=source, title=title)
            return
        if fetch:
            receipt = _index_page(engine, paths[0])
            _report(session, receipt)
            _check_indexed(paths, receipt)
            return
        if is_git:
            _report(session, _index_commits(session, engine, paths, prune=prune))
            return
        if not yes:
            check_cost(engine, *paths)
        receipt = _index_paths(session, engine, paths, prune=prune, workers=workers)
        _index_captured(session, engine)
        _report(session, receipt)
        if not watch:
            _check_indexed(paths, receipt)
        else:
            say("watching for changes; Ctrl-C stops", err=True)
            engine.watch(*paths, on_receipt=lambda receipt: _report(session, receipt))


def _check_options(
    paths: tuple[str, ...], *, is_git: bool, fetch: bool, prune: bool, watch: bool, dry_run: bool, workers: int
) -> None:
    """Raise `UsageError` for options that exclude each other."""
    if "-" in paths and (len(paths) > 1 or prune or watch or dry_run):
        raise click.UsageError("'-' cannot be combined with paths, --prune, --watch or --dry-run")
    if is_git and ("-" in paths or watch or dry_run or workers != 1):
        raise click.UsageError("--git cannot be combined with '-', --watch, --dry-run or --workers")
    if fetch and (len(paths) != 1 or is_git or prune or watch or dry_run or workers != 1):
        raise click.UsageError("--fetch needs one address, without --git, --prune, --watch, --dry-run and --workers")


def _index_captured(session: Session, engine: Engine) -> None:
    """Index what hooks captured while no daemon was running. The daemon does it if the spool cannot be read."""
    from weft.cli.serve.hook import find_spool
    from weft.daemon.capture import drain

    with suppress(OSError):
        drain(engine, find_spool(session))


def _check_inputs(session: Session, paths: tuple[str, ...], *, watch: bool, prune: bool) -> None:
    """
    Raise an error if a path cannot be read or watched. A wrong path creates no store.

    With `prune`, the error about a deleted folder names the command that deletes its documents: a folder that is not
    mounted looks the same.
    """
    if watch:
        from weft.load.watch import check_watching

        check_watching()
    if paths != ("-",):
        from weft.load.folder import check_paths

        try:
            check_paths([Path(path) for path in paths])
        except InputError as error:
            if any(path.lower().startswith(("http://", "https://")) for path in paths):
                raise InputError(str(error), hint="pass --fetch to download a web page") from error
            lost = [path for path in paths if not Path(path).exists()] if prune else []
            if lost and (count := _count_below(session, lost)):
                hint = f"to delete {counted(count, 'document')} of it, run `weft delete {shlex.join(lost)}`"
                raise InputError(str(error), hint=hint) from error
            raise


def _count_below(session: Session, paths: list[str]) -> int:
    """Return the number of documents below paths that do not exist, 0 without a store."""
    from weft.engine.paths import find_below, typed_source

    try:
        with session.open() as engine:
            return len(
                find_below(
                    [typed_source(path, store=engine.store, base=engine.base) for path in paths], store=engine.store
                )
            )
    except WeftError:
        return 0


def _overrides(
    session: Session,
    *,
    graph: bool | None,
    model: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    hidden: bool | None,
    gitignore: bool | None,
    citations: bool | None,
    **limits: float | None,
) -> dict[str, Any]:
    """Return the settings that the options replace."""
    return {
        **llm_overrides(session, graph, model, **limits),
        "load__include": include or None,
        "load__exclude": exclude or None,
        "load__hidden": hidden,
        "load__respect_gitignore": gitignore,
        "load__citations": citations,
    }


def _index_paths(session: Session, engine: Engine, paths: tuple[str, ...], *, prune: bool, workers: int) -> Receipt:
    if workers == 0 and session.verbosity >= 0:
        say("waiting for `weft worker` processes on this store; Ctrl-C stops", err=True)
    documents = engine.indexing.count(*paths)
    unit = "texts" if workers == 1 else "documents"
    with CountBar("indexing", total=documents, unit=unit, quiet=session.verbosity < 0) as bar:

        def on_step(step: Step) -> None:
            if workers != 1:  # other processes report whole documents only
                bar.advance(step.outcome != "skipped", extra=1)

        def on_texts(progress: EmbeddingProgress) -> None:
            # The total is known from the start, and the number of texts only at the end: so documents are counted.
            done = progress.planned_documents * progress.texts // max(1, progress.planned_texts)
            bar.update(min(done, documents), total=documents, extra=progress.texts)

        return engine.index(*paths, prune=prune, workers=workers, on_step=on_step, on_texts=on_texts)


def _index_page(engine: Engine, url: str) -> Receipt:
    from weft.load.web_page import load_page

    return engine.add(load_page(url, options=engine.settings.load))


def _index_commits(session: Session, engine: Engine, paths: tuple[str, ...], *, prune: bool) -> Receipt:
    with CountBar("indexing", total=None, unit="texts", quiet=session.verbosity < 0) as bar:
        return engine.index_commits(
            *paths, prune=prune, on_texts=lambda progress: bar.update(progress.texts, total=progress.planned_texts)
        )


def _check_indexed(paths: tuple[str, ...], receipt: Receipt) -> None:
    """Raise `InputError` if the only path is a file of which nothing was indexed."""
    from pathlib import Path

    from weft.load.file_reader import HINTS

    if len(paths) == 1 and not receipt.documents and receipt.skipped and not Path(paths[0]).is_dir():
        first = receipt.skipped[0]
        reason = ": ".join(filter(None, (first.reason, first.detail)))
        raise InputError(f"cannot index {paths[0]!r}: {reason}", hint=HINTS.get(first.reason, ""))


def _index_stdin(session: Session, engine: Engine, *, source: str | None, title: str) -> None:
    """Index standard input and print the receipt. Raise `InputError` if it is too large."""
    import sys

    from weft.errors import InputError
    from weft.text.decode import decode

    limit = engine.settings.load.max_file_bytes
    text = sys.stdin.buffer.read(limit + 1)
    if len(text) > limit:
        raise InputError(
            f"standard input exceeds load.max_file_bytes ({limit:,})",
            hint="raise load.max_file_bytes, or pass files to weft index",
        )
    receipt = engine.add_text(decode(text), source=source or STDIN_SOURCE, title=title)
    _report(session, receipt)
    if receipt.changed and source is None and session.verbosity >= 0:
        hint = "use --source NAME to keep several texts"
        say(f"replaced the earlier text from standard input; {hint}", err=True)


def _report(session: Session, receipt: Receipt, *, is_dry: bool = False) -> None:
    from weft.cli.receipts import print_receipt
    from weft.context.serialise import receipt_to_dict

    if session.as_json:
        print_json(receipt_to_dict(receipt))
    elif session.verbosity >= 0:
        print_receipt(receipt, is_dry=is_dry)
