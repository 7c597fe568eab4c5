"""Bookmarks of a browser (the Netscape format that all of them export): a list of links under the names of folders."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, read_bytes
from weft.load.formats.html import decode_page, load_html
from weft.load.imports.json_exports import is_keep_note
from weft.load.line_map import collapse
from weft.records import Document, Skipped

MARK = b"NETSCAPE-Bookmark-file-1"
HEAD_BYTES = 512
MAX_LEVEL = 6


def load_html_or_bookmarks(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield the document of bookmarks; another HTML file is a page. Notes of Google Keep are read from their JSON."""
    if is_keep_note(note := path.with_suffix(".json")):
        yield Skipped(source=source, reason="ignored", detail=f"the note {note.name} as a page")
        return
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if MARK not in head:
        yield from load_html(path, source=source, options=options)
        return
    reader = _Reader()
    reader.feed(decode_page(read_bytes(path, options=options)))
    reader.close()
    if not reader.lines:
        raise LoadError("empty")
    yield Document(
        source=source, title="Bookmarks", text="\n".join(reader.lines), form="markdown", lines=reader.numbers
    )


class _Reader(HTMLParser):
    """Collects headings for folders and links for bookmarks, with the lines of the file."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.numbers: list[int] = []
        self._depth = 0
        self._text: list[str] | None = None
        self._address = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "dl":
            self._depth += 1
        elif tag in ("h3", "a", "dd"):
            self._finish_note()
            self._text, self._tag = [], tag
            self._address = dict(attrs).get("href") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "dl":
            self._finish_note()
            self._depth = max(0, self._depth - 1)
        elif tag == "h3" and self._text is not None:
            self._add(f"{'#' * min(self._depth + 1, MAX_LEVEL)} {self._take()}")
        elif tag == "a" and self._text is not None:
            self._add(f"- [{self._take() or self._address}]({self._address})")

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def _finish_note(self) -> None:
        """Add the description of the last bookmark: its element has no end."""
        if self._text is not None and self._tag == "dd" and (note := self._take()):
            self._add(f"  {note}")
        self._text = None

    def _take(self) -> str:
        text, self._text = collapse("".join(self._text or ())), None
        return text

    def _add(self, line: str) -> None:
        self.lines.append(line)
        self.numbers.append(self.getpos()[0])
