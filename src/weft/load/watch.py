"""Files that change while we look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.config import LoadOptions
from weft.errors import MissingExtra
from weft.load.run import iter_sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What happened between two looks."""

    present: tuple[Path, ...]
    """New or changed files that a full run would load."""
    gone: tuple[Path, ...]
    """Files and folders that are no longer there, or are ignored now."""


def iter_changes(paths: Sequence[Path], *, options: LoadOptions, base: Path | None) -> Iterator[Changed]:
    """Yield what changed below the paths, until interrupted. Changes close together come as one."""
    try:
        from watchfiles import watch
    except ImportError as error:
        raise MissingExtra("watchfiles", extra="watch") from error
    for batch in watch(*paths, raise_interrupt=True):
        touched = {Path(name).resolve() for _, name in batch}
        wanted = set(iter_sources(paths, options=options, base=base))
        yield Changed(
            present=tuple(sorted(touched & wanted)),
            gone=tuple(sorted(path for path in touched - wanted if not path.is_dir())),
        )
