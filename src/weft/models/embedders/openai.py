"""Embedder for endpoints with OpenAI's `/embeddings` API, hosted or local."""

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
from weft.models.adaptive_limit import AdaptiveLimit
from weft.models.base import TextKind, replace_surrogates
from weft.models.http_client import Transport
from weft.models.llm.budget import Account
from weft.records import ModelCard, Usage, Vectors
from weft.text.plurals import counted
from weft.text.tokens import guess_model_tokens

DEFAULT_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """Properties of a hosted model that are known without a request."""

    dimension: int
    floor: float
    background: tuple[float, float] = (0.1, 0.08)


# Floors and backgrounds are estimated from published similarity distributions, not measured:
# related pairs of the third generation lie at 0.3 to 0.6, all pairs of ada-002 above 0.68.
KNOWN_MODELS = {
    "text-embedding-3-small": KnownModel(dimension=1536, floor=0.25),
    "text-embedding-3-large": KnownModel(dimension=3072, floor=0.25),
    "text-embedding-ada-002": KnownModel(dimension=1536, floor=0.72, background=(0.7, 0.03)),
}

MODEL_CHANGED_HINT = "serve the earlier model again, or give the new one another name and run weft reembed"
DIMENSIONS_IGNORED_HINT = "remove models.dimensions; the endpoint ignores it"
ENDPOINT_HINT = "set models.base_url to an OpenAI-compatible endpoint, or set models.embedder to another model"

UNKNOWN_MODEL = KnownModel(dimension=0, floor=0.3)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """Maximum size of one request, and number of parallel requests."""

    texts: int = 128
    characters: int = 100_000
    """Maximum characters per request. In any script, this is below OpenAI's limit of 300,000 tokens."""
    parallel: int = 4
    """Parallel requests at first. The number then adapts to the endpoint."""
    max_parallel: int = 32
    """Maximum number of parallel requests."""
    attempts: int = 6
    timeout_seconds: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Billed:
    """Tokens of one response."""

    tokens_in: int
    is_guessed: bool
    tokens_out: int = 0


class OpenAIEmbedder:
    """
    An embedder behind HTTP.

    If the dimension is neither known nor configured, it is 0 until the first call. The API key appears in no
    representation, message or log.
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
        Create the embedder; no request is sent.

        An empty `base_url` selects OpenAI. `dimensions` requests shorter vectors. `account` counts the usage for
        documents and may limit it.
        """
        base_url = base_url or DEFAULT_URL
        if importlib.util.find_spec("httpx") is None:
            raise MissingExtra("httpx", extra="openai")
        check_endpoint(base_url, api_key=api_key)
        self._model = model
        self._base_url = base_url.rstrip("/")
        self._requested_dimensions = dimensions
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
        self._parallel = AdaptiveLimit(start=self._limits.parallel, maximum=self._limits.max_parallel)
        self._known = KNOWN_MODELS.get(model, UNKNOWN_MODEL)
        self._dimension = dimensions or self._known.dimension
        self._lock = Lock()
        self._calls: set[Event] = set()
        """One event per running call; setting it ends the call."""

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._model!r}, base_url={self._base_url!r})"

    @property
    def card(self) -> ModelCard:
        """Description of the embedder."""
        return ModelCard(
            name=f"openai/{self._model}",
            fingerprint=self._fingerprint(),
            dimension=self._dimension,
            floor=self._known.floor,
            background=self._known.background,
            scripts=frozenset({"*"}),
            max_tokens=8191,
            remote=True,
        )

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """
        Return one unit-length row per text; these models ignore `kind`.

        Raises `ModelUnavailable` if the endpoint fails, `BoundReached` at the cost limit for documents, and
        `BadModelOutput` if the response is not one vector per text.
        """
        return self.embed_incrementally(texts, kind=kind, keep=lambda part, vectors: None)

    def embed_incrementally(
        self, texts: Sequence[str], *, kind: TextKind = "document", keep: Callable[[Sequence[str], Vectors], None]
    ) -> Vectors:
        """
        Return the vectors like `embed`, and call `keep` for each response as it arrives.

        If a request fails or the caller is interrupted, running requests are finished and kept, and no new one starts.
        """
        if not texts:
            return np.zeros((0, self._dimension), np.float32)
        batches = list(_batches(texts, limits=self._limits))
        failures: list[ModelError] = []
        with self._call(kind) as stop:

            def ask(batch: Sequence[str]) -> Vectors:
                try:
                    with self._parallel.slot() as refuse:
                        vectors = self._embed_batch(batch, kind=kind, stop=stop, refuse=refuse)
                    keep(batch, vectors)
                except ModelError as error:
                    failures.append(error)
                    stop.set()
                    raise
                return vectors

            # Even a single request runs in a thread: Ctrl-C must not abort a request that costs money.
            pool = ThreadPoolExecutor(min(self._limits.max_parallel, len(batches)))
            try:
                futures = [pool.submit(ask, batch) for batch in batches]
                vectors = [future.result() for future in futures]
            except ModelError:
                raise failures[0] from failures[0].__cause__
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)
        return np.concatenate(vectors)

    def interrupt(self) -> None:
        """End running calls of `embed` after their current requests."""
        with self._lock:
            for stop in self._calls:
                stop.set()

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._transport.close()

    @property
    def texts_per_call(self) -> int:
        """Texts of `parallel` requests; 0 with a cost limit, at which a large call would not be written."""
        return 0 if self._account.has_bounds else self._limits.texts * self._limits.parallel

    @property
    def usage(self) -> Usage:
        """Usage so far for documents."""
        return self._account.total

    def estimate_usage(self, texts: Sequence[str]) -> Usage:
        """Return the expected usage of embedding these texts in one call."""
        tokens = sum(map(guess_model_tokens, texts))
        return self._account.estimate_usage(calls=sum(1 for _ in _batches(texts, limits=self._limits)), tokens=tokens)

    @contextmanager
    def _call(self, kind: TextKind) -> Iterator[Event]:
        """Yield the event that ends this call, and add its duration to the usage."""
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

    def _embed_batch(self, texts: Sequence[str], *, kind: TextKind, stop: Event, refuse: Callable[[], None]) -> Vectors:
        """Return the vectors of one request. `refuse` is called before each retry."""

        def wait(seconds: float) -> None:
            refuse()
            if self._sleep is None:
                stop.wait(seconds)
            else:
                self._sleep(seconds)
            _check_running(stop)

        _check_running(stop)
        # The API rejects the empty string, but not a space.
        request: dict[str, object] = {
            "model": self._model,
            "input": [replace_surrogates(text) or " " for text in texts],
        }
        if self._requested_dimensions:
            request["dimensions"] = self._requested_dimensions
        post = partial(self._transport.post, request, sleep=wait)
        vectors = read_vectors(self._count(post, texts) if kind == "document" else post(), count=len(texts))
        self._check_dimension(vectors.shape[1])
        return vectors

    def _count(self, post: Callable[[], object], texts: Sequence[str]) -> object:
        """Return the response of `post` and count its tokens. Raises `BoundReached` if the limit forbids it."""
        tokens = sum(map(guess_model_tokens, texts))
        if not self._account.reserve(tokens_in=tokens, tokens_out=0):
            raise BoundReached(self._account.total.stopped, hint="raise models.max_cost (--max-cost)")
        counted = None
        try:
            answer = post()
            counted = read_tokens(answer, guess=tokens)
        finally:
            self._account.settle(counted, tokens_in=tokens, tokens_out=0)
        return answer

    def expect(self, dimension: int) -> None:
        """Set the dimension if it is unknown."""
        with self._lock:
            self._dimension = self._dimension or dimension

    def _check_dimension(self, dimension: int) -> None:
        """Learn the dimension from the first response. Raises `BadModelOutput` if a later one differs."""
        self.expect(dimension)
        if dimension != self._dimension:
            raise BadModelOutput(
                f"{self._model!r} returned vectors of dimension {dimension} instead of {self._dimension}",
                hint=DIMENSIONS_IGNORED_HINT if self._requested_dimensions else MODEL_CHANGED_HINT,
            )

    def _fingerprint(self) -> str:
        """Return a hash of all parameters of the vectors. A known model has the same hash at any address."""
        address = "" if self._model in KNOWN_MODELS else self._base_url
        facts = f"openai {self._model} {self._requested_dimensions or 0} {address}"
        return hashlib.sha256(facts.encode()).hexdigest()[:32]


def read_tokens(answer: object, *, guess: int) -> Billed:
    """Return the tokens that the server counted, or `guess` if it sent none."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    names = ("prompt_tokens", "total_tokens")
    counts = [usage.get(name) for name in names] if isinstance(usage, dict) else []
    tokens = next((number for number in counts if type(number) is int and number >= 0), None)
    return Billed(tokens_in=guess if tokens is None else tokens, is_guessed=tokens is None)


def read_vectors(answer: object, *, count: int) -> Vectors:
    """Return the unit vectors of one response in the order of the request. Raises `BadModelOutput`."""
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadModelOutput("the response of the endpoint has no list `data` of vectors", hint=ENDPOINT_HINT)
    if len(entries) != count:
        raise BadModelOutput(
            f"the endpoint returned {counted(len(entries), 'vector')} for {counted(count, 'text')}", hint=ENDPOINT_HINT
        )
    # Servers that omit `index` return the vectors in order.
    indices = [entry.get("index", number) for number, entry in enumerate(entries)]
    if any(type(index) is not int for index in indices) or sorted(indices) != list(range(count)):
        raise BadModelOutput(f"the endpoint returned vectors with the indexes {indices[:10]!r}", hint=ENDPOINT_HINT)
    by_index = dict(zip(indices, entries, strict=True))
    in_order = [by_index[index].get("embedding") for index in range(count)]
    try:
        vectors = np.array(in_order, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadModelOutput(f"the endpoint returned invalid vectors: {error}", hint=ENDPOINT_HINT) from error
    if vectors.ndim != 2 or vectors.shape[1] == 0:
        raise BadModelOutput(f"the endpoint returned vectors of shape {vectors.shape}", hint=ENDPOINT_HINT)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and lengths.all()):
        raise BadModelOutput("the endpoint returned a zero or non-finite vector", hint=ENDPOINT_HINT)
    unit: Vectors = (vectors / lengths).astype(np.float32)
    return unit


def _check_running(stop: Event) -> None:
    if stop.is_set():
        raise ModelUnavailable("embedding was interrupted", hint="run the command again")


def _batches(texts: Sequence[str], *, limits: RequestLimits) -> Iterator[list[str]]:
    """Yield the texts in order, in batches within the limits; a text above the limit is its own batch."""
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
    """Raise `ConfigError` for an address or a key that cannot be used in a request."""
    if not base_url.startswith(("http://", "https://")):
        raise ConfigError(
            f"invalid endpoint address {base_url!r}", hint="set models.base_url to an address that begins with https://"
        )
    # With such a key, the HTTP library would raise an error that contains the key.
    if not (api_key.isascii() and api_key.isprintable()) or api_key != api_key.strip():
        raise ConfigError(
            "the API key contains characters that are invalid in an HTTP header",
            hint="set OPENAI_API_KEY to a key of printable ASCII characters",
        )
