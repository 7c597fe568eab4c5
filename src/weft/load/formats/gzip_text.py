"""Gzip files of a single text: the content is loaded like a file of its inner name."""

from __future__ import annotations

import gzip
import io
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from weft.config import LoadOptions
from weft.load.file_reader import BoundedReader
from weft.load.file_types import Loader, user_file_name
from weft.records import Document, Skipped
from weft.system.temporary_files import temporary_folder


def load_gzip(path: Path, *, source: str, options: LoadOptions, loader: Loader) -> Iterator[Document | Skipped]:
    """
    Yield the documents of a compressed text, read by the loader of its inner name: `notes.md.gz` is Markdown.

    Raises `LoadError` for a broken stream, and for more than `max_file_bytes` of content before all of it is written.
    """
    with temporary_folder(Path(tempfile.gettempdir()), prefix="weft-gzip-") as folder:
        suffix = user_file_name(source).with_suffix("").suffix.lower()
        content = folder / f"content{suffix if suffix[1:].isalnum() and suffix.isascii() else ''}"
        bounded = BoundedReader(gzip.GzipFile(path), limit=options.max_file_bytes)
        with io.BufferedReader(bounded) as stream, content.open("xb") as file:
            shutil.copyfileobj(stream, file)
        yield from loader(content, source=source, options=options)
