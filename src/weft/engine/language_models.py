"""Language models by the settings: the extractor that asks one, and what was spent on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

from weft.config import Settings
from weft.errors import ConfigError
from weft.models.base import Extractor
from weft.models.llm.budget import Account, Bounds
from weft.models.llm.chat import ChatLimits, HttpChat, Wire, count_form
from weft.models.llm.extractor import Asking, LlmExtractor
from weft.models.llm.prices import Price, find_price
from weft.models.llm.prompt import SCHEMA, Prompt
from weft.models.llm.reply_cache import ReplyFile
from weft.models.rerankers.llm import MAX_REPLY, LlmReranker
from weft.models.rerankers.llm import SCHEMA as JUDGEMENT
from weft.records import LlmRun, Usage
from weft.store.base import Store

FILE = "replies.db"
FRAME = 10
"""Tokens that stand around the two messages of a request."""
HINT = "openai/MODEL, also for Ollama, vLLM and llama.cpp with llm.base_url, or anthropic/MODEL"


def open_llm(
    settings: Settings, inner: Extractor, *, record: Callable[[LlmRun], None] = lambda run: None
) -> LlmExtractor:
    """
    Return the extractor that asks the model of the settings, on top of another one. Nothing is sent yet.

    `record` is told what it has cost.
    """
    options = settings.llm
    price = _find_price(settings)
    bounds = Bounds(cost=options.max_cost, tokens=options.max_tokens, minutes=options.max_minutes)
    account, stop = Account(price=price, bounds=bounds), Event()

    def pause(seconds: float) -> None:
        stop.wait(seconds)  # an interrupted run does not wait for its turn

    limits = ChatLimits(output_tokens=options.output_tokens, attempts=options.attempts, timeout_seconds=options.seconds)
    chat = _open_chat(settings, limits=limits, on_failure=account.note, sleep=pause)
    prompt = Prompt(options.entity_types, options.relation_types)
    return LlmExtractor(
        inner,
        chat,
        prompt=prompt,
        replies=ReplyFile(settings.cache_dir / FILE, prompt=prompt.fingerprint, model=options.model),
        account=account,
        asking=Asking(
            parallel=options.parallel,
            output_tokens=options.output_tokens,
            price=price,
            overhead=_count_overhead(settings, SCHEMA),
        ),
        record=record,
        stop=stop,
    )


def open_purse(settings: Settings) -> Account:
    """Return what holds judges to the bounds of the settings, those that only make sense for a run left out."""
    bounds = Bounds(cost=settings.llm.max_cost, tokens=settings.llm.max_tokens)
    return Account(price=_find_price(settings), bounds=bounds)


def open_judge(
    settings: Settings, *, purse: Account | None = None, record: Callable[[LlmRun], None] = lambda run: None
) -> LlmReranker:
    """
    Return the reranker that asks the model of the settings, once per question. Nothing is sent yet.

    `purse` holds several of them to the same bounds; `record` is told what this one has cost.
    """
    limits = ChatLimits(output_tokens=MAX_REPLY, attempts=1, timeout_seconds=settings.rerank.deadline_ms / 1000)
    account = Account(price=_find_price(settings))
    return LlmReranker(
        _open_chat(settings, limits=limits, on_failure=account.note),
        purse=purse or open_purse(settings),
        account=account,
        overhead=_count_overhead(settings, JUDGEMENT),
        record=record,
    )


def spent(store: Store) -> tuple[int, Usage]:
    """Return how many runs asked a language model for a namespace, and what they cost in all."""
    runs = store.spending.runs()
    return len(runs), sum((run.usage for run in runs), Usage())


def _endpoint(settings: Settings) -> tuple[Wire, str, str]:
    """Return which language the model of the settings speaks, its name, and where it is."""
    wires: dict[str, Wire] = {"openai": "openai", "anthropic": "anthropic"}
    kind, _, model = settings.llm.model.partition("/")
    if kind not in wires or not model:
        raise ConfigError(f"llm.model is {settings.llm.model!r}", hint=HINT)
    return wires[kind], model, settings.llm.base_url or (settings.models.base_url if kind == "openai" else "")


def _find_price(settings: Settings) -> Price | None:
    """Return the price of the model of the settings. Raises `ConfigError` where its cost is to be bounded without."""
    options = settings.llm
    _, _, base_url = _endpoint(settings)
    price = find_price(options.model, base_url=base_url, own=options.prices)
    if price is None and options.max_cost:
        hint = f"llm.prices = ['{options.model}=IN/OUT'], in dollars for a million tokens"
        raise ConfigError(f"the price of {options.model} is not known, so its cost cannot be bounded", hint=hint)
    return price


def _count_overhead(settings: Settings, form: Mapping[str, Any]) -> int:
    """Return about how many tokens a request has beside what is said in it."""
    wire, _, base_url = _endpoint(settings)
    return FRAME + (count_form(wire, form, base_url=base_url) if settings.llm.structured else 0)


def _open_chat(
    settings: Settings,
    *,
    limits: ChatLimits,
    on_failure: Callable[[str], None] = lambda kind: None,
    sleep: Callable[[float], None] = time.sleep,
) -> HttpChat:
    wire, model, base_url = _endpoint(settings)
    return HttpChat(
        model,
        wire=wire,
        api_key=settings.api_key if wire == "openai" else settings.anthropic_key,
        base_url=base_url,
        limits=limits,
        structured=settings.llm.structured,
        on_failure=on_failure,
        sleep=sleep,
    )
