"""`weft eval`."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_table
from weft.cli.progress import CountBar
from weft.config import Method
from weft.engine.evaluation import Stage, all_methods, evaluate_folder
from weft.evaluate.report import table, write_plot


@verb("eval")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--method", type=click.Choice([*get_args(Method), "all"]), help="A method, or all of them.")
@click.option("-n", "--top-k", type=click.IntRange(1), help="Accepted for symmetry: measures look at 20 documents.")
@click.option("--limit", type=click.IntRange(1), help="Only the first so many questions.")
@click.option(
    "--graph/--no-graph", default=None, help="Whether to build the graph; --method all leaves its methods out."
)
@click.option("--no-titles", is_flag=True, help="Leave titles out of the corpus.")
@click.option("--run", "run_file", type=click.Path(path_type=Path, dir_okay=False), help="Write a TREC run file.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw the figures into a PNG.")
def evaluate(
    session: Session,
    folder: Path,
    method: str | None,
    top_k: int | None,
    limit: int | None,
    graph: bool | None,
    no_titles: bool,
    run_file: Path | None,
    plot: Path | None,
) -> None:
    """
    Measure retrieval on FOLDER: corpus.jsonl, queries.jsonl, qrels/test.tsv, plain or .gz.

    Without --method it asks exactly as `weft query` does by default. The index is kept in the cache and made
    again when data, model or code change; with --db it goes there instead. Rankings are scored before floors
    and gates; a document counts at the rank of its best chunk.
    """
    overrides = {"load__titles": False if no_titles else None, "graph__extractor": session.extractor(graph)}
    settings = session.settings(**overrides)
    chosen: tuple[Method, ...] = all_methods(settings) if method == "all" else (method,) if method else ()  # type: ignore[assignment]
    with CountBar("evaluating", total=None, unit="steps", quiet=session.verbosity < 0) as bar:

        def on_step(stage: Stage, count: int) -> None:
            bar.advance(count, extra=count)

        rows = evaluate_folder(
            folder,
            settings=settings,
            methods=chosen,
            limit=limit,
            use_cache="store.db" not in session.overrides,
            run_file=run_file,
            on_step=on_step,
        )
    if plot:
        write_plot(rows, plot)
    if session.as_json:
        print_json(rows if method == "all" else rows[0])
    else:
        print_table(*table(rows))
