"""Documents by their names: files and folders that were indexed, and what of them is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from weft.errors import InputError, NotFound
from weft.index.prune import find_gone, is_below, iter_documents
from weft.load.file_types import UPLOAD
from weft.load.folder import is_on_disk, source_of
from weft.records import Chunk, Document, DocumentInfo, Filter, Skipped
from weft.store.base import Store
from weft.text.searchable_metadata import IMPORT


def read_paths(paths: Sequence[str | Path]) -> list[Path]:
    """Return the files and folders that are given. Raises `InputError` for an empty text, which `Path` takes for `.`"""
    if "" in paths:
        raise InputError("a path is empty", hint="give a file or folder; '.' is the working folder")
    return [Path(path) for path in paths]


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
    """Return the ids of documents below `roots` whose file is gone, by a complete run over them."""
    names = [source_of(root, base=base) for root in roots]
    if base and any(base.is_relative_to(root.resolve()) for root in roots):
        names.append(".")  # sources below the base are relative, also where the root is above it

    def on_disk(source: str) -> bool:
        return is_on_disk(source, base=base)

    gone = find_gone(names, seen=seen, skipped=skipped, store=store, on_disk=on_disk)
    return [document.id for document in gone]


def find_below(names: Sequence[str], *, store: Store) -> list[str]:
    """Return the ids of the documents of files and folders, by their sources; what imports made is not among them."""
    found = [document for name in names for document in documents_below(name, store=store)]
    return [document.id for document in found if IMPORT not in document.metadata]


def documents_below(name: str, *, store: Store) -> Iterator[DocumentInfo]:
    """Yield the documents of a file or folder, by its source."""
    found = iter_documents(store, Filter(source_prefix=name)) if name else ()
    return (document for document in found if is_below(document.source, name))


def typed_source(name: str, *, store: Store, base: Path | None) -> str:
    """Return the source of the file or folder that a typed path leads to; the name itself where that is not known."""
    if not name or store.documents([name]) or store.find_documents(Filter(source_prefix=name), limit=1):
        return name
    source = source_of(Path(name), base=base)
    return source if store.find_documents(Filter(source_prefix=source), limit=1) else name


def get_named(names: Sequence[str], *, store: Store) -> list[str]:
    """Return the ids of documents by id or source; that of a folder or file takes all in it. Raises `NotFound`."""
    ids: list[str] = []
    for name in names:
        found = store.documents([name]) or list(documents_below(name, store=store))
        if not found:
            raise NotFound(
                f"no document {name[:300]!r} in namespace {store.namespace!r}", hint=_hint(name, store=store)
            )
        ids += [document.id for document in found]
    return ids


def get_document(name: str, *, store: Store) -> tuple[DocumentInfo, list[Chunk]]:
    """Return a document by id or source with its chunks, or the one chunk with this id. Raises `NotFound`."""
    if chunks := store.chunks([name]):
        return store.documents([chunks[0].document_id])[0], chunks
    found = store.documents([name]) or _find_source(name, store=store)
    if not found:
        text = f"no document or chunk {name[:300]!r} in namespace {store.namespace!r}"
        raise NotFound(text, hint=_hint(name, store=store))
    return found[0], store.find_chunks(found[0].id)


def _find_source(source: str, *, store: Store) -> list[DocumentInfo]:
    found = store.find_documents(Filter(source_prefix=source), limit=1)
    return [document for document in found if document.source == source]


def _hint(name: str, *, store: Store) -> str:
    """Name the source that a text or upload of this name has, where there is one."""
    full = next((source for source in (f"text:{name}", f"{UPLOAD}{name}") if _find_source(source, store=store)), "")
    return f"did you mean {full!r}?" if full else "weft list"
