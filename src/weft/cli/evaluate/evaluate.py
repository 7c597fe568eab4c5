"""`weft eval`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_table
from weft.cli.progress import CountBar
from weft.cli.terminal import say
from weft.config import Method, is_server
from weft.errors import MissingExtra
from weft.evaluate.dataset import find_sets
from weft.evaluate.fact_recall import evaluate_facts
from weft.evaluate.report import fact_table, set_table, table, write_page, write_plot, write_set_plot
from weft.evaluate.retrieval import Stage, all_methods, evaluate_folder


@verb("eval")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--facts",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Measure recall of facts on a scenario instead, beside plain vectors.",
)
@click.option("--method", type=click.Choice([*get_args(Method), "all"]), help="A method, or all of them.")
@click.option(
    "--all", "every", is_flag=True, help="Every method on every set; a folder of sets stands for the sets in it."
)
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --all: the Markdown page for table and plot (default docs/quality.md where there is a docs folder).",
)
@click.option("-n", "--top-k", type=click.IntRange(1), help="Accepted for symmetry: measures look at 20 documents.")
@click.option("--limit", type=click.IntRange(1), help="Only the first so many questions.")
@click.option(
    "--graph/--no-graph", default=None, help="Whether to build the graph; --method all leaves its methods out."
)
@click.option("--citations/--no-citations", default=None, help="Load citations.jsonl beside the corpus (default).")
@click.option("--no-titles", is_flag=True, help="Leave titles out of the corpus.")
@click.option("--run", "run_file", type=click.Path(path_type=Path, dir_okay=False), help="Write a TREC run file.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw the figures into a PNG.")
def evaluate(
    session: Session,
    folders: tuple[Path, ...],
    facts: Path | None,
    method: str | None,
    every: bool,
    page: Path | None,
    top_k: int | None,
    limit: int | None,
    graph: bool | None,
    citations: bool | None,
    no_titles: bool,
    run_file: Path | None,
    plot: Path | None,
) -> None:
    """
    Measure retrieval on FOLDER: corpus.jsonl, queries.jsonl, qrels/test.tsv, plain or .gz.

    Without --method it asks exactly as `weft query` does by default. The index is kept in the cache and made
    again when data, model or code change; with --db it goes there instead, on a server into a namespace of its own
    that is kept for the next run (`eval SET KEY`). Rankings are scored before floors and gates; a document counts at
    the rank of its best chunk. With --all there is one table over sets and methods, and a page is written. With
    --facts FILE there are no folders: dated statements are replayed into a store of their own, and each question is
    asked as of its time.
    """
    if bool(folders) == bool(facts):
        raise click.UsageError("name the folders of sets, or --facts FILE")
    if facts and (every or method or page or run_file or plot or limit):
        raise click.UsageError("--facts goes alone")
    if facts:
        _evaluate_facts(session, facts)
        return
    if not every and len(folders) > 1:
        raise click.UsageError("several sets are measured with --all")
    own = not is_server(session.overrides.get("store.db", "")) or "store.namespace" in session.overrides
    use_cache = "store.db" not in session.overrides or not own
    if every and (method or run_file or plot or not use_cache):
        raise click.UsageError("--all goes without --method, --run, --plot and a file as --db")
    overrides = {
        "load__titles": False if no_titles else None,
        "load__citations": citations,
        "graph__extractor": session.extractor(graph),
    }
    settings = session.settings(**overrides)
    chosen: tuple[Method, ...] = all_methods(settings) if every or method == "all" else (method,) if method else ()  # type: ignore[assignment]
    rows: list[dict[str, Any]] = []
    with CountBar("evaluating", total=None, unit="steps", quiet=session.verbosity < 0) as bar:

        def on_step(stage: Stage, count: int) -> None:
            bar.advance(count, extra=count)

        for folder in find_sets(folders) if every else folders:
            rows += evaluate_folder(
                folder,
                settings=settings,
                methods=chosen,
                limit=limit,
                use_cache=use_cache,
                run_file=run_file,
                on_step=on_step,
            )
    if plot:
        write_plot(rows, plot)
    if every:
        _write_page(session, rows, page)
    if session.as_json:
        print_json(rows if every or method == "all" else rows[0])
    else:
        print_table(*(set_table(rows) if every else table(rows)))


def _evaluate_facts(session: Session, scenario: Path) -> None:
    with CountBar("evaluating", total=None, unit="steps", quiet=session.verbosity < 0) as bar:
        rows = evaluate_facts(scenario, settings=session.settings(), on_step=lambda: bar.advance(1, extra=1))
    if session.as_json:
        print_json(rows)
    else:
        print_table(*fact_table(rows))


def _write_page(session: Session, rows: list[dict[str, Any]], page: Path | None) -> None:
    """Write table and plot; without matplotlib the plot is left out, and said so."""
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
