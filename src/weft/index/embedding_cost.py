"""Counters of embedded texts and their cost: measured for a run, estimated for a preview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.models.base import BilledEmbedder, CachingEmbedder, Embedder
from weft.records import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """Counters of an embedder: texts embedded, texts found in its cache, usage."""

    embedded: int = 0
    cached: int = 0
    usage: Usage = field(default_factory=Usage)

    @classmethod
    def of(cls, embedder: Embedder | None) -> Meter:
        """Return the counters of an embedder; zeros if the embedder has none."""
        model: object = embedder  # the protocols below are no subtypes of Embedder
        embedded, cached = (model.embedded, model.cached) if isinstance(model, CachingEmbedder) else (0, 0)
        usage = model.usage if isinstance(model, BilledEmbedder) else Usage()
        return cls(embedded=embedded, cached=cached, usage=usage)

    def __sub__(self, before: Meter) -> Meter:
        return Meter(
            embedded=self.embedded - before.embedded,
            cached=self.cached - before.cached,
            usage=self.usage - before.usage,
        )


def is_paid(embedder: Embedder | None) -> bool:
    """Return True if an embedder calls a remote endpoint and counts its requests."""
    model: object = embedder
    return isinstance(model, BilledEmbedder) and model.estimate_usage(["a text"]).calls > 0


class EmbedPreview:
    """
    Estimated cost of calls to `embed`; zero without an embedder.

    A text counts as cached if its vector is cached, or would be after an earlier call of this preview.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self.embedder = embedder
        self._seen: set[bytes] = set()
        self.embedded = 0
        """Texts that would be embedded."""
        self.cached = 0
        """Texts whose vector would be found in the cache."""
        self.usage = Usage()

    @property
    def fingerprint(self) -> str | None:
        """Fingerprint of the embedder; None without an embedder."""
        return self.embedder.card.fingerprint if self.embedder else None

    def add(self, texts: Sequence[str]) -> None:
        """Count one call."""
        embedder: object = self.embedder
        if embedder is None:
            return
        new = list(texts)
        if isinstance(embedder, CachingEmbedder):
            unknown = embedder.find_unknown(texts)
            new = [text for digest, text in unknown.items() if digest not in self._seen]
            self._seen |= unknown.keys()
        self.embedded += len(new)
        self.cached += len(texts) - len(new)
        if isinstance(embedder, BilledEmbedder):
            self.usage += embedder.estimate_usage(new)
