"""Research findings and lists of papers to documents with a graph."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from weft.config import LoadOptions
from weft.extract.names import name_key
from weft.load.file_reader import read_bytes
from weft.load.formats.json_leaves import iter_members
from weft.load.formats.json_lines import skip_rest
from weft.load.line_map import shorten
from weft.load.papers.paper_graph import make_catalogue, to_document
from weft.load.papers.paper_records import Work, WorkKind, work_key
from weft.load.papers.record_fields import looks_like_paper, read_work
from weft.records import Document, Skipped
from weft.text.decode import clean, detect_encoding, has_byte_order_mark

FINDINGS_FIELDS: Mapping[str, WorkKind] = {"academic_papers": "paper", "github_projects": "project"}
"""Fields of a findings file and the kind of their records."""
PAPER_LIST_FIELDS = ("papers", "results", "works", "entries", "data", "items")
"""Fields that are loaded as papers if their first records look like papers."""
MAX_REPORTED_FLAWS = 5
SAMPLE_RECORDS = 20
"""Number of records checked to recognise a list of papers."""

PARTLY_READ = "partly read"
"""Reason of a `Skipped` for a record that was loaded, but with missing or invalid fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record with its position in the file."""

    kind: WorkKind
    record: object
    place: str
    line: int = 1


def find_lists(content: object) -> dict[str, WorkKind]:
    """Return the fields of parsed JSON with papers or projects; an empty field name is the JSON itself."""
    if isinstance(content, list):
        return {"": "paper"} if _are_papers(content) else {}
    if not isinstance(content, Mapping):
        return {}
    found = {field: kind for field, kind in FINDINGS_FIELDS.items() if isinstance(content.get(field), list)}
    if found:
        return found
    return {field: "paper" for field in PAPER_LIST_FIELDS if _are_papers(content.get(field))}


def iter_research(
    text: str, *, lists: Mapping[str, WorkKind], source: str, options: LoadOptions
) -> Iterator[Document | Skipped]:
    """Yield the documents of a valid JSON text; `lists` are its fields with papers or projects."""
    entries: list[Entry] = []
    for member in iter_members(text):
        if member.field not in lists:
            continue
        if options.max_records is not None and len(entries) == options.max_records:
            yield skip_rest(source, line=member.line, options=options)
            break
        place = f"{member.field}[{member.index}]" if member.field else str(member.index + 1)
        entries.append(Entry(kind=lists[member.field], record=member.value, place=place, line=member.line))
    yield from load_entries(entries, source=source, separator="#")


def report_encoding(path: Path, *, source: str, options: LoadOptions) -> Iterator[Skipped]:
    """Report the first invalid byte of a file that is not UTF-8, and the encoding used instead."""
    data = read_bytes(path, options=options)
    if has_byte_order_mark(data):
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        detail = f"line {line}: byte {error.start + 1:,} is not UTF-8; the file was read as {detect_encoding(data)}"
        yield Skipped(source=source, reason=PARTLY_READ, detail=detail)


def iter_findings(findings: Mapping[str, object], *, source: str) -> Iterator[Document | Skipped]:
    """Yield the documents of parsed findings; their sources start with `source:`."""
    entries: list[Entry] = []
    for field, kind in find_lists(findings).items():
        records = findings[field]
        for place, record in enumerate(records if isinstance(records, list) else ()):
            entries.append(Entry(kind=kind, record=record, place=f"{field}[{place}]"))
    for field in FINDINGS_FIELDS:
        if findings.get(field) is not None and not isinstance(findings[field], list):
            yield Skipped(source=f"{source}:{field}", reason="bad record", detail="expected a list")
    yield from load_entries(entries, source=source, separator=":")


def load_entries(entries: Iterable[Entry], *, source: str, separator: str) -> Iterator[Document | Skipped]:
    """Yield one document per valid record, and a `Skipped` per other record."""
    items = (_read(entry, source=f"{source}{separator}{entry.place}") for entry in entries)
    yield from load_works(items, source=source, separator=separator)


def load_works(items: Iterable[Work | Skipped], *, source: str, separator: str) -> Iterator[Document | Skipped]:
    """
    Yield one document per paper or project, and the skipped records.

    All works are read before the first document, because they may refer to each other in any order. Of two works with
    the same id the first is kept.
    """
    works: list[Work] = []
    kept: dict[str, Work] = {}
    for item in items:
        if isinstance(item, Skipped):
            yield item
        elif duplicate := _find_duplicate(item, kept, scope=source):
            yield _skip_duplicate(item, duplicate, source=f"{source}{separator}{item.place}")
        else:
            works.append(item)
    yield from _to_documents(works, source=source, separator=separator)


def _to_documents(works: list[Work], *, source: str, separator: str) -> Iterator[Document | Skipped]:
    """Yield one document per work, preceded by a report of its flaws."""
    catalogue = make_catalogue(works, scope=source)
    used: set[str] = set()
    for work in works:
        label = _label(work)
        while label in used:  # the name of a project equals the id of a paper
            label += "_"
        used.add(label)
        document = to_document(work, source=f"{source}{separator}{label}", catalogue=catalogue)
        if work.flaws:
            more = f" and {len(work.flaws) - MAX_REPORTED_FLAWS} more" if len(work.flaws) > MAX_REPORTED_FLAWS else ""
            detail = f"line {work.line}, {work.place}: {'; '.join(work.flaws[:MAX_REPORTED_FLAWS])}{more}"
            yield Skipped(source=document.source, reason=PARTLY_READ, detail=detail)
        yield document


def _are_papers(records: object) -> bool:
    return isinstance(records, list) and bool(records) and all(map(looks_like_paper, records[:SAMPLE_RECORDS]))


def _read(entry: Entry, *, source: str) -> Work | Skipped:
    where = f"line {entry.line}: "
    if not isinstance(entry.record, Mapping):
        problem = "null" if entry.record is None else f"expected an object, got {type(entry.record).__name__}"
        return Skipped(source=source, reason="bad record", detail=where + problem)
    try:
        json.dumps(entry.record, default=str)
        work = read_work(entry.record, kind=entry.kind, place=entry.place, line=entry.line)
    except (RecursionError, ValueError) as error:
        return Skipped(source=source, reason="bad record", detail=where + shorten(clean(str(error)), limit=200))
    if work is not None and "\ufffd" in f"{work.title} {work.text}":
        return replace(work, flaws=(*work.flaws, "characters that could not be decoded"))
    if work is None:
        missing = "neither id nor title" if entry.kind == "paper" else "no name"
        return Skipped(source=source, reason="no id", detail=where + missing)
    return work


def _find_duplicate(work: Work, kept: dict[str, Work], *, scope: str) -> Work | None:
    """Return an earlier work with the same id, or title if there are no ids; otherwise add this work to `kept`."""
    keys = [*work.ids, work_key(work, scope=scope)]
    if work.local:
        keys.append(f"{work.kind} {work.local}")
    found = next((kept[key] for key in keys if key in kept), None)
    if found is None:
        kept.update(dict.fromkeys(keys, work))
    return found


def _skip_duplicate(work: Work, first: Work, *, source: str) -> Skipped:
    shared = [id for id in work.ids if id in first.ids]
    name = shared[0] if shared else work.local if work.local and work.local == first.local else work.title
    detail = f"line {work.line}: {shorten(name)} is a duplicate; {first.place} on line {first.line} is kept"
    return Skipped(source=source, reason="duplicate", detail=detail)


def _label(work: Work) -> str:
    """Return the last part of a work's source: its id, else its title."""
    if work.kind == "project":
        return work.title
    return work.ids[0] if work.ids else work.local or name_key(work.title).replace(" ", "-")
