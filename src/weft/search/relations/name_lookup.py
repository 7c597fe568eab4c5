"""
Lookup of the entity that a name stands for.

| name | entity |
| --- | --- |
| `Auth Service`, `auth service` | the entity of this key |
| `httpx.AsyncClient`, `AsyncClient.get()` | the definition with this qualified or short name |
| `docs/auth.md`, `docs/auth.md:3-9` | the page at this path, as citations show it |
| `auth.md`, `guides/auth.md` | the page whose path ends with this, if there is exactly one |
| `httpx/client.py` | the module of this source file |
| `PEP 484`, `ADR-0012` | the record with this number, also if its title goes on |
| `Jasper` | `Jasper Billing`, if no other name begins or ends with it |
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from weft.extract.code.code_keys import code_key
from weft.extract.links.page_keys import DESCRIBES, page_key
from weft.extract.names import name_key, whole_key, words
from weft.extract.papers.paper_ids import id_key, read_id
from weft.records import CODE_PREFIX, DocumentInfo, Entity, Filter
from weft.search.cite import find_hidden_prefix
from weft.store.base import StoreReader
from weft.text.analyzer import query_terms
from weft.text.ids import fact_entity_key

MAX_PART_CHUNKS = 100
"""Maximum number of chunks with a word in which longer names with this word are looked for."""

MAX_PART_WORDS = 3
"""Maximum number of words of a part of a name."""

BATCH_DOCUMENTS = 1000
MAX_BATCHES = 10
"""Documents in which the end of a path is looked for: 10,000. There is no index of file names."""

MAX_PAGES = 50
"""Maximum number of pages of one title that are read."""

MODULE = "module"
"""Type of the entity of a source file."""

_LINES = re.compile(r":[pt]?\d{1,9}(?:-\d{1,9})?$")
_PATH = re.compile(r"[/.]")


def name_keys(name: str) -> list[str]:
    """Return the possible keys of a name or of a fact entity id, best first."""
    bare = name.strip().removesuffix("()")
    keys = [code_key(bare), id_key(read_id(name)), whole_key(name), name_key(name), fact_entity_key(name)]
    return list(dict.fromkeys(key for key in keys if key))


def find_named(spellings: Sequence[str], *, store: StoreReader) -> list[Entity]:
    """Return the entity of the first spelling that names one, and the pages with this title or path."""
    keys = [(key, spelling) for spelling in spellings for key in name_keys(spelling)]
    known = store.graph.find_entities([key for key, _ in keys])
    for key, spelling in keys:
        if key in known:
            return [known[key], *pages_titled(spelling, known[key], store=store)]
    for spelling in spellings:
        if _PATH.search(spelling) and (page := find_page(spelling, store=store)):
            return page
    for spelling in spellings:
        if found := find_by_part(spelling, store=store):
            return [found]
    return []


def pages_titled(title: str, entity: Entity, *, store: StoreReader) -> list[Entity]:
    """Return the pages with exactly this title, if several pages share the entity of the title."""
    relations = store.graph.relations_of([entity.id], limit=MAX_PAGES, types=[DESCRIBES])
    pages = store.graph.entities([r.source_id for r in relations if r.target_id == entity.id])
    return [page for page in pages if page.name.casefold() == title.strip().casefold() and page.id != entity.id]


def find_page(path: str, *, store: StoreReader) -> list[Entity]:
    """Return the entities of the page at a path, at a citation of it, or with this file name; empty without one."""
    source = _LINES.sub("", path.strip())
    for candidate in (source, find_hidden_prefix(store) + source) if source else ():
        found = store.find_documents(Filter(source_prefix=candidate), limit=1)
        if found and found[0].source == candidate:
            return _page_entities(found[0], store=store)
    file = find_file(source, store=store)
    return _page_entities(file, store=store) if file else []


def find_file(name: str, *, store: StoreReader) -> DocumentInfo | None:
    """Return the document whose path ends with this one; None if none or several do, or if there are many documents."""
    end = f"/{name.removeprefix('./')}"
    if not 0 < name.rfind(".") < len(name) - 1:
        return None
    found: list[DocumentInfo] = []
    after = ""
    for _ in range(MAX_BATCHES):
        batch = store.find_documents(Filter(), after=after, limit=BATCH_DOCUMENTS)
        found += (document for document in batch if f"/{document.source}".endswith(end))
        if len(batch) < BATCH_DOCUMENTS:
            return found[0] if len(found) == 1 else None
        after = batch[-1].source
    return None


def _page_entities(page: DocumentInfo, *, store: StoreReader) -> list[Entity]:
    """Return the module of a source file, then the entities of a page."""
    keys = [key for key in (page_key(page.source), name_key(page.title)) if key]
    known = store.graph.find_entities(keys)
    found = [*_find_modules(page, store=store), *(known[key] for key in keys if key in known)]
    return list({entity.id: entity for entity in found}.values())


def _find_modules(page: DocumentInfo, *, store: StoreReader) -> list[Entity]:
    """Return the module that the first chunk of a source file defines; empty for other documents."""
    first = [chunk.id for chunk in store.find_chunks(page.id)[:1]]
    ids = [mention.entity_id for mention in store.graph.mentions_in(first, about=True)] if first else []
    return [e for e in store.graph.entities(ids) if e.type == MODULE and e.key.startswith(CODE_PREFIX)]


def find_by_part(name: str, *, store: StoreReader) -> Entity | None:
    """Return the entity whose longer name begins or ends with this capitalised name, if there is exactly one."""
    wanted = [word.text for word in words(name)]
    terms = query_terms(name)
    if not terms or not 0 < len(wanted) <= MAX_PART_WORDS or not all(word.is_name_like for word in words(name)):
        return None
    hits = store.search_keyword(terms, limit=MAX_PART_CHUNKS, where=Filter()).hits
    mentions = store.graph.mentions_in([hit.chunk_id for hit in hits]) if hits else []
    ids = sorted({mention.entity_id for mention in mentions if mention.strong})
    found = [entity for entity in store.graph.entities(ids) if _is_part(wanted, entity)]
    return found[0] if len(found) == 1 else None


def _is_part(wanted: list[str], entity: Entity) -> bool:
    if entity.key.startswith(CODE_PREFIX):
        return False
    own = [word.text for word in words(entity.name)]
    return len(wanted) < len(own) and wanted in (own[: len(wanted)], own[-len(wanted) :])
