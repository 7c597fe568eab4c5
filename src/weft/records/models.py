"""Embedder properties and confidence calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

WordKind: TypeAlias = Literal["person", "place", "organisation", "work", "name", "noun", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """Properties of an embedder."""

    name: str
    """Name as in the settings: `local/granite-30m`, `openai/text-embedding-3-small` …"""
    fingerprint: str
    """Hash that changes whenever a text would get another vector."""
    dimension: int
    floor: float
    """Best cosine at which a question with average word overlap is answered with probability 0.5."""
    slope: float = 25.0
    """Slope of the logistic curve at the floor: log-odds per unit of cosine."""
    background: tuple[float, float] = (0.05, 0.1)
    """Mean and standard deviation of the cosines of unrelated pairs."""
    weight: float = 1.0
    """Factor of the vector weight; below 1 for a weak model."""
    scripts: frozenset[str] = frozenset({"*"})
    """Scripts in the training data (`latin`, `han` …); `*` for all scripts."""
    weak_scripts: frozenset[str] = frozenset()
    """Scripts in which cosines order chunks but do not separate answerable questions from foreign ones."""
    max_tokens: int = 512
    degraded: str = ""
    """Reason why results are marked degraded; empty for a real model."""
    remote: bool = False
    """True if embedding calls a server. No read transaction is open during such a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredModel:
    """An embedder recorded in a namespace."""

    name: str
    fingerprint: str
    dimension: int
    active: bool
    """True if queries use this embedder. A second, inactive embedder exists while `reembed` runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Logistic curve: log-odds are 0 at `middle` and grow by `slope` per unit."""

    middle: float
    slope: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Curves that map the best cosine and keyword share to the probability of an answer."""

    cosine: Curve
    """Curve of the best cosine; its middle is the embedder's floor."""
    beside: Curve
    """Curve of the keyword share, added to the curve of the cosine."""
    words: Curve
    """Curve of the keyword share alone, in scripts with spaces."""
    pairs: Curve
    """Curve of the keyword share alone, in scripts without spaces (character bigrams)."""
    origin: Literal["shipped", "fitted"] = "shipped"
    """`shipped` with the embedder, or `fitted` to one namespace."""
    probes: int = 0
    """Number of probes in the fit, own and foreign."""
    area: float = 0.0
    """Area under the ROC curve of own against foreign probes; 0 if not fitted."""
    chunks: int = 0
    """Number of chunks at the time of fitting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedWord:
    """A word of a segmented text and its part of speech."""

    start: int
    end: int
    kind: WordKind
    """`name`: other proper noun; `noun`: possible part of a term; `other`: everything else."""
