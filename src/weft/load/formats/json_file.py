"""JSON files to documents: a list of objects as records, anything else as one text."""

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
    Yield a document for each object of a list, or one document that shows all values.

    Papers and projects come with a graph of their own. The values read `place: value`, or stand alone when the file
    is a list of nothing but values.
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
            raise LoadError("empty", "no values")
        yield Document(source=source, title=title, text=body, lines=lines)


def parse_json(text: str) -> object:
    """Return what JSON says. Raises `LoadError` where it is broken or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise LoadError("broken", "JSON: nested too deeply") from error
    except ValueError as error:
        hint = "; one object on each line needs the ending .jsonl" if "Extra data" in str(error) else ""
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
    """Return all values, one under the other, and the line of the file each is on."""
    is_plain_list = isinstance(content, list) and not any(isinstance(item, dict | list) for item in content)
    pieces = (
        (leaf.value if is_plain_list or not leaf.place else f"{leaf.place}: {leaf.value}", leaf.line)
        for leaf in iter_leaves(text)
    )
    return join_numbered(pieces, max_characters=options.max_expanded_bytes)


def _find_title(content: object) -> str:
    """Return what an object calls itself, or nothing."""
    values = [content.get(field) for field in TITLE_FIELDS] if isinstance(content, dict) else []
    titles = (clean(value).strip() for value in values if isinstance(value, str))
    return next(filter(None, titles), "")
