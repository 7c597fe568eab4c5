"""Watching of files and folders for changes (watchfiles)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.config import LoadOptions
from weft.errors import MissingExtra
from weft.load.folder import FoundFile, is_on_disk, iter_files, name_source


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Files that changed since the last report."""

    updated: tuple[Path, ...]
    """New or changed files that a full run would load."""
    deleted: tuple[Path, ...]
    """Files and folders that no longer exist, and files that are now empty. Excluded files do not count."""


def iter_changes(paths: Sequence[Path], *, options: LoadOptions, base: Path | None) -> Iterator[Changes]:
    """Yield the changes below the paths until interrupted. Changes close in time are reported together."""
    check_watching()
    from watchfiles import watch

    for batch in watch(*paths, raise_interrupt=True):
        touched = {Path(name).resolve() for _, name in batch}
        yield sort_changes(touched, paths=paths, options=options, base=base)


def check_watching() -> None:
    """Raise `MissingExtra` if watchfiles is not installed."""
    try:
        import watchfiles  # noqa: F401
    except ImportError as error:
        raise MissingExtra("watchfiles", extra="watch") from error


def sort_changes(touched: set[Path], *, paths: Sequence[Path], options: LoadOptions, base: Path | None) -> Changes:
    """Divide changed paths into files to load and deleted or emptied files."""
    found = list(iter_files(paths, options=options, base=base))
    wanted = {item.path for item in found if isinstance(item, FoundFile)}
    emptied = {item.source for item in found if not isinstance(item, FoundFile) and item.reason == "empty"}

    def is_deleted(path: Path) -> bool:
        exists = path.is_dir() or is_on_disk(str(path), base=None)
        return not exists or name_source(path, base=base.resolve() if base else None) in emptied

    return Changes(updated=tuple(sorted(touched & wanted)), deleted=tuple(sorted(filter(is_deleted, touched - wanted))))
