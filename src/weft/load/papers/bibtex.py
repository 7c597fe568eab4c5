"""BibTeX to documents, one paper per entry, with bibtexparser (`weft-search[bibtex]`)."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from weft.config import LoadOptions
from weft.extract.names import whole_key
from weft.extract.papers.paper_ids import read_id
from weft.load.file_reader import PARSER_ERRORS, LoadError, missing_extra, read_text
from weft.load.formats.json_lines import skip_rest
from weft.load.line_map import collapse, shorten
from weft.load.papers.findings import load_works
from weft.load.papers.paper_records import Reference, Work
from weft.load.papers.record_fields import read_work
from weft.records import Document, Skipped
from weft.text.decode import clean

Entries: TypeAlias = dict[str, dict[str, str]]
"""Fields of the entries by cite key; the field `line` is the first line of the entry."""

VERBATIM_FIELDS = ("doi", "url", "eprint", "arxiv_id", "file", "link")
"""Fields that are not decoded as LaTeX, where a percent sign would start a comment."""
CONTAINER_TYPES = frozenset({"proceedings", "collection", "mvproceedings"})
INHERITED_FIELDS = ("year", "date", "publisher", "editor", "series", "booktitle")
"""Fields that an entry inherits from its `crossref` entry."""

_CITATION_FIELDS = ("cites", "references", "cited")
_LEFT_OUT = ("line", "crossref", "file", *_CITATION_FIELDS)
"""Fields that are no text of the work; `file` is a path on the machine of its reader."""
_SEPARATORS = re.compile(r"[,;\s]+")

logging.getLogger("bibtexparser").addHandler(logging.NullHandler())  # its errors are reported as skipped entries


def load_bibtex(path: Path, *, source: str, options: LoadOptions) -> Iterator[Document | Skipped]:
    """Yield one paper per entry of a file, and a `Skipped` per invalid or repeated entry."""
    try:
        from bibtexparser.entrypoint import parse_string
        from bibtexparser.middlewares import LatexDecodingMiddleware
    except ImportError as error:
        raise missing_extra("bibtexparser", extra="bibtex") from error
    text = read_text(path, options=options)
    try:
        plain = parse_string(text)
        decoded = LatexDecodingMiddleware(allow_inplace_modification=False).transform(plain)
    except PARSER_ERRORS as error:
        raise LoadError("broken", f"BibTeX: {error}") from error
    failed = {_line(block): block for block in (*plain.failed_blocks, *decoded.failed_blocks)}
    for line, block in sorted(failed.items()):
        yield _skip(block, line=line, source=source)
    verbatim = {entry.key: entry for entry in plain.entries}
    entries = {
        entry.key: _fields(entry, verbatim.get(entry.key, entry)) for entry in sorted(decoded.entries, key=_line)
    }
    if not entries and not failed:
        raise LoadError("empty", "the file has no entries")
    if options.max_records is not None and len(entries) > options.max_records:
        first = dict(list(entries.items())[: options.max_records])
        line = int(next(fields["line"] for key, fields in entries.items() if key not in first))
        yield skip_rest(source, line=line, options=options)
        entries = first
    yield from load_works(_iter_works(entries, source=source), source=source, separator="#")


def _line(block: Any) -> int:
    """Return the first line of a block, from 1."""
    return int(block.start_line or 0) + 1


def _fields(entry: Any, verbatim: Any) -> dict[str, str]:
    fields = {field.key.lower(): clean(str(field.value)) for field in entry.fields}
    fields |= {
        field.key.lower(): clean(str(field.value)) for field in verbatim.fields if field.key.lower() in VERBATIM_FIELDS
    }
    return fields | {"line": str(_line(entry)), "entrytype": entry.entry_type.lower()}


def _skip(block: Any, *, line: int, source: str) -> Skipped:
    place = f"{source}#L{line}"
    first = getattr(block, "previous_block", None)
    if first is not None:
        detail = f"line {line}: {shorten(block.key)} is a duplicate; the entry on line {_line(first)} is kept"
        return Skipped(source=place, reason="duplicate", detail=detail)
    error = collapse(clean(str(block.error))) or collapse(clean(block.raw))
    return Skipped(source=place, reason="broken", detail=f"line {line}: {shorten(error, limit=200)}")


def _iter_works(entries: Entries, *, source: str) -> Iterator[Work | Skipped]:
    """Yield the entries as papers. An entry without id is identified by its title if no other entry has it."""
    parents = {_parent(fields, entries) for fields in entries.values()} - {""}
    works: dict[str, Work] = {}
    for key, fields in entries.items():
        if fields["entrytype"] in CONTAINER_TYPES and key in parents:
            continue  # only the venue of other entries
        line = int(fields["line"])
        work = read_work(_to_record(key, fields, entries), kind="paper", place=key, line=line)
        if work is None or (work.title == key and not work.ids):
            yield Skipped(source=f"{source}#{key}", reason="no id", detail=f"line {line}: neither id nor title")
            continue
        works[key] = replace(work, is_sorted=True)
    titles = Counter(whole_key(work.title) for work in works.values() if not work.ids)
    papers = {key: replace(work, local="") if _has_unique_title(work, titles) else work for key, work in works.items()}
    for key, work in papers.items():
        cited = (
            item
            for field in _CITATION_FIELDS
            for item in _SEPARATORS.split(entries[key].get(field, ""))
            if item in papers
        )
        cites = tuple(dict.fromkeys(_refer(papers[other]) for other in cited))
        others = tuple(reference for reference in work.cites if reference.local not in papers)
        yield replace(work, cites=(*cites, *others))


def _has_unique_title(work: Work, titles: Mapping[str, int]) -> bool:
    return not work.ids and titles[whole_key(work.title)] == 1


def _refer(work: Work) -> Reference:
    return Reference(ids=work.ids[:1], local="" if work.ids else work.local, title=work.title)


def _parent(fields: Mapping[str, str], entries: Entries) -> str:
    key = fields.get("crossref", "").strip()
    return key if key in entries else ""


def _to_record(key: str, fields: Mapping[str, str], entries: Entries) -> dict[str, object]:
    """Return the record of a paper for `read_work`."""
    own = {field: value for field, value in fields.items() if field not in _LEFT_OUT}
    if parent := entries.get(_parent(fields, entries)):
        own = {field: parent[field] for field in INHERITED_FIELDS if field in parent} | own
        own.setdefault("booktitle", parent.get("title", ""))
    archive = own.get("archiveprefix", own.get("eprinttype", "")).lower()
    if "eprint" in own and ("arxiv" in archive or (not archive and read_id(own["eprint"]).startswith("arXiv:"))):
        own["arxiv_id"] = own.pop("eprint")
        own.pop("archiveprefix", None)
    record: dict[str, object] = {**own, "id": key}
    for field in _CITATION_FIELDS:
        if items := [item for item in _SEPARATORS.split(fields.get(field, "")) if item]:
            record[field if field != "cited" else "cites"] = [
                {"id": item} if item in entries else item for item in items
            ]
    return record
