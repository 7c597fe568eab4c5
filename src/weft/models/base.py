"""The roles models play. Adapters implement them; nothing above `models/` knows which one it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from weft.records import Chunk, Document, Extraction, ModelCard, Reading, Usage, Vectors

TextKind: TypeAlias = Literal["document", "query"]


class Embedder(Protocol):
    """Turns texts into vectors. Opening one is cheap; weights are loaded by the first `embed`."""

    @property
    def card(self) -> ModelCard:
        """What the embedder knows of itself. Needs neither weights nor network."""

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """
        Return one unit-length float32 row per text, in order.

        The vector of a text depends on nothing but the text and `kind`: not on its neighbours, not on
        the number of threads. Raises `ModelUnavailable` or `BadModelOutput`.
        """


@runtime_checkable
class Loadable(Protocol):
    """An embedder whose weights are in this process."""

    def load(self) -> None:
        """Load the weights now, so that the first `embed` does not have to; again it does nothing."""


@runtime_checkable
class Interruptible(Protocol):
    """An embedder that takes long over many texts, and need not finish them."""

    def interrupt(self) -> None:
        """Let calls of `embed` that are under way end with `ModelUnavailable`; later ones work as before."""


@runtime_checkable
class Expecting(Protocol):
    """An embedder that may not know its dimension before the first call."""

    def expect(self, dimension: int) -> None:
        """Take it from vectors that are there, where it is not known: from then on others are `BadModelOutput`."""


@runtime_checkable
class Gradual(Protocol):
    """An embedder that is paid for each request: what it has given is worth keeping, whatever comes after."""

    def embed_gradually(
        self, texts: Sequence[str], *, kind: TextKind = "document", keep: Callable[[Sequence[str], Vectors], None]
    ) -> Vectors:
        """As `embed`; `keep` is told the texts of each answer and their vectors as it comes, in any thread."""


@runtime_checkable
class Paid(Protocol):
    """An embedder that may be behind an endpoint, where each request is counted and may cost money."""

    @property
    def usage(self) -> Usage:
        """What embedding documents has come to so far. Questions are left out."""

    def foresee(self, texts: Sequence[str]) -> Usage:
        """Return what one call of `embed` with these texts would come to; sends nothing."""


@runtime_checkable
class Remembering(Protocol):
    """An embedder that keeps the vectors it gave, and counts the texts of documents."""

    @property
    def embedded(self) -> int:
        """How many had to be embedded so far."""

    @property
    def cached(self) -> int:
        """How many were known."""

    def find_unknown(self, texts: Sequence[str]) -> dict[bytes, str]:
        """Return the texts whose vector is not known, each once, by what tells them apart; embeds nothing."""


class TokenCounter(Protocol):
    """Counts tokens as a language model would."""

    def count(self, text: str) -> int:
        """Return the number of tokens in `text`, special tokens left out."""


class Extractor(Protocol):
    """Reads entities and relations out of documents."""

    @property
    def name(self) -> str:
        """What is recorded with the graph; changes whenever the same text would give another one: `rules-12`."""

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return what each of the document's chunks says, in their order."""


@runtime_checkable
class Metered(Protocol):
    """What counts what it asks of a language model."""

    def take_usage(self) -> Usage:
        """Return what was asked since the last call, and what it cost."""


@runtime_checkable
class BatchExtractor(Metered, Protocol):
    """An extractor that costs: it reads many documents at once, within bounds, and can say beforehand what it asks."""

    @property
    def name(self) -> str:
        """As that of an `Extractor`."""

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """As that of an `Extractor`."""

    def extract_all(self, work: Sequence[tuple[Document, Sequence[Chunk]]]) -> list[Reading | None]:
        """Return what each document says; None for one that a bound did not let it read to the end."""

    def offline(self, *, sample: int = 0) -> Extractor:
        """
        Return one of the same name that asks nothing, and whose usage is what would be asked.

        Before it tells, it asks about a `sample` of at most so many chunks, which are paid for and kept.
        """


class Reranker(Protocol):
    """Judges how well passages answer a question, having read them."""

    @property
    def name(self) -> str:
        """How it is called in the settings: `cohere/rerank-v3.5`."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """
        Return one finite number per text, in their order: the larger, the better. The scale is its own.

        Loads the model when it is first called. Raises `ModelUnavailable` or `BadModelOutput`.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What a language model wrote, and what it cost."""

    text: str
    tokens_in: int
    tokens_out: int
    is_cut: bool = False
    """Whether it ended because it may not be longer."""
    is_guessed: bool = False
    """Whether the server did not count the tokens, so that they are estimated."""


class ChatModel(Protocol):
    """A language model that is asked for JSON."""

    @property
    def name(self) -> str:
        """Who makes it and what it is called: `openai/gpt-4o-mini`."""

    def ask(self, *, system: str, user: str, schema: Mapping[str, Any]) -> ChatReply:
        """
        Return the reply to a question, which should be an object of the form `schema`, but may be anything.

        What may help is tried again, a bounded number of times. Raises `ModelUnavailable` or `BadModelOutput`.
        """


def replace_surrogates(text: str) -> str:
    """Return the text with lone surrogates replaced by U+FFFD: model libraries accept only valid Unicode."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
