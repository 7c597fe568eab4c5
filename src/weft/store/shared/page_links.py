"""
Statements that follow from links between pages, for all stores.

    relation `/a/|a.md` → `!b/|r`     ┐                     ┌ relation `a title` links_to `b title`
    label `The B`, alias of `!b/|r`   ┼─ derive_statements ─┼ relation `a title` links_to section of b, if it names one
    pages, titles, sections           ┘                     └ alias `The B` of `b title`

The entity of a page is the entity of its title. If several pages have the same title, each of them is its own entity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from weft.extract.links.page_keys import LINKS_TO, RESOLVED, read_link_key
from weft.extract.links.resolution import PageRow, Target, resolve
from weft.records import BrokenLink, Candidate, StatedRelation

FALLBACK = "?"
"""End of the origin of a wikilink that leads to a name, because no page has its path."""
ALIAS_REASON = "text of a link"


class LinkRow(NamedTuple):
    """A link as a chunk states it."""

    source: str
    """Key of the page."""
    target: str
    """Key of the link."""
    weight: float
    description: str
    extractor: str
    labels: tuple[tuple[str, str], ...] = ()
    """Keys and names of its labels that may be names of the target."""


@dataclass(frozen=True, slots=True)
class LinkStatements:
    """Stated relations and aliases that follow from one link."""

    origin: str = ""
    stated_relations: tuple[StatedRelation, ...] = ()
    aliases: tuple[Candidate, ...] = field(default=())


class PageLookup(Protocol):
    """Read access to the pages of a namespace."""

    def find_pages(self, prefixes: Sequence[str]) -> Mapping[str, Sequence[PageRow]]:
        """Return the pages whose keys begin with each prefix, by key."""

    def titles(self, pages: Collection[str]) -> Mapping[str, str]:
        """Return the key of the title of each page that exists; empty for a page without a title."""

    def shared_titles(self, titles: Collection[str]) -> set[str]:
        """Return the keys of titles that several pages have."""

    def sections(self, keys: Collection[str]) -> set[str]:
        """Return the keys of sections that exist."""


def origin_of(target: str) -> str:
    """Return the origin of the statements that follow from a link."""
    return f"{RESOLVED}{target}"


def link_of_origin(origin: str) -> str:
    """Return the key of the link in an origin."""
    return origin.removeprefix(RESOLVED).removesuffix(FALLBACK)


def locate_broken(text: str, *, source: str, start_line: int, keys: Collection[str]) -> list[BrokenLink]:
    """Return broken links of a chunk with line and address; a link that the text does not show is at the first line."""
    # Only lists of broken links need the readers of pages, whose import takes longer than most reads of a store.
    from weft.extract.links.page_reader import locate_links

    places = locate_links(text, source=source, keys=frozenset(keys))
    return [BrokenLink(source=source, line=start_line + line, target=address) for line, address in places.values()]


def derive_statements(links: Iterable[LinkRow], pages: PageLookup) -> dict[LinkRow, LinkStatements]:
    """Return the statements that follow from each link; none for a link without a target."""
    rows = list(links)
    targets = resolve(dict.fromkeys((row.source, row.target) for row in rows), pages.find_pages)
    keys = {row.source for row in rows} | {target.page for target in targets.values()}
    titles = pages.titles(keys)
    shared = pages.shared_titles({title for title in titles.values() if title})
    sections = pages.sections({target.section for target in targets.values() if target.section})
    entities = {page: title if title and title not in shared else page for page, title in titles.items()}
    return {
        row: _derive(row, targets.get((row.source, row.target)), entities, sections)
        for row in rows
        if row.source in entities
    }


def _derive(
    row: LinkRow, target: Target | None, entities: Mapping[str, str], sections: Collection[str]
) -> LinkStatements:
    origin = origin_of(row.target)
    if target is None or target.page not in entities:
        name = read_link_key(row.target).name
        if not name:
            return LinkStatements()
        return LinkStatements(origin + FALLBACK, (_stated_relation(row, entities[row.source], name),))
    end = entities[target.page]
    ends = [end]
    if target.section in sections and target.page != row.source:
        ends.append(target.section)
    return LinkStatements(
        origin,
        tuple(_stated_relation(row, entities[row.source], key) for key in ends),
        tuple(
            Candidate(
                key=key, name=name, kind="anchor", alias_of=end, reason=ALIAS_REASON, extractor=row.extractor
            )
            for key, name in row.labels
            if key != end and target.page != row.source
        ),
    )  # fmt: skip


def _stated_relation(row: LinkRow, source: str, target: str) -> StatedRelation:
    return StatedRelation(
        source=source,
        target=target,
        type=LINKS_TO,
        weight=row.weight,
        description=row.description,
        extractor=row.extractor,
    )
