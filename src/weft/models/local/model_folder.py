"""Folder of an installed model: `<cache>/models/<name>-<fingerprint>/`."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from weft.models.local.catalog import LocalModel
from weft.private_files import make_private_folder
from weft.temporary_files import temporary_folder

logger = logging.getLogger(__name__)

ONNX_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
CARD_FILE = "card.json"

WORK_PREFIX = ".work-"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledModel:
    """An installed model."""

    folder: Path

    @property
    def onnx(self) -> Path:
        """ONNX file: graph and weights."""
        return self.folder / ONNX_FILE

    @property
    def tokenizer(self) -> Path:
        """Tokenizer file in the format of the `tokenizers` package."""
        return self.folder / TOKENIZER_FILE


def model_folder(model: LocalModel, *, cache_dir: Path) -> Path:
    """Return the folder of the model, installed or not."""
    return cache_dir / "models" / f"{model.name}-{model.fingerprint[:12]}"


def find_installed(model: LocalModel, *, cache_dir: Path) -> InstalledModel | None:
    """Return the model if all its files exist with their full sizes, else None."""
    folder = model_folder(model, cache_dir=cache_dir)
    try:
        sizes: Mapping[str, int] = json.loads((folder / CARD_FILE).read_bytes())["sizes"]
        complete = all((folder / name).stat().st_size == sizes[name] for name in (ONNX_FILE, TOKENIZER_FILE))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return InstalledModel(folder=folder) if complete else None


def is_intact(installed: InstalledModel, *, names: Sequence[str] = (ONNX_FILE, TOKENIZER_FILE)) -> bool:
    """Return True if the files still have the hashes in `card.json`. Reads them completely."""
    try:
        expected: Mapping[str, str] = json.loads((installed.folder / CARD_FILE).read_bytes())["sha256"]
        return all(_sha256((installed.folder / name).read_bytes()) == expected[name] for name in names)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write_installed(
    model: LocalModel, *, cache_dir: Path, onnx: bytes, tokenizer: bytes, facts: Mapping[str, str]
) -> InstalledModel:
    """
    Write a model to the cache atomically; `facts` are added to `card.json`.

    If another process has installed the model meanwhile, its copy is kept.
    """
    folder = model_folder(model, cache_dir=cache_dir)
    files = {ONNX_FILE: onnx, TOKENIZER_FILE: tokenizer}
    with work_folder(cache_dir) as work:
        staged = work / "model"
        staged.mkdir()
        for name, data in files.items():
            _write_durably(staged / name, data=data)
        card = {
            "name": model.name,
            "title": model.title,
            "licence": model.licence,
            "fingerprint": model.fingerprint,
            **facts,
            "sizes": {name: len(data) for name, data in files.items()},
            "sha256": {name: _sha256(data) for name, data in files.items()},
        }
        _write_durably(staged / CARD_FILE, data=json.dumps(card, indent=2).encode())
        return _move_into_place(staged, model=model, folder=folder, cache_dir=cache_dir, aside=work / "aside")


def _move_into_place(staged: Path, *, model: LocalModel, folder: Path, cache_dir: Path, aside: Path) -> InstalledModel:
    """Rename the staged folder to its final name. Only a damaged model is replaced."""
    if folder.exists() and not is_intact(InstalledModel(folder=folder)):
        logger.warning("replacing the damaged model in %s", folder)
        with suppress(FileNotFoundError):  # another process repairs the model too
            folder.replace(aside)
    try:
        staged.replace(folder)
    except OSError:
        # A non-empty folder cannot be replaced: another process was faster.
        installed = find_installed(model, cache_dir=cache_dir)
        if not installed:
            raise
        return installed
    return InstalledModel(folder=folder)


@contextmanager
def work_folder(cache_dir: Path) -> Iterator[Path]:
    """
    Yield an empty temporary folder on the file system of the models; delete it afterwards.

    Temporary folders left by killed processes are deleted too.
    """
    models = cache_dir / "models"
    make_private_folder(models)
    with temporary_folder(models, prefix=WORK_PREFIX) as folder:
        yield folder


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write_durably(path: Path, *, data: bytes) -> None:
    """Write the file and sync it. Otherwise, after a power failure, it could have its full size without its content."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
