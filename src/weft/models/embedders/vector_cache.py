"""Embedder with a cache of vectors in a SQLite file; no text is embedded twice."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Lock

import numpy as np

from weft.models.base import (
    BilledEmbedder,
    BulkEmbedder,
    Embedder,
    IncrementalEmbedder,
    Interruptible,
    LearnsDimension,
    Loadable,
    TextKind,
)
from weft.models.embedders.vector_cache_file import CacheFile
from weft.records import ModelCard, Usage, Vector, Vectors

GIBIBYTE = 1 << 30
HOUR_SECONDS = 3600


class CachedEmbedder:
    """
    An embedder that calls `inner` only for texts that are not cached.

    The cache is optional: if its file is locked, full, unwritable or corrupt, this is logged once and `inner`
    embeds every text. Only documents wait for a locked file; a question is embedded at once.
    """

    def __init__(
        self,
        inner: Embedder,
        *,
        path: Path,
        max_bytes: int = GIBIBYTE,
        version: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open the cache. Vectors of another `version` of the same model are not used."""
        self._inner = inner
        self._version = version
        self._file = CacheFile(path, max_bytes=max_bytes)
        self._clock = clock
        self._lock = Lock()
        self._embedded = 0
        self._cached = 0

    @property
    def card(self) -> ModelCard:
        """Description of the inner embedder."""
        return self._inner.card

    @property
    def embedded(self) -> int:
        """Number of document texts embedded so far."""
        return self._embedded

    @property
    def cached(self) -> int:
        """Number of document texts that were cached or repeated within a call."""
        return self._cached

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """Return one unit-length row per text, from the cache or the inner embedder."""
        if not texts:
            return self._inner.embed(texts, kind=kind)
        model = self._key(kind)
        hour = int(self._clock() // HOUR_SECONDS)
        digests = [_digest(text) for text in texts]
        unique = dict(zip(digests, texts, strict=True))
        known = self._find_known(model, digests=list(unique), hour=hour, waits=kind == "document")
        missing = {digest: text for digest, text in unique.items() if digest not in known}
        if missing:
            fresh = self._embed_new(list(missing.values()), kind=kind, hour=hour)
            known = _select_dimension(known, dimension=fresh.shape[1])
            known.update(zip(missing, fresh, strict=True))
        lost = {digest: text for digest, text in unique.items() if digest not in known}
        if lost:
            known.update(zip(lost, self._embed_new(list(lost.values()), kind=kind, hour=hour), strict=True))
        if kind == "document":
            with self._lock:
                self._cached += len(texts) - len(missing) - len(lost)
        return np.stack([known[digest] for digest in digests])

    @property
    def texts_per_call(self) -> int:
        """Preference of the inner embedder; 0 unless it is a `BulkEmbedder`."""
        return self._inner.texts_per_call if isinstance(self._inner, BulkEmbedder) else 0

    @property
    def usage(self) -> Usage:
        """Usage of the inner embedder; empty unless it is a `BilledEmbedder`."""
        return self._inner.usage if isinstance(self._inner, BilledEmbedder) else Usage()

    def estimate_usage(self, texts: Sequence[str]) -> Usage:
        """Return the expected usage of texts that are not cached; empty unless `inner` is a `BilledEmbedder`."""
        return self._inner.estimate_usage(texts) if texts and isinstance(self._inner, BilledEmbedder) else Usage()

    def find_unknown(self, texts: Sequence[str]) -> dict[bytes, str]:
        """Return the distinct document texts that are not cached, by digest; writes nothing."""
        unique = {_digest(text): text for text in texts}
        known = self._find_known(self._key("document"), digests=list(unique)) if self._file.exists else {}
        return {digest: text for digest, text in unique.items() if digest not in known}

    def expect(self, dimension: int) -> None:
        """Pass the dimension to the inner embedder if it can learn it."""
        if isinstance(self._inner, LearnsDimension):
            self._inner.expect(dimension)

    def load(self) -> None:
        """Load the weights of the inner embedder if they are in this process."""
        if isinstance(self._inner, Loadable):
            self._inner.load()

    def interrupt(self) -> None:
        """Interrupt the inner embedder if it supports this."""
        if isinstance(self._inner, Interruptible):
            self._inner.interrupt()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._file.close()

    def _embed_new(self, texts: Sequence[str], *, kind: TextKind, hour: int) -> Vectors:
        """Embed texts with the inner embedder and cache the vectors, after each response if it is incremental."""
        model = self._key(kind)

        def keep(part: Sequence[str], vectors: Vectors) -> None:
            fresh = dict(zip(map(_digest, part), vectors, strict=True))
            self._file.write(model, vectors=fresh, hour=hour, waits=kind == "document")
            if kind == "document":
                with self._lock:
                    self._embedded += len(part)

        inner: object = self._inner
        if isinstance(inner, IncrementalEmbedder):
            return inner.embed_incrementally(texts, kind=kind, keep=keep)
        vectors = self._inner.embed(texts, kind=kind)
        keep(texts, vectors)
        return vectors

    def _key(self, kind: TextKind) -> str:
        return " ".join(filter(None, (self.card.fingerprint, self._version, kind)))

    def _find_known(
        self, model: str, *, digests: Sequence[bytes], hour: int = 0, waits: bool = True
    ) -> dict[bytes, Vector]:
        """Return the cached vectors with the dimension of the inner embedder."""
        known = self._file.read(model, digests=digests, hour=hour, waits=waits)
        dimension = self.card.dimension or max((len(vector) for vector in known.values()), default=0)
        return _select_dimension(known, dimension=dimension)


def _select_dimension(vectors: dict[bytes, Vector], *, dimension: int) -> dict[bytes, Vector]:
    return {digest: vector for digest, vector in vectors.items() if len(vector) == dimension}


def erase_vectors(path: Path, texts: Iterable[str]) -> None:
    """Delete the cached vectors of texts, of every model. Raises `StoreUnavailable`."""
    file = CacheFile(path, max_bytes=GIBIBYTE)
    try:
        file.erase(list(dict.fromkeys(map(_digest, texts))))
    finally:
        file.close()


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
