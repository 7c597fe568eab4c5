"""The folder a model lives in once it is built: `<cache>/models/<name>-<fingerprint>/`."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from weft.models.local.catalog import LocalModel

logger = logging.getLogger(__name__)

ONNX_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
CARD_FILE = "card.json"

WORK_PREFIX = ".work-"
ABANDONED_SECONDS = 24 * 3600
"""A work folder older than this belongs to a process that was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledModel:
    """A model that is ready to run."""

    folder: Path

    @property
    def onnx(self) -> Path:
        """The graph with its weights."""
        return self.folder / ONNX_FILE

    @property
    def tokenizer(self) -> Path:
        """The tokenizer, in the format of the `tokenizers` package."""
        return self.folder / TOKENIZER_FILE


def model_folder(model: LocalModel, *, cache_dir: Path) -> Path:
    """Return where the model is or would be."""
    return cache_dir / "models" / f"{model.name}-{model.fingerprint[:12]}"


def find_installed(model: LocalModel, *, cache_dir: Path) -> InstalledModel | None:
    """Return the model if every file of it is there in its full length, else None."""
    folder = model_folder(model, cache_dir=cache_dir)
    try:
        sizes: Mapping[str, int] = json.loads((folder / CARD_FILE).read_bytes())["sizes"]
        complete = all((folder / name).stat().st_size == sizes[name] for name in (ONNX_FILE, TOKENIZER_FILE))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return InstalledModel(folder=folder) if complete else None


def is_intact(installed: InstalledModel, *, names: Sequence[str] = (ONNX_FILE, TOKENIZER_FILE)) -> bool:
    """Tell whether the files still are, byte by byte, what was written. Reads them whole."""
    try:
        expected: Mapping[str, str] = json.loads((installed.folder / CARD_FILE).read_bytes())["sha256"]
        return all(_sha256((installed.folder / name).read_bytes()) == expected[name] for name in names)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def write_installed(
    model: LocalModel, *, cache_dir: Path, onnx: bytes, tokenizer: bytes, facts: Mapping[str, str]
) -> InstalledModel:
    """
    Put a model into the cache, whole or not at all; `facts` go into its card.

    Where another process was faster, its copy stays.
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
    """Rename the staged folder to its final name. Only a damaged one is ever replaced."""
    if folder.exists() and not is_intact(InstalledModel(folder=folder)):
        logger.warning("replacing the damaged model in %s", folder)
        with suppress(FileNotFoundError):  # another process is mending it too
            folder.replace(aside)
    try:
        staged.replace(folder)
    except OSError:
        # A folder that is not empty cannot be replaced: another process was faster.
        installed = find_installed(model, cache_dir=cache_dir)
        if not installed:
            raise
        return installed
    return InstalledModel(folder=folder)


@contextmanager
def work_folder(cache_dir: Path) -> Iterator[Path]:
    """
    Lend an empty folder beside the models, on the same disk, and remove it afterwards.

    Folders that killed processes left behind are removed too.
    """
    models = cache_dir / "models"
    models.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(models)
    with tempfile.TemporaryDirectory(dir=models, prefix=WORK_PREFIX, ignore_cleanup_errors=True) as name:
        yield Path(name)


def _remove_abandoned(models: Path) -> None:
    for path in models.glob(f"{WORK_PREFIX}*"):
        try:
            abandoned = time.time() - path.stat().st_mtime > ABANDONED_SECONDS
        except OSError:
            continue  # its owner was just removing it
        if abandoned:
            shutil.rmtree(path, ignore_errors=True)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write_durably(path: Path, *, data: bytes) -> None:
    """Write the file and wait for the disk, so that a power cut cannot leave a full-length hole."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
