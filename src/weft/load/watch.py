"""Files that change while we look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.config import LoadOptions
from weft.errors import MissingExtra
from weft.load.folder import FoundFile, is_on_disk, iter_files, name_source


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What happened between two looks."""

    present: tuple[Path, ...]
    """New or changed files that a full run would load."""
    gone: tuple[Path, ...]
    """Files and folders that are no longer there, and files that were emptied. What is merely left out is not gone."""


def iter_changes(paths: Sequence[Path], *, options: LoadOptions, base: Path | None) -> Iterator[Changed]:
    """Yield what changed below the paths, until interrupted. Changes close together come as one."""
    check_watching()
    from watchfiles import watch

    for batch in watch(*paths, raise_interrupt=True):
        touched = {Path(name).resolve() for _, name in batch}
        yield sort_changes(touched, paths=paths, options=options, base=base)


def check_watching() -> None:
    """Raise `MissingExtra` where the library that watches files is not installed."""
    try:
        import watchfiles  # noqa: F401
    except ImportError as error:
        raise MissingExtra("watchfiles", extra="watch") from error


def sort_changes(touched: set[Path], *, paths: Sequence[Path], options: LoadOptions, base: Path | None) -> Changed:
    """Return which of the paths that were touched are to be loaded, and which are gone."""
    found = list(iter_files(paths, options=options, base=base))
    wanted = {item.path for item in found if isinstance(item, FoundFile)}
    emptied = {item.source for item in found if not isinstance(item, FoundFile) and item.reason == "empty"}

    def is_gone(path: Path) -> bool:
        is_left = path.is_dir() or is_on_disk(str(path), base=None)
        return not is_left or name_source(path, base=base.resolve() if base else None) in emptied

    return Changed(present=tuple(sorted(touched & wanted)), gone=tuple(sorted(filter(is_gone, touched - wanted))))
