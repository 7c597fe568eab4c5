"""Command `weft eval`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from weft.choices import Method
from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_table
from weft.cli.progress import CountBar
from weft.cli.terminal import say

if TYPE_CHECKING:
    from weft.config import Settings
    from weft.evaluate.retrieval import Stage


@verb("eval")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--facts",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Measure recall of facts on a scenario file instead.",
)
@click.option(
    "--method", type=click.Choice([*get_args(Method), "all"]), help="Search method; 'all' measures every method."
)
@click.option("--all", "every", is_flag=True, help="Measure every method on every dataset in FOLDERS.")
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --all: Markdown page (default: [docs/]quality.md).",
)
@click.option("--limit", type=click.IntRange(1), help="Maximum number of questions.")
@click.option("--graph/--no-graph", default=None, help="Build the graph (default), or skip it and the graph methods.")
@click.option("--citations/--no-citations", default=None, help="Load citations.jsonl of the corpus (default).")
@click.option("--no-titles", is_flag=True, help="Ignore the titles of the corpus.")
@click.option("--run", "run_file", type=click.Path(path_type=Path, dir_okay=False), help="TREC run file to write.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="PNG file to write.")
def evaluate(
    session: Session,
    folders: tuple[Path, ...],
    facts: Path | None,
    method: str | None,
    every: bool,
    page: Path | None,
    limit: int | None,
    run_file: Path | None,
    plot: Path | None,
    **options: Any,
) -> None:
    """
    Measure retrieval quality on BEIR datasets.

    Each of FOLDERS contains corpus.jsonl, queries.jsonl and qrels/test.tsv, plain or .gz. Without --method, the
    configured method is used. A document has the rank of its best chunk, before relevance thresholds.

    The index is cached and rebuilt when data, model or code change. --db selects another store. On a server the index
    stays in a separate namespace (`eval SET KEY`). --all prints one table of datasets and methods and writes a page.

    --facts replays dated facts into a separate store and runs each question as of its time.
    """
    from weft.evaluate.report import set_table, table, write_plot

    if bool(folders) == bool(facts):
        raise click.UsageError("dataset folders are missing: pass FOLDERS, or --facts FILE")
    if facts:
        if every or method or page or run_file or plot or limit:
            raise click.UsageError("--facts cannot be combined with --all, --method, --page, --run, --plot or --limit")
        _evaluate_facts(session, facts)
        return
    if not every and len(folders) > 1:
        raise click.UsageError("several folders require --all: add --all, or pass one folder")
    use_cache = _uses_cache(session)
    if every and (method or run_file or plot or not use_cache):
        raise click.UsageError("--all cannot be combined with --method, --run, --plot or a file as --db")
    settings = _settings(session, **options)
    chosen = "all" if every else method
    found = _evaluate(
        session, settings, folders, method=chosen, every=every, limit=limit, use_cache=use_cache, run_file=run_file
    )
    if plot:
        write_plot(found, plot)
    if every:
        _write_page(session, found, page)
    if session.as_json:
        print_json(found if chosen == "all" else found[0])
    else:
        print_table(*(set_table(found) if every else table(found)))


def _uses_cache(session: Session) -> bool:
    """Return True if the index belongs in the cache or in a separate namespace of a server."""
    from weft.config import is_server

    own = not is_server(session.overrides.get("store.db", "")) or "store.namespace" in session.overrides
    return "store.db" not in session.overrides or not own


def _settings(session: Session, *, graph: bool | None, citations: bool | None, no_titles: bool) -> Settings:
    return session.settings(
        load__titles=False if no_titles else None,
        load__citations=citations,
        graph__extractor=session.extractor(graph),
    )


def _evaluate(
    session: Session, settings: Settings, folders: tuple[Path, ...], *, method: str | None, every: bool, **options: Any
) -> list[dict[str, Any]]:
    """Return the rows of all folders; with `every`, of all datasets in them."""
    from weft.evaluate.dataset import find_sets
    from weft.evaluate.retrieval import all_methods, evaluate_folder

    methods = all_methods(settings) if method == "all" else (cast("Method", method),) if method else ()
    rows: list[dict[str, Any]] = []
    with CountBar("evaluating", total=None, unit="steps", quiet=session.verbosity < 0) as bar:

        def on_step(stage: Stage, count: int) -> None:
            bar.advance(count, extra=count)

        for folder in find_sets(folders) if every else folders:
            rows += evaluate_folder(folder, settings=settings, methods=methods, on_step=on_step, **options)
    return rows


def _evaluate_facts(session: Session, scenario: Path) -> None:
    from weft.evaluate.fact_recall import evaluate_facts
    from weft.evaluate.report import fact_table

    with CountBar("evaluating", total=None, unit="steps", quiet=session.verbosity < 0) as bar:
        rows = evaluate_facts(scenario, settings=session.settings(), on_step=lambda: bar.advance(1, extra=1))
    if session.as_json:
        print_json(rows)
    else:
        print_table(*fact_table(rows))


def _write_page(session: Session, rows: list[dict[str, Any]], page: Path | None) -> None:
    """Write table and plot; without matplotlib, print a note and write only the table."""
    from weft.errors import MissingExtra
    from weft.evaluate.report import write_page, write_set_plot

    page = page or (Path("docs/quality.md") if Path("docs").is_dir() else Path("quality.md"))
    drawing: Path | None = page.with_suffix(".png")
    page.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_set_plot(rows, page.with_suffix(".png"))
    except MissingExtra as error:
        drawing = None
        say(f"note: no plot, {error} ({error.hint})", err=True)
    write_page(rows, page, plot=drawing)
    if session.verbosity >= 0:
        say(f"wrote {page}", err=True)
