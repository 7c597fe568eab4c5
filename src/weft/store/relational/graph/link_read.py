"""Links that lead to no document."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from weft.extract.links.page_keys import read_link_key
from weft.extract.links.resolution import common_folder, leads_outside
from weft.records import BrokenLink
from weft.store.relational.graph.graph_mentions import read_texts
from weft.store.relational.session import Namespace, Row, Session
from weft.store.shared.page_links import locate_broken


def count_broken_links(db: Session, namespace: Namespace, document_ids: Sequence[str] | None) -> int:
    """Return the number of links of documents that lead to no document; None stands for all documents."""
    if document_ids is None:
        return len(_keep_broken(db, namespace, db.run("all_broken_links", {"namespace": namespace})))
    rows = db.run("broken_links", {"namespace": namespace, "ids": json.dumps(list(document_ids))})
    return len(_keep_broken(db, namespace, rows))


def find_broken_links(db: Session, namespace: Namespace) -> list[BrokenLink]:
    """Return the links that lead to no document, by source and line."""
    rows = _keep_broken(db, namespace, db.run("all_broken_links", {"namespace": namespace}))
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


def _keep_broken(db: Session, namespace: Namespace, rows: Sequence[Row]) -> list[Row]:
    """
    Return the rows of broken links: source, chunk, first line and key of links without a page.

    A wikilink may lead to a document by its name, and a name may be one of another library. A link out of the folder of
    all documents is not checked.
    """
    if not rows:
        return []
    names = sorted({read_link_key(target).name for *_, target in rows} - {""})
    values = {"namespace": namespace, "keys": json.dumps(names, ensure_ascii=False), "max_defining": 1}
    known = db.run("known_entities", values) if names else []
    defined = {key for key, _, _, _, defining_chunks, _ in known if defining_chunks}
    first, last = db.run("source_range", {"namespace": namespace})[0]
    folder = common_folder(first, last)
    links = [(row, read_link_key(row[3])) for row in rows]
    return [row for row, link in links if link.name not in defined and not leads_outside(link, row[0], folder)]
