"""
Loaders of other packages: entry points of the group `weft.loaders`, each named after a file extension.

    [project.entry-points."weft.loaders"]
    ".abc" = "abc_notation.weft:load_abc"

A package cannot replace a loader of Weft. The loader is imported when the first file of its kind is read. An error in
it skips the file, as for a broken file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from weft.config import LoadOptions
from weft.load.file_reader import LoadError
from weft.load.file_types import Loader
from weft.records import Document, Skipped

GROUP = "weft.loaders"


@cache
def packaged_loaders() -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of installed packages by extension, in lower case and with its point."""
    found = defaultdict[str, list[EntryPoint]](list)
    for entry in entry_points(group=GROUP):
        found[f".{entry.name.lower().lstrip('.')}"].append(entry)
    return {suffix: tuple(entries) for suffix, entries in found.items()}


def find_packaged_loader(suffix: str) -> Loader | None:
    """Return the loader of another package for an extension in lower case; None without one."""
    entries = packaged_loaders().get(suffix)
    return partial(_load, entries) if entries else None


def _load(
    entries: tuple[EntryPoint, ...], path: Path, *, source: str, options: LoadOptions
) -> Iterator[Document | Skipped]:
    """Yield what the loader of another package yields. Its errors become `LoadError`."""
    entry = entries[0]
    owner = f"{entry.value} of {_package(entry)}"
    if len(entries) > 1:
        raise LoadError("broken loader", f"two packages load {entry.name}: {', '.join(map(_package, entries))}")
    try:
        for item in entry.load()(path, source=source, options=options):
            if not isinstance(item, Document | Skipped):
                raise LoadError("broken loader", f"{owner} yields {type(item).__name__}, not Document")
            yield item
    except (LoadError, OSError):
        raise
    except Exception as error:
        raise LoadError("broken loader", f"{owner}: {type(error).__name__}: {error}") from error


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "an unknown package"
