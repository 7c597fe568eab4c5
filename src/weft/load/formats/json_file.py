"""JSON files to documents: one per object of a list, otherwise one for the whole file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, read_text
from weft.load.file_types import file_title
from weft.load.formats.json_leaves import iter_elements, iter_leaves
from weft.load.formats.json_lines import TITLE_FIELDS, Labels, skip_rest, to_document
from weft.load.line_map import join_numbered
from weft.load.papers.findings import find_lists, iter_research, report_encoding
from weft.records import Document, Skipped
from weft.text.decode import clean


def load_json(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """
    Yield one document per object of a list, or one document with all values as text.

    Records of papers and projects get a graph. Each line of text is `path: value`, or only the value if the file is a
    list of scalars.
    """
    text = read_text(path, options=options)
    content = parse_json(text)
    if lists := find_lists(content):
        yield from report_encoding(path, source=source, options=options)
        yield from iter_research(text, lists=lists, source=source, options=options)
    elif isinstance(content, list) and content and all(isinstance(item, dict) for item in content):
        yield from _iter_elements(text, source=source, options=options)
    else:
        title = _find_title(content) or file_title(source)
        body, lines = _render(text, content=content, options=options)
        if not body:
            raise LoadError("empty", "the JSON has no values")
        yield Document(source=source, title=title, text=body, lines=lines)


def parse_json(text: str) -> object:
    """Return the parsed JSON. Raises `LoadError` if it is invalid or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise LoadError("broken", "JSON: the values are nested too deeply") from error
    except ValueError as error:
        hint = "; rename a file with one object per line to .jsonl" if "Extra data" in str(error) else ""
        raise LoadError("broken", f"JSON: {error}{hint}") from error


def _iter_elements(text: str, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    labels = Labels()
    for number, (element, line) in enumerate(iter_elements(text), start=1):
        if options.max_records is not None and number > options.max_records:
            yield skip_rest(source, line=line, options=options)
            return
        if isinstance(element, dict):
            place = f"{source}#{labels.choose(element, fallback=str(number))}"
            yield to_document(element, source=place, line=line, options=options)


def _render(text: str, *, content: object, options: LoadOptions) -> tuple[str, list[int]]:
    """Return one value per line, and the line number of each value in the file."""
    is_plain_list = isinstance(content, list) and not any(isinstance(item, dict | list) for item in content)
    pieces = (
        (leaf.value if is_plain_list or not leaf.path else f"{leaf.path}: {leaf.value}", leaf.line)
        for leaf in iter_leaves(text)
    )
    return join_numbered(pieces, max_characters=options.max_expanded_bytes)


def _find_title(content: object) -> str:
    """Return the title field of an object, or an empty text."""
    values = [content.get(field) for field in TITLE_FIELDS] if isinstance(content, dict) else []
    titles = (clean(value).strip() for value in values if isinstance(value, str))
    return next(filter(None, titles), "")
