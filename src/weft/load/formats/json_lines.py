"""JSON records to documents, and JSON Lines files read record by record."""

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
"""The first of these that holds words is the text."""
TITLE_FIELDS = ("title", "name", "headline", "subject")
ID_FIELDS = ("_id", "id")
MAX_ID_CHARACTERS = 200


def load_json_lines(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield a document for each line that holds an object, and a `Skipped` for any other."""
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
    Yield each line that is not blank with its number: an object, or why it is none.

    After `max_records` objects the rest is one `Skipped`. Raises `LoadError` where the file breaks off.
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
    """Return what stands for all records from `line` on."""
    detail = f"from line {line} on; the limit is {options.max_records:,} records"
    return Skipped(source=source, reason="too many records", detail=detail)


class Labels:
    """The names of a file's records, no two of which are equal."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def choose(self, record: Mapping[str, object], *, fallback: str) -> str:
        """Return the record's own id if it is usable and not taken yet, else the fallback."""
        label = find_id(record)
        if not label or label in self._taken:
            label = fallback
        while label in self._taken:  # some record has the id `L12`
            label += "_"
        self._taken.add(label)
        return label


def find_id(record: Mapping[str, object]) -> str:
    """Return the record's id as text if it is a word or a whole number, else nothing."""
    for field in ID_FIELDS:
        value = record.get(field)
        if isinstance(value, str | int) and not isinstance(value, bool):
            text = clean(str(value)).strip()
            if 0 < len(text) <= MAX_ID_CHARACTERS and "\n" not in text:
                return text
    return ""


def to_document(record: Mapping[str, object], *, source: str, line: int, options: LoadOptions) -> Document | Skipped:
    """
    Return the document a record stands for, all of which comes from one line.

    Without a text field the text lists all fields. The title is a title field, the id or the end of the
    source. Fields that are neither become metadata, as do those of an object called `metadata`; what is nested in
    them has its place for a name (`author.name`).
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
    """Return the other fields of a record; its own win over those of its `metadata` object."""
    inner = record.get("metadata")
    outer = {key: value for key, value in record.items() if key not in without}
    return {**inner, **{key: outer[key] for key in outer if key != "metadata"}} if isinstance(inner, dict) else outer


def _find_field(record: Mapping[str, object], names: tuple[str, ...]) -> str:
    """Return the first of the names whose field holds words, or nothing."""
    values = ((name, record.get(name)) for name in names)
    return next((name for name, value in values if isinstance(value, str) and clean(value).strip()), "")


def _list_fields(record: Mapping[str, object], *, options: LoadOptions) -> str:
    """Return `place: value` for every value in a record. Raises `LoadError` when there is none."""
    try:
        leaves = iter_leaves(json.dumps(record, ensure_ascii=False))
    except RecursionError as error:
        raise LoadError("bad record", "nested too deeply") from error
    pieces = ((f"{leaf.place}: {leaf.value}", leaf.line) for leaf in leaves)
    text, _ = join_numbered(pieces, max_characters=options.max_expanded_bytes)
    if not text:
        raise LoadError("empty", "no values")
    return text


def _parse(text: str | None, *, options: LoadOptions) -> Mapping[str, object]:
    if text is None:
        raise LoadError("too large", f"more than {options.max_file_bytes:,} characters")
    try:
        record = json.loads(text)
    except RecursionError as error:
        raise LoadError("bad record", "nested too deeply") from error
    except ValueError as error:
        raise LoadError("bad record", str(error)) from error
    if not isinstance(record, dict):
        raise LoadError("bad record", f"not an object but {type(record).__name__}")
    return record
