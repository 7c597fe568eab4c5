"""
Facts about the subject of a note: front matter, and `Key: value` lines directly below the title.

| written in `Auth Service.md` | fact |
| --- | --- |
| `status: stable` in front matter | Auth Service – status – "stable" |
| `owner: Identity Team` | Auth Service – owner – entity Identity Team |
| `uses: "[[Redis]], [[Kafka]]"` | two facts, with the entities Redis and Kafka |
| `tags: [a, b]`, `draft: true` | none: fields of the page |
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weft.extract.attributes import MAX_VALUES, field_name, read_values
from weft.extract.names import name_key
from weft.extract.page_fields import is_page_field
from weft.extract.relation_types import FIELDS
from weft.records import Document, GivenFact, Scalar, to_values
from weft.text.links import read_link_list, replace_links
from weft.text.normalise import squeeze

MAX_FACTS = 100
"""Maximum number of facts per document."""
MAX_VALUE_CHARACTERS = 300
"""Maximum length of a value; a longer one is prose, not a fact."""
MAX_KEY_WORDS = 4
SOURCE = "file"

_NOT_A_NOTE = re.compile(
    r"\.(?:html?|xhtml|docx|epub|odp|odt|pdf|pptx|rtf)$|\.(?:jsonl?|ndjson|csv|ods|tsv|bib|xlsx)(?:\.gz)?(?:#|$)",
    re.IGNORECASE,
)
"""Sources whose fields are not statements: file properties, records, rows."""
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
_LINE = re.compile(
    r"\s{0,3}(?P<item>[-*+][ \t]+)?(?:\*\*|__)?(?P<key>[^\W\d_][^:：*\[\]|`\n]{0,39}?)(?:\*\*|__)?"
    r"\s?(?::(?:\*\*|__)?[ \t]+|：(?:\*\*|__)?\s*)(?P<value>\S.*)"
)
_DEFINITION = re.compile(r" {0,3}:[ \t]+(?P<value>\S.*)")


def read_properties(document: Document) -> list[GivenFact]:
    """
    Return the facts that a note states about the subject in its title, at most `MAX_FACTS`.

    Wikilinks, and names in fields such as `owner` or `depends_on`, become entities; other values stay literals. A list
    gives one fact per element. Records, tables, code and imported graphs give none.
    """
    if document.form not in ("markdown", "text") or _NOT_A_NOTE.search(document.source):
        return []
    if document.metadata.get("kind") == "commit":  # its relations say the same
        return []
    if not name_key(document.title) or any(key.startswith("_") for key in document.metadata):
        return []
    found: dict[GivenFact, None] = {}
    for key, value in [*document.metadata.items(), *_lines_below_title(document)]:
        if _is_fact(key, others=document.metadata):
            found |= dict.fromkeys(_state(document.title, key, value))
    return list(found)[:MAX_FACTS]


def _is_fact(key: str, *, others: Collection[str]) -> bool:
    return bool(field_name(key)) and not is_page_field(key, others=others) and len(key.split()) <= MAX_KEY_WORDS


def _state(subject: str, key: str, value: Scalar | Sequence[Scalar]) -> Iterator[GivenFact]:
    field = field_name(key)
    for item in to_values(value)[:MAX_VALUES]:
        if item is None or isinstance(item, bool):  # a setting of the page
            continue
        text = squeeze(_unmarked(str(item)))
        if not text or len(text) > MAX_VALUE_CHARACTERS or (text[0] in "{[" and not text.startswith("[[")):
            continue
        names = _names(field, text)
        for name in names:
            yield GivenFact(subject=subject, predicate=key, object=name, source=SOURCE)
        if not names:
            yield GivenFact(subject=subject, predicate=key, value=text, source=SOURCE)


def _names(field: str, text: str) -> list[str]:
    """Return the entities of a value: its wikilinks if it contains nothing else, or the names in a field of names."""
    found = read_link_list(text)
    if not found and field in FIELDS:
        found = list(read_values(field, text))
    return [name for name in found if name_key(name)]


def _unmarked(text: str) -> str:
    """Return a value without surrounding emphasis, with links replaced by their labels."""
    bare = replace_links(text.strip())
    for mark in ("**", "__", "`"):
        if len(bare) > 2 * len(mark) and bare.startswith(mark) and bare.endswith(mark):
            bare = bare[len(mark) : -len(mark)]
    return bare


# ── lines ───────────────────────────────────────────────────────────────────────────────────────


def _lines_below_title(document: Document) -> list[tuple[str, str]]:
    """Return the `Key: value` lines or definitions of the first block below the title, if it contains nothing else."""
    block = _first_block(document.text.split("\n", 200)[:200], title=document.title)
    matches = [_LINE.match(line) for line in block]
    if all(matches) and (len(block) > 1 or (block and matches[0] and matches[0]["item"])):
        return [(match["key"].strip(), match["value"].strip()) for match in matches if match]
    return _definitions(block)


def _first_block(lines: Sequence[str], *, title: str) -> list[str]:
    """Return the lines after the title up to the first blank line."""
    block: list[str] = []
    for line in _skip_title(lines, title=title):
        if line.strip():
            block.append(line)
        elif block:
            break
    return block


def _skip_title(lines: Sequence[str], *, title: str) -> Sequence[str]:
    at = next((number for number, line in enumerate(lines) if line.strip()), len(lines))
    if at == len(lines):
        return []
    is_title = name_key(lines[at].lstrip(" #")) == name_key(title)
    if at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1]) and is_title:
        return lines[at + 2 :]
    return lines[at + 1 :] if _HEADING.match(lines[at]) or is_title else lines[at:]


def _definitions(block: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of a definition list: a term, then lines `: definition`."""
    found: list[tuple[str, str]] = []
    term = ""
    for line in block:
        if match := _DEFINITION.match(line):
            if not term:
                return []
            found.append((term, match["value"].strip()))
        else:
            term = line.strip()
    return found if block and _DEFINITION.match(block[-1]) else []
