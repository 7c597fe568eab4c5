"""JSON Lines to documents, and the conversion of one JSON record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from weft.config import LoadOptions
from weft.load.file_reader import LoadError, iter_numbered_lines, open_text
from weft.load.file_types import UPLOAD
from weft.load.formats.json_leaves import iter_leaves
from weft.load.line_map import join_numbered
from weft.load.metadata import flatten, to_metadata
from weft.records import Document, Skipped
from weft.text.decode import clean

TEXT_FIELDS = ("text", "content", "body", "abstract", "summary", "description", "message")
"""The first of these fields that is not empty is the text."""
TITLE_FIELDS = ("title", "name", "headline", "subject")
ID_FIELDS = ("_id", "id")
MAX_ID_CHARACTERS = 200


def load_json_lines(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield one document per line with an object, and a `Skipped` per other line."""
    labels = Labels()
    for line, record in iter_records(path, source=source, options=options):
        if isinstance(record, Skipped):
            yield record
            continue
        label = labels.choose(record, fallback=f"L{line}")
        yield to_document(record, source=f"{source}#{label}", line=line, options=options)


def iter_records(
    path: Path, *, source: str, options: LoadOptions
) -> Iterator[tuple[int, Mapping[str, object] | Skipped]]:
    """
    Yield the line numbers and records of non-blank lines; an invalid line gives a `Skipped`.

    After `max_records` records, one `Skipped` represents the rest. Raises `LoadError` at a broken gzip stream.
    """
    count = 0
    with open_text(path, max_bytes=options.max_expanded_bytes) as stream:
        for line, text in iter_numbered_lines(stream, max_characters=options.max_file_bytes):
            if text is not None and not text.strip():
                continue
            if count == options.max_records:
                yield line, skip_rest(source, line=line, options=options)
                return
            try:
                record = _parse(text, options=options)
            except LoadError as error:
                detail = f"line {line}: {error.detail}"
                yield line, Skipped(source=f"{source}#L{line}", reason=error.reason, detail=detail)
                continue
            count += 1
            yield line, record


def skip_rest(source: str, *, line: int, options: LoadOptions) -> Skipped:
    """Return the `Skipped` for all records from `line` on."""
    detail = f"line {line} and later; the limit is {options.max_records:,} records"
    return Skipped(source=source, reason="too many records", detail=detail)


class Labels:
    """Unique labels of the records of one file."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def choose(self, record: Mapping[str, object], *, fallback: str) -> str:
        """Return the id of a record if it is usable and not used yet, else the fallback."""
        label = find_id(record)
        if not label or label in self._used:
            label = fallback
        while label in self._used:  # another record has the id `L12`
            label += "_"
        self._used.add(label)
        return label


def find_id(record: Mapping[str, object]) -> str:
    """Return the id of a record if it is a one-line text or an integer, else an empty text."""
    for field in ID_FIELDS:
        value = record.get(field)
        if isinstance(value, str | int) and not isinstance(value, bool):
            text = clean(str(value)).strip()
            if 0 < len(text) <= MAX_ID_CHARACTERS and "\n" not in text:
                return text
    return ""


def to_document(record: Mapping[str, object], *, source: str, line: int, options: LoadOptions) -> Document | Skipped:
    """
    Return the document of a record on one line.

    Without a text field, the text lists all fields. The title is the title field, the id, or the end of the source.
    Other fields, and fields of an object `metadata`, become metadata; nested fields are named by path (`author.name`).
    """
    text_field = _find_field(record, TEXT_FIELDS)
    title_field = _find_field(record, TITLE_FIELDS)
    try:
        text = clean(str(record[text_field])).rstrip() if text_field else _list_fields(record, options=options)
    except LoadError as error:
        return Skipped(source=source, reason=error.reason, detail=f"line {line}: {error.detail}")
    title = clean(str(record[title_field])) if title_field else find_id(record)
    return Document(
        source=source,
        title=title.strip() or source.removeprefix(UPLOAD).rsplit("/", 1)[-1],
        text=text,
        metadata=to_metadata(flatten(collect_fields(record, without=(text_field, title_field)))),
        lines=[line] * (text.count("\n") + 1),
    )


def collect_fields(record: Mapping[str, object], *, without: tuple[str, ...]) -> dict[str, object]:
    """Return the other fields of a record; they take precedence over fields of its `metadata` object."""
    inner = record.get("metadata")
    outer = {key: value for key, value in record.items() if key not in without}
    return {**inner, **{key: outer[key] for key in outer if key != "metadata"}} if isinstance(inner, dict) else outer


def _find_field(record: Mapping[str, object], names: tuple[str, ...]) -> str:
    """Return the first field that is not blank, or an empty text."""
    values = ((name, record.get(name)) for name in names)
    return next((name for name, value in values if isinstance(value, str) and clean(value).strip()), "")


def _list_fields(record: Mapping[str, object], *, options: LoadOptions) -> str:
    """Return one line `path: value` per value of a record. Raises `LoadError` if the record has no values."""
    try:
        leaves = iter_leaves(json.dumps(record, ensure_ascii=False))
    except RecursionError as error:
        raise LoadError("bad record", "the values are nested too deeply") from error
    pieces = ((f"{leaf.path}: {leaf.value}", leaf.line) for leaf in leaves)
    text, _ = join_numbered(pieces, max_characters=options.max_expanded_bytes)
    if not text:
        raise LoadError("empty", "the record has no values")
    return text


def _parse(text: str | None, *, options: LoadOptions) -> Mapping[str, object]:
    if text is None:
        raise LoadError("too large", f"the line has more than {options.max_file_bytes:,} characters")
    try:
        record = json.loads(text)
    except RecursionError as error:
        raise LoadError("bad record", "the values are nested too deeply") from error
    except ValueError as error:
        raise LoadError("bad record", str(error)) from error
    if not isinstance(record, dict):
        raise LoadError("bad record", f"expected a JSON object, got {type(record).__name__}")
    return record
