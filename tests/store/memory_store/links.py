"""Links between pages, resolved from all chunks on each read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from weft.extract.links.page_keys import is_link_key, read_link_key
from weft.extract.links.resolution import MAX_CANDIDATES, PageRow, common_folder, leads_outside
from weft.records import BrokenLink, Candidate, IndexedChunk, StatedRelation
from weft.store.shared.page_links import LinkRow, LinkStatements, derive_statements, locate_broken, origin_of


@dataclass
class ResolvedLinks:
    """Statements that follow from links, by chunk id."""

    stated_relations: dict[str, list[StatedRelation]] = field(default_factory=lambda: defaultdict(list))
    aliases: dict[str, list[Candidate]] = field(default_factory=lambda: defaultdict(list))
    by_link: dict[tuple[str, str], LinkStatements] = field(default_factory=dict)
    """By chunk id and key of the link."""


class MemoryPages:
    """Pages of all chunks (`PageLookup`)."""

    def __init__(self, chunks: Mapping[str, IndexedChunk]) -> None:
        every = [item for chunk in chunks.values() for item in chunk.extraction.candidates]
        self._rows = sorted({PageRow(item.key, item.alias_of) for item in every if item.kind == "page"})
        self._sections = {item.key for item in every if item.kind == "section"}
        self._titled: dict[str, set[str]] = defaultdict(set)
        for row in self._rows:
            if row.key.startswith("/="):
                self._titled[row.key[2:]].add(row.alias_of)

    def find_pages(self, prefixes: Sequence[str]) -> dict[str, list[PageRow]]:
        """Return the pages whose keys begin with each prefix, by key."""
        return {
            prefix: [row for row in self._rows if row.key.startswith(prefix)][:MAX_CANDIDATES] for prefix in prefixes
        }

    def titles(self, pages: Collection[str]) -> dict[str, str]:
        """Return the key of the title of each page that exists; empty for a page without a title."""
        return {row.key: row.alias_of for row in self._rows if row.key in pages}

    def shared_titles(self, titles: Collection[str]) -> set[str]:
        """Return the keys of titles that several pages have."""
        return {title for title in titles if len(self._titled[title]) > 1}

    def sections(self, keys: Collection[str]) -> set[str]:
        """Return the keys of sections that exist."""
        return self._sections.intersection(keys)


def read_links(item: IndexedChunk) -> list[LinkRow]:
    """Return the links that a chunk states."""
    labels: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for candidate in item.extraction.candidates:
        if candidate.kind == "label":
            labels[candidate.alias_of].add((candidate.key, candidate.name))
    return [
        LinkRow(
            stated.source,
            stated.target,
            stated.weight,
            stated.description,
            stated.extractor,
            tuple(sorted(labels[stated.target])),
        )
        for stated in item.extraction.stated_relations
        if is_link_key(stated.target)
    ]


def find_broken_links(
    chunks: Mapping[str, IndexedChunk], *, sources: Mapping[str, str], defined: Collection[str]
) -> list[BrokenLink]:
    """Return the links that lead to no document. `defined` are names with a chunk."""
    resolved = resolve_links(chunks).by_link
    folder = common_folder(min(sources.values(), default=""), max(sources.values(), default=""))
    found: list[BrokenLink] = []
    for item in chunks.values():
        chunk = item.chunk
        source = sources[chunk.document_id]
        keys = [
            row.target
            for row in read_links(item)
            if resolved[chunk.id, row.target].origin != origin_of(row.target)
            and read_link_key(row.target).name not in defined
            and not leads_outside(read_link_key(row.target), source, folder)
        ]
        found += locate_broken(chunk.text, source=source, start_line=chunk.start_line, keys=keys)
    return sorted(found, key=lambda link: (link.source, link.line, link.target))


def resolve_links(chunks: Mapping[str, IndexedChunk]) -> ResolvedLinks:
    """Return the statements that follow from the links of all chunks."""
    rows = {id: read_links(item) for id, item in chunks.items()}
    derived = derive_statements([row for some in rows.values() for row in some], MemoryPages(chunks))
    found = ResolvedLinks()
    for id, some in rows.items():
        for row in some:
            statements = derived.get(row, LinkStatements())
            found.by_link[id, row.target] = statements
            found.stated_relations[id] += statements.stated_relations
            found.aliases[id] += statements.aliases
    return found
