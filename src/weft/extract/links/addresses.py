"""
Addresses of links as written, and the key of their target.

| address | on the page | key |
| --- | --- | --- |
| `../api/pods.md?x=1#Limits` | `docs/guide/intro.md` | `!pods/api/../|r#limits` |
| `/docs/pods/` | any | `!pods/docs/|a` |
| `./` | `docs/guide/intro.md` | `!guide/docs/|x` |
| `{{< ref "pods.md" >}}` | any | `!pods/|w` |
| `#limits`, `mailto:a@b.c`, `https://other.host/`, `logo.png` | any | none |
"""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import unquote, urlsplit

from weft.extract.links.page_keys import LinkKey, LinkKind, is_index, normal_anchor, page_parts, to_part, to_parts

MAX_ADDRESS_CHARACTERS = 1000
MAX_URL_CHARACTERS = 500
"""Characters of an address on another host; a longer one is not kept."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:")
_SHORTCODE = re.compile(r"\{\{[<%]?\s{0,9}(?:rel)?ref\s{1,9}[\"'“]?([^\"'”\s>%}]{1,500})")
_INCLUDE = re.compile(r"\{%\s{0,9}(?:link|post_url)\s{1,9}([^\s%}]{1,500})")
_QUOTED_URL = re.compile(r"\{\{\s{0,9}[\"']([^\"'}]{1,500})[\"']\s{0,9}\|")
_BASE = re.compile(r"\{\{\s{0,9}(?:site|page)\.[\w.]{1,60}\s{0,9}\}\}")
_FILES = frozenset(
    "avif bib bmp bz2 c cc cfg conf cpp css csv dll doc docm exe gif go gz h hpp ico ini ipa iso jar java jpeg jpg js "
    "json jsonl jsx kt lock log lua mkv mov mp3 mp4 ods ogg otf php pl png ppt ps1 psd py pyi r rb rs "
    "scss sh sql svg swift tar tf tgz tif tiff toml ts tsv tsx ttf vue wasm wav webm webp whl woff woff2 xls xlsx xml "
    "xz yaml yml zip zst".split()
)
"""Extensions of files that are no pages."""


def read_address(address: str, *, source: str) -> LinkKey | None:
    """Return the target of a link on a page; None for an external address, a file or a part of the same page."""
    address = address.strip()[:MAX_ADDRESS_CHARACTERS]
    if "{" in address:
        return _read_template(address, source=source)
    if "&" in address:
        address = unescape(address)
    path, _, anchor = address.partition("#")
    path = path.partition("?")[0]
    if not path:
        return None
    if path.startswith("@site/"):  # Docusaurus: the root of the site
        path = path[5:]
    if path.startswith("//") or _SCHEME.match(path):
        return _read_url(address, source=source)
    return _read_path(unquote(path), anchor=normal_anchor(unquote(anchor)), source=source)


def _read_template(address: str, *, source: str) -> LinkKey | None:
    """Return the target in a shortcode of Hugo or a tag of Jekyll; None for other templates."""
    if found := _SHORTCODE.search(address):
        path, _, anchor = found[1].partition("#")
        if not path:
            return None
        kind: LinkKind = "a" if path.startswith("/") else "w"
        return LinkKey(to_parts(path), kind, anchor=normal_anchor(anchor or address[found.end() :].partition("#")[2]))
    if found := _INCLUDE.search(address):
        return LinkKey(to_parts(found[1]), "a", anchor=normal_anchor(address.partition("#")[2]))
    if found := _QUOTED_URL.search(address):
        return read_address(found[1], source=source) if "{" not in found[1] else None
    address = _BASE.sub("", address, count=1)
    return None if "{" in address else read_address(f"/{address.lstrip('/')}", source=source)


def _read_url(address: str, *, source: str) -> LinkKey | None:
    """Return the target of a web address on the host of the page; None for other hosts and schemes."""
    if not source.startswith(("http://", "https://")):
        return None
    try:
        url, own = urlsplit(address), urlsplit(source)
    except ValueError:
        return None
    if url.scheme not in ("", "http", "https") or url.netloc.lower() != own.netloc.lower():
        return None
    parts = to_parts(f"{url.netloc}/{unquote(url.path)}")
    return None if parts == page_parts(source) else LinkKey(parts, "x", anchor=normal_anchor(unquote(url.fragment)))


def read_url(address: str, *, source: str) -> str:
    """Return the web address of a link to another host; empty for other links and for too long addresses."""
    address = unescape(address.strip())
    if not address.startswith(("http://", "https://")) or len(address) > MAX_URL_CHARACTERS or "{" in address:
        return ""
    try:
        host, own = urlsplit(address).netloc.lower(), urlsplit(source).netloc.lower()
    except ValueError:
        return ""
    return address if host and host != own and not any(map(str.isspace, address)) else ""


def _read_path(path: str, *, anchor: str, source: str) -> LinkKey | None:
    path = path.replace("\\", "/")
    if is_file(path) or "\n" in path:
        return None
    if path.startswith("/"):
        parts = to_parts(path)
        return LinkKey(parts, "a", anchor=anchor) if parts != (".",) else None  # `/` is the site, not a page
    ups, rest = split_relative(path)
    if not rest:  # a folder: the last part of its path is known from the page only
        parts = _folder_of(source)
        parts = parts[: max(0, len(parts) - ups)] or (".",)
        return None if parts == page_parts(source) else LinkKey(parts, "x", anchor=anchor)
    return LinkKey((*[".."] * ups, *rest), "r", anchor=anchor)


def split_relative(path: str) -> tuple[int, tuple[str, ...]]:
    """Return how many folders a relative path goes up, and its normalised parts below."""
    ups, rest = 0, list[str]()
    for part in path.split("/"):
        if part == ".." and rest:
            rest.pop()
        elif part == "..":
            ups += 1
        elif part not in ("", "."):
            rest.append(part)
    if not rest or (len(rest) == 1 and is_index(rest[0]) and not path.endswith("/")):
        return ups, ()
    return ups, to_parts("/".join(rest), is_folder=path.endswith("/"))


def _folder_of(source: str) -> tuple[str, ...]:
    """Return the folder of a page, normalised."""
    folder = source.replace("\\", "/").rpartition("/")[0]
    if "://" in source[:12]:
        folder = folder.partition("://")[2]
    return tuple(filter(None, (to_part(part) for part in folder.split("/") if part not in ("", ".", ".."))))


def is_file(path: str) -> bool:
    """Return True if a path has the extension of a file that is no page."""
    name = path.rpartition("/")[2]
    return "." in name and name.rpartition(".")[2].lower() in _FILES


def read_wikilink(page: str, *, anchor: str, name: str) -> LinkKey | None:
    """Return the target of a wikilink: its page, its part, and the key of the name it falls back to."""
    if not page or is_file(page) or page.startswith(("http://", "https://")):
        return None
    ups, rest = split_relative(page.strip().lstrip("/"))
    return LinkKey(rest, "w", name=name, anchor=normal_anchor(anchor)) if rest and ups < len(rest) + 8 else None
