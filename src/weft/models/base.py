"""Protocols of the models. Adapters implement them; packages above `models` depend only on these."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from weft.records import Chunk, Document, Extraction, ModelCard, Reading, Usage, Vectors

TextKind: TypeAlias = Literal["document", "query"]


class Embedder(Protocol):
    """Maps texts to vectors. The constructor is cheap; the first call of `embed` loads the weights."""

    @property
    def card(self) -> ModelCard:
        """Description of the embedder. Needs neither weights nor network."""

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """
        Return one unit-length float32 row per text, in order.

        The vector of a text depends only on the text and `kind`, not on its batch or the number of threads.
        Raises `ModelUnavailable` or `BadModelOutput`.
        """


@runtime_checkable
class Loadable(Protocol):
    """An embedder with weights in this process."""

    def load(self) -> None:
        """Load the weights now instead of in the first `embed`. Idempotent."""


@runtime_checkable
class Interruptible(Protocol):
    """An embedder whose running calls can be cancelled."""

    def interrupt(self) -> None:
        """End running calls of `embed` with `ModelUnavailable`; later calls are not affected."""


@runtime_checkable
class LearnsDimension(Protocol):
    """An embedder that may learn its dimension from the first call."""

    def expect(self, dimension: int) -> None:
        """Set the dimension if it is unknown. Vectors of another dimension are then `BadModelOutput`."""


@runtime_checkable
class IncrementalEmbedder(Protocol):
    """An embedder that passes on the vectors of each request, so a later failure does not lose them."""

    def embed_incrementally(
        self, texts: Sequence[str], *, kind: TextKind = "document", keep: Callable[[Sequence[str], Vectors], None]
    ) -> Vectors:
        """Embed like `embed`, and call `keep` with the texts and vectors of each response, in any thread."""


@runtime_checkable
class BulkEmbedder(Protocol):
    """An embedder that is much faster with large calls, because it sends requests in parallel or runs on a GPU."""

    @property
    def texts_per_call(self) -> int:
        """Number of document texts that one call should have; 0 if the caller may decide."""


@runtime_checkable
class BilledEmbedder(Protocol):
    """An embedder whose requests are counted and may cost money."""

    @property
    def usage(self) -> Usage:
        """Usage so far for documents. Questions are not counted."""

    def estimate_usage(self, texts: Sequence[str]) -> Usage:
        """Return the expected usage of one call of `embed` with these texts; sends nothing."""


@runtime_checkable
class CachingEmbedder(Protocol):
    """An embedder with a cache of vectors. It counts the texts of documents."""

    @property
    def embedded(self) -> int:
        """Number of texts embedded so far."""

    @property
    def cached(self) -> int:
        """Number of texts found in the cache so far."""

    def find_unknown(self, texts: Sequence[str]) -> dict[bytes, str]:
        """Return the distinct texts without a cached vector, by digest; embeds nothing."""


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def count(self, text: str) -> int:
        """Return the number of tokens in `text` without special tokens."""


class Extractor(Protocol):
    """Extracts entities and relations from documents."""

    @property
    def name(self) -> str:
        """Name and version, stored with the graph: `rules-22`. It changes if the same text would give another graph."""

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return one extraction per chunk of the document, in order."""


@runtime_checkable
class Metered(Protocol):
    """A component that counts its requests to a language model."""

    def take_usage(self) -> Usage:
        """Return the usage since the last call."""


@runtime_checkable
class BatchExtractor(Metered, Protocol):
    """An extractor with a cost limit that reads many documents at once and can estimate its cost."""

    @property
    def name(self) -> str:
        """Name and version of the extractor, stored with the graph."""

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return one extraction per chunk of the document, in order."""

    def extract_all(self, work: Sequence[tuple[Document, Sequence[Chunk]]]) -> list[Reading | None]:
        """Return one reading per document; None if a limit was reached before the end of the document."""

    def offline(self, *, sample: int = 0) -> Extractor:
        """
        Return an extractor of the same name that sends no requests; its usage is an estimate.

        To estimate the replies, it sends up to `sample` chunks. These requests cost money, and their replies are
        cached.
        """


class Reranker(Protocol):
    """Scores how well passages answer a question."""

    @property
    def name(self) -> str:
        """Name in the settings: `cohere/rerank-v3.5`."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """
        Return one finite score per text, in order; higher is better. Each model has its own scale.

        The first call loads the model. Raises `ModelUnavailable` or `BadModelOutput`.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """Reply of a language model, with its tokens."""

    text: str
    tokens_in: int
    tokens_out: int
    is_cut: bool = False
    """True if the reply was truncated at the maximum length."""
    is_guessed: bool = False
    """True if the token counts are estimates because the server sent none."""


class AnswerWriter(Protocol):
    """Writes an answer to a question from numbered passages."""

    @property
    def name(self) -> str:
        """The model and the version of the prompt."""

    def write(self, query: str, texts: Sequence[str]) -> Iterator[str]:
        """Yield the answer in pieces, as they arrive. Raises `ModelUnavailable` or `BadModelOutput`."""


class ChatModel(Protocol):
    """A language model that replies in JSON."""

    @property
    def name(self) -> str:
        """Vendor and model: `openai/gpt-4o-mini`."""

    def ask(self, *, system: str, user: str, schema: Mapping[str, Any]) -> ChatReply:
        """
        Return the reply. It should be a JSON object that fits `schema`, but this is not guaranteed.

        Temporary failures are retried a limited number of times. Raises `ModelUnavailable` or `BadModelOutput`.
        """

    def stream(self, *, system: str, user: str) -> Generator[str, None, ChatReply]:
        """Yield the reply as text in pieces, and return it. Raises `ModelUnavailable` or `BadModelOutput`."""


def replace_surrogates(text: str) -> str:
    """Return the text with U+FFFD for lone surrogates, because model libraries accept only valid Unicode."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
