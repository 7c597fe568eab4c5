"""Mentions of names in chunks that do not propose them: of names in all chunks, and of all names in a few chunks."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping

from weft.extract.mentions import required_terms, without_addresses
from weft.extract.names import LazyWords, written_keys
from weft.records import Mention
from weft.store.relational.session import Namespace, Session
from weft.store.shared.name_search import MAX_EXAMINED_CHUNKS, choose_terms, count_alone, find_written


def search_names(db: Session, namespace: Namespace, keys: Collection[str]) -> dict[str, dict[str, int]]:
    """Return the number of mentions of each key, by id of the chunk. Chunks that propose the key may be among them."""
    counts = db.keywords.counts(namespace, {term for key in keys for group in required_terms(key) for term in group})
    wanted = {key: groups for key in sorted(keys) if (groups := choose_terms(key, counts))}
    if not wanted:
        return {}
    found = db.keywords.conjunction(namespace, wanted)
    candidates = [(at, key, chunk) for at, key in enumerate(found) for chunk in sorted(found[key])]
    values = {
        "namespace": namespace,
        "candidates": json.dumps(candidates, ensure_ascii=False),
        "limit": MAX_EXAMINED_CHUNKS,
    }
    names, mentions = list(found), defaultdict[str, dict[str, int]](dict)
    for at, id, text, longer in db.run("candidate_texts", values) if candidates else ():
        if count := count_alone(text, names[at], longer=json.loads(longer)):
            mentions[names[at]][id] = count
    return mentions


def find_written_names(
    db: Session, namespace: Namespace, texts: Mapping[str, str], *, stated: Mapping[str, Collection[str]]
) -> list[Mention]:
    """
    Return the mentions of entities in texts, by id of the chunk, without those of names that the chunk proposes.

    Only entities with a defining chunk count, not phrases of two documents that the chunk has in passing.
    """
    words = {id: LazyWords(without_addresses(text)) for id, text in texts.items()}
    keys = {id: written_keys(found) for id, found in words.items()}
    values = {"namespace": namespace, "keys": json.dumps(sorted(set().union(*keys.values())), ensure_ascii=False)}
    rows = db.run("written_names", values) if any(keys.values()) else []
    known = {key: (entity, chunks, bool(elsewhere)) for key, entity, chunks, elsewhere in rows}
    mentions = []
    for id, found in words.items():
        mine = keys[id] & known.keys()
        for key, count in find_written(found, known=mine, stated=stated.get(id, ())).items() if mine else ():
            entity, chunks, elsewhere = known[key]
            mentions.append(Mention(entity, id, count, about=False, chunks=chunks, elsewhere=elsewhere))
    return mentions
