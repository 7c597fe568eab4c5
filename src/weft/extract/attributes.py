"""
Fields with names as values, and the relations they state: front matter, records, table rows, `Owner: …` lines.

| written | result |
| --- | --- |
| `depends_on: [OAuth Provider]` in front matter | the document `depends_on` OAuth Provider |
| `name: Auth Service; owner: Identity Team` in a table | Auth Service `owned_by` Identity Team |
| `flags[0].owner: Jane Doe` with `flags[0].name: dark-mode` | dark-mode `owned_by` Jane Doe |
| `Owner: [[Identity Team]]` in a text | the document `owned_by` Identity Team |
| `Related: [[p|HDK]] • [[Tools]]` | the document `related_to` p and Tools: links are read first |
| `owner: unknown`, `owner: NotRequired[str | None]` | none: not a name, an expression |
| `owner: Jane Doe` as the second line of a paragraph | none: a field begins a block or follows a field |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from weft.extract.lexicon import word_set
from weft.extract.names import name_key
from weft.extract.page_fields import AUTHOR_FIELDS, is_page_field
from weft.extract.phrases import is_identifier, is_proper, is_usable
from weft.extract.relation_types import FIELDS
from weft.records import Metadata, Scalar, to_values
from weft.text.links import find_wikilinks, link_target, replace_links
from weft.text.normalise import CJK

MAX_VALUE_WORDS = 6
MAX_VALUES = 200
"""Maximum number of values per field."""

MAX_FIELD_CHARACTERS = 2000
"""Maximum number of characters read per field."""

MAX_RECORD_LINES = 40
"""Lines of a record in which its name is looked for."""

ALIASES = ("aliases", "alias", "also_known_as", "aka")
TYPES = ("type", "kind", "category")
NAMES = ("name", "title", "key", "id")
DESCRIPTIONS = ("summary", "description", "note", "text")

_LOWER_CASE = frozenset({"depends_on", "dependencies", "requires", "service", "services", "component", "replaces"})
"""Fields with names of packages and services, which are often in lower case."""
_AUTHORS = frozenset({"author", "authors", "written_by", "director", "directed_by", "founded_by", "created_by"})
_EMPTY_VALUES = word_set("none n/a na null unknown tbd todo true false yes no various other others any all -")
_ACCOUNT = re.compile(r"\s?(?:\(@[\w.-]{1,60}\)|<[^<>]{1,200}>)$")
"""Account or address behind the name of an author, who may have both: `Jane Doe (@jane) <jane@example.org>`."""
_SEPARATOR = re.compile(r"[,;|、，；•·]")
_PEOPLE_SEPARATOR = re.compile(r"[;|、；•·]|\sand\s|,(?=\s*\S+\s+\S)")
_LINE = re.compile(
    r"\s*(?:[-*+]\s+)?(?:\*\*)?"
    r"(?P<place>(?:[\w-]+(?:\[\d+\])*\.)*)(?P<field>[A-Za-z][\w -]{0,30})(?:\[\d+\])?"  # `flags[0].owner`
    r"(?:\*\*)?\s?[:：](?:\*\*)?\s+(?P<value>\S.*)"
)
_PART = re.compile(r"(?P<field>[\w][\w /-]{0,40}): ")
_NOT_A_NAME = re.compile(rf"\d|https?:|[\w.]+@|[^\w(（《“\"'{CJK}]")
_EXPRESSION = re.compile(r"[\[\]{}<>=`\\]")
_BLOCK_START = re.compile(r"\s*(?:$|#|[-*+•>|]\s|\d{1,3}[.)]\s|[-=~^*]{3})")
"""Line after which a field may stand: blank, heading, list item, row, rule."""


@dataclass(frozen=True, slots=True)
class Field:
    """A relation stated by a field. An empty `subject` stands for the document."""

    subject: str
    type: str
    value: str


@dataclass(frozen=True, slots=True)
class Row:
    """An entity described by a record or a table row."""

    name: str
    type: str
    description: str
    fields: tuple[Field, ...]
    texts: tuple[str, ...] = ()
    """Values that contain sentences."""


def read_metadata(metadata: Metadata) -> list[Field]:
    """Return the relations stated by a document's metadata."""
    found: list[Field] = []
    for key, value in metadata.items():
        field = field_name(key)
        is_author_of_page = field in AUTHOR_FIELDS and is_page_field(key, others=metadata)
        if field in FIELDS and not is_author_of_page:
            found += (Field("", FIELDS[field], name) for name in read_values(field, value))
    return found


def record_name(text: str, *, title: str) -> str:
    """Return the name of a record whose title is another field, such as the occupation of a person; else empty."""
    fields: dict[str, str] = {}
    for line in text[:MAX_FIELD_CHARACTERS].split("\n")[:MAX_RECORD_LINES]:
        if (match := _LINE.match(line)) and not match["place"]:
            fields.setdefault(field_name(match["field"]), match["value"].strip())
    name = fields.get("name", "")
    return name if fields.get("title") == title != name and is_usable(name) and _is_short(name) else ""


def read_aliases(metadata: Metadata) -> list[str]:
    """Return the aliases in a document's metadata."""
    found: list[str] = []
    for key, value in metadata.items():
        if field_name(key) in ALIASES:
            values = _SEPARATOR.split(value) if isinstance(value, str) else to_values(value)
            found += (item.strip() for item in values[:MAX_VALUES] if isinstance(item, str) and is_usable(item.strip()))
    return found


def read_type(metadata: Metadata) -> str:
    """Return the type in a document's metadata if it has one or two words; otherwise an empty text."""
    for key, value in metadata.items():
        if field_name(key) in TYPES and isinstance(value, str) and _is_type(value):
            return value.strip().lower()
    return ""


def read_values(field: str, value: Scalar | Sequence[Scalar]) -> Iterator[str]:
    """Yield the names in the value of a field; a string may contain several with separators."""
    if isinstance(value, str):
        text = value[:MAX_FIELD_CHARACTERS]
        if links := find_wikilinks(text):
            yield from (name for inner in links[:MAX_VALUES] if is_usable(name := link_target(inner)))
            return
        separator = _PEOPLE_SEPARATOR if field in _AUTHORS else _SEPARATOR
        items = separator.split(replace_links(text))[:MAX_VALUES]
    else:
        items = [item for item in to_values(value)[:MAX_VALUES] if isinstance(item, str)]
    for item in items:
        name = item.strip().strip("\"'")
        if field in _AUTHORS:
            name = _ACCOUNT.sub("", _ACCOUNT.sub("", name)) or name
        if name.startswith("[[") and name.endswith("]]"):
            name = link_target(name[2:-2])
        if is_name_like(name) or (field in _LOWER_CASE and _is_package(name)):
            yield name


def is_name_like(value: str) -> bool:
    """Return True if a value is written like a name: short, and capitalised, CJK or an identifier."""
    if not is_usable(value) or len(value.split()) > MAX_VALUE_WORDS:
        return False
    if value.lower() in _EMPTY_VALUES or _NOT_A_NAME.match(value) or _EXPRESSION.search(value):
        return False
    return value[0].isupper() or bool(re.search(f"[{CJK}]", value)) or is_identifier(value)


def field_name(key: str) -> str:
    """Return the name of a field in snake case: `depends_on` for `Depends-On`."""
    return re.sub(r"[\s-]+", "_", key[:60].strip().lower())


def read_lines(lines: Iterable[str]) -> list[Row]:
    """
    Return the rows stated by lines such as `owner: Identity Team`, grouped by the path before the field.

    Fields with the same path, as in `flags[0].owner`, form a record, named by its `name`, `title`, `key` or `id`. The
    row without a name belongs to the document. A line inside a paragraph is no field.
    """
    groups: dict[str, dict[str, list[str]]] = {}
    may_begin = True
    for line in lines:
        match = _LINE.match(line[:MAX_FIELD_CHARACTERS])
        is_field = match is not None and (may_begin or _BLOCK_START.match(line) is not None)
        may_begin = is_field or _BLOCK_START.match(line) is not None
        if match and is_field:
            group = groups.setdefault(match["place"], {})
            group.setdefault(field_name(match["field"]), []).append(match["value"].strip())
    return [row for place, group in groups.items() if (row := _to_row(group, is_record=bool(place)))]


def read_row(line: str, columns: Sequence[str]) -> Row | None:
    """Return the row of a table line: `name: Auth Service; owner: Identity Team; depends_on: A; B`."""
    known = {column.strip() for column in columns}
    cells: dict[str, str] = {}
    last = ""
    for part in line.split("; "):
        match = _PART.match(part)
        if match and (match["field"] in known if known else True) and field_name(match["field"]) not in cells:
            last = field_name(match["field"])
            cells[last] = part[match.end() :].strip()
        elif last:
            cells[last] += f"; {part}"
    if not cells:
        return None
    return _to_row({field: [value] for field, value in cells.items()}, is_record=True, first=next(iter(cells.values())))


def _to_row(cells: Mapping[str, Sequence[str]], *, is_record: bool, first: str = "") -> Row | None:
    candidates = [cells[field][0] for field in NAMES if field in cells] or [first]
    name = next((value for value in candidates if is_record and is_usable(value) and _is_short(value)), "")
    if is_record and (not name or len(cells) < 2):
        return None
    fields = [
        Field(name, FIELDS[field], value)
        for field, values in cells.items()
        if field in FIELDS
        for text in values
        for value in read_values(field, text)
        if is_record or is_proper(value) or text.startswith("[[")
    ]
    kind = next((cells[field][0].lower() for field in TYPES if field in cells and _is_type(cells[field][0])), "")
    prose = (values for field, values in cells.items() if field not in FIELDS and field not in NAMES)
    texts = tuple(value for values in prose for value in values if len(value.split()) > 3)
    described = DESCRIPTIONS if is_record else DESCRIPTIONS[:2]  # `Note: …` in prose is not a field
    description = next((cells[field][0] for field in described if field in cells), "")
    return Row(
        name, kind, description, tuple(field for field in fields if name_key(field.value) != name_key(name)), texts
    )


def _is_short(value: str) -> bool:
    return len(value.split()) <= 2 * MAX_VALUE_WORDS


def _is_type(value: str) -> bool:
    return 0 < len(value.split()) <= 2 and len(value) <= 30 and value.strip()[0].isalpha()


def _is_package(value: str) -> bool:
    return " " not in value and value[:1].isalpha() and value.lower() not in _EMPTY_VALUES and is_usable(value)
