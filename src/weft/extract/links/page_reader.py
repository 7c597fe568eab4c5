"""
Candidates and stated relations of a page: its paths, title, sections, labels and links.

    docs/pods.md, title "Pods"       first chunk: page `/pods/docs/|pods.md` describes `pod`, title `/=pod`
    ## Limits                        its chunks: section `/#pods/docs/|pods.md#limits`
    See [the API](../api.md).        its chunk: stated relation page → `!api/../|r`
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from weft.extract.code.code_keys import code_key
from weft.extract.links.addresses import read_address, read_url, read_wikilink
from weft.extract.links.anchor_text import read_label
from weft.extract.links.anchors import Anchor, find_anchors
from weft.extract.links.code_references import CODE, find_code_insertions
from weft.extract.links.markdown_links import Link, find_links
from weft.extract.links.markup_links import find_asciidoc_links, find_org_links
from weft.extract.links.page_keys import (
    CODE_NAME,
    DESCRIBES,
    LINKS_TO,
    LinkKey,
    file_name,
    label_key,
    link_key,
    name_parts,
    name_target_key,
    page_key,
    page_parts,
    read_link_key,
    redirect_key,
    section_key,
    title_key,
    to_part,
    to_parts,
    written_address,
)
from weft.extract.links.page_targets import NAME, TARGET, target_anchors
from weft.extract.links.record_links import find_record_links
from weft.extract.names import name_key
from weft.extract.sentences import sentence_around, shorten, strip_markup
from weft.extract.statements import LINK_WEIGHT
from weft.extract.subjects import Topic
from weft.records import Candidate, Chunk, Document, StatedRelation, to_values
from weft.text.links import link_label, link_page, link_target
from weft.text.markdown.blocks import fenced_lines, parse

MAX_REDIRECTS = 30
"""Other paths of one page."""
MAX_URLS = 50
"""Addresses on other hosts that are kept of one page."""
MAX_CHUNK_SECTIONS = 40
"""Sections proposed by one chunk."""

_READERS: dict[str, Callable[[str], list[Link]]] = {
    ".org": find_org_links,
    ".adoc": find_asciidoc_links,
    ".asciidoc": find_asciidoc_links,
}
_PLAIN_SUFFIXES = frozenset({".rst", ".text", ".txt"})
"""Texts whose links a loader has found, or that have none."""
_PATH_FIELDS = ("aliases", "alias", "redirect_from", "redirects", "redirect", "permalink", "slug", "url")
_NUMBERED = re.compile(r"\d{1,4}[-_. ]{1,3}(?=[^\W\d])")
_POST = re.compile(r"(\d{4})-(\d\d)-(\d\d)-(.{1,120})")


@dataclass(slots=True)
class Statements:
    """Candidates and stated relations of one chunk that concern pages."""

    candidates: dict[tuple[str, str], Candidate] = field(default_factory=dict)
    """By key and kind; the first one counts."""
    stated_relations: dict[tuple[str, str], StatedRelation] = field(default_factory=dict)
    """By target and type; the first one counts."""

    def propose(self, candidate: Candidate) -> None:
        """Add a candidate."""
        self.candidates.setdefault((candidate.key, candidate.kind), candidate)

    def state(self, stated: StatedRelation) -> None:
        """Add a stated relation of the page."""
        self.stated_relations.setdefault((stated.target, stated.type), stated)


def read_page(document: Document, chunks: Sequence[Chunk], *, topic: Topic) -> list[Statements]:
    """Return the statements of each chunk about pages and links; nothing if the document is no page."""
    page = page_key(document.source) if document.form in ("markdown", "text") else ""
    found = [Statements() for _ in chunks]
    if not page or not chunks:
        return found
    suffix = _suffix(document)
    title = strip_markup(document.title[:200]).strip() or file_name(document.source)
    anchors = find_anchors(document.text, suffix=suffix) if suffix not in _PLAIN_SUFFIXES else []
    _propose_page(found[0], document, page=page, title=title, topic=topic)
    targets = target_anchors(document, anchors)
    _propose_sections(found, document, chunks, [*anchors, *targets], page=page, title=title)
    places = _Places(chunks)
    own = {link.address for link in document.links if link.kind == TARGET}
    for link in _links(document, suffix=suffix):
        if link.kind == NAME and link.address in own:
            continue
        if (at := places.find(link)) is None:
            continue
        link = link if link.block or link.sentence else _with_block(link, chunks[at].text)
        if name := _code_name(link):
            _add_code_reference(found[at], link, name, subject=topic.key or page)
        for target in _read_targets(link, source=document.source):
            _add_link(found[at], link, target, page=page)
    return found


def locate_links(text: str, *, source: str, keys: AbstractSet[str]) -> dict[str, tuple[int, str]]:
    """Return the line (from 0) and the address of the links with these keys in the text of a chunk."""
    found: dict[str, tuple[int, str]] = {}
    suffix = PurePosixPath(source).suffix.lower()
    for link in _find_links(text, suffix=suffix):
        target = _read_target(link, source=source)
        if target is not None and (key := link_key(target)) in keys:
            found.setdefault(key, (link.line, link.address))
    lines = text.casefold().split("\n")
    for key in keys - found.keys():  # the text of other formats shows no addresses
        target = read_link_key(key)
        line = next((index for index, line in enumerate(lines) if target.parts[-1] in line), 0)
        found[key] = (line, written_address(target, suffix=suffix))
    return found


def find_urls(document: Document) -> list[str]:
    """Return the web addresses on other hosts that a page links to, in order, at most `MAX_URLS`; none for code."""
    is_page = document.form in ("markdown", "text") and bool(page_key(document.source))
    if not is_page or not (document.links or "://" in document.text):
        return []
    found: dict[str, None] = {}
    for link in _links(document, suffix=_suffix(document)):
        url = read_url(link.address, source=document.source) if not link.is_wiki and link.kind != CODE else ""
        if url:
            found[url] = None
        if len(found) == MAX_URLS:
            break
    return list(found)


def _links(document: Document, *, suffix: str) -> list[Link]:
    """Return the links of a document, by their lines in its source."""
    given = [Link(item.line, item.address, item.label, kind=item.kind) for item in document.links]
    text = document.text
    code = parse(text).code_lines() if _is_markdown(suffix) else fenced_lines(text)
    written = [*_find_links(text, suffix=suffix), *find_record_links(text, code=code)]
    return [*given, *(replace(link, line=source_line(document, link.line)) for link in written)]


def source_line(document: Document, index: int) -> int:
    """Return the line in the source of a line of the text, given by its index."""
    lines = document.lines
    if lines is None:
        return index + 1
    return lines[min(index, len(lines) - 1)] if lines else 1


def _suffix(document: Document) -> str:
    """Return the extension of the markup of a text; empty for Markdown."""
    return PurePosixPath(document.source).suffix.lower() if document.form == "text" else ""


def _is_markdown(suffix: str) -> bool:
    return suffix not in _READERS and suffix not in _PLAIN_SUFFIXES


def _find_links(text: str, *, suffix: str) -> list[Link]:
    if _is_markdown(suffix):
        page = parse(text)
        return [*find_code_insertions(page), *find_links(page)]
    return _READERS.get(suffix, _no_links)(text)


def _no_links(text: str) -> list[Link]:
    return []


def _with_block(link: Link, text: str) -> Link:
    """Return a link with the paragraph of a chunk that contains its label."""
    at = max(0, text.find(link.label))
    start = text.rfind("\n\n", 0, at) + 1
    end = text.find("\n\n", at)
    return replace(link, block=text[start : end if end >= 0 else len(text)], offset=at - start)


def _code_name(link: Link) -> str:
    """Return the name of source code that a link refers to, or that a directive documents; else an empty text."""
    kind, _, name = link.address.partition(":")
    if link.kind == CODE:
        return link.address
    is_code = kind == CODE_NAME and (link.kind == NAME or (link.kind == TARGET and name == link.label))
    return name if is_code else ""


def _read_targets(link: Link, *, source: str) -> Iterator[LinkKey]:
    """Yield the targets of a link; a link to a member of a class is also one to the class."""
    if link.kind == NAME:
        kind, name = name_parts(link.address)
        if name:
            yield LinkKey((kind, name), "n")
        outer = name.rpartition(".")[0]
        if kind == CODE_NAME and outer.rpartition(".")[2][:1].isupper():
            yield LinkKey((kind, outer), "n")
    elif (target := _read_target(link, source=source)) is not None:
        yield target


def _read_target(link: Link, *, source: str) -> LinkKey | None:
    if link.kind in (CODE, NAME, TARGET):
        return None
    if link.is_wiki:
        page = link_page(link.address)
        anchor = link.address.split("|")[0].rstrip("\\ ").rpartition("#")[2] if "#" in link.address else ""
        name = link_target(link.address)
        anchor = "" if page.endswith("#") else anchor
        return read_wikilink(page, anchor=anchor, name=name_key(name))
    if link.kind == "label":
        label = to_part(link.address)
        return LinkKey((label,), "l") if label else None
    target = read_address(link.address, source=source)
    return None if target and target.kind == "r" and _is_own(target, source) else target


def _is_own(target: LinkKey, source: str) -> bool:
    """Return True if a relative link leads to the page itself."""
    return ".." not in target.parts and (*page_parts(source)[:-1], *target.parts) == page_parts(source)


def _add_link(statements: Statements, link: Link, target: LinkKey, *, page: str) -> None:
    key = link_key(target)
    label = link_label(link.address) if link.is_wiki else link.label
    description = shorten(link.sentence or sentence_around(link.block, link.offset, label))
    statements.state(
        StatedRelation(source=page, target=key, type=LINKS_TO, weight=LINK_WEIGHT, description=description)
    )
    is_own_name = link.is_wiki and "|" not in link.address  # the file name, which is a name of its page already
    is_name = not (target.anchor or target.kind in "ln" or is_own_name)
    name = read_label(label, target=target.parts) if is_name else ""
    if name and name_key(name):
        statements.propose(Candidate(key=name_key(name), name=name, kind="label", alias_of=key))


def _add_code_reference(statements: Statements, link: Link, name: str, *, subject: str) -> None:
    """
    State a link from the subject of a page to a definition.

    It becomes a relation if the corpus has exactly one definition of this name. A name of another library is no broken
    link.
    """
    description = shorten(sentence_around(link.block, link.offset, link.label))
    target = code_key(name)
    statements.state(
        StatedRelation(source=subject, target=target, type=LINKS_TO, weight=LINK_WEIGHT, description=description)
    )


# ── the page itself ─────────────────────────────────────────────────────────────────────────────


def _propose_page(first: Statements, document: Document, *, page: str, title: str, topic: Topic) -> None:
    first.propose(Candidate(key=page, name=title, kind="page", type=topic.type, about=True, alias_of=topic.key))
    if topic.key:
        first.propose(Candidate(key=title_key(topic.key), name=title, kind="page", alias_of=page))
        description = f"{title} ({document.source})"
        first.state(
            StatedRelation(
                source=page, target=topic.key, type=DESCRIBES, weight=LINK_WEIGHT, description=shorten(description)
            )
        )
    for link in document.links:
        if link.kind == TARGET and link.address.startswith("record:"):
            key = name_target_key(link.address, document.source)
            first.propose(Candidate(key=key, name=title, kind="page", alias_of=page))
    own = page_parts(document.source)
    for parts in list(dict.fromkeys(_other_paths(document, own)))[:MAX_REDIRECTS]:
        if parts != own:
            first.propose(Candidate(key=redirect_key(parts), name=title, kind="page", alias_of=page))


def _other_paths(document: Document, own: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the other paths of a page: redirects of its front matter, names without number or date."""
    for name in _PATH_FIELDS:
        for value in to_values(document.metadata.get(name) or [])[:MAX_REDIRECTS]:
            if isinstance(value, str) and value.strip() and "://" not in value and ("/" in value or name == "slug"):
                yield from _redirects(value.strip(), own)
    plain = tuple(_NUMBERED.sub("", part) if part[0].isdigit() else part for part in own)
    if plain != tuple(own) and all(plain):
        yield plain
    if post := _POST.fullmatch(own[-1]):
        yield (post[1], post[2], post[3], post[4])
        yield (*own[:-1], post[4])


def _redirects(value: str, own: Sequence[str]) -> Iterator[tuple[str, ...]]:
    parts = to_parts(value)
    if not value.startswith("/"):
        yield (*own[:-1], *parts)
        return
    yield parts
    for size in range(1, len(own)):  # below the folder where the site begins: `content/en` before `docs`
        if own[size] == parts[0]:
            yield (*own[:size], *parts)
            break


def _propose_sections(
    found: Sequence[Statements],
    document: Document,
    chunks: Sequence[Chunk],
    anchors: Sequence[Anchor],
    *,
    page: str,
    title: str,
) -> None:
    has_labels = document.form == "text" or bool(document.links)

    starts = [chunk.start_line for chunk in chunks]
    for anchor in anchors:
        is_part = (anchor.is_section or anchor.is_name) and name_key(anchor.title) != name_key(title)
        key = section_key(page, anchor.id) if is_part else page
        first, last = source_line(document, anchor.start), source_line(document, anchor.end)
        at = max(0, bisect_left(starts, first + 1) - 1)
        if chunks[at].end_line < first and at + 1 < len(chunks):  # the heading line is not part of a chunk
            at += 1
        name = f"{title} › {anchor.title}"[:200]
        for index in range(at, len(chunks)) if is_part else ():
            if chunks[index].start_line > last and index > at:
                break
            if len(found[index].candidates) < MAX_CHUNK_SECTIONS:
                found[index].propose(Candidate(key=key, name=name, kind="section", about=True))
        if anchor.label and has_labels and to_part(anchor.label):
            label = (name_target_key if anchor.is_name else label_key)(anchor.label, document.source)
            found[0].propose(Candidate(key=label, name=name, kind="page", alias_of=key))


# ── places ──────────────────────────────────────────────────────────────────────────────────────


class _Places:
    """Finds the chunk that contains a link."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._ends = [chunk.end_line for chunk in chunks]

    def find(self, link: Link) -> int | None:
        """Return the index of the chunk; the next one if the line is a heading, which no chunk contains."""
        line = link.line
        at = first = bisect_left(self._ends, line)
        if at >= len(self._chunks):
            return len(self._chunks) - 1
        needle = link.label or link.address
        while at < len(self._chunks) and self._chunks[at].start_line <= line and needle:
            if needle in self._chunks[at].text:
                return at
            at += 1
        return first
