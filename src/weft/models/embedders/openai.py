"""Embeds through any endpoint that speaks OpenAI's `/embeddings`, hosted or on this machine."""

from __future__ import annotations

import hashlib
import importlib.util
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock

import numpy as np

from weft.errors import BadModelOutput, BoundReached, ConfigError, MissingExtra, ModelError, ModelUnavailable
from weft.models.base import TextKind, replace_surrogates
from weft.models.http_client import Transport
from weft.models.llm.budget import Account
from weft.records import ModelCard, Usage, Vectors
from weft.text.tokens import guess_model_tokens

DEFAULT_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """What is known of a hosted model without asking."""

    dimension: int
    floor: float
    background: tuple[float, float] = (0.1, 0.08)


# Floors and backgrounds are estimates from published similarity distributions (related pairs of the
# third generation lie at 0.3 to 0.6, all pairs of ada-002 above 0.68), not measured by us.
KNOWN_MODELS = {
    "text-embedding-3-small": KnownModel(dimension=1536, floor=0.25),
    "text-embedding-3-large": KnownModel(dimension=3072, floor=0.25),
    "text-embedding-ada-002": KnownModel(dimension=1536, floor=0.72, background=(0.7, 0.03)),
}

REPLACED = "another model answers under this name: bring the former one back, or name it otherwise and weft reembed"
IGNORED = "the endpoint does not shorten vectors: leave models.dimensions out"

UNKNOWN_MODEL = KnownModel(dimension=0, floor=0.3)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """How much one request carries, and how many are under way at once."""

    texts: int = 128
    characters: int = 100_000
    """Below OpenAI's 300,000 tokens a request in any script."""
    parallel: int = 4
    attempts: int = 6
    timeout_seconds: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Billed:
    """What an answer costs."""

    tokens_in: int
    is_guessed: bool
    tokens_out: int = 0


class OpenAIEmbedder:
    """
    An embedder behind HTTP.

    The dimension of a model that is neither known nor given is 0 on the card until the first call.
    The key is in no representation, message or log.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str = "",
        dimensions: int | None = None,
        limits: RequestLimits | None = None,
        account: Account | None = None,
        sleep: Callable[[float], None] | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """
        Open the embedder; nothing is sent yet.

        An empty `base_url` is OpenAI's own. `dimensions` asks the server for shorter vectors. `account` counts what is
        embedded of documents, and may bound it.
        """
        base_url = base_url or DEFAULT_URL
        if importlib.util.find_spec("httpx") is None:
            raise MissingExtra("httpx", extra="openai")
        check_endpoint(base_url, api_key=api_key)
        self._model = model
        self._base_url = base_url.rstrip("/")
        self._asked_dimensions = dimensions
        self._limits = limits or RequestLimits()
        self._account = account or Account(price=None)
        self._transport = Transport(
            f"{self._base_url}/embeddings",
            api_key=api_key,
            attempts=self._limits.attempts,
            timeout_seconds=self._limits.timeout_seconds,
            sleep=sleep or time.sleep,
            jitter=jitter,
            on_failure=self._account.note,
        )
        self._sleep = sleep
        self._known = KNOWN_MODELS.get(model, UNKNOWN_MODEL)
        self._dimension = dimensions or self._known.dimension
        self._lock = Lock()
        self._calls: set[Event] = set()
        """Of each call under way, what ends it."""

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._model!r}, base_url={self._base_url!r})"

    @property
    def card(self) -> ModelCard:
        """What the embedder knows of itself."""
        return ModelCard(
            name=f"openai/{self._model}",
            fingerprint=self._fingerprint(),
            dimension=self._dimension,
            floor=self._known.floor,
            background=self._known.background,
            scripts=frozenset({"*"}),
            max_tokens=8191,
        )

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """
        Return one unit-length row per text; `kind` makes no difference to these models.

        Raises `ModelUnavailable` when the endpoint refuses or stays away, or documents may not cost more
        (`BoundReached`), and `BadModelOutput` when its answer is not one vector per text.
        """
        return self.embed_incrementally(texts, kind=kind, keep=lambda part, vectors: None)

    def embed_incrementally(
        self, texts: Sequence[str], *, kind: TextKind = "document", keep: Callable[[Sequence[str], Vectors], None]
    ) -> Vectors:
        """
        Return what `embed` does; `keep` is told of each answer as it comes.

        Requests under way when one fails, or the caller is interrupted, are finished and kept; no further one is made.
        """
        if not texts:
            return np.zeros((0, self._dimension), np.float32)
        batches = list(_batches(texts, limits=self._limits))
        failures: list[ModelError] = []
        with self._call(kind) as stop:

            def ask(batch: Sequence[str]) -> Vectors:
                try:
                    vectors = self._embed_batch(batch, kind=kind, stop=stop)
                    keep(batch, vectors)
                except ModelError as error:
                    failures.append(error)
                    stop.set()
                    raise
                return vectors

            # In threads also where there is one request, so that Ctrl-C does not cut off what is paid for.
            pool = ThreadPoolExecutor(min(self._limits.parallel, len(batches)))
            try:
                asked = [pool.submit(ask, batch) for batch in batches]
                vectors = [future.result() for future in asked]
            except ModelError:
                raise failures[0] from failures[0].__cause__
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)
        return np.concatenate(vectors)

    def interrupt(self) -> None:
        """Let calls that are under way end with the requests they have made."""
        with self._lock:
            for stop in self._calls:
                stop.set()

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._transport.close()

    @property
    def usage(self) -> Usage:
        """What embedding documents has come to so far."""
        return self._account.total

    def estimate_usage(self, texts: Sequence[str]) -> Usage:
        """Return what embedding these texts at once would come to."""
        tokens = sum(map(guess_model_tokens, texts))
        return self._account.estimate_usage(calls=sum(1 for _ in _batches(texts, limits=self._limits)), tokens=tokens)

    @contextmanager
    def _call(self, kind: TextKind) -> Iterator[Event]:
        """Give what ends a call, for as long as it is under way, and count how long that is."""
        stop, start = Event(), time.perf_counter()
        with self._lock:
            self._calls.add(stop)
        try:
            yield stop
        finally:
            with self._lock:
                self._calls.discard(stop)
            if kind == "document":
                self._account.add(seconds=time.perf_counter() - start)

    def _embed_batch(self, texts: Sequence[str], *, kind: TextKind, stop: Event) -> Vectors:
        def wait(seconds: float) -> None:
            if self._sleep is None:
                stop.wait(seconds)
            else:
                self._sleep(seconds)
            _check_going(stop)

        _check_going(stop)
        # The API refuses the empty string, but not a space.
        request: dict[str, object] = {
            "model": self._model,
            "input": [replace_surrogates(text) or " " for text in texts],
        }
        if self._asked_dimensions:
            request["dimensions"] = self._asked_dimensions
        post = partial(self._transport.post, request, sleep=wait)
        vectors = read_vectors(self._count(post, texts) if kind == "document" else post(), count=len(texts))
        self._check_dimension(vectors.shape[1])
        return vectors

    def _count(self, post: Callable[[], object], texts: Sequence[str]) -> object:
        """Return the answer to a request, and count what it costs. Raises `BoundReached` where it may not be made."""
        tokens = sum(map(guess_model_tokens, texts))
        if not self._account.may_ask(tokens_in=tokens, tokens_out=0):
            raise BoundReached(self._account.total.stopped, hint="raise models.max_cost (--max-cost)")
        counted = None
        try:
            answer = post()
            counted = read_tokens(answer, guess=tokens)
        finally:
            self._account.settle(counted, tokens_in=tokens, tokens_out=0)
        return answer

    def expect(self, dimension: int) -> None:
        """Take the dimension for granted, where it is not known yet."""
        with self._lock:
            self._dimension = self._dimension or dimension

    def _check_dimension(self, dimension: int) -> None:
        """Learn the dimension from the first answer; every other one must have the same."""
        self.expect(dimension)
        if dimension != self._dimension:
            raise BadModelOutput(
                f"{self._model!r} gave vectors of dimension {dimension} instead of {self._dimension}",
                hint=IGNORED if self._asked_dimensions else REPLACED,
            )

    def _fingerprint(self) -> str:
        """Return a hash of what decides the vectors. Known models are the same wherever they run."""
        place = "" if self._model in KNOWN_MODELS else self._base_url
        facts = f"openai {self._model} {self._asked_dimensions or 0} {place}"
        return hashlib.sha256(facts.encode()).hexdigest()[:32]


def read_tokens(answer: object, *, guess: int) -> Billed:
    """Return the tokens of a request as the server counted them, or as guessed where it did not."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    names = ("prompt_tokens", "total_tokens")
    given = [usage.get(name) for name in names] if isinstance(usage, dict) else []
    tokens = next((number for number in given if type(number) is int and number >= 0), None)
    return Billed(tokens_in=guess if tokens is None else tokens, is_guessed=tokens is None)


def read_vectors(answer: object, *, count: int) -> Vectors:
    """Return the unit vectors of one answer in the order of the request. Raises `BadModelOutput`."""
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadModelOutput("the endpoint's answer has no list `data` of vectors")
    if len(entries) != count:
        raise BadModelOutput(f"the endpoint gave {len(entries)} vectors for {count} texts")
    # Servers that leave out `index` answer in order.
    places = [entry.get("index", number) for number, entry in enumerate(entries)]
    if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
        raise BadModelOutput(f"the endpoint numbered its vectors {places[:10]!r}")
    in_order = [entry.get("embedding") for _, entry in sorted(zip(places, entries, strict=True), key=_place)]
    try:
        vectors = np.array(in_order, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadModelOutput(f"the endpoint's vectors are not numbers of one length: {error}") from error
    if vectors.ndim != 2 or vectors.shape[1] == 0:
        raise BadModelOutput(f"the endpoint's vectors have the shape {vectors.shape}")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise BadModelOutput("the endpoint gave a vector that is zero or not finite")
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit


def _check_going(stop: Event) -> None:
    if stop.is_set():
        raise ModelUnavailable("embedding was interrupted")


def _place(numbered: tuple[int, object]) -> int:
    return numbered[0]


def _batches(texts: Sequence[str], *, limits: RequestLimits) -> Iterator[list[str]]:
    """Yield the texts in order, in lists that stay within the limits; a huge text goes alone."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == limits.texts or characters + len(text) > limits.characters):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def check_endpoint(base_url: str, *, api_key: str) -> None:
    """Raise `ConfigError` for an address or a key that no request can be made with."""
    if not base_url.startswith(("http://", "https://")):
        raise ConfigError(f"{base_url!r} is no address of an endpoint", hint="it begins with https://")
    # Such a key would make the HTTP library raise an error with the key in it.
    if not (api_key.isascii() and api_key.isprintable()) or api_key != api_key.strip():
        raise ConfigError("the API key has characters that no header can hold", hint="copy it again")
