"""Parsers of single fields in records of papers: names, references, years, venues, abstracts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from weft.extract.names import name_key
from weft.extract.papers.paper_ids import read_id, sort_ids
from weft.load.line_map import collapse
from weft.load.papers.paper_records import Reference
from weft.text.decode import clean

MIN_CONCEPT_SCORE = 0.3
"""Minimum score of a concept. OpenAlex provides scores."""
MAX_NAME_CHARACTERS = 200
MAX_ABSTRACT_WORDS = 200_000
"""Maximum number of words of an abstract read from an inverted index."""

_NAMES = ("display_name", "name", "term", "keyword", "label", "title", "full_name")
_TITLES = ("title", "display_name", "name", "article_title", "unstructured", "text")
_IDS = ("arxiv_id", "arxiv", "doi", "openalex_id", "openalex", "id", "url", "paper_id", "paperid")
_LOCAL = ("id", "_id", "paper_id", "paperid", "key")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_TOKEN = re.compile(r"[!-~]+")
_DIGIT = re.compile(r"\d")


def field_name(key: object) -> str:
    """Return the normalised name of a field: `container_title` for `container-title` and `Container Title`."""
    return re.sub(r"[\s-]+", "_", str(key)[:60].strip().lower())


def to_text(value: object) -> str:
    """Return a text, or the first text of a list, on one line; empty for other values."""
    first = value[0] if isinstance(value, list) and value else value
    return collapse(clean(first)) if isinstance(first, str) else ""


def to_name(value: object) -> str | None:
    """Return the name of a concept; empty if its score is too low, None if it is not a name."""
    if isinstance(value, Mapping):
        score = value.get("score")
        if isinstance(score, int | float) and score < MIN_CONCEPT_SCORE:
            return ""
        value = next((value[field] for field in _NAMES if isinstance(value.get(field), str)), None)
    name = to_text(value)
    return name if name_key(name) and len(name) <= MAX_NAME_CHARACTERS else None


def to_reference(value: object) -> Reference | None:
    """
    Return a parsed reference to a work; None if the value is not one.

    A single word with a digit that is not a known kind of id is an id local to the file. Other text is a title.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Reference(local=str(value))
    if isinstance(value, str):
        text = collapse(clean(value))
        if id := read_id(text):
            return Reference(ids=(id,))
        if _TOKEN.fullmatch(text) and _DIGIT.search(text) and len(text) <= MAX_NAME_CHARACTERS:
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
    found = Reference(ids=tuple(ids), local="" if ids else collapse(clean(local))[:MAX_NAME_CHARACTERS], title=title)
    return found if found.name else None


def to_year(value: object) -> int | None:
    """Return the year of a number, a date or nested `date-parts`; None without a year from 1500 to 2099."""
    for _ in range(4):  # Crossref: {"date-parts": [[2017, 6]]}
        if isinstance(value, Mapping):
            value = next(iter(value.values()), None)
        elif isinstance(value, list):
            value = value[0] if value else None
    match = _YEAR.search(str(value)[:100]) if isinstance(value, str | int | float) else None
    return int(match[1]) if match else None


def to_venue(value: object) -> str:
    """Return the name of a venue, given as a text or an object."""
    for _ in range(3):  # OpenAlex: {"source": {"display_name": …}}
        if isinstance(value, Mapping):
            value = value.get("display_name") or value.get("name") or value.get("source")
    text = to_text(value)
    return "" if text.lower().startswith("arxiv:") else text  # an id: `arXiv:1808.06670 [cs, stat]`


def from_inverted_index(value: object) -> str:
    """Return the abstract of an OpenAlex inverted index: `{"Deep": [0], "learning": [1, 5]}`."""
    if not isinstance(value, Mapping):
        return ""
    words = [
        (position, str(word))
        for word, positions in value.items()
        if isinstance(positions, list)
        for position in positions
        if isinstance(position, int)
    ]
    return clean(" ".join(word for _, word in sorted(words)[:MAX_ABSTRACT_WORDS])).strip()
