"""
Blocks of a reStructuredText tree as Markdown, with the source line of each line.

| reStructuredText | Markdown |
| --- | --- |
| underlined title | `## Title`, by its level |
| literal block, doctest, `.. code-block::` | fenced code |
| `term` and its definition | `- **term**: definition` |
| `:Field: value` | `Field: value` |
| `.. note:: text`, any other directive | its content |
| `.. class:: Pod(name)` | `` `class Pod(name)` ``, then its content |
| `.. toctree::` | a list of its entries |
| comment, `.. index::`, `.. image::` | nothing |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from docutils import nodes

from weft.load.line_map import MarkdownWriter
from weft.load.restructuredtext.definitions import Definitions
from weft.load.restructuredtext.inline import Inline
from weft.load.restructuredtext.tree import CODE, HIDDEN, Directive
from weft.load.table_rows import Row, to_row, write_table
from weft.records import PageLink
from weft.text.links import as_document_address

MAX_SEARCHED_LINES = 400
"""Lines after the last block in which the next one is searched."""

_ENTRY = re.compile(r"(?:([^<>]{1,300}?)\s{1,9}<([^<>]{1,500})>|(\S[^<>]{0,499}))$")
_VERSION = {
    "deprecated": "Deprecated since version",
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
}
_SHOWS_ARGUMENT = frozenset(
    "admonition card dropdown grid-item-card rubric centered tab tab-item table list-table csv-table topic "
    "sidebar".split()
)
"""Directives whose argument is a title."""
_FILES = (".rst", ".txt", ".md", ".inc")
_HEAD = (nodes.section, nodes.title, nodes.target, nodes.field_list, nodes.field, nodes.comment)
_SKIPPED = (nodes.comment, nodes.substitution_definition, nodes.system_message, nodes.transition, nodes.pending)


class RenderedPage(NamedTuple):
    """A page as Markdown."""

    title: str
    text: str
    lines: list[int]
    links: tuple[PageLink, ...]
    fields: dict[str, str]
    """Fields before or directly below the title, by name as written."""


def render_tree(tree: nodes.document, source: Sequence[str], *, suffix: str, max_characters: int) -> RenderedPage:
    """Return the page of a tree; `source` are the lines that were parsed, `suffix` the extension of the file."""
    writer = _Writer(tree, source, suffix=suffix, max_characters=max_characters)
    writer.write(tree)
    text, lines = writer.markdown.finish()
    return RenderedPage(writer.title, text, lines, tuple(writer.links), writer.fields)


class _Writer:
    """Writes nodes in the order of the text."""

    def __init__(self, tree: nodes.document, source: Sequence[str], *, suffix: str, max_characters: int) -> None:
        self.markdown = MarkdownWriter(max_characters=max_characters)
        self.title = ""
        self.fields: dict[str, str] = {}
        self._source = source
        self._cursor = 0
        self._level = 0
        self._depth = 0
        self._has_body = False
        """True after the first block that is neither a title nor a field."""
        addresses = {name: node["refuri"] for node in tree.findall(nodes.target) if "refuri" in node
                     for name in node["names"]}  # fmt: skip
        replacements = {name: node.children for node in tree.findall(nodes.substitution_definition)
                        for name in node["names"]}  # fmt: skip
        self._inline = Inline(addresses, replacements, suffix=suffix)
        self._definitions = Definitions()

    @property
    def links(self) -> list[PageLink]:
        """Links and targets, by line."""
        return sorted([*self._inline.links, *self._definitions.found], key=lambda link: link.line)

    def write(self, node: nodes.Element) -> None:
        """Write the children of a node."""
        for child in node.children:
            self._block(child)

    # ── places ──────────────────────────────────────────────────────────────────────────────────

    def _line(self, raw: str, node: nodes.Node | None = None, *, is_whole: bool = False) -> int:
        """
        Return the line on which a block begins, by its first line as written, and go to its last one.

        `is_whole` says that nothing else stands on that line.
        """
        rows = raw.strip().split("\n")
        first = rows[0].strip()
        noted = (getattr(node, "line", None) or 0) - 1
        at = self._cursor
        if not is_whole and at <= noted < len(self._source) and self._source[noted].rstrip().endswith(first):
            at = noted
        else:
            end = min(len(self._source), at + MAX_SEARCHED_LINES)
            rows_below = ((i, self._source[i].strip()) for i in range(at, end))
            at = next((i for i, row in rows_below if row == first or (not is_whole and row.endswith(first))), at)
        self._cursor = min(at + len(rows) - 1, max(0, len(self._source) - 1))
        return at + 1

    # ── blocks ──────────────────────────────────────────────────────────────────────────────────

    def _block(self, node: nodes.Node) -> None:
        self._has_body = self._has_body or not isinstance(node, _HEAD)
        match node:
            case nodes.section():
                self._level += 1
                self.write(node)
                self._level -= 1
            case nodes.title():
                self._heading(node)
            case nodes.paragraph():
                self._paragraph(node)
            case nodes.literal_block() | nodes.doctest_block():
                self.markdown.add_code(node.astext(), line=self._line(node.astext(), node))
            case nodes.target():
                self._definitions.add_labels(node["names"] if "refuri" not in node else ())
            case nodes.bullet_list() | nodes.enumerated_list():
                self._list(node)
            case nodes.definition_list_item():
                self._definition(node)
            case nodes.field():
                self._field(node)
            case nodes.option_list_item():
                self._option(node)
            case nodes.line_block():
                self._line_block(node)
            case nodes.table():
                rows = [row for found in node.findall(nodes.row) if (row := self._row(found))]
                write_table(self.markdown, rows, has_header=next(node.findall(nodes.thead), None) is not None)
            case Directive():
                self._directive(node)
            case nodes.label() | nodes.Text() | nodes.image():
                pass
            case _ if isinstance(node, _SKIPPED):
                pass
            case nodes.Element():
                self.write(node)

    def _heading(self, node: nodes.title) -> None:
        line = self._line(node.rawsource or node.astext(), is_whole=True)
        text = self._inline.render(node, line=line)
        self.markdown.add_heading(text, level=max(1, self._level), line=line)
        plain = " ".join(self._inline_text(node).split())
        self.title = self.title or plain
        self._definitions.add_heading(plain, line=line)

    def _inline_text(self, node: nodes.TextElement) -> str:
        """Return the text of an element without marks; its links are known already."""
        links, self._inline.links = self._inline.links, []
        text = self._inline.render(node, line=1, is_plain=True)
        self._inline.links = links
        return text

    def _text(self, node: nodes.TextElement) -> tuple[str, int]:
        """Return the text of an element and its first line."""
        line = self._line(node.rawsource or node.astext(), node)
        self._definitions.place(line)
        return self._inline.render(node, line=line), line

    def _paragraph(self, node: nodes.paragraph) -> None:
        text, line = self._text(node)
        self.markdown.add_paragraph(text, line=line, step=1)

    def _list(self, node: nodes.Element) -> None:
        self._depth += 1
        for item in node.children:
            first, *rest = item.children or [None]
            if isinstance(first, nodes.paragraph):
                text, line = self._text(first)
                self.markdown.add_item(text, depth=self._depth - 1, line=line, step=1)
            elif first is not None:
                self._block(first)
            for child in rest:
                self._block(child)
        self._depth -= 1

    def _definition(self, node: nodes.definition_list_item) -> None:
        terms = [child for child in node.children if isinstance(child, nodes.term)]
        term, line = self._text(terms[0]) if terms else ("", 1)
        body = [child for child in node.children if isinstance(child, nodes.definition)]
        children = list(body[0].children) if body else []
        text = f"**{term}**:" if term else ""
        if children and isinstance(children[0], nodes.paragraph):
            first, at = self._text(children.pop(0))
            if at > line + 1:  # an empty line between them
                line = at - 1
            text = f"{text}\n{first}"
        self.markdown.add_item(text, depth=self._depth, line=line, step=1)
        for child in children:
            self._block(child)

    def _field(self, node: nodes.field) -> None:
        name, body = node.children[0], node.children[1]
        label = name.astext()
        first = body.children[0] if body.children else None
        if not isinstance(first, nodes.paragraph):
            self.markdown.add_item(f"{label}:", depth=self._depth, line=self._line(f":{label}:"), step=1)
            self.write(body)
            return
        text, line = self._text(first)
        if not self._has_body:
            self.fields.setdefault(label, " ".join(text.split()))
        self.markdown.add_item(f"{label}: {text}", depth=self._depth, line=line, step=1)
        for child in body.children[1:]:
            self._block(child)

    def _option(self, node: nodes.option_list_item) -> None:
        options = ", ".join(option.astext() for option in node.findall(nodes.option))
        paragraphs = list(node.findall(nodes.paragraph))
        text, line = self._text(paragraphs[0]) if paragraphs else ("", self._line(options))
        self.markdown.add_item(f"`{options}`: {text}", depth=self._depth, line=line, step=1)
        for paragraph in paragraphs[1:]:
            self._paragraph(paragraph)

    def _line_block(self, node: nodes.line_block) -> None:
        for child in node.children:
            if isinstance(child, nodes.line_block):
                self._line_block(child)
            elif child.astext().strip():
                text, line = self._text(child)
                self.markdown.add_paragraph(text, line=line, step=1)

    def _row(self, node: nodes.row) -> Row | None:
        cells, line = [], 0
        for entry in node.children:
            texts = []
            for element in entry.findall(nodes.TextElement):
                if isinstance(element.parent, nodes.TextElement | nodes.system_message):
                    continue
                cursor = self._cursor
                text, at = self._cell(element)
                self._cursor = cursor if line else self._cursor
                line = line or at
                texts.append(text)
            cells.append(" ".join(texts))
        return to_row(cells, line=line or self._cursor + 1)

    def _cell(self, element: nodes.TextElement) -> tuple[str, int]:
        first = (element.rawsource or element.astext()).strip().split("\n")[0].strip()
        end = min(len(self._source), self._cursor + MAX_SEARCHED_LINES)
        at = next((i for i in range(self._cursor, end) if first in self._source[i]), self._cursor)
        self._cursor = at
        return self._inline.render(element, line=at + 1), at + 1

    # ── directives ──────────────────────────────────────────────────────────────────────────────

    def _directive(self, node: Directive) -> None:
        name, argument = node["name"], node["argument"]
        line = node.line or self._cursor + 1
        self._cursor = max(self._cursor, min(line - 1, len(self._source) - 1))
        kind = name.rpartition(":")[2]
        if name in ("currentmodule", "py:currentmodule"):
            self._definitions.module = "" if argument == "None" else argument
        elif name == "toctree":
            self._toctree(node)
        elif name == "include" or (name == "literalinclude" and argument.endswith(_FILES)):
            if argument.endswith(_FILES):
                self._inline.links.append(PageLink(line, argument, ""))
        elif name in CODE or name == "csv-table":
            self._code(node, line)
        elif name not in HIDDEN:
            self._container(node, kind, argument, line)

    def _code(self, node: Directive, line: int) -> None:
        text = str(node.get("text", "")).strip("\n")
        if text.strip():
            self.markdown.add_code(text, line=self._line(text.split("\n")[0]))
            self._cursor = min(self._cursor + text.count("\n"), max(0, len(self._source) - 1))

    def _toctree(self, node: Directive) -> None:
        for row in str(node.get("text", "")).split("\n"):
            entry = _ENTRY.match(row.strip())
            if not entry or row.strip() == "self" or "*" in row:
                continue
            line = self._line(row)
            address, label = entry[2] or entry[3], entry[1] or entry[3]
            self._inline.links.append(PageLink(line, as_document_address(address, suffix=self._inline.suffix), label))
            self.markdown.add_item(label.strip("/"), depth=0, line=line)

    def _container(self, node: Directive, kind: str, argument: str, line: int) -> None:
        if kind in _VERSION:
            children = list(node.children)
            text = ""
            if children and isinstance(children[0], nodes.paragraph):
                text, line = self._text(children.pop(0))
            self.markdown.add_paragraph(f"{_VERSION[kind]} {text}", line=line, step=1)
            for child in children:
                self._block(child)
            return
        if argument and kind in _SHOWS_ARGUMENT:
            self.markdown.add_paragraph(argument, line=line, step=1)
            self.write(node)
            return
        shown = self._definitions.open(node["name"], argument, text=str(node.get("text", "")), line=line)
        if shown and (node.children or kind.startswith("auto")):
            self.markdown.add_paragraph(shown, line=line, step=1)
        self.write(node)
        self._definitions.close()
