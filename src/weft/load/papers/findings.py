"""Papers and projects that come together: research findings, lists of papers, to documents with a graph."""

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
from weft.load.papers.paper_graph import catalogue_of, to_document
from weft.load.papers.paper_records import Work, WorkKind, work_key
from weft.load.papers.record_fields import looks_like_paper, read_work
from weft.records import Document, Skipped
from weft.text.decode import clean, detect_encoding, has_byte_order_mark

KINDS: Mapping[str, WorkKind] = {"academic_papers": "paper", "github_projects": "project"}
"""Fields of a findings file, whose records are taken for what they say they are."""
LISTS = ("papers", "results", "works", "entries", "data", "items")
"""Fields that hold papers if all in them look like papers."""
MAX_FLAWS = 5
LOOKED_AT = 20
"""Records by which a list is judged."""

PARTLY = "partly read"
"""Why a record is reported that was loaded all the same: something in it makes no sense, or is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A record of a file, with where it stands."""

    kind: WorkKind
    record: object
    place: str
    line: int = 1


def find_lists(content: object) -> dict[str, WorkKind]:
    """Return the fields of a JSON file that hold papers or projects; the field `` stands for the file itself."""
    if isinstance(content, list):
        return {"": "paper"} if _are_papers(content) else {}
    if not isinstance(content, Mapping):
        return {}
    found = {field: kind for field, kind in KINDS.items() if isinstance(content.get(field), list)}
    if found:
        return found
    return {field: "paper" for field in LISTS if _are_papers(content.get(field))}


def iter_research(
    text: str, *, lists: Mapping[str, WorkKind], source: str, options: LoadOptions
) -> Iterator[Document | Skipped]:
    """Yield the documents of a valid JSON text in whose `lists` papers or projects stand."""
    entries: list[Entry] = []
    for field, place, element, line in iter_members(text):
        if field not in lists:
            continue
        if options.max_records is not None and len(entries) == options.max_records:
            yield skip_rest(source, line=line, options=options)
            break
        name = f"{field}[{place}]" if field else str(place + 1)
        entries.append(Entry(kind=lists[field], record=element, place=name, line=line))
    yield from load_entries(entries, source=source, separator="#")


def report_encoding(path: Path, *, source: str, options: LoadOptions) -> Iterator[Skipped]:
    """Yield where a file is not UTF-8, as JSON has to be, and what it was read as."""
    data = read_bytes(path, options=options)
    if has_byte_order_mark(data):
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        detail = f"line {line}: byte {error.start + 1:,} is not UTF-8; the file was read as {detect_encoding(data)}"
        yield Skipped(source=source, reason=PARTLY, detail=detail)


def iter_findings(findings: Mapping[str, object], *, source: str) -> Iterator[Document | Skipped]:
    """Yield the documents of findings that are already parsed; their sources begin with `source` and a colon."""
    entries: list[Entry] = []
    for field, kind in find_lists(findings).items():
        records = findings[field]
        for place, record in enumerate(records if isinstance(records, list) else ()):
            entries.append(Entry(kind=kind, record=record, place=f"{field}[{place}]"))
    for field in KINDS:
        if findings.get(field) is not None and not isinstance(findings[field], list):
            yield Skipped(source=f"{source}:{field}", reason="bad record", detail="not a list")
    yield from load_entries(entries, source=source, separator=":")


def load_entries(entries: Iterable[Entry], *, source: str, separator: str) -> Iterator[Document | Skipped]:
    """Yield a document for each record that is a paper or a project, and what could not be read."""
    items = (_read(entry, source=f"{source}{separator}{entry.place}") for entry in entries)
    yield from load_works(items, source=source, separator=separator)


def load_works(items: Iterable[Work | Skipped], *, source: str, separator: str) -> Iterator[Document | Skipped]:
    """
    Yield a document for each paper and project, and what could not be read.

    They are read before the first is yielded, for they may name each other in any order. Of two with the same id the
    first one is kept.
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
    """Yield a document for each work, each with what of it could not be read."""
    catalogue = catalogue_of(works, scope=source)
    taken: set[str] = set()
    for work in works:
        label = _label(work)
        while label in taken:  # a project is called like the id of a paper
            label += "_"
        taken.add(label)
        document = to_document(work, source=f"{source}{separator}{label}", catalogue=catalogue)
        if work.flaws:
            more = f" and {len(work.flaws) - MAX_FLAWS} more" if len(work.flaws) > MAX_FLAWS else ""
            detail = f"line {work.line}, {work.place}: {'; '.join(work.flaws[:MAX_FLAWS])}{more}"
            yield Skipped(source=document.source, reason=PARTLY, detail=detail)
        yield document


def _are_papers(records: object) -> bool:
    return isinstance(records, list) and bool(records) and all(map(looks_like_paper, records[:LOOKED_AT]))


def _read(entry: Entry, *, source: str) -> Work | Skipped:
    where = f"line {entry.line}: "
    if not isinstance(entry.record, Mapping):
        what = "null" if entry.record is None else f"not an object but {type(entry.record).__name__}"
        return Skipped(source=source, reason="bad record", detail=where + what)
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
    """Return the work with one of the same ids that came before, or note this one. Without ids the title counts."""
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
    detail = f"line {work.line}: {shorten(name)} again; {first.place} on line {first.line} is kept"
    return Skipped(source=source, reason="duplicate", detail=detail)


def _label(work: Work) -> str:
    """Return what a work's source ends with: its id, or its title where it has none."""
    if work.kind == "project":
        return work.title
    return work.ids[0] if work.ids else work.local or name_key(work.title).replace(" ", "-")
