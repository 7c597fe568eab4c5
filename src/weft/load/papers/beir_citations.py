"""Citations of a BEIR corpus: `citations.jsonl` with one line `{"citing": …, "cited": …}` per citation, by row id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from weft.config import LoadOptions
from weft.load.formats.json_lines import find_id, iter_records
from weft.load.papers.paper_graph import extract_work
from weft.load.papers.paper_records import Catalogue, Reference
from weft.load.papers.record_fields import read_work
from weft.records import Document, Skipped

CITATION_NAMES = ("citations.jsonl", "citations.jsonl.gz")
MAX_REPORTED_CITATIONS = 100


class Citations:
    """Citation lists of a corpus, by id of the citing row."""

    def __init__(self, path: Path, *, corpus: str, options: LoadOptions) -> None:
        self.source = f"{corpus.removesuffix(corpus.rpartition('/')[2])}{path.name}"
        self._catalogue = Catalogue(scope=corpus, keys={}, names={})
        self._cited: dict[str, dict[str, int]] = defaultdict(dict)
        self.skipped: list[Skipped] = []
        for line, record in iter_records(path, source=self.source, options=options):
            if isinstance(record, Skipped):
                self.skipped.append(record)
                continue
            citing, cited = (find_id({"id": record.get(field)}) for field in ("citing", "cited"))
            if citing and cited:
                self._cited[citing].setdefault(cited, line)
            else:
                place = f"{self.source}#L{line}"
                detail = f"line {line}: {'no cited' if citing else 'no citing'} id"
                self.skipped.append(Skipped(source=place, reason="bad record", detail=detail))

    def to_paper(self, document: Document) -> Document:
        """Return a row of the corpus as a paper with its citations and metadata."""
        metadata = dict(document.metadata)
        id = str(metadata.get("_id", ""))
        record = {**metadata, "id": id, "title": document.title or id}
        work = read_work(record, kind="paper", place=document.source, line=1)
        if work is None:
            return document
        cites = tuple(Reference(local=cited) for cited in self._cited.get(id, ()))
        work = replace(work, local=id, text=document.text, cites=(*work.cites, *cites))
        metadata.setdefault("type", "paper")
        if work.year is not None:
            metadata.setdefault("year", work.year)
        return replace(document, metadata=metadata, given=extract_work(work, catalogue=self._catalogue))

    def iter_unknown(self, known: Collection[str]) -> Iterator[Skipped]:
        """Yield citations whose citing id is not a row of the corpus, up to a limit."""
        unknown = [
            (line, citing) for citing, cited in self._cited.items() if citing not in known for line in cited.values()
        ]
        for line, citing in sorted(unknown)[:MAX_REPORTED_CITATIONS]:
            detail = f"line {line}: unknown citing id {citing!r}"
            yield Skipped(source=f"{self.source}#L{line}", reason="unknown id", detail=detail)
        if len(unknown) > MAX_REPORTED_CITATIONS:
            more = f"{len(unknown) - MAX_REPORTED_CITATIONS:,} more citations with an unknown citing id"
            yield Skipped(source=self.source, reason="unknown id", detail=more)


def find_citations(corpus: Path) -> Path | None:
    """Return the citations file in the folder of a corpus, if there is one."""
    return next((path for path in (corpus.parent / name for name in CITATION_NAMES) if path.is_file()), None)
