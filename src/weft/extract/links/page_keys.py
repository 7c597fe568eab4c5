"""
Keys of pages, sections, titles, labels and links in the graph.

Keys of names begin with a letter or digit; these begin with `/` or `!`, so that they never collide with a name.
Paths are stored from their last part to the first: a prefix of the key is then a suffix of the path.

| key | stands for |
| --- | --- |
| `/pods/concepts/docs/|pods.md` | the page `docs/concepts/pods.md` |
| `/old-pods/docs/|>` | a redirect: another path of a page |
| `/#pods/concepts/docs/|pods.md#limits` | the section `Limits` of that page |
| `/@pod-label/|pods.md` | a label on that page (`.. _pod-label:`) |
| `/@debug/setting/|pods.md` | a name that the page defines (`.. setting:: DEBUG`) |
| `/=pod` | the title `Pods`; each page with this title proposes it |
| `!pods/concepts/|a#limit` | a link to `/concepts/pods/#limits` |

The letter of a link key is its kind, which determines the resolution of its path.

| kind | written | resolved against |
| --- | --- | --- |
| `r` | `../pods.md` | the folder of the source, or its path as a folder |
| `a` | `/concepts/pods/` | the folders above the source, then any folder |
| `x` | `./`, `https://host/pods` | nothing: it is a whole path |
| `w` | `[[Pods]]` | the folder of the source, folders above it, any folder; then by name |
| `l` | `:ref:`, `id:` | labels |
| `n` | `:setting:`, `:meth:` | names that pages define, of this kind first; it may be a name of another library |
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from weft.text.ids import digest

LinkKind: TypeAlias = Literal["r", "a", "x", "w", "l", "n"]

LINKS_TO = "links_to"
DESCRIBES = "describes"
RESOLVED = "@"
"""First character of the origin of resolved relations and aliases; the key of the link follows."""
MAX_PARTS = 24
"""Parts of a path; of a longer path the last ones are kept."""
MAX_PART_CHARACTERS = 80
MAX_PREFIX_BYTES = 250
"""Of a longer path the beginning is replaced by a hash, because PostgreSQL limits the size of an index key."""
MAX_FALLBACK_CHARACTERS = 80
"""A wikilink with a longer name has no name to fall back to."""
ROOT = "."
"""The only part of the path of a page at the root: `index.md`."""

CODE_NAME = "py"
"""Kind of a name of source code in any language."""
OWN_KINDS = frozenset({CODE_NAME, "pypi", "record", "term"})
"""Kinds whose names stand for nothing else; `:djadmin:` is declared by a directive of another name."""

PAGE_SUFFIXES = frozenset(
    ".adoc .asciidoc .htm .html .ipynb .markdown .md .mdx .org .qmd .rmd .rst .text .txt .xhtml".split()
)
_INDEX_STEMS = frozenset({"index", "_index", "readme"})
_DOCUMENT_SUFFIXES = PAGE_SUFFIXES | frozenset({".docx", ".epub", ".odp", ".odt", ".pdf", ".pptx", ".rtf"})
_PREFIXES = ("upload:", "text:")


class LinkKey(NamedTuple):
    """A parsed link key."""

    parts: tuple[str, ...]
    """Path as written, first part first; a relative one may begin with `..`."""
    kind: LinkKind
    name: str = ""
    """Key of the name that a wikilink falls back to."""
    anchor: str = ""


# ── paths ───────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=4096)
def page_parts(source: str) -> tuple[str, ...]:
    """
    Return the path of a page without extension and index name; empty if the source is no page.

    Pages are files with the extension of a document, web addresses, and paths without extension (`notes/today`).
    """
    if "#" in source or not source:
        return ()
    if "://" in source[:12]:
        url = urlsplit(source)
        return to_parts(f"{url.netloc}/{url.path}")
    path = _file_path(source)
    parts = [part for part in path.split("/") if part not in ("", ".")]  # hot loop: a path object takes longer
    suffix = _suffix(parts[-1]) if parts else ""
    is_file_name = len(parts) < 2 and not path.startswith("/")
    if suffix not in _DOCUMENT_SUFFIXES and (is_file_name or (suffix and not _is_word(suffix))):
        return ()
    return to_parts(path)


def file_name(source: str) -> str:
    """Return the file name that makes the key of a page unique among pages with the same path."""
    name = _file_path(source).rpartition("/")[2].replace("|", "-").replace("#", "-")
    return name if len(name) <= MAX_PART_CHARACTERS else f"{digest([name], size=12)}{PurePosixPath(name).suffix[:10]}"


def _file_path(source: str) -> str:
    for prefix in _PREFIXES:
        source = source.removeprefix(prefix)
    return source.replace("\\", "/")


def _suffix(name: str) -> str:
    """Return the extension of a file name in lower case; empty for `.env` and `notes.`."""
    place = name.rfind(".")
    return name[place:].lower() if 0 < place < len(name) - 1 else ""


def _is_word(suffix: str) -> bool:
    """Return True if a suffix belongs to a name and is no extension: `Node.js basics`."""
    return " " in suffix or len(suffix) > 9


def to_parts(path: str, *, is_folder: bool = False) -> tuple[str, ...]:
    """Return the normalised parts of a path without extension and index name; `.` alone for the root."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")][-MAX_PARTS:]
    if parts and not is_folder:
        stem = without_page_suffix(parts[-1])
        parts = parts[:-1] if stem.lower() in _INDEX_STEMS else [*parts[:-1], stem]
    return tuple(filter(None, map(to_part, parts))) or (ROOT,)


def without_page_suffix(name: str) -> str:
    """Return a file name without the extension of a page; other extensions stay."""
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and stem and f".{suffix.lower()}" in PAGE_SUFFIXES else name


def is_index(name: str) -> bool:
    """Return True if a file name is that of the index page of its folder."""
    return without_page_suffix(name).lower() in _INDEX_STEMS


@lru_cache(maxsize=16384)
def to_part(part: str) -> str:
    """Return a part of a path as it is compared: case folded, `-` for spaces and without a leading `_`."""
    if part == "..":
        return part
    text = part[:MAX_PART_CHARACTERS].strip().lstrip("_")
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return "-".join(text.casefold().split()).replace("|", "-").replace("#", "-")


# ── keys ────────────────────────────────────────────────────────────────────────────────────────


def page_key(source: str) -> str:
    """Return the key of a page; empty if the source is no page."""
    parts = page_parts(source)
    return f"{path_prefix(parts)}|{file_name(source)}" if parts else ""


def redirect_key(parts: Iterable[str]) -> str:
    """Return the key of another path of a page."""
    return f"{path_prefix(parts)}|>"


def label_key(label: str, source: str) -> str:
    """Return the key of a label on a page."""
    return f"/@{to_part(label)}/|{file_name(source)}"


def name_parts(written: str) -> tuple[str, str]:
    """Return the kind and the name of `setting:DEBUG` as parts of a path. Names of code keep their case."""
    kind, _, name = written.partition(":")
    if kind == CODE_NAME:
        return kind, name[:MAX_PART_CHARACTERS]
    return to_part(kind), to_part(name.replace("/", "-"))


def name_target_key(written: str, source: str) -> str:
    """Return the key of a name that a page defines, given as `setting:DEBUG`."""
    kind, name = name_parts(written)
    return f"/@{name}/{kind}/|{file_name(source)}"


def title_key(name: str) -> str:
    """Return the key under which all pages with a title are found, by the key of the title."""
    return f"/={name}"


def section_key(page: str, anchor: str) -> str:
    """Return the key of a section of a page, by the normalised anchor."""
    return f"/#{page[1:]}#{anchor}"


def path_prefix(parts: Iterable[str]) -> str:
    """Return the beginning of the keys of all pages whose path ends with these parts."""
    return f"/{_join_path(tuple(parts))}"


@lru_cache(maxsize=16384)
def _join_path(parts: tuple[str, ...]) -> str:
    """Return a path from its last part to the first, with a hash in place of the rest if it is too long."""
    path = "".join(f"{part}/" for part in reversed(parts))
    if len(path.encode()) <= MAX_PREFIX_BYTES:
        return path
    kept, size = list[str](), 0
    for part in reversed(parts):
        size += len(part.encode()) + 1
        if size > MAX_PREFIX_BYTES - 40:
            break
        kept.append(part)
    rest = parts[: len(parts) - len(kept)]
    return "".join(f"{part}/" for part in [*kept, f"~{digest(rest, size=12)}"])


def parts_of_page(key: str) -> tuple[str, ...]:
    """Return the path in the key of a page."""
    return tuple(key.partition("|")[0].strip("/").split("/")[::-1])


def file_of_page(key: str) -> str:
    """Return the file name in the key of a page."""
    return key.partition("|")[2]


def link_key(link: LinkKey) -> str:
    """Return the key of a link, as it is stored in the stated relation."""
    path = _join_path(link.parts)
    anchor = f"#{link.anchor}" if link.anchor else ""
    return f"!{path}|{link.kind}{anchor}" + (f"={link.name}" if 0 < len(link.name) <= MAX_FALLBACK_CHARACTERS else "")


def read_link_key(key: str) -> LinkKey:
    """Return the parts of the key of a link."""
    path, _, rest = key[1:].partition("|")
    target, _, name = rest.partition("=")  # an anchor has neither `=` nor `#`, a name may
    kind, _, anchor = target.partition("#")
    parts = tuple(path.strip("/").split("/")[::-1])
    return LinkKey(parts, _kind(kind), name, anchor)


def written_address(link: LinkKey, *, suffix: str) -> str:
    """Return the address of a link to a file with an extension, as far as its key tells; a label or name alone."""
    path = "/".join(link.parts)
    if link.kind in ("l", "n", "w"):
        return link.parts[-1] if link.kind != "w" else path
    is_file = suffix in PAGE_SUFFIXES and path.rpartition("/")[2] not in (ROOT, "..")
    return f"{'/' if link.kind == 'a' else ''}{path}{suffix if is_file else ''}"


def _kind(text: str) -> LinkKind:
    for kind in ("r", "a", "x", "w", "n"):
        if text == kind:
            return kind
    return "l"


def is_page_key(key: str) -> bool:
    """Return True if a key denotes a page, a section, a title of pages or a label."""
    return key.startswith("/")


def is_link_key(key: str) -> bool:
    """Return True if a key denotes the target of a link."""
    return key.startswith("!")


def stem_range(part: str) -> tuple[str, str]:
    """Return the lowest key and the limit of all links whose path ends with a part."""
    return f"!{part}/", f"!{part}0"  # `0` follows `/`


def key_range(prefix: str) -> tuple[str, str]:
    """Return the lowest key and the limit of all keys with a prefix that ends with `/` or `|`."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)


def normal_anchor(anchor: str) -> str:
    """
    Return an anchor as it is compared: folded letters and digits only.

    Generators differ in punctuation, accents and case: `#c-sharp_api`, `#c-sharp-api` and `#C-Sharp-API` are equal.
    """
    if not anchor.isascii():
        decomposed = unicodedata.normalize("NFKD", anchor)
        anchor = "".join(character for character in decomposed if not unicodedata.combining(character))
    return "".join(filter(str.isalnum, anchor.casefold()))[:MAX_PART_CHARACTERS]


def same_beginning(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the number of equal parts at the beginning of two paths."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
