"""What embedders say of themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What an embedder knows of itself."""

    name: str
    """As written in settings: `local/granite-30m`, `openai/text-embedding-3-small` …"""
    fingerprint: str
    """Changes whenever the same text would get another vector."""
    dimension: int
    floor: float
    """Best cosine at which a question with ordinary word overlap is as likely foreign to the corpus as not."""
    slope: float = 25.0
    """How fast that doubt turns into certainty: log-odds per unit of cosine."""
    background: tuple[float, float] = (0.05, 0.1)
    """Mean and standard deviation of the cosines of unrelated pairs."""
    scripts: frozenset[str] = frozenset({"*"})
    """Scripts it was trained on (`latin`, `han` …); `*` for all."""
    max_tokens: int = 512
    degraded: str = ""
    """Why results of this embedder are marked degraded; empty for a real model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredModel:
    """An embedder as a namespace remembers it."""

    name: str
    fingerprint: str
    dimension: int
    active: bool
    """The one that answers. Another, inactive one exists while `reembed` is under way."""
