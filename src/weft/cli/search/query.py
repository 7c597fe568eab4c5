"""`weft query`."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from weft.cli.failure import NO_MATCH
from weft.cli.memory.facts import explain_recall
from weft.cli.options import Session, verb
from weft.cli.output import console, print_json, print_receipt, print_result, print_status, say_nothing_fits
from weft.cli.terminal import say
from weft.config import ContextFormat, Fusion, Method
from weft.context.serialise import context_to_dict, facts_to_dict, result_to_dict
from weft.engine.paths import typed_source
from weft.records import Context, Filter, Result

if TYPE_CHECKING:
    from weft.engine.engine import Engine

FORMATS: tuple[str, ...] = get_args(ContextFormat)


class QueryCommand(click.Command):
    """A command whose `--context` may stand without a format, also before the question."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Write `--context=` where no format follows, so that the next word is left to the question."""
        end = args.index("--") if "--" in args else len(args)
        words = enumerate(pairwise([*args, ""]))
        bare = {index for index, (word, after) in words if word == "--context" and after not in FORMATS and index < end}
        return super().parse_args(ctx, ["--context=" if index in bare else arg for index, arg in enumerate(args)])


def _check_format(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value and value not in FORMATS:
        raise click.BadParameter(f"{value!r} is not one of {', '.join(FORMATS)}")
    return value


@verb(cls=QueryCommand)
@click.argument("question", nargs=-1, required=True)
@click.option("--method", type=click.Choice(get_args(Method)), help="How to search (default: auto).")
@click.option(
    "-n", "--top-k", type=click.IntRange(1, 1000), help="How many results; the graph may add more (default: 10)."
)
@click.option("--min-score", type=float, help="Leave out vector hits with a lower cosine.")
@click.option("--fusion", type=click.Choice(get_args(Fusion)), help="How channels are merged (default: weighted).")
@click.option("--vector-weight", type=float, help="Weight of the vector channel.")
@click.option("--text-weight", type=float, help="Weight of the keyword channel.")
@click.option("--gate/--no-gate", default=None, help="Hold back what is likely irrelevant (default), or show all.")
@click.option("--rerank/--no-rerank", default=None, help="Let the reranker of the settings order the results, or not.")
@click.option("--in", "prefix", default="", metavar="PATH", help="Only documents whose source begins with PATH.")
@click.option("--document", "documents", multiple=True, metavar="ID", help="Only this document; repeatable.")
@click.option("--where", multiple=True, metavar="KEY=VALUE", help="Only documents with this metadata; repeatable.")
@click.option(
    "--load",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="Ask this file or folder instead of a store: it is indexed in memory, for this question; repeatable.",
)
@click.option("--explain", is_flag=True, help="Say why each result is there.")
@click.option("--full", is_flag=True, help="Print whole chunks.")
@click.option("--facts", "wants_facts", is_flag=True, help="Also recall what is remembered; it comes first.")
@click.option(
    "--context",
    "form",
    metavar=f"[{'|'.join(FORMATS)}]",
    callback=_check_format,
    help="Print text to hand to a model, in a token budget; the format may be left out (default: evidence).",
)
@click.option("--budget", type=click.IntRange(1), help="Tokens for --context (default: 4000; graph alone: 500).")
def query(
    session: Session,
    question: tuple[str, ...],
    prefix: str,
    documents: tuple[str, ...],
    where: tuple[str, ...],
    paths: tuple[Path, ...],
    explain: bool,
    full: bool,
    wants_facts: bool,
    form: str | None,
    budget: int | None,
    **options: Any,
) -> int:
    """
    Ask a question; get cited evidence, or hear that there is none (exit code 3).

    '-' reads the question from standard input.
    """
    text = sys.stdin.read() if question == ("-",) else " ".join(question)
    pairs = tuple(_pair(item) for item in where)
    with _open(session, paths) as engine:
        source = typed_source(prefix, store=engine.store, base=engine.base)
        only = Filter(documents=documents, source_prefix=source, metadata=pairs)
        recall = None
        if wants_facts:
            result, recall = engine.query_with_facts(text, where=only, **options)
        else:
            result = engine.query(text, where=only, **options)
        if form is not None or budget is not None:
            chosen = cast("ContextFormat | None", form or None)
            context = engine.context(result, format=chosen, budget=budget, recall=recall)
            if session.as_json:
                print_json({**context_to_dict(context), "status": result.status})
            else:
                say(context.text, nl=False)
                if not context.text:
                    _explain_empty(context, result)
        elif session.as_json:
            print_json({**result_to_dict(result), **({"facts": facts_to_dict(recall)} if recall else {})})
        else:
            if recall and recall.facts:
                say(engine.memory.context(recall).text)
            print_result(result, explain=explain, full=full)
            if recall and explain:
                explain_recall(recall)
    return _exit_code(result)


def _open(session: Session, paths: tuple[Path, ...]) -> Engine:
    """Open the store, or one in memory that holds what the paths hold."""
    if not paths:
        return session.open()
    if "store.db" in session.overrides:
        raise click.UsageError("--load goes without --db")
    engine = session.open(store__db=":memory:")
    receipt = engine.index(*paths)
    if session.verbosity >= 0:
        print_receipt(receipt)
    return engine


def _explain_empty(context: Context, result: Result) -> None:
    """Say on stderr why there is no text for a model."""
    if context.omitted:
        say_nothing_fits(context)
    elif not result.evidence:
        print_status(console(err=True), result)
    else:
        say("what was found has nothing to show in this format", err=True)


def _exit_code(result: Result) -> int:
    return NO_MATCH if result.status == "no_match" else 0


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE", param_hint="--where")
    return key, value
