"""Markdown to documents; front matter and wikilinks become metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from weft.config import LoadOptions
from weft.load.file_reader import PARSER_ERRORS, LoadError, read_text
from weft.load.file_types import file_title
from weft.load.metadata import nested_to_json, to_metadata
from weft.records import Document
from weft.text.links import link_page
from weft.text.markdown.blocks import Page, parse
from weft.text.markdown.inline import heading_text
from weft.text.markdown.plain import without_directives

MAX_FRONT_MATTER_LINES = 1000
MAX_FRONT_MATTER_CHARACTERS = 64 * 1024

_FIELD = re.compile(r"([\w -]+: +)(?! )(.*)")
_BARE_TITLE = re.compile(r"title: *\S", re.IGNORECASE)
_BARE_FIELD = re.compile(r"[A-Za-z][\w -]{0,40}:(?: |$)|[ \t]|- ")
"""A field, the rest of a long value, or an item of a list."""
_YAML_INDICATORS = tuple("\"'[{|>&*!#")
"""First characters of values that are not plain text in YAML."""


class _FrontMatterLoader(yaml.SafeLoader):
    """Safe YAML loader without aliases, because a few aliases can expand without limit."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Return the next node of the document."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not supported")
        return super().compose_node(parent, index)


def load_markdown(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of a Markdown file."""
    yield parse_markdown(read_text(path, options=options), source=source, name=file_title(source))


def parse_markdown(text: str, *, source: str, name: str) -> Document:
    """
    Return the document of cleaned Markdown. `name` is the title if the text has none.

    A title in the front matter takes precedence and is not part of the metadata. Without a body, the front matter is
    the text; `LoadError` is raised if it has no field except the title.
    """
    fields, start = _split_front_matter(text)
    lines = text.split("\n")[start:]
    title = to_metadata(nested_to_json({"title": fields.pop("title", None)})).get("title")
    if not any(map(str.strip, lines)):
        if not to_metadata(nested_to_json(fields)):
            raise LoadError("empty", "the file has only a title in its front matter")
        first = 1 if text.startswith("---") else 0
        lines, start = text.split("\n")[first : start - 1], first
    body = without_directives("\n".join(lines), is_mdx=source.lower().endswith((".mdx", ".mdx.gz")))
    page = parse(body)
    links = _find_link_pages(page)
    return Document(
        source=source,
        title=(heading_text(str(title)) if title else _find_heading(page)) or name,
        text=body,
        form="markdown",
        metadata=to_metadata(nested_to_json({**fields, **({"links": links} if links else {})})),
        lines=range(start + 1, start + 1 + len(lines)) if start else None,
    )


def _split_front_matter(text: str) -> tuple[dict[str, object], int]:
    """
    Return the front matter and the index of the first line of the body; `{}` and 0 without front matter.

    | first lines | front matter ends |
    | --- | --- |
    | `---`, `title: Redis` | at the next `---` or `...` |
    | `title: Redis` (Hexo, Pelican, MultiMarkdown) | at `---` or the first empty line |
    | `Title: Redis` and a line without a colon | none: this is prose |
    """
    is_bare = _BARE_TITLE.match(text) is not None
    if not is_bare and not text.startswith("---"):
        return {}, 0
    lines = text[:MAX_FRONT_MATTER_CHARACTERS].split("\n", MAX_FRONT_MATTER_LINES)
    if not is_bare and lines[0].rstrip() != "---":
        return {}, 0
    ends = ("---", "...", "") if is_bare else ("---", "...")
    end = next((i for i, line in enumerate(lines) if i and line.rstrip() in ends), None)
    if end is None or (is_bare and not all(map(_BARE_FIELD.match, lines[:end]))):
        return {}, 0
    written = lines[0 if is_bare else 1 : end]
    fields = _read_yaml("\n".join(written))
    if fields is None:  # `title: Redis: the good parts` is common but invalid YAML
        fields = _read_yaml("\n".join(map(_quote_colon, written)))
    if fields is None:
        return {}, 0
    return ({key.lower(): value for key, value in fields.items()} if is_bare else fields), end + 1


def _quote_colon(line: str) -> str:
    """Return a line of front matter with its plain value quoted if the value contains a colon."""
    match = _FIELD.fullmatch(line)
    if not match or ": " not in match[2] or match[2].startswith(_YAML_INDICATORS):
        return line
    return match[1] + json.dumps(match[2].rstrip())


def _read_yaml(text: str) -> dict[str, object] | None:
    """Return the fields of a YAML mapping; None if the YAML is invalid or not a mapping."""
    try:
        fields = yaml.load(text, Loader=_FrontMatterLoader)
        if fields is None:
            return {}
        return {str(key): value for key, value in fields.items()} if isinstance(fields, dict) else None
    except (yaml.YAMLError, *PARSER_ERRORS):  # PyYAML does not wrap errors of its converters: `!!int ""`
        return None


def _find_heading(page: Page) -> str:
    """Return the first heading of level 1, or an empty text."""
    return next((text for block in page.blocks if block.level == 1 and (text := heading_text(block.text))), "")


def _find_link_pages(page: Page) -> list[str]:
    """Return the distinct pages of the wikilinks, in order."""
    blocks = [block for block in page.blocks if block.is_prose and "[[" in block.text]
    pages = [link_page(span.target) for block in blocks for span in page.inline(block).spans if span.kind == "wikilink"]
    return [found for found in dict.fromkeys(pages) if found]
