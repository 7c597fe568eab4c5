"""What embedders say of themselves, and what their cosines are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

WordKind: TypeAlias = Literal["person", "place", "organisation", "work", "name", "noun", "other"]


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
    weight: float = 1.0
    """What the vector channel's share is multiplied by: less for a model that keywords often beat."""
    scripts: frozenset[str] = frozenset({"*"})
    """Scripts it was trained on (`latin`, `han` …); `*` for all."""
    same: float | None = None
    """Cosine from which two questions ask the same (`benchmarks/quality/same_questions.py`); None: not measured."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Log-odds that grow evenly with what is measured: 0 at the middle, `slope` more for each unit above it."""

    middle: float
    slope: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What turns the best cosine and the best keyword share into the probability that a question is answered here."""

    cosine: Curve
    """Its middle is the embedder's floor."""
    beside: Curve
    """What the keyword share adds where there is a cosine."""
    words: Curve
    """The keyword share where there is none, in scripts with spaces."""
    pairs: Curve
    """The same in scripts without spaces, whose terms are pairs of characters."""
    origin: Literal["shipped", "fitted"] = "shipped"
    """`shipped` comes with the embedder, `fitted` was made from probes of one namespace."""
    probes: int = 0
    """How many questions it was fitted to, own and foreign ones."""
    area: float = 0.0
    """Area under the ROC curve of own against foreign probes; 0 where it was not fitted."""
    chunks: int = 0
    """How many chunks the namespace had when it was fitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedWord:
    """A word of a text in a script without spaces, and what it is."""

    start: int
    end: int
    kind: WordKind
    """`name` is a proper noun of another kind; `noun` may be part of a term; `other` is everything else."""
