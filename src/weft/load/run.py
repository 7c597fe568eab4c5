"""Loading of paths and texts as documents, and the loader of each file type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from weft.config import LoadOptions
from weft.errors import InputError
from weft.load.conversations.exports import load_lines_or_log, load_zip
from weft.load.conversations.transcripts import load_plain_or_transcript, load_subtitles
from weft.load.entry_points import find_packaged_loader
from weft.load.file_reader import LoadError, safe_text
from weft.load.file_types import (
    OCR_SUFFIXES,
    TEXT_SUFFIXES,
    Loader,
    is_binary,
    is_gzip_text,
    is_line_based,
    user_file_name,
)
from weft.load.folder import FoundFile, iter_files
from weft.load.formats.beir import load_corpus
from weft.load.formats.code import find_language, load_code
from weft.load.formats.generated import DRAWINGS, load_drawing, skip_file, skip_reason
from weft.load.formats.gzip_text import load_gzip
from weft.load.formats.html import load_html
from weft.load.formats.markdown import load_markdown, parse_markdown
from weft.load.formats.notebook import load_notebook
from weft.load.formats.outline import load_outline
from weft.load.formats.pdf import load_pdf
from weft.load.formats.plain import find_title, load_unknown
from weft.load.formats.table import load_table
from weft.load.imports.anki import load_anki
from weft.load.imports.bookmarks import load_html_or_bookmarks
from weft.load.imports.feeds import load_xml
from weft.load.imports.json_exports import load_json_export
from weft.load.imports.notes import load_csv_export, load_note
from weft.load.line_map import shorten
from weft.load.numbered_records import with_record_number
from weft.load.office.docx import load_docx
from weft.load.office.epub import load_epub
from weft.load.office.ods import load_ods
from weft.load.office.opendocument import load_odp, load_odt
from weft.load.office.pptx import load_pptx
from weft.load.office.rtf import load_rtf
from weft.load.office.xlsx import load_xlsx
from weft.load.papers.bibtex import load_bibtex
from weft.load.restructuredtext.document import load_rst
from weft.records import Document, Skipped
from weft.text.decode import clean


def load_scan(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the document of an image. The recogniser is imported on use, because it is rarely wanted."""
    from weft.load.formats import ocr

    return ocr.load_image(path, source=source, options=options)


def load_mail(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the documents of a mail or a mailbox. The parsers of mail are imported on use, because they are slow."""
    from weft.load.conversations import mail

    return (mail.load_mailbox if path.suffix.lower() == ".mbox" else mail.load_mail)(
        path, source=source, options=options
    )


LOADERS: dict[str, Loader] = {
    ".adoc": load_outline,
    ".asciidoc": load_outline,
    ".bib": load_bibtex,
    ".atom": load_xml,
    ".apkg": load_anki,
    ".colpkg": load_anki,
    ".csv": load_csv_export,
    ".docx": load_docx,
    ".eml": load_mail,
    ".epub": load_epub,
    ".htm": load_html_or_bookmarks,
    ".html": load_html_or_bookmarks,
    ".ipynb": load_notebook,
    ".json": load_json_export,
    ".markdown": load_note,
    ".mbox": load_mail,
    ".md": load_note,
    ".mdx": load_markdown,
    ".odp": load_odp,
    ".ods": load_ods,
    ".odt": load_odt,
    ".opml": load_xml,
    ".org": load_outline,
    ".pdf": load_pdf,
    ".pptx": load_pptx,
    ".rst": load_rst,
    ".rss": load_xml,
    ".rtf": load_rtf,
    ".srt": load_subtitles,
    ".tsv": load_table,
    ".vtt": load_subtitles,
    ".xhtml": load_html,
    ".xlsx": load_xlsx,
    ".xml": load_xml,
    ".zip": load_zip,
    **dict.fromkeys(DRAWINGS, load_drawing),
    **dict.fromkeys(OCR_SUFFIXES, load_scan),
}
"""Loader by extension. JSON Lines, source code and plain text are detected separately."""

MAX_TITLE_CHARACTERS = 300
"""Maximum length of a title, because it is indexed with every chunk. Titles of a BEIR corpus are not shortened."""
MAX_DETAIL_CHARACTERS = 500


def iter_documents(paths: Sequence[Path], *, options: LoadOptions, base: Path | None) -> Iterator[Document | Skipped]:
    """
    Yield the documents below the paths in a stable order.

    A file that cannot be loaded becomes a `Skipped` and does not end the run. A source is the path relative to `base`
    if the file is below it, else absolute; a record adds `#` and its id or position. Raises `InputError` immediately
    if a path does not exist.
    """
    files = iter_files(paths, options=options, base=base)
    return (item for found in files for item in _load(found, options=options))


def load_file(
    path: Path, *, source: str, options: LoadOptions, loader: Loader | None = None
) -> Iterator[Document | Skipped]:
    """Yield the documents of one file under the given source; `loader` replaces the one that its name selects."""
    if loader is not None:
        return _load(FoundFile(path=path, source=source), options=options, loader=loader)
    if is_binary(path, ocr=options.ocr) and not find_packaged_loader(path.suffix.lower()):
        return iter([Skipped(source=source, reason="binary")])
    return _load(FoundFile(path=path, source=source), options=options)


def iter_sources(paths: Sequence[Path], *, options: LoadOptions, base: Path | None) -> Iterator[Path]:
    """Yield the files that `iter_documents` would load, in the same order, without opening them."""
    files = iter_files(paths, options=options, base=base)
    return (found.path for found in files if isinstance(found, FoundFile))


def count_records(path: Path) -> int:
    """Return the approximate number of documents in a file: lines of JSON Lines, otherwise 1."""
    if not is_line_based(path) or path.suffix == ".gz":
        return 1
    try:
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")) or 1
    except OSError:
        return 1


def load_text(
    text: str,
    *,
    source: str,
    title: str = "",
    form: Literal["text", "markdown", "code", "table"] = "text",
) -> Document:
    """
    Return a document made of a text, for standard input and callers in Python.

    The title defaults to the title found in the text, then to the source. Raises `InputError` for an empty text.
    """
    content, source = clean(text).rstrip(), safe_text(source)
    if not content:
        raise InputError(f"no text in {source!r}", hint="pass a text that is not empty")
    if form == "markdown":
        document = parse_markdown(content, source=source, name=source)
        return with_record_number(_shorten_title(replace(document, title=clean(title)) if title else document))
    title = clean(title) or (find_title(content) if form == "text" else "") or source
    return _shorten_title(Document(source=source, title=title, text=content, form=form))


def find_loader(path: Path) -> Loader:
    """Return the loader of a file by its name."""
    suffix = path.suffix.lower()
    if skip_reason(path):
        return skip_file
    if is_line_based(path):
        return load_lines_or_log
    if is_gzip_text(path):
        return partial(load_gzip, loader=find_loader(path.with_suffix("")))
    if suffix in LOADERS:
        return LOADERS[suffix]
    if find_language(path):
        return load_code
    if suffix in TEXT_SUFFIXES:
        return load_plain_or_transcript
    return find_packaged_loader(suffix) or load_unknown


def _load(
    found: FoundFile | Skipped, *, options: LoadOptions, loader: Loader | None = None
) -> Iterator[Document | Skipped]:
    if isinstance(found, Skipped):
        yield found
        return
    loader = loader or (load_corpus if found.is_corpus else find_loader(user_file_name(found.source)))
    is_empty = True
    try:
        for item in loader(found.path, source=found.source, options=options):
            is_empty = False
            is_page = isinstance(item, Document) and not found.is_corpus
            yield with_record_number(_shorten_title(item)) if is_page and isinstance(item, Document) else item
        if is_empty:
            raise LoadError("empty")
    except LoadError as error:
        detail = shorten(clean(error.detail), limit=MAX_DETAIL_CHARACTERS)
        yield Skipped(source=found.source, reason=error.reason, detail=detail)
    except OSError as error:
        detail = error.strerror or type(error).__name__
        yield Skipped(source=found.source, reason="unreadable", detail=detail)


def _shorten_title(document: Document) -> Document:
    title = shorten(clean(document.title), limit=MAX_TITLE_CHARACTERS)
    return document if title == document.title else replace(document, title=title)
