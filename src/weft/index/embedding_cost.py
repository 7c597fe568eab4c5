"""What embedding has come to, and what it would come to, without embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.models.base import Embedder, Paid, Remembering
from weft.records import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """What an embedder has done for documents so far, as far as it counts."""

    embedded: int = 0
    cached: int = 0
    usage: Usage = field(default_factory=Usage)

    @classmethod
    def of(cls, embedder: Embedder | None) -> Meter:
        """Return what an embedder has counted; nothing where it does not."""
        inside: object = embedder
        texts = (inside.embedded, inside.cached) if isinstance(inside, Remembering) else (0, 0)
        usage = inside.usage if isinstance(inside, Paid) else Usage()
        return cls(embedded=texts[0], cached=texts[1], usage=usage)

    def __sub__(self, before: Meter) -> Meter:
        return Meter(
            embedded=self.embedded - before.embedded,
            cached=self.cached - before.cached,
            usage=self.usage - before.usage,
        )


def is_paid(embedder: Embedder | None) -> bool:
    """Tell whether an embedder is behind an endpoint, where each request counts."""
    inside: object = embedder
    return isinstance(inside, Paid) and inside.foresee(["a text"]).calls > 0


class EmbedPreview:
    """
    Counts what calls of `embed` would come to, with None for nothing at all.

    A text whose vector the embedder keeps, or would keep by then, is not embedded again.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._seen: set[bytes] = set()
        self.embedded = 0
        """Texts that would be embedded."""
        self.cached = 0
        """Texts whose vector is known, or would be by then."""
        self.usage = Usage()

    @property
    def fingerprint(self) -> str | None:
        """That of the embedder; None where there is none."""
        return self._embedder.card.fingerprint if self._embedder else None

    def add(self, texts: Sequence[str]) -> None:
        """Count one call."""
        embedder: object = self._embedder
        if embedder is None:
            return
        new = list(texts)
        if isinstance(embedder, Remembering):
            unknown = embedder.find_unknown(texts)
            new = [text for digest, text in unknown.items() if digest not in self._seen]
            self._seen |= unknown.keys()
        self.embedded += len(new)
        self.cached += len(texts) - len(new)
        if isinstance(embedder, Paid):
            self.usage += embedder.foresee(new)
