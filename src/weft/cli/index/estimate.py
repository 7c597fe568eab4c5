"""Command `weft estimate`, and the options and cost check of language models shared with `weft index`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import click

from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.terminal import say
from weft.errors import ConfigError
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.engine.engine import Engine
    from weft.records import Receipt, Usage

Function = TypeVar("Function", bound=Callable[..., Any])

MEASURED_TEXTS, MEASURED_CHARACTERS = 16, 1_000
"""Texts that a local embedder embeds to measure its speed; a chunk has about as many characters."""

_OPTIONS = (
    click.option("--model", metavar="NAME", help="Language model for the graph: openai/…, anthropic/…"),
    click.option(
        "--max-cost",
        type=click.FloatRange(0),
        metavar="USD",
        help="Maximum cost in USD. A remote embedder has its own limit.",
    ),
    click.option("--max-tokens", type=click.IntRange(0), metavar="N", help="Maximum number of tokens, in and out."),
    click.option("--max-minutes", type=click.FloatRange(0), metavar="N", help="Stop sending requests after N minutes."),
)


def llm_options(function: Function) -> Function:
    """Add the options that select a language model and limit its cost."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def llm_overrides(session: Session, graph: bool | None, model: str | None, **limits: float | None) -> dict[str, Any]:
    """Return the settings that these options replace."""
    if model and graph is False:
        raise click.UsageError("--model extends the graph and cannot be combined with --no-graph")
    extractor = "llm" if model else session.extractor(graph)
    overrides = {"graph__extractor": extractor, "llm__model": model, "models__max_cost": limits["max_cost"]}
    return overrides | {f"llm__{name}": n for name, n in limits.items()}


def check_cost(engine: Engine, *paths: str) -> None:
    """Raise `ConfigError` if the estimated cost of the language model requires --yes. Nothing is sent."""
    if engine.settings.graph.extractor == "llm" and paths != ("-",):
        _check_usage(engine, engine.preview(*paths).usage)


def _check_usage(engine: Engine, usage: Usage) -> None:
    options = engine.settings.llm
    limit = options.max_cost or usage.cost
    if usage.calls and (usage.unpriced or min(usage.cost, limit) > options.ask_above):
        cost = "at an unknown price" if usage.unpriced else f"for about ${usage.cost:.2f}"
        raise ConfigError(
            f"confirmation required: {options.model} would read {counted(usage.calls, 'chunk')} {cost}",
            hint="accept the cost with --yes, or limit it with --max-cost; llm.prices sets prices",
        )


@verb()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--model", metavar="NAME", help="Language model: openai/…, anthropic/… (default: llm.model).")
@click.option("--include", multiple=True, metavar="GLOB", help="Read only files that match (repeatable).")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Skip files and folders that match (repeatable).")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Send up to N chunks to measure the cost.")
@click.option("-y", "--yes", is_flag=True, help="With --sample: accept the cost of the sample, up to the limits.")
def estimate(
    session: Session,
    paths: tuple[str, ...],
    *,
    model: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    sample: int | None,
    yes: bool,
) -> None:
    """
    Estimate the cost and the time of indexing.

    Counts new and changed chunks that are not cached, for the embedder and for a language model if --model or
    llm.model names one. A local embedder has no cost; its minutes follow from a few texts that it embeds, if its
    model is installed. Nothing is sent, fetched or written without --sample.

    Length and time of replies are estimated from earlier replies of the same model, if there are at least five.
    Option --sample sends random chunks, 60 at first, until the remaining cost is known within 8 %. These replies cost
    money and are cached.
    """
    from weft.records import Usage

    uses_model = bool(model or session.settings().llm.model)
    if sample and not uses_model:
        raise click.UsageError("--sample requires a language model: pass --model, or set llm.model")
    extractor = "llm" if uses_model else None
    overrides: dict[str, Any] = {"load__include": include or None, "load__exclude": exclude or None}
    with session.open(must_exist=False, graph__extractor=extractor, llm__model=model, **overrides) as engine:
        receipt, sampled = engine.preview(*paths), Usage()
        if sample and receipt.usage.calls:
            receipt, sampled = _sample(engine, paths, receipt.usage, sample=sample, yes=yes)
        name, embedder = engine.settings.llm.model, engine.embedder.card.name if engine.embedder else "none"
        seconds = _embedding_seconds(engine, paths, receipt)
    measured = sampled if sample else None
    if session.as_json:
        _print_json(receipt, model=name, embedder=embedder, sampled=measured, seconds=seconds)
    else:
        _print(receipt, embedder, seconds)
        if uses_model:
            _print_llm(receipt.usage, name, measured)


def _sample(engine: Engine, paths: tuple[str, ...], usage: Usage, *, sample: int, yes: bool) -> tuple[Receipt, Usage]:
    """Send a sample to the language model; return the new estimate and the usage of the sample."""
    from weft.records import Usage

    first = _share(usage, sample)
    if not yes:
        _check_usage(engine, first)
    say(f"sending at most {counted(first.calls, 'chunk')} as a sample, {_cost(first)}", err=True)
    before = {run.id for run in engine.store.spending.runs()}
    receipt = engine.preview(*paths, sample=sample)
    runs = engine.store.spending.runs()
    return receipt, sum((run.usage for run in runs if run.id not in before), Usage())


def _embedding_seconds(engine: Engine, paths: tuple[str, ...], receipt: Receipt) -> float | None:
    """Return the expected seconds of an installed embedder, measured on texts of the paths; None for any other."""
    import time

    from weft.engine.adapters import has_local_weights
    from weft.engine.paths import read_paths, sample_files
    from weft.records import Usage

    if receipt.embedding != Usage() or engine.embedder is None:
        return None
    if engine.embedder.card.name.startswith("local/") and not has_local_weights(engine.settings):
        return None  # it would be fetched
    found = sample_files(read_paths(paths), options=engine.settings.load, base=engine.base)
    texts = [text[:MEASURED_CHARACTERS] for text in islice(found, MEASURED_TEXTS)] if receipt.embedded else []
    if not texts:
        return 0.0
    engine.embedder.embed(texts[:1], kind="query")  # loads the weights; vectors of questions are not cached
    start = time.perf_counter()
    engine.embedder.embed(texts, kind="query")
    return receipt.embedded * (time.perf_counter() - start) / len(texts)


def _print(receipt: Receipt, embedder: str, seconds: float | None) -> None:
    from weft.cli.receipts import embedding_line

    say(f"documents: {receipt.added:,} new, {receipt.changed:,} changed, {receipt.unchanged:,} unchanged")
    say(f"chunks: {receipt.chunks:,}")
    say(f"embedder: {embedder}, {counted(receipt.embedded, 'text')} to embed, {receipt.cached:,} cached")
    say(f"embedding: {embedding_line(receipt.embedding, is_dry=True)}")
    if seconds is not None:
        say(f"embedding minutes: about {seconds / 60:.1f}")


def _print_llm(usage: Usage, name: str, sampled: Usage | None) -> None:
    """Print the estimated cost of the language model."""
    from weft.cli.receipts import usage_line

    if sampled is not None:
        say(f"sample: {usage_line(sampled)}")
    say(f"model: {name}")
    say(f"requests: {counted(usage.calls, 'chunk')} to send, {usage.cached:,} cached")
    say(f"tokens: {usage.tokens_in:,} in, {usage.tokens_out:,} out{_margin(usage)}")
    say(f"cost: {_cost(usage)}")
    if usage.known and usage.known.calls and usage.calls:
        total, margin = total_usage(usage)
        tokens = f"{total.tokens_in:,} tokens in, {total.tokens_out:,} out"
        say(f"total with cached replies: {tokens} (± {margin:.0%}), {_cost(total)}")
    say(f"minutes: {usage.seconds / 60:.1f}")


def _share(usage: Usage, calls: int) -> Usage:
    """Return the part of an estimated usage that belongs to `calls` requests."""
    from dataclasses import replace

    share = min(calls / usage.calls, 1.0)
    counts = {name: round(share * getattr(usage, name)) for name in ("calls", "tokens_in", "tokens_out", "unpriced")}
    return replace(usage, **counts, cost=share * usage.cost, seconds=share * usage.seconds)


def total_usage(usage: Usage) -> tuple[Usage, float]:
    """Return an estimate plus the cached replies, and the relative margin of its output tokens."""
    total = usage + usage.known if usage.known else usage
    return total, usage.margin * usage.tokens_out / total.tokens_out if total.tokens_out else 0.0


def _cost(usage: Usage) -> str:
    return "unknown price, set llm.prices" if usage.unpriced else f"about ${usage.cost:.4f}"


def _margin(usage: Usage) -> str:
    if not usage.basis:
        return " (a guess: no earlier replies of this model; --sample measures)" if usage.calls else ""
    return f" (± {usage.margin:.0%}, by {usage.basis:,} replies)"


def _print_json(receipt: Receipt, *, model: str, embedder: str, sampled: Usage | None, seconds: float | None) -> None:
    from weft.context.serialise import usage_to_dict

    sample = {} if sampled is None else {"sample": usage_to_dict(sampled)}
    print_json(
        {"model": model, **_estimate_to_dict(receipt), **sample, "embedder": _embedder(receipt, embedder, seconds)}
    )


def _embedder(receipt: Receipt, name: str, seconds: float | None) -> dict[str, Any]:
    """Return the estimate of embedding as JSON values."""
    from weft.context.serialise import embedding_to_dict

    usage = embedding_to_dict(receipt.embedding)
    values = {name: usage.get(name, 0) for name in ("calls", "tokens", "cost")}
    minutes = {} if seconds is None else {"minutes": round(seconds / 60, 3)}
    return {"model": name, "texts": receipt.embedded, "cached": receipt.cached, **values, **minutes}


def _estimate_to_dict(receipt: Receipt) -> dict[str, Any]:
    from weft.context.serialise import usage_to_dict

    usage = usage_to_dict(receipt.usage)
    names = ("calls", "cached", "tokens_in", "tokens_out", "cost")
    total, margin = total_usage(receipt.usage)
    has_basis = receipt.usage.basis > 0
    return {
        "documents": receipt.added + receipt.changed,
        "chunks": receipt.chunks,
        **{name: usage[name] for name in names},
        "minutes": round(receipt.usage.seconds / 60, 3),
        "basis": receipt.usage.basis,
        "margin": round(receipt.usage.margin, 4) if has_basis else None,
        "in_all": {
            **{name: usage_to_dict(total)[name] for name in ("calls", "tokens_in", "tokens_out", "cost")},
            "margin": round(margin, 4) if has_basis else None,
        },
    }
