"""Parser of paper and project records: findings, arXiv, OpenAlex, Crossref, Semantic Scholar, GitHub."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

from weft.extract.names import name_key
from weft.extract.papers.paper_ids import read_id, sort_ids
from weft.load.line_map import collapse, shorten
from weft.load.metadata import Fields, to_metadata
from weft.load.papers.field_values import (
    field_name,
    from_inverted_index,
    to_name,
    to_reference,
    to_text,
    to_venue,
    to_year,
)
from weft.load.papers.paper_records import Reference, Work, WorkKind
from weft.load.papers.people import read_people
from weft.text.decode import clean

Record: TypeAlias = Mapping[str, object]
T = TypeVar("T")

MAX_LOCAL_ID_CHARACTERS = 200
MIN_NOTE_CHARACTERS = 80
"""Minimum length of other text fields that are added to the text instead of the metadata."""

_IDS = {"arxiv_id": "arXiv", "arxiv": "arXiv", "doi": "doi", "openalex_id": "openalex", "openalex": "openalex"}
_LOCAL_IDS = ("id", "_id", "paper_id", "paperid", "key")
_URLS = ("url", "pdf_url", "link", "entry_id", "landing_page_url")
_TITLES = ("title", "display_name", "name")
_TEXTS = ("abstract", "summary", "description", "tldr", "text", "content")
_AUTHORS = ("authors", "author", "authorships")
_CONCEPTS = ("concepts", "keywords", "topics", "key_concepts")
_VENUES = (
    "venue", "journal", "booktitle", "container_title", "conference", "journal_ref", "host_venue", "primary_location",
)  # fmt: skip
_YEARS = (
    "year", "publication_year", "published", "publication_date", "published_date", "date", "issued", "submitted",
)  # fmt: skip
_CITES = ("references", "cites", "reference", "referenced_works", "bibliography")
_CITED_BY = ("cited_by", "citations")
_USES = ("uses", "technologies", "frameworks", "dependencies", "built_with", *_CONCEPTS, "tags")
_IMPLEMENTS = ("implements", "papers", "related_papers", "based_on", "paper", "references", "cites")
_OWNERS = (*_AUTHORS, "owner", "maintainer", "maintainers", "contributors")
_PROJECT_NAMES = ("full_name", "name", "title", "repo", "repository")
_PROJECT_TEXTS = ("description", "readme", "summary", "abstract", "about", "text")
_PROJECT_URLS = ("html_url", "url", "repo_url", "github_url", "link")
_REPOSITORY = re.compile(r"(?:github|gitlab)\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?(?:[/?#]|$)", re.IGNORECASE)
_PAPER_ONLY_FIELDS = frozenset({"arxiv_id", "abstract_inverted_index", "authorships", "referenced_works"})


def read_work(record: Mapping[Any, object], *, kind: WorkKind, place: str, line: int) -> Work | None:
    """Return the paper or project of a record; None if it has neither id nor title."""
    reader = _RecordReader({field_name(key): value for key, value in record.items()}, place=place, line=line)
    return reader.read_paper() if kind == "paper" else reader.read_project()


def looks_like_paper(record: object) -> bool:
    """Return True if the fields of an object show that it is the record of a paper."""
    if not isinstance(record, Mapping):
        return False
    fields = {field_name(key): value for key, value in record.items()}
    if not any(field in fields for field in _TITLES):
        return False
    ids = (fields.get(field) for field in (*_IDS, "id", *_URLS))
    has_id = any(isinstance(value, str) and read_id(value) for value in ids)
    is_described = any(field in fields for field in _TEXTS[:2]) and any(field in fields for field in _AUTHORS)
    return bool(_PAPER_ONLY_FIELDS & fields.keys()) or (has_id and is_described)


class _RecordReader:
    """Reads one record and collects messages about invalid fields."""

    def __init__(self, record: Record, *, place: str, line: int) -> None:
        self._record = record
        self._place = place
        self._line = line
        self._rest = dict(record)
        """Fields not read yet."""
        self._flaws: list[str] = []

    def read_paper(self) -> Work | None:
        """Return the paper; None if it has neither id nor title."""
        ids, local = self._read_ids()
        title = self._read_first(_TITLES, to_text)
        if not name_key(title) and not ids and not name_key(local):
            return None
        if not ids and not local:
            self._flaws.append("no id, identified by its title")
        if not name_key(title):
            self._flaws.append("no title, the id is used as title")
            title = ids[0] if ids else local
        text = self._read_text(_TEXTS)
        return Work(
            kind="paper",
            title=title,
            ids=tuple(ids),
            local="" if ids and ids[0] == local else local,
            authors=self._read_people(_AUTHORS),
            concepts=self._read_names(_CONCEPTS),
            venue=self._read_first(_VENUES, to_venue),
            year=self._read_year(_YEARS),
            cites=self._read_references(_CITES),
            cited_by=self._read_references(_CITED_BY),
            text=self._add_notes(text),
            metadata=self._to_metadata(),
            place=self._place,
            line=self._line,
            flaws=tuple(self._flaws),
        )

    def read_project(self) -> Work | None:
        """Return the project; None if it has no name."""
        name = self._read_first(_PROJECT_NAMES, to_text)
        urls = (to_text(self._record.get(field)) for field in _PROJECT_URLS)
        place = next((match[1] for url in urls if (match := _REPOSITORY.search(url))), "")
        name = place if place and "/" not in name else name
        if not name_key(name):
            return None
        short = name.rpartition("/")[2]
        text = self._read_text(_PROJECT_TEXTS)
        return Work(
            kind="project",
            title=name,
            authors=self._read_people(_OWNERS),
            concepts=self._read_names(_USES),
            year=self._read_year(("year", "created_at", "published")),
            implements=self._read_references(_IMPLEMENTS),
            aliases=(short,) if short != name else (),
            text=self._add_notes(text),
            metadata=self._to_metadata(),
            place=self._place,
            line=self._line,
            flaws=tuple(self._flaws),
        )

    # ── single fields ───────────────────────────────────────────────────────────────────────────

    def _read_ids(self) -> tuple[list[str], str]:
        """Return the canonical ids of a paper and the id local to its file."""
        found: list[str] = []
        for field, kind in _IDS.items():
            value = self._rest.pop(field, None)
            id = read_id(str(value)) if isinstance(value, str | int | float) else ""
            if id:
                found.append(id)
            elif value not in (None, "", []):
                self._flaws.append(f"{field} is not a valid {kind} id: {_show(value)}")
        inner = self._rest.get("ids") or self._rest.get("externalids") or ()
        values = [*(inner.values() if isinstance(inner, Mapping) else inner if isinstance(inner, list) else ())]
        values += [self._record.get(field) for field in (*_LOCAL_IDS, *_URLS)]
        found += filter(None, (read_id(value) for value in values if isinstance(value, str)))
        for field in ("ids", "externalids"):
            self._rest.pop(field, None)
        known = (self._rest.pop(field, None) for field in _LOCAL_IDS)
        local = next((collapse(clean(str(value))) for value in known if _is_id(value)), "")
        return sort_ids(found), "" if read_id(local) or len(local) > MAX_LOCAL_ID_CHARACTERS else local

    def _read_first(self, fields: Iterable[str], read: Callable[[object], str]) -> str:
        """Return the first field that is not empty; report fields of a wrong type."""
        for field in fields:
            value = self._rest.pop(field, None)
            if text := read(value):
                return text
            if value not in (None, "", [], {}) and not isinstance(value, str | Mapping):
                self._flaws.append(f"{field} is not a text: {_show(value)}")
        return ""

    def _read_text(self, fields: Iterable[str]) -> str:
        """Return the abstract and similar fields, one paragraph each."""
        parts = {from_inverted_index(self._rest.pop("abstract_inverted_index", None)): None}
        for field in fields:
            value = self._rest.pop(field, None)
            value = value.get("text") if isinstance(value, Mapping) else value  # `tldr` of Semantic Scholar
            if isinstance(value, str):
                parts[clean(value).strip()] = None
            elif value is not None:
                self._flaws.append(f"{field} is not a text: {_show(value)}")
        return "\n\n".join(filter(None, parts))

    def _add_notes(self, text: str) -> str:
        """Return the text followed by other fields that contain prose."""
        parts = [text]
        for field, value in list(self._rest.items()):
            items = value if isinstance(value, list) else [value]
            notes = [clean(item).strip() for item in items if isinstance(item, str)]
            if (
                len(notes) == len(items)
                and sum(map(len, notes)) >= MIN_NOTE_CHARACTERS
                and all(" " in note for note in notes)
            ):
                parts += notes
                del self._rest[field]
        return "\n\n".join(filter(None, parts))

    def _read_year(self, fields: Iterable[str]) -> int | None:
        """Return the year of the first field that has one; full dates stay in the metadata."""
        found = next((year for field in fields if (year := to_year(self._record.get(field)))), None)
        for field in ("year", "publication_year"):
            if to_year(self._rest.get(field)) is not None or self._rest.get(field) is None:
                self._rest.pop(field, None)
        return found

    def _read_people(self, fields: Iterable[str]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for field in fields:
            value = self._rest.pop(field, None)
            if value is not None and not isinstance(value, str | list | Mapping):
                self._flaws.append(f"{field} is not a list of names: {_show(value)}")
                continue
            found |= dict.fromkeys(self._drop_invalid(field, read_people(value)))
        return tuple(found)

    def _read_names(self, fields: Iterable[str]) -> tuple[str, ...]:
        found: dict[str, str] = {}
        for field in fields:
            value = self._rest.pop(field, None)
            items = re.split(r"[,;，；、]", value) if isinstance(value, str) else value
            for name in self._drop_invalid(field, map(to_name, self._list(field, items))):
                found.setdefault(name_key(name), name)
        return tuple(found.values())

    def _read_references(self, fields: Iterable[str]) -> tuple[Reference, ...]:
        found: dict[Reference, None] = {}
        for field in fields:
            value = self._rest.pop(field, None)
            if isinstance(value, int) and field in _CITED_BY:  # the number of citations
                self._rest[field] = value
                continue
            items = [value] if isinstance(value, str | Mapping) and value else value
            found |= dict.fromkeys(self._drop_invalid(field, map(to_reference, self._list(field, items))))
        return tuple(found)

    def _list(self, field: str, value: object) -> list[object]:
        if isinstance(value, list):
            return value
        if value not in (None, "", {}):
            self._flaws.append(f"{field} is not a list: {_show(value)}")
        return []

    def _drop_invalid(self, field: str, items: Iterable[T | None]) -> Iterable[T]:
        """Yield the valid items, without empty ones; report the positions of invalid ones (None)."""
        for place, item in enumerate(items):
            if item is None:
                self._flaws.append(f"{field}[{place}] cannot be read")
            elif item:
                yield item

    def _to_metadata(self) -> Fields:
        """Return the remaining fields: scalars and flat lists."""
        rest = {key: value for key, value in self._rest.items() if value not in (None, "", [], {})}
        return to_metadata(rest)


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and bool(str(value).strip())


def _show(value: object) -> str:
    return shorten(repr(value), limit=60)
