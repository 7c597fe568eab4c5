"""BEIR corpora to documents: a folder with `corpus.jsonl`, `queries.jsonl` and `qrels/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from weft.config import LoadOptions
from weft.errors import InputError
from weft.load.file_reader import open_text
from weft.load.formats.json_lines import Labels, collect_fields, find_id, iter_records
from weft.load.metadata import to_metadata
from weft.load.papers.beir_citations import Citations, find_citations
from weft.records import Document, Skipped
from weft.text.decode import clean

__all__ = ["find_corpus", "iter_corpus", "load_corpus", "open_text"]

CORPUS_NAMES = ("corpus.jsonl", "corpus.jsonl.gz")
QUERY_NAMES = ("queries.jsonl", "queries.jsonl.gz")
JUDGEMENT_FOLDER = "qrels"


def find_corpus(folder: Path) -> Path | None:
    """Return the corpus file of a folder with queries or judgements; None for other folders."""
    corpus = next((path for path in (folder / name for name in CORPUS_NAMES) if path.is_file()), None)
    if corpus is None:
        return None
    has_queries = any((folder / name).is_file() for name in QUERY_NAMES)
    return corpus if has_queries or (folder / JUDGEMENT_FOLDER).is_dir() else None


def iter_corpus(folder: Path, *, options: LoadOptions | None = None) -> Iterator[Document | Skipped]:
    """
    Yield the documents of a BEIR folder; the source is `corpus.jsonl#<_id>`.

    Raises `InputError` if the folder has no BEIR corpus, and `LoadError` at a broken gzip stream.
    """
    corpus = find_corpus(folder)
    if corpus is None:
        raise InputError(
            f"no BEIR corpus in {str(folder)!r}",
            hint="add corpus.jsonl, and queries.jsonl or qrels/, to the folder",
        )
    return load_corpus(corpus, source=corpus.name, options=options or LoadOptions())


def load_corpus(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """
    Yield one document per line of a corpus, with title and text unchanged.

    If the folder has a `citations.jsonl` and `load.citations` is on, the rows are papers with a citation graph.
    """
    labels = Labels()
    citations_path = find_citations(path) if options.citations else None
    citations = Citations(citations_path, corpus=source, options=options) if citations_path else None
    if citations:
        yield from citations.skipped
    known: set[str] = set()
    for line, record in iter_records(path, source=source, options=options):
        if isinstance(record, Skipped):
            yield record
            continue
        place = f"{source}#{labels.choose(record, fallback=f'L{line}')}"
        document = _to_document(record, source=place, line=line, options=options)
        if document and citations:
            known.add(find_id(record))
            document = citations.to_paper(document)
        yield document or Skipped(source=place, reason="empty", detail="neither title nor text")
    if citations:
        yield from citations.iter_unknown(known)


def _to_document(record: Mapping[str, object], *, source: str, line: int, options: LoadOptions) -> Document | None:
    title, text = _read_field(record, "title"), _read_field(record, "text")
    if not (title.strip() or text.strip()):
        return None
    metadata = to_metadata(collect_fields(record, without=("title", "text")))
    if identifier := find_id(record):
        metadata["_id"] = identifier  # as text, like the ids in the judgements
    return Document(
        source=source,
        title=title if options.titles else "",
        text=text,
        metadata=metadata,
        lines=[line] * (text.count("\n") + 1),
    )


def _read_field(record: Mapping[str, object], field: str) -> str:
    value = record.get(field)
    return clean(value) if isinstance(value, str) else ""
