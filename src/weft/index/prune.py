"""Search for documents whose files no longer exist."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from weft.records import DocumentInfo, Evidence, Filter, Result, Skipped
from weft.store.base import Store, StoreReader
from weft.system.source_paths import file_path, path_of
from weft.text.searchable_metadata import IMPORT

_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]+:")

EMPTY = "empty"
"""Skip reason of a file without content. Earlier documents of the file are orphans."""
IGNORED = "ignored"
"""
Skip reason of a file excluded by a rule.

Its documents are orphans only if the file does not exist. With any other reason the file exists but is unreadable, so
its documents are kept.
"""


def find_orphans(
    roots: Sequence[str],
    *,
    seen: Collection[str],
    skipped: Sequence[Skipped],
    store: Store,
    on_disk: Callable[[str], bool],
) -> list[DocumentInfo]:
    """
    Return the documents below `roots` (sources of files or folders) whose file or record no longer exists.

    `seen` and `skipped` come from a complete run over the roots. A document is orphaned if its file is not `on_disk`,
    or if the file was read and no longer contains it. Documents of skipped files and of graph imports are kept.
    """
    unread = {item.source for item in skipped if item.reason not in (EMPTY, IGNORED)}
    read = {file for source in seen for file in files_of(source)}
    read |= {file for item in skipped if item.reason == EMPTY for file in files_of(item.source)}
    # The id of an unreadable record is unknown, so keep all records of its file.
    unread |= {source.rpartition("#")[0] for source in unread if "#" in source}
    orphans: dict[str, DocumentInfo] = {}
    for root in roots:
        for document in iter_documents(store, Filter(source_prefix="" if root == "." else root)):
            source = document.source
            if IMPORT in document.metadata or source in seen or not is_below(source, root):
                continue
            if any(is_below(source, other) for other in unread):
                continue
            if not any(file not in read and on_disk(file) for file in files_of(source)):
                orphans[document.id] = document
    return list(orphans.values())


def mark_lost(result: Result, *, store: StoreReader, base: Path) -> Result:
    """
    Return a result whose documents say if their file no longer exists.

    Only sources that are paths are looked for. If no file of the answer exists, and neither the first nor the last one
    of the namespace, nothing is marked: the store was copied without its files.
    """
    pieces = (*result.evidence, *result.connected)
    sources = {piece.document.source for piece in pieces if IMPORT not in piece.document.metadata}
    exists = cache(partial(_is_file, folder=str(base.absolute())))  # records of one file share it
    files = [source for source in sources if not has_scheme(source)]
    lost = {source for source in files if not any(map(exists, reversed(files_of(source))))}
    if not lost or (len(lost) == len(files) and not _is_beside_files(store, base=base)):
        return result

    def marked(found: Iterable[Evidence]) -> tuple[Evidence, ...]:
        return tuple(
            replace(piece, document=replace(piece.document, is_lost=piece.document.source in lost)) for piece in found
        )

    return replace(result, evidence=marked(result.evidence), connected=marked(result.connected))


def find_file_on_disk(source: str, *, base: Path | None) -> Path | None:
    """Return the absolute path of the file of a document, or of one of its records; None if there is none."""
    folder = str((base or Path()).absolute())
    return next((path_of(file, base=base) for file in files_of(source) if _is_file(file, folder=folder)), None)


def _is_file(source: str, *, folder: str) -> bool:
    """Return True for an existing file, or if this cannot be determined."""
    try:
        path = file_path(source, folder=folder)
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - a Path for each hit costs more than the call
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: NUL in the name
        return False
    except OSError:
        return True


def _is_beside_files(store: StoreReader, *, base: Path) -> bool:
    ends = store.source_range() or ()
    return any(not has_scheme(source) and find_file_on_disk(source, base=base) for source in ends)


def files_of(source: str) -> list[str]:
    """Return the possible files of a document: its source, and each prefix of the source before a `#`."""
    return [source, *(source[: match.start()] for match in re.finditer("#", source))]


def iter_documents(store: StoreReader, where: Filter, *, page: int = 1000) -> Iterator[DocumentInfo]:
    """Yield all documents that pass the filter, ordered by source."""
    after = ""
    while found := store.find_documents(where, after=after, limit=page):
        yield from found
        after = found[-1].source


def is_below(source: str, root: str) -> bool:
    """
    Return True if a source is `root` itself, a record of this file, or inside this folder.

    The root `.` is the folder that paths are relative to. Absolute paths and sources with a scheme (`text:note`,
    `https://…`) are not below it.
    """
    if root in ("", "."):
        return not source.startswith("/") and not has_scheme(source)
    if source == root:
        return True
    return source.startswith(root) and (root[-1] in "/#" or source[len(root)] in "/#")


def has_scheme(source: str) -> bool:
    """Return True if a source starts with a URI scheme: `text:note`, `https://…`. A drive letter is no scheme."""
    return _SCHEME.match(source) is not None
