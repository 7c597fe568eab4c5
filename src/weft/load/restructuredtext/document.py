"""reStructuredText to documents: sections, fields and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from weft.config import LoadOptions
from weft.load.cpu_limit import cpu_limit
from weft.load.file_reader import PARSER_ERRORS, LoadError, read_text
from weft.load.file_types import file_title
from weft.load.formats.plain import plain_document
from weft.load.metadata import nested_to_json, to_metadata
from weft.records import Document

MAX_CHARACTERS = 4_000_000
"""A longer file is read as plain text."""
MAX_HEADER_LINES = 100
MIN_HEADER_FIELDS = 3

_HEADER = re.compile(r"([A-Z][A-Za-z]{1,30}(?:-[A-Za-z]{1,30}){0,3}|[A-Z]{2,6}):(?:[ \t]+(.*))?$")
_DIRECTIVE = re.compile(r"^\.\. (?:_[^:\n]{1,100}:|[a-z][\w:-]{1,30}::)", re.MULTILINE)
_ROLE = re.compile(r"(?<!\S):[a-z][\w:]{1,30}:`[^`\n]")
_UNDERLINE = re.compile(r"^\S[^\n]{0,200}\n([=\-~^*#+\"])\1{2,200}[ \t]*$", re.MULTILINE)
MAX_SNIFFED_CHARACTERS = 20_000
_PERSONS = frozenset({"author", "authors", "editor", "editors"})
_MAIL = re.compile(r"\s{0,9}(?:<[^<>]{0,200}>|\([^()@]{0,200}@[^()]{0,200}\))")


def load_rst(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document]:
    """Yield the single document of a reStructuredText file."""
    yield rst_document(read_text(path, options=options), source=source, options=options)


def is_rst(text: str) -> bool:
    """Return True if a plain text is reStructuredText: underlined titles beside directives, labels or roles."""
    sample = text[:MAX_SNIFFED_CHARACTERS]
    return bool(_UNDERLINE.search(sample) and (_DIRECTIVE.search(sample) or _ROLE.search(sample)))


def rst_document(text: str, *, source: str, options: LoadOptions) -> Document:
    """Return the document of a text; a text that cannot be parsed is plain text."""
    if len(text) > MAX_CHARACTERS:
        return plain_document(text, source=source)
    try:
        with cpu_limit(options.max_cpu_seconds):
            document = _parse(text, source=source, options=options)
    except (LoadError, *PARSER_ERRORS):
        document = None
    return document if document is not None and document.text else plain_document(text, source=source)


def _parse(text: str, *, source: str, options: LoadOptions) -> Document:
    # docutils takes a third of a second to import
    from weft.load.restructuredtext.tree import parse_tree
    from weft.load.restructuredtext.writer import render_tree

    lines = text.split("\n")
    header, size = _read_header(lines)
    body = [""] * size + lines[size:]
    tree = parse_tree("\n".join(body), seconds=options.max_cpu_seconds)
    page = render_tree(tree, body, suffix=Path(source).suffix or ".rst", max_characters=options.max_expanded_bytes)
    # items of a list: names do not continue in the next field
    head = "\n".join(f"- {line}" if _HEADER.match(line) else f"  {line.strip()}" for line in lines[:size]).rstrip()
    numbers = list(range(1, head.count("\n") + 2)) if head else []
    parts = [part for part in (head, page.text) if part]
    between = [numbers[-1]] if head and page.text else []
    fields = header or page.fields
    title = next((value for key, value in fields.items() if key.lower() == "title"), "") or page.title
    return Document(
        source=source,
        title=title or file_title(source, with_extension=True),
        text="\n\n".join(parts),
        form="markdown",
        metadata=to_metadata(nested_to_json(_to_values(fields))),
        lines=[*numbers, *between, *(page.lines if page.text else [])],
        links=page.links,
    )


def _read_header(lines: list[str]) -> tuple[dict[str, str], int]:
    """Return the fields of a numbered proposal and the number of their lines; `{}` and 0 without them."""
    fields: dict[str, str] = {}
    last = ""
    for at, line in enumerate(lines[:MAX_HEADER_LINES]):
        match = _HEADER.match(line)
        if match:
            last = match[1]
            fields[last] = (match[2] or "").strip()
        elif last and line[:1].isspace() and line.strip():
            fields[last] = f"{fields[last]} {line.strip()}".strip()
        elif not line.strip() and len(fields) >= MIN_HEADER_FIELDS:
            return fields, at
        else:
            return {}, 0
    return {}, 0


def _to_values(fields: dict[str, str]) -> dict[str, object]:
    """Return the fields; persons as a list of names without addresses."""
    values: dict[str, object] = {}
    for key, value in fields.items():
        if key.lower() in _PERSONS:
            names = [name.strip() for name in _MAIL.sub("", value).split(",")]
            values[key] = [name for name in names if name]
        elif value and key.lower() != "title":
            values[key] = value
    return values
