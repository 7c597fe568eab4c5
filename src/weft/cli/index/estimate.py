"""`weft estimate`, and the options and the consent that asking models behind an endpoint wants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weft.cli.options import Session, verb
from weft.cli.output import embedding_line, print_json, usage_line
from weft.cli.terminal import say
from weft.context.serialise import embedding_to_dict, usage_to_dict
from weft.errors import ConfigError
from weft.records import Receipt, Usage

if TYPE_CHECKING:
    from weft.engine.engine import Engine

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--model", metavar="NAME", help="Let a language model add to the graph: openai/…, anthropic/…"),
    click.option(
        "--max-cost",
        type=click.FloatRange(0),
        metavar="DOLLARS",
        help="Stop before it costs more; so with an embedder behind an endpoint.",
    ),
    click.option("--max-tokens", type=click.IntRange(0), metavar="N", help="Stop before it uses more tokens."),
    click.option("--max-minutes", type=click.FloatRange(0), metavar="N", help="Ask nothing more after this time."),
)


def asking_options(function: Function) -> Function:
    """Add the options that say which language model is asked, and what it may cost."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def asking_overrides(session: Session, graph: bool | None, model: str | None, **bounds: float | None) -> dict[str, Any]:
    """Return the settings these options are flags of."""
    if model and graph is False:
        raise click.UsageError("--model adds to the graph, and --no-graph leaves it out")
    extractor = "llm" if model else session.extractor(graph)
    overrides = {"graph__extractor": extractor, "llm__model": model, "models__max_cost": bounds["max_cost"]}
    return overrides | {f"llm__{name}": n for name, n in bounds.items()}


def require_consent(engine: Engine, *paths: str) -> None:
    """Raise `ConfigError` where indexing would cost more than may be spent unasked; nothing is sent."""
    if engine.settings.graph.extractor == "llm" and paths != ("-",):
        _require_yes(engine, engine.preview(*paths).usage)


def _require_yes(engine: Engine, usage: Usage) -> None:
    options = engine.settings.llm
    bound = options.max_cost or usage.cost
    if usage.calls and (usage.unpriced or min(usage.cost, bound) > options.ask_above):
        cost = "an unknown price" if usage.unpriced else f"about ${usage.cost:.2f}"
        raise ConfigError(
            f"this would ask {options.model} about {usage.calls:,} chunks, for {cost}",
            hint="--yes goes on, --max-cost bounds it; llm.prices tells a price, llm.ask_above what needs no yes",
        )


@verb()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True))
@click.option(
    "--model", metavar="NAME", help="The language model: openai/…, anthropic/… (default: that of the settings)."
)
@click.option(
    "--sample",
    type=click.IntRange(1),
    metavar="N",
    help="First ask about up to N chunks, until the estimate is sure; paid for, and not lost.",
)
@click.option("-y", "--yes", is_flag=True, help="With --sample: ask whatever it costs, within the bounds.")
def estimate(session: Session, paths: tuple[str, ...], model: str | None, sample: int | None, yes: bool) -> None:
    """
    Say what indexing files and folders would cost: embedding them, and asking a language model.

    Nothing is sent or written without --sample. Only new and changed chunks count, and of those only
    what is not known. An embedder on this machine costs nothing; a language model is asked where one is
    named here or in the settings. How long its replies are and how long they take is taken from earlier
    ones of the same model, from five on; before that it is a guess. With --sample it is asked about
    chunks chosen by chance, 60 and then more, until it is known within 8 % what the others will cost,
    and their replies are kept.
    """
    asks = bool(model or session.settings().llm.model)
    if sample and not asks:
        raise click.UsageError("--sample asks a language model, and none is named: --model, or llm.model")
    extractor = "llm" if asks else None
    with session.open(must_exist=False, graph__extractor=extractor, llm__model=model) as engine:
        receipt, sampled = engine.preview(*paths), Usage()
        if sample and receipt.usage.calls:
            first = _share(receipt.usage, sample)
            if not yes:
                _require_yes(engine, first)
            say(f"asking about {first.calls:,} chunks at most first, {_cost(first)}", err=True)
            before = {run.id for run in engine.store.spending.runs()}
            receipt = engine.preview(*paths, sample=sample)
            runs = engine.store.spending.runs()
            sampled = sum((run.usage for run in runs if run.id not in before), Usage())
        name, embedder = engine.settings.llm.model, engine.embedder.card.name if engine.embedder else "none"
    if session.as_json:
        asked = {"sample": usage_to_dict(sampled)} if sample else {}
        print_json({"model": name, **_estimate_to_dict(receipt), **asked, "embedder": _embedder(receipt, embedder)})
        return
    say(f"documents: {receipt.added:,} new, {receipt.changed:,} changed, {receipt.unchanged:,} unchanged")
    say(f"chunks: {receipt.chunks:,}")
    say(f"embedder: {embedder}, {receipt.embedded:,} texts to embed, {receipt.cached:,} are known")
    say(f"embedding: {embedding_line(receipt.embedding, is_dry=True)}")
    if asks:
        _print_asking(receipt.usage, name, sampled if sample else None)


def _print_asking(usage: Usage, name: str, sampled: Usage | None) -> None:
    """Print what asking a language model would cost."""
    if sampled is not None:
        say(f"sample: {usage_line(sampled)}")
    say(f"model: {name}")
    say(f"questions: {usage.calls:,} chunks would be asked about, {usage.cached:,} are known")
    say(f"tokens: {usage.tokens_in:,} in, {usage.tokens_out:,} out{_sureness(usage)}")
    say(f"cost: {_cost(usage)}")
    if usage.known and usage.known.calls and usage.calls:
        whole, margin = in_all(usage)
        tokens = f"{whole.tokens_in:,} tokens in, {whole.tokens_out:,} out"
        say(f"in all, with the replies that are known: {tokens} (± {margin:.0%}), {_cost(whole)}")
    say(f"minutes: {usage.seconds / 60:.1f}")


def _share(usage: Usage, calls: int) -> Usage:
    """Return what so many of the calls of an estimate would cost."""
    share = min(calls / usage.calls, 1.0)
    counts = {name: round(share * getattr(usage, name)) for name in ("calls", "tokens_in", "tokens_out", "unpriced")}
    return replace(usage, **counts, cost=share * usage.cost, seconds=share * usage.seconds)


def in_all(usage: Usage) -> tuple[Usage, float]:
    """Return what an estimate comes to with the replies that are known already, and how far off that may be."""
    whole = usage + (usage.known or Usage())
    return whole, usage.margin * usage.tokens_out / whole.tokens_out if whole.tokens_out else 0.0


def _cost(usage: Usage) -> str:
    return "price not known, llm.prices tells it" if usage.unpriced else f"about ${usage.cost:.4f}"


def _sureness(usage: Usage) -> str:
    if not usage.basis:
        return " (a guess: the model was never asked; --sample asks it)" if usage.calls else ""
    return f" (± {usage.margin:.0%}, by {usage.basis:,} replies)"


def _embedder(receipt: Receipt, name: str) -> dict[str, Any]:
    """Return what embedding would come to as JSON values."""
    asked = embedding_to_dict(receipt.embedding)
    values = {name: asked.get(name, 0) for name in ("calls", "tokens", "cost")}
    return {"model": name, "texts": receipt.embedded, "cached": receipt.cached, **values}


def _estimate_to_dict(receipt: Receipt) -> dict[str, Any]:
    usage = usage_to_dict(receipt.usage)
    names = ("calls", "cached", "tokens_in", "tokens_out", "cost")
    whole, margin = in_all(receipt.usage)
    has_basis = receipt.usage.basis > 0
    return {
        "documents": receipt.added + receipt.changed,
        "chunks": receipt.chunks,
        **{name: usage[name] for name in names},
        "minutes": round(receipt.usage.seconds / 60, 3),
        "basis": receipt.usage.basis,
        "margin": round(receipt.usage.margin, 4) if has_basis else None,
        "in_all": {
            **{name: usage_to_dict(whole)[name] for name in ("calls", "tokens_in", "tokens_out", "cost")},
            "margin": round(margin, 4) if has_basis else None,
        },
    }
