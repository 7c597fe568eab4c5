"""
Citation of a chunk: source and lines, pages or turns.

An absolute source is shortened: citations start with the name of the folder that contains all absolute sources.

    sources                                          citations
    /home/x/notes/a/b.md, /home/x/notes/c.md         notes/a/b.md:3-9, notes/c.md:1
    /home/x/notes/c.md, /home/x/letters/d.md         x/notes/c.md:1, x/letters/d.md:1
    /home/x/notes/c.md, /srv/manual.md               unchanged: they share no folder
    notes/c.md, text:standup, https://example.org    unchanged: not absolute
"""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import commonpath

from weft.records import UNIT_MARKS, Chunk, DocumentInfo
from weft.store.base import StoreReader

_ROOT = "/"


def cite(document: DocumentInfo, chunk: Chunk, *, hidden: str = "") -> str:
    """
    Return `path:start-end` or `path:line`; pages are `p3-4`, turns `t3-4`. The prefix `hidden` is left out.

    If several namespaces were searched, that of the document follows: `notes/a.md:3-9 (team)`.
    """
    mark = UNIT_MARKS[document.unit]
    start, end = chunk.start_line, chunk.end_line
    lines = f"{mark}{start}" + (f"-{end}" if end != start else "")
    return f"{document.source.removeprefix(hidden)}:{lines}" + (
        f" ({document.namespace})" if document.namespace else ""
    )


def find_hidden_prefix(store: StoreReader, sources: Iterable[str] | None = None) -> str:
    """
    Return the prefix of absolute sources that citations leave out, with its final `/`; empty if there is none.

    `sources` are those to be cited, if known; without an absolute one nothing is read.
    """
    if sources is not None and not any(source.startswith(_ROOT) for source in sources):
        return ""
    ends = store.source_range(absolute=True)
    if ends is None:
        return ""
    # all absolute sources lie between the first and the last one, so the common folder of both contains all
    folder = commonpath([_folder(source) or _ROOT for source in ends]).rstrip("/")
    return folder.rpartition("/")[0] + "/" if folder else ""


def _folder(path: str) -> str:
    """Return the folder of a path; the id of a record, after `#`, is no part of the path."""
    return path.partition("#")[0].rpartition("/")[0]
