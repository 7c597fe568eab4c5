"""Command `weft ask`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, get_args

import click

from weft.choices import Method
from weft.cli.errors import NO_MATCH
from weft.cli.options import Session, verb
from weft.cli.output import console, escape, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from weft.records import Answer, WrittenSentence


@verb(takes_several=True)
@click.argument("question", nargs=-1, required=True)
@click.option("--method", type=click.Choice(get_args(Method)), help="Search method (default: auto).")
@click.option("-n", "--top-k", type=click.IntRange(1, 1000), default=5, help="Maximum passages below the answer.")
@click.option("--in", "prefix", default="", metavar="PATH", help="Only documents whose source begins with PATH.")
@click.option(
    "--write/--no-write", default=None, help="Let the language model write an answer (default: if llm.model is set)."
)
def ask(
    session: Session, question: tuple[str, ...], prefix: str, write: bool | None, top_k: int, method: str | None
) -> int:
    """
    Print the sentence that answers a question, then its passages. Exits with 3 if nothing matches.

    With a language model in the settings, an answer of at most five sentences is written from the passages. Each
    sentence has its citations; one that they do not support is marked. '-' reads the question from standard input.
    """
    from weft.context.answers import answer_to_dict
    from weft.engine.paths import typed_source
    from weft.records import Filter
    from weft.search.answer.answer import SILENT

    text = sys.stdin.read() if question == ("-",) else " ".join(question)
    options: dict[str, Any] = {"method": method, "top_k": top_k}
    with session.open(notes_namespace=False) as engine:
        where = Filter(source_prefix=typed_source(prefix, store=engine.reader, base=engine.base))
        out = console()
        to = SILENT if session.as_json else _listener(out)
        answer = engine.ask(text, write=write, to=to, where=where, **options)
        if session.as_json:
            print_json(answer_to_dict(answer))
        else:
            _print_rest(out, answer)
    return NO_MATCH if answer.result.status == "no_match" else 0


def _listener(out: Console) -> Any:
    """Return callbacks that print the quote and each written sentence at once."""
    from weft.search.answer.answer import AnswerListener

    def print_quote(answer: Answer) -> None:
        if answer.quote is not None:
            out.print(f"[bold]“{escape(answer.quote.text)}”[/]\n  [cyan]{escape(answer.quote.citation)}[/]\n")

    def print_sentence(sentence: WrittenSentence) -> None:
        mark = "" if sentence.is_supported else "  [yellow](not supported by the passages)[/]"
        out.print(f"{escape(sentence.text)}{mark}")
        for citation in sentence.citations:
            out.print(f"  [cyan]{escape(citation)}[/]")

    return AnswerListener(on_quote=print_quote, on_sentence=print_sentence)


def _print_rest(out: Console, answer: Answer) -> None:
    """Print the model or why it wrote nothing, then the passages."""
    from weft.cli.results import print_result

    if answer.sentences:
        out.print(f"[dim]written by {escape(answer.model)}[/]\n")
    if answer.note:
        out.print(f"[dim]note: {escape(answer.note)}[/]\n")
    print_result(answer.result, explain=False, full=False)
