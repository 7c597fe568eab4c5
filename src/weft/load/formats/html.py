"""HTML to documents with lxml; headings, lists, tables and code become Markdown."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, missing_extra, read_bytes
from weft.load.file_types import file_title
from weft.load.formats.html_table import HtmlCell, HtmlTable, span
from weft.load.line_map import MarkdownWriter, collapse
from weft.load.metadata import Fields
from weft.records import Document, PageLink
from weft.text.decode import clean, detect_encoding, has_byte_order_mark

if TYPE_CHECKING:
    from lxml.etree import _Element

_SILENT = "head script style nav template noscript svg math iframe object embed canvas audio video map"
_CONTROLS = "button select textarea input datalist dialog"
DROPPED_TAGS = frozenset(f"{_SILENT} {_CONTROLS}".split())
"""Elements without readable text."""
_SECTIONS = "address article aside body div footer form header hgroup html main section"
_GROUPS = "blockquote caption center dd details dl dt fieldset figcaption figure hr legend ol p summary ul"
BLOCK_TAGS = frozenset(f"{_SECTIONS} {_GROUPS} tbody tfoot thead".split())
"""Elements that start a new paragraph."""
HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
MAX_SOURCE_LINE = 65535
"""Largest line number that libxml2 reports."""
MAX_LINKS = 5000
"""Links kept of one page."""
MAX_ADDRESS_CHARACTERS = 1000
MAX_LABEL_CHARACTERS = 300
MAX_LABEL_TEXTS = 20
"""Pieces of text of one link that form its label."""
META_NAMES = frozenset({"author", "description", "keywords"})

_CHARSET = re.compile(rb"<(?:meta|\?xml)[^>]{0,500}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.I)
_CHARSET_ALIASES = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252"}
"""Supersets of declared encodings, as browsers use them."""
_WRAPPER = re.compile(r"</?(?:a|b|big|blockquote|center|div|em|font|i|section|small|span|strong|u)\b[^<>]*>", re.I)
_SPACE = re.compile(r"\s+")
MAX_ATTRIBUTES = 2000
"""Maximum number per element. The parsing time of libxml2 is quadratic: 100,000 attributes take minutes."""
_TAG = re.compile(r"<(?:(script|style)\b|[A-Za-z])[^\s/>]*", re.I)
_ATTRIBUTE = re.compile(r"""[\s/]*[^\s/>][^\s/>=]*(?:\s*=\s*(?:"[^"]*"?|'[^']*'?|[^\s>]*))?""")
_END_OF_CODE = re.compile(r"</(?:script|style)", re.I)


def load_html(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of an HTML file."""
    text = decode_page(read_bytes(path, options=options))
    page = render_page(text, max_characters=options.max_expanded_bytes)
    if not page.text:
        raise LoadError("no text", "the page has no text outside scripts and navigation")
    yield Document(
        source=source,
        title=page.title or file_title(source),
        text=page.text,
        form="markdown",
        metadata=page.metadata,
        lines=page.lines,
        links=page.links,
    )


class Page(NamedTuple):
    """A page as Markdown."""

    title: str
    text: str
    lines: list[int]
    """Source line of each line of the text."""
    metadata: Fields
    links: tuple[PageLink, ...]


def render_page(text: str, *, max_characters: int) -> Page:
    """Return a page of decoded HTML. Raises `LoadError` if it has no elements or more text than `max_characters`."""
    root = _parse(text)
    renderer = _Renderer(max_characters=max_characters)
    renderer.render(root)
    body, lines = renderer.writer.finish()
    title = collapse(clean(root.findtext(".//head/title") or "")) or clean(renderer.first_heading)
    if root.find(".//span[@id='title-text']") is not None:  # a page of Confluence: `Space : Title`
        title = title.partition(" : ")[2] or title
    return Page(title, body, lines, _collect_metadata(root), tuple(renderer.links))


def decode_page(data: bytes) -> str:
    """Return the cleaned text. The encoding comes from the byte order mark, the declaration or detection."""
    encoding = detect_encoding(data)
    declared = _CHARSET.search(data[:4096])
    if declared and not has_byte_order_mark(data):
        try:
            name = codecs.lookup(declared[1].decode("ascii", errors="replace")).name
            return clean(data.decode(_CHARSET_ALIASES.get(name, name), errors="replace"))
        except (LookupError, UnicodeError):  # unknown encoding, or not a text encoding
            pass
    return clean(data.decode(encoding, errors="replace"))


def _check_attributes(text: str) -> None:
    """Raise `LoadError` if an element has too many attributes to parse in reasonable time."""
    position = 0
    while tag := _TAG.search(text, position):
        position, count = tag.end(), 0
        while found := _ATTRIBUTE.match(text, position):
            position, count = found.end(), count + 1
            if count > MAX_ATTRIBUTES:
                raise LoadError("broken", f"HTML: an element has more than {MAX_ATTRIBUTES:,} attributes")
        if tag[1]:
            end = _END_OF_CODE.search(text, position)
            position = end.end() if end else len(text)


def _parse(text: str) -> _Element:
    """
    Return the element tree of a page.

    libxml2 stops at about 2000 levels, so a deeper page is parsed again without purely wrapping elements.
    """
    _check_attributes(text)
    root, is_cut = _parse_once(text)
    if is_cut:
        root, is_cut = _parse_once(_WRAPPER.sub(lambda tag: " " + "\n" * tag[0].count("\n"), text))
    if is_cut:
        raise LoadError("broken", "HTML: the elements are nested too deeply")
    if root is None:
        raise LoadError("no text", "the page has no elements")
    return root


def _parse_once(text: str) -> tuple[_Element | None, bool]:
    """Return the element tree, and True if it was cut because the page is nested too deeply."""
    try:
        from lxml import etree
    except ImportError as error:
        raise missing_extra("lxml", extra="html") from error
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True)
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except (etree.LxmlError, ValueError) as error:
        raise LoadError("broken", f"HTML: {error}") from error
    return root, any("depth" in entry.message for entry in parser.error_log)


def _collect_metadata(root: _Element) -> Fields:
    metadata: Fields = {}
    for element in root.iter("meta"):
        name = (element.get("name") or "").strip().lower()
        content = collapse(clean(element.get("content") or ""))
        if name in META_NAMES and content and name not in metadata:
            words = (word.strip() for word in content.split(","))
            metadata[name] = [word for word in words if word] if name == "keywords" else content
    return metadata


def _is_dropped(element: _Element) -> bool:
    return (
        not isinstance(element.tag, str)
        or element.tag in DROPPED_TAGS
        or element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
    )


class _Renderer:
    """Converts the events of a tree walk to Markdown blocks."""

    def __init__(self, *, max_characters: int) -> None:
        self.writer = MarkdownWriter(max_characters=max_characters)
        self.first_heading = ""
        self._line = 1
        """Current line of the source."""
        self._words: list[str] = []
        """Text of the current block."""
        self._has_words = False
        self._words_line = 1
        self._heading = 0
        self._list_depth = 0
        self._opens_item = False
        self._row: list[HtmlCell] | None = None
        """Cells of the current table row."""
        self._cell_spans = (1, 1)
        self._tables: list[HtmlTable] = []
        """Tables around the current element, outermost first."""
        self._row_line = 1
        self._code_depth = 0
        self.links: list[PageLink] = []

    def render(self, root: _Element) -> None:
        """Write all blocks below the root."""
        from lxml import etree

        walk = etree.iterwalk(root, events=("start", "end"))  # recursion would fail at 1000 levels
        for event, element in walk:
            if event == "start":
                line = element.sourceline or 0
                self._line = line if line < MAX_SOURCE_LINE else max(self._line, line)
                if _is_dropped(element):
                    walk.skip_subtree()
                else:
                    self._start(element)
                    self._add_text(element.text)
            else:
                if not _is_dropped(element):
                    self._end(element.tag)
                self._add_text(element.tail)
        self._flush()

    def _start(self, element: _Element) -> None:
        tag = element.tag
        match tag:
            case "br":
                self._words.append("\n")
            case "img":
                self._add_text(element.get("alt"))
            case "a" if not self._code_depth and len(self.links) < MAX_LINKS:
                self._add_link(element)
            case "code" if not self._code_depth:
                self._words.append("`")
            case "pre":
                self._end_row()
                self._code_depth += 1
            case "tr":
                self._end_row()
                self._row, self._row_line = [], self._line
            case "td" | "th":
                self._cell_spans = (span(element.get("colspan")), span(element.get("rowspan")))
            case "table":
                self._end_row()
                self._tables.append(HtmlTable())
            case "li":
                self._flush()
                self._opens_item = True
            case _ if tag in HEADING_LEVELS:
                self._end_row()
                self._heading = HEADING_LEVELS[tag]
            case _ if tag in BLOCK_TAGS:
                self._flush()
                self._list_depth += tag in ("ul", "ol")

    def _end(self, tag: str) -> None:
        match tag:
            case "code" if not self._code_depth:
                self._words.append("`")
            case "pre":
                self._flush()
                self._code_depth = max(0, self._code_depth - 1)
            case "td" | "th" if self._row is not None:
                self._row.append(HtmlCell(self._take_words(), *self._cell_spans, is_header=tag == "th"))
            case "td" | "th":
                self._flush()
            case "tr":
                self._end_row()
            case "table":
                self._flush()
                if self._tables:
                    self._tables.pop().end(self.writer)
            case "li":
                self._flush()
                self._opens_item = False
            case _ if tag in HEADING_LEVELS:
                self._flush()
                self._heading = 0
            case _ if tag in BLOCK_TAGS:
                self._flush()
                self._list_depth -= tag in ("ul", "ol")

    def _add_link(self, element: _Element) -> None:
        address = (element.get("href") or "").strip()[:MAX_ADDRESS_CHARACTERS]
        if address and not address.startswith(("#", "mailto:", "javascript:")):
            label = collapse(clean("".join(islice(element.itertext(), MAX_LABEL_TEXTS))))[:MAX_LABEL_CHARACTERS]
            self.links.append(PageLink(self._line, clean(address), label))

    def _add_text(self, text: str | None) -> None:
        if not text:
            return
        if not self._has_words:
            lead = 0 if self._code_depth else text.count("\n", 0, len(text) - len(text.lstrip()))
            self._words_line = self._line + lead
        self._has_words = self._has_words or not text.isspace()
        self._words.append(text if self._code_depth else _SPACE.sub(" ", text))
        self._line += text.count("\n")

    def _take_words(self) -> str:
        """Return the text of the current block and start a new one."""
        text = "".join(self._words)
        self._words, self._has_words = [], False
        return text

    def _end_row(self) -> None:
        """Write the current table row, then the text after its last cell. The row may belong to an outer table."""
        row, self._row = self._row, None
        if row and self._tables:
            self._tables[-1].add(row, line=self._row_line, writer=self.writer)
        elif row:
            self.writer.add_row([cell.text for cell in row], line=self._row_line)
        self._flush()

    def _flush(self) -> None:
        """Write the current block. Inside a table row, add a space instead."""
        if self._row is not None and not self._code_depth:
            self._words.append(" ")
            return
        text, line = self._take_words(), self._words_line
        if not text.strip():
            return
        if self._code_depth:
            self.writer.add_code(text.strip("\n"), line=line + len(text) - len(text.lstrip("\n")))
        elif self._heading:
            self.first_heading = self.first_heading or (collapse(text) if self._heading == 1 else "")
            self.writer.add_heading(text, level=self._heading, line=line)
        elif self._opens_item:
            self.writer.add_item(text, depth=max(0, self._list_depth - 1), line=line)
            self._opens_item = False
        else:
            self.writer.add_paragraph(text, line=line)
