"""Folders of note programs that write Markdown and CSV: Notion and Logseq."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from weft.config import LoadOptions
from weft.load.file_reader import read_text
from weft.load.file_types import file_title
from weft.load.formats.markdown import load_markdown, parse_markdown
from weft.load.formats.table import load_table
from weft.load.metadata import to_metadata
from weft.records import Document, Skipped

_NOTION_ID = re.compile(r" [0-9a-f]{32}(?:_all)?(?=\.\w{2,4}$|$)")
"""Notion ends the names of pages and databases with their ids: `Plan 0123456789abcdef0123456789abcdef.md`."""
ALL = "_all"
"""End of the name of a database with the rows of all its views."""
LOGSEQ_CONFIG = "logseq/config.edn"
_PRIVATE = re.compile(r"\s*(?:- )?(?:id|collapsed|logseq\.[\w.-]{1,40}|background-color):: ")
_PROPERTY = re.compile(r"(?:- )?([\w-]{1,40}):: (.*)")
_BLOCK_REFERENCE = re.compile(r" ?\(\([0-9a-f]{8}-[0-9a-f-]{27}\)\)")
_JOURNAL = re.compile(r"(\d{4})_(\d\d)_(\d\d)")


def load_csv_export(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the table of a CSV file. Of a Notion database, the view is skipped if the whole database is there."""
    if _NOTION_ID.search(path.stem) and path.with_name(f"{path.stem}{ALL}{path.suffix}").is_file():
        yield Skipped(source=source, reason="ignored", detail=f"view of {path.stem}{ALL}{path.suffix}")
        return
    for document in load_table(path, source=source, options=options):
        yield replace(document, title=_NOTION_ID.sub("", document.title))


def load_note(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the document of a Markdown file; a page of Logseq gets its name, aliases and properties."""
    if any((folder / LOGSEQ_CONFIG).is_file() for folder in path.parents[1:2]):
        yield _logseq_page(read_text(path, options=options), source=source)
        return
    for document in load_markdown(path, source=source, options=options):
        yield replace(document, title=_NOTION_ID.sub("", document.title))


def _logseq_page(text: str, *, source: str) -> Document:
    """Return a page: properties of the first block are metadata; those that Logseq keeps for itself are blank lines."""
    stem = file_title(source)
    journal = _JOURNAL.fullmatch(stem)
    name = "-".join(journal.groups()) if journal else unquote(stem.replace("___", "/"))
    lines, fields = text.split("\n"), dict[str, object]()
    for n, line in enumerate(lines):
        found = _PROPERTY.match(line)
        if not found:
            break
        key, value = found.groups()
        fields[key] = [part.strip() for part in value.split(",")] if key in ("alias", "tags") else value.strip()
        lines[n] = ""
    body = "\n".join("" if _PRIVATE.match(line) else _BLOCK_REFERENCE.sub("", line) for line in lines)
    title = str(fields.pop("title", "") or name)
    fields = {
        "aliases" if key == "alias" else key: value for key, value in fields.items() if key not in ("id", "collapsed")
    }
    document = parse_markdown(body if body.strip() else title, source=source, name=title)
    return replace(document, title=title, metadata={**document.metadata, **to_metadata(fields)})
