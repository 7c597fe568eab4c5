"""JSON exports of note programs: Google Keep (one file per note) and Roam (one file with all pages)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from weft.config import LoadOptions
from weft.load.conversations.exports import load_json_or_conversations
from weft.load.conversations.turns import objects_of, text_of
from weft.load.file_reader import read_text
from weft.load.file_types import file_title
from weft.load.formats.json_file import parse_json
from weft.load.line_map import collapse
from weft.load.metadata import to_metadata
from weft.records import Document, Skipped
from weft.text.decode import clean

HEAD_BYTES = 4096
_KEEP, _ROAM = (b'"userEditedTimestampUsec"', b'"isTrashed"'), (b'"children"', b'"string"', b'"title"')
MAX_BLOCK_DEPTH = 40
"""Blocks nested deeper are shown at this depth."""
_BLOCK_REFERENCE = re.compile(r"\(\(([\w-]{6,40})\)\)")
_TASK = re.compile(r"\{\{\[\[(TODO|DONE)\]\]\}\}")


def is_keep_note(path: Path) -> bool:
    """Return True if a JSON file looks like a note of Google Keep."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    return any(key in head for key in _KEEP)


def load_json_export(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the note or the pages of an export; another JSON file is loaded as before."""
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if any(key in head for key in _KEEP):
        content = parse_json(read_text(path, options=options))
        if isinstance(content, Mapping) and ("textContent" in content or "listContent" in content):
            yield _keep_note(content, source=source)
            return
    if sum(key in head for key in _ROAM) >= 2:
        content = parse_json(read_text(path, options=options))
        pages = objects_of(content)
        if _is_roam(pages):
            yield from _iter_roam(pages, source=source)
            return
    yield from load_json_or_conversations(path, source=source, options=options)


def _keep_note(note: Mapping[str, object], *, source: str) -> Document | Skipped:
    """Return a note of Google Keep. A list becomes tasks; a note in the bin is skipped."""
    if note.get("isTrashed") is True:
        return Skipped(source=source, reason="ignored", detail="in the bin")
    items = [
        f"- [{'x' if item.get('isChecked') else ' '}] {text_of(item.get('text'))}"
        for item in objects_of(note.get("listContent"))
    ]
    links = [
        f"- [{text_of(item.get('title'))}]({text_of(item.get('url'))})"
        for item in objects_of(note.get("annotations"))
        if item.get("url")
    ]
    text = clean("\n".join(part for part in (text_of(note.get("textContent")), *items, *links) if part)).strip()
    if not text:
        return Skipped(source=source, reason="empty")
    labels = [text_of(label.get("name")) for label in objects_of(note.get("labels"))]
    title = collapse(clean(text_of(note.get("title")))) or file_title(source)
    return Document(
        source=source,
        title=title,
        text=text,
        form="markdown",
        metadata=to_metadata({"labels": labels} if labels else {}),
    )


def _is_roam(pages: list[Mapping[str, object]]) -> bool:
    """Return True if all objects have titles, and one has blocks. Conversations have titles too, and no blocks."""
    blocks = (block for page in pages for block in objects_of(page.get("children")))
    return all(isinstance(page.get("title"), str) for page in pages) and any("string" in block for block in blocks)


def _iter_roam(pages: list[Mapping[str, object]], *, source: str) -> Iterator[Document | Skipped]:
    """Yield one document per page of Roam, with its blocks as a list; a reference to a block becomes its text."""
    blocks = {text_of(block.get("uid")): text_of(block.get("string")) for page in pages for _, block in _walk(page)}
    for page in pages:
        title = collapse(clean(text_of(page.get("title"))))
        lines = [f"{'  ' * depth}- {_block_text(block, blocks)}" for depth, block in _walk(page)]
        place = f"{source}#{text_of(page.get('uid')) or title}"
        if lines:
            yield Document(source=place, title=title, text=clean("\n".join(lines)), form="markdown")
        else:
            yield Skipped(source=place, reason="empty")


def _walk(page: Mapping[str, object]) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield the blocks of a page with their depth, in order. Without recursion: a file may nest as it likes."""
    stack = [(0, block) for block in reversed(objects_of(page.get("children")))]
    while stack:
        depth, block = stack.pop()
        yield min(depth, MAX_BLOCK_DEPTH), block
        stack += [(depth + 1, child) for child in reversed(objects_of(block.get("children")))]


def _block_text(block: Mapping[str, object], blocks: Mapping[str, str]) -> str:
    text = _BLOCK_REFERENCE.sub(lambda match: blocks.get(match[1], match[0]), text_of(block.get("string")))
    return _TASK.sub(lambda match: "[x]" if match[1] == "DONE" else "[ ]", collapse(text))
