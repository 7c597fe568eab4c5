"""Decks of Anki (`.apkg`, `.colpkg`): a zip file with a SQLite database; one document per note."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, read_bytes, too_large
from weft.load.imports.feeds import html_text
from weft.load.line_map import collapse, shorten
from weft.load.metadata import to_metadata
from weft.records import Document, Skipped
from weft.text.decode import clean

DATABASES = ("collection.anki21", "collection.anki2")
"""Members with the notes, the newer format first. The newest, `collection.anki21b`, is not SQLite."""
MAX_NOTES = 200_000
MAX_STEPS = 50_000_000
"""Steps of SQLite after which a statement ends: a hostile file may hold a view that never does."""
_STEP = 1_000_000
FIELD_END = "\x1f"


def load_anki(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the notes of a deck: the first field is the title, tags are metadata."""
    for id, fields, tags in _read_notes(read_bytes(path, options=options), options=options):
        place = f"{source}#{id}"
        texts = [html_text(field, options=options) for field in str(fields).split(FIELD_END)]
        text = "\n\n".join(text for text in texts if text)
        if not text:
            yield Skipped(source=place, reason="empty")
            continue
        title = shorten(collapse(texts[0] or text))
        labels = {"tags": clean(str(tags)).split()} if str(tags).strip() else {}
        yield Document(source=place, title=title, text=text, form="markdown", metadata=to_metadata(labels))


def _read_notes(data: bytes, *, options: LoadOptions) -> list[tuple[int, str, str]]:
    import apsw

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            name = next((name for name in DATABASES if name in names), "")
            if not name or "collection.anki21b" in names:
                hint = "export the deck with support for older Anki versions"
                raise LoadError("unknown shape", f"no {DATABASES[-1]} with the notes: {hint}")
            size = archive.getinfo(name).file_size
            if size > options.max_expanded_bytes:
                raise too_large(size, limit=options.max_expanded_bytes)
            database = archive.read(name)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise LoadError("broken", f"zip: {error}") from error
    steps = iter(range(MAX_STEPS // _STEP))
    try:
        db = apsw.Connection(":memory:")
        db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        db.deserialize("main", database)
        db.set_progress_handler(lambda: next(steps, None) is None, _STEP)
        rows = db.execute("SELECT id, flds, tags FROM notes ORDER BY id LIMIT ?", (MAX_NOTES,))
        return [(int(id), str(fields), str(tags)) for id, fields, tags in rows]
    except (apsw.Error, TypeError, ValueError) as error:
        raise LoadError("broken", f"Anki: {error}") from error
