"""Folder of an installed model: `<cache>/models/<name>-<fingerprint>/`."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from weft.errors import ModelUnavailable
from weft.models.local.catalog import LocalModel
from weft.system.private_files import make_private_folder
from weft.system.temporary_files import temporary_file, temporary_folder

logger = logging.getLogger(__name__)

ONNX_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
CARD_FILE = "card.json"

WORK_PREFIX = ".work-"


class DamagedModel(ModelUnavailable):
    """A file of an installed model does not have the checksum of `card.json`, or cannot be read."""


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
        card = json.loads((folder / CARD_FILE).read_bytes())
        sizes: Mapping[str, int] = card["sizes"]
        complete = card["fingerprint"] == model.fingerprint and all(
            (folder / name).stat().st_size == sizes[name] for name in (ONNX_FILE, TOKENIZER_FILE)
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return InstalledModel(folder=folder) if complete else None


def read_precision(installed: InstalledModel) -> str:
    """Return the precision of the graph, as the installation recorded it; `unknown` if `card.json` is damaged."""
    try:
        return str(json.loads((installed.folder / CARD_FILE).read_bytes())["precision"])
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown"


def is_intact(installed: InstalledModel) -> bool:
    """Return True if the files still have the hashes in `card.json`. Reads them completely."""
    try:
        expected: Mapping[str, str] = json.loads((installed.folder / CARD_FILE).read_bytes())["sha256"]
        names = (ONNX_FILE, TOKENIZER_FILE)
        return all(_sha256((installed.folder / name).read_bytes()) == expected[name] for name in names)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def read_verified(installed: InstalledModel, *, name: str) -> bytes:
    """
    Return the content of a file of the model, verified by its checksum in `card.json`. Raises `DamagedModel`.

    CRC-32 takes an eighth of the time of SHA-256. SHA-256 is computed only if the CRC differs or is missing.
    """
    path = installed.folder / name
    try:
        card = json.loads((installed.folder / CARD_FILE).read_bytes())
        content = path.read_bytes()
        if card.get("crc32", {}).get(name) == zlib.crc32(content) or card["sha256"][name] == _sha256(content):
            return content
        reason = "is damaged"
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
    except (ValueError, KeyError, TypeError, AttributeError):
        reason = f"cannot be verified, because {CARD_FILE!r} is damaged"
    raise DamagedModel(f"the model file {str(path)!r} {reason}", hint="run `weft models fetch` again")


def add_checksums(installed: InstalledModel, *, contents: Mapping[str, bytes]) -> None:
    """Add CRC-32 checksums of verified files to a `card.json` that an earlier version wrote."""
    path = installed.folder / CARD_FILE
    with suppress(OSError, ValueError):  # it saves time only
        card = json.loads(path.read_bytes())
        if "crc32" not in card:
            card["crc32"] = {name: zlib.crc32(content) for name, content in contents.items()}
            with temporary_file(path) as partial:
                partial.write_text(json.dumps(card, indent=2))
                partial.replace(path)


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
            "crc32": {name: zlib.crc32(data) for name, data in files.items()},
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
