"""Values of single fields in records of papers: names, references, years, venues, abstracts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from weft.extract.names import name_key
from weft.extract.papers.paper_ids import read_id, sort_ids
from weft.load.line_map import collapse
from weft.load.papers.paper_records import Reference
from weft.text.decode import clean

MIN_SCORE = 0.3
"""Concepts that come with a score, as those of OpenAlex do, count from here."""
MAX_NAME = 200
MAX_WORDS = 200_000
"""Words of an abstract that is given as an index of its words."""

_NAMES = ("display_name", "name", "term", "keyword", "label", "title", "full_name")
_TITLES = ("title", "display_name", "name", "article_title", "unstructured", "text")
_IDS = ("arxiv_id", "arxiv", "doi", "openalex_id", "openalex", "id", "url", "paper_id", "paperid")
_LOCAL = ("id", "_id", "paper_id", "paperid", "key")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_TOKEN = re.compile(r"[!-~]*\d[!-~]*")


def field_name(key: object) -> str:
    """Return a field's name in one spelling: `container-title` and `Container Title` are `container_title`."""
    return re.sub(r"[\s-]+", "_", str(key)[:60].strip().lower())


def to_text(value: object) -> str:
    """Return a text, or the first of a list of texts, on one line; empty for anything else."""
    first = value[0] if isinstance(value, list) and value else value
    return collapse(clean(first)) if isinstance(first, str) else ""


def to_name(value: object) -> str | None:
    """Return what a concept is called; empty if its score is too low to count, None if it is no name."""
    if isinstance(value, Mapping):
        score = value.get("score")
        if isinstance(score, int | float) and score < MIN_SCORE:
            return ""
        value = next((value[field] for field in _NAMES if isinstance(value.get(field), str)), None)
    name = to_text(value)
    return name if name_key(name) and len(name) <= MAX_NAME else None


def to_reference(value: object) -> Reference | None:
    """
    Return which work a reference means; None if it means none.

    A word with a digit in it that is no known kind of id is one that only its file knows; other text is a title.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Reference(local=str(value))
    if isinstance(value, str):
        text = collapse(clean(value))
        if id := read_id(text):
            return Reference(ids=(id,))
        if _TOKEN.fullmatch(text) and len(text) <= MAX_NAME:
            return Reference(local=text)
        return Reference(title=text) if name_key(text) else None
    return _from_object(value) if isinstance(value, Mapping) else None


def _from_object(value: Mapping[object, object]) -> Reference | None:
    record = {field_name(key): item for key, item in value.items()}
    inner = record.get("externalids") or record.get("ids")
    every = [record.get(field) for field in _IDS] + (list(inner.values()) if isinstance(inner, Mapping) else [])
    ids = sort_ids(filter(None, (read_id(item) for item in every if isinstance(item, str))))
    known = (record.get(field) for field in _LOCAL)
    local = next((str(item) for item in known if isinstance(item, str | int) and not isinstance(item, bool)), "")
    title = next(filter(None, (to_text(record.get(field)) for field in _TITLES)), "")
    title = title if name_key(title) else ""
    found = Reference(ids=tuple(ids), local="" if ids else collapse(clean(local))[:MAX_NAME], title=title)
    return found if found.name else None


def to_year(value: object) -> int | None:
    """Return the year in a number, a date or nested `date-parts`."""
    for _ in range(4):  # Crossref: {"date-parts": [[2017, 6]]}
        if isinstance(value, Mapping):
            value = next(iter(value.values()), None)
        elif isinstance(value, list):
            value = value[0] if value else None
    match = _YEAR.search(str(value)[:100]) if isinstance(value, str | int | float) else None
    return int(match[1]) if match else None


def to_venue(value: object) -> str:
    """Return where a paper was published: a text, or an object around it."""
    for _ in range(3):  # OpenAlex: {"source": {"display_name": …}}
        if isinstance(value, Mapping):
            value = value.get("display_name") or value.get("name") or value.get("source")
    return to_text(value)


def from_inverted(value: object) -> str:
    """Return the abstract that OpenAlex gives as an index of its words: `{"Deep": [0], "learning": [1, 5]}`."""
    if not isinstance(value, Mapping):
        return ""
    places = [
        (at, str(word))
        for word, found in value.items()
        if isinstance(found, list)
        for at in found
        if isinstance(at, int)
    ]
    return clean(" ".join(word for _, word in sorted(places)[:MAX_WORDS])).strip()
