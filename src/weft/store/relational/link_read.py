"""Links that lead to no document."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from weft.extract.links.page_keys import read_link_key
from weft.records import BrokenLink
from weft.store.relational.graph_mentions import read_texts
from weft.store.relational.session import Namespace, Row, Session
from weft.store.shared.page_links import locate_broken


def count_broken_links(db: Session, namespace: Namespace, document_ids: Sequence[str]) -> int:
    """Return the number of links of documents that lead to no document."""
    return len(_read(db, namespace, document_ids))


def find_broken_links(db: Session, namespace: Namespace, document_ids: Sequence[str]) -> list[BrokenLink]:
    """Return the links of documents that lead to no document, by source and line."""
    rows = _read(db, namespace, document_ids)
    texts = read_texts(db, sorted({number for _, number, _, _ in rows}), namespace=namespace)
    keys: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for source, number, start, target in rows:
        keys[source, number, start].append(target)
    found = [
        link
        for (source, number, start), targets in keys.items()
        for link in locate_broken(texts[number].text, source=source, start_line=start, keys=targets)
    ]
    return sorted(found, key=lambda link: (link.source, link.line, link.target))


def _read(db: Session, namespace: Namespace, document_ids: Sequence[str]) -> list[Row]:
    """Return source, chunk, first line and key of broken links; a wikilink may lead to a document by its name."""
    rows = db.run("broken_links", {"namespace": namespace, "ids": json.dumps(list(document_ids))})
    names = sorted({read_link_key(target).name for *_, target in rows} - {""})
    values = {"namespace": namespace, "keys": json.dumps(names, ensure_ascii=False), "max_defining": 1}
    known = db.run("known_entities", values) if names else []
    defined = {key for key, _, _, _, defining_chunks, _ in known if defining_chunks}
    return [row for row in rows if read_link_key(row[3]).name not in defined]
