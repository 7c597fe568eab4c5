"""
Documents by path, source or id: lookup, deleted files, watching for changes, broken links.

Loaders are imported on use: a question needs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple, TypeVar

from weft.config import LoadOptions, is_server
from weft.errors import InputError, NotFound
from weft.index.plan import Draft, Plan
from weft.index.prune import find_orphans, is_below, iter_documents
from weft.load.file_types import UPLOAD
from weft.records import Chunk, Document, DocumentInfo, Filter, Receipt, Skipped
from weft.search.cite import find_hidden_prefix
from weft.search.relations.name_lookup import find_file, find_named
from weft.store.base import Store, StoreReader
from weft.text.ids import document_id
from weft.text.searchable_metadata import IMPORT

SAMPLE_DOCUMENTS = 64
"""Number of documents by which the embedder of a new namespace is chosen."""

T = TypeVar("T")

MAX_DEFINING_CHUNKS = 20
"""Maximum number of chunks of an entity that are read."""

MAX_LINE_DIGITS = 9
"""Digits of a line number; a longer number in a citation is no line."""

BATCH_DOCUMENTS = 500
"""Documents whose links are read at once."""


def read_paths(paths: Sequence[str | Path]) -> list[Path]:
    """Return arguments as paths. Raises `InputError` for an empty string, which `Path` would read as `.`."""
    if "" in paths:
        raise InputError("a path is empty", hint="pass a file or folder; '.' is the working folder")
    return [Path(path) for path in paths]


def load_files(
    roots: Sequence[Path], *, options: LoadOptions, base: Path | None, db: str = ""
) -> Iterator[Document | Skipped]:
    """Yield the documents of files and folders, and skipped files with the reason; not the files of the store `db`."""
    from weft.load.folder import source_of
    from weft.load.run import iter_documents

    store = source_of(Path(db), base=base) if db and not is_server(db) else ""
    own = {store, f"{store}-wal", f"{store}-shm", f"{store}.index"} if store else set()
    for item in iter_documents(roots, options=options, base=base):
        if isinstance(item, Document) or item.source not in own:
            yield item


def collect_sources(items: Iterable[Document | Skipped], seen: set[str]) -> Iterator[Document | Skipped]:
    """Yield the items unchanged, and add the sources of documents to `seen`."""
    for item in items:
        if isinstance(item, Document):
            seen.add(item.source)
        yield item


def sample_files(roots: Sequence[Path], *, options: LoadOptions, base: Path | None) -> Iterator[str]:
    """Yield the texts of `SAMPLE_DOCUMENTS` documents from files evenly spread over the paths."""
    from weft.load.run import iter_sources

    files = list(iter_sources(roots, options=options, base=base))
    step = max(1, -(-len(files) // SAMPLE_DOCUMENTS))
    sampled = files[::step]
    per_file = max(1, SAMPLE_DOCUMENTS // max(1, len(sampled)))
    for path in sampled:
        documents = (item for item in load_files([path], options=options, base=base) if isinstance(item, Document))
        yield from (document.text for document in islice(documents, per_file))


def peek_documents(items: Iterable[T]) -> tuple[list[str], Iterator[T]]:
    """Return the texts of the first `SAMPLE_DOCUMENTS` items, and all items."""
    rest = iter(items)
    first = list(islice(rest, SAMPLE_DOCUMENTS))
    return [text for item in first if (text := _text_of(item))], chain(first, rest)


def _text_of(item: object) -> str:
    match item:
        case Document():
            return item.text
        case Draft() | Plan():
            return "\n".join(chunk.text for chunk in item.chunks)
    return ""


def find_missing(
    roots: Sequence[Path],
    *,
    base: Path | None,
    seen: Collection[str],
    skipped: Sequence[Skipped],
    store: Store,
) -> list[str]:
    """
    Return the ids of documents below `roots` whose files no longer exist.

    `seen` contains all sources loaded there.
    """
    from weft.load.folder import is_on_disk, source_of

    names = [source_of(root, base=base) for root in roots]
    if base and any(base.is_relative_to(root.resolve()) for root in roots):
        names.append(".")  # sources below the base are relative, even if the root is above it

    def on_disk(source: str) -> bool:
        return is_on_disk(source, base=base)

    deleted = find_orphans(names, seen=seen, skipped=skipped, store=store, on_disk=on_disk)
    return [document.id for document in deleted]


def watch(
    index: Callable[..., Receipt],
    paths: Sequence[Path],
    *,
    options: LoadOptions,
    base: Path | None,
    store: Store,
    on_receipt: Callable[[Receipt], None],
) -> None:
    """Call `index` for changed files below the paths, and delete documents of deleted files, until interrupted."""
    from weft.load.folder import source_of
    from weft.load.watch import iter_changes

    for change in iter_changes(paths, options=options, base=base):
        receipt = index(*change.updated)
        deleted = find_below([source_of(path, base=base) for path in change.deleted], store=store)
        receipt = replace(receipt, pruned=store.delete(deleted))
        if receipt.added or receipt.changed or receipt.pruned:
            on_receipt(receipt)


def find_below(names: Sequence[str], *, store: Store) -> list[str]:
    """Return the ids of documents of files and folders, by source; documents of imports are left out."""
    found = [document for name in names for document in documents_below(name, store=store)]
    return [document.id for document in found if IMPORT not in document.metadata]


def documents_below(name: str, *, store: Store) -> Iterator[DocumentInfo]:
    """Yield the documents of a file or folder, by its source."""
    found = iter_documents(store, Filter(source_prefix=name)) if name else ()
    return (document for document in found if is_below(document.source, name))


def typed_source(name: str, *, store: StoreReader, base: Path | None) -> str:
    """
    Return the source of the file or folder at a typed path, or at a path as citations show it.

    Returns the path itself if neither is indexed.
    """
    if not name or store.documents([name]) or store.find_documents(Filter(source_prefix=name), limit=1):
        return name
    from weft.load.folder import source_of

    for source in (source_of(Path(name), base=base), find_hidden_prefix(store) + name):
        if store.find_documents(Filter(source_prefix=source), limit=1):
            return source
    return name


def get_named(names: Sequence[str], *, store: Store) -> list[str]:
    """Return the ids of documents by id, or by the source of a file or folder. Raises `NotFound`."""
    ids: list[str] = []
    for name in names:
        found = store.documents([name]) or list(documents_below(name, store=store))
        if not found:
            raise NotFound(
                f"no document {name[:300]!r} in namespace {store.namespace!r}", hint=_hint(name, store=store)
            )
        ids += [document.id for document in found]
    return ids


def get_document(name: str, *, store: StoreReader) -> tuple[DocumentInfo, list[Chunk]]:
    """
    Return a document with its chunks by id or source, or some of its chunks. Raises `NotFound`.

    The id of a chunk returns this chunk, and a citation such as `notes/a.md:3-9` the chunks with these lines.
    """
    if chunks := store.chunks([name]):
        return store.documents([chunks[0].document_id])[0], chunks
    if found := _find_named(name, store=store):
        return found[0], store.find_chunks(found[0].id)
    if cited := _find_cited(name, store=store):
        return cited
    text = f"no document or chunk {name[:300]!r} in namespace {store.namespace!r}"
    raise NotFound(text, hint=_hint(name, store=store))


def get_defined(name: str, *, store: StoreReader) -> tuple[DocumentInfo, list[Chunk]]:
    """
    Return a document with chunks as `get_document` does, or the document that defines an entity with these chunks.

    Raises `NotFound`.
    """
    try:
        return get_document(name, store=store)
    except NotFound:
        ids = [entity.id for entity in find_named([name], store=store)[:1]]
        mentions = store.graph.mentions_of(ids, limit=MAX_DEFINING_CHUNKS) if ids else []
        chunks = store.chunks([mention.chunk_id for mention in mentions if mention.about])
        if not chunks:
            raise
        document = store.documents([chunks[0].document_id])[0]
        return document, [chunk for chunk in chunks if chunk.document_id == document.id]


def _find_named(name: str, *, store: StoreReader) -> list[DocumentInfo]:
    found = store.documents([name]) or _find_source(name, store=store) or _find_shortened(name, store=store)
    file = None if found else find_file(name, store=store)
    return [file] if file else found


class Cited(NamedTuple):
    """Parts of a citation such as `notes/a.md:3-9 (team)`."""

    source: str
    first: int
    last: int
    namespace: str


def split_citation(text: str) -> Cited | None:
    """Return the parts of a citation; None if the text ends with no line, page or turn."""
    citation, _, namespace = text.removesuffix(")").partition(" (") if text.endswith(")") else (text, "", "")
    source, _, numbers = citation.rpartition(":")
    start, _, end = numbers.lstrip(ascii_lowercase).partition("-")
    is_citation = source and _is_number(start) and _is_number(end or start)
    return Cited(source, int(start), int(end or start), namespace) if is_citation else None


def _find_cited(citation: str, *, store: StoreReader) -> tuple[DocumentInfo, list[Chunk]] | None:
    """
    Return the document of a citation and its chunks with the cited lines, pages or turns; None if there is none.

    A document without such lines, because its file was changed, is returned with all chunks.
    """
    cited = split_citation(citation)
    if cited is None:
        return None
    found = _find_named(cited.source, store=store)
    found = [document for document in found if not cited.namespace or document.namespace in ("", cited.namespace)]
    if not found:
        return None
    chunks = store.find_chunks(found[0].id)
    return found[0], [c for c in chunks if cited.first <= c.end_line and c.start_line <= cited.last] or chunks


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MAX_LINE_DIGITS


def _find_source(source: str, *, store: StoreReader) -> list[DocumentInfo]:
    found = store.find_documents(Filter(source_prefix=source), limit=1)
    return [document for document in found if document.source == source]


def _find_shortened(source: str, *, store: StoreReader) -> list[DocumentInfo]:
    """Return the document of a source as citations show it, without the first folders."""
    hidden = find_hidden_prefix(store)
    return _find_source(hidden + source, store=store) if hidden else []


def _hint(name: str, *, store: StoreReader) -> str:
    """Return a hint with the source of a text or upload of this name, if one exists."""
    full = next((source for source in (f"text:{name}", f"{UPLOAD}{name}") if _find_source(source, store=store)), "")
    return f"did you mean {full!r}?" if full else "run `weft list` to list all documents"


def count_broken_links(store: Store, sources: Sequence[str]) -> int:
    """Return the number of links of documents, given by their sources, that lead to no document."""
    ids = [document_id(store.namespace, source) for source in dict.fromkeys(sources)]
    parts = (ids[start : start + BATCH_DOCUMENTS] for start in range(0, len(ids), BATCH_DOCUMENTS))
    return sum(store.graph.count_broken_links(part) for part in parts)
