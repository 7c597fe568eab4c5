"""Files and folders that were indexed, and what of them is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from weft.index.plan import IMPORT
from weft.index.prune import find_gone, is_below, iter_documents
from weft.load.folder import source_of
from weft.records import Document, DocumentInfo, Filter, Skipped
from weft.store.base import Store


def noting(items: Iterable[Document | Skipped], seen: set[str]) -> Iterator[Document | Skipped]:
    """Yield what was loaded, and note the sources of documents in `seen`."""
    for item in items:
        if isinstance(item, Document):
            seen.add(item.source)
        yield item


def find_missing(
    roots: Sequence[Path],
    *,
    base: Path | None,
    seen: Collection[str],
    skipped: Sequence[Skipped],
    store: Store,
) -> list[str]:
    """Return the ids of documents below `roots` that a complete run over them did not come across."""
    names = [source_of(root, base=base) for root in roots]
    if base and any(base.is_relative_to(root.resolve()) for root in roots):
        names.append(".")  # sources below the base are relative, also where the root is above it
    return [document.id for document in find_gone(names, seen=seen, skipped=skipped, store=store)]


def find_below(names: Sequence[str], *, store: Store) -> list[str]:
    """Return the ids of the documents of files and folders, by their sources; what imports made is not among them."""
    found = [document for name in names for document in documents_below(name, store=store)]
    return [document.id for document in found if IMPORT not in document.metadata]


def documents_below(name: str, *, store: Store) -> Iterator[DocumentInfo]:
    """Yield the documents of a file or folder, by its source."""
    found = iter_documents(store, Filter(source_prefix=name)) if name else ()
    return (document for document in found if is_below(document.source, name))
