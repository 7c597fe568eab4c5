"""Documents whose files are gone."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from weft.records import DocumentInfo, Filter, Skipped
from weft.store.base import Store
from weft.text.searchable_metadata import IMPORT

_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]+:")

EMPTY = "empty"
"""The reason for skipping that means a file holds nothing any more."""
IGNORED = "ignored"
"""The one that says nothing about a file: whether it is gone is seen on disk. Any other may hide what is there."""


def find_gone(
    roots: Sequence[str],
    *,
    seen: Collection[str],
    skipped: Sequence[Skipped],
    store: Store,
    on_disk: Callable[[str], bool],
) -> list[DocumentInfo]:
    """
    Return documents below `roots` (sources of files or folders) whose file is gone, by a complete run over them.

    That is one that is not `on_disk`, or was read and does not hold them any more. A file that was left out, for
    whatever reason, is not gone. What an import made is no file, and goes with the import.
    """
    unread = {item.source for item in skipped if item.reason not in (EMPTY, IGNORED)}
    read = {file for source in seen for file in files_of(source)}
    read |= {file for item in skipped if item.reason == EMPTY for file in files_of(item.source)}
    # the id of a record that cannot be read is not known: it may be any of its file's
    unread |= {source.rpartition("#")[0] for source in unread if "#" in source}
    gone: dict[str, DocumentInfo] = {}
    for root in roots:
        for document in iter_documents(store, Filter(source_prefix="" if root == "." else root)):
            source = document.source
            if IMPORT in document.metadata or source in seen or not is_below(source, root):
                continue
            if any(is_below(source, other) for other in unread):
                continue
            if not any(file not in read and on_disk(file) for file in files_of(source)):
                gone[document.id] = document
    return list(gone.values())


def files_of(source: str) -> list[str]:
    """Return the files that a document may be from: its source, and what stands before a `#` in it."""
    return [source, *(source[: match.start()] for match in re.finditer("#", source))]


def iter_documents(store: Store, where: Filter, *, page: int = 1000) -> Iterator[DocumentInfo]:
    """Yield every document that passes the filter, by source."""
    after = ""
    while found := store.find_documents(where, after=after, limit=page):
        yield from found
        after = found[-1].source


def is_below(source: str, root: str) -> bool:
    """
    Tell whether a source is `root` itself, a record in it, or lies in the folder `root`.

    The root `.` is the folder that paths are relative to: it holds neither absolute paths nor sources with
    a scheme, such as `text:note` or `https://…`, which never were files.
    """
    if root in ("", "."):
        return not source.startswith("/") and not has_scheme(source)
    if source == root:
        return True
    return source.startswith(root) and (root[-1] in "/#" or source[len(root)] in "/#")


def has_scheme(source: str) -> bool:
    """Tell whether a source begins like a URI: `text:note`, `https://…`. A drive letter is none."""
    return _SCHEME.match(source) is not None
