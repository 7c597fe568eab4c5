"""
Resolution of link keys to the pages of a namespace.

A link from `content/en/docs/guide/intro` (file `intro.md`):

| link | paths tried, in order |
| --- | --- |
| `../api/pods` | `content/en/docs/api/pods`, then `content/en/docs/guide/api/pods` (pages served as folders) |
| `/docs/pods` | below each folder above the page: `docs/pods`, `content/docs/pods`, `content/en/docs/pods` …, |
| | then any path that ends with `docs/pods`, then the same without `docs` below the folders above the page |
| `[[Pods]]` | `content/en/docs/guide/pods`, the folders above, then any path that ends with `pods` |
| ``:setting:`DEBUG` `` | the only page that defines the setting, or else something of this name |

The order of indexing does not matter: the result depends on the pages that exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from weft.extract.links.page_keys import (
    OWN_KINDS,
    ROOT,
    LinkKey,
    file_name,
    file_of_page,
    is_index,
    page_parts,
    parts_of_page,
    path_prefix,
    read_link_key,
    same_beginning,
    section_key,
)

MAX_CANDIDATES = 50
"""Pages with the same path that are compared."""
_ANY_PAGE = "page.md"


class PageRow(NamedTuple):
    """A page, redirect or label by which a link can find a page."""

    key: str
    alias_of: str
    """Key of the title of a page; of a redirect or label, the page or section it leads to."""


class Target(NamedTuple):
    """The page, and perhaps the section, that a link leads to."""

    page: str
    section: str = ""


FindPages = Callable[[Sequence[str]], Mapping[str, Sequence[PageRow]]]
"""Return the pages whose keys begin with each of these prefixes."""


# ── the paths of a link ─────────────────────────────────────────────────────────────────────────


def exact_prefixes(link: LinkKey, source: str) -> list[str]:
    """Return the key prefixes of the possible paths of a link, most likely first."""
    own = parts_of_page(source)
    folder = _folder_of(own, file_of_page(source))
    match link.kind:
        case "r":
            paths = [_join(folder, link.parts), _join(own, link.parts)]
        case "a":
            paths = [(*folder[:size], *link.parts) for size in range(len(folder) + 1)]
        case "w":
            near = [(*folder, *link.parts), *((*folder[:size], *link.parts) for size in range(len(folder)))]
            paths = [*near, (*folder[:-1], *link.parts)]
        case "l":
            return [f"/@{link.parts[-1]}/|"]
        case "n":
            kind, name = link.parts[0], link.parts[-1]
            return [f"/@{name}/{kind}/|", *([] if kind in OWN_KINDS else [f"/@{name}/"])]
        case _:
            paths = [link.parts]
    return [f"{path_prefix(path)}|" for path in dict.fromkeys(paths) if path]


def loose_prefixes(link: LinkKey, source: str) -> list[str]:
    """Return the key prefixes to try if no page has an exact path: path suffixes, then shortened paths."""
    below = tuple(part for part in link.parts if part != "..")
    if link.kind == "w":
        return [path_prefix(below)]
    if link.kind == "r":
        return [path_prefix(below)] if len(below) > 1 else []
    if link.kind != "a":
        return []
    own = parts_of_page(source)
    shortened = [f"{path_prefix((*own[:size], *link.parts[1:]))}|" for size in range(len(own)) if len(link.parts) > 1]
    return [*([path_prefix(link.parts)] if len(link.parts) > 1 else []), *shortened]


def leads_outside(link: LinkKey, source: str, folder: Sequence[str]) -> bool:
    """
    Return True if a link in the document `source` may lead to something that is not indexed.

    That is a relative link out of a folder, given by its parts, or a name, which may be one of another library.
    """
    if link.kind != "r":
        return link.kind == "n"
    own = _folder_of(page_parts(source), file_name(source))
    is_above_root = sum(part == ".." for part in link.parts) > len(own)
    return is_above_root or _join(own, link.parts)[: len(folder)] != tuple(folder)


def common_folder(first: str, last: str) -> tuple[str, ...]:
    """Return the parts of the innermost folder of all documents, from the first and the last source in their order."""
    folders, others = first.split("/")[:-1], last.split("/")[:-1]
    return page_parts("/".join([*folders[: same_beginning(folders, others)], _ANY_PAGE]))[:-1]


def _folder_of(own: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return the folder of a page, from its path and file name; an index page has the path of its folder."""
    folder = own if is_index(name) else own[:-1]
    return () if folder == (ROOT,) else folder


def _join(folder: Sequence[str], parts: Sequence[str]) -> tuple[str, ...]:
    ups = sum(part == ".." for part in parts)
    return (*folder[: max(0, len(folder) - ups)], *parts[ups:])


# ── choosing ────────────────────────────────────────────────────────────────────────────────────


def resolve(links: Iterable[tuple[str, str]], find_pages: FindPages) -> dict[tuple[str, str], Target]:
    """
    Return the targets of links, given as (key of the source page, key of the link).

    Links without a target are left out. Of several matching pages, the page with the longest common path with the
    source is chosen. Ties go to the shorter path, then to the smaller key. A wikilink leads to a file of its name
    rather than to another path (`permalink`) of a nearer page.
    """
    wanted = {at: read_link_key(at[1]) for at in links}
    found: dict[tuple[str, str], Target] = {}
    for prefixes_of, is_loose in ((exact_prefixes, False), (loose_prefixes, True)):
        prefixes = {at: prefixes_of(link, at[0]) for at, link in wanted.items() if at not in found}
        pages = find_pages(list(dict.fromkeys(prefix for some in prefixes.values() for prefix in some)))
        for at, some in prefixes.items():
            for prefix in some:
                rows = pages.get(prefix, ())
                if wanted[at].kind == "w" and len(wanted[at].parts) == 1:
                    files = [row for row in rows if not row.alias_of.startswith("/")]
                    rows = files or (rows if is_loose else ())
                if target := _choose(rows, at[0], wanted[at], is_loose=is_loose):
                    found[at] = target
                    break
    return found


def _choose(rows: Sequence[PageRow], source: str, link: LinkKey, *, is_loose: bool) -> Target | None:
    if not rows:
        return None
    own, suffix = parts_of_page(source), file_of_page(source).rpartition(".")[2]
    if link.kind == "n":
        rows = _rows_of_name(rows, source, link)
        if not rows:
            return None
    if is_loose and link.kind == "r" and len({_page_of(row) for row in rows}) > 1:
        return None

    def rank(row: PageRow) -> tuple[int, int, bool, bool, str]:
        parts = parts_of_page(_page_of(row) if row.key.startswith("/@") else row.key)
        is_redirect = row.alias_of.startswith("/")
        return (
            -same_beginning(own, parts),
            len(parts),
            is_redirect,
            file_of_page(row.key).rpartition(".")[2] != suffix,
            row.key,
        )

    best = min(rows, key=rank)
    if not best.alias_of.startswith("/"):
        return Target(best.key, section_key(best.key, link.anchor) if link.anchor else "")
    page = _page_of(best)
    if link.anchor:
        return Target(page, section_key(page, link.anchor))
    return Target(page, best.alias_of if best.alias_of.startswith("/#") else "")


def _rows_of_name(rows: Sequence[PageRow], source: str, link: LinkKey) -> Sequence[PageRow]:
    """Return the rows of a name: those of the page itself, or of the only page that defines it."""
    if link.parts[0] not in OWN_KINDS:
        rows = [row for row in rows if parts_of_page(row.key)[0] not in OWN_KINDS]
    pages = {_page_of(row) for row in rows}
    if source in pages:
        return [row for row in rows if _page_of(row) == source]
    return rows if len(pages) == 1 else []


def _page_of(row: PageRow) -> str:
    """Return the key of the page that a row leads to."""
    if not row.alias_of.startswith("/"):
        return row.key
    if row.alias_of.startswith("/#"):
        return "/" + row.alias_of[2:].rpartition("#")[0]
    return row.alias_of
