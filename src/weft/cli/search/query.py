"""Command `weft query`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from weft.choices import ContextFormat, Fusion, Method
from weft.cli.errors import NO_MATCH
from weft.cli.memory.facts import to_time
from weft.cli.options import Session, verb
from weft.cli.output import console, print_json
from weft.cli.terminal import say

if TYPE_CHECKING:
    from datetime import datetime

    from weft.engine.engine import Engine
    from weft.records import Context, Filter, Recall, Result

FORMATS: tuple[str, ...] = get_args(ContextFormat)


class QueryCommand(click.Command):
    """Command whose option `--context` may omit its value, even before the question."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Replace `--context` by `--context=` if no format follows; the next word then belongs to the question."""
        end = args.index("--") if "--" in args else len(args)
        words = enumerate(pairwise([*args, ""]))
        bare = {index for index, (word, after) in words if word == "--context" and after not in FORMATS and index < end}
        return super().parse_args(ctx, ["--context=" if index in bare else arg for index, arg in enumerate(args)])


def _check_format(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value and value not in FORMATS:
        raise click.BadParameter(f"unknown format {value!r}: use one of {', '.join(FORMATS)}")
    return value


@verb(cls=QueryCommand, takes_several=True)
@click.argument("question", nargs=-1, required=True)
@click.option("--method", type=click.Choice(get_args(Method)), help="Search method (default: auto).")
@click.option("-n", "--top-k", type=click.IntRange(1, 1000), help="Maximum passages of evidence (default: 10).")
@click.option("--min-score", type=float, help="Minimum cosine of vector hits.")
@click.option("--fusion", type=click.Choice(get_args(Fusion)), help="Fusion of the channels (default: weighted).")
@click.option("--vector-weight", type=float, help="Weight of the vector channel.")
@click.option("--text-weight", type=float, help="Weight of the keyword channel.")
@click.option("--gate/--no-gate", default=None, help="Drop irrelevant results (default), or show all.")
@click.option("--rerank/--no-rerank", default=None, help="Re-rank with rerank.model (default: rerank.enabled).")
@click.option("--relations-offset", type=click.IntRange(0, 5000), help="Related things to skip in the list.")
@click.option("--in", "prefix", default="", metavar="PATH", help="Only documents whose source begins with PATH.")
@click.option("--document", "documents", multiple=True, metavar="ID", help="Only this document (repeatable).")
@click.option("--where", multiple=True, metavar="KEY=VALUE", help="Only documents with this metadata (repeatable).")
@click.option("--after", metavar="TIME", callback=to_time, help="Only conversations at this time or later.")
@click.option("--before", metavar="TIME", callback=to_time, help="Only conversations before this time.")
@click.option("--as-of", metavar="TIME", callback=to_time, help="Conversations before, and facts valid at, this time.")
@click.option(
    "--load",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="Index this path in memory and search it (repeatable).",
)
@click.option("--explain", is_flag=True, help="Explain each result.")
@click.option("--full", is_flag=True, help="Print whole chunks.")
@click.option("--facts", "wants_facts", is_flag=True, help="Also recall facts; they are printed first.")
@click.option(
    "--context",
    "form",
    metavar=f"[{'|'.join(FORMATS)}]",
    callback=_check_format,
    help="Print a prompt context within --budget (default: evidence).",
)
@click.option("--budget", type=click.IntRange(1), help="Maximum tokens of --context (default: 4000; for 'graph': 500).")
def query(
    session: Session,
    question: tuple[str, ...],
    prefix: str,
    documents: tuple[str, ...],
    where: tuple[str, ...],
    after: datetime | None,
    before: datetime | None,
    as_of: datetime | None,
    paths: tuple[Path, ...],
    explain: bool,
    full: bool,
    wants_facts: bool,
    form: str | None,
    budget: int | None,
    **options: Any,
) -> int:
    """
    Search and print cited evidence. Exits with 3 if nothing matches.

    '-' reads the question from standard input.
    """
    text = sys.stdin.read() if question == ("-",) else " ".join(question)
    pairs = tuple(_pair(item) for item in where)
    with _open(session, paths) as engine:
        only = _filter(engine, prefix=prefix, documents=documents, pairs=pairs)
        only = replace(only, after=after, before=min(filter(None, (before, as_of)), default=None))
        recall = None
        if wants_facts:
            result, recall = engine.query_with_facts(text, where=only, as_of=as_of, **options)
        else:
            result = engine.query(text, where=only, **options)
        if form is not None or budget is not None:
            chosen = cast("ContextFormat | None", form or None)
            _print_context(session, engine.context(result, format=chosen, budget=budget, recall=recall), result)
        elif session.as_json:
            _print_json(result, recall)
        else:
            _print(engine, result, recall, explain=explain, full=full)
    return NO_MATCH if result.status == "no_match" else 0


@contextmanager
def _open(session: Session, paths: tuple[Path, ...]) -> Iterator[Engine]:
    """Open the configured store, or an in-memory store with the documents of `paths`."""
    if not paths:
        with session.open(notes_namespace=False) as engine:  # the result has the note
            yield engine
        return
    if "store.db" in session.overrides:
        raise click.UsageError("--load cannot be combined with --db")
    with session.open(store__db=":memory:") as engine:
        receipt = engine.index(*paths)
        if session.verbosity >= 0:
            from weft.cli.receipts import print_receipt

            print_receipt(receipt)
        yield engine


def _filter(engine: Engine, *, prefix: str, documents: tuple[str, ...], pairs: tuple[tuple[str, str], ...]) -> Filter:
    from weft.engine.paths import typed_source
    from weft.records import Filter

    source = typed_source(prefix, store=engine.reader, base=engine.base)
    return Filter(documents=documents, source_prefix=source, metadata=pairs)


def _print(engine: Engine, result: Result, recall: Recall | None, *, explain: bool, full: bool) -> None:
    from weft.cli.memory.facts import explain_recall
    from weft.cli.results import print_result

    if recall and recall.facts:
        say(engine.memory.context(recall).text)
    print_result(result, explain=explain, full=full)
    if recall and explain:
        explain_recall(recall)


def _print_json(result: Result, recall: Recall | None) -> None:
    from weft.context.serialise import facts_to_dict, result_to_dict

    print_json({**result_to_dict(result), **({"facts": facts_to_dict(recall)} if recall else {})})


def _print_context(session: Session, context: Context, result: Result) -> None:
    """Print the context; if it is empty, print the reason to stderr."""
    from weft.cli.results import print_status, warn_budget
    from weft.context.serialise import context_to_dict

    if session.as_json:
        print_json({**context_to_dict(context), "status": result.status})
        return
    say(context.text, nl=False)
    if context.text:
        return
    if context.omitted:
        warn_budget(context)
    elif not result.evidence:
        print_status(console(err=True), result)
    else:
        say("the results have no content in this format", err=True)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"invalid condition {text!r}: use KEY=VALUE", param_hint="--where")
    return key, value
