"""Documents whose files are gone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weft.index.plan import IMPORT
from weft.records import DocumentInfo, Filter, Skipped
from weft.store.base import Store

_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]+:")

NOT_THERE = frozenset({"ignored", "empty"})
"""Reasons for skipping that mean a file has nothing to index. Any other may pass, so its documents stay."""


def find_gone(
    roots: Sequence[str], *, seen: Collection[str], skipped: Sequence[Skipped], store: Store
) -> list[DocumentInfo]:
    """
    Return documents below `roots` (sources of files or folders) that a complete run did not come across.

    What an import made is not among them: it is no file, and goes with the import.
    """
    unread = {item.source for item in skipped if item.reason not in NOT_THERE}
    # the id of a record that cannot be read is not known: it may be any of its file's
    unread |= {source.rpartition("#")[0] for source in unread if "#" in source}
    gone: dict[str, DocumentInfo] = {}
    for root in roots:
        for document in iter_documents(store, Filter(source_prefix="" if root == "." else root)):
            source = document.source
            if IMPORT in document.metadata or source in seen or not is_below(source, root):
                continue
            if not any(is_below(source, other) for other in unread):
                gone[document.id] = document
    return list(gone.values())


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
