r"""
Syntax of wikilinks (`[[Page#part|label]]`) and Markdown links (`[label](address)`).

| written | `link_page` | `link_target` | `link_label` |
| --- | --- | --- | --- |
| `[[Auth Service]]` | `Auth Service` | `Auth Service` | `Auth Service` |
| `[[Auth Service#Limits]]` | `Auth Service` | `Auth Service` | `Auth Service` |
| `[[people/Ada Byron.md\|Ada]]` | `people/Ada Byron.md` | `Ada Byron` | `Ada` |
| `[[C#]]` | `C#` | `C#` | `C#` |
| `[[TCP/IP]]` | `TCP/IP` | `TCP/IP` | `TCP/IP` |

The functions take the text between the double brackets. In a table the bar is escaped: `[[Page\|label]]`.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_NO_PAGE = r"(?!\s{0,9}[\"'`]|[\d\s.-]{1,40},)"
"""Quoted values and lists of numbers are no pages: `[["driver", "restaurant"]]`, `[[1, 2]]`."""
_NO_SETTING = r"(?!\s{0,20}\n\s{0,20}[\w.-]{1,60}\s{0,9}=\s)"
"""A heading of TOML has a setting on the next line: `[[http.services]]`, then `name = "x"`."""

WIKILINK_PATTERN = rf"\[\[{_NO_PAGE}(?P<wiki>[^\[\]]{{1,300}})\]\]{_NO_SETTING}"
"""Pattern of a wikilink, for use in a larger pattern. The group `wiki` is the text between the brackets."""

_WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_MARKDOWN_LINK = re.compile(r"\[([^\[\]\n]+)\]\([^()\s]*\)")
_PART_MARK = re.compile(r"#(?=.)")
"""`#` before the part of a page. A `#` at the end belongs to the name: `C#`."""
_SEPARATORS = re.compile(r"[\s,;、，；•·]*")
_BACKTICKS = re.compile(r"`+")
_NOTE_SUFFIXES = frozenset({".md", ".markdown", ".mdx"})


def link_page(inner: str) -> str:
    """Return the page of a wikilink: folder and name, without part and label."""
    return _PART_MARK.split(inner.split("|")[0].rstrip("\\ "), maxsplit=1)[0].strip()


def link_target(inner: str) -> str:
    """Return the name of the page that a wikilink points to, without folder and `.md`."""
    return without_folder(link_page(inner).removesuffix(".md"))


def link_label(inner: str) -> str:
    """Return the text that a wikilink shows: its label, or else its target."""
    return (inner.split("|", 1)[1] if "|" in inner else link_target(inner)).strip()


def without_folder(name: str) -> str:
    """Return `Ada Byron` for `people/Ada Byron`. The names `TCP/IP`, `A/B test`, `9/11` and web addresses stay."""
    folder, _, last = name.rpartition("/")
    is_folder = not folder.isupper() and any(map(str.isalpha, folder)) and "://" not in name
    return last if len(last) > 1 and is_folder else name


def note_name(source: str) -> str:
    """Return the name by which wikilinks refer to a Markdown file: its stem. Empty for other files."""
    path = PurePosixPath(source.replace("\\", "/").removeprefix("upload:"))
    return path.stem if path.suffix.lower() in _NOTE_SUFFIXES else ""


def find_wikilinks(text: str) -> list[str]:
    """Return the texts between the double brackets of a text, in order."""
    return _WIKILINK.findall(text) if "[[" in text else []


def read_link_list(text: str) -> list[str]:
    """Return the targets of a text that consists of wikilinks and separators only; empty for any other text."""
    rest, count = _WIKILINK.subn("", text)
    return [link_target(inner) for inner in _WIKILINK.findall(text)] if count and _SEPARATORS.fullmatch(rest) else []


def replace_links(text: str) -> str:
    """Return `text` with each Markdown link replaced by its label."""
    return _MARKDOWN_LINK.sub(r"\1", text)


def blank_inline_code(line: str) -> str:
    """Return the line with each code span replaced by a space, in linear time."""
    runs = [match.span() for match in _BACKTICKS.finditer(line)]
    closing: dict[int, int] = {}  # length of a run of backticks → index of the next run of that length
    partner: list[int | None] = [None] * len(runs)
    for index in reversed(range(len(runs))):
        length = runs[index][1] - runs[index][0]
        partner[index] = closing.get(length)
        closing[length] = index
    kept, position, index = [], 0, 0
    while index < len(runs):
        if (close := partner[index]) is not None:
            kept.append(line[position : runs[index][0]])
            position, index = runs[close][1], close
        index += 1
    return " ".join([*kept, line[position:]])


def as_document_address(address: str, *, suffix: str = ".rst") -> str:
    """Return the address of a document of Sphinx, which has no extension: `guide.v2` is not a file type."""
    is_complete = address.startswith(("http://", "https://")) or address.endswith((".md", ".rst", suffix))
    return address if is_complete else f"{address}{suffix}"
